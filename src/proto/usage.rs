//! Tokens and what they cost.

use super::message::Message;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Tokens of one model response, and their price. The names on the wire are those of the session format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Generated tokens, thinking included.
    pub output: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: u64,
    /// The part of `output` that was thinking, where the provider says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// Sum of the four kinds.
    pub total_tokens: u64,
    /// Price in US dollars.
    pub cost: Cost,
}

/// How much happened in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What the user said.
    pub prompts: u64,
    /// Responses of models, failed and stopped ones included.
    pub rounds: u64,
    /// Calls that were answered, refused ones included.
    pub tools: u64,
    /// Time for which models were at work, of responses that tell it.
    pub airtime: Duration,
}

impl Counts {
    /// Counts a message.
    pub fn add(&mut self, message: &Message) {
        match message {
            Message::User(_) => self.prompts += 1,
            Message::Assistant(answer) => {
                self.rounds += 1;
                let took = Duration::from_millis(answer.duration_ms.unwrap_or(0));
                // A log may hold any number.
                self.airtime = self.airtime.saturating_add(took);
            }
            Message::ToolResult(_) => self.tools += 1,
            Message::System(_)
            | Message::BashExecution(_)
            | Message::Custom(_)
            | Message::BranchSummary(_)
            | Message::CompactionSummary(_) => {}
        }
    }
}

/// Price of one response in US dollars, by kind of token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Cost {
    /// Fresh prompt tokens.
    pub input: f64,
    /// Generated tokens.
    pub output: f64,
    /// Cache reads.
    pub cache_read: f64,
    /// Cache writes.
    pub cache_write: f64,
    /// Sum of the four.
    pub total: f64,
}

impl Usage {
    /// Tokens the model had to read for this response: fresh, cached and newly cached.
    pub const fn prompt_tokens(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Sets `total_tokens` from the four kinds.
    pub const fn with_total(mut self) -> Self {
        self.total_tokens = self.prompt_tokens().saturating_add(self.output);
        self
    }

    /// Adds another response's figures to these.
    pub fn add(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = match (self.reasoning, other.reasoning) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.cost.input += other.cost.input;
        self.cost.output += other.cost.output;
        self.cost.cache_read += other.cost.cache_read;
        self.cost.cache_write += other.cost.cache_write;
        self.cost.total += other.cost.total;
    }
}
