//! What changed as two columns: what was at the left, what is at the right.

use crate::text::diff::{self, Kind, Line};
use crate::text::row::{LinkSpan, Row, Written};
use crate::theme::Theme;
use crate::theme::role::Role;
use ratatui::style::{Color, Style};
use ratatui::text::Span;
use std::borrow::Cow;

/// Columns between the sides.
const BETWEEN: usize = 1;

/// The two sides, and which of their lines stand beside each other.
struct Sides {
    old: Vec<Line>,
    new: Vec<Line>,
    pairs: Vec<(Option<usize>, Option<usize>)>,
}

/// The lines as rows, both sides beside each other. The text of a row is that of the right side, and of the left where
/// nothing stands at the right: a selection takes what is, not both.
pub fn rows(lines: &[Line], path: &str, theme: &Theme, columns: usize) -> Vec<Row> {
    let half = columns.saturating_sub(BETWEEN) / 2;
    if half < 2 {
        return diff::rows(lines, path, theme, columns);
    }
    let sides = sides(lines);
    let mut old = grouped(diff::rows(&sides.old, path, theme, half), sides.old.len());
    let mut new = grouped(diff::rows(&sides.new, path, theme, half), sides.new.len());
    let take = |side: &mut Vec<Vec<Row>>, at: Option<usize>| {
        at.and_then(|at| side.get_mut(at)).map(std::mem::take).unwrap_or_default()
    };
    let mut rows = Vec::new();
    for (index, (left, right)) in sides.pairs.iter().enumerate() {
        let (left, right) = (take(&mut old, *left), take(&mut new, *right));
        let (mut left, mut right) = (left.into_iter(), right.into_iter());
        loop {
            let (old, new) = (left.next(), right.next());
            if old.is_none() && new.is_none() {
                break;
            }
            rows.push(Row { start: index, ..beside(old, new, half, theme) });
        }
    }
    rows
}

/// Splits the lines: what is gone at the left, what is new at the right, what stayed on both.
fn sides(lines: &[Line]) -> Sides {
    let mut sides = Sides { old: Vec::new(), new: Vec::new(), pairs: Vec::new() };
    // How many lines more the new side has so far: a line that stayed has that much less a number at the left.
    let mut more = 0_isize;
    let mut rest = lines;
    while let Some(line) = rest.first() {
        let count = |lines: &[Line], kind: Kind| lines.iter().take_while(|line| line.kind == kind).count();
        let removed = count(rest, Kind::Removed);
        let (gone, after) = rest.split_at(removed);
        let added = count(after, Kind::Added);
        if removed + added == 0 {
            let number = line.number.map(|number| number.saturating_add_signed(-more));
            sides.pairs.push((Some(sides.old.len()), Some(sides.new.len())));
            sides.old.push(Line { number, ..line.clone() });
            sides.new.push(line.clone());
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let (come, after) = after.split_at(added);
        for at in 0..removed.max(added) {
            let old = gone.get(at).map(|line| {
                sides.old.push(line.clone());
                sides.old.len() - 1
            });
            let new = come.get(at).map(|line| {
                sides.new.push(line.clone());
                sides.new.len() - 1
            });
            sides.pairs.push((old, new));
        }
        more += isize::try_from(added).unwrap_or(0) - isize::try_from(removed).unwrap_or(0);
        rest = after;
    }
    sides
}

/// The rows of each line.
fn grouped(rows: Vec<Row>, lines: usize) -> Vec<Vec<Row>> {
    let mut groups = vec![Vec::new(); lines];
    for row in rows {
        if let Some(group) = groups.get_mut(row.start) {
            group.push(row);
        }
    }
    groups
}

fn beside(old: Option<Row>, new: Option<Row>, half: usize, theme: &Theme) -> Row {
    let has_right = new.as_ref().is_some_and(|new| !new.is_decoration);
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let columns = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    let to_right = columns(half + BETWEEN);
    let mut spans = padded(&old, half, theme);
    spans.push(Span::styled("│", theme.style(Role::BorderMuted)));
    spans.extend(padded(&new, half, theme));
    let (text, shift) = if has_right { (&new, to_right) } else { (&old, 0) };
    let moved = |range: &std::ops::Range<u16>| range.start + shift..range.end + shift;
    let links =
        text.links.iter().map(|link| LinkSpan { columns: moved(&link.columns), url: link.url.clone() });
    let written = text
        .written
        .iter()
        .map(|written| Written { columns: moved(&written.columns), text: Cow::clone(&written.text) });
    Row {
        joint: text.joint,
        gutter: text.gutter + shift,
        text_end: Some(columns(text.width()) + shift),
        is_decoration: text.is_decoration || text.spans.is_empty(),
        links: links.collect(),
        written: written.collect(),
        spans,
        ..Row::default()
    }
}

/// A side to its full width, on its ground.
fn padded(row: &Row, half: usize, theme: &Theme) -> Vec<Span<'static>> {
    let ground = match row.ground {
        Some((_, ground)) => ground,
        None if row.spans.is_empty() => theme.color(Role::ToolPendingBg),
        None => Color::Reset,
    };
    let on =
        |style: Style| if style.bg.is_none() && ground != Color::Reset { style.bg(ground) } else { style };
    let mut spans: Vec<Span<'static>> =
        row.spans.iter().map(|span| Span::styled(span.content.clone(), on(span.style))).collect();
    spans.push(Span::styled(" ".repeat(half.saturating_sub(row.width())), on(Style::new())));
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "--- a\n+++ a\n@@ -8,5 +8,6 @@\n stays\n-was one\n-was two\n+is one\n+is two\n+is three\n after\n more\n";

    fn drawn(width: usize) -> Vec<String> {
        let lines = diff::parse(PATCH);
        rows(&lines, "a.txt", &Theme::quiet_dark(), width).iter().map(Row::drawn).collect()
    }

    #[test]
    fn what_changed_stands_beside_what_it_was() {
        let rows = drawn(61);
        let table = [
            ("stays", "8   stays", "8   stays"),
            ("is one", "9 - was one", "9 + is one"),
            ("is two", "10 - was two", "10 + is two"),
            ("is three", "", "11 + is three"),
            // The left has the number of before.
            ("after", "11   after", "12   after"),
        ];
        for (text, left, right) in table {
            let row = rows.iter().find(|row| row.contains(text)).expect(text);
            let (old, new) = row.split_once('│').expect("two sides");
            assert_eq!((old.trim(), new.trim()), (left, right));
        }
    }

    #[test]
    fn no_row_is_wider_than_the_window() {
        for width in 1..200 {
            let lines = diff::parse(PATCH);
            for row in rows(&lines, "a.rs", &Theme::quiet_light(), width) {
                assert!(row.width() <= width, "{width}: {}", row.drawn());
                let _text = row.text();
            }
        }
    }

    #[test]
    fn a_selection_takes_what_is_and_what_is_only_gone() {
        let lines = diff::parse("@@ -1,3 +1,1 @@\n a\n-b\n-c\n");
        let rows = rows(&lines, "a.txt", &Theme::quiet_dark(), 61);
        assert_eq!(crate::text::row::copy(&rows), "a\nb\nc");
    }
}
