//! Runs of work as one line each: which of them are open, and how an item stands in its run.
//!
//! An item keeps a height of its own. A closed run draws its line as the rows of its first item, and all others of it have
//! none; an open one draws the line above the rows of its first item and `close` below those of its last one.

use super::Pane;
use super::place::Frame;
use super::travel::Travel;
use crate::transcript::anchor::Anchor;
use crate::transcript::conversation::Conversation;
use crate::transcript::item::{Body, Item, Prose, Thinking};
use crate::transcript::runs::{Facts, Kind, Runs, Span};
use crate::transcript::scroll::Scroll;
use std::collections::HashSet;
use std::sync::Arc;

/// Rows of the line of a run, before it is drawn.
const LINE_ROWS: u32 = 2;

/// All runs, and which of them are open.
#[derive(Debug, Default)]
pub(super) struct Folds {
    pub runs: Runs,
    /// Runs are one line each.
    pub is_on: bool,
    /// As they are unless the user opened or closed them one by one.
    all_open: bool,
    /// Those that are not as all are, by their first item.
    flipped: HashSet<usize>,
    /// The heights are estimated for this: on, and all open.
    pub estimated_for: (bool, bool),
}

/// How an item stands in its run.
#[derive(Clone, Debug)]
pub(super) enum Stand {
    /// In none that is a line.
    Free,
    /// It has no rows: the line stands for it.
    Away,
    In(InRun),
}

/// An item that has rows in a run.
#[derive(Clone, Debug)]
pub(super) struct InRun {
    pub span: Span,
    pub facts: Arc<Facts>,
    stamp: u64,
    pub is_open: bool,
    /// The line of the run stands above it.
    pub is_first: bool,
    /// The row that closes the run stands below it.
    pub is_last: bool,
    /// Its own rows are shown.
    pub has_rows: bool,
}

impl InRun {
    /// All that changes how it is drawn, for the key of its layout.
    pub fn key(&self) -> u64 {
        let bits = [
            true,
            self.is_open,
            self.is_first,
            self.is_last,
            self.has_rows,
            self.facts.is_hung,
            self.facts.is_thinking(),
        ];
        let bits = bits.iter().fold(0, |bits, bit| bits << 1 | u64::from(*bit));
        // Only the line tells the facts.
        bits | if self.is_first { self.stamp << 8 } else { 0 }
    }
}

impl Folds {
    /// The same switches for other items.
    pub fn restart(&self) -> Self {
        Self { is_on: self.is_on, all_open: self.all_open, ..Self::default() }
    }

    /// What the heights depend on beside the items.
    pub const fn state(&self) -> (bool, bool) {
        (self.is_on, self.all_open)
    }

    pub fn is_open(&self, first: usize) -> bool {
        self.all_open != self.flipped.contains(&first)
    }

    pub fn flip(&mut self, first: usize) {
        if !self.flipped.remove(&first) {
            self.flipped.insert(first);
        }
    }

    /// The closed run that an item is in.
    pub fn closed(&self, item: usize) -> Option<Span> {
        let span = self.runs.at(item).filter(|_| self.is_on)?;
        (!self.is_open(span.first)).then_some(span)
    }

    /// The line of its run stands for an item, wherever that begins.
    pub fn is_away(&self, item: usize) -> bool {
        self.closed(item).is_some_and(|span| span.first != item) && self.runs.kind(item) == Kind::Work
    }

    /// The first item from this one on that may have rows.
    pub fn rows_from(&self, item: usize, is_peeking: bool) -> usize {
        match self.passed(item, is_peeking) {
            Some(span) => self.runs.first_told(item..span.last + 1).unwrap_or(span.last + 1),
            None => item,
        }
    }

    /// The end of the items before this one that may have rows.
    pub fn rows_until(&self, end: usize, is_peeking: bool) -> usize {
        match end.checked_sub(1).and_then(|item| self.passed(item, is_peeking)) {
            Some(span) => self.runs.last_told(span.first + 1..end).unwrap_or(span.first) + 1,
            None => end,
        }
    }

    /// The closed run that an item is in, behind its line. While what is thought now shows, that of it is looked at.
    fn passed(&self, item: usize, is_peeking: bool) -> Option<Span> {
        let span = self.closed(item).filter(|span| span.first < item)?;
        (!is_peeking || !self.runs.is_tail(span)).then_some(span)
    }

    /// How high an item is before it is laid out; nothing where it is as high as elsewhere.
    pub fn estimate(&self, item: usize) -> Option<u32> {
        let span = self.closed(item).filter(|_| self.runs.kind(item) == Kind::Work)?;
        Some(if span.first == item { LINE_ROWS } else { 0 })
    }

    pub fn stand(&mut self, index: usize, conversation: &Conversation, show_thinking: bool) -> Stand {
        let Some(span) = self.runs.at(index).filter(|_| self.is_on) else { return Stand::Free };
        let Some(item) = conversation.items().get(index) else { return Stand::Away };
        let is_open = self.is_open(span.first);
        let is_work = self.runs.kind(index) == Kind::Work;
        // Thoughts that come can be followed without opening the run.
        let is_peeked = !is_open && show_thinking && is_thought_now(item);
        if !is_open && is_work && span.first != index && !is_peeked {
            return Stand::Away;
        }
        let (stamp, facts) = self.runs.facts(span, conversation);
        if is_work && !facts.is_told() {
            return Stand::Away;
        }
        Stand::In(InRun {
            span,
            facts,
            stamp,
            is_open,
            is_first: span.first == index,
            is_last: span.last == index,
            has_rows: is_open || is_peeked || !is_work,
        })
    }
}

/// The model thinks this now.
pub(super) fn is_thought_now(item: &Item) -> bool {
    matches!(item.body, Body::Thinking(Thinking { since: Some(_), text: Prose::Live(_), .. }))
}

impl Frame<'_> {
    /// How an item stands in its run.
    pub fn stand(&mut self, entry: usize) -> Stand {
        self.folds.stand(entry, self.conversation, self.show_thinking)
    }

    /// Opens the run that an item is hidden in; gives it.
    pub fn open_run(&mut self, item: usize) -> Option<usize> {
        let first = self.folds.closed(item)?.first;
        self.folds.flip(first);
        self.forget();
        Some(first)
    }

    /// Closes a run again.
    pub fn close_run(&mut self, first: usize) {
        if self.folds.is_open(first) {
            self.folds.flip(first);
            self.forget();
        }
    }
}

impl Pane {
    /// Opens the run that an item is in, or closes it. What stands above it stays where it is.
    pub fn toggle_run(&mut self, item: usize) {
        let Some(span) = self.folds.runs.at(item) else { return };
        self.folds.flip(span.first);
        if self.focus.is_some_and(|focus| focus != span.first && span.first <= focus && focus <= span.last) {
            // What had the focus is seen no more.
            self.focus = Some(span.first);
        }
        self.is_line_focused |= self.focus == Some(span.first);
        let is_shown = |entry: usize| span.first <= entry && entry <= span.last;
        if self.shown.iter().any(|slice| is_shown(slice.entry)) {
            self.hold_top();
        }
    }

    /// Opens all runs, or closes them, also those that were opened or closed one by one.
    pub fn toggle_all_runs(&mut self) {
        self.folds.all_open = !self.folds.all_open;
        self.folds.flipped.clear();
    }

    /// Whether all runs are open.
    pub const fn are_runs_open(&self) -> bool {
        self.folds.all_open
    }

    /// The first item of the run whose line has the focus.
    pub fn focused_run(&self) -> Option<usize> {
        let first = self.focus.filter(|_| self.folds.is_on)?;
        let is_line = self.folds.runs.at(first)?.first == first;
        (is_line && (self.is_line_focused || !self.folds.is_open(first))).then_some(first)
    }

    /// The first item of the open run that the focus is in.
    pub fn open_run_of_focus(&self) -> Option<usize> {
        let run = self.folds.runs.at(self.focus.filter(|_| self.folds.is_on)?)?;
        self.folds.is_open(run.first).then_some(run.first)
    }

    /// Puts the focus on the line of a run.
    pub fn focus_line(&mut self, run: usize) {
        self.set_focus(Some(run));
        self.is_line_focused = true;
    }

    /// Whether the last frame showed the line of a run that goes on: it moves, so nothing else needs to.
    pub const fn shows_live_run(&self) -> bool {
        self.shows_live_run
    }

    /// The words of the line of a run.
    pub(super) fn run_text(&self, first: usize) -> Option<String> {
        let facts = self.folds.runs.known(first)?;
        let failure = facts.failure.as_ref().map(|failure| format!(", {}", failure.words()));
        Some(facts.words() + &failure.unwrap_or_default())
    }

    /// What the window stands at may have gone into a line: then that stands there.
    pub(super) fn follow_into_line(&mut self) {
        if let Scroll::Reading(anchor) = self.scroll
            && self.folds.is_away(anchor.entry)
            && let Some(span) = self.folds.closed(anchor.entry)
        {
            self.scroll = Scroll::Reading(Anchor { entry: span.first, offset: 1, bias: 0 });
            // The prompt may stand over the first row.
            self.travel.insert(0, Travel::Reveal(span.first));
        }
    }

    /// Following, what grows would grow upwards and out of the window, away from under the pointer. It does so also when
    /// the end was only held back while a button was down.
    pub(super) fn hold_top(&mut self) {
        let follows = self.scroll.is_following() || self.travel.contains(&Travel::End);
        if let (true, Some(top)) = (follows, self.top) {
            self.travel.retain(|wish| *wish != Travel::End);
            self.scroll = Scroll::Reading(top);
        }
    }
}
