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

/// Both sides beside each other.
pub struct Beside {
    /// As they are drawn. Their text is that of the right side.
    pub rows: Vec<Row>,
    /// The left side of each row, which has its text: what is selected is of one side, never of both.
    pub old: Vec<Row>,
    /// Columns of the left side.
    pub half: usize,
}

/// The lines as rows; nothing where two sides have no room.
pub fn rows(lines: &[Line], path: &str, theme: &Theme, columns: usize) -> Option<Beside> {
    let half = columns.saturating_sub(BETWEEN) / 2;
    if half < 2 {
        return None;
    }
    let sides = sides(lines);
    let mut old = grouped(diff::rows(&sides.old, path, theme, half), sides.old.len());
    let mut new = grouped(diff::rows(&sides.new, path, theme, half), sides.new.len());
    let take = |side: &mut Vec<Vec<Row>>, at: Option<usize>| {
        at.and_then(|at| side.get_mut(at)).map(std::mem::take).unwrap_or_default()
    };
    let mut result = Beside { rows: Vec::new(), old: Vec::new(), half };
    for (index, (left, right)) in sides.pairs.iter().enumerate() {
        let (left, right) = (take(&mut old, *left), take(&mut new, *right));
        let (mut left, mut right) = (left.into_iter(), right.into_iter());
        loop {
            let (old, new) = (left.next(), right.next());
            if old.is_none() && new.is_none() {
                break;
            }
            let nothing = || Row { is_decoration: true, ..Row::default() };
            let (old, new) = (old.unwrap_or_else(nothing), new.unwrap_or_else(nothing));
            result.rows.push(Row { start: index, ..beside(&old, &new, half, theme) });
            result.old.push(old);
        }
    }
    Some(result)
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

fn beside(old: &Row, new: &Row, half: usize, theme: &Theme) -> Row {
    let columns = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    let shift = columns(half + BETWEEN);
    let mut spans = padded(old, half, theme);
    spans.push(Span::styled("│", theme.style(Role::BorderMuted)));
    spans.extend(padded(new, half, theme));
    let moved = |range: &std::ops::Range<u16>| range.start + shift..range.end + shift;
    let links =
        new.links.iter().map(|link| LinkSpan { columns: moved(&link.columns), url: link.url.clone() });
    let written = new
        .written
        .iter()
        .map(|written| Written { columns: moved(&written.columns), text: Cow::clone(&written.text) });
    Row {
        joint: new.joint,
        gutter: new.gutter + shift,
        text_end: Some(columns(new.width()) + shift),
        is_decoration: new.is_decoration,
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
        let sides = rows(&lines, "a.txt", &Theme::quiet_dark(), width).expect("room");
        sides.rows.iter().map(Row::drawn).collect()
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
            let Some(sides) = rows(&lines, "a.rs", &Theme::quiet_light(), width) else {
                assert!(width < 5);
                continue;
            };
            assert_eq!(sides.rows.len(), sides.old.len());
            for row in &sides.rows {
                assert!(row.width() <= width, "{width}: {}", row.drawn());
                let _text = row.text();
            }
        }
    }

    #[test]
    fn each_side_has_its_text() {
        let lines = diff::parse("@@ -1,3 +1,2 @@\n a\n-b\n-c\n+d\n");
        let sides = rows(&lines, "a.txt", &Theme::quiet_dark(), 61).expect("room");
        assert_eq!(crate::text::row::copy(&sides.rows), "a\nd");
        assert_eq!(crate::text::row::copy(&sides.old), "a\nb\nc");
    }
}
