//! What happens to a turn.

use super::TimerId;
use crate::llm::error::LlmError;
use crate::proto::ids::CallId;
use crate::proto::message::AssistantMessage;
use crate::proto::tool::ToolOutput;
use crate::tools::Arguments;
use std::sync::Arc;

/// What happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// The prompt is in the history.
    Begin,
    /// The response is whole.
    StreamFinished(Arc<AssistantMessage>),
    /// The response failed.
    StreamFailed {
        /// How.
        error: LlmError,
        /// What came, marked as failed; `None` when the provider had not begun to answer.
        message: Option<Arc<AssistantMessage>>,
        /// A random number from 0 to 1 for the wait before the next try.
        jitter: f64,
    },
    /// The checks of a call are through.
    Judged {
        /// The call.
        call: CallId,
        /// What they say.
        judgement: Judgement,
    },
    /// A call ended.
    ToolFinished {
        /// The call.
        call: CallId,
        /// What it gave.
        output: Arc<ToolOutput>,
        /// How long it ran.
        duration_ms: u64,
    },
    /// What the user said meanwhile is in the history, if there was anything.
    SteeringTaken {
        /// There was.
        any: bool,
    },
    /// The timer ran out.
    TimerFired(TimerId),
    /// The user wants it to stop.
    Stop,
}

/// What the checks of a call say.
#[derive(Debug, Clone)]
pub enum Judgement {
    /// It may run.
    Run {
        /// Checked arguments.
        arguments: Arguments,
        /// It may change something: runs alone, in order.
        mutating: bool,
    },
    /// It is answered without running; the turn goes on.
    Answer(ToolOutput),
    /// The user said no: this call and all after it are answered, the turn ends.
    Refused,
}
