//! Bytes of a terminal program as plain text: decoded while they stream, without escape sequences and control
//! characters, a progress bar reduced to its last state. Pure.
//!
//! Invariant: any cutting of the same bytes into chunks gives the same text.

/// Where the text goes.
pub trait TextSink {
    /// More text.
    fn text(&mut self, text: &str);
    /// The unfinished last line is void.
    fn erase_line(&mut self);
}

/// Turns bytes into plain text.
#[derive(Debug, Default)]
pub struct PlainText {
    /// Beginning of a character whose end has not come.
    partial: Vec<u8>,
    escape: Escape,
    /// A carriage return waits: what follows decides whether it ends the line or begins it anew.
    carriage_return: bool,
    not_text: u64,
}

/// Place within an escape sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    /// Outside.
    #[default]
    None,
    /// After ESC.
    Begun,
    /// After ESC and an intermediate byte: one more character ends it.
    Short,
    /// After ESC `[`.
    Csi,
    /// In a title, a link or another text for the terminal.
    Text,
    /// In such a text, after ESC.
    TextEnding,
}

impl PlainText {
    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8], sink: &mut impl TextSink) {
        if self.partial.is_empty() {
            self.decode(bytes, sink);
        } else {
            let mut joined = std::mem::take(&mut self.partial);
            joined.extend_from_slice(bytes);
            self.decode(&joined, sink);
        }
    }

    /// No more bytes will come.
    pub fn finish(&mut self, sink: &mut impl TextSink) {
        let partial = std::mem::take(&mut self.partial);
        if !partial.is_empty() {
            self.replace(partial.len(), sink);
        }
    }

    /// Bytes and control characters that were no text: replaced or left out.
    pub const fn not_text(&self) -> u64 {
        self.not_text
    }

    fn decode(&mut self, bytes: &[u8], sink: &mut impl TextSink) {
        // Nearly all output is text from end to end, which is seen at once.
        if let Ok(text) = std::str::from_utf8(bytes) {
            return self.plain(text, sink);
        }
        let mut seen = 0;
        for chunk in bytes.utf8_chunks() {
            self.plain(chunk.valid(), sink);
            let invalid = chunk.invalid();
            seen += chunk.valid().len() + invalid.len();
            let cut_off = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if seen == bytes.len() && cut_off {
                self.partial = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.replace(invalid.len(), sink);
            }
        }
    }

    fn replace(&mut self, bytes: usize, sink: &mut impl TextSink) {
        self.not_text += bytes as u64;
        self.character(char::REPLACEMENT_CHARACTER, sink);
    }

    fn plain(&mut self, text: &str, sink: &mut impl TextSink) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.escape == Escape::None && !self.carriage_return {
                let run = ordinary(rest.as_bytes());
                // Special bytes begin a character, so the run ends between two.
                let (run, after) = rest.split_at_checked(run).unwrap_or((rest, ""));
                if !run.is_empty() {
                    sink.text(run);
                }
                rest = after;
            }
            let mut characters = rest.chars();
            if let Some(character) = characters.next() {
                self.character(character, sink);
            }
            rest = characters.as_str();
        }
    }

    fn character(&mut self, character: char, sink: &mut impl TextSink) {
        // A line end closes every sequence: binary noise must not swallow the rest of the output.
        if character == '\n' {
            self.escape = Escape::None;
        }
        self.escape = match (self.escape, character) {
            (Escape::None, '\u{1b}') => Escape::Begun,
            (Escape::None, _) => {
                self.visible(character, sink);
                Escape::None
            }
            (Escape::Begun | Escape::TextEnding, '[') => Escape::Csi,
            (Escape::Begun | Escape::TextEnding, ']' | 'P' | 'X' | '^' | '_') => Escape::Text,
            (Escape::Begun | Escape::Short, ' '..='/') => Escape::Short,
            (Escape::Begun | Escape::Csi | Escape::Short, '\u{1b}') => Escape::Begun,
            (Escape::Begun | Escape::Short | Escape::TextEnding, _) => Escape::None,
            (Escape::Csi, '@'..='~') => Escape::None,
            (Escape::Csi, _) => Escape::Csi,
            (Escape::Text, '\u{7}' | '\u{9c}') => Escape::None,
            (Escape::Text, '\u{1b}') => Escape::TextEnding,
            (Escape::Text, _) => Escape::Text,
        };
    }

    fn visible(&mut self, character: char, sink: &mut impl TextSink) {
        match character {
            '\r' => self.carriage_return = true,
            '\n' => {
                self.carriage_return = false;
                sink.text("\n");
            }
            '\u{fff9}'..='\u{fffb}' => self.not_text += 1,
            _ if character.is_control() && character != '\t' => self.not_text += 1,
            _ => {
                if std::mem::take(&mut self.carriage_return) {
                    sink.erase_line();
                }
                sink.text(character.encode_utf8(&mut [0; 4]));
            }
        }
    }
}

/// Bytes that are looked at together.
const BLOCK: usize = 64;

/// How many bytes come before the first special one. Whole blocks are passed over without a branch for each byte: a flood
/// is made of them.
fn ordinary(bytes: &[u8]) -> usize {
    let blocks = bytes.chunks_exact(BLOCK);
    let is_ordinary = |block: &&[u8]| !block.iter().fold(false, |any, byte| any | is_special(*byte));
    let passed = blocks.take_while(is_ordinary).count() * BLOCK;
    let rest = bytes.get(passed..).unwrap_or_default();
    passed + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

/// First bytes of characters that need a closer look: controls of both ranges, and the block of U+FFF9.
const fn is_special(byte: u8) -> bool {
    // One comparison each, which the processor does for many bytes at once.
    (byte < 0x20) & (byte != b'\t') & (byte != b'\n') | (byte == 0x7f) | (byte == 0xc2) | (byte == 0xef)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Default)]
    struct Page(String);

    impl TextSink for Page {
        fn text(&mut self, text: &str) {
            self.0.push_str(text);
        }
        fn erase_line(&mut self) {
            self.0.truncate(self.0.rfind('\n').map_or(0, |at| at + 1));
        }
    }

    fn plain(chunks: &[&[u8]]) -> (String, u64) {
        let mut page = Page::default();
        let mut text = PlainText::default();
        for chunk in chunks {
            text.push(chunk, &mut page);
        }
        text.finish(&mut page);
        (page.0, text.not_text())
    }

    #[test]
    fn table() {
        for (bytes, want) in [
            (&b"plain\ttext\n"[..], "plain\ttext\n"),
            (b"\x1b[1;31mred\x1b[0m", "red"),
            (b"\x1b]0;title\x07after", "after"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1b(Bcharset \x1b=x", "charset x"),
            (b"dos\r\nline\r\n", "dos\nline\n"),
            (b"double\r\r\n", "double\n"),
            (b"10%\r20%\r100%\n", "100%\n"),
            (b"10%\r\x1b[K20%", "20%"),
            (b"kept at the end\r", "kept at the end"),
            (b"unended \x1b]0;title\nnext", "unended \nnext"),
            (b"nul\0 bell\x07", "nul bell"),
            ("\u{fff9}a\u{fffb}·é\u{85}".as_bytes(), "a·é"),
            (b"bad \xff\xfe end", "bad \u{fffd}\u{fffd} end"),
            (b"cut \xe2\x82", "cut \u{fffd}"),
        ] {
            assert_eq!(plain(&[bytes]).0, want, "{bytes:?}");
        }
    }

    #[test]
    fn a_character_in_two_chunks_stays_whole() {
        assert_eq!(plain(&[b"\xe2", b"\x82", b"\xac\xf0\x9f", b"\x99\x82"]), ("€🙂".to_owned(), 0));
    }

    #[test]
    fn what_is_no_text_is_counted() {
        assert_eq!(plain(&[b"\0\0a\xff"]).1, 3);
    }

    #[test]
    fn special_bytes_are_found_wherever_they_stand() {
        for byte in 0..=255_u8 {
            let is_listed = matches!(byte, 0..=8 | 0x0b..=0x1f | 0x7f | 0xc2 | 0xef);
            assert_eq!(is_special(byte), is_listed, "{byte:#x}");
        }
        for at in 0..200 {
            let mut bytes = [b'x'; 200];
            bytes[at] = 0x1b;
            assert_eq!(ordinary(&bytes), at);
        }
        assert_eq!((ordinary(&[b'\n'; 150]), ordinary(b"")), (150, 0));
    }

    proptest! {
        #[test]
        fn cutting_changes_nothing(bytes in proptest::collection::vec(prop_oneof![
            any::<u8>(), Just(0x1b), Just(b'\r'), Just(b'\n'), Just(b'['), Just(b']'), Just(0xe2), Just(0x82), Just(0xac)
        ], 0..200), cut in 0usize..200) {
            let (left, right) = bytes.split_at(cut.min(bytes.len()));
            let whole = plain(&[&bytes]).0;
            prop_assert_eq!(&plain(&[left, right]).0, &whole);
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(&plain(&single).0, &whole);
            prop_assert!(!whole.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        }
    }
}
