//! Finding what is to be replaced, and replacing it. Pure.
//!
//! A text is looked for as it is; where that finds nothing, with line ends made equal; where that finds nothing
//! either, loosely. What is found counts at the level that found it, so that an exact place is never refused for
//! the sake of a similar one.

use super::nearest;
use super::view::{BOM, Level, View};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::cell::OnceCell;
use std::ops::Range;

/// Places of an ambiguous text that are named.
const MOST_PLACES: usize = 10;

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is there.
    pub old: String,
    /// What is to be there.
    pub new: String,
}

/// Why nothing was replaced. Numbers are places in the list of edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The text to replace is empty.
    Empty(usize),
    /// It is not in the file.
    Missing(usize),
    /// It is, but parts of it stand for bytes that are no text.
    NotText(usize),
    /// It is in the file more than once.
    Ambiguous {
        /// Which edit.
        index: usize,
        /// Lines where it begins.
        lines: Vec<usize>,
    },
    /// Two edits touch the same bytes.
    Overlap(usize, usize),
    /// The file would stay as it is.
    NoChange,
}

/// Where a text was found.
struct Place {
    range: Range<usize>,
    /// The lines of it.
    lines: Vec<Range<usize>>,
    exact: bool,
}

/// Replaces everything, or nothing.
pub fn apply(source: &[u8], edits: &[Edit]) -> Result<Vec<u8>, Problem> {
    let file = File { source, line_ends: OnceCell::new(), loose: OnceCell::new() };
    let mut changes = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        let place = file.find(&edit.old, index)?;
        changes.push((place.range.clone(), index, replacement(source, &place, edit)));
    }
    changes.sort_by_key(|(range, index, _)| (range.start, *index));
    let mut result = Vec::with_capacity(source.len());
    let mut done = (0, 0);
    for (range, index, bytes) in changes {
        if range.start < done.0 {
            return Err(Problem::Overlap(done.1.min(index), done.1.max(index)));
        }
        result.extend_from_slice(source.get(done.0..range.start).unwrap_or_default());
        result.extend_from_slice(&bytes);
        done = (range.end, index);
    }
    result.extend_from_slice(source.get(done.0..).unwrap_or_default());
    if result == source { Err(Problem::NoChange) } else { Ok(result) }
}

struct File<'a> {
    source: &'a [u8],
    line_ends: OnceCell<View>,
    loose: OnceCell<View>,
}

impl File<'_> {
    fn find(&self, old: &str, index: usize) -> Result<Place, Problem> {
        if old.is_empty() {
            return Err(Problem::Empty(index));
        }
        if let Some(place) = self.only(self.exactly(old), index)? {
            return Ok(place);
        }
        let mut covers_invalid = false;
        for (level, cell) in [(Level::LineEnds, &self.line_ends), (Level::Loose, &self.loose)] {
            let view = cell.get_or_init(|| View::new(self.source, level));
            let places = in_view(view, &View::needle(old, level), level, &mut covers_invalid);
            if let Some(place) = self.only(places, index)? {
                return Ok(place);
            }
        }
        Err(if covers_invalid { Problem::NotText(index) } else { Problem::Missing(index) })
    }

    /// The place, if there is one; an error, if there are several.
    fn only(&self, mut places: Vec<Place>, index: usize) -> Result<Option<Place>, Problem> {
        if places.len() > 1 {
            let line_of = |place: &Place| {
                let before = self.source.get(..place.range.start).unwrap_or_default();
                before.iter().filter(|byte| **byte == b'\n').count() + 1
            };
            return Err(Problem::Ambiguous { index, lines: places.iter().map(line_of).collect() });
        }
        Ok(places.pop())
    }

    /// Valid text is found within valid text, so the bytes between need not be looked at.
    fn exactly(&self, old: &str) -> Vec<Place> {
        let mut offset = if self.source.starts_with(BOM) { BOM.len() } else { 0 };
        let mut places = Vec::new();
        for chunk in self.source.get(offset..).unwrap_or_default().utf8_chunks() {
            for (at, text) in chunk.valid().match_indices(old) {
                let start = offset + at;
                let lines = lines_of(text).map(|line| start + line.start..start + line.end).collect();
                places.push(Place { range: start..start + text.len(), lines, exact: true });
            }
            offset += chunk.valid().len() + chunk.invalid().len();
        }
        places
    }
}

fn in_view(view: &View, needle: &str, level: Level, covers_invalid: &mut bool) -> Vec<Place> {
    let places = matches(view, needle, false, covers_invalid);
    let trimmed = needle.trim_end_matches([' ', '\t']);
    // Blanks at the end of what is looked for may stand before a line end, where the view has none.
    let is_trimmable = level == Level::Loose && trimmed.len() < needle.len() && !trimmed.ends_with('\n');
    if places.is_empty() && is_trimmable {
        return matches(view, trimmed, true, covers_invalid);
    }
    places
}

fn matches(view: &View, needle: &str, at_line_end: bool, covers_invalid: &mut bool) -> Vec<Place> {
    if needle.is_empty() {
        return Vec::new();
    }
    let mut places = Vec::new();
    for (start, text) in view.text().match_indices(needle) {
        let end = start + text.len();
        let follows = view.text().get(end..).unwrap_or_default();
        if at_line_end && !(follows.is_empty() || follows.starts_with('\n')) {
            continue;
        }
        if view.has_invalid(&(start..end)) {
            *covers_invalid = true;
            continue;
        }
        let Some(range) = view.source_range(&(start..end)) else { continue };
        let lines = lines_of(text).map(|line| view.source_range(&(start + line.start..start + line.end)));
        // A line begins behind a line end, and what stands there can always be divided.
        let lines = lines.collect::<Option<Vec<_>>>().unwrap_or_default();
        places.push(Place { range, lines, exact: false });
    }
    places
}

/// The lines of a text with their ends: `\n`, `\r\n` or `\r`.
fn lines_of(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = match rest.find(['\n', '\r']) {
            Some(at) if rest.get(at..).is_some_and(|end| end.starts_with("\r\n")) => at + 2,
            Some(at) => at + 1,
            None => rest.len(),
        };
        start += length;
        Some(start - length..start)
    })
}

/// The bytes to put into a place. Lines that the edit leaves alone keep their bytes, others the end of the line that
/// they replace.
fn replacement(source: &[u8], place: &Place, edit: &Edit) -> Vec<u8> {
    // Carriage returns that were asked for, in a place that was found as it was written, are meant.
    if place.exact && edit.new.contains('\r') {
        return edit.new.clone().into_bytes();
    }
    let (old, new) = (line_feeds(&edit.old), line_feeds(&edit.new));
    let (old, new) = (split(&old), split(&new));
    let bytes =
        |index: usize| place.lines.get(index).and_then(|line| source.get(line.clone())).unwrap_or_default();
    let usual = line_end_near(source, place.range.start);
    let end_of = |index: Option<usize>| index.and_then(|index| line_end(bytes(index))).unwrap_or(usual);
    let mut result = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                (old_index..old_index + len).for_each(|index| result.extend_from_slice(bytes(index)));
            }
            DiffOp::Delete { .. } => {}
            DiffOp::Insert { old_index, new_index, new_len } => {
                for line in new.iter().skip(new_index).take(new_len) {
                    push_line(&mut result, line, end_of(old_index.checked_sub(1)));
                }
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                for (step, line) in new.iter().skip(new_index).take(new_len).enumerate() {
                    push_line(
                        &mut result,
                        line,
                        end_of(Some(old_index + step.min(old_len.saturating_sub(1)))),
                    );
                }
            }
        }
    }
    result
}

fn push_line(result: &mut Vec<u8>, line: &str, end: &[u8]) {
    match line.strip_suffix('\n') {
        Some(content) => {
            result.extend_from_slice(content.as_bytes());
            result.extend_from_slice(end);
        }
        None => result.extend_from_slice(line.as_bytes()),
    }
}

fn line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The end of a line.
fn line_end(line: &[u8]) -> Option<&'static [u8]> {
    match line {
        [.., b'\r', b'\n'] => Some(b"\r\n"),
        [.., b'\n'] => Some(b"\n"),
        [.., b'\r'] => Some(b"\r"),
        _ => None,
    }
}

/// The line end that a new line gets: that of the line it comes into, else of the line before. A file that has only
/// carriage returns keeps to them.
fn line_end_near(source: &[u8], at: usize) -> &'static [u8] {
    let (before, behind) = source.split_at_checked(at).unwrap_or((source, &[]));
    let feed = |bytes: &[u8], feed: usize| bytes.get(..=feed).and_then(line_end);
    let behind = behind.iter().position(|byte| *byte == b'\n').and_then(|at| feed(behind, at));
    let near =
        behind.or_else(|| before.iter().rposition(|byte| *byte == b'\n').and_then(|at| feed(before, at)));
    near.unwrap_or(if source.contains(&b'\r') { b"\r" } else { b"\n" })
}

impl Problem {
    /// What a model is told: what is wrong, that nothing was changed, and what helps.
    pub fn explain(&self, name: &str, source: &[u8], edits: &[Edit]) -> String {
        let which =
            |index: usize| if edits.len() > 1 { format!("edits[{index}]") } else { "the edit".to_owned() };
        let problem = match self {
            Self::Empty(index) => {
                format!("oldText of {} is empty. To make a new file use write.", which(*index))
            }
            Self::Missing(index) => {
                let old = edits.get(*index).map_or("", |edit| edit.old.as_str());
                let nearest = nearest::explain(source, old);
                format!(
                    "Could not find oldText of {} in {name}. It must match the file exactly, including whitespace and \
                     line breaks. {nearest}",
                    which(*index)
                )
            }
            Self::NotText(index) => format!(
                "oldText of {} covers bytes of {name} that are not valid UTF-8 and that \u{fffd} only stands for. \
                 Leave them out of oldText.",
                which(*index)
            ),
            Self::Ambiguous { index, lines } => {
                let places: Vec<String> = lines.iter().take(MOST_PLACES).map(ToString::to_string).collect();
                let more = if lines.len() > MOST_PLACES { ", …" } else { "" };
                format!(
                    "Found {} occurrences of oldText of {} in {name} (lines {}{more}). It must be unique: add lines \
                     around it.",
                    lines.len(),
                    which(*index),
                    places.join(", ")
                )
            }
            Self::Overlap(first, second) => {
                format!("edits[{first}] and edits[{second}] overlap in {name}. Merge them into one.")
            }
            Self::NoChange => format!("No changes made to {name}: the new text is what is there already."),
        };
        let kept = if *self == Self::NoChange { "" } else { "\nThe file was not changed." };
        format!("{}{kept}", problem.trim_end())
    }
}

#[cfg(test)]
#[path = "replace_tests.rs"]
mod tests;
