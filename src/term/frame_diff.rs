//! One row of the screen: what it takes to make the old one look like the new one.
//!
//! A wide character stands in the first of its cells; what the buffer holds in the hidden one means nothing. So a column
//! is unchanged only if a character begins there in both rows, and it is the same one.

use super::links::{Link, RowLinks};
use super::painter::{Painter, span};
use super::pen::{is_erased, looks_same};
use ratatui::buffer::Cell;
use ratatui::layout::Position;

/// Blanks at the end of a row from this number on are erased, not written: erasing takes three bytes.
const ERASE_FROM: usize = 4;
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
    fn link(self, column: usize) -> Option<&'a Link> {
        self.links.at(column)
    }
}

/// Paints row `y`. `old` is what the terminal shows there; nothing means that it is blank.
pub fn paint_row(painter: &mut Painter, y: u16, old: Option<Row<'_>>, row: Row<'_>) {
    if old.is_some_and(|old| old.cells == row.cells && old.links.same_as(row.links)) {
        return;
    }
    let new = row.cells;
    let mut old = OldRow { row: old, next: 0 };
    // From here on the row ends in nothing but blanks.
    let blank_from = new
        .iter()
        .rposition(|cell| !is_erased(cell))
        .map_or(0, |last| last + usize::from(span(new.get(last).unwrap_or(&Cell::EMPTY), room(new, last))))
        .max(row.links.end());
    let mut column = 0;
    // The character before may have been drawn over this column.
    let mut is_covered = false;
    while let Some(cell) = new.get(column) {
        let width = usize::from(span(cell, room(new, column)));
        let covered = std::mem::take(&mut is_covered);
        if old.changed(column, cell, row.link(column)) || covered {
            if column >= blank_from && !covered {
                paint_blank_end(painter, y, column, old, row);
                return;
            }
            approach(painter, y, column, row);
            painter.put(cell, row.link(column), columns(width), room(new, column));
            is_covered = painter.may_cover_more(cell);
        }
        column += width;
    }
}

/// Moves to a column, over cells that are right already.
fn approach(painter: &mut Painter, y: u16, column: usize, row: Row<'_>) {
    let new = row.cells;
    if let Some(at) = painter.position().filter(|at| at.y == y) {
        let from = usize::from(at.x);
        let between = new.get(from..column).unwrap_or_default();
        let narrow = (from..)
            .zip(between)
            .all(|(column, cell)| cell.symbol().len() == 1 && painter.fits(cell, row.link(column)));
        if between.len() <= REWRITE_UP_TO && narrow {
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
        painter.erase_to_end_of_row();
        return;
    }
    for column in changed {
        approach(painter, y, column, row);
        painter.put(&Cell::EMPTY, None, 1, room(new, column));
    }
}

/// The old row, walked from left to right along the characters it shows.
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
