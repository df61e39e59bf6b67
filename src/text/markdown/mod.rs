//! Markdown as rows.
//!
//! | file | what it is |
//! |---|---|
//! | [`stream`] | a text that grows: finished blocks are laid out once, the rest again |
//! | `blocks` | headings, lists, rules, footnotes |
//! | `cards` | code and quotes |
//! | `inline` | text within a block: emphasis, code, links, pictures |
//! | `table` | tables, fitted to the width |
//! | `unfinished` | marks at the end of a growing text whose other half has not come |
//!
//! A document is cut into its top-level blocks, and each is read alone with the link definitions that stood before it.
//! That is what makes a text that came in pieces look like one that came whole.

mod blocks;
mod cards;
mod inline;
pub mod stream;
mod table;
mod unfinished;

use super::row::Row;
use crate::theme::Theme;
pub use cards::{LABEL_COLUMNS, LEAST_COLUMNS, TALL_CARD};
use pulldown_cmark::Options;
use stream::MarkdownStream;

/// A block that can be copied as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Code or quote.
    pub kind: CardKind,
    /// What a copy of it is: code as it was written, a quote without its marks.
    pub text: String,
    /// It has ended. The last one of a text that still comes may not have.
    pub is_closed: bool,
}

/// What a card holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardKind {
    /// Code, with the word behind its fence.
    Code {
        /// As written; may be empty.
        language: String,
    },
    /// A quote.
    Quote,
}

/// A whole text as rows and cards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// From the top.
    pub rows: Vec<Row>,
    /// Rows name them by index.
    pub cards: Vec<Card>,
}

/// Lays out a whole text.
pub fn render(source: &str, theme: &Theme, columns: usize) -> Document {
    let mut stream = MarkdownStream::new();
    stream.push(source);
    stream.layout(theme, columns);
    stream.into_document()
}

/// The cards of a whole text, without its look: neither width nor colours are part of what is copied, and to read code for
/// its colours takes most of the time.
pub fn cards(source: &str) -> Vec<Card> {
    let mut stream = MarkdownStream::plain();
    stream.push(source);
    stream.layout(&Theme::terminal(), PLAIN_COLUMNS);
    stream.into_document().cards
}

/// Nothing is wrapped at it but what is longer than most screens.
const PLAIN_COLUMNS: usize = 200;

/// What is understood beyond CommonMark.
pub const fn options() -> Options {
    Options::ENABLE_TABLES
        .union(Options::ENABLE_FOOTNOTES)
        .union(Options::ENABLE_STRIKETHROUGH)
        .union(Options::ENABLE_TASKLISTS)
        .union(Options::ENABLE_MATH)
}

/// Nothing but what Markdown takes for blanks. A line of other blanks (U+2028, U+00A0) is text to it, and holds a paragraph
/// together.
fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c))
}

#[cfg(test)]
mod tests;
