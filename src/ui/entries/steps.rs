//! Steps of a chained command: what all that draws them share.

use crate::proto::chain::StepState;
use crate::theme::Theme;
use crate::theme::role::Role;
use ratatui::style::Color;

/// The ground of a step's number, at rest; `Reset` where the theme gives none.
pub fn chip_ground(state: StepState, theme: &Theme) -> Color {
    let base = theme.color(Role::ToolPendingBg);
    if !theme.is_readable() {
        return match state {
            StepState::Ok => theme.color(Role::ToolSuccessBg),
            StepState::Failed | StepState::TimedOut => theme.color(Role::ToolErrorBg),
            _ => base,
        };
    }
    let (role, share) = match state {
        StepState::Running => (Role::Accent, 0.18),
        StepState::Ok => (Role::Success, 0.30),
        StepState::Failed => (Role::Error, 0.38),
        StepState::TimedOut => (Role::Warning, 0.35),
        StepState::Handled | StepState::Aborted => (Role::Muted, 0.22),
        StepState::Waiting => (Role::Muted, 0.10),
        StepState::Skipped => (Role::Muted, 0.05),
        StepState::Unknown => (Role::Muted, 0.14),
    };
    theme.mix(base, theme.color(role), share)
}
