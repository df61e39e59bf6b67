//! The mouse in the sheet: the bar is dragged, text is selected as it was written.

use super::Sheet;
use super::areas::thumb;
use super::body::Point;
use crate::transcript::select::Unit;
use ratatui::layout::Position;
use std::sync::Arc;

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
        let Some(origin) = self.unit_at(at, unit) else { return };
        let selects = presses > 1;
        self.held = Some(Held::Text { origin, unit, at, selects });
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
            Some(Held::Text { origin, unit, at: began, .. }) if at != began => {
                let body = self.drawn.body;
                // Beyond an edge the text comes along.
                if at.y < body.y {
                    self.scroll(-1);
                } else if at.y >= body.bottom() {
                    self.scroll(1);
                }
                let y = at.y.clamp(body.y, body.bottom().saturating_sub(1).max(body.y));
                if let Some((from, to)) = self.unit_at(Position { y, ..at }, unit) {
                    self.selected = Some((origin.0.min(from), origin.1.max(to)));
                }
                self.held = Some(Held::Text { origin, unit, at: began, selects: true });
            }
            Some(Held::Text { .. }) | None => {}
        }
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
        self.drawn.seen.get(row)?.row.link_at(column).cloned()
    }

    fn unit_at(&mut self, at: Position, unit: Unit) -> Option<(Point, Point)> {
        let row =
            usize::from(at.y.saturating_sub(self.drawn.body.y)).min(self.drawn.seen.len().checked_sub(1)?);
        let (column, seen) = (self.column(at), self.drawn.seen.get(row)?);
        let point = seen.point_at(column);
        let is_on_text = seen.row.pieces().any(|(columns, _)| columns.contains(&column));
        let text = self.body.line_text(point.line);
        let byte = text.floor_char_boundary(point.byte.min(text.len()));
        let range = unit.at(&text, byte, is_on_text);
        let place = |byte| Point { line: point.line, byte };
        Some((place(range.start), place(range.end)))
    }
}
