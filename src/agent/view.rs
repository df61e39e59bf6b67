//! One published snapshot of a session: front ends paint from it and never wait for the actor.

use crate::proto::ask::{PermissionAsk, PermissionMode};
use crate::proto::command::Prompt;
use crate::proto::ids::{SessionId, TicketId, TurnId};
use crate::proto::job::JobView;
use crate::proto::message::Millis;
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::proto::usage::{Counts, Usage};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// The state of a session at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionView {
    /// Session id.
    pub id: SessionId,
    /// Name given by the user.
    pub name: Option<String>,
    /// The log file, unless the session is kept in memory.
    pub file: Option<PathBuf>,
    /// Working directory.
    pub cwd: PathBuf,
    /// Model that answers the next request.
    pub model: ModelRef,
    /// How people call it.
    pub model_name: String,
    /// Thinking level of the next request.
    pub thinking: ThinkingLevel,
    /// Permission mode in force.
    pub mode: PermissionMode,
    /// The running turn.
    pub running: Option<RunningView>,
    /// Prompts that wait, in order.
    pub queue: Vec<QueuedView>,
    /// Texts for the running turn that are not delivered yet.
    pub steering: Vec<SteeringView>,
    /// The user's shell command that runs.
    pub shell: Option<ShellView>,
    /// Background jobs, in the order of their starts.
    pub jobs: Vec<Arc<JobView>>,
    /// The question that waits for the user. Shared: its preview can be large.
    pub ask: Option<Arc<PermissionAsk>>,
    /// Tokens and price of the whole session.
    pub usage: Usage,
    /// What happened in the whole session.
    pub counts: Counts,
    /// What the provider's cache may hold; `None` before the first response.
    pub cache: Option<CacheView>,
    /// How full the model's window is.
    pub context: ContextFill,
    /// Whether the log is safe.
    pub durability: Durability,
}

/// A running turn.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningView {
    /// The turn.
    pub turn: TurnId,
    /// Its prompt.
    pub ticket: TicketId,
    /// Round in progress, from 1.
    pub round: u32,
    /// When it began.
    pub since: Instant,
}

/// A prompt that waits.
#[derive(Clone, Debug)]
pub struct QueuedView {
    /// Names it in queue commands.
    pub ticket: TicketId,
    /// Rises with each edit.
    pub version: u32,
    /// How it begins, for lists.
    pub text: String,
    /// All of it, for whoever takes it back.
    pub prompt: Arc<Prompt>,
    /// It is not run before it is released.
    pub held: bool,
}

/// A text for the running turn that is not delivered yet.
#[derive(Clone, Debug)]
pub struct SteeringView {
    /// Names it in queue commands.
    pub ticket: TicketId,
    /// Rises with each edit.
    pub version: u32,
    /// How it begins, for lists.
    pub text: String,
    /// All of it, for whoever takes it back.
    pub prompt: Arc<Prompt>,
}

// Views are compared after every command, and prompts can hold pictures: an edit makes a new prompt, so the same place
// in memory means the same content.
impl PartialEq for QueuedView {
    fn eq(&self, other: &Self) -> bool {
        (self.ticket, self.version, self.held) == (other.ticket, other.version, other.held)
            && Arc::ptr_eq(&self.prompt, &other.prompt)
    }
}

impl PartialEq for SteeringView {
    fn eq(&self, other: &Self) -> bool {
        (self.ticket, self.version) == (other.ticket, other.version)
            && Arc::ptr_eq(&self.prompt, &other.prompt)
    }
}

/// The user's shell command that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellView {
    /// The command.
    pub command: Arc<str>,
    /// It is not told to the model.
    pub shown_only: bool,
    /// When it began.
    pub since: Instant,
}

/// What the provider's cache may hold: the last request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheView {
    /// Its tokens.
    pub last_usage: Usage,
    /// When its response ended, in milliseconds since the epoch.
    pub ended: Millis,
}

/// How full the model's window is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextFill {
    /// Tokens of the last request and its answer, as the provider counted them.
    pub tokens: u64,
    /// Tokens that fit.
    pub window: u64,
    /// `tokens` is a count. Else there is a conversation that no response has counted yet: nothing was answered so far,
    /// or what came before the last summary is what was counted.
    pub known: bool,
}

/// Whether the log is safe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The session is kept in memory on purpose.
    InMemory,
    /// Everything up to the last barrier is on disk.
    Saved,
    /// A barrier is under way, or the session has not begun.
    Pending,
    /// The last write failed; the entries are kept in memory and written with the next one.
    Failed(String),
}
