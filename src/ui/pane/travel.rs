//! What the user wishes to see. How far a page is and where a prompt stands is known when it is drawn, so wishes wait for
//! the next frame.

use super::Pane;
use super::heading;
use super::place::Frame;
use super::text;
use crate::transcript::anchor::TextPoint;
use crate::transcript::heights::Heights;
use crate::transcript::scroll::{Rows, Scroll, Slice};

/// Rows of a page that are still seen after it was turned.
const KEPT_OF_A_PAGE: usize = 2;

/// Up or down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the start.
    Up,
    /// Towards the end.
    Down,
}

/// A wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Travel {
    Rows(isize),
    Page(Direction),
    Start,
    End,
    Prompt(Direction),
    /// This item's first row stands in the window.
    Reveal(usize),
    /// This place of a text stands in the window, with some rows around it.
    RevealText(TextPoint),
    /// This row of all rows, by the heights as far as they are known, is the first in the window.
    Row(u64),
    HalfPage(Direction),
}

impl Pane {
    /// Scrolls by rows, up if negative.
    pub fn scroll_by(&mut self, rows: isize) {
        // A wheel turns faster than frames are drawn.
        if let Some(Travel::Rows(before)) = self.travel.last_mut() {
            *before = before.saturating_add(rows);
        } else {
            self.travel.push(Travel::Rows(rows));
        }
    }

    /// Scrolls by a window.
    pub fn page(&mut self, direction: Direction) {
        self.travel.push(Travel::Page(direction));
    }

    /// Scrolls by half a window.
    pub fn half_page(&mut self, direction: Direction) {
        self.travel.push(Travel::HalfPage(direction));
    }

    /// To the first row.
    pub fn to_start(&mut self) {
        self.travel.push(Travel::Start);
    }

    /// To the end, and follows it.
    pub fn to_end(&mut self) {
        self.travel.push(Travel::End);
    }

    /// To what the user said before or after what stands at the top.
    pub fn to_prompt(&mut self, direction: Direction) {
        self.travel.push(Travel::Prompt(direction));
    }

    /// Whether the last frame showed the end and the next one will.
    pub fn is_following(&self) -> bool {
        self.scroll.is_following() && self.travel.iter().all(|wish| *wish == Travel::End)
    }
}

/// Performs wishes in their order.
pub(super) fn settle(
    travel: Vec<Travel>,
    scroll: &mut Scroll,
    height: usize,
    heights: &mut Heights,
    frame: &mut Frame<'_>,
) {
    // A row under the heading is not seen.
    let kept = KEPT_OF_A_PAGE + usize::from(heading::fits(frame, height));
    let page = isize::try_from(height.saturating_sub(kept).max(1)).unwrap_or(isize::MAX);
    for wish in travel {
        match wish {
            Travel::Rows(rows) => scroll.by(rows, height, heights, frame),
            Travel::Page(Direction::Up) => scroll.by(-page, height, heights, frame),
            Travel::Page(Direction::Down) => scroll.by(page, height, heights, frame),
            Travel::Start => scroll.to_start(),
            Travel::End => scroll.to_end(),
            Travel::Prompt(direction) => {
                let top = scroll.window(height, heights, frame).first().copied();
                if let Some(prompt) = top.and_then(|top| prompt_from(top, direction, frame)) {
                    *scroll = to_text(prompt, frame);
                } else if direction == Direction::Down {
                    scroll.to_end();
                }
            }
            Travel::Reveal(item) => reveal(item, scroll, height, heights, frame),
            Travel::RevealText(point) => reveal_text(point, scroll, height, heights, frame),
            Travel::Row(row) => {
                if let Some((item, row)) = heights.at(row) {
                    let last = frame.count(item).saturating_sub(1);
                    let row = usize::try_from(row).unwrap_or(usize::MAX).min(last);
                    *scroll = Scroll::Reading(frame.anchor(item, row));
                } else {
                    scroll.to_end();
                }
            }
            Travel::HalfPage(direction) => {
                let half = isize::try_from((height / 2).max(1)).unwrap_or(isize::MAX);
                let rows = if direction == Direction::Up { -half } else { half };
                scroll.by(rows, height, heights, frame);
            }
        }
    }
}

/// The prompt before or after the row at the top.
fn prompt_from(top: Slice, direction: Direction, frame: &mut Frame<'_>) -> Option<usize> {
    let text = text_row(top.entry, frame);
    let prompts = frame.conversation.prompts();
    match direction {
        Direction::Up => {
            let end = prompts.partition_point(|prompt| (*prompt, text) < (top.entry, top.first));
            prompts.get(end.checked_sub(1)?).copied()
        }
        Direction::Down => {
            // A prompt of which only the blank row stands at the top is the one that is read.
            prompts.get(prompts.partition_point(|prompt| *prompt <= top.entry)).copied()
        }
    }
}

/// The row of an item that is not blank.
fn text_row(item: usize, frame: &mut Frame<'_>) -> usize {
    usize::from(frame.placed(item).gap)
}

fn to_text(item: usize, frame: &mut Frame<'_>) -> Scroll {
    let row = text_row(item, frame);
    Scroll::Reading(frame.anchor(item, row))
}

/// Moves as little as shows the item: down to its end, if it is no taller than the window, up to its begin.
pub(super) fn reveal(
    item: usize,
    scroll: &mut Scroll,
    height: usize,
    heights: &mut Heights,
    frame: &mut Frame<'_>,
) {
    if item >= heights.len() {
        return;
    }
    let shown = scroll.window(height, heights, frame);
    let covered = usize::from(heading::of(frame, &shown, height).is_some());
    let row = text_row(item, frame);
    // The mark that there is more below stands in the last row: what is behind it is not seen well.
    let seen = |scroll: &Scroll| height.saturating_sub(usize::from(!scroll.is_following())).max(1);
    let rows =
        shown.iter().flat_map(|slice| (slice.first..slice.first + slice.rows).map(|row| (slice.entry, row)));
    if height == 0 || rows.take(seen(scroll)).skip(covered).any(|shown| shown == (item, row)) {
        return;
    }
    let is_above = shown.first().is_some_and(|top| item <= top.entry);
    *scroll = to_text(item, frame);
    if is_above {
        uncover(item, scroll, height, heights, frame);
        return;
    }
    // Near the end this follows, and the item stands in the window.
    scroll.window(height, heights, frame);
    let rows = frame.count(item).saturating_sub(row);
    if let (false, Some(room)) = (scroll.is_following(), seen(scroll).checked_sub(rows)) {
        scroll.by(-isize::try_from(room).unwrap_or(0), height, heights, frame);
    }
    uncover(item, scroll, height, heights, frame);
}

/// What stands in the first row would stand under the heading.
fn uncover(item: usize, scroll: &mut Scroll, height: usize, heights: &mut Heights, frame: &mut Frame<'_>) {
    let shown = scroll.window(height, heights, frame);
    let row = text_row(item, frame);
    let is_first = shown.first().is_some_and(|top| (top.entry, top.first) == (item, row));
    if is_first && heading::of(frame, &shown, height).is_some() {
        scroll.by(-1, height, heights, frame);
    }
}

/// Rows that are seen around a place that is looked for, if there is room.
const AROUND: usize = 3;

/// Moves as little as shows a place of a text; one out of sight comes to a third of the window.
pub(super) fn reveal_text(
    point: TextPoint,
    scroll: &mut Scroll,
    height: usize,
    heights: &mut Heights,
    frame: &mut Frame<'_>,
) {
    if point.item >= heights.len() || height == 0 {
        return;
    }
    let row = text::row_of(frame, point);
    let around = AROUND.min(height.saturating_sub(1) / 2);
    let shown = scroll.window(height, heights, frame);
    let total = shown.iter().map(|slice| slice.rows).sum::<usize>();
    let at = row_in(&shown, (point.item, row));
    let is_seen = at.is_some_and(|at| at >= around && at + around < total.max(height));
    if is_seen || (at.is_some() && scroll.is_following() && at >= Some(around)) {
        return;
    }
    *scroll = Scroll::Reading(frame.anchor(point.item, row));
    let room = if at.is_some() { around.max(1) } else { height / 3 };
    // Near the end the window cannot begin there: the place stands further down in it already.
    let shown = scroll.window(height, heights, frame);
    let above = row_in(&shown, (point.item, row)).unwrap_or_default();
    if let Some(rows @ 1..) = room.checked_sub(above) {
        scroll.by(-isize::try_from(rows).unwrap_or(0), height, heights, frame);
    }
}

/// Which row of the window a row of an item is.
fn row_in(shown: &[Slice], wanted: (usize, usize)) -> Option<usize> {
    let rows = shown.iter().flat_map(|slice| (0..slice.rows).map(|row| (slice.entry, slice.first + row)));
    rows.enumerate().find(|(_, row)| *row == wanted).map(|(at, _)| at)
}
