//! Corrects a transcript with a language model: fillers, slips and misheard terms, and nothing else.
//!
//! ```text
//!  consent::decide ─▶ prompt::compose ─▶ Editor (the model) ─▶ attempt::judge ─▶ text, or why not
//!                          ▲                                        │
//!                          └──────── once, without reference ◀──────┘
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | [`consent`] | whether a provider may get a transcript and a reference, and what to ask the user |
//! | [`prompt`] | what the model is told |
//! | [`attempt`] | what an answer means: a text, another try, a failure |
//! | [`output`] | whether an answer is a text to use, and its cleaning |
//! | [`run`] | one correction from begin to end, with one deadline |
//!
//! Invariants: whatever fails, the caller still has the transcript and uses it; at most two requests, both before the
//! same deadline; no session history, no tools; types that hold what was said have no `Debug`.

pub mod attempt;
pub mod consent;
pub mod output;
pub mod prompt;
pub mod run;

use serde::{Deserialize, Serialize};

/// Why a transcript was not corrected: a closed list, for reports that hold nothing private.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// There is no model, or no way to it.
    Configuration,
    /// There is no key, or it is refused.
    Authentication,
    /// The connection could not be made, or broke.
    Connection,
    /// The time was over.
    Timeout,
    /// Too many requests, or a quota that is used up.
    RateLimited,
    /// The provider is overloaded or broken.
    Overloaded,
    /// The request was too large or malformed for the provider, also without a reference.
    TooLarge,
    /// The provider refuses the request.
    Refused,
    /// The answer was no text to use: empty, too long, or a call of a tool.
    InvalidResponse,
    /// The answer was cut off.
    CutShort,
}

impl Reason {
    /// One line for people: what happened, what was kept.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Configuration => {
                "Not corrected: there is no model for it. The text is as it was understood."
            }
            Self::Authentication => {
                "Not corrected: the provider wants another key. The text is as it was understood."
            }
            Self::Connection => "Not corrected: the connection failed. The text is as it was understood.",
            Self::Timeout => "Not corrected: the model took too long. The text is as it was understood.",
            Self::RateLimited => {
                "Not corrected: the provider's limit is reached. The text is as it was understood."
            }
            Self::Overloaded => {
                "Not corrected: the provider has a problem. The text is as it was understood."
            }
            Self::TooLarge => {
                "Not corrected: the text is too long for the model. It is as it was understood."
            }
            Self::Refused => {
                "Not corrected: the provider refused the request. The text is as it was understood."
            }
            Self::InvalidResponse => {
                "Not corrected: the answer was no usable text. The text is as it was understood."
            }
            Self::CutShort => "Not corrected: the answer was cut off. The text is as it was understood.",
        }
    }
}
