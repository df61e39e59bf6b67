//! What turns at the left of the phase line.

use super::{SLOW, after, on_grid};
use crate::ui::chrome::phase::{Kind, Phase, Status};
use crate::ui::chrome::spinner::Spinner;
use crate::ui::look::Look;
use std::borrow::Cow;
use std::time::Duration;

/// So many looks ahead for the next frame: longer than any of them stands.
const AHEAD: u32 = 32;

/// The spinner of a step.
const fn of(status: &Status) -> Spinner {
    match status.kind {
        Kind::Prep | Kind::Api | Kind::FirstToken | Kind::Asking => Spinner::Ping,
        Kind::Tool | Kind::Text if status.quiet.as_secs() >= SLOW.as_secs() => Spinner::Ping,
        Kind::Think => Spinner::Helix,
        Kind::Tool => Spinner::PrintHead,
        Kind::Run => Spinner::Comet,
        Kind::RunAgents => Spinner::TwoComets,
        Kind::Text => Spinner::Wave,
        Kind::Retry => Spinner::Drain,
        Kind::Compaction => Spinner::Squeeze,
        Kind::BranchSummary => Spinner::Snake,
    }
}

/// The frame at this time.
pub(super) fn frame(status: &Status, phase: &Phase, look: &Look<'_>, clock: Duration) -> Cow<'static, str> {
    let spinner = of(status);
    // While the user is asked nothing is under way that could move.
    if !look.motion || status.kind == Kind::Asking {
        return spinner.still();
    }
    let seen = on_grid(clock, spinner.cadence());
    match spinner {
        Spinner::Wave => match phase.flow() {
            #[expect(clippy::cast_precision_loss, reason = "below 100")]
            Some(flow) => {
                let pace = spinner.pace().as_millis() as f64;
                spinner.frame(index(flow.wave(look.epoch + seen) / pace))
            }
            None => spinner.still(),
        },
        Spinner::Drain => {
            #[expect(clippy::cast_precision_loss, reason = "25 frames")]
            let count = spinner.count() as f64;
            // The status is that of a step of the figures, which is grid enough.
            spinner.frame(index(status.gone * count).min(spinner.count() - 1))
        }
        _ => spinner.at(seen),
    }
}

/// When another frame is due.
pub(super) fn next(status: &Status, phase: &Phase, look: &Look<'_>, clock: Duration) -> Option<Duration> {
    let spinner = of(status);
    let drawn = frame(status, phase, look, clock);
    let mut at = after(clock, spinner.cadence());
    for _ in 0..AHEAD {
        let then = phase.status(look.epoch + at, look.motion)?;
        if frame(&then, phase, look, at) != drawn {
            return Some(at);
        }
        at += spinner.cadence();
    }
    // What stands for so long is a wave without a stream: the next text brings a frame anyway.
    None
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number of frames")]
fn index(frames: f64) -> usize {
    frames.max(0.0) as usize
}
