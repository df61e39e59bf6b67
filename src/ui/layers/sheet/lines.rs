//! A long text as rows, laid out where it is looked at.
//!
//! Of every line is known how many rows it takes; which ones those are is found when they are in view. Text that is
//! appended costs what it is long, whatever stands before it: only the last line and those after it are measured.

use super::body::{Point, Seen, Went, seen_of_line};
use crate::text::highlight::{self, Highlighter, Part};
use crate::text::row::Row;
use crate::text::wrap::{self, Break, Run};
use crate::text::{ansi, clean, links, width};
use crate::theme::Theme;
use crate::theme::role::Role;
use crate::transcript::search::Pattern;
use crate::ui::entries::whole::found;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use std::ops::Range;

/// Lines between two places of which is known what the text before them leaves on.
const CHECKPOINT: usize = 64;

/// A line this long is not wrapped again for every frame.
const LONG: usize = 4 * 1024;

/// What the lines are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// What a program printed.
    Output,
    /// Source text with this path, its first line with this number.
    Code(String, u64),
    /// Names; of a search, with lines.
    Listing(bool),
    /// Sentences.
    Words(Role),
}

/// The text.
#[derive(Clone, Debug)]
pub struct Lines {
    what: What,
    theme: Theme,
    text: String,
    dropped: u64,
    /// Where each line begins.
    starts: Vec<usize>,
    /// The first row of each line, as far as they are measured.
    first_rows: Vec<usize>,
    rows: usize,
    /// Columns of the window.
    columns: usize,
    /// Columns of the text that the lines were measured for, none before they were.
    measured_for: usize,
    /// What is on at every so many lines; nothing where the text switches nothing.
    left: Vec<ansi::Left>,
    is_coloured: bool,
    highlighter: Highlighter,
    parts: Vec<Vec<Part>>,
    /// The long line that was wrapped last.
    long: Option<(usize, Vec<Row>)>,
    /// How many lines were measured: tests count work, not time.
    #[cfg(test)]
    pub measured: usize,
}

impl Lines {
    /// Without text.
    pub fn new(what: What, theme: &Theme) -> Self {
        Self {
            what,
            theme: theme.clone(),
            text: String::new(),
            dropped: 0,
            starts: vec![0],
            first_rows: Vec::new(),
            rows: 0,
            columns: 0,
            measured_for: 0,
            left: vec![ansi::Left::default()],
            is_coloured: false,
            highlighter: Highlighter::plain(),
            parts: Vec::new(),
            long: None,
            #[cfg(test)]
            measured: 0,
        }
    }

    /// What they are.
    pub const fn what(&self) -> &What {
        &self.what
    }

    /// The text as it is now; so many bytes before it are gone. Returns what went, `None` if it is another text.
    pub fn set_text(&mut self, text: &str, dropped: u64) -> Option<Went> {
        let text = text.trim_end_matches(['\n', '\r']);
        let went = usize::try_from(dropped.saturating_sub(self.dropped)).unwrap_or(usize::MAX);
        let kept = if dropped >= self.dropped { self.text.get(went..) } else { None };
        let Some(kept) = kept.filter(|kept| text.starts_with(kept)) else {
            *self = Self::new(self.what.clone(), &self.theme);
            self.dropped = dropped;
            self.append(text);
            return None;
        };
        let new = text.get(kept.len()..).unwrap_or_default();
        let lines = self.starts.partition_point(|start| *start < went);
        let rows = if went > 0 { self.drop_lines(lines, went) } else { 0 };
        self.dropped = dropped;
        self.append(new);
        Some(Went { lines: if went > 0 { lines } else { 0 }, rows })
    }

    fn drop_lines(&mut self, lines: usize, bytes: usize) -> usize {
        let left = self.left_at(lines);
        let rows = self.first_rows.get(lines).copied().unwrap_or(self.rows);
        self.text.drain(..bytes);
        self.starts.drain(..lines.min(self.starts.len()));
        self.starts.iter_mut().for_each(|start| *start -= bytes);
        self.first_rows.drain(..lines.min(self.first_rows.len()));
        self.first_rows.iter_mut().for_each(|row| *row -= rows);
        self.rows -= rows;
        self.left = vec![left];
        self.parts.clear();
        self.long = None;
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        rows
    }

    fn append(&mut self, new: &str) {
        if new.is_empty() {
            return;
        }
        let from = self.text.len();
        self.text.push_str(new);
        self.is_coloured |= new.contains('\u{1b}');
        // The last line grows.
        let last = self.starts.len() - 1;
        self.forget_from(last);
        self.starts.extend(new.match_indices('\n').map(|(at, _)| from + at + 1));
    }

    fn forget_from(&mut self, line: usize) {
        if let Some(first) = self.first_rows.get(line) {
            self.rows = *first;
            self.first_rows.truncate(line);
        }
        self.left.truncate(line / CHECKPOINT + 1);
        self.long = None;
        if self.parts.len() > line {
            self.parts.clear();
        }
    }

    /// Measures what is not measured, for so many columns.
    pub fn lay_out(&mut self, theme: &Theme, columns: usize) {
        if self.theme.revision() != theme.revision() {
            self.theme = theme.clone();
            self.long = None;
        }
        self.columns = columns;
        // Not the columns of the window: one more digit of the line numbers takes one from every line.
        if self.measured_for != self.room() {
            self.measured_for = self.room();
            self.first_rows.clear();
            self.rows = 0;
            self.long = None;
        }
        for line in self.first_rows.len()..self.starts.len() {
            self.first_rows.push(self.rows);
            self.rows += self.height(line);
        }
    }

    fn height(&mut self, line: usize) -> usize {
        #[cfg(test)]
        {
            self.measured += 1;
        }
        let (text, room) = (self.raw(line), self.room());
        if width::is_plain(text) {
            // Nearly all lines, and no need to look at each character.
            if text.len() <= room {
                return 1;
            }
            if !matches!(self.what, What::Words(_)) {
                return text.len().div_ceil(room);
            }
        }
        self.wrap(line).len()
    }

    /// Rows in all.
    pub const fn total(&self) -> usize {
        self.rows
    }

    /// Lines in all.
    pub fn lines(&self) -> usize {
        if self.text.is_empty() { 0 } else { self.starts.len() }
    }

    /// Columns of the numbers and the blank behind them.
    fn gutter(&self) -> usize {
        let What::Code(_, first) = &self.what else { return 0 };
        let last = first + self.starts.len() as u64 - 1;
        let columns = last.to_string().len() + 1;
        if columns + 8 <= self.columns { columns } else { 0 }
    }

    fn room(&self) -> usize {
        self.columns.saturating_sub(self.gutter()).max(1)
    }

    fn raw(&self, line: usize) -> &str {
        let from = self.starts.get(line).copied().unwrap_or(self.text.len());
        let to = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        let text = self.text.get(from..to).unwrap_or_default();
        text.strip_suffix('\r').unwrap_or(text)
    }

    /// What is on where a line begins.
    fn left_at(&mut self, line: usize) -> ansi::Left {
        if !self.is_coloured {
            return ansi::Left::default();
        }
        let (base, ground) = (Style::new(), Color::Reset);
        let through = |from: usize, to: usize, mut left: ansi::Left, lines: &Self| {
            for at in from..to {
                let text = lines.raw(at);
                if text.contains('\u{1b}') {
                    ansi::lines_after(&mut left, text, &lines.theme, base, ground);
                }
            }
            left
        };
        while self.left.len() <= line / CHECKPOINT {
            let begin = (self.left.len() - 1) * CHECKPOINT;
            let before = self.left.last().copied().unwrap_or_default();
            let next = through(begin, begin + CHECKPOINT, before, self);
            self.left.push(next);
        }
        let nearest = self.left.get(line / CHECKPOINT).copied().unwrap_or_default();
        through(line / CHECKPOINT * CHECKPOINT, line, nearest, self)
    }

    fn parts_of(&mut self, line: usize) -> Vec<Part> {
        let What::Code(path, _) = &self.what else { return Vec::new() };
        if self.parts.is_empty() {
            self.highlighter = Highlighter::for_path(path);
        }
        while self.parts.len() <= line && self.highlighter.is_coloured() {
            let text = one_line(self.raw(self.parts.len()));
            let parts = self.highlighter.line(&text);
            self.parts.push(parts);
        }
        self.parts.get(line).cloned().unwrap_or_default()
    }

    fn runs(&mut self, line: usize) -> Vec<Run> {
        let style = |theme: &Theme, role: Role| theme.style(role);
        let runs = match self.what.clone() {
            What::Output => {
                let base = style(&self.theme, Role::ToolOutput);
                let raw = self.raw(line);
                if !self.is_coloured && width::is_plain(raw) {
                    vec![Run::new(raw, base, 0)]
                } else {
                    let mut left = self.left_at(line);
                    let raw = self.raw(line);
                    let lines = ansi::lines_after(&mut left, raw, &self.theme, base, Color::Reset);
                    lines.into_iter().next().unwrap_or_default()
                }
            }
            What::Code(..) => {
                let parts = self.parts_of(line);
                highlight::runs(&one_line(self.raw(line)), &parts, |role| self.theme.style(role))
            }
            What::Listing(is_search) => {
                let text = one_line(self.raw(line));
                let theme = &self.theme;
                match found(&text).filter(|_| is_search) {
                    Some((file, number, words, is_match)) => {
                        let mark = if is_match { ':' } else { '-' };
                        let role = if is_match { Role::ToolOutput } else { Role::Muted };
                        vec![
                            Run::new(file, theme.style(Role::Accent), 0),
                            Run::new(format!("{mark}{number}{mark} "), theme.style(Role::Dim), file.len()),
                            Run::new(words, theme.style(role), text.len() - words.len()),
                        ]
                    }
                    None => {
                        let role = if text.ends_with('/') { Role::Accent } else { Role::ToolOutput };
                        vec![Run::new(text, theme.style(role), 0)]
                    }
                }
            }
            What::Words(role) => vec![Run::new(one_line(self.raw(line)), style(&self.theme, role), 0)],
        };
        links::linked(runs, |style| style.add_modifier(Modifier::UNDERLINED))
    }

    /// The text of a line as it is drawn.
    fn clean(&mut self, line: usize) -> String {
        let raw = self.raw(line);
        if width::is_plain(raw) {
            return raw.to_owned();
        }
        self.runs(line).into_iter().map(|run| run.text).collect()
    }

    fn wrap(&mut self, line: usize) -> Vec<Row> {
        if let Some((_, rows)) = self.long.as_ref().filter(|(at, _)| *at == line) {
            return rows.clone();
        }
        let breaks = if matches!(self.what, What::Words(_)) { Break::Words } else { Break::Graphemes };
        let runs = self.runs(line);
        let mut rows = wrap::line(&runs, self.room(), breaks);
        let gutter = self.gutter();
        if let (What::Code(_, first), true) = (&self.what, gutter > 0) {
            let number = first + line as u64;
            let dim = self.theme.style(Role::Dim);
            for (at, row) in rows.iter_mut().enumerate() {
                let text = if at == 0 { number.to_string() } else { String::new() };
                row.prefix(&[Span::styled(format!("{text:>width$} ", width = gutter - 1), dim)], false);
            }
        }
        if self.raw(line).len() > LONG {
            self.long = Some((line, rows.clone()));
        }
        rows
    }

    /// The line in which a row stands.
    fn line_of(&self, row: usize) -> usize {
        self.first_rows.partition_point(|first| *first <= row).saturating_sub(1)
    }

    /// Rows from `top` on.
    pub fn window(&mut self, top: usize, count: usize) -> Vec<Seen> {
        let mut seen = Vec::new();
        if self.text.is_empty() {
            return seen;
        }
        let mut line = self.line_of(top);
        while seen.len() < count && line < self.starts.len() {
            let skip = top.saturating_sub(self.first_rows.get(line).copied().unwrap_or(top));
            let left = count - seen.len();
            seen.extend(seen_of_line(line, self.wrap(line)).into_iter().skip(skip).take(left));
            line += 1;
        }
        seen
    }

    /// The row that shows a place.
    pub fn row_of(&mut self, point: Point) -> usize {
        let first = self.first_rows.get(point.line).copied().unwrap_or(0);
        let rows = seen_of_line(point.line, self.wrap(point.line));
        first + rows.iter().rposition(|seen| seen.text.start <= point.byte).unwrap_or(0)
    }

    /// The text of a line.
    pub fn line_text(&mut self, line: usize) -> String {
        self.clean(line)
    }

    /// The text from a place to another: lines as they were written, no blanks at their ends.
    pub fn text(&mut self, from: Point, to: Point) -> String {
        let mut text = String::new();
        for line in from.line..=to.line.min(self.starts.len() - 1) {
            let clean = self.clean(line);
            let begin = if line == from.line { from.byte } else { 0 };
            let end = if line == to.line { to.byte } else { clean.len() };
            if line > from.line {
                text.truncate(text.trim_end_matches(' ').len());
                text.push('\n');
            }
            text.push_str(clean.get(begin.min(clean.len())..end.min(clean.len())).unwrap_or_default());
        }
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// All of it.
    pub fn all(&mut self) -> String {
        if self.text.is_empty() {
            return String::new();
        }
        let end = self.starts.len() - 1;
        self.text(Point { line: 0, byte: 0 }, Point { line: end, byte: usize::MAX })
    }

    /// Where a pattern is, from a line on.
    pub fn find(&mut self, pattern: &Pattern, from: usize) -> Vec<(usize, Range<usize>)> {
        let mut found = Vec::new();
        for line in from..self.lines() {
            let clean = self.clean(line);
            found.extend(pattern.find_all(&clean).into_iter().map(|range| (line, range)));
        }
        found
    }
}

/// Foreign text on one line.
fn one_line(text: &str) -> String {
    clean::for_terminal(text).replace('\n', " ")
}
