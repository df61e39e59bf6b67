//! A large paste in place of its chip, to be read and changed.

use super::Composer;
use super::buffer::Pos;
use super::chips::{Chip, is_chip};
use super::undo::EditKind;
use std::time::Instant;

impl Composer {
    /// Puts a large paste itself in place of its chip: of the one at the caret, else of the nearest before it, else of the
    /// nearest behind. False if there is none.
    pub(super) fn expand_chip(&mut self, now: Instant) -> bool {
        let caret = self.caret.pos;
        let right_here = self.chip_at(caret);
        let found = right_here.or_else(|| self.paste_before(caret)).or_else(|| self.paste_behind(caret));
        found.is_some_and(|pos| self.expand_at(pos, now))
    }

    /// Expands the chip of a large paste at a cell of what is shown. False if there is none.
    pub fn expand_clicked(&mut self, row: u16, column: u16, now: Instant) -> bool {
        let pos = self.buffer.unit_at(self.top + usize::from(row), usize::from(column));
        let is_expanded = pos.and_then(|pos| self.chip_at(pos)).is_some_and(|pos| self.expand_at(pos, now));
        if is_expanded {
            self.refresh_completion(false);
            self.scroll();
        }
        is_expanded
    }

    fn expand_at(&mut self, start: Pos, now: Instant) -> bool {
        let Some(c) = self.buffer.line(start.line).get(start.at..).and_then(|rest| rest.chars().next())
        else {
            return false;
        };
        let Some(Chip::Paste { text, .. }) = self.buffer.chips.get(c) else { return false };
        let text = text.clone();
        let end = Pos { line: start.line, at: start.at + c.len_utf8() };
        self.apply(start, end, &text, EditKind::Single, now)
    }

    /// The place itself, if a large paste begins there.
    fn chip_at(&self, pos: Pos) -> Option<Pos> {
        let c = self.buffer.line(pos.line).get(pos.at..)?.chars().next()?;
        self.is_paste(c).then_some(pos)
    }

    fn paste_before(&self, caret: Pos) -> Option<Pos> {
        (0..=caret.line).rev().find_map(|line| {
            let text = self.buffer.line(line);
            let end = if line == caret.line { caret.at } else { text.len() };
            let before = text.get(..end)?;
            let (at, _) = before.char_indices().rev().find(|(_, c)| self.is_paste(*c))?;
            Some(Pos { line, at })
        })
    }

    fn paste_behind(&self, caret: Pos) -> Option<Pos> {
        (caret.line..self.buffer.line_count()).find_map(|line| {
            let from = if line == caret.line { caret.at } else { 0 };
            let behind = self.buffer.line(line).get(from..)?;
            let (at, _) = behind.char_indices().find(|(_, c)| self.is_paste(*c))?;
            Some(Pos { line, at: from + at })
        })
    }

    fn is_paste(&self, c: char) -> bool {
        is_chip(c) && matches!(self.buffer.chips.get(c), Some(Chip::Paste { .. }))
    }
}
