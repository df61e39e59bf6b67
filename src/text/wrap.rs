//! Styled text to rows of a width: by word where that is possible, by grapheme where it is not.
//!
//! Invariants: no row is wider than the width; the text of the rows, joined, is the text that came in; text that is
//! appended changes only the last row and those after it.

use super::clean;
use super::row::{Joint, LinkSpan, Row, Written};
use super::width;
use ratatui::style::Style;
use ratatui::text::Span;
use std::borrow::Cow;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

/// Text of one style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The text, without line breaks.
    pub text: String,
    /// How it is drawn.
    pub style: Style,
    /// What a click on it opens.
    pub link: Option<Arc<str>>,
    /// Byte of the source where it begins.
    pub source: usize,
}

impl Run {
    /// Text that links to nothing.
    pub fn new(text: impl Into<String>, style: Style, source: usize) -> Self {
        Self { text: text.into(), style, link: None, source }
    }
}

/// Where lines may be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// Between words, and within those that are too long.
    Words,
    /// Anywhere: for code and output, where every column counts.
    Graphemes,
}

/// A grapheme in its run.
#[derive(Clone, Copy)]
struct Cell {
    run: u32,
    begin: u32,
    end: u32,
    /// Columns; of a tab those to the next stop if it stood at the begin of a row.
    width: u16,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Tab,
    /// Text that is written without blanks between words.
    Wide,
    /// Closes something: never the first of a row.
    Closing,
    Other,
}

/// One line as rows of at most `columns` (at least 1). An empty line is one empty row.
pub fn line(runs: &[Run], columns: usize, breaks: Break) -> Vec<Row> {
    line_rows(runs, columns, breaks, usize::MAX, usize::MAX).0
}

/// The first rows of a line. Costs what they are long, not what the line is: a minified file is one of megabytes.
pub fn first_rows(runs: &[Run], columns: usize, breaks: Break, most: usize) -> Vec<Row> {
    let columns = columns.max(1);
    // Rows take at most so many columns, but blanks are dropped between them and take none.
    let mut limit = most.saturating_add(2).saturating_mul(columns);
    loop {
        let (mut rows, is_whole) = line_rows(runs, columns, breaks, limit, most.saturating_add(1));
        // The last row of a part may not be what it is in the whole.
        if is_whole || rows.len() > most {
            rows.truncate(most);
            return rows;
        }
        limit = limit.saturating_mul(4);
    }
}

/// Rows of the first `limit` columns of a line, at most `most`; and whether that was all of it.
fn line_rows(runs: &[Run], columns: usize, breaks: Break, limit: usize, most: usize) -> (Vec<Row>, bool) {
    let columns = columns.max(1);
    let (cells, is_whole) = cells(runs, limit);
    let source = runs.first().map_or(0, |run| run.source);
    if cells.is_empty() {
        return (vec![Row::blank(source)], is_whole);
    }
    let mut rows = Vec::new();
    let (mut begin, mut joint) = (0, Joint::Line);
    while begin < cells.len() && rows.len() < most {
        let fit = fit(&cells, begin, columns, breaks);
        rows.push(row(runs, cells.get(begin..fit.end).unwrap_or_default(), joint, columns));
        joint = Joint::Soft(fit.blanks);
        begin = fit.next;
    }
    (rows, is_whole && begin >= cells.len())
}

/// Plain text of any number of lines as rows.
pub fn text(text: &str, style: Style, columns: usize, breaks: Break) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut source = 0;
    for part in text.split('\n') {
        rows.extend(line(&[Run::new(part, style, source)], columns, breaks));
        source += part.len() + 1;
    }
    rows
}

/// Where a row ends, where the next begins, and the blanks that are dropped between.
struct Fit {
    end: usize,
    next: usize,
    blanks: u16,
}

fn fit(cells: &[Cell], begin: usize, columns: usize, breaks: Break) -> Fit {
    let mut column = 0;
    // The last place to break at, and whether anything but blanks stands before it.
    let (mut place, mut has_text) = (None, false);
    let mut end = begin;
    while let Some(cell) = cells.get(end) {
        let width = cell.columns_at(column);
        if column + width > columns {
            break;
        }
        column += width;
        has_text |= !cell.is_blank();
        end += 1;
        if breaks == Break::Words && has_text && cells.get(end).is_some_and(|next| may_break(*cell, *next)) {
            place = Some(end);
        }
    }
    if end >= cells.len() {
        return Fit { end, next: end, blanks: 0 };
    }
    if breaks == Break::Graphemes {
        // At least one, else it would never end: what is too wide for a row is drawn as a mark.
        let end = end.max(begin + 1);
        return Fit { end, next: end, blanks: 0 };
    }
    let is_blank = |index: usize| cells.get(index).is_some_and(|cell| cell.kind == Kind::Blank);
    if !(is_blank(end) && has_text) {
        end = place.unwrap_or_else(|| end.max(begin + 1));
    }
    let mut next = end;
    while is_blank(next) {
        next += 1;
    }
    if next >= cells.len() {
        // Only blanks are left over: they end the line and nobody sees them.
        return Fit { end, next, blanks: 0 };
    }
    while end > begin + 1 && is_blank(end - 1) {
        end -= 1;
    }
    Fit { end, next, blanks: u16::try_from(next - end).unwrap_or(u16::MAX) }
}

/// Whether a row may end between the two.
fn may_break(left: Cell, right: Cell) -> bool {
    match (left.kind, right.kind) {
        (_, Kind::Closing | Kind::Blank | Kind::Tab) => false,
        (Kind::Blank | Kind::Tab | Kind::Wide, _) | (_, Kind::Wide) => true,
        (Kind::Closing | Kind::Other, Kind::Other) => false,
    }
}

impl Cell {
    const fn is_blank(self) -> bool {
        matches!(self.kind, Kind::Blank | Kind::Tab)
    }

    const fn columns_at(self, column: usize) -> usize {
        match self.kind {
            Kind::Tab => width::TAB - column % width::TAB,
            Kind::Blank | Kind::Wide | Kind::Closing | Kind::Other => self.width as usize,
        }
    }

    fn text(self, runs: &[Run]) -> &str {
        let run = runs.get(self.run as usize);
        run.and_then(|run| run.text.get(self.begin as usize..self.end as usize)).unwrap_or_default()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a run is shorter than 4 GiB; no grapheme takes that many columns"
)]
fn cells(runs: &[Run], limit: usize) -> (Vec<Cell>, bool) {
    #[cfg(test)]
    work::LINES.with(|lines| lines.set(lines.get() + 1));
    let mut cells = Vec::with_capacity(runs.iter().map(|run| run.text.len()).sum::<usize>().min(limit));
    let mut columns = 0;
    for (index, run) in runs.iter().enumerate() {
        let run_index = index as u32;
        // Beyond the limit nothing is even looked at.
        let near = run.text.get(..run.text.floor_char_boundary(limit.saturating_sub(columns)));
        if let Some(text) = near.filter(|text| width::is_plain(text)) {
            cells.extend(text.bytes().enumerate().map(|(at, byte)| Cell {
                run: run_index,
                begin: at as u32,
                end: at as u32 + 1,
                width: 1,
                kind: if byte == b' ' { Kind::Blank } else { Kind::Other },
            }));
            columns += text.len();
            if text.len() < run.text.len() {
                // What follows may belong to the last grapheme.
                cells.pop();
                return (cells, false);
            }
            continue;
        }
        for (at, grapheme) in run.text.grapheme_indices(true) {
            if columns >= limit {
                return (cells, false);
            }
            let width = width::of_grapheme(grapheme);
            let kind = match grapheme {
                "\t" => Kind::Tab,
                " " => Kind::Blank,
                "、" | "。" | "，" | "．" | "）" | "」" | "』" | "】" | "！" | "？" | "：" | "；" | "》"
                | "ー" => Kind::Closing,
                _ if width >= 2 => Kind::Wide,
                _ => Kind::Other,
            };
            // Controls are dropped here, so that nothing behind has to think of them.
            if kind != Kind::Tab && width == 0 && width::drawn(grapheme).is_empty() {
                continue;
            }
            let (begin, end) = (at as u32, (at + grapheme.len()) as u32);
            cells.push(Cell { run: run_index, begin, end, width: width as u16, kind });
            columns += if kind == Kind::Tab { width::TAB } else { width };
        }
    }
    (cells, true)
}

/// What was done on this thread: tests count work, not time.
#[cfg(test)]
pub(in crate::text) mod work {
    use std::cell::Cell;

    thread_local! {
        pub static LINES: Cell<usize> = const { Cell::new(0) };
    }
}

/// Cells of one row to spans: neighbours of one run share one.
fn row(runs: &[Run], cells: &[Cell], joint: Joint, columns: usize) -> Row {
    let start = cells
        .first()
        .map_or(0, |cell| runs.get(cell.run as usize).map_or(0, |run| run.source + cell.begin as usize));
    let mut made = Row { joint, start, ..Row::default() };
    let (mut column, mut rest) = (0, cells);
    while let Some(first) = rest.first() {
        let length = rest.iter().take_while(|cell| cell.run == first.run).count();
        let (own, others) = rest.split_at(length);
        rest = others;
        let Some(run) = runs.get(first.run as usize) else { continue };
        let begun = column;
        let mut text = String::with_capacity(own.len());
        for cell in own {
            let width = cell.columns_at(column);
            let from = column;
            let note = |made: &mut Row, to: usize, text: Cow<'static, str>| {
                made.written.push(Written { columns: at(from)..at(to), text });
            };
            if column + width > columns {
                // Two columns wide in a row of one, or a tab in a row that is narrower.
                text.push('…');
                column += 1;
                note(&mut made, column, as_written(cell.text(runs)));
                continue;
            }
            column += width;
            if cell.kind == Kind::Tab {
                text.extend(std::iter::repeat_n(' ', width));
                note(&mut made, column, Cow::Borrowed("\t"));
                continue;
            }
            match width::drawn(cell.text(runs)) {
                Cow::Borrowed(drawn) => text.push_str(drawn),
                Cow::Owned(drawn) => {
                    text.push_str(&drawn);
                    let written = as_written(cell.text(runs));
                    if width > 0 && written != drawn {
                        note(&mut made, column, written);
                    }
                }
            }
        }
        if let Some(url) = &run.link {
            made.links.push(LinkSpan { columns: at(begun)..at(column), url: Arc::clone(url) });
        }
        made.spans.push(Span::styled(text, run.style));
    }
    made
}

fn at(column: usize) -> u16 {
    u16::try_from(column).unwrap_or(u16::MAX)
}

/// A grapheme as a copy has it: whole, less what is never to leave here.
fn as_written(grapheme: &str) -> Cow<'static, str> {
    Cow::Owned(grapheme.chars().filter(|c| !clean::is_unsafe(*c)).collect())
}

#[cfg(test)]
#[path = "wrap_tests.rs"]
mod tests;
