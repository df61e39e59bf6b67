//! What a tool is to a model, and what a call of it gave.

use super::message::Block;
use super::usage::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

// Sentences that stand for the result of a call that gave none of its own. Front ends know them again.

/// The result of a call that the user's stop kept from running or from ending.
pub const STOPPED: &str = "Stopped by the user before it was done.";
/// The result of the calls after one that the user refused.
pub const NOT_RUN: &str = "Not run: the user refused an earlier call of this batch.";
/// The question that the user refused, as its result.
pub const REFUSED: &str = "The user refused this call.";
/// What a call without a result is answered with.
pub const INTERRUPTED: &str = "The call was interrupted before it gave a result. It may have had effects: \
                               check before you repeat it.";

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Name, lower case.
    pub name: String,
    /// What it does and its limits, for the model.
    #[serde(default)]
    pub description: String,
    /// JSON Schema of the arguments, an object schema.
    #[serde(default)]
    pub parameters: Value,
}

/// What a tool call gave. A failure is content for the model too: only a broken invariant of ours ends a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutput {
    /// Text and pictures for the model.
    pub content: Vec<Block>,
    /// Facts for front ends: diff, truncation, exit code, path of the full output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// The call failed.
    #[serde(skip)]
    pub is_error: bool,
    /// Model use of the tool itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl ToolOutput {
    /// A plain success.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Block::text(text)], ..Self::default() }
    }

    /// A failure, told to the model.
    pub fn error(text: impl Into<String>) -> Self {
        Self { content: vec![Block::text(text)], is_error: true, ..Self::default() }
    }

    /// Adds facts for front ends.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}
