//! What a click means.

use super::layers::sheet::SheetPart;
use crate::proto::ids::{JobId, TicketId};
use std::sync::Arc;

/// What lies at a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The transcript, beside its items.
    Transcript,
    /// A row of an item that opens or closes it: its head, or a note of what is hidden.
    Item(usize),
    /// The line of a run of work, by its first item, or the row that closes it.
    Run(usize),
    /// The text of an item: it is read and selected.
    Text(usize),
    /// A block of an item that is copied as a whole.
    Card {
        /// The item.
        item: usize,
        /// Index into its cards.
        card: usize,
    },
    /// An address.
    Link(Arc<str>),
    /// The mark that says that there is more below.
    Below,
    /// The prompt at the top that what is read belongs to: a click goes to it.
    Heading,
    /// The bar at the right edge.
    Scrollbar,
    /// The composer.
    Composer,
    /// A completion, by index into the candidates.
    Completion(usize),
    /// A row that waits in the queue.
    Queued(TicketId),
    /// The row of a background job.
    Job(JobId),
    /// The note on jobs that have no row.
    Jobs,
    /// Something of the footer.
    Footer(FooterPart),
    /// A choice or button of the topmost layer, by its index there.
    Choice(usize),
    /// Something of the sheet.
    Sheet(SheetPart),
    /// The topmost layer, beside its choices.
    Layer,
    /// Beside the topmost layer: closes it.
    Beside,
}

/// What of the footer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FooterPart {
    /// The model: a click opens the picker.
    Model,
    /// The thinking level: a click goes to the next one.
    Thinking,
    /// The permission mode: a click goes to the next one.
    Mode,
    /// The number of tools: a click counts calls, or steps.
    Tools,
}
