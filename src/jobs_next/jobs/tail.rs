//! The end of a growing text, with counts over all of it. Pure.

/// The end of a text, at least `keep` bytes of it, and how much there was in all.
#[derive(Debug)]
pub struct Tail {
    text: String,
    keep: usize,
    bytes: u64,
    newlines: u64,
    /// Bytes of the unfinished last line, also those no longer kept.
    line_bytes: u64,
    /// Bytes of the last line that has an end, without it.
    ended_line_bytes: u64,
}

impl Tail {
    /// Keeps at least `keep` bytes, and never more than twice that and one push.
    pub const fn new(keep: usize) -> Self {
        Self { text: String::new(), keep, bytes: 0, newlines: 0, line_bytes: 0, ended_line_bytes: 0 }
    }

    /// Adds text at the end.
    pub fn push(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        match text.rfind('\n') {
            Some(at) => {
                let (lines, rest) = text.split_at_checked(at).unwrap_or_default();
                self.ended_line_bytes = match lines.rfind('\n') {
                    Some(before) => (at - before - 1) as u64,
                    None => self.line_bytes + at as u64,
                };
                self.newlines += text.bytes().filter(|byte| *byte == b'\n').count() as u64;
                self.line_bytes = rest.len() as u64 - 1;
            }
            None => self.line_bytes += text.len() as u64,
        }
        self.text.push_str(text);
        if self.text.len() > 2 * self.keep {
            let cut = self.text.floor_char_boundary(self.text.len() - self.keep);
            self.text.drain(..cut);
        }
    }

    /// Takes the unfinished last line back.
    pub fn erase_line(&mut self) {
        self.bytes -= self.line_bytes;
        self.line_bytes = 0;
        self.text.truncate(self.text.rfind('\n').map_or(0, |at| at + 1));
    }

    /// Bytes of the whole text.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of the whole text without its last line end.
    pub const fn content_bytes(&self) -> u64 {
        self.bytes - (self.line_bytes == 0 && self.bytes > 0) as u64
    }

    /// Lines of the whole text; an unfinished last line counts.
    pub const fn lines(&self) -> u64 {
        self.newlines + (self.line_bytes > 0) as u64
    }

    /// Bytes of the last line, without its end.
    pub const fn last_line_bytes(&self) -> u64 {
        if self.line_bytes > 0 { self.line_bytes } else { self.ended_line_bytes }
    }

    /// The end of the text.
    pub fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_go_over_everything_while_only_the_end_is_kept() {
        let mut tail = Tail::new(8);
        for number in 0..100 {
            tail.push(&format!("{number}\n"));
        }
        tail.push("last");
        assert_eq!(tail.lines(), 101);
        assert_eq!(tail.bytes(), 10 * 2 + 90 * 3 + 4);
        assert_eq!((tail.last_line_bytes(), tail.content_bytes()), (4, tail.bytes()));
        assert!(tail.into_text().ends_with("99\nlast"));
    }

    #[test]
    fn an_erased_line_leaves_no_trace() {
        let mut tail = Tail::new(100);
        tail.push("a\n10%");
        tail.erase_line();
        tail.push("20%");
        assert_eq!((tail.lines(), tail.bytes()), (2, 5));
        assert_eq!(tail.into_text(), "a\n20%");
    }

    #[test]
    fn a_line_longer_than_what_is_kept_is_erased_whole() {
        let mut tail = Tail::new(4);
        tail.push("a\n");
        tail.push(&"x".repeat(50));
        tail.erase_line();
        tail.push("y");
        assert_eq!((tail.lines(), tail.bytes(), tail.last_line_bytes()), (2, 3, 1));
        assert_eq!(tail.into_text(), "y");
    }

    proptest! {
        #[test]
        fn is_the_end_of_what_was_pushed(parts in proptest::collection::vec("[a-zä€\n]{0,12}", 0..40)) {
            let whole = parts.concat();
            let mut tail = Tail::new(16);
            for part in &parts {
                tail.push(part);
            }
            prop_assert_eq!(tail.bytes(), whole.len() as u64);
            prop_assert_eq!(tail.lines(), whole.lines().count() as u64);
            prop_assert_eq!(tail.last_line_bytes(), whole.lines().last().map_or(0, str::len) as u64);
            let text = tail.into_text();
            prop_assert!(text.len() <= 2 * 16 + parts.iter().map(String::len).max().unwrap_or(0));
            prop_assert!(whole.ends_with(&text));
            prop_assert!(text.len() >= whole.len().min(16));
        }
    }
}
