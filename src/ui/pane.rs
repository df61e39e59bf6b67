//! The window on the transcript.
//!
//! Responsibility: which rows of which items stand where, and what a click on them means. Not: what the rows look like
//! (see [`super::entries`]), nor what they are about (see [`crate::transcript::conversation`]).
//!
//! Invariants: only what is visible is laid out, so that a frame costs the same with 100,000 items as with ten; while
//! the user reads, nothing but the user moves the row at the top; a reply that streams costs what is new of it, not what
//! there is of it.
//!
//! | file | what it is |
//! |---|---|
//! | `live` | rows of a text that streams |
//! | `place` | items as rows: laid out, kept, with the blank row above them |
//! | `folds` | runs of work as one line each |
//! | `heading` | the prompt that what is read belongs to |
//! | `scrollbar` | where the window stands in all there is |
//! | `search` | marks under what is looked for |
//! | `select` | what is selected: presses, drags, keys, the copy |
//! | `text` | from cells to places in the text, and back |
//! | `travel` | what the user wishes to see, settled when it is drawn |
//! | `view` | cells and clicks |

mod folds;
mod heading;
mod live;
mod place;
mod scrollbar;
mod search;
mod select;
mod text;
mod travel;
mod view;

use super::entries::{self, EntryCx, Layout};
use super::hit::HitMap;
use super::look::Look;
use super::scene::NextDeadline;
use super::target::Target;
use crate::transcript::anchor::Anchor;
use crate::transcript::conversation::Conversation;
use crate::transcript::copy;
use crate::transcript::heights::Heights;
use crate::transcript::item::{Body, Fold, Item};
use crate::transcript::layout::{CACHE_BYTES, LayoutCache};
use crate::transcript::scroll::{Rows, Scroll, Slice};
use folds::Folds;
use live::Live;
use place::{Frame, Laid};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
pub use search::{SearchStatus, Walked};
use select::Selecting;
pub use select::{Gather, Gathered, Motion};
use std::collections::HashMap;
use std::time::{Duration, Instant};
pub use travel::Direction;
use travel::Travel;
pub(super) use view::select;

/// How long a card says that it was copied.
pub const COPIED_FOR: Duration = Duration::from_millis(1500);

/// How items become rows. Tests bring their own.
#[derive(Clone, Copy)]
struct Setter<'a> {
    lay_out: &'a dyn Fn(&Item, &EntryCx<'_>) -> Layout,
    estimate: &'a dyn Fn(&Item, u16) -> u32,
}

/// The window on the transcript.
#[derive(Debug)]
pub struct Pane {
    heights: Heights,
    layouts: LayoutCache<Laid>,
    /// Texts whose rows are their streams, by index.
    live: HashMap<usize, Live>,
    scroll: Scroll,
    /// Asked for since the last frame, in order.
    travel: Vec<Travel>,
    expanded: bool,
    show_thinking: bool,
    focus: Option<usize>,
    /// The focus is on the line of the run, not on the item below it.
    is_line_focused: bool,
    folds: Folds,
    shows_live_run: bool,
    selecting: Selecting,
    /// A card that was copied.
    copied: Option<view::CopiedCard>,
    /// Clicks do not reach us.
    no_clicks: bool,
    /// Whose indexes all this is about.
    generation: u64,
    /// How many items there were when the user left the end.
    left_at: Option<usize>,
    /// What the last frame showed, and the place of its first row.
    shown: Vec<Slice>,
    top: Option<Anchor>,
    search: Option<search::Searching>,
    scrollbar: scrollbar::Scrollbar,
    sticky_heading: bool,
    /// The row below the window is free.
    has_spare_row: bool,
    /// Where the last frame stood.
    area: Rect,
}

impl Default for Pane {
    fn default() -> Self {
        Self {
            heights: Heights::default(),
            layouts: LayoutCache::new(CACHE_BYTES),
            live: HashMap::new(),
            scroll: Scroll::Follow,
            travel: Vec::new(),
            expanded: false,
            show_thinking: false,
            focus: None,
            is_line_focused: false,
            folds: Folds::default(),
            shows_live_run: false,
            selecting: Selecting::default(),
            copied: None,
            no_clicks: false,
            generation: 0,
            left_at: None,
            shown: Vec::new(),
            top: None,
            search: None,
            scrollbar: scrollbar::Scrollbar::default(),
            sticky_heading: false,
            has_spare_row: false,
            area: Rect::ZERO,
        }
    }
}

impl Pane {
    /// A window that follows the end.
    pub fn new() -> Self {
        Self::default()
    }

    /// Draws what is in the window, over whatever `area` holds.
    pub fn draw(
        &mut self,
        conversation: &mut Conversation,
        look: &Look<'_>,
        area: Rect,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
        next: &mut NextDeadline,
    ) {
        let setter = Setter { lay_out: &entries::lay_out, estimate: &entries::estimate };
        self.draw_with(setter, conversation, look, area, buffer, &mut view::Meaning { hits, next });
    }

    fn draw_with(
        &mut self,
        setter: Setter<'_>,
        conversation: &mut Conversation,
        look: &Look<'_>,
        area: Rect,
        buffer: &mut Buffer,
        meaning: &mut view::Meaning<'_>,
    ) {
        let area = area.intersection(buffer.area);
        self.area = area;
        let width = area.width - self.scrollbar.columns(area.width);
        self.folds.is_on = look.display.folded;
        self.shows_live_run = false;
        conversation.settle(look.now);
        self.take_in(setter, conversation, width);
        if self.focus.and_then(|focus| conversation.items().get(focus)).is_some_and(place::is_hidden) {
            // It is gone: keys would act on nothing.
            self.set_focus(None);
        }
        self.follow_into_line();
        if area.is_empty() {
            return;
        }
        meaning.hits.push(area, 0, Target::Transcript);
        self.layouts.begin_frame();
        self.live.retain(|item, _| conversation.stream_mut(*item).is_some());
        let height = usize::from(area.height);
        let items = conversation.len();
        if let Some(search) = &mut self.search {
            search.scan(conversation, look, meaning.next);
        }
        let mut frame = Frame {
            conversation,
            look,
            width,
            sticky_heading: self.sticky_heading,
            lay_out: setter.lay_out,
            expanded: self.expanded,
            show_thinking: self.show_thinking,
            layouts: &mut self.layouts,
            live: &mut self.live,
            folds: &mut self.folds,
            placed: HashMap::new(),
            set: HashMap::new(),
        };
        if let (true, true, Some(top)) = (self.selecting.holds_still(), self.scroll.is_following(), self.top)
        {
            self.scroll = Scroll::Reading(top);
        }
        let travel = std::mem::take(&mut self.travel);
        if !travel.is_empty() {
            self.selecting.was_moved();
        }
        travel::settle(travel, &mut self.scroll, height, &mut self.heights, &mut frame);
        let pull = self.selecting.pull(area, look.now);
        if pull != 0 {
            let before = self.scroll.window(height, &mut self.heights, &mut frame);
            self.scroll.by(pull, height, &mut self.heights, &mut frame);
            self.selecting.pulled(self.scroll.window(height, &mut self.heights, &mut frame) != before);
        }
        if let Some(search) = &mut self.search {
            search.settle(&mut self.scroll, height, &mut self.heights, &mut frame);
            if let Some(found) = search.take_accepted() {
                self.focus = found;
                self.is_line_focused = false;
                // There is nothing to walk through.
                if found.is_none() {
                    self.search = None;
                }
            }
        }
        self.shown = self.scroll.window(height, &mut self.heights, &mut frame);
        self.top = self.shown.first().map(|top| frame.anchor(top.entry, top.first));
        self.selecting.keep_up(&mut frame);
        self.selecting.follow_pointer(&mut frame, &self.shown, area);
        self.selecting.tell_deadline(meaning.next);
        self.left_at = match self.scroll.is_following() {
            true => None,
            false => Some(self.left_at.unwrap_or(items)),
        };
        if self.copied.is_some_and(|copied| look.now >= copied.at + COPIED_FOR) {
            self.copied = None;
        }
        // On the ground of the focused row nobody would see what of it is selected.
        let selected = self.selecting.selection.filter(|selected| !selected.is_empty());
        let focus = self.focus.filter(|_| selected.is_none());
        let marks = view::Marks {
            focus,
            is_line_focused: self.is_line_focused,
            selected,
            copied: self.copied,
            clicks: !self.no_clicks,
        };
        self.shows_live_run = view::paint(&mut frame, &self.shown, marks, area, buffer, meaning);
        if let Some(search) = &mut self.search {
            search.paint(&mut frame, &self.shown, area, buffer);
        }
        if let Some(prompt) = heading::of(&mut frame, &self.shown, height) {
            heading::paint(&frame, prompt, area, buffer, meaning.hits);
        }
        if let (Some(top), Some(first)) = (self.top, self.shown.first()) {
            let stand = scrollbar::Stand {
                heights: &self.heights,
                row: self.heights.top(first.entry) + first.first as u64,
                top,
                is_at_end: self.scroll.is_following(),
                revision: frame.conversation.revision(),
            };
            let bar = self.scrollbar.paint(&stand, self.search.as_ref(), look.theme, area, buffer);
            if let Some(bar) = bar {
                meaning.hits.push(bar, 0, Target::Scrollbar);
            }
        }
        if let Some(left_at) = self.left_at {
            // Where a row is free it stands there and hides nothing.
            let height = area.height + u16::from(self.has_spare_row);
            let area = Rect { height, ..area }.intersection(buffer.area);
            let new = view::new_from(&mut frame, left_at);
            view::below(new, look, area, buffer, meaning.hits);
        }
    }

    /// Brings the heights in step with the items.
    fn take_in(&mut self, setter: Setter<'_>, conversation: &mut Conversation, width: u16) {
        if self.generation != conversation.generation() {
            // Indexes mean other items now. What the user set for all of them stays.
            *self = Self {
                expanded: self.expanded,
                show_thinking: self.show_thinking,
                folds: self.folds.restart(),
                generation: conversation.generation(),
                travel: std::mem::take(&mut self.travel),
                search: self.search.take().map(|search| search.restart(conversation)),
                scrollbar: std::mem::take(&mut self.scrollbar),
                sticky_heading: self.sticky_heading,
                has_spare_row: self.has_spare_row,
                no_clicks: self.no_clicks,
                ..Self::default()
            };
        }
        let touched = conversation.take_touched();
        self.folds.runs.update(conversation.items(), touched);
        self.heights.truncate(conversation.len());
        if self.folds.estimated_for != self.folds.state() {
            // Most items have rows now that had none, or the other way round.
            self.folds.estimated_for = self.folds.state();
            self.heights.truncate(0);
        }
        let known = self.heights.len();
        // The old ones keep their heights when the width changes: they are exact as soon as they are seen.
        for (index, item) in conversation.items().iter().enumerate().skip(known) {
            let height = self.folds.estimate(index);
            self.heights.push(height.unwrap_or_else(|| (setter.estimate)(item, width.max(1))));
        }
    }

    /// All rows of all items, or the short form of each.
    pub const fn set_expanded(&mut self, expanded: bool) {
        self.expanded = expanded;
    }

    /// Whether all rows are shown.
    pub const fn is_expanded(&self) -> bool {
        self.expanded
    }

    /// What the model thought in full, or a line of it.
    pub const fn set_show_thinking(&mut self, show: bool) {
        self.show_thinking = show;
    }

    /// Whether thinking is shown in full.
    pub const fn shows_thinking(&self) -> bool {
        self.show_thinking
    }

    /// Keeps the prompt that what is read belongs to in the first row.
    pub const fn set_sticky_heading(&mut self, is_on: bool) {
        self.sticky_heading = is_on;
    }

    /// The row below the window belongs to nobody: that there is more below is said there.
    pub const fn set_spare_row(&mut self, has_one: bool) {
        self.has_spare_row = has_one;
    }

    /// Forgets all layouts: the keymap has changed, which is too large for a key. Another working folder comes with another
    /// session, of which nothing is laid out.
    pub fn forget_layouts(&mut self) {
        self.layouts.clear();
    }

    /// Opens an item, or closes it. What stands above it stays where it is.
    pub fn toggle(&mut self, conversation: &mut Conversation, index: usize) {
        let Some(item) = conversation.items().get(index) else { return };
        let is_open = is_open(item, self.expanded, self.show_thinking);
        conversation.toggle(index, is_open);
        if self.shown.iter().any(|slice| slice.entry == index) {
            self.hold_top();
        }
    }

    /// A card was copied: its label says so for a while. `is_sure`: the clipboard confirmed it.
    pub const fn mark_copied(&mut self, item: usize, card: usize, is_sure: bool, now: Instant) {
        self.copied = Some(view::CopiedCard { item, card, at: now, is_sure });
    }

    /// Nothing was copied after all: no label says so.
    pub const fn unmark_copied(&mut self) {
        self.copied = None;
    }

    /// Whether clicks reach us; without them cards have no labels.
    pub const fn set_clicks(&mut self, reach: bool) {
        self.no_clicks = !reach;
    }

    /// The item that has the focus.
    pub const fn focused(&self) -> Option<usize> {
        self.focus
    }

    /// Puts the focus on an item, or takes it away.
    pub fn set_focus(&mut self, item: Option<usize>) {
        self.focus = item;
        self.is_line_focused = false;
        self.travel.extend(item.map(Travel::Reveal));
    }

    /// Moves the focus up; to the last item in the window if there is none.
    pub fn focus_previous(&mut self, conversation: &Conversation) {
        let items = conversation.items();
        if let Some(focus) = self.focus.filter(|focus| self.has_line(*focus) && !self.is_line_focused)
            && self.folds.closed(focus).is_none()
        {
            // From the first item of an open run to the line above it.
            self.set_focus(Some(focus));
            self.is_line_focused = true;
            return;
        }
        let end = match self.focus {
            Some(focus) => focus,
            None => self.shown.last().map_or(items.len(), |slice| slice.entry + 1),
        };
        let above = (0..end.min(items.len())).rev().find(|index| self.can_be_focused(items, *index));
        self.set_focus(above.or(self.focus));
        self.is_line_focused =
            self.focus.is_some_and(|focus| self.has_line(focus) && self.folds.closed(focus).is_some());
    }

    /// Moves the focus down; to the first item in the window if there is none.
    pub fn focus_next(&mut self, conversation: &Conversation) {
        if let Some(focus) = self.focused_run()
            && self.folds.closed(focus).is_none()
        {
            self.set_focus(Some(focus));
            return;
        }
        let begin = match self.focus {
            Some(focus) => focus + 1,
            None => self.shown.first().map_or(0, |slice| slice.entry),
        };
        let items = conversation.items();
        let below = (begin..items.len()).find(|index| self.can_be_focused(items, *index));
        let before = self.focus;
        self.set_focus(below.or(before));
        self.is_line_focused = below.is_some_and(|below| self.has_line(below));
    }

    /// The line of a run stands above the rows of an item, or in their place.
    fn has_line(&self, item: usize) -> bool {
        self.folds.is_on && self.folds.runs.at(item).is_some_and(|run| run.first == item)
    }

    fn can_be_focused(&self, items: &[Item], index: usize) -> bool {
        items.get(index).is_some_and(can_be_focused) && !self.folds.is_away(index)
    }

    /// The text of an item; of the line of a run, if that has the focus, its words.
    pub fn copy_text(&self, conversation: &Conversation, item: usize) -> String {
        if let Some(words) = self.focused_run().filter(|run| *run == item).and_then(|run| self.run_text(run))
        {
            return words;
        }
        conversation.items().get(item).map(copy::text).unwrap_or_default()
    }

    /// What a copy of an item's cards would be, in their order.
    pub fn card_texts(&self, conversation: &Conversation, item: usize) -> Vec<String> {
        let cards = conversation.items().get(item).and_then(copy::cards).unwrap_or_default();
        cards.into_iter().map(|card| card.text).collect()
    }

    /// The text of a card, as the last frame showed it.
    pub fn card_text(&self, conversation: &Conversation, item: usize, card: usize) -> Option<String> {
        copy::cards(conversation.items().get(item)?)?.into_iter().nth(card).map(|card| card.text)
    }

    /// What the last frame showed, from the top.
    pub fn shown(&self) -> &[Slice] {
        &self.shown
    }
}

/// Whether an item is drawn whole.
const fn is_open(item: &Item, expanded: bool, show_thinking: bool) -> bool {
    match item.fold {
        Fold::Open => true,
        Fold::Closed => false,
        Fold::Usual => expanded || (show_thinking && matches!(item.body, Body::Thinking(_))),
    }
}

/// Whether there is something to open or to copy.
fn can_be_focused(item: &Item) -> bool {
    !matches!(item.body, Body::TurnEnd(_)) && !place::is_hidden(item)
}

#[cfg(test)]
#[path = "pane/tests.rs"]
mod tests;
