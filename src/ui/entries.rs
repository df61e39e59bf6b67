//! Items of the transcript as rows. Which item becomes which rows is decided here and nowhere else; where they stand in
//! the window is the pane's business.

use super::look::Look;
use super::scene::NextDeadline;
use crate::text::markdown::Card;
use crate::text::row::Row;
use crate::transcript::item::Item;
use crate::transcript::layout::Weighed;
use ratatui::text::Span;

/// What an item is laid out for. Everything here is part of the key under which a layout is kept.
#[derive(Clone, Copy, Debug)]
pub struct EntryCx<'a> {
    /// The look of the frame.
    pub look: &'a Look<'a>,
    /// Columns of the window.
    pub width: u16,
    /// Drawn whole: what was wished for this item, else for all.
    pub open: bool,
    /// A blank row stands above it.
    pub gap: bool,
}

/// An item as rows.
#[derive(Debug, Default)]
pub struct Layout {
    /// From the top; the gap above is the first of them. None is wider than the window less `indent`.
    pub rows: Vec<Row>,
    /// Columns at the left that belong to the mark.
    pub indent: u16,
    /// What stands there in the first row that is no gap.
    pub mark: Option<Span<'static>>,
    /// What can be copied as a whole; rows name them by index.
    pub cards: Vec<Card>,
    /// When it is no longer true by itself. A layout that asks for this is made anew in the next frame.
    pub next: NextDeadline,
}

impl Weighed for Layout {
    fn bytes(&self) -> usize {
        let spans = self.rows.iter().flat_map(|row| &row.spans);
        let text: usize = spans.map(|span| span.content.len() + size_of::<Span<'static>>()).sum();
        text + self.rows.len() * size_of::<Row>()
            + self.cards.iter().map(|card| card.text.len()).sum::<usize>()
    }
}

/// Lays an item out. A reply that streams is not laid out here: the pane asks its stream for rows.
pub fn lay_out(item: &Item, cx: &EntryCx<'_>) -> Layout {
    let _ = (item, cx);
    Layout::default()
}

/// Rows that an item will take, before it is laid out. Cheap, and right to a factor of two.
pub fn estimate(item: &Item, width: u16) -> u32 {
    let _ = (item, width);
    1
}
