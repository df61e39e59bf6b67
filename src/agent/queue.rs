//! The queue of prompts that wait, and the texts said to the running turn. Pure: the session passes in the time.
//!
//! Invariants:
//! - A ticket leaves exactly once: taken to run, delivered into the turn, or removed. Only the user's removal, `clear`
//!   and `teardown` take something away unrun.
//! - Order is the order of submission, except for what the user moves, sends now, or submits while nothing runs. Those
//!   *urgent* rows stand first, in the order of the gestures.
//! - A stale version changes nothing. Only an edit changes the version.
//! - A held row is not run and lets nobody pass, so the order holds while it is edited. Every hold ends by itself.
//! - After a stop gesture nothing runs until the user speaks (submits, steers, sends a row now) or releases the hold.

use crate::proto::command::{CancelReason, Placement, Prompt, QueueCommand};
use crate::proto::ids::TicketId;
use crate::proto::message::{Block, text_of};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A hold lasts no longer than this, whatever was asked: a front end that died must not block the queue for ever.
pub const MAX_LEASE: Duration = Duration::from_secs(600);

/// Characters of a prompt in a view.
const MOST_SHORT: usize = 500;

/// Prompts that wait. See the module for what holds.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Said to the running turn, not delivered yet.
    steering: Vec<Row>,
    /// Prompts for turns of their own; the urgent ones first.
    waiting: Vec<Row>,
    /// Set by a stop gesture.
    all_held: bool,
}

/// A prompt that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Resolves exactly once.
    pub ticket: TicketId,
    /// Counts the edits.
    pub version: u32,
    /// What to run.
    pub prompt: Arc<Prompt>,
    /// Not to be run before this time.
    pub held_until: Option<Instant>,
    /// Stands before all rows that are not.
    urgent: bool,
}

/// What a change of the queue did, for the session to act on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct QueueOutcome {
    /// Something is different now; listeners should hear of it.
    pub changed: bool,
    /// These prompts were taken away: their tickets resolve as removed.
    pub removed: Vec<TicketId>,
    /// The running turn, if there is one, is to be stopped for the first row.
    pub stop_turn: bool,
}

/// The queue at one moment, for views.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueSnapshot {
    /// Texts waiting for the running turn, in order.
    pub steering: Vec<Row>,
    /// Prompts waiting for turns of their own, in order.
    pub waiting: Vec<Row>,
    /// A stop gesture holds all of them.
    pub all_held: bool,
}

impl Row {
    /// What a list shows: the short form if there is one.
    pub fn text(&self) -> String {
        self.prompt.display.clone().unwrap_or_else(|| text_of(&self.prompt.content))
    }

    /// The beginning of [`Self::text`].
    pub fn short(&self) -> String {
        if let Some(display) = &self.prompt.display {
            return display.chars().take(MOST_SHORT).collect();
        }
        // Not by way of the whole text: a prompt can hold megabytes, and views are made often.
        let texts = self.prompt.content.iter().filter_map(|block| match block {
            Block::Text { text, .. } => Some(text.as_str()),
            Block::Thinking { .. } | Block::Image { .. } | Block::ToolCall(_) | Block::Unknown => None,
        });
        let short: String =
            texts.flat_map(|text| text.chars().chain(std::iter::once('\n'))).take(MOST_SHORT).collect();
        short.trim_end_matches('\n').to_owned()
    }

    /// Not to be run at this time.
    pub fn is_held(&self, now: Instant) -> bool {
        self.held_until.is_some_and(|until| now < until)
    }
}

impl Queue {
    /// Adds a prompt. While no turn runs it is urgent: the user expects it to run at once, even before rows that a stop
    /// gesture or an edit holds.
    pub fn submit(
        &mut self,
        ticket: TicketId,
        prompt: Prompt,
        placement: Placement,
        turn_running: bool,
    ) -> QueueOutcome {
        self.all_held = false;
        let row = Row { ticket, version: 0, prompt: Arc::new(prompt), held_until: None, urgent: false };
        match placement {
            Placement::Replace => self.insert_urgent(row),
            Placement::Back | Placement::Next if !turn_running => self.insert_urgent(row),
            Placement::Back => self.waiting.push(row),
            Placement::Next => self.waiting.insert(self.urgent_rows(), row),
        }
        QueueOutcome { changed: true, stop_turn: placement == Placement::Replace, ..QueueOutcome::default() }
    }

    /// Says something to the running turn; without one it is a prompt of its own.
    pub fn steer(&mut self, ticket: TicketId, prompt: Prompt, turn_running: bool) -> QueueOutcome {
        if !turn_running {
            return self.submit(ticket, prompt, Placement::Back, turn_running);
        }
        self.all_held = false;
        self.steering.push(Row {
            ticket,
            version: 0,
            prompt: Arc::new(prompt),
            held_until: None,
            urgent: false,
        });
        changed()
    }

    /// Does what the user asks of the queue.
    pub fn apply(&mut self, command: QueueCommand, now: Instant) -> QueueOutcome {
        match command {
            QueueCommand::Edit { ticket, version, prompt } => self.edit(ticket, version, prompt),
            QueueCommand::Remove { ticket, version } => self.remove(ticket, version),
            QueueCommand::Move { ticket, before } => self.move_row(ticket, before),
            QueueCommand::Clear => self.clear(),
            QueueCommand::SendNow { ticket, version } => self.send_now(ticket, version),
            QueueCommand::Hold { ticket, lease } => self.hold(ticket, lease, now),
            QueueCommand::Release { ticket: Some(ticket) } => self.release(ticket),
            QueueCommand::Release { ticket: None } => {
                QueueOutcome { changed: std::mem::take(&mut self.all_held), ..QueueOutcome::default() }
            }
        }
    }

    /// Takes the prompt that is to run next, if one may.
    pub fn take_next(&mut self, now: Instant) -> Option<Row> {
        if self.all_held || self.waiting.first()?.is_held(now) {
            return None;
        }
        Some(self.waiting.remove(0))
    }

    /// When [`Self::take_next`] could give a prompt that it does not give now; for a timer.
    pub fn next_release(&self, now: Instant) -> Option<Instant> {
        let first = self.waiting.first().filter(|_| !self.all_held)?;
        first.held_until.filter(|until| now < *until)
    }

    /// Takes what is to be delivered into the running turn, in order, up to a held one.
    pub fn take_steering(&mut self, now: Instant) -> Vec<Row> {
        let free = self.steering.iter().take_while(|row| !row.is_held(now)).count();
        self.steering.drain(..free).collect()
    }

    /// A turn ended by itself: what it was not told any more becomes prompts, before the rows that are not urgent.
    pub fn turn_ended(&mut self) -> QueueOutcome {
        let place = self.urgent_rows();
        self.strand_steering(place)
    }

    /// A turn is stopped. Nothing typed is lost, except by `Teardown`: its tickets are in `removed` and resolve as
    /// cancelled.
    pub fn turn_cancelled(&mut self, reason: CancelReason) -> QueueOutcome {
        match reason {
            CancelReason::Replace => self.turn_ended(),
            CancelReason::Stop => {
                // The prompt that the user types next comes before everything that waits.
                for row in &mut self.waiting {
                    row.urgent = false;
                }
                let stranded = self.strand_steering(0);
                let newly_held = !std::mem::replace(&mut self.all_held, true);
                QueueOutcome { changed: stranded.changed || newly_held, ..stranded }
            }
            CancelReason::Teardown => {
                let rows = self.steering.drain(..).chain(self.waiting.drain(..));
                let removed: Vec<TicketId> = rows.map(|row| row.ticket).collect();
                QueueOutcome { changed: !removed.is_empty(), removed, stop_turn: false }
            }
        }
    }

    /// The queue as it is, for views.
    pub fn snapshot(&self) -> QueueSnapshot {
        QueueSnapshot {
            steering: self.steering.clone(),
            waiting: self.waiting.clone(),
            all_held: self.all_held,
        }
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.steering.is_empty() && self.waiting.is_empty()
    }

    fn edit(&mut self, ticket: TicketId, version: u32, prompt: Prompt) -> QueueOutcome {
        if prompt.is_blank() {
            return QueueOutcome::default();
        }
        match self.row_mut(ticket) {
            Some(row) if row.version == version && *row.prompt != prompt => {
                row.prompt = Arc::new(prompt);
                row.version = row.version.saturating_add(1);
                changed()
            }
            Some(_) | None => QueueOutcome::default(),
        }
    }

    fn remove(&mut self, ticket: TicketId, version: u32) -> QueueOutcome {
        match self.take(ticket, version) {
            Some(row) => QueueOutcome { changed: true, removed: vec![row.ticket], stop_turn: false },
            None => QueueOutcome::default(),
        }
    }

    fn move_row(&mut self, ticket: TicketId, before: Option<TicketId>) -> QueueOutcome {
        let Some(from) = self.place(ticket) else { return QueueOutcome::default() };
        if before == Some(ticket) || before.is_some_and(|before| self.place(before).is_none()) {
            return QueueOutcome::default();
        }
        let mut row = self.waiting.remove(from);
        let to = before.and_then(|before| self.place(before)).unwrap_or(self.waiting.len());
        // A row takes on the urgency of its new place, so that urgent rows stay first.
        row.urgent = self.waiting.get(to).is_some_and(|next| next.urgent);
        self.waiting.insert(to, row);
        QueueOutcome { changed: to != from, ..QueueOutcome::default() }
    }

    fn clear(&mut self) -> QueueOutcome {
        let removed: Vec<TicketId> = self.waiting.drain(..).map(|row| row.ticket).collect();
        QueueOutcome { changed: !removed.is_empty(), removed, stop_turn: false }
    }

    fn send_now(&mut self, ticket: TicketId, version: u32) -> QueueOutcome {
        let Some(mut row) = self.take(ticket, version) else { return QueueOutcome::default() };
        row.held_until = None;
        self.all_held = false;
        self.insert_urgent(row);
        QueueOutcome { changed: true, stop_turn: true, ..QueueOutcome::default() }
    }

    fn hold(&mut self, ticket: TicketId, lease: Duration, now: Instant) -> QueueOutcome {
        let Some(row) = self.row_mut(ticket) else { return QueueOutcome::default() };
        row.held_until = Some(now + lease.min(MAX_LEASE));
        changed()
    }

    fn release(&mut self, ticket: TicketId) -> QueueOutcome {
        let was_held = self.row_mut(ticket).and_then(|row| row.held_until.take()).is_some();
        QueueOutcome { changed: was_held, ..QueueOutcome::default() }
    }

    fn strand_steering(&mut self, place: usize) -> QueueOutcome {
        let changed = !self.steering.is_empty();
        self.waiting.splice(place..place, self.steering.drain(..));
        QueueOutcome { changed, ..QueueOutcome::default() }
    }

    fn insert_urgent(&mut self, mut row: Row) {
        row.urgent = true;
        self.waiting.insert(self.urgent_rows(), row);
    }

    fn urgent_rows(&self) -> usize {
        self.waiting.iter().take_while(|row| row.urgent).count()
    }

    fn place(&self, ticket: TicketId) -> Option<usize> {
        self.waiting.iter().position(|row| row.ticket == ticket)
    }

    fn row_mut(&mut self, ticket: TicketId) -> Option<&mut Row> {
        self.steering.iter_mut().chain(&mut self.waiting).find(|row| row.ticket == ticket)
    }

    fn take(&mut self, ticket: TicketId, version: u32) -> Option<Row> {
        let is_it = |row: &Row| row.ticket == ticket && row.version == version;
        for rows in [&mut self.steering, &mut self.waiting] {
            if let Some(place) = rows.iter().position(is_it) {
                return Some(rows.remove(place));
            }
        }
        None
    }
}

fn changed() -> QueueOutcome {
    QueueOutcome { changed: true, ..QueueOutcome::default() }
}

#[cfg(test)]
mod tests;
