//! Tables, fitted to the width. Columns shrink to share what there is; where too little is left for columns at all, each
//! row becomes a list of its cells with the names of their columns.
//!
//! A copy of a grid is Markdown again (see [`crate::text::row`]): what it was drawn at, and where its cells were wrapped,
//! is nobody's business who pastes it.

use super::blocks::{Events, Painter};
use super::inline;
use crate::text::row::{LinkSpan, Row, Written};
use crate::text::wrap::{self, Break, Run};
use crate::theme::role::Role;
use pulldown_cmark::{Alignment, Event, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Between two columns.
const SEPARATOR: &str = " │ ";
/// Under it, in the rule below the names.
const CROSSING: &str = "─┼─";
const SEPARATOR_COLUMNS: usize = 3;

/// Between two cells in a copy.
const COPIED_SEPARATOR: &str = " | ";

/// A column narrower than this, of cells that are wider, can't be read.
const LEAST_COLUMN: usize = 8;

/// One line of runs.
type Cell = Vec<Run>;

/// Reads the table whose start was just read, and draws it.
pub fn draw(events: &mut Events<'_>, painter: &mut Painter<'_>, alignments: &[Alignment], source: usize) {
    let mut table = read(events, painter);
    let count = alignments.len().max(1);
    for row in &mut table {
        row.resize(count, Cell::new());
    }
    let separators = SEPARATOR_COLUMNS * (count - 1);
    let natural: Vec<usize> = (0..count)
        .map(|column| table.iter().filter_map(|row| row.get(column)).map(columns_of).max().unwrap_or(0))
        .map(|columns| columns.max(1))
        .collect();
    match painter.room().checked_sub(separators).and_then(|room| share(&natural, room)) {
        Some(widths) => grid(painter, &table, &widths, alignments, source),
        None => records(painter, &table, source),
    }
}

/// Names first, then rows.
fn read(events: &mut Events<'_>, painter: &Painter<'_>) -> Vec<Vec<Cell>> {
    let mut table: Vec<Vec<Cell>> = Vec::new();
    let mut style = painter.style(Role::Text);
    while let Some((event, _)) = events.peek().cloned() {
        events.advance();
        match event {
            Event::Start(Tag::TableHead) => {
                style = painter.style(Role::MdHeading).add_modifier(Modifier::BOLD);
                table.push(Vec::new());
            }
            Event::Start(Tag::TableRow) => {
                style = painter.style(Role::Text);
                table.push(Vec::new());
            }
            Event::Start(Tag::TableCell) => {
                let lines = inline::read(events, painter, style);
                if let Some(row) = table.last_mut() {
                    row.push(one_line(lines));
                }
            }
            Event::End(TagEnd::Table) => break,
            _ => {}
        }
    }
    table
}

fn one_line(lines: inline::Lines) -> Cell {
    let mut cell = Cell::new();
    for line in lines.into_iter().filter(|line| !line.is_empty()) {
        if let Some(last) = cell.last() {
            cell.push(Run::new(" ", Style::new(), last.source));
        }
        cell.extend(line);
    }
    cell
}

fn columns_of(cell: &Cell) -> usize {
    cell.iter().map(|run| crate::text::width::of(&run.text)).sum()
}

/// Widths that fit into `room`: the widest columns give first. `None` when a column would become unreadable.
fn share(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    if natural.iter().sum::<usize>() <= room {
        return Some(natural.to_vec());
    }
    // Narrow columns keep what they need; the others share the rest evenly.
    let mut sorted = natural.to_vec();
    sorted.sort_unstable();
    let (mut left, mut count) = (room, sorted.len());
    for columns in &sorted {
        if columns * count > left {
            break;
        }
        left -= columns;
        count -= 1;
    }
    let most = left / count.max(1);
    if most < LEAST_COLUMN {
        return None;
    }
    let mut spare = left - most * count;
    Some(
        natural
            .iter()
            .map(|columns| {
                let extra = usize::from(*columns > most && spare > 0);
                spare -= extra;
                (*columns).min(most + extra)
            })
            .collect(),
    )
}

fn grid(
    painter: &mut Painter<'_>,
    table: &[Vec<Cell>],
    widths: &[usize],
    alignments: &[Alignment],
    source: usize,
) {
    let border = painter.theme.style(Role::MdCodeBlockBorder);
    let rule = Row {
        spans: vec![Span::styled(
            widths.iter().map(|columns| "─".repeat(*columns)).collect::<Vec<_>>().join(CROSSING),
            border,
        )],
        start: source,
        is_decoration: true,
        ..Row::default()
    };
    let wrapped: Vec<Vec<Vec<Row>>> = table
        .iter()
        .map(|row| {
            row.iter().zip(widths).map(|(cell, columns)| wrap::line(cell, *columns, Break::Words)).collect()
        })
        .collect();
    // Where cells wrap, a rule tells where a row ends.
    let is_ruled = wrapped.iter().skip(1).flatten().any(|cell| cell.len() > 1);
    for (index, row) in wrapped.iter().enumerate() {
        if index > 1 && is_ruled {
            painter.emit(rule.clone());
        }
        let record = table.get(index).map(|cells| record(cells));
        let height = row.iter().map(Vec::len).max().unwrap_or(1);
        for line in 0..height {
            let made = grid_row(row, line, widths, alignments, border, source);
            painter.emit(Row { record: record.clone(), ..made });
        }
        if index == 0 {
            painter.emit(below_names(&rule, alignments));
        }
    }
}

/// A line of the table as a copy has it.
fn record(cells: &[Cell]) -> Arc<str> {
    let cell = |cell: &Cell| cell.iter().map(|run| run.text.replace('|', "\\|")).collect::<String>();
    framed(cells.iter().map(cell)).into()
}

/// With a bar at both ends: an empty first cell would be none without.
fn framed(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(COPIED_SEPARATOR))
}

/// The rule below the names. What says in Markdown that this is a table is part of a copy.
fn below_names(rule: &Row, alignments: &[Alignment]) -> Row {
    let mark = |alignment: &Alignment| match alignment {
        Alignment::None => "---",
        Alignment::Left => ":--",
        Alignment::Center => ":-:",
        Alignment::Right => "--:",
    };
    let text = framed(alignments.iter().map(mark).map(str::to_owned));
    let columns = 0..u16::try_from(rule.width()).unwrap_or(u16::MAX);
    Row {
        is_decoration: false,
        written: vec![Written { columns, text: Cow::Owned(text.clone()) }],
        record: Some(text.into()),
        ..rule.clone()
    }
}

fn grid_row(
    row: &[Vec<Row>],
    line: usize,
    widths: &[usize],
    alignments: &[Alignment],
    border: Style,
    source: usize,
) -> Row {
    let mut made = Row { start: source, ..Row::default() };
    let mut column = 0;
    let blanks = |made: &mut Row, at: usize, count: usize| {
        if count > 0 {
            made.spans.push(Span::raw(" ".repeat(count)));
            made.written.push(Written { columns: columns_at(at, count), text: Cow::Borrowed("") });
        }
    };
    for (index, (cell, columns)) in row.iter().zip(widths).enumerate() {
        if index > 0 {
            made.spans.push(Span::styled(SEPARATOR, border));
            let columns = columns_at(column, SEPARATOR_COLUMNS);
            made.written.push(Written { columns, text: Cow::Borrowed(COPIED_SEPARATOR) });
            column += SEPARATOR_COLUMNS;
        }
        let part = cell.get(line);
        let free = columns.saturating_sub(part.map_or(0, Row::width));
        let before = match alignments.get(index) {
            Some(Alignment::Right) => free,
            Some(Alignment::Center) => free / 2,
            Some(Alignment::Left | Alignment::None) | None => 0,
        };
        blanks(&mut made, column, before);
        if let Some(part) = part {
            if index == 0 && part.start > 0 {
                made.start = part.start;
            }
            made.spans.extend(part.spans.iter().cloned());
            let moved = u16::try_from(column + before).unwrap_or(u16::MAX);
            let place =
                |range: &Range<u16>| range.start.saturating_add(moved)..range.end.saturating_add(moved);
            let links = part.links.iter();
            made.links.extend(links.map(|link| LinkSpan { columns: place(&link.columns), ..link.clone() }));
            let written = part.written.iter();
            made.written
                .extend(written.map(|part| Written { columns: place(&part.columns), ..part.clone() }));
        }
        if index + 1 < widths.len() {
            blanks(&mut made, column + columns - (free - before), free - before);
        }
        column += columns;
    }
    made
}

fn columns_at(column: usize, count: usize) -> Range<u16> {
    let at = |column: usize| u16::try_from(column).unwrap_or(u16::MAX);
    at(column)..at(column + count)
}

fn records(painter: &mut Painter<'_>, table: &[Vec<Cell>], source: usize) {
    let Some((names, rows)) = table.split_first() else { return };
    if rows.is_empty() {
        return painter.lines(&names.clone(), source);
    }
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            painter.emit(Row::blank(source));
        }
        for (name, cell) in names.iter().zip(row) {
            let mut line = name.clone();
            if let Some(last) = name.last() {
                line.push(Run::new(": ", last.style, last.source));
            }
            line.extend(cell.iter().cloned());
            painter.lines(&vec![line], source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_give_first() {
        type Case = (&'static [usize], usize, Option<&'static [usize]>);
        let table: [Case; 5] = [
            (&[3, 4], 7, Some(&[3, 4])),
            (&[3, 40], 20, Some(&[3, 17])),
            (&[30, 40], 21, Some(&[11, 10])),
            (&[30, 40, 2], 25, Some(&[12, 11, 2])),
            (&[30, 40], 15, None),
        ];
        for (natural, room, expected) in table {
            assert_eq!(share(natural, room).as_deref(), expected, "{natural:?} in {room}");
        }
    }
}
