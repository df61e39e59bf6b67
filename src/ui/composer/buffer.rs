//! The text of the prompt as logical lines, each with its wrap.
//!
//! Responsibilities: one way to change the text ([`Buffer::replace`]), and the map between places in the text and rows
//! on screen. Not: carets, undo, what an edit means.
//! Invariants: there is at least one line; no line holds a newline; every line is wrapped for the current width, so that
//! an edit costs its own lines and nothing else; positions given are boundaries of units.

use super::chips::Chips;
use super::wrap::{Change, breaks, units, update_breaks};

/// A place in the text: before the unit that begins there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pos {
    /// Logical line, from 0.
    pub line: usize,
    /// Bytes into it.
    pub at: usize,
}

impl Pos {
    /// The place behind a text that was put here.
    pub fn after(self, text: &str) -> Self {
        match text.rfind('\n') {
            None => Self { line: self.line, at: self.at + text.len() },
            Some(last) => Self { line: self.line + text.matches('\n').count(), at: text.len() - last - 1 },
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Line {
    text: String,
    /// Where rows after the first begin.
    breaks: Vec<usize>,
}

impl Line {
    /// Begin and end of one of its rows.
    fn row(&self, row: usize) -> (usize, usize) {
        let start = row.checked_sub(1).and_then(|before| self.breaks.get(before)).copied().unwrap_or(0);
        (start, self.breaks.get(row).copied().unwrap_or(self.text.len()))
    }

    fn row_of(&self, at: usize) -> usize {
        self.breaks.partition_point(|start| *start <= at)
    }
}

/// One row as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSpan {
    /// Its logical line.
    pub line: usize,
    /// Where it begins in the line, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The text.
#[derive(Clone, Debug)]
pub struct Buffer {
    lines: Vec<Line>,
    /// How many rows each line has, apart from the lines so that sums over many are quick.
    row_counts: Vec<u32>,
    /// Cells in a row.
    width: usize,
    /// Counts the changes of the text.
    revision: u64,
    /// What stands behind the chips in the text.
    pub chips: Chips,
}

impl Default for Buffer {
    fn default() -> Self {
        Self {
            lines: vec![Line::default()],
            row_counts: vec![1],
            width: 80,
            revision: 0,
            chips: Chips::default(),
        }
    }
}

impl Buffer {
    /// The whole text, with chips as their characters.
    pub fn text(&self) -> String {
        self.slice(Pos::default(), self.end())
    }

    /// Another number for another text.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// Nothing is written.
    pub fn is_empty(&self) -> bool {
        self.lines.len() == 1 && self.line(0).is_empty()
    }

    /// One logical line.
    pub fn line(&self, line: usize) -> &str {
        self.lines.get(line).map_or("", |line| line.text.as_str())
    }

    /// How many logical lines there are.
    pub const fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The place behind everything.
    pub fn end(&self) -> Pos {
        let line = self.lines.len() - 1;
        Pos { line, at: self.line(line).len() }
    }

    /// The text between two places.
    pub fn slice(&self, start: Pos, end: Pos) -> String {
        if start.line == end.line {
            return self.line(start.line).get(start.at..end.at).unwrap_or_default().to_owned();
        }
        let mut out = self.line(start.line).get(start.at..).unwrap_or_default().to_owned();
        for line in start.line + 1..end.line {
            out.push('\n');
            out.push_str(self.line(line));
        }
        out.push('\n');
        out.push_str(self.line(end.line).get(..end.at).unwrap_or_default());
        out
    }

    /// Puts a text before everything.
    pub fn insert_first(&mut self, text: &str) {
        let (start, end) = (Pos::default(), Pos::default());
        self.replace(start, end, text);
    }

    /// Puts a text in place of what stands between two places. What stood there comes back.
    pub fn replace(&mut self, start: Pos, end: Pos, text: &str) -> String {
        let removed = self.slice(start, end);
        self.revision += 1;
        let is_short = start.line == end.line && !text.contains('\n');
        if is_short && let Some(line) = self.lines.get_mut(start.line) {
            line.text.replace_range(start.at..end.at, text);
            let change = Change { start: start.at, old_end: end.at, new_end: start.at + text.len() };
            update_breaks(&mut line.breaks, &line.text, change, self.width, &self.chips);
            if let Some(rows) = self.row_counts.get_mut(start.line) {
                *rows = count(line);
            }
            return removed;
        }
        let head = self.line(start.line).get(..start.at).unwrap_or_default();
        let tail = self.line(end.line).get(end.at..).unwrap_or_default();
        let joined = format!("{head}{text}{tail}");
        let lines: Vec<Line> = joined.split('\n').map(|text| self.wrapped(text.to_owned())).collect();
        let counts: Vec<u32> = lines.iter().map(count).collect();
        self.lines.splice(start.line..=end.line, lines);
        self.row_counts.splice(start.line..=end.line, counts);
        removed
    }

    /// Wraps everything for another width.
    pub fn set_width(&mut self, width: usize) {
        if width == self.width {
            return;
        }
        self.width = width;
        for line in 0..self.lines.len() {
            self.wrap_line(line);
        }
    }

    /// Cells in a row.
    pub const fn width(&self) -> usize {
        self.width
    }

    fn wrapped(&self, text: String) -> Line {
        Line { breaks: breaks(&text, self.width, &self.chips), text }
    }

    fn wrap_line(&mut self, index: usize) {
        if let (Some(line), Some(rows)) = (self.lines.get_mut(index), self.row_counts.get_mut(index)) {
            line.breaks = breaks(&line.text, self.width, &self.chips);
            *rows = count(line);
        }
    }

    /// How many rows everything takes.
    pub fn rows(&self) -> usize {
        self.row_counts.iter().map(|rows| *rows as usize).sum()
    }

    /// Row and column of a place, in cells from the start of the text.
    pub fn cell_of(&self, pos: Pos) -> (usize, usize) {
        let Some(line) = self.lines.get(pos.line) else { return (0, 0) };
        let above: usize = self.row_counts.iter().take(pos.line).map(|rows| *rows as usize).sum();
        let row = line.row_of(pos.at);
        let (start, _) = line.row(row);
        let column = units(&line.text, start)
            .take_while(|unit| unit.at < pos.at)
            .map(|unit| unit.cells(self.width, &self.chips))
            .sum();
        (above + row, column)
    }

    /// The place nearest to a cell; a wide unit belongs to its left half. Below everything: the end.
    pub fn pos_at(&self, row: usize, column: usize) -> Pos {
        let Some(span) = self.row_spans(row).next() else { return self.end() };
        let text = self.line(span.line);
        let mut used = 0;
        let mut at = span.start;
        for unit in units(text, span.start).take_while(|unit| unit.end() <= span.end) {
            let own = unit.cells(self.width, &self.chips);
            // The place behind the last unit of a wrapped row is the start of the next row.
            let is_last = unit.end() == span.end && span.end < text.len();
            if used + own.div_ceil(2) > column || is_last {
                break;
            }
            used += own;
            at = unit.end();
        }
        Pos { line: span.line, at }
    }

    /// The unit that covers a cell.
    pub fn unit_at(&self, row: usize, column: usize) -> Option<Pos> {
        let span = self.row_spans(row).next()?;
        let mut used = 0;
        let in_row = units(self.line(span.line), span.start).take_while(|unit| unit.at < span.end);
        for unit in in_row {
            used += unit.cells(self.width, &self.chips);
            if column < used {
                return Some(Pos { line: span.line, at: unit.at });
            }
        }
        None
    }

    /// The rows from one on.
    pub fn row_spans(&self, first: usize) -> impl Iterator<Item = RowSpan> {
        let mut skip = first;
        let mut line = 0;
        // Whole lines are passed by their counts alone.
        while let Some(rows) =
            self.row_counts.get(line).map(|rows| *rows as usize).filter(|rows| *rows <= skip)
        {
            skip -= rows;
            line += 1;
        }
        self.lines
            .iter()
            .enumerate()
            .skip(line)
            .flat_map(|(index, line)| {
                (0..=line.breaks.len()).map(move |row| {
                    let (start, end) = line.row(row);
                    RowSpan { line: index, start, end }
                })
            })
            .skip(skip)
    }
}

fn count(line: &Line) -> u32 {
    u32::try_from(line.breaks.len() + 1).unwrap_or(u32::MAX)
}
