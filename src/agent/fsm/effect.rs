//! What a turn does.

use super::TimerId;
use crate::proto::command::TicketOutcome;
use crate::proto::event::NoticeLevel;
use crate::proto::ids::CallId;
use crate::proto::message::{AssistantMessage, ToolCall};
use crate::proto::tool::ToolOutput;
use std::sync::Arc;
use std::time::Duration;

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// A round begins.
    RoundStarted(u32),
    /// Send the history to the model.
    Request,
    /// Drop the stream; what came so far is recorded as aborted and ends the round.
    AbortStream,
    /// This is part of the conversation now.
    Record(Arc<AssistantMessage>),
    /// So is this result.
    RecordResult {
        /// The call that is answered.
        call: ToolCall,
        /// What it gave.
        output: Arc<ToolOutput>,
        /// How long it ran; `None` when it did not run.
        duration_ms: Option<u64>,
    },
    /// Check the call; answer with [`Event::Judged`](super::Event::Judged), at once or when the user has answered.
    Judge(ToolCall),
    /// The question to the user about this call falls away.
    Unask(CallId),
    /// Run the call.
    Run {
        /// The call, with checked arguments.
        call: ToolCall,
    },
    /// A call ended or was answered; tell the listeners.
    Announce {
        /// The call.
        call: ToolCall,
        /// What it gave.
        output: Arc<ToolOutput>,
        /// How long it ran; `None` when it did not run.
        duration_ms: Option<u64>,
    },
    /// Stop all running calls.
    AbortTools,
    /// Set the timer (the one before it is void).
    StartTimer {
        /// Its name.
        id: TimerId,
        /// When it fires.
        after: Duration,
    },
    /// Put what the user said meanwhile into the history; answer with [`Event::SteeringTaken`](super::Event::SteeringTaken).
    TakeSteering,
    /// A round ended with this message.
    RoundFinished(Arc<AssistantMessage>),
    /// The request is repeated after a wait.
    RetryScheduled {
        /// Counts from 1.
        attempt: u32,
        /// How long.
        after: Duration,
        /// What failed.
        error: String,
    },
    /// The retries ended.
    RetryFinished {
        /// With a response.
        success: bool,
        /// How many there were.
        attempt: u32,
        /// The last failure.
        error: Option<String>,
    },
    /// Tell the user.
    Notice(NoticeLevel, String),
    /// The turn is over.
    Finish(TicketOutcome),
}
