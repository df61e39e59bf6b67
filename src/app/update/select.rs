//! What is selected in the transcript: keys that extend it, and its copy.

use super::Outcome;
use crate::app::effect::Effect;
use crate::app::state::AppState;
use crate::config::action::Action;
use crate::proto::event::NoticeLevel;
use crate::ui::pane::{Gather, Gathered, Motion};
use std::time::Instant;

/// Rows that are laid out at once for a copy: a fraction of a frame's time. A copy of more is put together in parts.
const ROWS_AT_ONCE: usize = 200;

/// A long copy came to nothing.
const NOTHING_COPIED: &str = "Nothing was copied.";

/// Copies what is selected; nothing when nothing is.
pub fn copy(state: &mut AppState, now: Instant) -> Option<Outcome> {
    let gather = state.pane.gather()?;
    // One that was under way is not wanted any more.
    let was_busy = state.gather.take().is_some();
    let outcome = work(state, gather, now);
    // The wheel is turning already: a second one would turn it twice as fast.
    Some(if was_busy { Outcome { effects: without_wheel(outcome.effects), changed: true } } else { outcome })
}

fn without_wheel(effects: Vec<Effect>) -> Vec<Effect> {
    effects.into_iter().filter(|effect| *effect != Effect::GatherOn).collect()
}

/// Goes on with a long copy.
pub fn gather_on(state: &mut AppState, now: Instant) -> Outcome {
    match state.gather.take() {
        Some(gather) => work(state, gather, now),
        None => Outcome::none(),
    }
}

/// Stops a long copy; false if there is none.
pub fn stop(state: &mut AppState, now: Instant) -> bool {
    let was_busy = state.gather.take().is_some();
    if was_busy {
        state.toast(NoticeLevel::Info, NOTHING_COPIED, now);
    }
    was_busy
}

fn work(state: &mut AppState, gather: Gather, now: Instant) -> Outcome {
    let (pane, conversation, look) = state.reading(now);
    match pane.gather_on(conversation, &look, gather, ROWS_AT_ONCE) {
        Gathered::Whole(text) if text.is_empty() => {
            state.toast(NoticeLevel::Info, "There is no text in what is selected.", now);
            Outcome::changed()
        }
        Gathered::Whole(text) => Outcome::effect(Effect::CopySelection(text)),
        Gathered::Part(gather) => {
            state.toast(NoticeLevel::Info, format!("Copying, {} % done.", gather.percent()), now);
            state.gather = Some(*gather);
            Outcome::effect(Effect::GatherOn)
        }
        Gathered::Gone => {
            state.toast(NoticeLevel::Info, NOTHING_COPIED, now);
            Outcome::changed()
        }
    }
}

/// What a key selects in the transcript. Nothing of another key.
pub fn extend(state: &mut AppState, action: Action, now: Instant) -> Option<Outcome> {
    let motion = match action {
        Action::SelectLeft => Motion::Left,
        Action::SelectRight => Motion::Right,
        Action::SelectUp => Motion::Up,
        Action::SelectDown => Motion::Down,
        Action::SelectWordLeft => Motion::WordLeft,
        Action::SelectWordRight => Motion::WordRight,
        Action::SelectLineStart => Motion::LineStart,
        Action::SelectLineEnd => Motion::LineEnd,
        Action::SelectAll => {
            let (pane, conversation, look) = state.reading(now);
            pane.select_all(conversation, &look);
            return Some(Outcome::changed());
        }
        _ => return None,
    };
    let (pane, conversation, look) = state.reading(now);
    pane.extend_selection(conversation, &look, motion);
    Some(Outcome::changed())
}
