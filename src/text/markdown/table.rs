//! Tables, fitted to the width. Columns shrink to share what there is; where too little is left for columns at all, each
//! row becomes a list of its cells with the names of their columns.

use super::blocks::{Events, Painter};
use super::inline;
use crate::text::row::Row;
use crate::text::wrap::{self, Break, Run};
use crate::theme::role::Role;
use pulldown_cmark::{Alignment, Event, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

/// Between two columns.
const SEPARATOR: &str = " │ ";
/// Under it, in the rule below the names.
const CROSSING: &str = "─┼─";
const SEPARATOR_COLUMNS: usize = 3;

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
        if index == 1 || (index > 1 && is_ruled) {
            painter.emit(rule.clone());
        }
        let height = row.iter().map(Vec::len).max().unwrap_or(1);
        for line in 0..height {
            painter.emit(grid_row(row, line, widths, alignments, border, source));
        }
    }
    if wrapped.len() == 1 {
        painter.emit(rule);
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
    for (index, (cell, columns)) in row.iter().zip(widths).enumerate() {
        if index > 0 {
            made.spans.push(Span::styled(SEPARATOR, border));
            column += SEPARATOR_COLUMNS;
        }
        let part = cell.get(line);
        let free = columns.saturating_sub(part.map_or(0, Row::width));
        let before = match alignments.get(index) {
            Some(Alignment::Right) => free,
            Some(Alignment::Center) => free / 2,
            Some(Alignment::Left | Alignment::None) | None => 0,
        };
        if before > 0 {
            made.spans.push(Span::raw(" ".repeat(before)));
        }
        if let Some(part) = part {
            if index == 0 && part.start > 0 {
                made.start = part.start;
            }
            made.spans.extend(part.spans.iter().cloned());
            let moved = u16::try_from(column + before).unwrap_or(u16::MAX);
            made.links.extend(part.links.iter().cloned().map(|mut link| {
                link.columns =
                    link.columns.start.saturating_add(moved)..link.columns.end.saturating_add(moved);
                link
            }));
        }
        if index + 1 < widths.len() && free > before {
            made.spans.push(Span::raw(" ".repeat(free - before)));
        }
        column += columns;
    }
    made
}

fn records(painter: &mut Painter<'_>, table: &[Vec<Cell>], source: usize) {
    let Some((names, rows)) = table.split_first() else { return };
    if rows.is_empty() {
        return painter.lines(&names.clone(), source);
    }
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            painter.emit(Row { is_decoration: true, ..Row::blank(source) });
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
