//! What goes wrong between us and a model, as classes that decide what happens next.

use std::time::Duration;

/// A failed request. `message` is for people: what happened and what to do, never raw JSON.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct LlmError {
    /// Decides what happens next.
    pub class: ErrorClass,
    /// For people.
    pub message: String,
    /// The provider asks to wait this long.
    pub retry_after: Option<Duration>,
    /// HTTP status, if there was a response.
    pub status: Option<u16>,
    /// The provider's error object says that the request was too large or malformed: a smaller or simpler one may pass
    /// (see [`super::complaint`]).
    pub complains_of_input: bool,
}

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// No key, or the provider refuses it.
    Auth,
    /// The provider does not know the model.
    UnknownModel,
    /// Too many requests; passes by itself.
    RateLimit,
    /// A quota or a balance is used up; does not pass by itself.
    Quota,
    /// The provider is overloaded or broken; passes by itself.
    Server,
    /// The connection could not be made, or broke.
    Network,
    /// The stream ended early, or held something that is not the protocol.
    Stream,
    /// The conversation does not fit the model's window.
    Overflow,
    /// The provider declines to answer this.
    Refusal,
    /// The request is wrong: repeating it changes nothing.
    Invalid,
}

impl ErrorClass {
    /// Repeating the same request can help.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimit | Self::Server | Self::Network | Self::Stream)
    }
}
