//! A part of a job's log as a model reads it: from some place on, or its end, or the lines that match.
//!
//! The log is read in pieces, so that a large one takes no memory; what is told is bounded by lines and bytes.

use super::lines::{Line, Lines};
use crate::jobs::log::files::{self, Extent};
use regex::Regex;
use std::collections::VecDeque;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// Bytes that are read at once.
const PIECE: usize = 256 * 1024;

/// Bytes of a line at most.
const LINE: usize = 2_000;

/// Bytes of the end of a log in which its last lines are looked for.
const TAIL: u64 = 1024 * 1024;

/// More than this is never told at once.
const MOST_LINES: usize = 2_000;
const MOST_BYTES: usize = 256 * 1024;

/// What is wanted of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadSpec {
    /// Where.
    pub from: ReadFrom,
    /// Only lines that match this regular expression.
    pub grep: Option<String>,
    /// Lines at most.
    pub max_lines: usize,
    /// Bytes of text at most; one line is told in any case.
    pub max_bytes: usize,
}

/// Where reading begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// At this byte.
    Offset(u64),
    /// So that the end comes last.
    Tail,
}

impl Default for ReadSpec {
    /// The last lines.
    fn default() -> Self {
        Self { from: ReadFrom::Tail, grep: None, max_lines: 200, max_bytes: 16 * 1024 }
    }
}

/// A part of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadPage {
    /// The lines, in order.
    pub lines: Vec<ReadLine>,
    /// Where to read on. A last line that may still grow comes once more.
    pub next: u64,
    /// There is more behind them already.
    pub has_more: bool,
    /// The offset behind the last byte of the log.
    pub end: u64,
    /// The offset of the first byte that is kept.
    pub first_kept: u64,
    /// More may be printed.
    pub is_live: bool,
}

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLine {
    /// The offset of its first byte.
    pub offset: u64,
    /// Its text.
    pub text: String,
}

/// A log that can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No such job.
    #[error(transparent)]
    NoSuchJob(#[from] super::NoSuchJob),
    /// The pattern is none.
    #[error("The pattern is no regular expression: {0}")]
    Pattern(#[from] regex::Error),
    /// The system says so.
    #[error("The log can't be read: {0}.")]
    File(#[from] io::Error),
}

impl ReadPage {
    /// As a model reads it: each line with its offset, and what is not there.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            // Writing into a string can't fail.
            let _infallible = writeln!(text, "{}| {}", line.offset, line.text);
        }
        if self.lines.is_empty() {
            text.push_str("[nothing]\n");
        }
        if self.first_kept > 0 {
            let _infallible = writeln!(text, "[bytes before {} are no longer kept]", self.first_kept);
        }
        let _infallible = match (self.has_more, self.is_live) {
            (true, _) => writeln!(text, "[more: read on from offset {} of {}]", self.next, self.end),
            (false, true) => writeln!(text, "[still running: read on from offset {}]", self.next),
            (false, false) => writeln!(text, "[end of the log, {} bytes]", self.end),
        };
        text
    }
}

/// Reads a part of the log in this folder.
pub fn read(folder: &Path, spec: &ReadSpec, is_live: bool) -> Result<ReadPage, ReadError> {
    let pattern = spec.grep.as_deref().map(Regex::new).transpose()?;
    let Extent { first, end } = files::extent(folder);
    let page = ReadPage { first_kept: first, end, next: end, is_live, ..ReadPage::default() };
    let (most_lines, most_bytes) = (spec.max_lines.clamp(1, MOST_LINES), spec.max_bytes.min(MOST_BYTES));
    let mut told = Told { lines: VecDeque::new(), bytes: 0, most_lines, most_bytes };
    match spec.from {
        ReadFrom::Offset(offset) => from_offset(folder, offset.max(first), pattern.as_ref(), &mut told, page),
        ReadFrom::Tail => {
            // Without a pattern the beginning of a large log holds none of the last lines.
            let from = if pattern.is_some() { first } else { end.saturating_sub(TAIL).max(first) };
            tail(folder, from, first, pattern.as_ref(), &mut told, page)
        }
    }
}

fn from_offset(
    folder: &Path,
    from: u64,
    pattern: Option<&Regex>,
    told: &mut Told,
    mut page: ReadPage,
) -> Result<ReadPage, ReadError> {
    page.next = from;
    let is_live = page.is_live;
    let is_whole = each_line(folder, from, page.end, |line| {
        if !is_wanted(&line, pattern) {
            // A line that still grows may match when it is read once more.
            page.next = if line.is_whole || !is_live { line.ends } else { line.begins };
            return true;
        }
        if told.is_full_with(&line) {
            return false;
        }
        page.next = if line.is_whole || !is_live { line.ends } else { line.begins };
        told.push(line);
        true
    })?;
    page.has_more = !is_whole;
    page.lines = told.take();
    Ok(page)
}

fn tail(
    folder: &Path,
    from: u64,
    first: u64,
    pattern: Option<&Regex>,
    told: &mut Told,
    mut page: ReadPage,
) -> Result<ReadPage, ReadError> {
    let mut is_part = from > first;
    each_line(folder, from, page.end, |line| {
        page.next = if line.is_whole || !page.is_live { line.ends } else { line.begins };
        // The first one may have begun before. A single one without end is better than nothing.
        if std::mem::take(&mut is_part) && line.is_whole {
            return true;
        }
        if is_wanted(&line, pattern) {
            while told.is_full_with(&line) {
                told.drop_first();
            }
            told.push(line);
        }
        true
    })?;
    page.lines = told.take();
    Ok(page)
}

fn is_wanted(line: &Line, pattern: Option<&Regex>) -> bool {
    pattern.is_none_or(|pattern| pattern.is_match(&line.text))
}

/// Gives each line, an unfinished last one included, until it is told to end. True: all were given.
fn each_line(
    folder: &Path,
    from: u64,
    end: u64,
    mut each: impl FnMut(Line) -> bool,
) -> Result<bool, ReadError> {
    let mut buffer = vec![0; PIECE];
    let (mut at, mut goes_on) = (from, true);
    let mut lines = Lines::new(from, LINE);
    while goes_on && at < end {
        let (begins, length) = files::read(folder, at, &mut buffer)?;
        if length == 0 {
            break;
        }
        lines.push(begins, buffer.get(..length).unwrap_or_default(), |line| {
            goes_on = goes_on && each(line);
        });
        at = begins + length as u64;
    }
    if goes_on && let Some(line) = lines.unfinished() {
        goes_on = each(line);
    }
    Ok(goes_on)
}

/// Lines that are told.
struct Told {
    lines: VecDeque<ReadLine>,
    bytes: usize,
    most_lines: usize,
    most_bytes: usize,
}

impl Told {
    /// There are some, and no room for one more.
    fn is_full_with(&self, line: &Line) -> bool {
        let bytes = self.bytes + line.text.len();
        !self.lines.is_empty() && (self.lines.len() >= self.most_lines || bytes > self.most_bytes)
    }

    fn push(&mut self, line: Line) {
        let mut text = line.text;
        if line.left_out > 0 {
            let _infallible = write!(text, " […{} more bytes]", line.left_out);
        }
        self.bytes += text.len();
        self.lines.push_back(ReadLine { offset: line.begins, text });
    }

    fn drop_first(&mut self) {
        if let Some(line) = self.lines.pop_front() {
            self.bytes -= line.text.len();
        }
    }

    fn take(&mut self) -> Vec<ReadLine> {
        std::mem::take(&mut self.lines).into()
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
