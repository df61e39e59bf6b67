//! How many columns text takes. Everything that is drawn is measured here, by grapheme.

use super::clean;
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns from one tab stop to the next.
pub const TAB: usize = 4;

/// Asks for the coloured form of a character. Terminals disagree about the width of what follows, so it is never drawn.
const EMOJI_FORM: char = '\u{fe0f}';

/// The columns of one grapheme as it is drawn, by the rules of the screen's buffer: nearly always at most 2, but syllables of
/// some scripts take more. Tabs and what is not drawn take none here.
pub fn of_grapheme(grapheme: &str) -> usize {
    match grapheme.as_bytes() {
        [b' '..=b'~'] => 1,
        _ if grapheme.chars().any(|c| c == EMOJI_FORM || is_hidden(c)) => drawn(grapheme).width(),
        _ => grapheme.width(),
    }
}

/// The columns of text on one line, tabs at their stops.
pub fn of(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    if text.chars().all(is_one_cell) {
        return text.chars().count();
    }
    text.graphemes(true).fold(0, |column, grapheme| {
        column + if grapheme == "\t" { TAB - column % TAB } else { of_grapheme(grapheme) }
    })
}

/// Fills one column by itself, whatever stands around it: ASCII, rules, bars, spinners. That is nearly all there is on a
/// screen, and to look for graphemes in it takes most of the time.
pub const fn is_one_cell(c: char) -> bool {
    matches!(c, ' '..='~' | '·' | '…' | '●' | '\u{2500}'..='\u{259f}' | '\u{2800}'..='\u{28ff}')
}

/// Printable ASCII only: one column a byte.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// A grapheme as it is drawn.
pub fn drawn(grapheme: &str) -> Cow<'_, str> {
    if grapheme.chars().any(|c| c == EMOJI_FORM || is_hidden(c)) {
        Cow::Owned(grapheme.chars().filter(|c| *c != EMOJI_FORM && !is_hidden(*c)).collect())
    } else {
        Cow::Borrowed(grapheme)
    }
}

/// Never drawn, also not as a blank.
const fn is_hidden(c: char) -> bool {
    clean::is_unsafe(c) || matches!(c, '\n' | '\t')
}

/// What fits into `columns`, with `…` in place of what does not.
pub fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if of(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut kept = take(text, columns.saturating_sub(1)).to_owned();
    if columns > 0 {
        kept.push('…');
    }
    Cow::Owned(kept)
}

/// The end of the text that fits into `columns`, with `…` in place of what stood before.
pub fn cut_start(text: &str, columns: usize) -> Cow<'_, str> {
    if of(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut left = columns.saturating_sub(1);
    let mut begin = text.len();
    for (offset, grapheme) in text.grapheme_indices(true).rev() {
        let width = of_grapheme(grapheme);
        if width > left {
            break;
        }
        left -= width;
        begin = offset;
    }
    let mark = if columns > 0 { "…" } else { "" };
    Cow::Owned(format!("{mark}{}", text.get(begin..).unwrap_or_default()))
}

/// The beginning of the text that fits into `columns`, whole graphemes.
pub fn take(text: &str, columns: usize) -> &str {
    let mut column = 0;
    for (offset, grapheme) in text.grapheme_indices(true) {
        column += if grapheme == "\t" { TAB - column % TAB } else { of_grapheme(grapheme) };
        if column > columns {
            return text.get(..offset).unwrap_or_default();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_by_grapheme() {
        let table = [
            ("", 0),
            ("abc", 3),
            ("日本", 4),
            ("e\u{301}", 1),
            ("👩‍🚀", 2),
            ("❤\u{fe0f}", 1),
            ("\u{200b}", 0),
            ("क्ष्मि", 4),
            ("a\tb", 5),
            ("abcd\te", 9),
            ("\u{1b}[0m", 3),
            ("π ● ∴ ◆", 7),
        ];
        for (text, columns) in table {
            assert_eq!(of(text), columns, "{text:?}");
        }
    }

    #[test]
    fn cutting_keeps_graphemes_whole() {
        assert_eq!(cut("hello", 5), "hello");
        assert_eq!(cut("hello!", 5), "hell…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("ab", 0), "");
        assert_eq!(cut_start("~/src/tool", 6), "…/tool");
        assert_eq!(cut_start("日本語", 4), "…語");
    }

    proptest! {
        #[test]
        fn a_cut_fits(text in any::<String>(), columns in 0_usize..20) {
            prop_assume!(!text.contains(['\n', '\t']));
            prop_assert!(of(&cut(&text, columns)) <= columns);
            prop_assert!(of(&cut_start(&text, columns)) <= columns);
            prop_assert!(of(take(&text, columns)) <= columns);
        }
    }
}
