//! Where words begin and end: runs of one kind of character. Scripts without spaces break where the kind of letter
//! changes, as between kanji and kana.

use super::chips::is_chip;
use super::wrap::{next_boundary, previous_boundary};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Space,
    Word,
    Han,
    Hiragana,
    Katakana,
    Punctuation,
    Chip,
}

fn kind(unit: &str) -> Kind {
    match unit.chars().next() {
        None => Kind::Space,
        Some(c) if is_chip(c) => Kind::Chip,
        Some(c) if c.is_whitespace() => Kind::Space,
        Some('\u{3041}'..='\u{309f}') => Kind::Hiragana,
        Some('\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}') => Kind::Katakana,
        Some('\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' | '々') => {
            Kind::Han
        }
        Some(c) if c.is_alphanumeric() || c == '_' => Kind::Word,
        Some(_) => Kind::Punctuation,
    }
}

/// The end of the word at or after this place: white space is passed first.
pub fn word_right(line: &str, from: usize) -> usize {
    let mut at = from;
    let mut run = None;
    while let Some(next) = next_boundary(line, at) {
        let here = kind(line.get(at..next).unwrap_or_default());
        match run {
            None if here == Kind::Space => {}
            None => run = Some(here),
            Some(run) if run == here && here != Kind::Chip => {}
            Some(_) => break,
        }
        at = next;
    }
    at
}

/// The start of the word at or before this place: white space is passed first.
pub fn word_left(line: &str, from: usize) -> usize {
    let mut at = from;
    let mut run = None;
    while let Some(before) = previous_boundary(line, at) {
        let here = kind(line.get(before..at).unwrap_or_default());
        match run {
            None if here == Kind::Space => {}
            None => run = Some(here),
            Some(run) if run == here && here != Kind::Chip => {}
            Some(_) => break,
        }
        at = before;
    }
    at
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
