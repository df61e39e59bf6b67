//! One row of the screen: what it takes to make the old one look like the new one.
//!
//! A wide character stands in the first of its cells; what the buffer holds in the hidden one means nothing. So a column
//! is unchanged only if a character begins there in both rows, and it is the same one.

use super::links::{Link, RowLinks};
use super::painter::{Painter, span};
use super::pen::{blank_ground, is_erased, looks_same};
use ratatui::buffer::Cell;
use ratatui::layout::Position;
use ratatui::style::Color;

/// Blanks at the end of a row from this number on are erased, not written: erasing takes three bytes.
const ERASE_FROM: usize = 4;
/// Blanks within a row from this number on are erased and skipped, not written: both together take up to twelve bytes.
const ERASE_WITHIN_FROM: usize = 13;
/// Unchanged cells up to this number are written again rather than skipped: a skip takes three bytes or more.
const REWRITE_UP_TO: usize = 3;

/// A row of a frame.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// What stands in it.
    pub cells: &'a [Cell],
    /// The addresses behind it.
    pub links: RowLinks<'a>,
}

impl<'a> Row<'a> {
    /// Whether both look and lead alike.
    pub fn same_as(self, other: Row<'_>) -> bool {
        self.cells == other.cells && self.links.same_as(other.links)
    }

    fn link(self, column: usize) -> Option<&'a Link> {
        self.links.at(column)
    }
}

/// Paints row `y`. `old` is what the terminal shows there; nothing means that it is blank.
pub fn paint_row(painter: &mut Painter, y: u16, old: Option<Row<'_>>, row: Row<'_>) {
    if old.is_some_and(|old| old.same_as(row)) {
        return;
    }
    let new = row.cells;
    let mut old = OldRow { row: old, next: 0 };
    let end = blank_end(painter, row);
    let mut column = 0;
    // The character before may have been drawn over this column.
    let mut is_covered = false;
    while let Some(cell) = new.get(column) {
        let width = usize::from(span(cell, room(new, column)));
        let covered = std::mem::take(&mut is_covered);
        if old.changed(column, cell, row.link(column)) || covered {
            if column >= end && !covered {
                paint_blank_end(painter, y, column, old, row);
                return;
            }
            let blanks = blanks_to_erase(painter, column, old, row);
            if blanks > 0 {
                painter.move_to(Position { x: columns(column), y });
                painter.erase(columns(blanks), cell.bg);
                column += blanks;
                continue;
            }
            approach(painter, y, column, row);
            painter.put(cell, row.link(column), columns(width), room(new, column));
            is_covered = painter.may_cover_more(cell);
        }
        column += width;
    }
}

/// The column from which on the row ends in nothing but blanks that erasing can make.
fn blank_end(painter: &Painter, row: Row<'_>) -> usize {
    let new = row.cells;
    let ground = new.last().and_then(blank_ground).filter(|ground| painter.erases(*ground));
    let Some(ground) = ground else { return new.len() };
    new.iter()
        .rposition(|cell| blank_ground(cell) != Some(ground))
        .map_or(0, |last| last + usize::from(span(new.get(last).unwrap_or(&Cell::EMPTY), room(new, last))))
        .max(row.links.end())
}

/// How many blanks from this column on are better erased than written; none when they are few.
fn blanks_to_erase(painter: &Painter, column: usize, mut old: OldRow<'_>, row: Row<'_>) -> usize {
    let new = row.cells;
    let Some(ground) = new.get(column).and_then(blank_ground).filter(|ground| painter.erases(*ground)) else {
        return 0;
    };
    let is_blank =
        |(at, cell): &(usize, &Cell)| blank_ground(cell) == Some(ground) && row.link(*at).is_none();
    let same = new.iter().enumerate().skip(column).take_while(is_blank).count();
    if same < ERASE_WITHIN_FROM {
        return 0;
    }
    // Up to the last one that is not right already.
    let changed =
        (column..column + same).filter(|at| new.get(*at).is_some_and(|cell| old.changed(*at, cell, None)));
    let blanks = changed.last().map_or(0, |last| last + 1 - column);
    if blanks < ERASE_WITHIN_FROM { 0 } else { blanks }
}

/// Moves to a column, over cells that are right already or written again on the way.
fn approach(painter: &mut Painter, y: u16, column: usize, row: Row<'_>) {
    let new = row.cells;
    let from = match painter.position().filter(|at| at.y == y) {
        Some(at) => Some(usize::from(at.x)),
        // The next row is two bytes away, and a margin of blanks a byte each.
        None if y > 0 && painter.row() == Some(y - 1) => Some(0),
        None => None,
    };
    if let Some(from) = from {
        let between = new.get(from..column).unwrap_or_default();
        let narrow = (from..)
            .zip(between)
            .all(|(column, cell)| cell.symbol().len() == 1 && painter.fits(cell, row.link(column)));
        if between.len() <= REWRITE_UP_TO && narrow {
            painter.move_to(Position { x: columns(from), y });
            for (offset, cell) in between.iter().enumerate() {
                painter.put(cell, row.link(from + offset), 1, room(new, from + offset));
            }
        }
    }
    painter.move_to(Position { x: columns(column), y });
}

fn paint_blank_end(painter: &mut Painter, y: u16, column: usize, mut old: OldRow<'_>, row: Row<'_>) {
    let new = row.cells;
    let changed: Vec<usize> = (column..new.len())
        .filter(|&column| new.get(column).is_some_and(|cell| old.changed(column, cell, None)))
        .collect();
    if changed.last().is_some_and(|last| last + 1 - column >= ERASE_FROM) {
        approach(painter, y, column, row);
        painter.erase_to_end_of_row(new.last().map_or(Color::Reset, |cell| cell.bg));
        return;
    }
    for column in changed {
        approach(painter, y, column, row);
        painter.put(new.get(column).unwrap_or(&Cell::EMPTY), None, 1, room(new, column));
    }
}

/// The old row, walked from left to right along the characters it shows.
#[derive(Clone, Copy)]
struct OldRow<'a> {
    row: Option<Row<'a>>,
    /// Where the next character begins.
    next: usize,
}

impl OldRow<'_> {
    /// Whether something else is shown at this column than `cell` behind this link. Columns are asked for in rising order.
    fn changed(&mut self, column: usize, cell: &Cell, link: Option<&Link>) -> bool {
        let Some(row) = self.row else { return !is_erased(cell) || link.is_some() };
        let cells = row.cells;
        while self.next < column {
            let Some(shown) = cells.get(self.next) else { break };
            self.next += usize::from(span(shown, room(cells, self.next)));
        }
        self.next != column
            || row.link(column) != link
            || !cells.get(column).is_some_and(|shown| looks_same(shown, cell))
    }
}

/// Columns from this one to the end of the row.
fn room(row: &[Cell], column: usize) -> u16 {
    columns(row.len().saturating_sub(column))
}

/// A row is never longer than a terminal is wide.
fn columns(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
