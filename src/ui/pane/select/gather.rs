//! The copy of what is selected. One of a whole long session takes seconds: it is done in parts, between which the program
//! lives on.

use super::SETTER;
use crate::transcript::conversation::Conversation;
use crate::transcript::item::Body;
use crate::transcript::select::{Pieces, Selection};
use crate::ui::look::Look;
use crate::ui::pane::{Pane, Setter};

/// A copy that is being put together.
#[derive(Debug)]
pub struct Gather {
    selection: Selection,
    next: usize,
    pieces: Pieces,
    generation: u64,
}

impl Gather {
    /// How much of it is done, in hundredths.
    pub fn percent(&self) -> usize {
        let (from, to) = self.selection.ends();
        (self.next - from.item) * 100 / (to.item + 1 - from.item)
    }
}

/// What a part of the work gave.
#[derive(Debug)]
pub enum Gathered {
    /// The text is whole.
    Whole(String),
    /// There is more to do.
    Part(Box<Gather>),
    /// What was selected is gone: another session was opened.
    Gone,
}

impl Pane {
    /// Begins a copy of what is selected.
    pub fn gather(&self) -> Option<Gather> {
        let selection = self.selecting.selection.filter(|selection| !selection.is_empty())?;
        let next = selection.ends().0.item;
        Some(Gather { selection, next, pieces: Pieces::default(), generation: self.generation })
    }

    /// Goes on with a copy, until so many rows were laid out or all is done.
    pub fn gather_on(
        &mut self,
        conversation: &mut Conversation,
        look: &Look<'_>,
        gather: Gather,
        rows: usize,
    ) -> Gathered {
        self.gather_with(SETTER, conversation, look, gather, rows)
    }

    pub(in crate::ui::pane) fn gather_with(
        &mut self,
        setter: Setter<'_>,
        conversation: &mut Conversation,
        look: &Look<'_>,
        mut gather: Gather,
        rows: usize,
    ) -> Gathered {
        if gather.generation != conversation.generation() {
            return Gathered::Gone;
        }
        let last = gather.selection.ends().1.item;
        let mut left = rows;
        let done = self.with_frame(setter, conversation, look, |frame, _, _, _| {
            while gather.next <= last && left > 0 {
                let item = gather.next;
                gather.next += 1;
                let Some(bytes) = gather.selection.bytes_of(item) else { continue };
                let is_call = matches!(
                    frame.conversation.items().get(item).map(|item| &item.body),
                    Some(Body::Call(_))
                );
                let (piece, rows) = frame
                    .read_once(item, |rows, texts| (texts.copy(rows, &bytes), rows.len()))
                    .unwrap_or_default();
                let is_drawn = rows > 0 || is_call;
                if is_drawn {
                    gather.pieces.add(&piece, is_call, rows);
                }
                // What is hidden costs something, too.
                left = left.saturating_sub(rows.max(1));
            }
            gather.next > last
        });
        match done {
            Some(true) => Gathered::Whole(gather.pieces.into_text()),
            Some(false) => Gathered::Part(Box::new(gather)),
            None => Gathered::Gone,
        }
    }
}
