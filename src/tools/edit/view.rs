//! A file's text in a form in which it is easier to find something, with the way back to the bytes. Pure.

use std::iter::Peekable;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// The byte order mark in UTF-8.
pub const BOM: &[u8] = "\u{feff}".as_bytes();

/// How much a text is changed to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Every line end becomes a line feed.
    LineEnds,
    /// Besides: blanks before a line end go, and compatibility forms, quotes, dashes and unusual spaces become plain.
    Loose,
}

/// A changed text and where each part of it comes from.
#[derive(Debug)]
pub struct View {
    text: String,
    /// In order of both places. Within one that is `same` the bytes are those of the source, in any other nothing can
    /// be told apart.
    pieces: Vec<Piece>,
    /// Places in the text that stand for bytes that are no text.
    invalid: Vec<usize>,
    source_len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    text: usize,
    source: usize,
    same: bool,
}

impl View {
    /// Views the bytes of a file; a byte order mark is set aside.
    pub fn new(source: &[u8], level: Level) -> Self {
        Builder::build(source, level, false)
    }

    /// The same for a text that is to be found: blanks at its very end stay, since what follows them is not known.
    pub fn needle(text: &str, level: Level) -> String {
        Builder::build(text.as_bytes(), level, true).text
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes behind a part of the text. `None` when it begins or ends inside something that can't be divided.
    pub fn source_range(&self, text: &Range<usize>) -> Option<Range<usize>> {
        Some(self.source_at(text.start)?..self.source_at(text.end)?)
    }

    /// A part of the text stands for bytes that are no text.
    pub fn has_invalid(&self, text: &Range<usize>) -> bool {
        let first = self.invalid.partition_point(|at| *at < text.start);
        self.invalid.get(first).is_some_and(|at| *at < text.end)
    }

    /// The byte behind a place in the text.
    pub fn source_at(&self, text: usize) -> Option<usize> {
        let next = self.pieces.partition_point(|piece| piece.text < text);
        if let Some(piece) = self.pieces.get(next).filter(|piece| piece.text == text) {
            return Some(piece.source);
        }
        match next.checked_sub(1).and_then(|last| self.pieces.get(last)) {
            Some(piece) if piece.same => Some(piece.source + (text - piece.text)),
            Some(_) | None => (text == self.text.len()).then_some(self.source_len),
        }
    }
}

/// A character, or bytes that are none.
#[derive(Clone, Copy)]
enum Unit {
    Char(char),
    Invalid(usize),
}

impl Unit {
    const fn is_line_end(self) -> bool {
        matches!(self, Self::Char('\n' | '\r'))
    }

    fn is_blank(self) -> bool {
        matches!(self, Self::Char(character) if character.is_whitespace()) && !self.is_line_end()
    }

    fn is_mark(self) -> bool {
        matches!(self, Self::Char(character) if canonical_combining_class(character) != 0)
    }
}

fn units(source: &[u8]) -> impl Iterator<Item = Unit> + '_ {
    source.utf8_chunks().flat_map(|chunk| {
        let invalid = Some(chunk.invalid().len()).filter(|length| *length > 0).map(Unit::Invalid);
        chunk.valid().chars().map(Unit::Char).chain(invalid)
    })
}

struct Builder<I: Iterator<Item = Unit>> {
    units: Peekable<I>,
    view: View,
    /// Place in the source.
    at: usize,
}

impl<'a> Builder<Box<dyn Iterator<Item = Unit> + 'a>> {
    fn build(source: &'a [u8], level: Level, keep_blanks_at_end: bool) -> View {
        let at = if source.starts_with(BOM) { BOM.len() } else { 0 };
        let rest: Box<dyn Iterator<Item = Unit>> = Box::new(units(source.get(at..).unwrap_or_default()));
        let view =
            View { text: String::new(), pieces: Vec::new(), invalid: Vec::new(), source_len: source.len() };
        let mut builder = Self { units: rest.peekable(), view, at };
        while let Some(unit) = builder.units.next() {
            match (unit, level) {
                (Unit::Invalid(length), _) => {
                    builder.view.invalid.push(builder.view.text.len());
                    builder.other("\u{fffd}", length);
                }
                (Unit::Char(character @ ('\n' | '\r')), _) => builder.line_end(character, 0),
                (Unit::Char(blank), Level::Loose) if unit.is_blank() => {
                    builder.blanks(blank, keep_blanks_at_end);
                }
                (Unit::Char(character), Level::Loose) => builder.cluster(character),
                (Unit::Char(character), Level::LineEnds) => builder.same(character),
            }
        }
        builder.view
    }

    /// A line end, with the bytes of blanks before it.
    fn line_end(&mut self, first: char, blanks: usize) {
        let is_pair = first == '\r' && self.units.next_if(|unit| matches!(unit, Unit::Char('\n'))).is_some();
        if first == '\n' && blanks == 0 {
            self.same('\n');
        } else {
            self.other("\n", blanks + if is_pair { 2 } else { 1 });
        }
    }

    /// Blanks: part of the line end if one follows.
    fn blanks(&mut self, first: char, keep_at_end: bool) {
        let mut blanks = vec![first];
        while let Some(Unit::Char(blank)) = self.units.next_if(|unit| unit.is_blank()) {
            blanks.push(blank);
        }
        let length = blanks.iter().map(|blank| blank.len_utf8()).sum();
        match self.units.next_if(|unit| unit.is_line_end()) {
            Some(Unit::Char(line_end)) => self.line_end(line_end, length),
            _ if self.units.peek().is_none() && !keep_at_end => self.other("", length),
            _ => {
                for blank in blanks {
                    self.one(plain(blank), blank);
                }
            }
        }
    }

    /// A character with the marks that combine with it.
    fn cluster(&mut self, first: char) {
        if first.is_ascii() && !self.units.peek().is_some_and(|unit| unit.is_mark()) {
            return self.same(first);
        }
        let mut cluster = String::from(first);
        while let Some(Unit::Char(mark)) = self.units.next_if(|unit| unit.is_mark()) {
            cluster.push(mark);
        }
        let changed: String = cluster.nfkc().map(plain).collect();
        if changed == cluster {
            cluster.chars().for_each(|character| self.same(character));
        } else {
            self.other(&changed, cluster.len());
        }
    }

    fn one(&mut self, shown: char, character: char) {
        if shown == character {
            self.same(character);
        } else {
            self.other(shown.encode_utf8(&mut [0; 4]), character.len_utf8());
        }
    }

    fn same(&mut self, character: char) {
        if !self.view.pieces.last().is_some_and(|piece| piece.same) {
            self.view.pieces.push(Piece { text: self.view.text.len(), source: self.at, same: true });
        }
        self.view.text.push(character);
        self.at += character.len_utf8();
    }

    fn other(&mut self, text: &str, source_len: usize) {
        self.view.pieces.push(Piece { text: self.view.text.len(), source: self.at, same: false });
        self.view.text.push_str(text);
        self.at += source_len;
    }
}

/// The plain character for a typographic one.
const fn plain(character: char) -> char {
    match character {
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn levels() {
        for (source, line_ends, loose) in [
            ("a\r\nb\rc\n", "a\nb\nc\n", "a\nb\nc\n"),
            ("a  \r\n \tb \t", "a  \n \tb \t", "a\n \tb"),
            ("\u{feff}x", "x", "x"),
            ("“q” – it’s\u{a0}ﬁne…", "“q” – it’s\u{a0}ﬁne…", "\"q\" - it's fine..."),
            ("e\u{301}x", "e\u{301}x", "éx"),
            ("\r\r\n\n", "\n\n\n", "\n\n\n"),
        ] {
            assert_eq!(View::new(source.as_bytes(), Level::LineEnds).text(), line_ends, "{source:?}");
            assert_eq!(View::new(source.as_bytes(), Level::Loose).text(), loose, "{source:?}");
        }
        assert_eq!(View::needle("a \nb ", Level::Loose), "a\nb ");
    }

    #[test]
    fn places_lead_back_to_the_bytes() {
        let source = "x\u{a0}“y”  \r\nﬁn".as_bytes();
        let view = View::new(source, Level::Loose);
        assert_eq!(view.text(), "x \"y\"\nfin");
        let behind = |part: &str| {
            let at = view.text().find(part).unwrap();
            view.source_range(&(at..at + part.len()))
                .map(|range| std::str::from_utf8(&source[range]).unwrap())
        };
        assert_eq!(behind("x"), Some("x"));
        assert_eq!(behind("\"y\""), Some("“y”"), "blanks before a line end belong to it");
        assert_eq!(behind("\"\nfi"), Some("”  \r\nﬁ"));
        assert_eq!(behind("in"), None, "inside a ligature");
    }

    #[test]
    fn bytes_that_are_no_text_are_known() {
        let view = View::new(b"a\xffb", Level::LineEnds);
        assert_eq!(view.text(), "a\u{fffd}b");
        assert!(view.has_invalid(&(0..4)) && !view.has_invalid(&(0..1)) && !view.has_invalid(&(4..5)));
        assert_eq!(view.source_range(&(4..5)), Some(2..3));
    }

    proptest! {
        #[test]
        fn every_place_leads_to_a_place_in_order(source in proptest::collection::vec(prop_oneof![
            Just(b"\r\n".to_vec()), Just(b"\n".to_vec()), Just(b"\r".to_vec()), Just(b" ".to_vec()),
            Just("\u{a0}“é".as_bytes().to_vec()), Just("e\u{301}ﬁ".as_bytes().to_vec()), Just(b"ab".to_vec()),
            Just(vec![0xff]), Just(b"\xe2\x82".to_vec())], 0..30)) {
            let source = source.concat();
            for level in [Level::LineEnds, Level::Loose] {
                let view = View::new(&source, level);
                let places: Vec<usize> = (0..=view.text().len()).filter_map(|at| view.source_at(at)).collect();
                prop_assert!(places.is_sorted());
                prop_assert!(places.iter().all(|place| *place <= source.len()));
            }
        }
    }
}
