//! Addresses that are clicked, and what of the mouse is listened to.

use super::Outcome;
use crate::app::effect::Effect;
use crate::app::state::AppState;
use crossterm::event::MouseEventKind;
use std::sync::Arc;

/// A click on an address. Whether it can be opened is known only where it is tried.
pub fn click(state: &AppState, url: Arc<str>) -> Outcome {
    Outcome::effect(if state.open_links { Effect::OpenLink(url) } else { Effect::Copy(url.to_string()) })
}

/// Whether this is the wheel, which is all of the mouse that some want.
pub const fn is_wheel(kind: MouseEventKind) -> bool {
    matches!(
        kind,
        MouseEventKind::ScrollUp
            | MouseEventKind::ScrollDown
            | MouseEventKind::ScrollLeft
            | MouseEventKind::ScrollRight
    )
}
