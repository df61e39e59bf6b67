//! Messages and content blocks as the log, the adapters and every front end share them.
//!
//! The JSON form is that of Pi's session format version 3, so that logs travel between the two programs. Fields that
//! only Mynah writes are optional and ignored by other readers.

use super::compaction::CompactionFacts;
use super::ids::CallId;
use super::model::ThinkingLevel;
use super::tool::ToolSpec;
use super::usage::Usage;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// Milliseconds since the Unix epoch.
pub type Millis = i64;

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub enum Message {
    /// Prompt sections and tool declarations, or a change of them.
    System(SystemMessage),
    /// What a person said.
    User(UserMessage),
    /// What a model said.
    Assistant(AssistantMessage),
    /// What a tool call gave.
    ToolResult(ToolResultMessage),
    /// A command that the user ran from the prompt.
    BashExecution(BashExecutionMessage),
    /// A message that a program put into the conversation; user role for models.
    Custom(CustomMessage),
    /// Summary of an abandoned branch.
    BranchSummary(BranchSummaryMessage),
    /// Summary of what was compacted away.
    CompactionSummary(CompactionSummaryMessage),
}

/// One part of a message's content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Block {
    /// Plain text.
    #[serde(rename_all = "camelCase")]
    Text {
        /// The text.
        text: String,
        /// Opaque data that the provider wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text_signature: Option<String>,
    },
    /// The model's thinking.
    #[serde(rename_all = "camelCase")]
    Thinking {
        /// Readable part; may be empty.
        thinking: String,
        /// Opaque data that the provider wants back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking_signature: Option<String>,
        /// The readable part was withheld.
        #[serde(default, skip_serializing_if = "is_false")]
        redacted: bool,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Base64 of the file.
        data: String,
        /// For example `image/png`.
        mime_type: String,
    },
    /// A call of a tool.
    ToolCall(ToolCall),
    /// A kind this version does not know. Never sent to a model.
    #[serde(other)]
    Unknown,
}

impl Block {
    /// A text block without a signature.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), text_signature: None }
    }
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The provider's id; the result names it.
    pub id: CallId,
    /// Tool name.
    pub name: String,
    /// Arguments; empty when they could not be parsed, see `malformed`.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// Opaque data that the provider wants back with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought_signature: Option<String>,
    /// The argument text as it came, when it was no JSON object. The call is answered with an error, not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

/// Prompt sections and tool declarations. Replaying all of them in order yields the prompt in force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemMessage {
    /// Extra instructions beside the sections.
    #[serde(default, deserialize_with = "text_or_blocks_as_text")]
    pub content: String,
    /// Named parts of the prompt; `null` removes one.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub sections: Map<String, Value>,
    /// Tools declared by this message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools_added: Vec<ToolSpec>,
    /// Tools taken away, as `{name}` objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools_removed: Vec<Value>,
    /// When.
    pub timestamp: Millis,
}

/// What a person said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// Text and pictures.
    #[serde(deserialize_with = "text_or_blocks")]
    pub content: Vec<Block>,
    /// When.
    pub timestamp: Millis,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// Still streaming; never in a log.
    Pending,
    /// It was done.
    Stop,
    /// It ran out of room.
    Length,
    /// It wants tools to be called.
    ToolUse,
    /// The response failed; `error_message` says how.
    Error,
    /// The user stopped it.
    Aborted,
    /// A reason this version does not know.
    #[serde(other)]
    Other,
}

/// What a model said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssistantMessage {
    /// Text, thinking and calls, in order.
    #[serde(deserialize_with = "text_or_blocks")]
    pub content: Vec<Block>,
    /// Wire dialect, e.g. `anthropic-messages`.
    #[serde(default)]
    pub api: String,
    /// Provider id.
    #[serde(default)]
    pub provider: String,
    /// Model id that was asked.
    #[serde(default)]
    pub model: String,
    /// Model id that answered, when the provider says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_model: Option<String>,
    /// Tokens and price.
    #[serde(default)]
    pub usage: Usage,
    /// Why it stopped.
    pub stop_reason: StopReason,
    /// What went wrong, for `Error` and `Aborted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// When the request was sent.
    #[serde(default)]
    pub timestamp: Millis,
    /// The provider's id of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
    /// The provider's own word for why it stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_stop_reason: Option<String>,
    /// How long the response took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Level asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<ThinkingLevel>,
}

impl AssistantMessage {
    /// The calls, in the order in which the model made them.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// All text blocks, joined by newlines.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }
}

/// What a tool call gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultMessage {
    /// The call that is answered.
    pub tool_call_id: CallId,
    /// Tool name.
    pub tool_name: String,
    /// Text and pictures for the model.
    #[serde(deserialize_with = "text_or_blocks")]
    pub content: Vec<Block>,
    /// Facts for front ends; never sent to a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Model use of the tool itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The call failed.
    #[serde(default)]
    pub is_error: bool,
    /// How long it ran; absent when it did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// When it ended.
    #[serde(default)]
    pub timestamp: Millis,
}

/// A command that the user ran from the prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BashExecutionMessage {
    /// The command.
    pub command: String,
    /// What it printed.
    #[serde(default)]
    pub output: String,
    /// Its exit code, if it ended by itself; 128 and the signal's number, if something else killed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The user stopped it.
    #[serde(default)]
    pub cancelled: bool,
    /// `output` is not the whole.
    #[serde(default)]
    pub truncated: bool,
    /// File with the whole output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_output_path: Option<String>,
    /// Shown only; not for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude_from_context: Option<bool>,
    /// When.
    #[serde(default)]
    pub timestamp: Millis,
}

/// A message that a program put into the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomMessage {
    /// Whose.
    pub custom_type: String,
    /// Text and pictures.
    #[serde(deserialize_with = "text_or_blocks")]
    pub content: Vec<Block>,
    /// Shown to the user.
    #[serde(default)]
    pub display: bool,
    /// Facts for front ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// When.
    #[serde(default)]
    pub timestamp: Millis,
}

/// Summary of an abandoned branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BranchSummaryMessage {
    /// The summary.
    pub summary: String,
    /// Leaf of the abandoned branch.
    #[serde(default)]
    pub from_id: Option<String>,
    /// When.
    #[serde(default)]
    pub timestamp: Millis,
}

/// Summary of what was compacted away.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionSummaryMessage {
    /// The summary.
    pub summary: String,
    /// Context size before.
    #[serde(default)]
    pub tokens_before: u64,
    /// What else is known of it.
    #[serde(default, skip_serializing_if = "CompactionFacts::is_empty")]
    pub facts: CompactionFacts,
    /// When.
    #[serde(default)]
    pub timestamp: Millis,
}

/// All text blocks of a content, joined by newlines.
pub fn text_of(content: &[Block]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Reads both forms of a content straight from the input: an untagged enum would copy every text and picture first.
struct TextOrBlocks;

impl<'de> Visitor<'de> for TextOrBlocks {
    type Value = Vec<Block>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of blocks")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(vec![Block::text(text)])
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(vec![Block::text(text)])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, blocks: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(blocks))
    }
}

fn text_or_blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Block>, D::Error> {
    deserializer.deserialize_any(TextOrBlocks)
}

fn text_or_blocks_as_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(text_of(&text_or_blocks(deserializer)?))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}
