//! One drawn row, and what a copy of it is.
//!
//! A row knows which of its columns are text and which are decoration (bars, line numbers, indentation that wrapping
//! added), and how it hangs together with the row above. So a selection of rows can be copied as the text that was
//! written, whatever the width it was drawn at.
//!
//! What [`copy`] makes of whole rows:
//!
//! | drawn | copied |
//! |---|---|
//! | plain text, code, output | as it was written: wrapped lines are one line again, with the blanks that stood where they were wrapped; tabs are tabs |
//! | spaces at the end of a line | left out: what is drawn there may as well be padding |
//! | bars, line numbers, rules, the heads and feet of cards, margins | nothing |
//! | bullets and numbers of lists | text, indented as the lists are nested; what stands below them in an item is not indented |
//! | a table | Markdown again: `| name | age |`, `| --- | --- |`; a line that is wrapped in its cells is one line, and rows of a part of it are all of it |
//! | a table that is too wide for columns | the lines that are drawn: `name: cell` |
//! | an emoji in its coloured form, a mark in place of what is too wide for a row | what was written |
//! | controls, bidi marks | nothing: they are never drawn either |
//!
//! A part of one row ([`Row::text_in`]) is what stands in these columns, by the same rules; of a table only those cells.

use super::width;
use ratatui::style::Color;
use ratatui::text::Span;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

/// How a row hangs together with the one above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joint {
    /// A line of its own.
    #[default]
    Line,
    /// The same line goes on; so many blanks stood where it was wrapped.
    Soft(u16),
}

/// Where a row belongs to a card: a block with a ground of its own that can be copied as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardRow {
    /// Index into the cards of the document.
    pub card: usize,
    /// Which part of it.
    pub part: CardPart,
}

/// Parts of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardPart {
    /// Above the text: the language, and room for a label.
    Head,
    /// The text.
    Body,
    /// Below the text: room for a label.
    Foot,
}

/// Columns of a row that open an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSpan {
    /// Columns from the row's left edge.
    pub columns: Range<u16>,
    /// The address.
    pub url: Arc<str>,
}

/// Columns that stand for something else than what is drawn there: a tab, padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Columns from the row's left edge; never none.
    pub columns: Range<u16>,
    /// What a copy has in their place.
    pub text: Cow<'static, str>,
}

/// One drawn row. Never wider than the width it was laid out for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// What is drawn, from the left.
    pub spans: Vec<Span<'static>>,
    /// How it hangs together with the row above.
    pub joint: Joint,
    /// Columns at the left that are no text.
    pub gutter: u16,
    /// The column from which on nothing is text: a time at the right edge, and the blanks before it.
    pub text_end: Option<u16>,
    /// Byte of the source where its text begins.
    pub start: usize,
    /// Nothing on it is text.
    pub is_decoration: bool,
    /// Background of the whole row to the right edge, from this column on.
    pub ground: Option<(u16, Color)>,
    /// What can be opened.
    pub links: Vec<LinkSpan>,
    /// Where a copy differs from what is drawn, from the left.
    pub written: Vec<Written>,
    /// The line of a table it is part of, as a copy of whole rows has it. Rows of one line share it.
    pub record: Option<Arc<str>>,
    /// The card it belongs to.
    pub card: Option<CardRow>,
}

impl Row {
    /// A row without text.
    pub fn blank(start: usize) -> Self {
        Self { start, ..Self::default() }
    }

    /// Drawn columns.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| width::of(&span.content)).sum()
    }

    /// What is drawn.
    pub fn drawn(&self) -> String {
        self.spans.iter().map(|span| span.content.as_ref()).collect()
    }

    /// What is text on the row, from the left: the columns of a character, or of what stands for something else, and what
    /// a copy has in their place.
    pub fn pieces(&self) -> impl Iterator<Item = (Range<usize>, &str)> {
        let gutter = usize::from(self.gutter);
        let spans = if self.is_decoration { &[] } else { self.spans.as_slice() };
        let mut written = self.written.iter().peekable();
        let mut column = 0;
        let graphemes = spans.iter().flat_map(|span| span.content.graphemes(true)).flat_map(without_blank);
        let pieces = graphemes.filter_map(move |grapheme| {
            let width = width::of_grapheme(grapheme);
            let start = column;
            column += width;
            while written.next_if(|written| usize::from(written.columns.end) <= start).is_some() {}
            // What takes no columns stands before them.
            let stands_for =
                written.peek().filter(|written| width > 0 && usize::from(written.columns.start) <= start);
            match stands_for {
                Some(written) if usize::from(written.columns.start) == start => {
                    let columns = start..usize::from(written.columns.end);
                    Some((columns, written.text.as_ref()))
                }
                // It was taken already.
                Some(_) => None,
                None => Some((start..column, grapheme)),
            }
        });
        let end = self.text_end.map_or(usize::MAX, usize::from);
        pieces.filter(move |(columns, _)| columns.start >= gutter && columns.start < end)
    }

    /// The text in some columns, without what is no text.
    pub fn text_in(&self, columns: Range<usize>) -> String {
        let pieces = self.pieces().skip_while(|(piece, _)| piece.start < columns.start);
        pieces.take_while(|(piece, _)| piece.start < columns.end).map(|(_, text)| text).collect()
    }

    /// The text of the row.
    pub fn text(&self) -> String {
        self.text_in(0..usize::MAX)
    }

    /// The address under a column.
    pub fn link_at(&self, column: u16) -> Option<&Arc<str>> {
        self.links.iter().find(|link| link.columns.contains(&column)).map(|link| &link.url)
    }

    /// Puts something in front of the row. `is_text` keeps it in a copy.
    pub fn prefix(&mut self, spans: &[Span<'static>], is_text: bool) {
        let columns: usize = spans.iter().map(|span| width::of(&span.content)).sum();
        let columns = u16::try_from(columns).unwrap_or(u16::MAX);
        self.spans.splice(0..0, spans.iter().cloned());
        if is_text && self.gutter > 0 {
            // A gutter reaches to the left edge: one that has text left of it is columns without text.
            self.written.retain(|written| written.columns.start >= self.gutter);
            self.written.insert(0, Written { columns: 0..self.gutter, text: Cow::Borrowed("") });
            self.gutter = 0;
        } else if !is_text {
            self.gutter = self.gutter.saturating_add(columns);
        }
        if let Some(end) = &mut self.text_end {
            *end = end.saturating_add(columns);
        }
        let moved =
            |range: &Range<u16>| range.start.saturating_add(columns)..range.end.saturating_add(columns);
        for link in &mut self.links {
            link.columns = moved(&link.columns);
        }
        for written in &mut self.written {
            written.columns = moved(&written.columns);
        }
        if let Some((column, _)) = &mut self.ground {
            *column = column.saturating_add(columns);
        }
    }
}

/// A grapheme, its blank apart: a mark with a column of its own joins the blank before it, and that may be a tab's.
fn without_blank(grapheme: &str) -> impl Iterator<Item = &str> {
    let mark = grapheme.strip_prefix(' ').filter(|mark| width::of_grapheme(mark) > 0);
    let (first, second) = if mark.is_some() { (" ", mark) } else { (grapheme, None) };
    std::iter::once(first).chain(second)
}

/// Rows as the text they stand for: wrapped lines whole again, decoration left out, no blanks at the ends of lines.
pub fn copy<'a>(rows: impl IntoIterator<Item = &'a Row>) -> String {
    let mut text = String::new();
    let mut is_first = true;
    let mut record: Option<&Arc<str>> = None;
    for row in rows {
        if row.is_decoration {
            continue;
        }
        let is_more = matches!((record, &row.record), (Some(last), Some(own)) if Arc::ptr_eq(last, own));
        record = row.record.as_ref();
        if is_more {
            continue;
        }
        match row.joint {
            Joint::Soft(blanks) if !is_first => text.extend(std::iter::repeat_n(' ', usize::from(blanks))),
            Joint::Soft(_) | Joint::Line => {
                text.truncate(text.trim_end_matches(' ').len());
                if !is_first {
                    text.push('\n');
                }
            }
        }
        match &row.record {
            Some(record) => text.push_str(record),
            None => text.push_str(&row.text()),
        }
        is_first = false;
    }
    text.truncate(text.trim_end_matches(' ').len());
    text
}

#[cfg(test)]
#[path = "row_tests.rs"]
mod tests;
