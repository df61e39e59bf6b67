//! The caret: where it goes, and what is selected on the way.

use super::buffer::Pos;
use super::{Composer, Outcome};
use crate::config::action::Action;
use std::time::Instant;

impl Composer {
    /// Moves the caret where an action says. `None` if the action is no motion.
    pub(super) fn motion(&mut self, action: Action, now: Instant) -> Option<Outcome> {
        let pos = self.caret.pos;
        let line_end = Pos { line: pos.line, at: self.buffer.line(pos.line).len() };
        let (to, selects) = match action {
            // A selection is left at the end that the key points to.
            Action::Left => (self.selection().map_or_else(|| self.left_of(pos), |(start, _)| start), false),
            Action::Right => (self.selection().map_or_else(|| self.right_of(pos), |(_, end)| end), false),
            Action::WordLeft => (self.word_left_of(pos), false),
            Action::WordRight => (self.word_right_of(pos), false),
            Action::LineStart => (Pos { line: pos.line, at: 0 }, false),
            Action::LineEnd => (line_end, false),
            Action::TextStart => (Pos::default(), false),
            Action::TextEnd => (self.buffer.end(), false),
            Action::SelectLeft => (self.left_of(pos), true),
            Action::SelectRight => (self.right_of(pos), true),
            Action::SelectWordLeft => (self.word_left_of(pos), true),
            Action::SelectWordRight => (self.word_right_of(pos), true),
            Action::SelectLineStart => (Pos { line: pos.line, at: 0 }, true),
            Action::SelectLineEnd => (line_end, true),
            Action::SelectUp => return Some(self.vertical(-1, true).unwrap_or(Outcome::Unchanged)),
            Action::SelectDown => return Some(self.vertical(1, true).unwrap_or(Outcome::Unchanged)),
            Action::Up => {
                return Some(self.vertical(-1, false).unwrap_or_else(|| self.history_step(true, now)));
            }
            Action::Down => {
                return Some(self.vertical(1, false).unwrap_or_else(|| self.history_step(false, now)));
            }
            Action::SelectAll => {
                self.caret.anchor = Some(Pos::default());
                self.caret.pos = self.buffer.end();
                self.sticky = None;
                return Some(Outcome::Changed);
            }
            _ => return None,
        };
        self.sticky = None;
        Some(self.go(to, selects))
    }

    /// Moves the caret; a selection grows or ends.
    pub(super) fn go(&mut self, to: Pos, selects: bool) -> Outcome {
        let before = self.caret;
        self.caret.anchor = if selects { Some(before.anchor.unwrap_or(before.pos)) } else { None };
        self.caret.pos = to;
        if self.caret == before { Outcome::Unchanged } else { Outcome::Changed }
    }

    /// Moves by a row and keeps the column. `None` at the edge, but for a selection, which goes to the very end.
    fn vertical(&mut self, by: isize, selects: bool) -> Option<Outcome> {
        let (row, column) = self.buffer.cell_of(self.caret.pos);
        let target = row.checked_add_signed(by).filter(|target| *target < self.buffer.rows());
        let Some(target) = target else {
            let end = if by < 0 { Pos::default() } else { self.buffer.end() };
            return selects.then(|| self.go(end, true));
        };
        let column = *self.sticky.get_or_insert(column);
        let to = self.buffer.pos_at(target, column);
        Some(self.go(to, selects))
    }
}
