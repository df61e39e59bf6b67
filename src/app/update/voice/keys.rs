//! Which key dictates, and which one throws away what is said.

use super::super::{Outcome, chords};
use super::hold_key::Stroke;
use super::{cancel, follow};
use crate::app::state::AppState;
use crate::config::action::{Action, Context};
use crate::config::keymap::Resolved;
use crate::ui::key_event::key_of;
use crate::ui::layers::Layer;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::Instant;

/// A key, before anybody else gets it. `None`: it has nothing to do with dictation.
pub fn key(state: &mut AppState, event: &KeyEvent, now: Instant) -> Option<Outcome> {
    let stroke = match event.kind {
        KeyEventKind::Press => Stroke::Press,
        KeyEventKind::Repeat => Stroke::Repeat,
        KeyEventKind::Release => Stroke::Release,
    };
    let code = plain(event.code);
    let is_down = state.voice.down == Some(code);
    if stroke == Stroke::Release {
        // What was held along with it may be up already, so that only the code tells.
        return is_down.then(|| {
            state.voice.down = None;
            let follows = state.voice.key.stroke(stroke, now);
            follow(state, follows, now)
        });
    }
    // The same when only the key itself is still held: it would type.
    if is_down && event.modifiers == KeyModifiers::NONE && is_still_held(state, stroke) {
        let follows = state.voice.key.stroke(stroke, now);
        return Some(follow(state, follows, now));
    }
    let pressed = key_of(event)?;
    let count = state.chord.len() + 1;
    if is_cancel(state, pressed) {
        return cancel(state, now);
    }
    let keys: Vec<_> = state.chord.iter().copied().chain([pressed]).collect();
    if state.keymap.resolve(&keys, &chords::path(state)) != Resolved::Action(Action::Dictate) {
        return None;
    }
    state.chord.clear();
    // A recording that runs is held and ended as ever: only what begins is kept back.
    if is_dialog_open(state) && !state.voice.is_recording() {
        return Some(Outcome { changed: count > 1, ..Outcome::default() });
    }
    if count > 1 {
        let follows =
            if stroke == Stroke::Press { state.voice.key.tap(now) } else { return Some(Outcome::none()) };
        return Some(Outcome::changed().and(follow(state, follows, now)));
    }
    state.voice.down = Some(code);
    let follows = state.voice.key.stroke(stroke, now);
    Some(follow(state, follows, now))
}

/// Not that it is typed soon after.
fn is_still_held(state: &AppState, stroke: Stroke) -> bool {
    stroke == Stroke::Repeat || state.voice.key.is_repeating()
}

/// The key that throws away. What lies over the page is closed first.
fn is_cancel(state: &AppState, key: crate::config::key::Key) -> bool {
    state.layers.is_empty()
        && state.chord.is_empty()
        && state.keymap.resolve(&[key], &[Context::Global]) == Resolved::Action(Action::Cancel)
}

/// Something is asked or chosen. The bar of a search asks nothing.
fn is_dialog_open(state: &AppState) -> bool {
    state.layers.iter().any(|layer| !matches!(layer, Layer::Search(_)))
}

/// With and without shift it is one key.
fn plain(code: KeyCode) -> KeyCode {
    match code {
        KeyCode::Char(c) => KeyCode::Char(c.to_ascii_lowercase()),
        KeyCode::BackTab => KeyCode::Tab,
        code => code,
    }
}
