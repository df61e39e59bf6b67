//! How far a call is: its ground, its bullet and its mark.

use crate::theme::Theme;
use crate::theme::role::Role;
use ratatui::style::Color;

/// How far a call is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The model writes it.
    #[default]
    Writing,
    /// It waits for its turn.
    Queued,
    /// It waits for the user.
    Asking,
    /// It runs.
    Running,
    /// It runs in the background and says nothing.
    Calm,
    /// A summary of the context is being made.
    Summing,
    /// It is of the program itself: a summary, mail.
    Own,
    /// It went well.
    Ok,
    /// It failed.
    Failed,
    /// It ran out of time.
    TimedOut,
    /// It was stopped, or its turn was.
    Stopped,
    /// It was not allowed.
    Denied,
}

impl State {
    /// The ground of its band; `Reset` where the theme gives none.
    pub fn ground(self, theme: &Theme) -> Color {
        let (base, ok, bad) = (
            theme.color(Role::ToolPendingBg),
            theme.color(Role::ToolSuccessBg),
            theme.color(Role::ToolErrorBg),
        );
        // Where colours are the terminal's business nothing can be mixed: the theme's own three grounds have to do.
        let own = theme.color(Role::CustomMessageBg);
        if !theme.is_readable() {
            return match self {
                Self::Ok => ok,
                Self::Summing | Self::Own => own,
                Self::Failed | Self::TimedOut => bad,
                Self::Writing
                | Self::Queued
                | Self::Asking
                | Self::Running
                | Self::Calm
                | Self::Stopped
                | Self::Denied => base,
            };
        }
        let (ground, role, share) = match self {
            Self::Writing => return base,
            Self::Queued | Self::Asking => (base, Role::Muted, 0.05),
            Self::Running | Self::Summing => (self.base(theme), self.hue(), 0.15),
            Self::Calm => (base, Role::Accent, 0.06),
            Self::Own => (own, Role::CustomMessageLabel, 0.22),
            Self::Ok => (ok, Role::Success, 0.12),
            Self::Failed => (bad, Role::Error, 0.12),
            Self::TimedOut => (base, Role::Warning, 0.14),
            Self::Stopped | Self::Denied => (base, Role::Muted, 0.08),
        };
        theme.mix(ground, theme.color(role), share)
    }

    /// What fills and sweeps are mixed over.
    pub fn base(self, theme: &Theme) -> Color {
        match self {
            Self::Summing => {
                theme.mix(theme.color(Role::CustomMessageBg), theme.color(Role::CustomMessageLabel), 0.10)
            }
            _ => theme.color(Role::ToolPendingBg),
        }
    }

    /// The role whose colour fills, sweeps and flashes are of.
    pub const fn hue(self) -> Role {
        match self {
            Self::Summing | Self::Own => Role::CustomMessageLabel,
            Self::Ok => Role::Success,
            Self::Failed | Self::Denied => Role::Error,
            Self::TimedOut => Role::Warning,
            Self::Stopped => Role::Muted,
            Self::Writing | Self::Queued | Self::Asking | Self::Running | Self::Calm => Role::Accent,
        }
    }

    /// The role of its bullet and of its mark.
    pub const fn role(self) -> Role {
        match self {
            Self::Writing | Self::Queued => Role::Dim,
            Self::Asking | Self::TimedOut => Role::Warning,
            Self::Running | Self::Calm => Role::Accent,
            Self::Summing | Self::Own => Role::CustomMessageLabel,
            Self::Ok => Role::Success,
            Self::Failed | Self::Denied => Role::Error,
            Self::Stopped => Role::Muted,
        }
    }

    /// What tells it beside colours, once it is over.
    pub const fn glyph(self) -> Option<&'static str> {
        match self {
            Self::Ok => Some("✓"),
            Self::Failed | Self::Denied => Some("✗"),
            Self::Stopped => Some("■"),
            Self::TimedOut => Some("⧗"),
            Self::Writing
            | Self::Queued
            | Self::Asking
            | Self::Running
            | Self::Calm
            | Self::Summing
            | Self::Own => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::mix::Rgb;

    const ALL: [State; 12] = [
        State::Writing,
        State::Queued,
        State::Asking,
        State::Running,
        State::Calm,
        State::Summing,
        State::Own,
        State::Ok,
        State::Failed,
        State::TimedOut,
        State::Stopped,
        State::Denied,
    ];

    #[test]
    fn grounds_are_those_of_the_specification() {
        let theme = Theme::quiet_dark();
        let table = [
            (State::Writing, "#232326"),
            (State::Queued, "#28282b"),
            (State::Running, "#33393e"),
            (State::Calm, "#292c30"),
            (State::Own, "#453d4b"),
            (State::Ok, "#2e382d"),
            (State::Failed, "#3e2d2d"),
            (State::TimedOut, "#3f382c"),
            (State::Stopped, "#2b2b2d"),
        ];
        for (state, expected) in table {
            let ground = Rgb::of(state.ground(&theme)).map(|rgb| rgb.to_string());
            assert_eq!(ground.as_deref(), Some(expected), "{state:?}");
        }
    }

    #[test]
    fn a_theme_that_cannot_be_mixed_keeps_its_own_grounds() {
        let theme = Theme::terminal();
        let own = [Role::ToolPendingBg, Role::ToolSuccessBg, Role::ToolErrorBg, Role::CustomMessageBg]
            .map(|role| theme.color(role));
        assert!(ALL.iter().all(|state| own.contains(&state.ground(&theme))));
        assert_eq!(State::TimedOut.ground(&theme), theme.color(Role::ToolErrorBg));
    }
}
