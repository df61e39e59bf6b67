//! The event queue between an agent and its listeners.
//!
//! Every listener has its own queue, so a slow one holds up nobody. What is pending is merged where nothing is lost:
//! text for the same block becomes one patch, new output of the same call one event. Everything else waits its turn.
//!
//! Invariants:
//! - Numbers rise for every listener. A merged event keeps the number of its first part.
//! - A delta joins the pending delta of its block or call only if no other event of that entry or call lies between.
//!   So the order within an entry and within a call is the order of publishing.
//! - Nothing drops but the oldest output of a call, or of the user's command, of which more than [`PROGRESS_CAP`] bytes are pending.
//! - `close` ends the queues, it does not empty them: what was published is still read.

use crate::proto::entry::EntryPatch;
use crate::proto::event::{AgentEvent, Numbered};
use crate::proto::ids::{CallId, EntryId};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;

/// Bytes of output of one call that may be pending for one listener.
pub const PROGRESS_CAP: usize = 256 * 1024;

/// Stands where output was dropped.
pub const PROGRESS_DROPPED: &str = "[earlier output was dropped]\n";

/// The sending side. Clones are the same outbox; it closes when the last one is gone.
#[derive(Clone, Debug, Default)]
pub struct Outbox(Arc<Sender>);

#[derive(Debug, Default)]
struct Sender(Mutex<Listeners>);

#[derive(Debug, Default)]
struct Listeners {
    last_seq: u64,
    closed: bool,
    mailboxes: Vec<Weak<Mailbox>>,
}

#[derive(Debug, Default)]
struct Mailbox {
    pending: Mutex<Pending>,
    arrived: Notify,
    /// Something that somebody waits for has arrived.
    urgent: Notify,
}

impl Outbox {
    /// An outbox without listeners. What is published before the first one subscribes is heard by nobody.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells every listener. After `close` nothing is told any more.
    pub fn publish(&self, event: AgentEvent) {
        // Held until every mailbox has the event: all listeners see the same order.
        let mut listeners = lock(&self.0.0);
        if listeners.closed {
            return;
        }
        let is_urgent = is_urgent(&event);
        listeners.last_seq += 1;
        let seq = listeners.last_seq;
        listeners.mailboxes.retain(|mailbox| {
            let Some(mailbox) = mailbox.upgrade() else { return false };
            lock(&mailbox.pending).push(Numbered { seq, event: event.clone() });
            mailbox.arrived.notify_one();
            if is_urgent {
                mailbox.urgent.notify_one();
            }
            true
        });
    }

    /// A listener that hears everything from now on.
    pub fn subscribe(&self) -> Listener {
        let mailbox = Arc::new(Mailbox::default());
        let mut listeners = lock(&self.0.0);
        if listeners.closed {
            lock(&mailbox.pending).closed = true;
        } else {
            listeners.mailboxes.push(Arc::downgrade(&mailbox));
        }
        drop(listeners);
        Listener(mailbox)
    }

    /// It is closed: nothing is told any more.
    pub fn is_closed(&self) -> bool {
        lock(&self.0.0).closed
    }

    /// Ends all queues: each listener reads what is pending, then hears that it is over.
    pub fn close(&self) {
        self.0.close();
    }
}

impl Sender {
    fn close(&self) {
        let mut listeners = lock(&self.0);
        listeners.closed = true;
        for mailbox in listeners.mailboxes.drain(..).filter_map(|mailbox| mailbox.upgrade()) {
            lock(&mailbox.pending).closed = true;
            mailbox.arrived.notify_one();
        }
    }
}

// An agent that ends in any way leaves no listener waiting for ever.
impl Drop for Sender {
    fn drop(&mut self) {
        self.close();
    }
}

/// Somebody waits for it: it is to be shown at once.
const fn is_urgent(event: &AgentEvent) -> bool {
    matches!(
        event,
        AgentEvent::PermissionAsked(_) | AgentEvent::TurnFinished { .. } | AgentEvent::Settled { .. }
    )
}

/// The receiving side. Dropping it frees its queue.
#[derive(Debug)]
pub struct Listener(Arc<Mailbox>);

impl Listener {
    /// The next event; `None` when the outbox is closed and everything was read. Safe to drop while it waits: no
    /// event is lost.
    pub async fn next(&mut self) -> Option<Numbered> {
        loop {
            {
                let mut pending = lock(&self.0.pending);
                if let Some(event) = pending.pop() {
                    return Some(event);
                }
                if pending.closed {
                    return None;
                }
            }
            // A publish between the check and here leaves a permit, so this returns at once.
            self.0.arrived.notified().await;
        }
    }

    /// Waits for the end of a turn or a question, for whoever lets other events gather. It may have been read already.
    pub async fn urgent(&self) {
        self.0.urgent.notified().await;
    }

    /// The next event, if one is pending.
    pub fn try_next(&mut self) -> Option<Numbered> {
        lock(&self.0.pending).pop()
    }
}

/// Events that one listener has not read yet.
#[derive(Debug, Default)]
struct Pending {
    events: VecDeque<Numbered>,
    /// Events read so far: the position of `events[0]` in the listener's whole stream.
    read: u64,
    /// Position of the pending append that an entry's next append may join.
    appends: HashMap<EntryId, u64>,
    /// Position of the pending output that a call's next output may join.
    outputs: HashMap<CallId, u64>,
    /// The same for the user's shell command, of which at most one runs.
    shell: Option<u64>,
    closed: bool,
}

impl Pending {
    fn push(&mut self, Numbered { seq, event }: Numbered) {
        let Some(event) = self.join(event) else { return };
        let position = self.read + self.events.len() as u64;
        match &event {
            AgentEvent::Entry { id, patch: EntryPatch::Append { .. } } => {
                self.appends.insert(id.clone(), position);
            }
            AgentEvent::Entry { id, .. } => {
                self.appends.remove(id);
            }
            AgentEvent::ToolProgress { call, .. } => {
                self.outputs.insert(call.clone(), position);
            }
            AgentEvent::ToolStarted { call, .. }
            // Output before and after belongs to different steps.
            | AgentEvent::ToolSteps { call, .. }
            | AgentEvent::ToolFinished { call, .. } => {
                self.outputs.remove(call);
            }
            AgentEvent::ShellProgress { .. } => self.shell = Some(position),
            AgentEvent::ShellStarted { .. } | AgentEvent::ShellFinished { .. } => self.shell = None,
            AgentEvent::TurnStarted { .. }
            | AgentEvent::RoundStarted { .. }
            | AgentEvent::RoundFinished { .. }
            | AgentEvent::RetryScheduled { .. }
            | AgentEvent::RetryFinished { .. }
            | AgentEvent::ToolWait { .. }
            | AgentEvent::CompactionStarted { .. }
            | AgentEvent::CompactionProgress { .. }
            | AgentEvent::CompactionFinished { .. }
            | AgentEvent::PermissionAsked(_)
            | AgentEvent::PermissionResolved { .. }
            | AgentEvent::TurnFinished { .. }
            | AgentEvent::Settled { .. }
            | AgentEvent::QueueChanged { .. }
            | AgentEvent::ModelChanged(_)
            | AgentEvent::ThinkingChanged(_)
            | AgentEvent::ModeChanged(_)
            | AgentEvent::Renamed(_)
            | AgentEvent::Notice { .. } => {}
        }
        self.events.push_back(Numbered { seq, event });
    }

    /// Adds a delta to the pending one of the same block or call; gives the event back if there is none.
    fn join(&mut self, event: AgentEvent) -> Option<AgentEvent> {
        match event {
            AgentEvent::Entry { id, patch: EntryPatch::Append { index, delta, usage } } => {
                let pending = self.appends.get(&id).copied();
                if let Some(AgentEvent::Entry {
                    patch: EntryPatch::Append { index: i, delta: d, usage: u },
                    ..
                }) = self.pending_at(pending)
                    && *i == index
                {
                    d.push_str(&delta);
                    *u = usage;
                    return None;
                }
                Some(AgentEvent::Entry { id, patch: EntryPatch::Append { index, delta, usage } })
            }
            AgentEvent::ToolProgress { call, mut delta } => {
                let pending = self.outputs.get(&call).copied();
                if let Some(AgentEvent::ToolProgress { delta: text, .. }) = self.pending_at(pending) {
                    text.push_str(&delta);
                    cap_output(text);
                    return None;
                }
                cap_output(&mut delta);
                Some(AgentEvent::ToolProgress { call, delta })
            }
            AgentEvent::ShellProgress { mut delta } => {
                if let Some(AgentEvent::ShellProgress { delta: text }) = self.pending_at(self.shell) {
                    text.push_str(&delta);
                    cap_output(text);
                    return None;
                }
                cap_output(&mut delta);
                Some(AgentEvent::ShellProgress { delta })
            }
            other => Some(other),
        }
    }

    fn pending_at(&mut self, position: Option<u64>) -> Option<&mut AgentEvent> {
        let index = usize::try_from(position?.checked_sub(self.read)?).ok()?;
        self.events.get_mut(index).map(|numbered| &mut numbered.event)
    }

    fn pop(&mut self) -> Option<Numbered> {
        let numbered = self.events.pop_front()?;
        let position = self.read;
        self.read += 1;
        // A marker of an event that was read would let a later delta join whatever took its place.
        if let AgentEvent::Entry { id, .. } = &numbered.event
            && self.appends.get(id) == Some(&position)
        {
            self.appends.remove(id);
        }
        if let AgentEvent::ToolProgress { call, .. } = &numbered.event
            && self.outputs.get(call) == Some(&position)
        {
            self.outputs.remove(call);
        }
        if self.shell == Some(position) {
            self.shell = None;
        }
        Some(numbered)
    }
}

/// Keeps the newest half when the cap is passed, so that a chatty call is not shifted on every line.
fn cap_output(text: &mut String) {
    if text.len() <= PROGRESS_CAP {
        return;
    }
    let from = text.ceil_char_boundary(text.len() - PROGRESS_CAP / 2);
    text.replace_range(..from, PROGRESS_DROPPED);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that can panic runs under these locks; a poisoned one still holds whole events.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
