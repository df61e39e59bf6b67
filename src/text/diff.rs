//! Differences as rows: line numbers, a sign, the code in its colours, the words that changed on a stronger ground.

use super::clean;
use super::highlight::{Highlighter, LONGEST_LINE, Part};
use super::row::Row;
use super::wrap::{self, Break, Run};
use crate::theme::Theme;
use crate::theme::role::{Role, Weight};
use ratatui::style::{Color, Style};
use ratatui::text::Span;
use similar::{ChangeTag, TextDiff};
use std::ops::Range;
use std::time::Duration;
use unicode_segmentation::UnicodeSegmentation;

/// Unchanged lines around a change.
pub const CONTEXT: usize = 3;

/// Time after which a coarser difference has to do.
const PATIENCE: Duration = Duration::from_millis(200);

/// Two lines that share less than this of their text are different lines, not a changed one.
const LEAST_LIKENESS: f32 = 0.4;

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Unchanged.
    Context,
    /// New.
    Added,
    /// Gone.
    Removed,
    /// Lines that are not shown; the text is what stands in their place.
    Gap,
    /// Names a file or tells something about it.
    File,
}

/// One line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What happened to it.
    pub kind: Kind,
    /// Its number, from 1: the new one, of a removed line the old one.
    pub number: Option<usize>,
    /// Its text, without a line break.
    pub text: String,
    /// The parts that changed within it.
    pub emphasis: Vec<Range<usize>>,
}

impl Line {
    fn new(kind: Kind, number: Option<usize>, text: &str) -> Self {
        Self { kind, number, text: clean::for_terminal(text).into_owned(), emphasis: Vec::new() }
    }
}

/// What changed from one text to another, with `context` unchanged lines around.
pub fn between(old: &str, new: &str, context: usize) -> Vec<Line> {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let mut lines = Vec::new();
    let mut shown_until = 0;
    for group in diff.grouped_ops(context) {
        if group.first().is_some_and(|op| op.old_range().start > shown_until) {
            lines.push(Line::new(Kind::Gap, None, "…"));
        }
        for op in &group {
            for change in diff.iter_changes(op) {
                let (kind, index) = match change.tag() {
                    ChangeTag::Equal => (Kind::Context, change.new_index()),
                    ChangeTag::Delete => (Kind::Removed, change.old_index()),
                    ChangeTag::Insert => (Kind::Added, change.new_index()),
                };
                let text = change.value().trim_end_matches(['\n', '\r']);
                lines.push(Line::new(kind, index.map(|index| index + 1), text));
            }
            shown_until = op.old_range().end;
        }
    }
    if !lines.is_empty() && shown_until < diff.old_len() {
        lines.push(Line::new(Kind::Gap, None, "…"));
    }
    emphasise(&mut lines);
    lines
}

/// Reads a unified difference, as `git diff` and patches write it.
pub fn parse(patch: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    // What the header of the hunk promises, and the next numbers.
    let (mut old_left, mut new_left) = (0_usize, 0_usize);
    let (mut old, mut new) = (0, 0);
    let mut texts = patch.lines().peekable();
    while let Some(text) = texts.next() {
        let in_hunk = old_left > 0 || new_left > 0;
        if !in_hunk && let Some(hunk) = hunk(text) {
            if lines.iter().any(|line: &Line| line.kind != Kind::File) || hunk.new > 1 {
                let name = if hunk.name.is_empty() { "…".to_owned() } else { format!("… {}", hunk.name) };
                lines.push(Line::new(Kind::Gap, None, &name));
            }
            (old, new, old_left, new_left) = (hunk.old, hunk.new, hunk.old_length, hunk.new_length);
            continue;
        }
        let mut chars = text.chars();
        match (in_hunk, chars.next()) {
            (true, Some('+')) => {
                lines.push(Line::new(Kind::Added, Some(new), chars.as_str()));
                (new, new_left) = (new + 1, new_left.saturating_sub(1));
            }
            (true, Some('-')) => {
                lines.push(Line::new(Kind::Removed, Some(old), chars.as_str()));
                (old, old_left) = (old + 1, old_left.saturating_sub(1));
            }
            // "No newline at end of file".
            (_, Some('\\')) => {}
            (true, _) => {
                let text = text.strip_prefix(' ').unwrap_or(text);
                lines.push(Line::new(Kind::Context, Some(new), text));
                (old, new) = (old + 1, new + 1);
                (old_left, new_left) = (old_left.saturating_sub(1), new_left.saturating_sub(1));
            }
            (false, _) => {
                // The names stand in two lines; the new one tells enough, unless the file is gone.
                let goes_on =
                    texts.peek().is_some_and(|next| next.starts_with("+++ ") && *next != "+++ /dev/null");
                let is_noise = matches!(text, "" | "+++ /dev/null" | "--- /dev/null")
                    || text.starts_with("index ")
                    || text.starts_with("diff ")
                    || (text.starts_with("--- ") && goes_on);
                if !is_noise {
                    let name =
                        text.strip_prefix("+++ ").or_else(|| text.strip_prefix("--- ")).unwrap_or(text);
                    lines.push(Line::new(Kind::File, None, name));
                }
            }
        }
    }
    emphasise(&mut lines);
    lines
}

struct Hunk<'a> {
    old: usize,
    old_length: usize,
    new: usize,
    new_length: usize,
    name: &'a str,
}

/// `@@ -1,3 +1,4 @@ name`.
fn hunk(text: &str) -> Option<Hunk<'_>> {
    let (ranges, name) = text.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((begin, length)) => Some((begin.parse().ok()?, length.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let ((old, old_length), (new, new_length)) = (range(old)?, range(new)?);
    Some(Hunk { old, old_length, new, new_length, name: name.trim() })
}

/// Marks what changed within lines: removed lines that are followed by added ones pair off in order.
fn emphasise(lines: &mut [Line]) {
    let mut rest = lines;
    while !rest.is_empty() {
        let kind = |lines: &[Line], kind: Kind| lines.iter().take_while(|line| line.kind == kind).count();
        let removed = kind(rest, Kind::Removed);
        if removed == 0 {
            rest = rest.get_mut(1..).unwrap_or_default();
            continue;
        }
        let (old, others) = rest.split_at_mut(removed);
        let added = kind(others, Kind::Added);
        let (new, others) = others.split_at_mut(added);
        for (old, new) in old.iter_mut().zip(new) {
            pair(old, new);
        }
        rest = others;
    }
}

fn pair(old: &mut Line, new: &mut Line) {
    if old.text.len() > LONGEST_LINE || new.text.len() > LONGEST_LINE {
        return;
    }
    let (old_text, new_text) = (old.text.clone(), new.text.clone());
    let old_words: Vec<&str> = old_text.split_word_bounds().collect();
    let new_words: Vec<&str> = new_text.split_word_bounds().collect();
    let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&old_words, &new_words);
    if diff.ratio() < LEAST_LIKENESS {
        return;
    }
    let (mut old_at, mut new_at) = (0, 0);
    for change in diff.iter_all_changes() {
        let length = change.value().len();
        match change.tag() {
            ChangeTag::Equal => (old_at, new_at) = (old_at + length, new_at + length),
            ChangeTag::Delete => {
                extend(&mut old.emphasis, old_at..old_at + length);
                old_at += length;
            }
            ChangeTag::Insert => {
                extend(&mut new.emphasis, new_at..new_at + length);
                new_at += length;
            }
        }
    }
}

fn extend(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// Added and removed lines.
pub fn totals(lines: &[Line]) -> (usize, usize) {
    let count = |kind: Kind| lines.iter().filter(|line| line.kind == kind).count();
    (count(Kind::Added), count(Kind::Removed))
}

/// The lines as rows. `path` tells the language; in a difference of several files the names in it do. `start` of a row is
/// the index of its line.
pub fn rows(lines: &[Line], path: &str, theme: &Theme, columns: usize) -> Vec<Row> {
    let largest = lines.iter().filter_map(|line| line.number).max().unwrap_or(0);
    let digits = largest.to_string().len();
    // Where the gutter would leave too little for the text there is none.
    let gutter = digits + 3;
    let digits = (gutter + 8 <= columns).then_some(digits);
    let mut painter = Painter {
        theme,
        digits,
        columns,
        old: Highlighter::for_path(path),
        new: Highlighter::for_path(path),
    };
    let mut rows = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        match line.kind {
            Kind::File => {
                painter.old = Highlighter::for_path(&line.text);
                painter.new = painter.old.clone();
            }
            // What stands between is not known: the state before it means nothing after it.
            Kind::Gap => painter.restart(path, lines.get(..index).unwrap_or_default()),
            Kind::Context | Kind::Added | Kind::Removed => {}
        }
        rows.extend(painter.rows(line, index));
    }
    rows
}

struct Painter<'a> {
    theme: &'a Theme,
    digits: Option<usize>,
    columns: usize,
    old: Highlighter,
    new: Highlighter,
}

impl Painter<'_> {
    fn restart(&mut self, path: &str, before: &[Line]) {
        let file = before.iter().rev().find(|line| line.kind == Kind::File);
        self.new = Highlighter::for_path(file.map_or(path, |file| &file.text));
        self.old = self.new.clone();
    }

    fn rows(&mut self, line: &Line, index: usize) -> Vec<Row> {
        let theme = self.theme;
        let pending = theme.color(Role::ToolPendingBg);
        let (role, ground, sign, parts) = match line.kind {
            Kind::Context => {
                self.old.line(&line.text);
                (Role::ToolDiffContext, pending, " ", self.new.line(&line.text))
            }
            Kind::Added => (Role::ToolDiffAdded, theme.added_ground(), "+", self.new.line(&line.text)),
            Kind::Removed => (Role::ToolDiffRemoved, theme.removed_ground(), "-", self.old.line(&line.text)),
            Kind::Gap => (Role::Dim, pending, " ", Vec::new()),
            Kind::File => (Role::Muted, pending, " ", Vec::new()),
        };
        // Context recedes, and a theme that can't show grounds tells by the colour of the text.
        let parts = if line.kind == Kind::Context || !theme.is_readable() { Vec::new() } else { parts };
        let is_coloured = !parts.is_empty();
        let plain = if is_coloured { Role::MdCodeBlock } else { role };
        let strong = theme.mix(ground, theme.color(role), 0.22);
        let runs = runs(line, &parts, index, |role, is_strong| {
            let ground = if is_strong { strong } else { ground };
            let style = theme.style_on(role.unwrap_or(plain), ground);
            match (is_strong, theme.is_readable()) {
                (true, true) => style.bg(strong),
                (true, false) => style.add_modifier(ratatui::style::Modifier::UNDERLINED),
                (false, _) => style,
            }
        });
        let mark = theme.style(role).fg(theme.lift(theme.color(role), ground, Weight::Primary));
        let number = theme.style_on(if line.kind == Kind::Context { Role::Dim } else { role }, ground);
        let gutter = self.digits.map_or(0, |digits| digits + 3);
        let mut rows = wrap::line(&runs, self.columns.saturating_sub(gutter), Break::Graphemes);
        for (at, row) in rows.iter_mut().enumerate() {
            row.start = index;
            row.is_decoration = matches!(line.kind, Kind::Gap | Kind::File);
            if let Some(digits) = self.digits {
                let text =
                    line.number.filter(|_| at == 0).map(|number| number.to_string()).unwrap_or_default();
                let sign = if at == 0 { sign } else { " " };
                let spans = [
                    Span::styled(format!("{text:>digits$} "), number),
                    Span::styled(format!("{sign} "), mark),
                ];
                row.prefix(&spans, false);
            }
            row.ground = (ground != Color::Reset).then_some((0, ground));
        }
        rows
    }
}

/// A line cut at every change of role or emphasis.
fn runs(line: &Line, parts: &[Part], source: usize, style: impl Fn(Option<Role>, bool) -> Style) -> Vec<Run> {
    let mut cuts: Vec<usize> = parts.iter().flat_map(|(range, _)| [range.start, range.end]).collect();
    cuts.extend(line.emphasis.iter().flat_map(|range| [range.start, range.end]));
    cuts.extend([0, line.text.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    let mut runs = Vec::new();
    for (from, to) in cuts.iter().zip(cuts.iter().skip(1)) {
        let role = parts.iter().find(|(range, _)| range.contains(from)).map(|(_, role)| *role);
        let is_strong = line.emphasis.iter().any(|range| range.contains(from));
        let text = line.text.get(*from..*to).unwrap_or_default();
        runs.push(Run::new(text, style(role, is_strong), source));
    }
    runs
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
