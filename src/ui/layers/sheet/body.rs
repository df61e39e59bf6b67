//! What the sheet shows below its rule: rows, and the text they stand for.

use super::lines::{Lines, What};
use super::side_by_side;
use crate::text::diff::{self, Line};
use crate::text::markdown::stream::MarkdownStream;
use crate::text::row::Row;
use crate::text::row_text::RowTexts;
use crate::theme::Theme;
use crate::transcript::search::Pattern;
use crate::ui::entries::whole::Shown;
use std::ops::Range;

/// From so many columns on both sides of a change stand beside each other.
pub const WIDE: u16 = 120;

/// A place in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// The line. What is laid out as a whole has a single one, side by side one for each side ([`OLD`]).
    pub line: usize,
    /// A byte of it.
    pub byte: usize,
}

/// The line that stands for the left side of a change.
pub const OLD: usize = 1;

/// What went from the begin of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Went {
    /// Its lines.
    pub lines: usize,
    /// Their rows, as far as they were laid out.
    pub rows: usize,
}

/// A row in view.
#[derive(Clone, Debug)]
pub struct Seen {
    /// As it is drawn.
    pub row: Row,
    /// The line it is of.
    pub line: usize,
    /// What of its text the row shows.
    pub text: Range<usize>,
    /// Of a change side by side, the left side; `row` has the text of the right one.
    pub old: Option<Box<Seen>>,
}

impl Seen {
    /// The place that a column shows: beyond the text its end.
    pub fn point_at(&self, column: usize) -> Point {
        let before = self.row.pieces().take_while(|(columns, _)| columns.end <= column);
        let offset: usize = before.map(|(_, piece)| piece.len()).sum();
        Point { line: self.line, byte: (self.text.start + offset).min(self.text.end) }
    }

    /// The columns that show what lies between two places.
    pub fn columns(&self, from: Point, to: Point) -> Range<usize> {
        let byte_of = |point: Point| match point.line.cmp(&self.line) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => point.byte,
            std::cmp::Ordering::Greater => usize::MAX,
        };
        let (from, to) = (byte_of(from), byte_of(to));
        let mut at = self.text.start;
        let mut found: Option<Range<usize>> = None;
        for (columns, piece) in self.row.pieces() {
            let end = (at + piece.len()).min(self.text.end);
            if end > from && at < to && at < self.text.end {
                let start = found.as_ref().map_or(columns.start, |found| found.start);
                found = Some(start..columns.end);
            }
            at = end;
        }
        found.unwrap_or(0..0)
    }
}

/// The rows of one line.
pub fn seen_of_line(line: usize, rows: Vec<Row>) -> Vec<Seen> {
    let texts = RowTexts::of(&rows);
    // Blanks at the end of the line are kept for what is drawn there; a copy leaves them out.
    rows.into_iter().enumerate().map(|(at, row)| Seen { row, line, text: texts.row(at), old: None }).collect()
}

/// Rows that are laid out as a whole.
#[derive(Clone, Debug)]
pub struct Fixed {
    source: Source,
    rows: Vec<Row>,
    texts: RowTexts,
    /// The left side, where there are two, and the columns before what stands between them.
    old: Option<(Vec<Row>, RowTexts, usize)>,
    made_for: Option<(u64, usize, bool)>,
}

/// What they are made from.
#[derive(Clone, Debug)]
enum Source {
    Markdown(Box<MarkdownStream>, String),
    Change(Vec<Line>, String),
}

impl Fixed {
    const fn new(source: Source) -> Self {
        Self { source, rows: Vec::new(), texts: RowTexts::new(), old: None, made_for: None }
    }

    /// Returns whether its text may be another one.
    fn lay_out(&mut self, theme: &Theme, columns: usize, is_beside: bool) -> bool {
        let wanted = Some((theme.revision(), columns, is_beside));
        match &mut self.source {
            Source::Markdown(stream, _) => {
                let kept = if self.made_for == wanted { stream.frozen_rows() } else { 0 };
                let kept = kept.min(self.texts.len());
                stream.layout(theme, columns);
                self.texts.truncate(kept);
                for row in stream.rows().iter().skip(kept) {
                    self.texts.push(row);
                }
            }
            Source::Change(..) if self.made_for == wanted => return false,
            Source::Change(lines, path) => {
                let sides = if is_beside { side_by_side::rows(lines, path, theme, columns) } else { None };
                match sides {
                    Some(sides) => {
                        self.rows = sides.rows;
                        self.old = Some((Vec::new(), RowTexts::of(&sides.old), sides.half));
                        if let Some(old) = &mut self.old {
                            old.0 = sides.old;
                        }
                    }
                    None => {
                        self.rows = diff::rows(lines, path, theme, columns);
                        self.old = None;
                    }
                }
                self.texts = RowTexts::of(&self.rows);
            }
        }
        self.made_for = wanted;
        true
    }

    /// The text of a side, and the rows it is of.
    fn side(&self, line: usize) -> (&[Row], &RowTexts) {
        match &self.old {
            Some((rows, texts, _)) if line == OLD => (rows, texts),
            _ => (self.rows(), &self.texts),
        }
    }

    fn rows(&self) -> &[Row] {
        match &self.source {
            Source::Markdown(stream, _) => stream.rows(),
            Source::Change(..) => &self.rows,
        }
    }
}

/// The body.
#[derive(Clone, Debug)]
pub enum Body {
    /// A long text.
    Lines(Box<Lines>),
    /// Markdown, or what changed.
    Fixed(Box<Fixed>),
}

impl Body {
    /// Nothing.
    pub fn empty(theme: &Theme) -> Self {
        Self::Lines(Box::new(Lines::new(What::Output, theme)))
    }

    /// Takes over what is to be shown. Returns what went from its begin, `None` if it is something else than
    /// before.
    pub fn set(&mut self, shown: Shown<'_>, theme: &Theme) -> Option<Went> {
        let (what, text, dropped) = match shown {
            Shown::Output(text, dropped) => (What::Output, text, dropped),
            Shown::Code { text, path, first } => (What::Code(path, first), text, 0),
            Shown::Listing(text, is_search) => (What::Listing(is_search), text, 0),
            Shown::Words(text, role) => (What::Words(role), text.into(), 0),
            Shown::Change(mut lines, path) => {
                // The band names the file.
                lines.retain(|line| line.kind != diff::Kind::File);
                if let Self::Fixed(fixed) = self
                    && let Source::Change(before, of) = &fixed.source
                    && *before == lines
                    && *of == path
                {
                    return Some(Went::default());
                }
                *self = Self::Fixed(Box::new(Fixed::new(Source::Change(lines, path))));
                return None;
            }
            Shown::Markdown(text) => {
                if let Self::Fixed(fixed) = self
                    && let Source::Markdown(stream, before) = &mut fixed.source
                    && let Some(new) = text.strip_prefix(before.as_str())
                {
                    stream.push(new);
                    before.push_str(new);
                    return Some(Went::default());
                }
                let mut stream = MarkdownStream::growing();
                stream.push(&text);
                let source = Source::Markdown(Box::new(stream), text.into_owned());
                *self = Self::Fixed(Box::new(Fixed::new(source)));
                return None;
            }
        };
        match self {
            Self::Lines(lines) if *lines.what() == what => lines.set_text(&text, dropped),
            Self::Lines(_) | Self::Fixed(_) => {
                let mut lines = Lines::new(what, theme);
                lines.set_text(&text, dropped);
                *self = Self::Lines(Box::new(lines));
                None
            }
        }
    }

    /// Its end is what one reads first.
    pub fn is_output(&self) -> bool {
        matches!(self, Self::Lines(lines) if *lines.what() == What::Output)
    }

    /// It is a change, which can stand side by side.
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Fixed(fixed) if matches!(fixed.source, Source::Change(..)))
    }

    /// Brings the rows up to date. Returns whether places in the text may mean something else than before.
    pub fn lay_out(&mut self, theme: &Theme, columns: usize, is_beside: bool) -> bool {
        match self {
            Self::Lines(lines) => {
                lines.lay_out(theme, columns);
                false
            }
            Self::Fixed(fixed) => fixed.lay_out(theme, columns, is_beside),
        }
    }

    /// Columns of the left side, where there are two sides.
    pub fn half(&self) -> Option<usize> {
        match self {
            Self::Lines(_) => None,
            Self::Fixed(fixed) => fixed.old.as_ref().map(|(_, _, half)| *half),
        }
    }

    /// Rows in all.
    pub fn total(&self) -> usize {
        match self {
            Self::Lines(lines) if lines.lines() == 0 => 0,
            Self::Lines(lines) => lines.total(),
            Self::Fixed(fixed) => fixed.rows().len(),
        }
    }

    /// Lines in all, where they are counted.
    pub fn lines(&self) -> Option<usize> {
        match self {
            Self::Lines(lines) => Some(lines.lines()),
            Self::Fixed(_) => None,
        }
    }

    /// Rows from `top` on.
    pub fn window(&mut self, top: usize, count: usize) -> Vec<Seen> {
        match self {
            Self::Lines(lines) => lines.window(top, count),
            Self::Fixed(fixed) => {
                let rows = fixed.rows().iter().enumerate().skip(top).take(count);
                let old = |at: usize| {
                    let (rows, texts, _) = fixed.old.as_ref()?;
                    let row = rows.get(at)?.clone();
                    Some(Box::new(Seen { row, line: OLD, text: texts.row(at), old: None }))
                };
                let seen = |(at, row): (usize, &Row)| Seen {
                    row: row.clone(),
                    line: 0,
                    text: fixed.texts.row(at),
                    old: old(at),
                };
                rows.map(seen).collect()
            }
        }
    }

    /// The row that shows a place.
    pub fn row_of(&mut self, point: Point) -> usize {
        match self {
            Self::Lines(lines) => lines.row_of(point),
            Self::Fixed(fixed) => fixed.side(point.line).1.row_at(point.byte),
        }
    }

    /// The text of a line.
    pub fn line_text(&mut self, line: usize) -> String {
        match self {
            Self::Lines(lines) => lines.line_text(line),
            Self::Fixed(fixed) => fixed.side(line).1.text().to_owned(),
        }
    }

    /// The text from a place to another, as it was written.
    pub fn text(&mut self, from: Point, to: Point) -> String {
        match self {
            Self::Lines(lines) => lines.text(from, to),
            Self::Fixed(fixed) => {
                let (rows, texts) = fixed.side(from.line);
                texts.copy(rows, &(from.byte..to.byte))
            }
        }
    }

    /// All of its text.
    pub fn all(&mut self) -> String {
        match self {
            Self::Lines(lines) => lines.all(),
            Self::Fixed(fixed) => match &fixed.source {
                Source::Markdown(_, source) => source.clone(),
                Source::Change(lines, _) => lines.iter().map(written).collect(),
            },
        }
    }

    /// Where a pattern is, from a line on.
    pub fn find(&mut self, pattern: &Pattern, from: usize) -> Vec<(usize, Range<usize>)> {
        match self {
            Self::Lines(lines) => lines.find(pattern, from),
            Self::Fixed(fixed) => {
                let sides = if fixed.old.is_some() { 0..=OLD } else { 0..=0 };
                let of_side = |line: usize| {
                    let found = pattern.find_all(fixed.side(line).1.text());
                    found.into_iter().map(move |range| (line, range))
                };
                let mut found: Vec<_> = sides.flat_map(of_side).collect();
                // From above, as one reads; of a row what was comes first.
                if fixed.old.is_some() {
                    let row = |(line, range): &(usize, Range<usize>)| {
                        (fixed.side(*line).1.row_at(range.start), OLD - *line, range.start)
                    };
                    found.sort_by_key(row);
                }
                found
            }
        }
    }
}

/// A line of a change as a patch has it.
fn written(line: &Line) -> String {
    let sign = match line.kind {
        diff::Kind::Added => "+",
        diff::Kind::Removed => "-",
        diff::Kind::Context | diff::Kind::Gap | diff::Kind::File => " ",
    };
    format!("{sign}{}\n", line.text)
}
