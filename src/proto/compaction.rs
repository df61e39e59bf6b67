//! What is told of a compaction: the summary of a conversation takes the conversation's place.

use super::ids::EntryId;

/// Why a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionReason {
    /// The window is nearly full.
    Auto,
    /// The user asked for it.
    Manual,
    /// A request did not fit any more.
    Overflow,
}

impl CompactionReason {
    /// In a word, as bands show it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Manual => "manual",
            Self::Overflow => "overflow",
        }
    }
}

/// How a compaction ended.
#[derive(Clone, Debug, PartialEq)]
pub enum CompactionOutcome {
    /// The summary is in the log.
    Done {
        /// Its entry, whose message is a `CompactionSummary`; told before this or after.
        entry: EntryId,
        /// Tokens of the context afterwards, estimated.
        tokens_after: Option<u64>,
        /// What the summary cost, in dollars.
        cost: Option<f64>,
        /// How long it took, in milliseconds.
        duration_ms: u64,
    },
    /// The user stopped it; nothing changed.
    Cancelled,
    /// It failed; nothing changed.
    Failed {
        /// Why, and what to do.
        error: String,
    },
}
