//! The door to a session: commands in, events out, one published view.

use super::outbox::{Listener, Outbox};
use super::view::SessionView;
use crate::jobs::table::JobTable;
use crate::proto::command::{Command, Placement, Prompt, TicketOutcome};
use crate::proto::ids::TicketId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// What reaches the session actor through a handle.
pub(super) enum Mail {
    /// A command without an answer.
    Command(Command),
    /// A prompt and who waits for it.
    Prompt { ticket: TicketId, prompt: Prompt, how: How, waiter: Waiter },
    /// Wants everything so far on disk.
    Barrier(oneshot::Sender<Result<(), String>>),
    /// Wants the session to end.
    Shutdown(oneshot::Sender<Result<(), String>>),
}

/// How a prompt comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// As a prompt of its own.
    Submit(Placement),
    /// As a word to the running turn.
    Steer,
}

/// Who waits for a prompt.
#[derive(Debug, Default)]
pub(super) struct Waiter {
    pub(super) accepted: Option<oneshot::Sender<Result<bool, String>>>,
    pub(super) outcome: Option<oneshot::Sender<TicketOutcome>>,
}

/// A submitted prompt.
#[derive(Debug)]
pub struct Ticket {
    /// Names it in queue commands.
    pub id: TicketId,
    accepted: oneshot::Receiver<Result<bool, String>>,
    outcome: oneshot::Receiver<TicketOutcome>,
}

impl Ticket {
    /// Waits until the prompt is part of the conversation and safe on disk. False: it was taken from the queue before, so
    /// it never will be. The error says why it is not on disk; the prompt runs all the same.
    pub async fn accepted(&mut self) -> Result<bool, String> {
        (&mut self.accepted).await.unwrap_or_else(|_| Err("The prompt was not accepted.".to_owned()))
    }

    /// Waits for the end.
    pub async fn outcome(self) -> TicketOutcome {
        self.outcome.await.unwrap_or(TicketOutcome::Cancelled)
    }
}

/// Addresses a running session. Clones address the same one.
#[derive(Clone)]
pub struct AgentHandle {
    mail: mpsc::UnboundedSender<Mail>,
    outbox: Outbox,
    view: watch::Receiver<Arc<SessionView>>,
    tickets: Arc<AtomicU64>,
    jobs: Arc<JobTable>,
}

impl AgentHandle {
    pub(super) fn new(
        mail: mpsc::UnboundedSender<Mail>,
        outbox: Outbox,
        view: watch::Receiver<Arc<SessionView>>,
        jobs: Arc<JobTable>,
    ) -> Self {
        Self { mail, outbox, view, tickets: Arc::new(AtomicU64::new(1)), jobs }
    }

    /// The background jobs, to read their logs.
    pub const fn jobs(&self) -> &Arc<JobTable> {
        &self.jobs
    }

    /// Runs a prompt, or queues it while a turn runs.
    pub fn submit(&self, prompt: Prompt, placement: Placement) -> Ticket {
        self.prompt(prompt, How::Submit(placement))
    }

    /// Says something to the running turn; without one it is a prompt of its own.
    pub fn steer(&self, prompt: Prompt) -> Ticket {
        self.prompt(prompt, How::Steer)
    }

    /// Sends a command. A session that has ended ignores it.
    pub fn send(&self, command: Command) {
        let _ended = self.mail.send(Mail::Command(command));
    }

    /// A fresh id for [`Command::Submit`] and [`Command::Steer`].
    pub fn fresh_ticket(&self) -> TicketId {
        TicketId(self.tickets.fetch_add(1, Ordering::Relaxed))
    }

    /// Everything that happens from now on.
    pub fn events(&self) -> Listener {
        self.outbox.subscribe()
    }

    /// The state as last published.
    pub fn view(&self) -> Arc<SessionView> {
        self.view.borrow().clone()
    }

    /// A receiver that wakes whenever a new state is published.
    pub fn watch(&self) -> watch::Receiver<Arc<SessionView>> {
        self.view.clone()
    }

    /// The session has ended, in order or by a bug: no event comes any more, and nobody takes commands.
    pub fn is_ended(&self) -> bool {
        self.outbox.is_closed()
    }

    /// Waits until everything that happened before is on disk. The error is the first failure since the last barrier.
    pub async fn barrier(&self) -> Result<(), String> {
        let (reply, answer) = oneshot::channel();
        let _ended = self.mail.send(Mail::Barrier(reply));
        answer.await.unwrap_or(Ok(()))
    }

    /// Ends the session: stops the turn, kills its processes, saves. Gives up waiting after `deadline`.
    pub async fn shutdown(&self, deadline: Duration) -> Result<(), String> {
        let (reply, answer) = oneshot::channel();
        if self.mail.send(Mail::Shutdown(reply)).is_err() {
            return Ok(());
        }
        match tokio::time::timeout(deadline, answer).await {
            Ok(answer) => answer.unwrap_or(Ok(())),
            Err(_) => Err(format!("The session did not end within {} s.", deadline.as_secs())),
        }
    }

    fn prompt(&self, prompt: Prompt, how: How) -> Ticket {
        let id = self.fresh_ticket();
        let (accepted_sender, accepted) = oneshot::channel();
        let (outcome_sender, outcome) = oneshot::channel();
        let waiter = Waiter { accepted: Some(accepted_sender), outcome: Some(outcome_sender) };
        // A session that has ended drops the waiter: both receivers then tell so.
        let _ended = self.mail.send(Mail::Prompt { ticket: id, prompt, how, waiter });
        Ticket { id, accepted, outcome }
    }
}
