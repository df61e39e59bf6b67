//! The session actor: one task that owns a conversation.
//!
//! Responsibilities: history, log, queue, mode, model and rules of one session; it is the only one that changes them.
//! It takes commands from handles and news from the running turn's driver, one at a time, and publishes a view after
//! each. What a turn does next is the turn machine's decision ([`super::fsm`]); how prompts wait is the queue's.
//!
//! Invariants:
//! - at most one turn runs; news of any other turn are dropped;
//! - every ticket resolves exactly once, at the latest when the session ends;
//! - what is told to listeners as an entry is in the log already, or in its pending part;
//! - after the user's stop nothing starts before the user speaks;
//! - however the session ends, also by a bug of ours, its listeners hear the end and its processes are stopped.

mod choices;
mod end;
mod jobs;
mod judge;
mod parts;
mod publish;
mod record;
mod save;
mod shell;
mod turn;

pub use parts::{Folders, Logged, ModelSource, SaveGrant, SessionParts};

use super::driver::News;
use super::fsm::Judgement;
use super::handle::{AgentHandle, How, Mail, Waiter};
use super::outbox::Outbox;
use super::queue::{Queue, QueueOutcome};
use super::view::{CacheView, Durability, SessionView};
use crate::jobs::progress::Progress;
use crate::jobs::table::JobNews;
use crate::jobs::table::wakes::{WakeEvent, Wakes};
use crate::llm::{CacheRetention, thinking};
use crate::proto::ask::{AskPreview, PermissionAsk};
use crate::proto::command::{CancelReason, Command, Prompt, TicketOutcome};
use crate::proto::ids::{AskId, JobId, TicketId, TurnId};
use crate::proto::job::JobReport;
use crate::proto::message::{BashExecutionMessage, Message};
use record::{cached, filled};
use shell::Shell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{mpsc, watch};
use tokio_util::task::TaskTracker;
use turn::Running;

/// Starts a session. It ends when it is told to, or when the last handle is dropped.
pub fn start(parts: SessionParts, jobs: mpsc::UnboundedReceiver<JobNews>) -> AgentHandle {
    let (mail_sender, mail) = mpsc::unbounded_channel();
    let (news_sender, news) = mpsc::unbounded_channel();
    let (notes_sender, notes) = mpsc::unbounded_channel();
    let outbox = Outbox::new();
    let name = parts.name.clone().or_else(|| parts.logged.name.clone());
    let durability = if parts.log.path().is_some() { Durability::Pending } else { Durability::InMemory };
    let mut session = Session {
        queue: Queue::default(),
        waiters: HashMap::new(),
        running: None,
        asking: None,
        preparing: None,
        pending: None,
        shell: None,
        shells: Vec::new(),
        system: parts.system.text().into(),
        name,
        durability,
        fill: filled(&parts.history),
        cache: cached(&parts.history),
        turns: 0,
        wakes: Wakes::default(),
        owes_wake: false,
        wake_turns: 0,
        reports: HashMap::new(),
        progress: Progress::default(),
        keeps_jobs: false,
        asks: 0,
        last_aborted: false,
        outbox: outbox.clone(),
        news: news_sender,
        notes: notes_sender,
        saving: TaskTracker::new(),
        barriers: 0,
        parts,
        view: None,
    };
    session.parts.thinking = thinking::clamp(&session.parts.model, session.parts.thinking);
    let (view_sender, view) = watch::channel(Arc::new(session.snapshot()));
    session.view = Some(view_sender);
    let table = Arc::clone(&session.parts.workshop.table);
    tokio::spawn(session.run(Inbox { mail, news, notes, jobs }));
    AgentHandle::new(mail_sender, outbox, view, table)
}

/// What reaches a session.
struct Inbox {
    mail: mpsc::UnboundedReceiver<Mail>,
    news: mpsc::UnboundedReceiver<News>,
    notes: mpsc::UnboundedReceiver<Note>,
    jobs: mpsc::UnboundedReceiver<JobNews>,
}

/// What came of something that the session does beside its turn.
enum Note {
    /// A barrier is through.
    Saved(Result<(), String>),
    /// It is known what a call would do.
    Previewed { ask: AskId, preview: AskPreview },
    /// The user's command ended.
    ShellEnded(BashExecutionMessage),
    /// A background job ended.
    JobEnded(JobReport),
}

struct Session {
    parts: SessionParts,
    queue: Queue,
    waiters: HashMap<TicketId, Waiter>,
    running: Option<Running>,
    /// The question that waits for the user.
    asking: Option<Arc<PermissionAsk>>,
    /// The question whose preview is being made.
    preparing: Option<PermissionAsk>,
    /// What happens with the call that the user is asked about if they allow it.
    pending: Option<Judgement>,
    /// The user's command that runs.
    shell: Option<Shell>,
    /// Commands of the user that ended during the turn; they join the conversation after it.
    shells: Vec<Arc<Message>>,
    /// The system prompt as requests carry it.
    system: Arc<str>,
    name: Option<String>,
    durability: Durability,
    /// Tokens in the model's window after the last response, where one has counted them.
    fill: Option<u64>,
    cache: Option<CacheView>,
    turns: u64,
    /// When the agent hears of ends of jobs.
    wakes: Wakes,
    /// An end is to be told by a turn of its own.
    owes_wake: bool,
    /// Turns that began with the end of a job.
    wake_turns: u64,
    /// What is told of the jobs that have ended.
    reports: HashMap<JobId, JobReport>,
    /// How far those are that run.
    progress: Progress,
    /// Jobs go on when the session ends.
    keeps_jobs: bool,
    asks: u64,
    last_aborted: bool,
    outbox: Outbox,
    news: mpsc::UnboundedSender<News>,
    notes: mpsc::UnboundedSender<Note>,
    /// Barriers under way: the tasks, and how many have not told their outcome.
    saving: TaskTracker,
    barriers: usize,
    view: Option<watch::Sender<Arc<SessionView>>>,
}

impl Session {
    async fn run(mut self, mut inbox: Inbox) {
        self.restore_jobs().await;
        self.publish();
        let ending = loop {
            tokio::select! {
                biased;
                mail = inbox.mail.recv() => match mail {
                    Some(Mail::Shutdown(reply)) => break Some(reply),
                    Some(mail) => self.mail(mail),
                    None => break None,
                },
                Some(news) = inbox.news.recv() => self.news(news),
                Some(note) = inbox.notes.recv() => self.note(note),
                Some(news) = inbox.jobs.recv() => self.job_news(news),
                () = lease(self.progress.next_look()) => self.look_at_jobs(),
                () = lease(self.queue.next_release(Instant::now())) => self.start_next(),
            }
            self.publish();
        };
        let saved = self.end(&mut inbox).await;
        // Whoever waits for the end may open the log next: its lock goes with us.
        drop(self);
        if let Some(reply) = ending {
            let _gone = reply.send(saved);
        }
    }

    fn mail(&mut self, mail: Mail) {
        match mail {
            Mail::Command(command) => self.command(command),
            Mail::Prompt { ticket, prompt, how, waiter } => self.prompt(ticket, prompt, how, waiter),
            Mail::Barrier(reply) => {
                let barrier = self.parts.log.barrier();
                self.saving
                    .spawn(async move { reply.send(barrier.await.map_err(|error| error.to_string())) });
            }
            // The loop takes it out before.
            Mail::Shutdown(reply) => drop(reply),
        }
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::Saved(saved) => self.saved(saved),
            Note::Previewed { ask, preview } => self.previewed(ask, preview),
            Note::ShellEnded(message) => self.shell_ended(message),
            Note::JobEnded(report) => self.job_ended(report),
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Submit { ticket, prompt, placement } => {
                self.prompt(ticket, prompt, How::Submit(placement), Waiter::default());
            }
            Command::Steer { ticket, prompt } => self.prompt(ticket, prompt, How::Steer, Waiter::default()),
            Command::Cancel { reason } => self.cancel(reason),
            Command::Queue(command) => {
                let change = self.queue.apply(command, Instant::now());
                self.queue_changed(change, TicketOutcome::Removed);
            }
            Command::AnswerPermission { ask, answer } => self.answer(ask, answer),
            Command::SetModel(model) => self.set_model(&model),
            Command::SetThinking(level) => self.set_thinking(level),
            Command::NextThinking => self.next_thinking(),
            Command::SetMode(mode) => self.set_mode(mode),
            Command::RunShell { command, shown_only } => self.run_shell(&command, shown_only),
            Command::CancelShell => self.stop_shell(),
            Command::SendToBackground => {
                if let Some(running) = &mut self.running {
                    running.detach_commands();
                }
            }
            Command::StopJob(id) => self.stop_job(&id),
            Command::KeepJobs(keeps) => self.keeps_jobs = keeps,
            Command::Rename(name) => self.rename(name),
        }
    }

    fn prompt(&mut self, ticket: TicketId, prompt: Prompt, how: How, waiter: Waiter) {
        self.waiters.insert(ticket, waiter);
        if prompt.is_blank() {
            self.resolve(ticket, TicketOutcome::Removed);
            return;
        }
        // What is said to a turn that is being stopped is for after it, and before what was held by the stop.
        let running = self.running.as_ref().is_some_and(|running| !running.fsm.is_stopping());
        let change = match how {
            How::Steer => self.queue.steer(ticket, prompt, running),
            How::Submit(placement) => self.queue.submit(ticket, prompt, placement, running),
        };
        self.queue_changed(change, TicketOutcome::Removed);
    }

    fn cancel(&mut self, reason: CancelReason) {
        let change = self.queue.turn_cancelled(reason);
        if reason != CancelReason::Replace {
            self.job_wake(WakeEvent::StopGesture);
        }
        self.stop_turn();
        self.queue_changed(change, TicketOutcome::Cancelled);
    }

    /// Acts on a change of the queue: resolves what was taken away, stops the turn for what is to run now, tells
    /// listeners, and starts what may run.
    fn queue_changed(&mut self, change: QueueOutcome, removed: TicketOutcome) {
        for ticket in change.removed {
            self.resolve(ticket, removed.clone());
        }
        if change.changed {
            self.announce_queue();
        }
        if change.stop_turn {
            self.stop_turn();
        }
        self.start_next();
    }

    fn resolve(&mut self, ticket: TicketId, outcome: TicketOutcome) {
        if let Some(waiter) = self.waiters.remove(&ticket) {
            if let Some(accepted) = waiter.accepted {
                let _gone = accepted.send(Ok(false));
            }
            if let Some(waiting) = waiter.outcome {
                let _gone = waiting.send(outcome);
            }
        }
    }

    const fn next_turn(&mut self) -> TurnId {
        self.turns += 1;
        TurnId(self.turns)
    }

    const fn next_ask(&mut self) -> AskId {
        self.asks += 1;
        AskId(self.asks)
    }

    const fn cache(&self) -> CacheRetention {
        CacheRetention::Short
    }
}

/// Waits for the end of a hold; for ever if there is none.
async fn lease(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until.into()).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
