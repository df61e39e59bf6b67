//! Addresses that are clicked, and what of the mouse is listened to.

use super::Outcome;
use crate::app::effect::Effect;
use crate::app::state::AppState;
use crate::proto::event::NoticeLevel;
use crate::ui::target::Target;
use crossterm::event::MouseEventKind;
use std::sync::Arc;
use std::time::Instant;

/// A click on an address. Whether it can be opened is known only where it is tried.
pub fn click(state: &AppState, url: Arc<str>) -> Outcome {
    Outcome::effect(if state.open_links { Effect::OpenLink(url) } else { Effect::Copy(url.to_string()) })
}

/// Opens the next address of a row, of those that are in view; the first one after the last.
pub fn next(state: &mut AppState, row: usize, now: Instant) -> Outcome {
    let hits = &state.scene.hits;
    // The text of a row, and its head, which lies above that.
    let places: Vec<_> = hits.areas_of(&Target::Text(row)).collect();
    let is_of_row = |y: u16| places.iter().any(|place| (place.top()..place.bottom()).contains(&y));
    let mut urls: Vec<Arc<str>> =
        hits.links().into_iter().filter(|(y, ..)| is_of_row(*y)).map(|(.., url)| url).collect();
    // One that is wrapped lies in several rows.
    urls.dedup();
    let after = state.gestures.link.filter(|(item, _)| *item == row).map_or(0, |(_, at)| at + 1);
    let at = if after < urls.len() { after } else { 0 };
    match urls.into_iter().nth(at) {
        Some(url) => {
            state.gestures.link = Some((row, at));
            click(state, url)
        }
        None => {
            state.toast(NoticeLevel::Info, "No address of this row is in view.", now);
            Outcome::changed()
        }
    }
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
