//! The search in the transcript: its bar, and steps through what was found.

use super::Outcome;
use crate::app::state::AppState;
use crate::proto::event::NoticeLevel;
use crate::transcript::search::Way;
use crate::ui::layers::Layer;
use crate::ui::layers::search::{SearchBar, SearchStep};
use crate::ui::pane::Walked;
use std::time::Instant;

/// Opens the bar, with what is looked for already.
pub fn open(state: &mut AppState) -> Outcome {
    if !is_open(state) {
        let query = state.pane.searched().cloned().unwrap_or_default();
        state.pane.begin_search();
        state.layers.push(Layer::Search(Box::new(SearchBar::new(&query))));
    }
    Outcome::changed()
}

/// The bar is there.
fn is_open(state: &AppState) -> bool {
    state.layers.iter().any(|layer| matches!(layer, Layer::Search(_)))
}

/// To another match; without a search that is on one is begun.
pub fn walk(state: &mut AppState, way: Way, now: Instant) -> Outcome {
    if state.pane.searched().is_none() {
        return open(state);
    }
    let walked = state.pane.search_step(way);
    if state.pane.focused().is_some() {
        state.pane.focus_match();
    }
    match (walked, way) {
        (Walked::Around, Way::Next) => {
            state.toast(NoticeLevel::Info, "The search goes on from the beginning.", now);
        }
        (Walked::Around, Way::Previous) => {
            state.toast(NoticeLevel::Info, "The search goes on from the end.", now);
        }
        (Walked::On | Walked::Nowhere, _) => {}
    }
    Outcome::changed()
}

/// What the bar says.
pub fn step(state: &mut AppState, step: SearchStep, now: Instant) -> Outcome {
    match step {
        SearchStep::Find(query) => state.pane.search_for(query, &state.conversation),
        SearchStep::Walk(way) => return walk(state, way, now),
        SearchStep::Accept => state.pane.accept_search(),
        SearchStep::End => state.pane.end_search(),
    }
    Outcome::changed()
}

/// Ends a search that is on; false when none is.
pub fn end(state: &mut AppState) -> bool {
    let is_on = state.pane.searched().is_some();
    state.pane.end_search();
    state.layers.retain(|layer| !matches!(layer, Layer::Search(_)));
    is_on
}
