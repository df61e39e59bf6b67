//! The session actor: one task that owns a conversation.
//!
//! Responsibilities: history, log, queue, mode, model and rules of one session; it is the only one that changes them.
//! It takes commands from handles and news from the running turn's driver, one at a time, and publishes a view after
//! each. What a turn does next is the turn machine's decision ([`super::fsm`]); how prompts wait is the queue's.
//!
//! Invariants:
//! - at most one turn runs; news of any other turn are dropped;
//! - every ticket resolves exactly once, at the latest when the session ends;
//! - what is told to listeners is in the log already, or in its pending part;
//! - after the user's stop nothing starts before the user speaks.

mod judge;
mod turn;

use super::context::SystemPrompt;
use super::driver::{News, Workshop};
use super::fsm::Judgement;
use super::handle::{AgentHandle, How, Mail, Waiter};
use super::outbox::Outbox;
use super::permission::Rules;
use super::queue::{Queue, QueueOutcome, Row};
use super::view::{ContextFill, Durability, QueuedView, RunningView, SessionView};
use crate::llm::error::LlmError;
use crate::llm::retry::RetryPolicy;
use crate::llm::{CacheRetention, Model, Provider, thinking};
use crate::proto::ask::{PermissionAnswer, PermissionAsk, PermissionMode};
use crate::proto::command::{CancelReason, Command, Prompt, TicketOutcome};
use crate::proto::entry::EntryKind;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::{AskId, TicketId, TurnId};
use crate::proto::message::{Message, SystemMessage};
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::proto::usage::Usage;
use crate::store::error::StoreError;
use crate::store::log::Log;
use crate::tools::Tools;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::task::TaskTracker;
use turn::Running;

/// Finds models and those who answer for them.
pub trait ModelSource: Send + Sync {
    /// The model and its provider. The error is for people.
    fn resolve(&self, model: &ModelRef) -> Result<(Arc<Model>, Arc<dyn Provider>), LlmError>;
}

/// Keeps a rule that the user allowed for this project. The error is for people.
pub type SaveGrant = Arc<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// What a session is made of.
pub struct SessionParts {
    /// The log; entries it already has are in `history`.
    pub log: Log,
    /// The conversation so far.
    pub history: Vec<Arc<Message>>,
    /// Prompt sections and tools that the log has declared.
    pub declared: Option<SystemMessage>,
    /// Model, level and name that the log has.
    pub logged: Logged,
    /// Another name; `None` keeps the log's.
    pub name: Option<String>,
    /// Tokens and price so far.
    pub usage: Usage,
    /// Model that answers first.
    pub model: Arc<Model>,
    /// Who answers for it.
    pub provider: Arc<dyn Provider>,
    /// Finds others.
    pub models: Arc<dyn ModelSource>,
    /// Thinking level wanted; clamped to what the model offers.
    pub thinking: ThinkingLevel,
    /// Permission mode.
    pub mode: PermissionMode,
    /// Permission rules.
    pub rules: Rules,
    /// Keeps rules for later sessions.
    pub save_grant: SaveGrant,
    /// There is someone to ask. Without, what would ask is refused.
    pub interactive: bool,
    /// Tools the model gets.
    pub tools: Tools,
    /// What the model is told.
    pub system: SystemPrompt,
    /// What calls share.
    pub workshop: Workshop,
    /// Folders that permissions depend on.
    pub folders: Folders,
    /// Retry of failed requests.
    pub retry: RetryPolicy,
    /// Rounds of a turn; 0 is no limit.
    pub max_rounds: u32,
}

/// Folders that permissions depend on.
#[derive(Debug, Clone)]
pub struct Folders {
    /// Root of the project.
    pub project_root: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// Our own configuration.
    pub config: PathBuf,
}

/// What the log says about model, level and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logged {
    /// Model of the last request or choice.
    pub model: Option<ModelRef>,
    /// Thinking level.
    pub thinking: Option<ThinkingLevel>,
    /// Name.
    pub name: Option<String>,
}

/// Starts a session. It ends when it is told to, or when the last handle is dropped.
pub fn start(parts: SessionParts) -> AgentHandle {
    let (mail_sender, mail) = mpsc::unbounded_channel();
    let (news_sender, news) = mpsc::unbounded_channel();
    let (saves_sender, saves) = mpsc::unbounded_channel();
    let outbox = Outbox::new();
    let name = parts.name.clone().or_else(|| parts.logged.name.clone());
    let durability = if parts.log.path().is_some() { Durability::Pending } else { Durability::InMemory };
    let mut session = Session {
        queue: Queue::default(),
        waiters: HashMap::new(),
        running: None,
        asking: None,
        pending: None,
        system: parts.system.text().into(),
        name,
        durability,
        fill: 0,
        turns: 0,
        asks: 0,
        last_aborted: false,
        outbox: outbox.clone(),
        news: news_sender,
        saves: saves_sender,
        saving: TaskTracker::new(),
        barriers: 0,
        parts,
        view: None,
    };
    session.parts.thinking = thinking::clamp(&session.parts.model, session.parts.thinking);
    session.fill = session.parts.history.iter().rev().find_map(|message| filled(message)).unwrap_or(0);
    let (view_sender, view) = watch::channel(Arc::new(session.snapshot()));
    session.view = Some(view_sender);
    tokio::spawn(session.run(mail, news, saves));
    AgentHandle::new(mail_sender, outbox, view)
}

/// Tokens in the model's window after a response.
fn filled(message: &Message) -> Option<u64> {
    match message {
        Message::Assistant(assistant) if assistant.usage.total_tokens > 0 => {
            Some(assistant.usage.total_tokens)
        }
        _ => None,
    }
}

struct Session {
    parts: SessionParts,
    queue: Queue,
    waiters: HashMap<TicketId, Waiter>,
    running: Option<Running>,
    asking: Option<PermissionAsk>,
    /// What happens with the call that the user is asked about if they allow it.
    pending: Option<Judgement>,
    /// The system prompt as requests carry it.
    system: Arc<str>,
    name: Option<String>,
    durability: Durability,
    /// Tokens in the model's window after the last response.
    fill: u64,
    turns: u64,
    asks: u64,
    last_aborted: bool,
    outbox: Outbox,
    news: mpsc::UnboundedSender<News>,
    saves: mpsc::UnboundedSender<Result<(), String>>,
    /// Barriers under way: the tasks, and how many have not told their outcome.
    saving: TaskTracker,
    barriers: usize,
    view: Option<watch::Sender<Arc<SessionView>>>,
}

impl Session {
    async fn run(
        mut self,
        mut mail: mpsc::UnboundedReceiver<Mail>,
        mut news: mpsc::UnboundedReceiver<News>,
        mut saves: mpsc::UnboundedReceiver<Result<(), String>>,
    ) {
        let ending = loop {
            tokio::select! {
                biased;
                mail = mail.recv() => match mail {
                    Some(Mail::Shutdown(reply)) => break Some(reply),
                    Some(mail) => self.mail(mail),
                    None => break None,
                },
                Some(news) = news.recv() => self.news(news),
                Some(saved) = saves.recv() => self.saved(saved),
                () = lease(self.queue.next_release(Instant::now())) => self.start_next(),
            }
            self.publish();
        };
        let saved = self.end(&mut news, &mut saves).await;
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
            Command::SetMode(mode) => {
                if mode != self.parts.mode {
                    self.parts.mode = mode;
                    self.outbox.publish(AgentEvent::ModeChanged(mode));
                }
            }
            Command::Rename(name) => {
                self.name = Some(name.clone());
                self.outbox.publish(AgentEvent::Renamed(name));
                if self.parts.log.leaf().is_some() {
                    self.declare_choices();
                }
            }
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

    fn answer(&mut self, ask: AskId, answer: PermissionAnswer) {
        // A late answer to a question that fell away must not decide about another call.
        let Some(asked) = self.asking.take_if(|asking| asking.id == ask) else { return };
        self.outbox.publish(AgentEvent::PermissionResolved { ask });
        if let PermissionAnswer::Session { rule } | PermissionAnswer::Always { rule } = &answer
            && let Err(error) = self.parts.rules.add_session_allow(rule)
        {
            self.notice(NoticeLevel::Error, format!("The rule was not taken: {error} This call runs."));
        }
        if let PermissionAnswer::Always { rule } = &answer
            && let Err(error) = (self.parts.save_grant)(rule)
        {
            self.notice(
                NoticeLevel::Error,
                format!("The rule holds for this session but was not saved: {error}"),
            );
        }
        self.answered(&asked, answer);
    }

    fn set_model(&mut self, model: &ModelRef) {
        match self.parts.models.resolve(model) {
            Ok((model, provider)) => {
                self.parts.provider = provider;
                self.outbox.publish(AgentEvent::ModelChanged(model.reference.clone()));
                self.parts.model = model;
                self.set_thinking(self.parts.thinking);
            }
            Err(error) => self.notice(
                NoticeLevel::Error,
                format!("{} The model stays {}.", error.message, self.parts.model.reference),
            ),
        }
    }

    fn set_thinking(&mut self, level: ThinkingLevel) {
        let level = thinking::clamp(&self.parts.model, level);
        if level != self.parts.thinking {
            self.parts.thinking = level;
            self.outbox.publish(AgentEvent::ThinkingChanged(level));
        }
    }

    /// Writes model, level and name into the log where they differ from what it says.
    fn declare_choices(&mut self) {
        let model = self.parts.model.reference.clone();
        if self.parts.logged.model.as_ref() != Some(&model) {
            self.parts.logged.model = Some(model.clone());
            self.log(EntryKind::ModelChange { provider: model.provider, model_id: model.id });
        }
        let thinking = self.parts.thinking;
        if self.parts.logged.thinking != Some(thinking) {
            self.parts.logged.thinking = Some(thinking);
            self.log(EntryKind::ThinkingLevelChange { thinking_level: thinking.as_str().to_owned() });
        }
        if self.name != self.parts.logged.name
            && let Some(name) = self.name.clone()
        {
            self.parts.logged.name = Some(name.clone());
            self.log(EntryKind::SessionInfo { name });
        }
    }

    fn saved(&mut self, saved: Result<(), String>) {
        if self.parts.log.path().is_none() {
            return;
        }
        self.barriers = self.barriers.saturating_sub(1);
        match saved {
            // An older barrier says nothing of what a newer one is still to save.
            Ok(()) if self.barriers > 0 => {}
            Ok(()) => self.durability = Durability::Saved,
            Err(error) => {
                let told = matches!(self.durability, Durability::Failed(_));
                self.durability = Durability::Failed(error.clone());
                if !told {
                    self.notice(NoticeLevel::Error, error);
                }
            }
        }
    }

    /// Puts everything so far on disk; the outcome comes back as mail to ourselves. `accepted` waits for it too.
    fn save(&mut self, accepted: Option<oneshot::Sender<Result<(), String>>>) {
        let barrier = self.parts.log.barrier();
        self.barriers += 1;
        if self.durability == Durability::Saved {
            self.durability = Durability::Pending;
        }
        let saves = self.saves.clone();
        self.saving.spawn(async move {
            let saved = barrier.await.map_err(|error| error.to_string());
            if let Some(accepted) = accepted {
                let _gone = accepted.send(saved.clone());
            }
            let _ended = saves.send(saved);
        });
    }

    fn log(&mut self, kind: EntryKind) {
        let id = self.parts.log.fresh_id();
        self.parts.log.append(id, kind, jiff::Timestamp::now());
    }

    fn notice(&self, level: NoticeLevel, text: String) {
        self.outbox.publish(AgentEvent::Notice { level, text });
    }

    fn resolve(&mut self, ticket: TicketId, outcome: TicketOutcome) {
        if let Some(waiter) = self.waiters.remove(&ticket) {
            if let Some(accepted) = waiter.accepted {
                let _gone = accepted.send(Err("The prompt did not run.".to_owned()));
            }
            if let Some(waiting) = waiter.outcome {
                let _gone = waiting.send(outcome);
            }
        }
    }

    fn announce_queue(&self) {
        let queue = self.queue.snapshot();
        self.outbox.publish(AgentEvent::QueueChanged {
            steering: queue.steering.iter().map(Row::text).collect(),
            waiting: queue.waiting.iter().map(Row::text).collect(),
        });
    }

    async fn end(
        &mut self,
        news: &mut mpsc::UnboundedReceiver<News>,
        saves: &mut mpsc::UnboundedReceiver<Result<(), String>>,
    ) -> Result<(), String> {
        self.cancel(CancelReason::Teardown);
        // Running calls hand over what they have, so that it is kept; the turn machine's timer bounds the wait.
        while self.running.is_some()
            && let Some(news) = news.recv().await
        {
            self.news(news);
        }
        self.parts.workshop.jobs.shutdown().await;
        // Barriers under way hold the log's file, and with it its lock; and a failure that one of them took is told by
        // nobody else.
        self.saving.close();
        self.saving.wait().await;
        while let Ok(saved) = saves.try_recv() {
            self.saved(saved);
        }
        let saved = self.save_at_the_end().await;
        let tickets: Vec<TicketId> = self.waiters.keys().copied().collect();
        for ticket in tickets {
            self.resolve(ticket, TicketOutcome::Cancelled);
        }
        self.publish();
        self.outbox.close();
        saved
    }

    /// The last try to put everything on disk. What fails now is lost with this process.
    async fn save_at_the_end(&mut self) -> Result<(), String> {
        let Err(error) = self.parts.log.barrier().await else {
            self.saved(Ok(()));
            return Ok(());
        };
        let recovered = matches!(&error, StoreError::Write { recovered: true, .. });
        let error = error.to_string();
        if !matches!(self.durability, Durability::Failed(_)) {
            self.notice(NoticeLevel::Error, error.clone());
        }
        if recovered {
            self.saved(Ok(()));
            return Ok(());
        }
        self.durability = Durability::Failed(error);
        Err("The session is not saved whole: what could not be written is lost.".to_owned())
    }

    fn publish(&self) {
        let snapshot = self.snapshot();
        if let Some(view) = &self.view {
            view.send_if_modified(|view| {
                let changed = **view != snapshot;
                if changed {
                    *view = Arc::new(snapshot);
                }
                changed
            });
        }
    }

    fn snapshot(&self) -> SessionView {
        let parts = &self.parts;
        let queue = self.queue.snapshot();
        let now = Instant::now();
        SessionView {
            id: parts.log.header().id.clone(),
            name: self.name.clone(),
            file: parts.log.path().map(std::path::Path::to_owned),
            cwd: parts.workshop.cwd.clone(),
            model: parts.model.reference.clone(),
            model_name: parts.model.name.clone(),
            thinking: parts.thinking,
            mode: parts.mode,
            running: self.running.as_ref().map(|running| RunningView {
                turn: running.turn,
                ticket: running.ticket,
                round: running.fsm.round(),
                since: running.since,
            }),
            queue: queue
                .waiting
                .iter()
                .map(|row| QueuedView {
                    ticket: row.ticket,
                    version: row.version,
                    text: row.text(),
                    held: queue.all_held || row.is_held(now),
                })
                .collect(),
            steering: queue.steering.iter().map(Row::text).collect(),
            ask: self.asking.clone(),
            usage: parts.usage,
            context: ContextFill { tokens: self.fill, window: parts.model.context_window },
            durability: self.durability.clone(),
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
