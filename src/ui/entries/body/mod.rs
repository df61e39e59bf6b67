//! What stands under a band: rows on a panel, set in.
//!
//! | file | what it is |
//! |---|---|
//! | `output` | the end of what a command printed, in its colours |
//! | `code` | a file's text, and commands of several lines |
//! | `change` | differences |
//! | `listing` | what a search found |
//! | `json` `results` | what other tools gave, where it has a form |
//! | `prose` | sentences: errors, refusals |
//!
//! A panel is cut at [`MOST_ROWS`], so that no result makes a frame late; what is left out is told.

pub mod change;
pub mod code;
pub mod json;
pub mod listing;
pub mod output;
pub mod prose;
pub mod results;

use super::{EntryCx, Layout, Moving};
use crate::text::row::Row;
use crate::text::wrap::{self, Break, Run};
use crate::text::{formats, links};
use crate::theme::role::Role;
use crate::ui::paint;
use ratatui::style::{Color, Style};
use ratatui::text::Span;
use std::sync::Arc;

/// Rows of one panel at most.
pub const MOST_ROWS: usize = 2000;

/// Columns before the text of a panel.
const INDENT: usize = 5;

/// Bytes of one line that are looked at when only the beginning of it is shown.
const MOST_OF_LINE: usize = 4 * 1024;

/// Rows under a band.
#[derive(Debug)]
pub struct Panel<'a> {
    /// What it is laid out for.
    pub cx: &'a EntryCx<'a>,
    /// Its ground; `Reset` where the theme gives none.
    pub ground: Color,
    indent: usize,
    /// Further columns before what comes next.
    inset: usize,
    rows: Vec<Row>,
    moving: Vec<(usize, Arc<dyn Moving>)>,
    is_hinted: bool,
    /// Where the source of what comes next begins: rows of several texts stand under one band.
    base: usize,
}

impl<'a> Panel<'a> {
    /// An empty panel.
    pub fn new(cx: &'a EntryCx<'a>) -> Self {
        Self::on(cx, cx.look.theme.color(Role::ToolPendingBg))
    }

    /// An empty panel on another ground; `Reset` is the page.
    pub fn on(cx: &'a EntryCx<'a>, ground: Color) -> Self {
        Self {
            cx,
            ground,
            indent: indent(cx),
            inset: 0,
            rows: Vec::new(),
            moving: Vec::new(),
            is_hinted: false,
            base: 1,
        }
    }

    /// Columns for text.
    pub fn room(&self) -> usize {
        usize::from(self.cx.width).saturating_sub(self.indent + self.inset).max(1)
    }

    /// What comes next stands so many columns further in, as far as there is room for that.
    pub fn set_in(&mut self, columns: usize) {
        self.inset = columns.min((usize::from(self.cx.width) / 6).saturating_sub(1));
    }

    /// A role on the panel.
    pub fn style(&self, role: Role) -> Style {
        self.cx.look.theme.style_on(role, self.ground)
    }

    /// What comes next has this much source before it.
    pub const fn skip(&mut self, bytes: usize) {
        self.base += bytes;
    }

    /// Nothing more goes onto it.
    pub const fn is_full(&self) -> bool {
        self.rows.len() >= MOST_ROWS
    }

    /// Adds a row, set in.
    pub fn push(&mut self, mut row: Row) {
        row.start += self.base;
        let indent = self.indent + self.inset;
        if indent > 0 {
            let style = if self.ground == Color::Reset { Style::new() } else { Style::new().bg(self.ground) };
            row.prefix(&[Span::styled(" ".repeat(indent), style)], false);
        }
        if row.ground.is_none() && self.ground != Color::Reset {
            row.ground = Some((0, self.ground));
        }
        self.rows.push(row);
    }

    /// Adds what stands for something that is not shown; how to see it is said once.
    pub fn note(&mut self, start: usize, text: &str) {
        let mut text = format!("… {text}");
        if !self.cx.open
            && !self.is_hinted
            && let Some(key) = self.cx.look.expand_key()
        {
            text.push_str(&format!(" · {key}"));
            self.is_hinted = true;
        }
        let dim = self.style(Role::Dim);
        let spans = paint::cut(vec![Span::styled(text, dim)], self.room(), dim);
        self.push(Row { spans, start, is_decoration: true, ..Row::default() });
    }

    /// Tells that rows at the end are missing.
    pub fn more(&mut self, start: usize, count: usize) {
        if count > 0 {
            self.note(start, &formats::counted(count as u64, "more line"));
        }
    }

    /// Tells that lines at the end are missing, or a part of the last.
    fn rest(&mut self, start: usize, lines: usize, is_whole: bool) {
        if lines == 0 && !is_whole {
            self.note(start, "more of this line");
        }
        self.more(start, lines);
    }

    /// An empty row.
    pub fn blank(&mut self) {
        self.push(Row { is_decoration: true, ..Row::default() });
    }

    /// Adds a line on as many rows as it needs and there is room for. False when there was too little.
    pub fn push_line(&mut self, runs: Vec<Run>, start: usize) -> bool {
        let left = MOST_ROWS.saturating_sub(self.rows.len());
        let rows = wrap::first_rows(&linked(runs), self.room(), Break::Graphemes, left + 1);
        let is_whole = rows.len() <= left;
        for mut row in rows.into_iter().take(left) {
            row.start += start;
            self.push(row);
        }
        is_whole
    }

    /// Adds a line, wrapped by word.
    pub fn push_words(&mut self, text: &str, style: Style) {
        let left = MOST_ROWS.saturating_sub(self.rows.len());
        for row in wrap::first_rows(&linked(vec![Run::new(text, style, 0)]), self.room(), Break::Words, left)
        {
            self.push(row);
        }
    }

    /// The beginning of a line on one row; `…` stands for the rest.
    pub fn cut_line(&self, runs: Vec<Run>) -> Row {
        self.cut_rows(runs, 1).into_iter().next().unwrap_or_default()
    }

    /// The beginning of a line on so many rows at most; `…` stands for the rest. On one row it breaks off anywhere.
    pub fn cut_rows(&self, runs: Vec<Run>, most: usize) -> Vec<Row> {
        let by = if most > 1 { Break::Words } else { Break::Graphemes };
        let mut rows = wrap::first_rows(&linked(runs), self.room(), by, most + 1);
        let rest = (rows.len() > most).then(|| rows.pop()).flatten();
        if let Some((row, rest)) = rows.last_mut().zip(rest) {
            row.spans.extend(rest.spans);
            let dots = self.style(Role::Muted);
            row.spans = paint::cut(std::mem::take(&mut row.spans), self.room(), dots);
        }
        rows
    }

    /// Adds a row that is set in already, and what draws it anew if it changes by itself.
    pub fn push_whole(&mut self, mut row: Row, moving: Option<Arc<dyn Moving>>) {
        row.start += self.base;
        self.moving.extend(moving.map(|moving| (self.rows.len(), moving)));
        self.rows.push(row);
    }

    /// What draws the row that was added last anew, if it changes by itself.
    pub fn moves(&mut self, moving: impl FnOnce(&Row) -> Option<Arc<dyn Moving>>) {
        let Some(last) = self.rows.len().checked_sub(1) else { return };
        let moving = self.rows.last().and_then(moving);
        self.moving.extend(moving.map(|moving| (last, moving)));
    }

    /// Puts its rows under those of a layout.
    pub fn under(self, layout: &mut Layout) {
        let above = layout.rows.len();
        layout.moving.extend(self.moving.into_iter().map(|(at, moving)| (above + at, moving)));
        layout.rows.extend(self.rows);
    }
}

/// Columns before the text of a panel: fewer where there is little room, which the text needs more.
pub fn indent(cx: &EntryCx<'_>) -> usize {
    INDENT.min(usize::from(cx.width) / 6)
}

/// A line with the addresses in it as links, in the colours it has.
fn linked(runs: Vec<Run>) -> Vec<Run> {
    links::linked(runs, |style| style.add_modifier(ratatui::style::Modifier::UNDERLINED))
}

/// The beginning of a line, as much as a whole panel can show of it: of a minified file nothing else is even looked at.
fn shown_of<'a>(panel: &Panel<'_>, line: &'a str) -> &'a str {
    let most = MOST_ROWS.saturating_sub(panel.rows.len()).saturating_add(1) * panel.room() * 4;
    line.get(..line.floor_char_boundary(most.max(MOST_OF_LINE))).unwrap_or_default()
}

/// The beginning of a line, as much as any window can show. Of a progress meter that begins its line anew and anew only
/// the last state counts.
fn clip(line: &str) -> &str {
    if line.len() <= MOST_OF_LINE {
        return line;
    }
    let line = line.strip_suffix('\r').unwrap_or(line);
    let line = line.rsplit('\r').next().unwrap_or(line);
    line.get(..line.floor_char_boundary(MOST_OF_LINE)).unwrap_or_default()
}

/// Byte where the last `count` lines begin.
fn tail(text: &str, count: usize) -> usize {
    if count == 0 {
        return text.len();
    }
    text.rmatch_indices('\n').nth(count - 1).map_or(0, |(at, _)| at + 1)
}

/// Lines of a text that ends without a line break.
fn line_count(text: &str) -> usize {
    if text.is_empty() { 0 } else { text.bytes().filter(|byte| *byte == b'\n').count() + 1 }
}
