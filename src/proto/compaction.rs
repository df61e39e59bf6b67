//! What is told of a compaction: the summary of a conversation takes the conversation's place.

use super::ids::EntryId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the log keeps of a compaction beside its summary, in the `details` of its entry: whatever of it was known. Other
/// programs note other things there, or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CompactionFacts {
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<CompactionReason>,
    /// Tokens of the context afterwards, estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<u64>,
    /// What it cost, in dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl CompactionFacts {
    /// What details tell, each fact by itself: one of another form hides no others.
    pub fn of_details(details: Option<&Value>) -> Self {
        let fact = |key: &str| details.and_then(|details| details.get(key));
        Self {
            reason: fact("reason").and_then(|reason| CompactionReason::deserialize(reason).ok()),
            tokens_after: fact("tokensAfter").and_then(Value::as_u64),
            cost: fact("cost").and_then(Value::as_f64).filter(|cost| cost.is_finite()),
            duration_ms: fact("durationMs").and_then(Value::as_u64),
        }
    }

    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Why a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn details_keep_what_was_known() {
        let facts = CompactionFacts {
            reason: Some(CompactionReason::Overflow),
            tokens_after: Some(9400),
            cost: Some(0.02),
            duration_ms: Some(41_200),
        };
        let mut details = serde_json::to_value(facts).unwrap();
        details["readFiles"] = json!(["a.rs"]);
        assert_eq!(CompactionFacts::of_details(Some(&details)), facts);
        let odd = json!({"reason": "whim", "cost": "dear", "durationMs": -4, "tokensAfter": 3});
        let expected = CompactionFacts { tokens_after: Some(3), ..CompactionFacts::default() };
        assert_eq!(CompactionFacts::of_details(Some(&odd)), expected);
        assert!(CompactionFacts::of_details(Some(&json!("text"))).is_empty());
        assert!(CompactionFacts::of_details(None).is_empty());
    }
}
