//! Opening another session.

use super::Outcome;
use crate::app::effect::{Effect, SessionChoice};
use crate::app::state::AppState;
use crate::ui::layers::Layer;
use crate::ui::layers::sessions::Sessions;
use std::path::PathBuf;
use std::time::Instant;

/// Shows the list of sessions; it fills when they are listed.
pub fn open_picker(state: &mut AppState) {
    let mut picker = Sessions::new(Vec::new(), state.cwd.clone(), "");
    picker.set_loading(true);
    state.layers.push(Layer::Sessions(Box::new(picker)));
}

/// The file of the open session.
pub fn open_file(state: &AppState) -> Option<PathBuf> {
    state.session.view.as_ref().and_then(|view| view.file.clone())
}

/// A new session. What runs in this one is stopped, and kept.
pub fn new(state: &mut AppState, _now: Instant) -> Outcome {
    open(state, SessionChoice::New)
}

/// Opens a session in place of this one.
pub fn open(state: &mut AppState, choice: SessionChoice) -> Outcome {
    if state.session.opening {
        state.session.next = Some(choice);
        return Outcome::none();
    }
    state.session.opening = true;
    // Tried again by the user: the reason is told again.
    state.session.problem = None;
    Outcome::effect(Effect::Open(choice))
}
