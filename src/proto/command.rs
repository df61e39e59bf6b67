//! What anyone may ask of an agent. Nothing here knows about widgets.

use super::ask::{PermissionAnswer, PermissionMode};
use super::ids::{AskId, JobId, TicketId};
use super::message::Block;
use super::model::{ModelRef, ThinkingLevel};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A request to a session. Requests that answer (`submit`, `barrier`, `shutdown`) are methods of the handle.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Runs a prompt, or queues it while a turn runs. The ticket resolves exactly once.
    Submit {
        /// Chosen by the sender, unique in the session.
        ticket: TicketId,
        /// What to run.
        prompt: Prompt,
        /// Where it goes while a turn runs.
        placement: Placement,
    },
    /// Says something to the running turn: delivered after the running batch. Without a turn it is a `Submit`.
    Steer {
        /// Resolves when delivered or, if it became a prompt of its own, when that ends.
        ticket: TicketId,
        /// What to say.
        prompt: Prompt,
    },
    /// Stops the running turn. Twice does no harm.
    Cancel {
        /// Why: decides what happens to waiting prompts.
        reason: CancelReason,
    },
    /// Changes the queue of waiting prompts.
    Queue(QueueCommand),
    /// Answers a permission question.
    AnswerPermission {
        /// The question.
        ask: AskId,
        /// The answer.
        answer: PermissionAnswer,
    },
    /// Changes the model from the next request on.
    SetModel(ModelRef),
    /// Changes the thinking level from the next request on.
    SetThinking(ThinkingLevel),
    /// The next thinking level that the model offers; after the highest comes the lowest.
    NextThinking,
    /// Changes the permission mode from the next call on.
    SetMode(PermissionMode),
    /// Names the session.
    Rename(String),
    /// Runs a shell command of the user at once, also while a turn runs. One at a time; nobody is asked.
    RunShell {
        /// The command.
        command: String,
        /// It is kept for the user and not told to the model.
        shown_only: bool,
    },
    /// Stops the user's shell command. Does no harm when none runs.
    CancelShell,
    /// Lets the commands that the turn runs go on as background jobs. Does no harm when none runs.
    SendToBackground,
    /// Stops a background job and all that it started. Does no harm when it has ended.
    StopJob(JobId),
    /// Whether background jobs go on when the session ends, to be taken over by its next run.
    KeepJobs(bool),
}

/// What is submitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    /// Text and pictures for the model.
    pub content: Vec<Block>,
    /// A shorter form for lists, if the text holds expanded files or pastes.
    pub display: Option<String>,
}

impl Prompt {
    /// A prompt of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Block::text(text)], display: None }
    }

    /// It says nothing: no text but blanks, no picture. Providers refuse such a message.
    pub fn is_blank(&self) -> bool {
        !self.content.iter().any(|block| match block {
            Block::Text { text, .. } => !text.trim().is_empty(),
            Block::Image { .. } => true,
            Block::Thinking { .. } | Block::ToolCall(_) | Block::Unknown => false,
        })
    }
}

/// Where a prompt goes while a turn runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Behind all waiting prompts.
    #[default]
    Back,
    /// In front of them.
    Next,
    /// Stops the running turn and runs at once.
    Replace,
}

/// Why a turn is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelReason {
    /// The user's stop gesture: waiting prompts stay, held until the user speaks.
    Stop,
    /// Another prompt takes its place.
    Replace,
    /// The session ends: waiting prompts are dropped, their tickets resolve as cancelled.
    Teardown,
}

/// A change of the queue of waiting prompts. A stale version changes nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueCommand {
    /// New text for a waiting prompt; blank text changes nothing.
    Edit {
        /// Which.
        ticket: TicketId,
        /// The version that the sender saw.
        version: u32,
        /// What it should be.
        prompt: Prompt,
    },
    /// Takes a waiting prompt away; its ticket resolves as removed.
    Remove {
        /// Which.
        ticket: TicketId,
        /// The version that the sender saw.
        version: u32,
    },
    /// Moves a waiting prompt in front of another, or to the end.
    Move {
        /// Which.
        ticket: TicketId,
        /// In front of this one; `None` is the end.
        before: Option<TicketId>,
    },
    /// Takes all waiting prompts away.
    Clear,
    /// Stops the running turn and runs this one.
    SendNow {
        /// Which.
        ticket: TicketId,
        /// The version that the sender saw.
        version: u32,
    },
    /// Keeps a prompt from being run while it is edited.
    Hold {
        /// Which.
        ticket: TicketId,
        /// The hold ends by itself after this time.
        lease: Duration,
    },
    /// Ends a hold; also the hold on all prompts that a stop gesture set.
    Release {
        /// Which; `None` for the hold on all.
        ticket: Option<TicketId>,
    },
}

/// How a submitted prompt ended. Every ticket gets exactly one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TicketOutcome {
    /// The model was done.
    Completed,
    /// Delivered into a running turn.
    Delivered,
    /// The user stopped it.
    Cancelled,
    /// The round limit was reached.
    MaxRounds {
        /// The limit.
        limit: u32,
    },
    /// The provider refused to answer.
    Refused {
        /// Its reason.
        reason: String,
    },
    /// The turn failed for good.
    Failed {
        /// What happened, for the user.
        error: String,
    },
    /// Taken from the queue before it ran.
    Removed,
}
