//! Where the words of a prompt begin and end: as everywhere, but a chip is a word of its own.

use super::chips::is_chip;
use super::wrap::{next_boundary, previous_boundary};
use crate::text::words::{self, Kind};

fn kind(unit: &str) -> Kind {
    if unit.starts_with(is_chip) { Kind::Alone } else { words::kind(unit) }
}

/// The end of the word at or after this place: white space is passed first.
pub fn word_right(line: &str, from: usize) -> usize {
    words::walk(from, |at| {
        let next = next_boundary(line, at)?;
        Some((next, kind(line.get(at..next)?)))
    })
}

/// The start of the word at or before this place: white space is passed first.
pub fn word_left(line: &str, from: usize) -> usize {
    words::walk(from, |at| {
        let before = previous_boundary(line, at)?;
        Some((before, kind(line.get(before..at)?)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops(line: &str) -> (Vec<&str>, Vec<&str>) {
        let (mut right, mut left) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < line.len() {
            let next = word_right(line, at);
            right.push(line.get(at..next).unwrap());
            at = next;
        }
        while at > 0 {
            let before = word_left(line, at);
            left.insert(0, line.get(before..at).unwrap());
            at = before;
        }
        (right, left)
    }

    #[test]
    fn words_are_runs_of_one_kind() {
        let table: &[(&str, &[&str], &[&str])] = &[
            ("foo bar", &["foo", " bar"], &["foo ", "bar"]),
            ("a.b_c(1)", &["a", ".", "b_c", "(", "1", ")"], &["a", ".", "b_c", "(", "1", ")"]),
            ("日本語をテスト", &["日本語", "を", "テスト"], &["日本語", "を", "テスト"]),
            ("한국어 글", &["한국어", " 글"], &["한국어 ", "글"]),
            ("e\u{301}té  ", &["e\u{301}té", "  "], &["e\u{301}té  "]),
            ("\u{10f000}\u{10f001}", &["\u{10f000}", "\u{10f001}"], &["\u{10f000}", "\u{10f001}"]),
        ];
        for (line, right, left) in table {
            let (to_right, to_left) = stops(line);
            assert_eq!(to_right, *right, "{line:?} to the right");
            assert_eq!(to_left, *left, "{line:?} to the left");
        }
    }
}
