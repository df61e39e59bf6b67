//! Bytes of a log as lines of plain text, each with the offset of its first byte. Pure.
//!
//! Invariants: any cutting of the same bytes gives the same lines; a line takes bounded memory however long it is; a line
//! holds no control character but tabs, and nothing that changes the direction of writing.

use crate::jobs::plain_text::{PlainText, TextSink};

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The offset of its first byte in the log.
    pub begins: u64,
    /// The offset behind its last byte, its end included.
    pub ends: u64,
    /// Its text, or the beginning of it.
    pub text: String,
    /// Bytes of text that were left out.
    pub left_out: u64,
    /// It has its end: nothing can be added to it.
    pub is_whole: bool,
}

/// Cuts bytes into lines.
#[derive(Debug)]
pub struct Lines {
    plain: PlainText,
    text: Text,
    /// The offset of the first byte of the line, and of the next byte.
    begins: u64,
    at: u64,
}

#[derive(Debug)]
struct Text {
    text: String,
    most: usize,
    left_out: u64,
}

impl Lines {
    /// Lines from this offset on, with so many bytes of text in each.
    pub fn new(from: u64, most: usize) -> Self {
        let text = Text { text: String::new(), most, left_out: 0 };
        Self { plain: PlainText::default(), text, begins: from, at: from }
    }

    /// Takes the bytes from this offset on, and tells each line that ends in them. Bytes that are missing before them end
    /// a line as well.
    pub fn push(&mut self, from: u64, bytes: &[u8], mut each: impl FnMut(Line)) {
        if from != self.at {
            if let Some(line) = self.unfinished() {
                each(Line { is_whole: true, ..line });
            }
            self.restart(from);
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.at += part.len() as u64;
            match part.strip_suffix(b"\n") {
                Some(part) => {
                    self.plain.push(part, &mut self.text);
                    each(self.end());
                }
                None => self.plain.push(part, &mut self.text),
            }
        }
    }

    /// The last line as far as it has come; `None` if nothing has.
    pub fn unfinished(&self) -> Option<Line> {
        (self.at > self.begins).then(|| Line {
            begins: self.begins,
            ends: self.at,
            text: self.text.text.clone(),
            left_out: self.text.left_out,
            is_whole: false,
        })
    }

    fn end(&mut self) -> Line {
        self.plain.finish(&mut self.text);
        let text = std::mem::take(&mut self.text.text);
        let (begins, ends, left_out) = (self.begins, self.at, self.text.left_out);
        self.restart(self.at);
        Line { begins, ends, text, left_out, is_whole: true }
    }

    fn restart(&mut self, from: u64) {
        self.plain = PlainText::default();
        self.text = Text { text: String::new(), left_out: 0, ..self.text };
        (self.begins, self.at) = (from, from);
    }
}

impl TextSink for Text {
    fn text(&mut self, text: &str) {
        for character in text.chars().filter(|character| !changes_direction(*character)) {
            if self.left_out == 0 && self.text.len() + character.len_utf8() <= self.most {
                self.text.push(character);
            } else {
                self.left_out += character.len_utf8() as u64;
            }
        }
    }

    fn erase_line(&mut self) {
        self.text.clear();
        self.left_out = 0;
    }
}

/// What could show a text in another order than it has.
const fn changes_direction(character: char) -> bool {
    matches!(
        character,
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(pieces: &[(u64, &[u8])], most: usize) -> Vec<Line> {
        let mut lines = Lines::new(pieces.first().map_or(0, |piece| piece.0), most);
        let mut all = Vec::new();
        for (from, bytes) in pieces {
            lines.push(*from, bytes, |line| all.push(line));
        }
        all.extend(lines.unfinished());
        all
    }

    fn short(lines: &[Line]) -> Vec<(u64, u64, &str, u64, bool)> {
        lines
            .iter()
            .map(|line| (line.begins, line.ends, line.text.as_str(), line.left_out, line.is_whole))
            .collect()
    }

    #[test]
    fn offsets_are_those_of_the_bytes() {
        let all = lines(
            &[(100, b"\x1b[31mred\x1b[0m\r\n10%\r20%\rdone\n\nabc\xe2\x80\xaedef\n12345678901234\nla")],
            12,
        );
        assert_eq!(
            short(&all),
            [
                (100, 114, "red", 0, true),
                (114, 127, "done", 0, true),
                (127, 128, "", 0, true),
                (128, 138, "abcdef", 0, true),
                (138, 153, "123456789012", 2, true),
                (153, 155, "la", 0, false),
            ]
        );
    }

    #[test]
    fn missing_bytes_end_a_line() {
        let all = lines(&[(0, b"be\x1b["), (10, b"after\n")], 100);
        assert_eq!(short(&all), [(0, 4, "be", 0, true), (10, 16, "after", 0, true)]);
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same_lines(
            bytes in prop::collection::vec(prop_oneof![
                any::<u8>(), Just(b'\n'), Just(b'\r'), Just(0x1b), Just(b'['), Just(0xe2), Just(0x80), Just(0xae), Just(b'a'),
            ], 0..120),
            cuts in prop::collection::vec(1_usize..20, 1..40),
        ) {
            let whole = lines(&[(7, &bytes)], 9);
            let (mut pieces, mut at) = (Vec::new(), 0);
            for cut in cuts.into_iter().cycle() {
                if at == bytes.len() {
                    break;
                }
                let end = (at + cut).min(bytes.len());
                pieces.push((7 + at as u64, &bytes[at..end]));
                at = end;
            }
            prop_assert_eq!(&lines(&pieces, 9), &whole);
            for line in whole {
                prop_assert!(line.text.len() <= 9);
                prop_assert!(!line.text.chars().any(|c| (c.is_control() && c != '\t') || changes_direction(c)));
            }
        }
    }
}
