//! The mouse in the sheet: the bar is dragged, text is selected as it was written.

use super::Sheet;
use super::areas::thumb;
use super::body::{OLD, Point};
use crate::transcript::select::Unit;
use ratatui::layout::Position;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often the text scrolls under a pointer that is held beyond an edge.
const STEP: Duration = Duration::from_millis(50);

/// The most rows of one such step: one still sees what goes by.
const FASTEST: u16 = 8;

/// What the button holds.
#[derive(Clone, Debug)]
pub enum Held {
    /// The thumb of the bar, so many rows below its top.
    Thumb(u16),
    /// Text: what the press took, and where it was.
    Text {
        /// What was pressed.
        origin: (Point, Point),
        /// By what it grows.
        unit: Unit,
        /// Where the button went down.
        at: Position,
        /// Where the pointer is.
        pointer: Position,
        /// When the text scrolls next under a pointer beyond an edge.
        step_at: Option<Instant>,
        /// The pointer was drawn, or more than a press was made.
        selects: bool,
    },
}

/// What became of a button that came up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Released {
    /// Nothing that matters.
    Nothing,
    /// This was selected.
    Text(String),
    /// This address was clicked.
    Link(Arc<str>),
}

impl Sheet {
    /// The button holds something.
    pub const fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// The button is let go somewhere else.
    pub fn let_go(&mut self) -> bool {
        self.held.take().is_some()
    }

    /// A press on the bar: the thumb is taken where it is, else by its middle.
    pub fn press_bar(&mut self, y: u16) {
        let Some(bar) = self.drawn.bar else { return };
        let (begin, height) = thumb(bar.height, self.drawn.total, self.top);
        let row = y.saturating_sub(bar.y);
        let grip = if (begin..begin + height).contains(&row) { row - begin } else { height / 2 };
        self.held = Some(Held::Thumb(grip));
        self.drag(Position::new(bar.x, y));
    }

    /// A press on the text, one of so many at this place.
    pub fn press_text(&mut self, at: Position, presses: u8) {
        let unit = Unit::after(presses);
        self.selected = None;
        let Some(origin) = self.unit_at(at, unit, None) else { return };
        let selects = presses > 1;
        self.held = Some(Held::Text { origin, unit, at, pointer: at, step_at: None, selects });
        if selects {
            self.selected = Some(origin);
        }
    }

    /// The pointer moves while the button is down.
    pub fn drag(&mut self, at: Position) {
        match self.held.clone() {
            Some(Held::Thumb(grip)) => {
                let Some(bar) = self.drawn.bar else { return };
                let (_, height) = thumb(bar.height, self.drawn.total, self.top);
                let begin = usize::from(at.y.saturating_sub(bar.y).saturating_sub(grip));
                let room = usize::from(bar.height.saturating_sub(height)).max(1);
                let last = self.last_top();
                self.scroll_to((begin.min(room) * last + room / 2) / room);
            }
            Some(Held::Text { origin, unit, at: began, step_at, selects, .. }) => {
                let selects = selects || at != began;
                self.held = Some(Held::Text { origin, unit, at: began, pointer: at, step_at, selects });
                if at != began {
                    self.extend();
                }
            }
            None => {}
        }
    }

    /// What is selected ends under the pointer.
    pub(super) fn extend(&mut self) {
        let Some(Held::Text { origin, unit, pointer, selects: true, .. }) = self.held else { return };
        let body = self.drawn.body;
        let y = pointer.y.clamp(body.y, body.bottom().saturating_sub(1).max(body.y));
        // A selection stays on the side on which it began.
        let side = self.body.half().map(|_| origin.0.line);
        if let Some((from, to)) = self.unit_at(Position { y, ..pointer }, unit, side) {
            self.selected = Some((origin.0.min(from), origin.1.max(to)));
        }
    }

    /// Beyond an edge the text comes along, faster the farther the pointer is, and also while it is held still. Whether
    /// it did; tells when it does again.
    pub(super) fn pull(&mut self, now: Instant) -> bool {
        let Some(Held::Text { pointer, step_at, selects: true, .. }) = &mut self.held else { return false };
        let body = self.drawn.body;
        let above = body.y.saturating_sub(pointer.y);
        let below = (pointer.y + 1).saturating_sub(body.bottom());
        if above == 0 && below == 0 {
            *step_at = None;
            return false;
        }
        if let Some(due) = step_at.filter(|due| *due > now) {
            self.next.expire(due);
            return false;
        }
        *step_at = Some(now + STEP);
        let rows = |rows: u16| isize::try_from(rows.min(FASTEST)).unwrap_or(1);
        let last = (self.top, self.follows);
        self.scroll(if above > 0 { -rows(above) } else { rows(below) });
        if (self.top, self.follows) == last {
            // There is no more: nothing needs to be drawn again.
            return false;
        }
        self.next.expire(now + STEP);
        true
    }

    /// The button comes up.
    pub fn release(&mut self, at: Position) -> Released {
        self.drag(at);
        match self.held.take() {
            Some(Held::Text { selects: true, .. }) => {
                let text = self.selected.map(|(from, to)| self.body.text(from, to)).unwrap_or_default();
                if text.is_empty() { Released::Nothing } else { Released::Text(text) }
            }
            Some(Held::Text { .. }) => match self.link_at(at) {
                Some(url) => Released::Link(url),
                None => Released::Nothing,
            },
            Some(Held::Thumb(_)) | None => Released::Nothing,
        }
    }

    fn column(&self, at: Position) -> usize {
        usize::from(at.x.saturating_sub(self.drawn.body.x))
    }

    fn link_at(&self, at: Position) -> Option<Arc<str>> {
        let row = usize::from(at.y.checked_sub(self.drawn.body.y)?);
        let column = u16::try_from(self.column(at)).ok()?;
        let seen = self.drawn.seen.get(row)?;
        let old = seen.old.as_ref().and_then(|old| old.row.link_at(column));
        seen.row.link_at(column).or(old).cloned()
    }

    /// What is at a cell; `side`: the line of the side that is meant, whichever is there.
    fn unit_at(&mut self, at: Position, unit: Unit, side: Option<usize>) -> Option<(Point, Point)> {
        let row =
            usize::from(at.y.saturating_sub(self.drawn.body.y)).min(self.drawn.seen.len().checked_sub(1)?);
        let (column, seen) = (self.column(at), self.drawn.seen.get(row)?);
        let is_left = self.body.half().is_some_and(|half| column < half);
        let is_old = side.map_or(is_left, |side| side == OLD && seen.old.is_some());
        let seen = if is_old { seen.old.as_deref()? } else { seen };
        let point = seen.point_at(column);
        let is_on_text = seen.row.pieces().any(|(columns, _)| columns.contains(&column));
        let text = self.body.line_text(point.line);
        let byte = text.floor_char_boundary(point.byte.min(text.len()));
        let range = unit.at(&text, byte, is_on_text);
        let place = |byte| Point { line: point.line, byte };
        Some((place(range.start), place(range.end)))
    }
}
