//! One drawn row, and what a copy of it is.
//!
//! A row knows which of its columns are text and which are decoration (bars, line numbers, indentation that wrapping
//! added), and how it hangs together with the row above. So a selection of rows can be copied as the text that was
//! written, whatever the width it was drawn at.

use super::width;
use ratatui::style::Color;
use ratatui::text::Span;
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

    /// The text in some columns, without what is no text.
    pub fn text_in(&self, columns: Range<usize>) -> String {
        if self.is_decoration {
            return String::new();
        }
        let from = columns.start.max(usize::from(self.gutter));
        let to = self.text_end.map_or(columns.end, |end| columns.end.min(usize::from(end)));
        let mut column = 0;
        let mut text = String::new();
        for grapheme in self.spans.iter().flat_map(|span| span.content.graphemes(true)) {
            if column >= to {
                break;
            }
            if column >= from {
                text.push_str(grapheme);
            }
            column += width::of_grapheme(grapheme);
        }
        text
    }

    /// The text of the row.
    pub fn text(&self) -> String {
        self.text_in(0..usize::MAX)
    }

    /// The address under a column.
    pub fn link_at(&self, column: u16) -> Option<&Arc<str>> {
        self.links.iter().find(|link| link.columns.contains(&column)).map(|link| &link.url)
    }

    /// Puts something in front of the row. `is_text` keeps it in a copy, unless a gutter stands right of it.
    pub fn prefix(&mut self, spans: &[Span<'static>], is_text: bool) {
        let columns: usize = spans.iter().map(|span| width::of(&span.content)).sum();
        let columns = u16::try_from(columns).unwrap_or(u16::MAX);
        self.spans.splice(0..0, spans.iter().cloned());
        if self.gutter > 0 || !is_text {
            self.gutter = self.gutter.saturating_add(columns);
        }
        if let Some(end) = &mut self.text_end {
            *end = end.saturating_add(columns);
        }
        for link in &mut self.links {
            link.columns.start = link.columns.start.saturating_add(columns);
            link.columns.end = link.columns.end.saturating_add(columns);
        }
        if let Some((column, _)) = &mut self.ground {
            *column = column.saturating_add(columns);
        }
    }
}

/// Rows as the text they stand for: wrapped lines whole again, decoration left out, no blanks at the ends of lines.
pub fn copy<'a>(rows: impl IntoIterator<Item = &'a Row>) -> String {
    let mut text = String::new();
    let mut is_first = true;
    for row in rows {
        if row.is_decoration {
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
        text.push_str(&row.text());
        is_first = false;
    }
    text.truncate(text.trim_end_matches(' ').len());
    text
}
