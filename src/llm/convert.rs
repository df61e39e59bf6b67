//! History to what a target model accepts, before any dialect: the one place that knows how messages of other models,
//! programs and failed responses are replayed.
//!
//! Invariants of the result: every call is answered exactly once, right after the message that made it, in the order of
//! the calls; no content is empty; signatures go back only to the model that made them. Texts are borrowed.

use super::call_ids::{CallIds, IdRule};
use super::{Model, Request};
use crate::proto::message::{
    AssistantMessage, BashExecutionMessage, Block, Message, StopReason, ToolCall, ToolResultMessage,
};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

const NO_RESULT: &str = "No result was recorded for this call: it was interrupted before it ended.";
const NO_OUTPUT: &str = "(no output)";
const NO_PICTURES: &str = "(A picture was left out: this model takes none.)";
const ODD_PICTURE: &str = "(A picture was left out: its format is not one that models take.)";

/// The room for an answer when nobody asks for another, in tokens.
const USUAL_MAX_TOKENS: u64 = 32_000;

/// One message as all dialects know it.
#[derive(Debug, Clone, PartialEq)]
pub enum Item<'a> {
    /// What the user said; never empty.
    User(Vec<Part<'a>>),
    /// What a model said; has text or calls.
    Assistant {
        /// Its parts, in order.
        parts: Vec<AssistantPart<'a>>,
        /// The target model said it itself: signatures are there.
        own: bool,
    },
    /// The answer to a call of the assistant message before.
    ToolResult(ToolResult<'a>),
}

/// A part of what a user said or a tool gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Part<'a> {
    /// Text that is not blank.
    Text(Cow<'a, str>),
    /// A picture.
    Image {
        /// Base64 of the file.
        data: &'a str,
        /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        mime_type: &'a str,
    },
}

/// A part of what a model said.
#[derive(Debug, Clone, PartialEq)]
pub enum AssistantPart<'a> {
    /// Text that is not blank.
    Text {
        /// The text.
        text: &'a str,
        /// Opaque data of the same model.
        signature: Option<&'a str>,
    },
    /// Thinking of the same model.
    Thinking {
        /// The readable part; may be empty when there is a signature.
        thinking: &'a str,
        /// Opaque data of the same model.
        signature: Option<&'a str>,
        /// The readable part was withheld.
        redacted: bool,
    },
    /// A call.
    Call {
        /// Its id in this request.
        id: String,
        /// The id as the history has it.
        original_id: &'a str,
        /// Tool name.
        name: &'a str,
        /// Arguments; empty for a call whose arguments were no JSON object.
        arguments: &'a Map<String, Value>,
        /// Opaque data of the same model.
        signature: Option<&'a str>,
    },
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult<'a> {
    /// The call's id in this request.
    pub call_id: String,
    /// Tool name.
    pub tool_name: &'a str,
    /// Never empty.
    pub parts: Vec<Part<'a>>,
    /// The call failed.
    pub is_error: bool,
}

impl ToolResult<'_> {
    /// All text, joined by newlines.
    pub fn text(&self) -> Cow<'_, str> {
        joined(&self.parts)
    }

    /// There are pictures.
    pub fn has_images(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Image { .. }))
    }
}

/// All text of the parts, joined by newlines; borrowed when it is one.
pub fn joined<'p>(parts: &'p [Part<'_>]) -> Cow<'p, str> {
    let mut texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_ref()),
        Part::Image { .. } => None,
    });
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(only), None) => Cow::Borrowed(only),
        (Some(first), Some(second)) => {
            let all: Vec<&str> = [first, second].into_iter().chain(texts).collect();
            Cow::Owned(all.join("\n"))
        }
    }
}

/// Converts a history for this model.
pub fn convert<'a>(messages: &'a [Arc<Message>], model: &Model, ids: IdRule) -> Vec<Item<'a>> {
    let mut ids = CallIds::new(ids);
    let mut items = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        match message.as_ref() {
            Message::User(user) => push_user(&mut items, parts(&user.content, model)),
            Message::Custom(custom) => push_user(&mut items, parts(&custom.content, model)),
            Message::BashExecution(run) if run.exclude_from_context != Some(true) => {
                push_user(&mut items, vec![Part::Text(Cow::Owned(told(run)))]);
            }
            Message::BranchSummary(branch) => push_user(
                &mut items,
                vec![summary(
                    "The conversation took another branch before, which was left. What happened there:",
                    &branch.summary,
                )],
            ),
            Message::CompactionSummary(compaction) => push_user(
                &mut items,
                vec![summary("The conversation so far was condensed to this summary:", &compaction.summary)],
            ),
            Message::Assistant(assistant) if is_replayed(assistant) => {
                let rest = messages.get(index + 1..).unwrap_or_default();
                push_assistant(&mut items, assistant, rest, model, &mut ids);
            }
            // Results are taken along with the call that they answer; those of dropped messages answer nothing. The
            // system prompt is a field of the request.
            Message::BashExecution(_)
            | Message::Assistant(_)
            | Message::ToolResult(_)
            | Message::System(_) => {}
        }
    }
    items
}

/// Failed, stopped and unfinished answers are not replayed: providers refuse half a call or unsigned thinking.
const fn is_replayed(assistant: &AssistantMessage) -> bool {
    match assistant.stop_reason {
        StopReason::Stop | StopReason::Length | StopReason::ToolUse | StopReason::Other => true,
        StopReason::Error | StopReason::Aborted | StopReason::Pending => false,
    }
}

fn push_user<'a>(items: &mut Vec<Item<'a>>, parts: Vec<Part<'a>>) {
    if !parts.is_empty() {
        items.push(Item::User(parts));
    }
}

fn push_assistant<'a>(
    items: &mut Vec<Item<'a>>,
    assistant: &'a AssistantMessage,
    rest: &'a [Arc<Message>],
    model: &Model,
    ids: &mut CallIds,
) {
    let own = assistant.provider == model.reference.provider
        && assistant.api == model.dialect.as_str()
        && assistant.model == model.reference.id;
    let mut calls = Vec::new();
    let mut said = Vec::with_capacity(assistant.content.len());
    let mut says_something = false;
    for block in &assistant.content {
        match block {
            Block::Text { text, .. } if is_blank(text) => {}
            Block::Text { text, text_signature } => {
                says_something = true;
                said.push(AssistantPart::Text { text, signature: text_signature.as_deref().filter(|_| own) });
            }
            Block::Thinking { thinking, thinking_signature, redacted } if own => {
                let signature = thinking_signature.as_deref().filter(|signature| !signature.is_empty());
                if signature.is_some() || !is_blank(thinking) {
                    said.push(AssistantPart::Thinking { thinking, signature, redacted: *redacted });
                }
            }
            // Another model cannot check the signature: what can be read becomes text.
            Block::Thinking { thinking, redacted, .. } => {
                if !redacted && !is_blank(thinking) {
                    says_something = true;
                    said.push(AssistantPart::Text { text: thinking, signature: None });
                }
            }
            Block::ToolCall(call) => {
                says_something = true;
                let id = ids.assign(call.id.as_str());
                calls.push((call, id.clone()));
                said.push(AssistantPart::Call {
                    id,
                    original_id: call.id.as_str(),
                    name: &call.name,
                    arguments: &call.arguments,
                    signature: call.thought_signature.as_deref().filter(|_| own),
                });
            }
            // A model's pictures have no form on the wire.
            Block::Image { .. } | Block::Unknown => {}
        }
    }
    // Thinking alone is no message to any provider.
    if !says_something {
        return;
    }
    items.push(Item::Assistant { parts: said, own });
    let mut results = results_of(rest);
    for (call, id) in calls {
        let result = results.get_mut(call.id.as_str()).and_then(VecDeque::pop_front);
        items.push(Item::ToolResult(answer(call, id, result, model)));
    }
}

/// The results up to the next answer that is replayed, by call id: also those that came late, after a user message that
/// interrupted the batch.
fn results_of(rest: &[Arc<Message>]) -> HashMap<&str, VecDeque<&ToolResultMessage>> {
    let mut results: HashMap<&str, VecDeque<&ToolResultMessage>> = HashMap::new();
    for message in rest {
        match message.as_ref() {
            Message::ToolResult(result) => {
                results.entry(result.tool_call_id.as_str()).or_default().push_back(result);
            }
            Message::Assistant(_) => break,
            Message::System(_)
            | Message::User(_)
            | Message::BashExecution(_)
            | Message::Custom(_)
            | Message::BranchSummary(_)
            | Message::CompactionSummary(_) => {}
        }
    }
    results
}

fn answer<'a>(
    call: &'a ToolCall,
    call_id: String,
    result: Option<&'a ToolResultMessage>,
    model: &Model,
) -> ToolResult<'a> {
    let tool_name = call.name.as_str();
    let Some(result) = result else {
        let parts = vec![Part::Text(Cow::Borrowed(NO_RESULT))];
        return ToolResult { call_id, tool_name, parts, is_error: true };
    };
    let mut parts = parts(&result.content, model);
    if parts.is_empty() {
        parts.push(Part::Text(Cow::Borrowed(NO_OUTPUT)));
    }
    ToolResult { call_id, tool_name, parts, is_error: result.is_error }
}

fn parts<'a>(content: &'a [Block], model: &Model) -> Vec<Part<'a>> {
    let mut parts = Vec::with_capacity(content.len());
    for block in content {
        match block {
            Block::Text { text, .. } if is_blank(text) => {}
            Block::Text { text, .. } => parts.push(Part::Text(Cow::Borrowed(text))),
            Block::Image { .. } if !model.images => parts.push(Part::Text(Cow::Borrowed(NO_PICTURES))),
            Block::Image { data, mime_type } => parts.push(match mime_type.as_str() {
                "image/png" | "image/jpeg" | "image/gif" | "image/webp" => Part::Image { data, mime_type },
                _ => Part::Text(Cow::Borrowed(ODD_PICTURE)),
            }),
            Block::Thinking { .. } | Block::ToolCall(_) | Block::Unknown => {}
        }
    }
    // A row of pictures that were left out is told once.
    parts.dedup_by(|a, b| a == b && matches!(a, Part::Text(Cow::Borrowed(NO_PICTURES | ODD_PICTURE))));
    parts
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn summary<'a>(head: &str, summary: &str) -> Part<'a> {
    Part::Text(Cow::Owned(format!("{head}\n\n<summary>\n{summary}\n</summary>")))
}

/// A command that the user ran, as the model reads it.
fn told(run: &BashExecutionMessage) -> String {
    let mut text = format!("The user ran this command:\n\n    {}\n\n", run.command.replace('\n', "\n    "));
    if is_blank(&run.output) {
        text.push_str("It printed nothing.");
    } else {
        text.push_str("It printed:\n\n```\n");
        text.push_str(run.output.trim_end_matches('\n'));
        text.push_str("\n```");
    }
    if run.cancelled {
        text.push_str("\n\nThe user stopped it.");
    } else if let Some(code) = run.exit_code.filter(|code| *code != 0) {
        text.push_str(&format!("\n\nIt ended with exit code {code}."));
    }
    if run.truncated {
        match &run.full_output_path {
            Some(path) => text.push_str(&format!("\n\nThe output is cut; the whole is in {path}.")),
            None => text.push_str("\n\nThe output is cut."),
        }
    }
    text
}

/// The room for the answer, in tokens: what is asked for, else 32,000; never more than the model can give, and never more
/// than its window has left beside an input of this size.
pub fn max_tokens(model: &Model, asked: Option<u64>, input: u64) -> u64 {
    let most = if model.max_tokens > 0 { model.max_tokens } else { u64::MAX };
    let left = if model.context_window > 0 { model.context_window.saturating_sub(input) } else { u64::MAX };
    asked.unwrap_or(USUAL_MAX_TOKENS).min(most).min(left).max(1)
}

/// A rough size of a request in tokens: 3.5 bytes each, 1,200 a picture. A guess for limits, not for display.
pub fn estimated_tokens(request: &Request) -> u64 {
    let tools: usize = request
        .tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + json_size(&tool.parameters))
        .sum();
    let messages: usize = request.messages.iter().map(|message| message_size(message)).sum();
    let bytes = request.system.len() + tools + messages;
    (bytes as u64).saturating_mul(2) / 7
}

const IMAGE_SIZE: usize = 4_200;

fn message_size(message: &Message) -> usize {
    match message {
        Message::System(_) => 0,
        Message::User(user) => content_size(&user.content),
        Message::Assistant(assistant) => content_size(&assistant.content),
        Message::ToolResult(result) => content_size(&result.content),
        Message::BashExecution(run) => run.command.len() + run.output.len(),
        Message::Custom(custom) => content_size(&custom.content),
        Message::BranchSummary(branch) => branch.summary.len(),
        Message::CompactionSummary(compaction) => compaction.summary.len(),
    }
}

fn content_size(content: &[Block]) -> usize {
    let size = |block: &Block| match block {
        Block::Text { text, .. } => text.len(),
        Block::Thinking { thinking, .. } => thinking.len(),
        Block::Image { .. } => IMAGE_SIZE,
        Block::ToolCall(call) => call.name.len() + object_size(&call.arguments),
        Block::Unknown => 0,
    };
    content.iter().map(size).sum()
}

fn json_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 5,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(json_size).sum(),
        Value::Object(object) => object_size(object),
    }
}

fn object_size(object: &Map<String, Value>) -> usize {
    object.iter().map(|(key, value)| key.len() + 4 + json_size(value)).sum()
}

#[cfg(test)]
mod tests;
