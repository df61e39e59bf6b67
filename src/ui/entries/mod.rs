//! Items of the transcript as rows. Which item becomes which rows is decided here and nowhere else; where they stand in
//! the window is the pane's business.
//!
//! | file | what it is |
//! |---|---|
//! | `user` `reply` [`thinking`] `custom` `notice` `turn_end` | one kind of item each |
//! | `call` `shell` | a band, and what stands under it |
//! | `compaction` | the summary that takes the place of what was said |
//! | `plain_call` | a call without a band, where the user wants none |
//! | [`run`] | the line that stands for a run of work |
//! | `outcome` | what a result says about how its call ended |
//! | `steps` | the steps of a shell command of several |
//! | `title` | what a call is about, by tool |
//! | `facts` | what a result holds, in a few words |
//! | `draft` | arguments that are still being written |
//! | `preview` | the newest words of them |
//! | `newest` | the newest rows of any text that grows |
//! | `body` | output, differences and listings on the panel under a band |
//! | [`whole`] | all that an item holds, for the sheet over the screen |
//! | `estimate` | heights before anything is laid out |
//!
//! Rows with a ground reach the left edge and hold their mark themselves (`indent` is 0): a ground that began beside the
//! mark would show a hole.

mod body;
mod call;
mod compaction;
mod custom;
mod draft;
mod estimate;
mod facts;
pub mod jobs;
mod newest;
mod notice;
mod outcome;
mod plain_call;
mod preview;
mod reply;
pub mod run;
mod shell;
pub mod steps;
pub mod thinking;
mod title;
mod turn_end;
mod user;
pub mod whole;

use super::band::{self, Band, Edge, seg, state};
use super::look::Look;
use super::scene::NextDeadline;
use crate::text::markdown::Card;
use crate::text::row::Row;
use crate::theme::role::Role;
use crate::transcript::item::{Body, Item};
use crate::transcript::layout::Weighed;
use body::Panel;
use ratatui::text::Span;
use std::sync::Arc;

pub use call::band_of as call_band;
pub use estimate::estimate;

/// What an item is laid out for. Everything here is part of the key under which a layout is kept. The blank row above it is
/// the pane's: it depends on the item above.
#[derive(Clone, Copy, Debug)]
pub struct EntryCx<'a> {
    /// The look of the frame.
    pub look: &'a Look<'a>,
    /// Columns of the window.
    pub width: u16,
    /// Drawn whole: what was wished for this item, else for all.
    pub open: bool,
}

/// Columns from the mark to the text beside it.
const MARGIN: u16 = 2;

impl EntryCx<'_> {
    /// Columns of the mark and the blank behind it: less where nothing would be left for the text.
    pub(super) const fn margin(&self) -> u16 {
        let most = self.width.saturating_sub(1);
        if most < MARGIN { most } else { MARGIN }
    }

    /// Columns beside the mark, at least one.
    fn room(&self) -> usize {
        usize::from(self.width.saturating_sub(self.margin()).max(1))
    }
}

/// An item as rows.
#[derive(Debug, Default)]
pub struct Layout {
    /// From the top. None is wider than the window less `indent`.
    pub rows: Vec<Row>,
    /// Columns at the left that belong to the mark.
    pub indent: u16,
    /// What stands there in the first row.
    pub mark: Option<Span<'static>>,
    /// What can be copied as a whole; rows name them by index.
    pub cards: Vec<Card>,
    /// Rows that change by themselves, by index: they are drawn anew in each frame in which they are seen, while the rest of
    /// the layout is kept. What stands in `rows` in their place is what they were when the layout was made.
    pub moving: Vec<(usize, Arc<dyn Moving>)>,
    /// When it is no longer true by itself. A layout that asks for this is made anew in the next frame.
    pub next: NextDeadline,
}

/// A row that changes by itself: times, fills, what is new of a text.
pub trait Moving: std::fmt::Debug + Send + Sync {
    /// The row at this moment, no wider than `cx` says; tells `next` when it will be another one. It must show the text
    /// that the layout's row holds, or nobody can select it.
    fn row(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row;

    /// The same where so many sweeps are in view: they take larger steps then.
    fn row_among(&self, _sweeps: usize, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        self.row(cx, next)
    }

    /// Whether a light sweeps over it.
    fn is_sweep(&self) -> bool {
        false
    }
}

impl Layout {
    /// A band and what stands under it.
    fn under(band: Band, below: Panel<'_>, cx: &EntryCx<'_>) -> Self {
        let rows = vec![band.row(cx, Edge::Bullet, &mut NextDeadline::default())];
        let moving: Vec<(usize, Arc<dyn Moving>)> =
            if band.is_moving() { vec![(0, Arc::new(band))] } else { Vec::new() };
        let mut layout = Self { rows, moving, ..Self::default() };
        below.under(&mut layout);
        layout
    }

    /// Rows on the page beside a mark.
    fn beside(cx: &EntryCx<'_>, mark: &'static str, role: Role, rows: Vec<Row>) -> Self {
        let indent = cx.margin();
        let mark = (indent > 0).then(|| Span::styled(mark, cx.look.theme.style(role)));
        Self { rows, indent, mark, ..Self::default() }
    }
}

impl Weighed for Layout {
    fn bytes(&self) -> usize {
        let spans = self.rows.iter().flat_map(|row| &row.spans);
        let text: usize = spans.map(|span| span.content.len() + size_of::<Span<'static>>()).sum();
        text + self.rows.len() * size_of::<Row>()
            + self.cards.iter().map(|card| card.text.len()).sum::<usize>()
    }
}

/// Lays an item out. A reply that streams is not laid out here, nor is thinking that is shown whole while it
/// streams: the pane asks their streams for rows.
pub fn lay_out(item: &Item, cx: &EntryCx<'_>) -> Layout {
    let mut layout = match &item.body {
        Body::User(user) => user::lay_out(user, cx),
        Body::Reply(prose) => reply::lay_out(prose, cx),
        Body::Thinking(thinking) => thinking::lay_out(thinking, cx),
        Body::Call(call) => call::lay_out(call, cx),
        Body::Shell(shell) => shell::lay_out(shell, cx),
        Body::Compaction(compaction) => compaction::lay_out(compaction, cx),
        Body::Custom { label, text } => custom::lay_out(label, text, cx),
        Body::Jobs(jobs) => jobs::lay_out(jobs, cx),
        Body::Notice { level, text } => notice::lay_out(*level, text, cx),
        Body::TurnEnd(end) => turn_end::lay_out(end, cx),
    };
    // Places in the content are found by halving, so starts must never fall.
    let mut start = 0;
    for row in &mut layout.rows {
        start = start.max(row.start);
        row.start = start;
    }
    if layout.rows.is_empty() {
        // A reply of nothing but blanks, only definitions of links, a compaction that was stopped a while ago.
        return Layout::default();
    }
    layout
}

#[cfg(test)]
mod tests;
