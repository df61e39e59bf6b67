//! Recognises a paste on a terminal that does not mark one, so that its line ends do not submit.
//!
//! Pure: keys and times in, a decision out. Letters are never held back: each passes at once, and only a line end is
//! judged, by what came right before it and what was read together with it.
//!
//! A single line with its line end, in one piece, submits: that is how a program types, and nothing is lost by it.

use std::time::{Duration, Instant};

/// Keys this close together were not typed one by one.
const GAP: Duration = Duration::from_millis(10);
/// After a line end inside a paste, the next one within this time belongs to it even if the line has stalled.
const STALL: Duration = Duration::from_millis(60);
/// A run of so many keys is a paste even if it stops at a line end.
const LONG_RUN: u32 = 200;

/// What a line end means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// The Enter key.
    Enter,
    /// Part of pasted text.
    Text,
}

/// Watches keys for pastes.
#[derive(Debug, Default)]
pub struct Burst {
    last_key: Option<Instant>,
    /// Keys in a row without a gap.
    run: u32,
    /// When a line end was last taken for text.
    last_text: Option<Instant>,
}

impl Burst {
    /// A key that types a character.
    pub fn character(&mut self, now: Instant) {
        self.count(now);
    }

    /// A key that is no text ends what was going on.
    pub const fn other_key(&mut self) {
        self.last_key = None;
        self.run = 0;
        self.last_text = None;
    }

    /// A line end without modifiers. `more_follows` says whether text after it was read in the same go.
    pub fn line_end(&mut self, more_follows: bool, now: Instant) -> LineEnd {
        let continues = self.last_text.is_some_and(|last| now.saturating_duration_since(last) <= STALL);
        self.count(now);
        // Two keys in one go can come from a slow line; a key before or after the end makes it three.
        let inside = more_follows && self.run >= 2;
        if continues || inside || self.run > LONG_RUN {
            self.last_text = Some(now);
            LineEnd::Text
        } else {
            self.other_key();
            LineEnd::Enter
        }
    }

    fn count(&mut self, now: Instant) {
        let close = self.last_key.is_some_and(|last| now.saturating_duration_since(last) <= GAP);
        self.run = if close { self.run.saturating_add(1) } else { 1 };
        self.last_key = Some(now);
        if self.last_text.is_some_and(|last| now.saturating_duration_since(last) <= STALL) {
            // A paste goes on as long as its keys come.
            self.last_text = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds text in pieces, each so many milliseconds after the one before, and returns what came out: `⏎` for Enter.
    fn fed(pieces: &[(u64, &str)]) -> String {
        let mut burst = Burst::default();
        let mut now = Instant::now();
        let mut out = String::new();
        for (pause, piece) in pieces {
            now += Duration::from_millis(*pause);
            let mut keys = piece.chars().peekable();
            while let Some(key) = keys.next() {
                if key == '\n' {
                    let end = burst.line_end(keys.peek().is_some(), now);
                    out.push(if end == LineEnd::Enter { '⏎' } else { '\n' });
                } else {
                    burst.character(now);
                    out.push(key);
                }
            }
        }
        out
    }

    #[test]
    fn line_ends_of_a_paste_are_text_and_typed_ones_submit() {
        let long = "x".repeat(250);
        let table: [(Vec<(u64, &str)>, String); 8] = [
            (vec![(0, "h"), (80, "i"), (90, "\n")], "hi⏎".to_owned()),
            // A fast typist.
            (vec![(0, "o"), (9, "k"), (9, "\n")], "ok⏎".to_owned()),
            // A program that types a line in one go.
            (vec![(0, "hello\n")], "hello⏎".to_owned()),
            (vec![(0, "one\ntwo\n")], "one\ntwo\n".to_owned()),
            (vec![(0, "a\n\n\nb\n"), (500, "\n")], "a\n\n\nb\n⏎".to_owned()),
            // Cut by the line, not by the text.
            (vec![(0, "one\ntw"), (30, "o\nthree"), (40, "\n")], "one\ntwo\nthree\n".to_owned()),
            (vec![(0, &long), (1, "\n")], format!("{long}\n")),
            (vec![(0, "\n")], "⏎".to_owned()),
        ];
        for (pieces, wanted) in table {
            assert_eq!(fed(&pieces), wanted, "{pieces:?}");
        }
    }
}
