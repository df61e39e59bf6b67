//! Untrusted text on its way to a terminal: control, escape and bidi characters never reach it.

use std::borrow::Cow;

/// The text without anything that could steer a terminal or reorder what is read. Newlines and tabs stay. Carriage
/// returns become newlines unless one follows.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => clean.push('\n'),
            c if is_unsafe(c) => {}
            c => clean.push(c),
        }
    }
    Cow::Owned(clean)
}

/// The same on one line: newlines and tabs become spaces.
pub fn for_line(text: &str) -> String {
    for_terminal(text)
        .split(['\n', '\t'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// C0 and C1 controls but newline and tab; the bidi embedding, override and isolate marks; interlinear annotation.
pub const fn is_unsafe(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{200e}' | '\u{200f}' | '\u{061c}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{fff9}'..='\u{fffb}')
}

/// Skips what an escape character begins: a control sequence to its final byte, a string to its terminator, else one
/// character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => {
            while let Some(&c) = chars.peek() {
                if c.is_control() {
                    return;
                }
                chars.next();
                if ('\u{40}'..='\u{7e}').contains(&c) {
                    return;
                }
            }
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(c) = chars.next() {
                if c == '\u{7}' || c == '\u{9c}' {
                    return;
                }
                if c == '\u{1b}' {
                    if chars.peek() == Some(&'\\') {
                        chars.next();
                    }
                    return;
                }
            }
        }
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_and_controls_vanish_and_text_stays() {
        let table = [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}P+q544e\u{1b}\\x", "x"),
            ("a\rb\r\nc", "a\nb\nc"),
            ("bell\u{7} and c1 \u{9b}31m", "bell and c1 31m"),
            ("left\u{202e}thgir\u{202c}", "leftthgir"),
            ("cut \u{1b}[12", "cut "),
            ("é 日本 👩‍🚀", "é 日本 👩‍🚀"),
        ];
        for (dirty, clean) in table {
            assert_eq!(for_terminal(dirty), clean, "{dirty:?}");
        }
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(for_line("  a\n\n  b\tc\r\nd "), "a b c d");
    }

    proptest! {
        #[test]
        fn nothing_unsafe_survives(text in any::<String>()) {
            let clean = for_terminal(&text);
            prop_assert!(!clean.chars().any(is_unsafe));
            prop_assert_eq!(for_terminal(&clean).into_owned(), clean.into_owned());
        }
    }
}
