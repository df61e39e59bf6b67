//! What an answer means: a text, another try without the reference, or a failure.

use super::{Reason, output, prompt::Style};
use std::time::Duration;

/// Another try needs this much of the time.
pub const LEAST_TIME: Duration = Duration::from_secs(1);

/// What came of a request.
// No `Debug`: it holds what was said.
pub enum Answer {
    /// The model was done by itself.
    Text(String),
    /// The answer ran out of room.
    CutShort,
    /// The model wanted something else than to answer, as a tool.
    NoText,
    /// The request failed.
    Failed {
        /// Why.
        reason: Reason,
        /// The provider's error object says that the request was too large or malformed (`llm::complaint`).
        complains_of_input: bool,
    },
}

/// What to do next.
// No `Debug`: it holds what was said.
pub enum Next {
    /// Use this.
    Use(String),
    /// Ask once more without the reference, before the same deadline.
    WithoutReference,
    /// Use the transcript.
    GiveUp(Reason),
}

/// Judges an answer. `had_reference`: the request held one, so this was the first try. `left`: time until the deadline.
pub fn judge(answer: Answer, style: Style, had_reference: bool, left: Duration) -> Next {
    match answer {
        Answer::Text(text) => match output::usable(style, &text) {
            Ok(text) => Next::Use(text),
            Err(reason) => Next::GiveUp(reason),
        },
        Answer::CutShort => Next::GiveUp(Reason::CutShort),
        Answer::NoText => Next::GiveUp(Reason::InvalidResponse),
        Answer::Failed { complains_of_input: true, .. } if had_reference && left >= LEAST_TIME => {
            Next::WithoutReference
        }
        Answer::Failed { complains_of_input: true, .. } => Next::GiveUp(Reason::TooLarge),
        Answer::Failed { reason, .. } => Next::GiveUp(reason),
    }
}
