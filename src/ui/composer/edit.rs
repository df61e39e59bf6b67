//! Changes of the text, each one way through `Composer::apply`.

use super::buffer::Pos;
use super::chips::{Chip, is_chip};
use super::kill::Side;
use super::undo::{Caret, Edit, EditKind};
use super::words::{word_left, word_right};
use super::wrap::{boundary_from, next_boundary, previous_boundary};
use super::{Composer, Last, LineKind, dropped};
use crate::text::clean::for_terminal;
use std::time::Instant;

/// Text from outside as the composer takes it: no control or bidi characters, tabs as four spaces, newlines of one kind.
pub fn clean(text: &str) -> String {
    let text = for_terminal(text);
    if !text.contains(|c| matches!(c, '\t' | '\u{2028}' | '\u{2029}') || is_chip(c)) {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push_str("    "),
            '\u{2028}' | '\u{2029}' => out.push('\n'),
            c if is_chip(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    out
}

impl Composer {
    /// Puts a text in place of another. False if both are empty.
    pub(super) fn apply(&mut self, start: Pos, end: Pos, text: &str, kind: EditKind, now: Instant) -> bool {
        if start == end && text.is_empty() {
            return false;
        }
        let before = self.caret;
        let removed = self.buffer.replace(start, end, text);
        self.caret = Caret { pos: self.snapped(start.after(text)), anchor: None };
        let edit = Edit { at: start, removed, inserted: text.to_owned() };
        self.undo.record(edit, kind, before, self.caret, now);
        self.sticky = None;
        self.history.stop();
        true
    }

    /// An edit may complete a grapheme around the caret: then it stands behind that.
    pub(super) fn snapped(&self, pos: Pos) -> Pos {
        Pos { line: pos.line, at: boundary_from(self.buffer.line(pos.line), pos.at) }
    }

    /// Both ends of what is selected, in order.
    pub(super) fn selection(&self) -> Option<(Pos, Pos)> {
        let anchor = self.caret.anchor.filter(|anchor| *anchor != self.caret.pos)?;
        Some((anchor.min(self.caret.pos), anchor.max(self.caret.pos)))
    }

    /// Puts a clean text at the caret, over what is selected.
    pub(super) fn insert(&mut self, text: &str, kind: EditKind, now: Instant) -> bool {
        match self.selection() {
            Some((start, end)) => self.apply(start, end, text, EditKind::Single, now),
            None => self.apply(self.caret.pos, self.caret.pos, text, kind, now),
        }
    }

    /// A paste: one step, a chip when it is large. A path gets a space between it and a word before it.
    pub(super) fn paste(&mut self, text: &str, now: Instant) -> bool {
        let text = clean(text);
        let start = self.selection().map_or(self.caret.pos, |(start, _)| start);
        let before = self.buffer.line(start.line).get(..start.at).unwrap_or_default();
        let follows_word = before.chars().next_back().is_some_and(|c| c.is_alphanumeric() || is_chip(c));
        let gap = if follows_word && dropped::looks_like_path(&text) { " " } else { "" };
        // A shell wants its escapes.
        let is_shell = matches!(self.kind(), LineKind::Shell | LineKind::ShellShownOnly);
        let text = dropped::paths(&text).filter(|_| !is_shell).unwrap_or(text);
        let text = match self.buffer.chips.add_paste(&text) {
            Some(chip) => format!("{gap}{chip}"),
            None => format!("{gap}{text}"),
        };
        self.insert(&text, EditKind::Single, now)
    }

    /// Puts a chip for a file, and a space, in place of what was typed for it.
    pub(super) fn mention(&mut self, start: Pos, path: &str, now: Instant) -> bool {
        let chip = Chip::File { path: path.to_owned() };
        let text = match self.buffer.chips.add(chip.clone()) {
            Some(c) => format!("{c} "),
            None => format!("{} ", chip.label()),
        };
        self.apply(start, self.caret.pos, &text, EditKind::Single, now)
    }

    fn delete_selection(&mut self, now: Instant) -> Option<bool> {
        let (start, end) = self.selection()?;
        Some(self.apply(start, end, "", EditKind::Single, now))
    }

    pub(super) fn delete_back(&mut self, now: Instant) -> bool {
        if let Some(changed) = self.delete_selection(now) {
            return changed;
        }
        let end = self.caret.pos;
        self.apply(self.left_of(end), end, "", EditKind::DeleteBack, now)
    }

    pub(super) fn delete_forward(&mut self, now: Instant) -> bool {
        if let Some(changed) = self.delete_selection(now) {
            return changed;
        }
        let start = self.caret.pos;
        self.apply(start, self.right_of(start), "", EditKind::DeleteForward, now)
    }

    /// Cuts from the caret to another place.
    pub(super) fn kill(&mut self, to: Pos, last: &Last, now: Instant) -> bool {
        let from = self.caret.pos;
        let side = if to < from { Side::Before } else { Side::After };
        let (start, end) = (from.min(to), from.max(to));
        self.cut(start, end, side, matches!(last, Last::Kill), now)
    }

    /// Cuts what is selected.
    pub(super) fn kill_selection(&mut self, now: Instant) -> Option<bool> {
        let (start, end) = self.selection()?;
        Some(self.cut(start, end, Side::After, false, now))
    }

    fn cut(&mut self, start: Pos, end: Pos, side: Side, joins: bool, now: Instant) -> bool {
        self.kills.cut(self.buffer.slice(start, end), side, joins);
        self.last = Last::Kill;
        self.apply(start, end, "", EditKind::Single, now)
    }

    pub(super) fn yank(&mut self, now: Instant) -> bool {
        let Some(text) = self.kills.get(0).map(str::to_owned) else { return false };
        let start = self.selection().map_or(self.caret.pos, |(start, _)| start);
        self.insert(&text, EditKind::Single, now);
        self.last = Last::Yank { start, end: start.after(&text), age: 0 };
        true
    }

    /// Puts the cut before in place of the one that was just put back.
    pub(super) fn yank_pop(&mut self, last: &Last, now: Instant) -> bool {
        let Last::Yank { start, end, age } = *last else { return false };
        let age = age + 1;
        let Some(text) = self.kills.get(age).map(str::to_owned) else { return false };
        // Behind a yank the caret may stand after a grapheme that it completed; the yanked text itself is replaced.
        self.apply(start, end, &text, EditKind::Single, now);
        self.last = Last::Yank { start, end: start.after(&text), age };
        true
    }

    pub(super) fn undo_step(&mut self) -> bool {
        let step = self.undo.undo();
        self.replay(step)
    }

    pub(super) fn redo_step(&mut self) -> bool {
        let step = self.undo.redo();
        self.replay(step)
    }

    fn replay(&mut self, step: Option<(Vec<Edit>, Caret)>) -> bool {
        let Some((edits, caret)) = step else { return false };
        for edit in edits {
            self.buffer.replace(edit.at, edit.at.after(&edit.removed), &edit.inserted);
        }
        self.caret = caret;
        self.sticky = None;
        self.history.stop();
        true
    }

    /// The place before the unit, or the end of the line above.
    pub(super) fn left_of(&self, pos: Pos) -> Pos {
        match previous_boundary(self.buffer.line(pos.line), pos.at) {
            Some(at) => Pos { line: pos.line, at },
            None => match pos.line.checked_sub(1) {
                Some(line) => Pos { line, at: self.buffer.line(line).len() },
                None => pos,
            },
        }
    }

    /// The place behind the unit, or the start of the line below.
    pub(super) fn right_of(&self, pos: Pos) -> Pos {
        match next_boundary(self.buffer.line(pos.line), pos.at) {
            Some(at) => Pos { line: pos.line, at },
            None if pos.line + 1 < self.buffer.line_count() => Pos { line: pos.line + 1, at: 0 },
            None => pos,
        }
    }

    /// The start of the word before; newlines are white space.
    pub(super) fn word_left_of(&self, mut pos: Pos) -> Pos {
        while pos.line > 0
            && self.buffer.line(pos.line).get(..pos.at).is_some_and(|text| text.trim().is_empty())
        {
            let line = pos.line - 1;
            pos = Pos { line, at: self.buffer.line(line).len() };
        }
        Pos { line: pos.line, at: word_left(self.buffer.line(pos.line), pos.at) }
    }

    /// The end of the word after; newlines are white space.
    pub(super) fn word_right_of(&self, mut pos: Pos) -> Pos {
        while pos.line + 1 < self.buffer.line_count()
            && self.buffer.line(pos.line).get(pos.at..).is_some_and(|text| text.trim().is_empty())
        {
            pos = Pos { line: pos.line + 1, at: 0 };
        }
        Pos { line: pos.line, at: word_right(self.buffer.line(pos.line), pos.at) }
    }

    /// The start of the line; from there, the end of the line above.
    pub(super) fn kill_start(&self) -> Pos {
        match self.caret.pos {
            Pos { at: 0, .. } => self.left_of(self.caret.pos),
            Pos { line, .. } => Pos { line, at: 0 },
        }
    }

    /// The end of the line; from there, the start of the line below.
    pub(super) fn kill_end(&self) -> Pos {
        let Pos { line, at } = self.caret.pos;
        let end = self.buffer.line(line).len();
        if at == end { self.right_of(self.caret.pos) } else { Pos { line, at: end } }
    }
}
