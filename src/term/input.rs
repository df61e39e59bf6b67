//! What comes from the terminal, as the program hears it.

use super::caps::Reply;
use crossterm::event::{KeyEvent, MouseEvent};

/// One thing that the terminal told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key was pressed, repeated or released.
    Key(KeyEvent),
    /// Text that was pasted, with `\n` at line ends and no other control characters than tabs.
    Paste(String),
    /// The mouse did something; column and row count from zero. Wheel events go through [`super::wheel::Wheel`].
    Mouse(MouseEvent),
    /// The terminal has a new size, in cells.
    Resize {
        /// Cells side by side.
        columns: u16,
        /// Rows.
        rows: u16,
    },
    /// The terminal's window gained the focus, or lost it.
    Focus(bool),
    /// An answer to a question of [`super::caps`] that came late.
    Reply(Reply),
}

/// Text as it was pasted, made plain: line ends are `\n`, control characters but tabs are gone.
pub fn pasted_text(bytes: &[u8]) -> String {
    let raw = String::from_utf8_lossy(bytes);
    let mut text = String::with_capacity(raw.len());
    let mut after_return = false;
    for c in raw.chars() {
        match c {
            '\r' => text.push('\n'),
            '\n' if after_return => {}
            '\n' | '\t' => text.push(c),
            c if c.is_control() => {}
            c => text.push(c),
        }
        after_return = c == '\r';
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_text_is_plain() {
        let table = [
            ("one\r\ntwo\rthree\nfour", "one\ntwo\nthree\nfour"),
            ("a\r\r\n\r\nb", "a\n\n\nb"),
            ("tab\there\u{1b}[31m\u{7}\u{0}\u{9b}", "tab\there[31m"),
            ("日本 👩‍🚀 é", "日本 👩‍🚀 é"),
        ];
        for (pasted, text) in table {
            assert_eq!(pasted_text(pasted.as_bytes()), text, "{pasted:?}");
        }
        assert_eq!(pasted_text(b"a\xffb"), "a\u{fffd}b");
    }
}
