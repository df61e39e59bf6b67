//! Copies of blocks: of code and quotes in what the model said, by a click, a key or a command.

use super::Outcome;
use super::done::copy_notice;
use crate::app::effect::Effect;
use crate::app::state::AppState;
use crate::proto::event::NoticeLevel;
use crate::term::clipboard::Copied;
use std::time::Instant;

/// Copies a card that was clicked.
pub fn card(state: &AppState, item: usize, card: usize) -> Outcome {
    match state.pane.card_text(&state.conversation, item, card) {
        Some(text) => Outcome::effect(Effect::CopyCard { item, card, text }),
        None => Outcome::changed(),
    }
}

/// `/copy-block [n]`: the block of this number in the newest answer that has any, the last one without a number.
pub fn block(state: &mut AppState, argument: &str, now: Instant) -> Outcome {
    let Some((item, mut blocks)) = state.conversation.last_blocks() else {
        state.toast(NoticeLevel::Info, "There is no block to copy yet: no code, and no quote.", now);
        return Outcome::changed();
    };
    let count = blocks.len();
    let number = if argument.is_empty() { Some(count) } else { argument.parse::<usize>().ok() };
    match number.filter(|number| (1..=count).contains(number)) {
        Some(number) => {
            let card = number - 1;
            Outcome::effect(Effect::CopyCard { item, card, text: blocks.swap_remove(card).text })
        }
        None => {
            let text = match count {
                1 => "The answer has one block: /copy-block copies it.".to_owned(),
                count => format!("The answer has {count} blocks: name one from 1 to {count}."),
            };
            state.toast(NoticeLevel::Warning, text, now);
            Outcome::changed()
        }
    }
}

/// Copies the next block of a row, the first one after the last.
pub fn next_block(state: &mut AppState, row: usize, now: Instant) -> Outcome {
    let texts = state.pane.card_texts(&state.conversation, row);
    let after = state.gestures.block.filter(|(item, _)| *item == row).map_or(0, |(_, card)| card + 1);
    let card = if after < texts.len() { after } else { 0 };
    match texts.into_iter().nth(card) {
        Some(text) => {
            state.gestures.block = Some((row, card));
            Outcome::effect(Effect::CopyCard { item: row, card, text })
        }
        None => {
            state.toast(NoticeLevel::Info, "There is no block in this row: no code, and no quote.", now);
            Outcome::changed()
        }
    }
}

/// Copies what the user most likely wants: the last block of code of the newest answer, else the answer.
pub fn last(state: &mut AppState, now: Instant) -> Outcome {
    if let Some((item, card, text)) = state.conversation.last_code() {
        return Outcome::effect(Effect::CopyCard { item, card, text });
    }
    match state.conversation.last_reply() {
        Some(text) => Outcome::effect(Effect::Copy(text.to_owned())),
        None => {
            state.toast(NoticeLevel::Info, "There is nothing to copy yet.", now);
            Outcome::changed()
        }
    }
}

/// What became of the copy of a card: its label says it, and a notice too where there is more to know.
pub fn copied(state: &mut AppState, (item, card): (usize, usize), copied: &Copied, now: Instant) {
    match copied {
        Copied::Confirmed => state.pane.mark_copied(item, card, true, now),
        Copied::Sent(_) | Copied::Kept { sent: true, .. } => {
            state.pane.mark_copied(item, card, false, now);
        }
        Copied::Kept { sent: false, .. } | Copied::Failed(_) => state.pane.unmark_copied(),
    }
    let (level, text) = copy_notice(copied);
    state.toast(level, text, now);
}
