//! One published snapshot of a session: front ends paint from it and never wait for the actor.

use crate::proto::ask::{PermissionAsk, PermissionMode};
use crate::proto::ids::{SessionId, TicketId, TurnId};
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::proto::usage::Usage;
use std::path::PathBuf;
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
    pub steering: Vec<String>,
    /// The question that waits for the user.
    pub ask: Option<PermissionAsk>,
    /// Tokens and price of the whole session.
    pub usage: Usage,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedView {
    /// Names it in queue commands.
    pub ticket: TicketId,
    /// Rises with each edit.
    pub version: u32,
    /// What it says, short.
    pub text: String,
    /// It is not run before it is released.
    pub held: bool,
}

/// How full the model's window is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextFill {
    /// Tokens of the last request and its answer, as the provider counted them.
    pub tokens: u64,
    /// Tokens that fit.
    pub window: u64,
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
