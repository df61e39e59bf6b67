//! Keys in a row. Nothing waits for time here: a chord that was begun goes on with the next key, or ends with it.

use super::Outcome;
use crate::app::state::AppState;
use crate::config::action::{Action, Context};
use crate::config::chord::{Chord, END};
use crate::config::key::Key;
use crate::config::keymap::Resolved;
use crate::proto::event::NoticeLevel;
use crate::text::width;
use std::time::Instant;

/// A key on its way through the places that may want it.
pub struct Press {
    /// All keys of the chord, this one last.
    pressed: Vec<Key>,
    /// What it types. The keys that go on with a chord type nothing.
    pub text: Option<char>,
}

/// Takes a key in. `Err` with what follows if it ends the chord that was begun.
pub fn press(state: &mut AppState, key: Key, text: Option<char>) -> Result<Press, Outcome> {
    let mut pressed = std::mem::take(&mut state.chord);
    if pressed.is_empty() {
        return Ok(Press { pressed: vec![key], text });
    }
    if key == END {
        return Err(Outcome::changed());
    }
    pressed.push(key);
    Ok(Press { pressed, text: None })
}

impl Press {
    /// The chord was begun before this key.
    pub fn goes_on(&self) -> bool {
        self.pressed.len() > 1
    }

    /// What it means in these places.
    pub fn meaning(&self, state: &AppState, contexts: &[Context]) -> Resolved {
        state.keymap.resolve(&self.pressed, contexts)
    }

    /// More keys are to come.
    pub fn wait(self, state: &mut AppState) -> Outcome {
        state.chord = self.pressed;
        // What was said before would hide what may follow.
        state.toast = None;
        Outcome::changed()
    }

    /// No place knows these keys: said, so that nobody wonders where the last one went.
    pub fn nothing(&self, state: &mut AppState, now: Instant) -> Outcome {
        let keys: Vec<String> = self.pressed.iter().map(ToString::to_string).collect();
        state.toast(NoticeLevel::Info, format!("{} does nothing", keys.join(" ")), now);
        Outcome::changed()
    }
}

/// The places that are asked for a key now, the innermost first.
pub fn path(state: &AppState) -> Vec<Context> {
    let mut path = Vec::new();
    if let Some(layer) = state.layers.last() {
        path.extend(layer.contexts());
    }
    if !state.layers.last().is_some_and(|layer| layer.is_modal()) {
        if state.pane.focused().is_some() {
            path.push(Context::Transcript);
        }
        path.extend(state.composer.contexts());
    }
    path.push(Context::Global);
    path
}

/// What may follow on the keys pressed so far, as far as it fits into so many columns: no hint is cut, the last ones go.
pub fn hints(state: &AppState, room: usize) -> Option<String> {
    if state.chord.is_empty() {
        return None;
    }
    let following = state.keymap.following(&state.chord, &path(state));
    let hints = |name: fn(Action) -> String| -> Vec<String> {
        let hint = |(chord, action): &(Chord, Action)| {
            format!("{} {}", chord.after(state.chord.len()), name(*action))
        };
        following.iter().map(hint).collect()
    };
    let pressed: Vec<String> = state.chord.iter().map(ToString::to_string).collect();
    let pressed = pressed.join(" ");
    let end = format!("{END} ends it");
    // Texts, where there is room for all; else names.
    let texts = joined(&pressed, &hints(|action| action.text().to_lowercase()), &end);
    if width::of(&texts) <= room {
        return Some(texts);
    }
    let mut names = hints(|action| action.name().replace('_', " "));
    let all = joined(&pressed, &names, &end);
    if width::of(&all) <= room {
        return Some(all);
    }
    while !names.is_empty() && width::of(&joined(&pressed, &names, "…")) > room {
        names.pop();
    }
    Some(joined(&pressed, &names, if names.len() < following.len() { "…" } else { "" }))
}

fn joined(pressed: &str, hints: &[String], end: &str) -> String {
    let hints = hints.iter().map(String::as_str);
    let parts = std::iter::once(pressed).chain(hints).chain(Some(end).filter(|end| !end.is_empty()));
    parts.collect::<Vec<_>>().join(" · ")
}
