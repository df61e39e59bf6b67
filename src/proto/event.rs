//! What an agent tells. Every listener sees the same numbered events in the same order.

use super::ask::{PermissionAsk, PermissionMode};
use super::chain::{Chain, Wait};
use super::command::TicketOutcome;
use super::compaction::{CompactionOutcome, CompactionReason};
use super::entry::EntryPatch;
use super::ids::{AskId, CallId, EntryId, TicketId, TurnId};
use super::message::{AssistantMessage, Message, ToolResultMessage};
use super::model::{ModelRef, ThinkingLevel};
use super::tool::ToolOutput;
use serde_json::{Map, Value};
use std::sync::Arc;

/// An event and its place in the order. Numbers rise by one or more (merged patches leave gaps).
#[derive(Clone, Debug, PartialEq)]
pub struct Numbered {
    /// Rises within a session's process.
    pub seq: u64,
    /// What happened.
    pub event: AgentEvent,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEvent {
    /// A turn began for this prompt.
    TurnStarted {
        /// The turn.
        turn: TurnId,
        /// The prompt it runs.
        ticket: TicketId,
    },
    /// A round began: one model call and the tool calls it asks for.
    RoundStarted {
        /// Counts from 1 within the turn.
        round: u32,
    },
    /// An entry of the conversation changed.
    Entry {
        /// Which.
        id: EntryId,
        /// How.
        patch: EntryPatch,
    },
    /// A call passed the checks and runs.
    ToolStarted {
        /// The call.
        call: CallId,
        /// Tool name.
        tool: String,
        /// Its arguments.
        arguments: Map<String, Value>,
        /// After how long it is stopped, in milliseconds.
        limit_ms: Option<u64>,
    },
    /// A running call printed more. Cumulative text is the front end's business: this is what is new.
    ToolProgress {
        /// The call.
        call: CallId,
        /// New output.
        delta: String,
    },
    /// The steps of a running shell command, or how far they are: always all of them. Output that comes belongs to the
    /// step that runs.
    ToolSteps {
        /// The call.
        call: CallId,
        /// Its steps.
        chain: Arc<Chain>,
    },
    /// A running shell command waits for something that ends at a known time, or no longer does.
    ToolWait {
        /// The call.
        call: CallId,
        /// What for.
        wait: Option<Wait>,
    },
    /// A call ended, or was answered without running.
    ToolFinished {
        /// The call.
        call: CallId,
        /// Tool name.
        tool: String,
        /// What it gave.
        output: Arc<ToolOutput>,
        /// How long it ran; `None` when it did not run.
        duration_ms: Option<u64>,
    },
    /// A command of the user runs.
    ShellStarted {
        /// The command.
        command: String,
        /// It is not told to the model.
        shown_only: bool,
    },
    /// The user's command printed more. A carriage return means that the current line begins anew.
    ShellProgress {
        /// New output.
        delta: String,
    },
    /// The user's command ended. The message joins the conversation now or, while a turn runs, after the turn; no entry
    /// is told for it besides this.
    ShellFinished {
        /// What it was and gave, a `BashExecution`.
        message: Arc<Message>,
    },
    /// A round ended.
    RoundFinished {
        /// The model's message.
        message: Arc<AssistantMessage>,
        /// Its results, in the order of the calls.
        results: Vec<Arc<ToolResultMessage>>,
    },
    /// A failed request will be repeated.
    RetryScheduled {
        /// Counts from 1.
        attempt: u32,
        /// How many there can be.
        max_attempts: u32,
        /// Until the next try.
        delay_ms: u64,
        /// What failed.
        error: String,
    },
    /// The retries ended: with a response, or for good.
    RetryFinished {
        /// A response came.
        success: bool,
        /// Which attempt it was.
        attempt: u32,
        /// The last failure.
        error: Option<String>,
    },
    /// The conversation is being summarised.
    CompactionStarted {
        /// Why.
        reason: CompactionReason,
        /// Tokens of the context before.
        tokens_before: u64,
    },
    /// More of the summary was written.
    CompactionProgress {
        /// What is new.
        delta: String,
    },
    /// The compaction ended.
    CompactionFinished {
        /// How.
        outcome: CompactionOutcome,
    },
    /// A call waits for the user.
    PermissionAsked(PermissionAsk),
    /// A question was answered or fell away.
    PermissionResolved {
        /// Which.
        ask: AskId,
    },
    /// A turn ended.
    TurnFinished {
        /// The turn.
        turn: TurnId,
        /// Its prompt.
        ticket: TicketId,
        /// How.
        outcome: TicketOutcome,
    },
    /// Nothing will happen by itself any more.
    Settled {
        /// The last turn was stopped.
        aborted: bool,
    },
    /// The queue changed; the view has it.
    QueueChanged {
        /// Texts waiting for the running turn.
        steering: Vec<String>,
        /// Texts of waiting prompts.
        waiting: Vec<String>,
    },
    /// Another model answers from now on.
    ModelChanged(ModelRef),
    /// The thinking level changed.
    ThinkingChanged(ThinkingLevel),
    /// The permission mode changed.
    ModeChanged(PermissionMode),
    /// The session's name changed.
    Renamed(String),
    /// Something the user should know.
    Notice {
        /// How bad.
        level: NoticeLevel,
        /// What happened, what was kept, what to do.
        text: String,
    },
}

/// How bad a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something is not as asked.
    Warning,
    /// Something was lost or can't be done.
    Error,
}
