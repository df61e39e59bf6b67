//! Models: one internal stream protocol, and the adapters that speak each provider's dialect.
//!
//! An adapter turns a [`Request`] into [`StreamEvent`]s. A failure is an event too ([`StreamEvent::Failed`]), never a
//! panic, so that the partial message and its usage survive. Dropping the future of [`Provider::stream`] aborts the
//! request at once.

pub mod anthropic;
pub mod assemble;
pub mod call_ids;
pub mod classify;
pub mod compat;
pub mod complaint;
pub mod convert;
pub mod decode;
pub mod endpoint;
pub mod error;
pub mod failure;
#[cfg(test)]
mod fixtures;
pub mod http;
pub mod http_client;
pub mod models;
pub mod openai_chat;
pub mod openai_responses;
pub mod price;
pub mod provider_error;
#[cfg(test)]
mod replay_tests;
pub mod retry;
pub mod retry_after;
pub mod scripted;
pub mod sse;
pub mod temperature;
pub mod thinking;
pub mod wire;

use crate::proto::ids::CallId;
use crate::proto::message::{Message, StopReason};
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::proto::tool::ToolSpec;
use crate::proto::usage::Usage;
use error::LlmError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::mpsc;

/// A boxed future, for traits that are used as objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where an adapter puts its events. Unbounded: the receiver is the driver in the same process, which only appends.
pub type StreamSender = mpsc::UnboundedSender<StreamEvent>;

/// Something that answers requests: a wire adapter bound to an endpoint and a key, or a script.
pub trait Provider: Send + Sync {
    /// Answers one request. The last event is [`StreamEvent::Done`] or [`StreamEvent::Failed`].
    fn stream(&self, request: Arc<Request>, events: StreamSender) -> BoxFuture<'static, ()>;
}

/// A model and everything that requests, prices and limits depend on.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Provider and id.
    pub reference: ModelRef,
    /// Name for people.
    pub name: String,
    /// Wire dialect.
    pub dialect: Dialect,
    /// Where requests go, as the dialect's documents write it (Anthropic without `/v1`, OpenAI with).
    pub base_url: String,
    /// The model can think.
    pub reasoning: bool,
    /// What to send for a level: absent is the dialect's own word, `None` is "not offered".
    pub thinking_levels: BTreeMap<ThinkingLevel, Option<String>>,
    /// The model takes pictures.
    pub images: bool,
    /// Tokens that fit, input and output together.
    pub context_window: u64,
    /// Tokens it can generate at most.
    pub max_tokens: u64,
    /// US dollars per million tokens.
    pub price: Price,
    /// Extra headers.
    pub headers: BTreeMap<String, String>,
    /// Differences from the dialect's standard behaviour, under the names of Pi's `compat`.
    pub compat: Map<String, Value>,
    /// Made up from an id the catalogue does not know: windows and prices are guesses.
    pub unlisted: bool,
}

/// US dollars per million tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Price {
    /// Fresh prompt tokens.
    pub input: f64,
    /// Generated tokens.
    pub output: f64,
    /// Cache reads.
    pub cache_read: f64,
    /// Cache writes.
    pub cache_write: f64,
    /// Other prices above a prompt size, smallest first.
    pub tiers: Vec<PriceTier>,
}

/// Prices for requests whose prompt exceeds a size; they hold for the whole request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriceTier {
    /// Prompt tokens that must be exceeded.
    pub above: u64,
    /// Fresh prompt tokens.
    pub input: f64,
    /// Generated tokens.
    pub output: f64,
    /// Cache reads.
    pub cache_read: f64,
    /// Cache writes.
    pub cache_write: f64,
}

/// A provider's wire protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Anthropic Messages.
    AnthropicMessages,
    /// OpenAI Chat Completions and its relatives.
    OpenAiCompletions,
    /// OpenAI Responses.
    OpenAiResponses,
    /// The embedded script.
    Scripted,
}

impl Dialect {
    /// The dialect's name in catalogues and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic-messages",
            Self::OpenAiCompletions => "openai-completions",
            Self::OpenAiResponses => "openai-responses",
            Self::Scripted => "scripted",
        }
    }

    /// The dialect of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::AnthropicMessages, Self::OpenAiCompletions, Self::OpenAiResponses, Self::Scripted]
            .into_iter()
            .find(|dialect| dialect.as_str() == name)
    }
}

/// How long a provider should keep the prompt cached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheRetention {
    /// Not at all.
    None,
    /// The provider's usual time.
    #[default]
    Short,
    /// The longer time it offers.
    Long,
}

/// One request to a model. Everything is shared or small: a request is built every round.
#[derive(Clone, Debug)]
pub struct Request {
    /// Who answers.
    pub model: Arc<Model>,
    /// System prompt; the same bytes for the whole turn, and between turns when nothing changed.
    pub system: Arc<str>,
    /// The conversation, oldest first; provider-valid (see `agent::repair`), no system messages.
    pub messages: Vec<Arc<Message>>,
    /// Tools, in a fixed order.
    pub tools: Arc<[ToolSpec]>,
    /// How hard to think; already clamped to what the model offers.
    pub thinking: ThinkingLevel,
    /// Room for the answer; `None` for the model's own limit (see `llm::convert::max_tokens`).
    pub max_tokens: Option<u64>,
    /// Routes requests of one session to the same cache.
    pub session_id: String,
    /// Prompt caching.
    pub cache: CacheRetention,
    /// How freely words are chosen; `None` for the provider's default. Left out where a model takes none.
    pub temperature: Option<f32>,
}

/// What happens while a response streams. Indexes count content blocks from 0 and rise by one with each `*Start`.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// The provider accepted the request.
    Started {
        /// Its id of the response.
        response_id: Option<String>,
        /// The model that answers, if it says so.
        response_model: Option<String>,
    },
    /// A text block begins.
    TextStart {
        /// Place in the content.
        index: usize,
    },
    /// More text.
    TextDelta {
        /// Place in the content.
        index: usize,
        /// What is new.
        delta: String,
    },
    /// The text block is whole.
    TextEnd {
        /// Place in the content.
        index: usize,
        /// Opaque data to replay with it.
        signature: Option<String>,
    },
    /// A thinking block begins.
    ThinkingStart {
        /// Place in the content.
        index: usize,
    },
    /// More thinking.
    ThinkingDelta {
        /// Place in the content.
        index: usize,
        /// What is new.
        delta: String,
    },
    /// The thinking block is whole.
    ThinkingEnd {
        /// Place in the content.
        index: usize,
        /// Opaque data to replay with it.
        signature: Option<String>,
        /// The readable part was withheld.
        redacted: bool,
    },
    /// A tool call begins.
    ToolCallStart {
        /// Place in the content.
        index: usize,
        /// The provider's id; made up when it gives none.
        id: CallId,
        /// Tool name.
        name: String,
    },
    /// More of the argument JSON.
    ToolCallDelta {
        /// Place in the content.
        index: usize,
        /// What is new.
        delta: String,
    },
    /// The tool call is whole: the assembler parses the argument text.
    ToolCallEnd {
        /// Place in the content.
        index: usize,
        /// Opaque data to replay with it.
        signature: Option<String>,
        /// Final id and name, where the provider corrected them late.
        corrected: Option<(CallId, String)>,
        /// The whole argument text, where the provider repeats it at the end.
        arguments: Option<String>,
    },
    /// Usage so far, cumulative, priced.
    Usage(Usage),
    /// The response is whole.
    Done {
        /// Why it stopped: `Stop`, `Length` or `ToolUse`.
        reason: StopReason,
        /// The provider's own word.
        raw_reason: Option<String>,
    },
    /// The response failed; what came so far stays.
    Failed(LlmError),
}
