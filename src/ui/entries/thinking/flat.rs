//! Markdown as running text: blocks joined by dots, marks left out, links by their words.

/// Joins what stood in blocks of its own. The blank keeps the dot at the word before it.
const JOINT: &str = "\u{a0}· ";

/// Running text, and where each of its bytes stood.
#[derive(Debug, Default)]
pub(super) struct Flat {
    pub text: String,
    from: Vec<u32>,
}

impl Flat {
    /// Of Markdown.
    pub fn of(source: &str) -> Self {
        let mut flat = Self::default();
        let (mut is_new, mut is_code) = (false, false);
        let mut start = 0;
        for whole in source.split('\n') {
            let line = whole.trim();
            let at = start + (whole.len() - whole.trim_start().len());
            start += whole.len() + 1;
            if line.starts_with("```") || line.starts_with("~~~") {
                is_code = !is_code;
                is_new = true;
                continue;
            }
            let (words, begins) = if is_code { (line, true) } else { unmarked(line) };
            if words.is_empty() {
                is_new = true;
                continue;
            }
            let before = flat.text.len();
            if before > 0 {
                let ends = flat.text.ends_with(['.', '!', '?', ':', ';', ',']);
                flat.push(if (is_new || begins) && !ends { JOINT } else { " " }, at, 0);
            }
            let joined = flat.text.len();
            // Words are a part of their line.
            let at = at + (line.len() - words.len());
            if is_code {
                flat.push(words, at, 1);
            } else {
                flat.push_plain(words, at);
            }
            if flat.text.len() == joined {
                // Nothing but marks.
                flat.truncate(before);
                is_new = true;
                continue;
            }
            // A heading stands alone.
            is_new = line.starts_with('#');
        }
        flat
    }

    /// Where the byte at `at` stood.
    pub fn from(&self, at: usize) -> Option<usize> {
        usize::try_from(*self.from.get(at)?).ok()
    }

    fn push(&mut self, text: &str, at: usize, step: usize) {
        self.text.push_str(text);
        self.from.extend((0..text.len()).map(|n| u32::try_from(at + n * step).unwrap_or(u32::MAX)));
    }

    fn truncate(&mut self, length: usize) {
        self.text.truncate(length);
        self.from.truncate(length);
    }

    /// Words without the marks of emphasis, code and links.
    fn push_plain(&mut self, line: &str, at: usize) {
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let here = at + (line.len() - rest.len());
            if c == '['
                && let Some((words, after)) = rest.get(1..).and_then(|inner| inner.split_once("]("))
                && !words.contains('[')
                && let Some((_, after)) = after.split_once(')')
            {
                self.push(words, here + 1, 1);
                rest = after;
                continue;
            }
            let mark = ["**", "__", "~~", "`"].into_iter().find(|mark| rest.starts_with(mark));
            if let Some(after) = mark.and_then(|mark| rest.strip_prefix(mark)) {
                rest = after;
                continue;
            }
            let (letter, after) = rest.split_at(c.len_utf8());
            self.push(letter, here, 1);
            rest = after;
        }
    }
}

/// A line without the mark of its block, and whether it begins one.
fn unmarked(line: &str) -> (&str, bool) {
    let quoted = line.trim_start_matches(['>', ' ']);
    let heading = quoted.trim_start_matches('#');
    if heading.len() < quoted.len() && heading.starts_with(' ') {
        return (heading.trim(), true);
    }
    for mark in ["- ", "* ", "+ "] {
        if let Some(item) = quoted.strip_prefix(mark) {
            return (item.trim_start(), true);
        }
    }
    let digits = quoted.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0
        && let Some(item) =
            quoted.get(digits..).and_then(|rest| rest.strip_prefix(". ").or(rest.strip_prefix(") ")))
    {
        return (item.trim_start(), true);
    }
    let is_rule = quoted.len() >= 3 && quoted.bytes().all(|byte| matches!(byte, b'-' | b'*' | b'_'));
    if is_rule { ("", true) } else { (quoted, false) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markdown_becomes_running_text() {
        let table = [
            ("one\ntwo", "one two"),
            ("one\n\ntwo", "one\u{a0}· two"),
            ("one.\n\ntwo", "one. two"),
            ("# Head\ntext", "Head\u{a0}· text"),
            ("first:\n- a\n- b\n2. c", "first: a\u{a0}· b\u{a0}· c"),
            ("> said\n> more", "said more"),
            ("a\n```rust\nlet **x**;\n```\nb", "a\u{a0}· let **x**; b"),
            ("**bold** `code` ~~gone~~ [words](http://x) [no", "bold code gone words [no"),
            ("a\n---\nb", "a\u{a0}· b"),
            ("a\n**\nb", "a\u{a0}· b"),
            ("a\r\nb", "a b"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(Flat::of(text).text, expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn each_byte_knows_where_it_stood(text in "[a-d*`#>\\-\\[\\]()é日 \\n]{0,80}") {
            let flat = Flat::of(&text);
            let mut last = 0;
            for (at, c) in flat.text.char_indices() {
                let from = flat.from(at).unwrap();
                prop_assert!(from >= last, "{from} {last}");
                last = from;
                if !matches!(c, '·' | '\u{a0}' | ' ') {
                    prop_assert!(text.get(from..).unwrap().starts_with(c), "{c} at {from}");
                }
            }
        }
    }
}
