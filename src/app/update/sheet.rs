//! The sheet over the screen: opening it, what it wants done, the mouse in it.

use super::{Outcome, layers, links};
use crate::app::effect::Effect;
use crate::app::state::{AppState, Clicks, look_of};
use crate::proto::event::NoticeLevel;
use crate::term::clipboard::Copied;
use crate::transcript::conversation::Conversation;
use crate::transcript::item::Body;
use crate::transcript::search::Way;
use crate::ui::entries::whole::has_whole;
use crate::ui::layers::sheet::{Released, Sheet, SheetAsk, SheetPart, Wall};
use crate::ui::layers::{Layer, LayerOutcome};
use ratatui::layout::Position;
use std::time::Instant;

/// Shows all of an item; false where there is no more than its rows show.
pub fn open(state: &mut AppState, item: usize, now: Instant) -> bool {
    if !state.conversation.items().get(item).is_some_and(has_whole) {
        return false;
    }
    let sheet = Sheet::new(item, state.conversation.generation(), &state.theme);
    state.layers.push(Layer::Sheet(Box::new(sheet)));
    sync(state, now);
    true
}

/// A click opens the sheet of this item. What the model thought is only opened and closed by it.
pub fn opens_by_click(conversation: &Conversation, item: usize) -> bool {
    let body = conversation.items().get(item).map(|item| &item.body);
    matches!(body, Some(Body::Call(_) | Body::Shell(_) | Body::Compaction(_)))
}

/// Reads what the sheets show; those whose items are gone are taken away.
pub fn sync(state: &mut AppState, now: Instant) {
    if !state.layers.iter().any(|layer| matches!(layer, Layer::Sheet(_))) {
        return;
    }
    let look = look_of!(state, now);
    let wall = Wall { now: (state.wall_now)(), time_of: state.time_at };
    let (conversation, columns, log) = (&state.conversation, state.size.0, state.job_log.as_ref());
    state.layers.retain_mut(|layer| match layer {
        Layer::Sheet(sheet) => {
            sheet.sync(conversation, &look, columns, wall) && sheet.sync_job(log, &look, wall)
        }
        _ => true,
    });
}

/// A question lies over the sheet at this place: it draws nothing until that is answered.
pub fn is_hidden(layers: &[Layer], place: usize) -> bool {
    matches!(layers.get(place), Some(Layer::Sheet(_)))
        && layers.iter().skip(place + 1).any(|layer| matches!(layer, Layer::Permission(_)))
}

/// The page is not seen.
pub fn covers(layers: &[Layer]) -> bool {
    let mut places = 0..layers.len();
    places.any(|place| matches!(layers.get(place), Some(Layer::Sheet(_))) && !is_hidden(layers, place))
}

/// The sheet, if it is topmost.
fn top(state: &mut AppState) -> Option<&mut Sheet> {
    match state.layers.last_mut()? {
        Layer::Sheet(sheet) => Some(sheet),
        _ => None,
    }
}

/// What the sheet wants done.
pub fn asked(state: &mut AppState, ask: SheetAsk, now: Instant) -> Outcome {
    match ask {
        SheetAsk::Copy(text) => Outcome::effect(Effect::Copy(text)),
        SheetAsk::Walk(way) => walk(state, way, now),
    }
}

fn walk(state: &mut AppState, way: Way, now: Instant) -> Outcome {
    let Some(item) = top(state).and_then(|sheet| sheet.item()) else { return Outcome::none() };
    let items = state.conversation.items();
    let found = match way {
        Way::Next => items.iter().skip(item + 1).position(has_whole).map(|at| at + item + 1),
        Way::Previous => items.iter().take(item).rposition(has_whole),
    };
    let Some(found) = found else {
        let text = match way {
            Way::Next => "There is no row below that opens.",
            Way::Previous => "There is no row above that opens.",
        };
        if let Some(sheet) = top(state) {
            sheet.tell(NoticeLevel::Info, text, now);
        }
        return Outcome::changed();
    };
    state.layers.pop();
    open(state, found, now);
    // Where one comes back to is what was read last.
    if state.pane.focused().is_some() {
        state.pane.set_focus(Some(found));
    }
    Outcome::changed()
}

/// What became of a copy is told in the sheet, if that is what is seen. False: it is not.
pub fn copied(state: &mut AppState, copied: &Copied, text: &str, level: NoticeLevel, now: Instant) -> bool {
    let Some(sheet) = top(state) else { return false };
    let word = match copied {
        Copied::Confirmed => Some("copied"),
        // Nobody confirms it, so it is not called a copy.
        Copied::Sent(_) => Some("sent"),
        Copied::Kept { .. } | Copied::Failed(_) => None,
    };
    let level = if matches!(copied, Copied::Failed(_)) { NoticeLevel::Error } else { level };
    sheet.copied(word, level, text.to_owned(), now);
    true
}

/// A press on something of the sheet.
pub fn press(state: &mut AppState, part: SheetPart, at: Position, now: Instant) -> Outcome {
    let presses = presses(state, at, now);
    // The second press of a double click on the row that was opened by the first.
    if presses.is_none() {
        return Outcome::none();
    }
    let Some(sheet) = top(state) else { return Outcome::none() };
    match part {
        SheetPart::Body => sheet.press_text(at, presses.unwrap_or(1)),
        SheetPart::Scrollbar => sheet.press_bar(at.y),
        SheetPart::Close | SheetPart::Button(_) | SheetPart::Step(_) => {
            let outcome = sheet.press_part(part, now);
            return match outcome {
                LayerOutcome::Closed => {
                    state.layers.pop();
                    Outcome::changed()
                }
                LayerOutcome::Emit(answer) => layers::answered(state, answer, now),
                _ => Outcome::changed(),
            };
        }
    }
    Outcome::changed()
}

/// How many presses were made here; nothing if the first of them opened the sheet.
fn presses(state: &mut AppState, at: Position, now: Instant) -> Option<u8> {
    let before = state.gestures.clicks.filter(|clicks| super::mouse::belongs(clicks, at, now));
    let count = before.map_or(1, |before| before.count.saturating_add(1));
    let toggled = before.and_then(|before| before.toggled);
    state.gestures.clicks = Some(Clicks { at, last: now, count, toggled });
    toggled.is_none().then_some(count)
}

/// The pointer moves with the button down. `None`: the sheet holds nothing.
pub fn drag(state: &mut AppState, at: Position) -> Option<Outcome> {
    let sheet = top(state).filter(|sheet| sheet.is_held())?;
    sheet.drag(at);
    Some(Outcome::changed())
}

/// The button comes up. `None`: the sheet holds nothing.
pub fn release(state: &mut AppState, at: Position) -> Option<Outcome> {
    let sheet = top(state).filter(|sheet| sheet.is_held())?;
    let released = sheet.release(at);
    Some(match released {
        Released::Nothing => Outcome::changed(),
        Released::Text(text) => Outcome::effect(Effect::CopySelection(text)),
        Released::Link(url) => links::click(state, url),
    })
}

/// Nothing will be told of the button any more. Whether it held something.
pub fn let_go(state: &mut AppState) -> bool {
    let mut was_held = false;
    for layer in &mut state.layers {
        if let Layer::Sheet(sheet) = layer {
            was_held |= sheet.let_go();
        }
    }
    was_held
}
