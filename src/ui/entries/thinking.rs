//! What the model thinks: its newest words while it does, one row once it is over.

use super::{EntryCx, Layout, band};
use crate::text::row::Row;
use crate::text::wrap::{self, Break, Run};
use crate::text::{clean, formats, markdown};
use crate::theme::role::Role;
use crate::transcript::item::Thinking;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

/// Rows of live thinking.
const SHOWN: usize = 3;

/// Joins what stood in blocks of its own. The blank keeps the dot at the word before it.
const JOINT: &str = "\u{a0}· ";

/// Lays thinking out.
pub fn lay_out(thinking: &Thinking, cx: &EntryCx<'_>) -> Layout {
    let style = cx.look.theme.style(Role::ThinkingText).add_modifier(Modifier::ITALIC);
    let text = thinking.text.text();
    let mut next = NextDeadline::default();
    let is_empty = text.trim().is_empty();
    let label = match (thinking.since, thinking.took) {
        (Some(since), _) => format!("Thinking… {}", band::live_time(since, cx, &mut next)),
        (None, Some(took)) => format!("Thought for {}", formats::took(took)),
        (None, None) => "Thought".to_owned(),
    };
    let is_live = thinking.since.is_some();
    let withheld = if is_empty && !is_live { " · not shown by the provider" } else { "" };
    let is_open = cx.open && !is_empty;
    let label_role = if is_open { Role::Muted } else { Role::Dim };
    let label_style = cx.look.theme.style(label_role).add_modifier(Modifier::ITALIC);
    let spans =
        paint::cut(vec![Span::styled(format!("{label}{withheld}"), label_style)], cx.room(), label_style);
    let mut rows = vec![Row { spans, is_decoration: true, ..Row::default() }];
    let mut cards = Vec::new();
    if is_open {
        let document = markdown::render(text, cx.look.theme, cx.room());
        cards = document.cards;
        rows.extend(document.rows.into_iter().map(|row| muted(row, style)));
    } else if is_live {
        rows.extend(newest(text, cx.room(), style));
    }
    Layout { cards, next, ..Layout::beside(cx, "∴", label_role, rows) }
}

/// Text of the model in the colours of thinking. Cards keep theirs: code is read.
fn muted(mut row: Row, style: Style) -> Row {
    if row.card.is_none() {
        for span in &mut row.spans {
            span.style = span.style.patch(style);
        }
    }
    row
}

/// The newest rows, flattened. However long the text is, only its end is looked at.
fn newest(text: &str, room: usize, style: Style) -> Vec<Row> {
    let bytes = (SHOWN + 1) * room * 3;
    let mut from = text.floor_char_boundary(text.len().saturating_sub(bytes));
    let mut is_cut = from > 0;
    if is_cut {
        // Better from the begin of a line, else from a word.
        let tail = text.get(from..).unwrap_or_default();
        let half = tail.floor_char_boundary(tail.len() / 2);
        let head = tail.get(..half).unwrap_or_default();
        from += head.find('\n').or_else(|| head.find(' ')).map_or(0, |at| at + 1);
    }
    let flat = flatten(&clean::for_terminal(text.get(from..).unwrap_or_default()));
    if flat.is_empty() {
        return Vec::new();
    }
    let rows = wrap::line(&[Run::new(flat.as_str(), style, 0)], room, Break::Words);
    let hidden = rows.len().saturating_sub(SHOWN);
    is_cut |= hidden > 0;
    if !is_cut {
        return rows;
    }
    // The mark takes room in the first row, so what is shown is wrapped again behind it.
    let shown = rows.get(hidden).map_or(0, |row| row.start);
    let shown = format!("… {}", flat.get(shown..).unwrap_or_default());
    let rows = wrap::line(&[Run::new(shown, style, 0)], room, Break::Words);
    let over = rows.len().saturating_sub(SHOWN);
    rows.into_iter().skip(over).collect()
}

/// Markdown as running text: blocks joined by dots, marks left out, links by their words.
fn flatten(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    let mut is_new = false;
    let mut is_code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
            is_new = true;
            continue;
        }
        if line.is_empty() {
            is_new = true;
            continue;
        }
        let (words, begins) = if is_code { (line, true) } else { unmarked(line) };
        let words = if is_code { words.to_owned() } else { plain(words) };
        if words.is_empty() {
            is_new = true;
            continue;
        }
        if !flat.is_empty() {
            let ends = flat.ends_with(['.', '!', '?', ':', ';', ',']);
            flat.push_str(if (is_new || begins) && !ends { JOINT } else { " " });
        }
        flat.push_str(&words);
        // A heading stands alone.
        is_new = line.starts_with('#');
    }
    flat
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

/// Words without the marks of emphasis, code and links.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if c == '['
            && let Some((words, after)) = rest.get(1..).and_then(|inner| inner.split_once("]("))
            && !words.contains('[')
            && let Some((_, after)) = after.split_once(')')
        {
            text.push_str(words);
            rest = after;
            continue;
        }
        let mark = ["**", "__", "~~", "`"].into_iter().find(|mark| rest.starts_with(mark));
        if let Some(after) = mark.and_then(|mark| rest.strip_prefix(mark)) {
            rest = after;
            continue;
        }
        text.push(c);
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(flatten(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_the_newest_rows_are_shown() {
        let text = (0..200).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
        let rows = newest(&text, 30, Style::new());
        assert_eq!(rows.len(), 3);
        assert!(rows[0].drawn().starts_with("… word"), "{}", rows[0].drawn());
        assert!(rows[2].drawn().ends_with("word199"));
        let short = newest("a few words", 30, Style::new());
        assert_eq!(short.iter().map(Row::drawn).collect::<Vec<_>>(), ["a few words"]);
        assert!(newest(" \n", 30, Style::new()).is_empty());
    }
}
