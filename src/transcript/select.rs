//! What is selected, in content coordinates. Pure: the front end says which place of a text lies under the pointer.
//!
//! Invariants
//! - What was selected first stays selected, whole, wherever the other end goes.
//! - Nothing here knows of widths and rows: another width or more text below changes nothing.

use super::anchor::TextPoint;
use crate::text::words;
use std::ops::Range;

/// What a selection grows by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Characters: a press and a drag.
    #[default]
    Character,
    /// Words, and addresses and paths as a whole: after a double press.
    Word,
    /// Lines as they were written, however they were wrapped: after a triple press.
    Line,
}

impl Unit {
    /// The unit after so many presses at one place: a fourth one begins anew.
    pub const fn after(presses: u8) -> Self {
        match presses % 3 {
            1 => Self::Character,
            2 => Self::Word,
            _ => Self::Line,
        }
    }

    /// The bytes of the unit at a place of a text. Beside the text of its row a place is nothing but a place, and only
    /// lines reach there.
    pub fn at(self, text: &str, offset: usize, is_on_text: bool) -> Range<usize> {
        match (self, is_on_text) {
            (Self::Line, _) => words::line(text, offset),
            (Self::Character | Self::Word, false) => offset..offset,
            (Self::Character, true) => words::grapheme(text, offset),
            (Self::Word, true) => words::token(text, offset),
        }
    }
}

/// From a place to a place, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub from: TextPoint,
    /// Where it ends.
    pub to: TextPoint,
}

impl Span {
    /// Bytes of one item.
    pub const fn of(item: usize, bytes: &Range<usize>) -> Self {
        Self { from: TextPoint { item, offset: bytes.start }, to: TextPoint { item, offset: bytes.end } }
    }

    /// Nothing but a place.
    pub const fn at(point: TextPoint) -> Self {
        Self { from: point, to: point }
    }
}

/// What is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// What it grows by.
    pub unit: Unit,
    /// Where it began: a place, or the word or line that was pressed.
    pub origin: Span,
    /// Where its other end is.
    pub head: Span,
}

impl Selection {
    /// What was pressed, and no more yet.
    pub const fn new(unit: Unit, origin: Span) -> Self {
        Self { unit, origin, head: origin }
    }

    /// Both ends, in their order.
    pub fn ends(&self) -> (TextPoint, TextPoint) {
        (self.origin.from.min(self.head.from), self.origin.to.max(self.head.to))
    }

    /// Nothing is selected.
    pub fn is_empty(&self) -> bool {
        let (from, to) = self.ends();
        from == to
    }

    /// The end that moves.
    pub fn caret(&self) -> TextPoint {
        if self.head.from < self.origin.from { self.head.from } else { self.head.to }
    }

    /// Brings the end that moves to a place, character by character from now on.
    #[must_use]
    pub fn to(&self, caret: TextPoint) -> Self {
        let (from, to) = self.ends();
        let fixed = if self.caret() == from { to } else { from };
        Self { unit: Unit::Character, origin: Span::at(fixed), head: Span::at(caret) }
    }

    /// What of an item is selected; to the highest number where it goes on below.
    pub fn bytes_of(&self, item: usize) -> Option<Range<usize>> {
        let (from, to) = self.ends();
        if item < from.item || to.item < item || from == to {
            return None;
        }
        let start = if item == from.item { from.offset } else { 0 };
        let end = if item == to.item { to.offset } else { usize::MAX };
        Some(start..end)
    }
}

/// Characters that are remembered on each side of a place.
const AROUND: usize = 32;

/// A place with what stands around it. A text that streams is now and then made anew before its end (a mark of
/// emphasis that closes is no text any more), and a card that is opened is another text: the place is found again by its
/// surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    offset: usize,
    before: String,
    after: String,
}

impl Pin {
    /// Remembers a place of a text.
    pub fn new(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or_default();
        let start = before.char_indices().rev().take(AROUND).last().map_or(0, |(start, _)| start);
        Self {
            offset,
            before: before.get(start..).unwrap_or_default().to_owned(),
            after: text.get(offset..).unwrap_or_default().chars().take(AROUND).collect(),
        }
    }

    /// Where the place is in a text: where it was, else the nearest one with the same surroundings.
    pub fn find(&self, text: &str) -> Option<usize> {
        let is_here = |offset: usize| {
            text.get(..offset).is_some_and(|before| before.ends_with(&self.before))
                && text.get(offset..).is_some_and(|after| after.starts_with(&self.after))
        };
        if is_here(self.offset) {
            return Some(self.offset);
        }
        let both = format!("{}{}", self.before, self.after);
        let nearest = |needle: &str, to_place: usize| {
            let found = text.match_indices(needle).map(|(at, _)| at + to_place);
            found.min_by_key(|at| at.abs_diff(self.offset))
        };
        if both.is_empty() {
            return None;
        }
        // At the end of a text that streams what stood behind the place may be another now, or what stood before it.
        nearest(&both, self.before.len())
            .or_else(|| {
                (self.before.chars().count() > AROUND / 2)
                    .then(|| nearest(&self.before, self.before.len()))?
            })
            .or_else(|| (self.after.chars().count() > AROUND / 2).then(|| nearest(&self.after, 0))?)
    }
}

/// The texts of items put together as a copy has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    text: String,
    /// The item above is a call that is a single row.
    above_is_short_call: bool,
}

impl Pieces {
    /// Adds what is selected of the next item. Items stand apart as they do on the screen: a blank line between them,
    /// but calls together. An item of which nothing is selected leaves no gap.
    pub fn add(&mut self, piece: &str, is_call: bool, rows: usize) {
        if !piece.is_empty() {
            if !self.text.is_empty() {
                self.text.push_str(if is_call && self.above_is_short_call { "\n" } else { "\n\n" });
            }
            self.text.push_str(piece);
        }
        self.above_is_short_call = is_call && rows <= 1;
    }

    /// All of it.
    pub fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(item: usize, offset: usize) -> TextPoint {
        TextPoint { item, offset }
    }

    fn span(item: usize, bytes: Range<usize>) -> Span {
        Span::of(item, &bytes)
    }

    #[test]
    fn units_at_a_place() {
        let text = "let a = 日本語;\nsee https://a.example/b.";
        let table = [
            (Unit::Character, 4, true, "a"),
            (Unit::Character, 8, true, "日"),
            (Unit::Character, 8, false, ""),
            (Unit::Word, 11, true, "日本語"),
            (Unit::Word, 24, true, "https://a.example/b"),
            (Unit::Word, 24, false, ""),
            (Unit::Line, 11, true, "let a = 日本語;"),
            (Unit::Line, 18, false, "let a = 日本語;"),
            (Unit::Line, 19, true, "see https://a.example/b."),
        ];
        for (unit, offset, is_on_text, taken) in table {
            assert_eq!(text.get(unit.at(text, offset, is_on_text)), Some(taken), "{unit:?} at {offset}");
        }
        assert_eq!(
            [1, 2, 3, 4, 5].map(Unit::after)[..],
            [Unit::Character, Unit::Word, Unit::Line, Unit::Character, Unit::Word]
        );
    }

    #[test]
    fn what_was_pressed_stays_selected_both_ways() {
        let mut selection = Selection::new(Unit::Word, span(3, 10..14));
        assert_eq!(selection.ends(), (point(3, 10), point(3, 14)));
        selection.head = span(4, 2..5);
        assert_eq!((selection.ends(), selection.caret()), ((point(3, 10), point(4, 5)), point(4, 5)));
        selection.head = span(3, 2..5);
        assert_eq!((selection.ends(), selection.caret()), ((point(3, 2), point(3, 14)), point(3, 2)));
        selection.head = span(1, 7..9);
        assert_eq!(selection.bytes_of(0), None);
        assert_eq!(selection.bytes_of(1), Some(7..usize::MAX));
        assert_eq!(selection.bytes_of(2), Some(0..usize::MAX));
        assert_eq!(selection.bytes_of(3), Some(0..14));
        assert_eq!(selection.bytes_of(4), None);
        assert_eq!(Selection::new(Unit::Character, span(1, 4..4)).bytes_of(1), None);
    }

    #[test]
    fn keys_go_on_where_the_pointer_stopped() {
        let backwards = Selection { unit: Unit::Word, origin: span(1, 10..14), head: span(1, 2..5) };
        assert_eq!(backwards.to(point(1, 1)).ends(), (point(1, 1), point(1, 14)));
        let forwards = Selection { unit: Unit::Word, origin: span(1, 10..14), head: span(1, 20..25) };
        assert_eq!(forwards.to(point(1, 26)).ends(), (point(1, 10), point(1, 26)));
        // Past where it began it turns.
        assert_eq!(forwards.to(point(1, 3)).ends(), (point(1, 3), point(1, 10)));
        assert_eq!(forwards.to(point(1, 3)).caret(), point(1, 3));
        assert!(forwards.to(point(1, 10)).is_empty());
    }

    #[test]
    fn a_place_is_found_again() {
        let text = "Some **bold text that goes on and on and on, and a place in it";
        let offset = text.find("place").expect("there");
        let pin = Pin::new(text, offset);
        assert_eq!(pin.find(&format!("{text} and more")), Some(offset));
        let closed = text.replace("**", "");
        assert_eq!(pin.find(&closed), Some(offset - 2));
        assert_eq!(pin.find("something else entirely"), None);
        // What stands at the end may change behind the place.
        let pin = Pin::new(text, text.len());
        assert_eq!(pin.find(&closed), Some(closed.len()));
        assert_eq!(Pin::new("", 0).find("more"), Some(0));
        assert_eq!(Pin::new("日本", 3).find("x日本"), Some(4));
    }

    #[test]
    fn pieces_stand_apart_as_on_the_screen() {
        let mut pieces = Pieces::default();
        pieces.add("prompt", false, 1);
        pieces.add("read a", true, 1);
        pieces.add("read b", true, 1);
        pieces.add("", false, 0);
        pieces.add("bash", true, 4);
        pieces.add("read c", true, 1);
        pieces.add("reply", false, 3);
        assert_eq!(pieces.into_text(), "prompt\n\nread a\nread b\n\nbash\n\nread c\n\nreply");
    }

    proptest! {
        #[test]
        fn a_pin_stays_where_text_is_added(text in "[ab日 \n]{0,80}", more in "[ab日 \n]{0,40}", at in 0_usize..80) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let offset = places[at % places.len()];
            let pin = Pin::new(&text, offset);
            prop_assert_eq!(pin.find(&text), Some(offset));
            prop_assert_eq!(pin.find(&format!("{text}{more}")), Some(offset));
            if !pin.before.is_empty() || !pin.after.is_empty() {
                let moved = format!("{more}{text}");
                prop_assert!(pin.find(&moved).is_some());
            }
        }
    }
}
