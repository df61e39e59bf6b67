//! The newest rows of a text that grows: a call that is being written, thinking, a summary.
//!
//! However long the text is, only its end is looked at, and where that end begins moves on in large steps: from another
//! place the rows would break elsewhere, and all of them would jump with every word that comes.

use super::body::Panel;
use crate::text::row::Row;
use crate::text::wrap::{self, Break, Run};
use crate::theme::role::Role;
use crate::transcript::trail::Trail;
use crate::ui::glow;
use ratatui::style::Style;
use ratatui::text::Span;

/// Where the next character comes.
const CARET: &str = "▍";

/// Bytes that are enough for so many rows, whatever is written; the end moves on by as much.
pub const fn step(shown: usize, columns: usize) -> usize {
    let columns = if columns < 8 { 8 } else { columns };
    (shown + 1) * columns * 3
}

/// Where the end of so long a text begins: between one and two steps of it are looked at.
pub const fn begin(length: usize, step: usize) -> usize {
    (length / step).saturating_sub(1) * step
}

/// Bytes of an end that are passed over: it begins with a line if one begins near, else with a word.
pub fn first_word(end: &str, step: usize) -> usize {
    // The first, for what is behind it may not have come when the end began here.
    let head = end.get(..end.floor_char_boundary(step / 2)).unwrap_or_default();
    head.find('\n').or_else(|| head.find(' ')).map_or(0, |at| at + 1)
}

/// Where the end of a text begins.
pub fn end_of(text: &str, step: usize) -> usize {
    let from = text.floor_char_boundary(begin(text.len(), step));
    let end = text.get(from..).unwrap_or_default();
    if from == 0 { 0 } else { from + first_word(end, step) }
}

/// The last `shown` rows of clean text, each line by itself; lines that `is_read` says nothing of are left out.
pub fn rows(
    text: &str,
    columns: usize,
    shown: usize,
    style: Style,
    is_read: impl Fn(&str) -> bool,
) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        if is_read(line) {
            for mut row in wrap::line(&[Run::new(line, style, start)], columns, Break::Words) {
                row.start = row.start.max(start);
                rows.push(row);
            }
        }
        start += line.len() + 1;
    }
    let hidden = rows.len().saturating_sub(shown);
    rows.split_off(hidden)
}

/// Columns for such rows on a panel: the caret stands behind the last character, whatever its column.
pub fn columns(panel: &Panel<'_>) -> usize {
    panel.room().saturating_sub(1).max(1)
}

/// Puts rows onto a panel; what is new of them shines. `at`: where a byte of their text stands in what the trail counts.
pub fn draw(
    panel: &mut Panel<'_>,
    rows: Vec<Row>,
    has_caret: bool,
    trail: &Trail,
    at: impl Fn(usize) -> usize,
) {
    let last = rows.len().saturating_sub(1);
    for (index, mut row) in rows.into_iter().enumerate() {
        let start = row.start;
        if has_caret && index == last && panel.room() > 1 {
            row.text_end = Some(u16::try_from(row.width()).unwrap_or(u16::MAX));
            row.spans.push(Span::styled(CARET, panel.style(Role::Accent)));
        }
        panel.push(row);
        let (ground, look) = (panel.ground, panel.cx.look);
        panel.moves(|row| glow::row(row, start, trail, &at, ground, look));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows stay what they are while text comes, but for going up and out; where the end begins moves once a step.
    #[test]
    fn breaks_stay_where_they_are_while_any_text_grows() {
        for (blank, width) in [(' ', 20), ('\n', 20), (' ', 60)] {
            let step = step(2, width);
            let mut text = String::new();
            let (mut seen, mut jumps) = (Vec::<String>::new(), 0);
            for word in 0..900 {
                text.push_str(&format!("w{}", word * 7919 % 10_007));
                text.push(if word % 9 == 8 { blank } else { ' ' });
                let end = text.get(end_of(&text, step)..).unwrap();
                assert!(end.len() <= 2 * step && (end.len() >= step / 2 || end.len() == text.len()));
                let rows = rows(end, width, 2, Style::new(), |line| !line.is_empty());
                let rows: Vec<String> = rows.iter().map(|row| row.drawn().trim_end().to_owned()).collect();
                let is_known =
                    seen.iter().any(|row| rows.first().is_none_or(|first| first.starts_with(row.as_str())));
                jumps += usize::from(!is_known && !seen.is_empty());
                seen = rows;
            }
            assert!(jumps <= text.len() / step, "{jumps} jumps in {} steps", text.len() / step);
        }
    }
}
