//! What the phase line is told.

use std::sync::Arc;
use std::time::Duration;

/// What kind of step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Between requests and tools.
    Prep,
    /// The request is on its way.
    Api,
    /// It was received, nothing was said yet.
    FirstToken,
    /// The model thinks.
    Think,
    /// The model writes a call.
    Tool,
    /// Tools run.
    Run,
    /// All tools that run wait for another agent.
    RunAgents,
    /// The model writes its reply.
    Text,
    /// The user is asked.
    Asking,
    /// A failed request waits to be repeated.
    Retry,
    /// The conversation is made small.
    Compaction,
    /// Another branch is summed up.
    BranchSummary,
}

/// What the left of the phase line tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The kind.
    pub kind: Kind,
    /// What it is called, without the ellipsis.
    pub word: String,
    /// The same for narrow screens.
    pub short: Option<String>,
    /// What the whole prompt is called, if the user wants that; then `word` is a detail.
    pub verb: Option<Arc<str>>,
    /// How long it takes already; none where the word itself counts down.
    pub elapsed: Option<Duration>,
    /// How long nothing was heard.
    pub quiet: Duration,
    /// Tokens of this request, estimated.
    pub tokens: Option<u64>,
    /// A call was begun and nothing of its arguments has come. Some providers hold them back until they are whole.
    pub is_held_back: bool,
    /// The part of a retry's wait that is over.
    pub gone: f64,
}

impl Status {
    /// One that has nothing but a kind, a word and a time.
    pub(super) fn plain(kind: Kind, word: impl Into<String>, elapsed: Duration) -> Self {
        Self {
            kind,
            word: word.into(),
            short: None,
            verb: None,
            elapsed: Some(elapsed),
            quiet: elapsed,
            tokens: None,
            is_held_back: false,
            gone: 0.0,
        }
    }
}

/// The figures on the right.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Tokens per second.
    pub speed: Option<Speed>,
    /// Shortest and longest time from a request to its first content.
    pub first: Option<(Duration, Duration)>,
    /// The whole prompt.
    pub total: Duration,
    /// It goes on.
    pub is_running: bool,
}

/// Tokens per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// How many.
    pub tokens: f64,
    /// By the rule of thumb; else the provider has counted, now or the last time.
    pub is_guessed: bool,
}

/// What thinking is called after so long.
pub(super) const fn thinking(elapsed: Duration) -> &'static str {
    match elapsed.as_secs() {
        0..10 => "Thinking",
        10..20 => "Still thinking",
        20..45 => "Thinking more",
        45.. => "Deep in thought",
    }
}
