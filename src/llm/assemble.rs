//! From stream events to the message they make up: the one place where blocks grow and argument JSON is parsed.
//!
//! Responsibilities: holds the partial message of a running response; turns each event into the entry patches that
//! listeners see. Invariants: a block's index never changes; an unfinished message is always valid content (calls whose
//! arguments did not arrive whole are marked malformed).

use super::{Model, StreamEvent};
use crate::proto::entry::EntryPatch;
use crate::proto::ids::CallId;
use crate::proto::message::{AssistantMessage, Block, StopReason, ToolCall};
use crate::proto::model::ThinkingLevel;
use crate::proto::usage::Usage;
use serde_json::{Map, Value};

/// Grows an assistant message out of stream events.
#[derive(Debug, Clone)]
pub struct Assembler {
    message: AssistantMessage,
    /// Argument text of each call, by block index.
    arguments: Vec<String>,
    open: Vec<bool>,
}

impl Assembler {
    /// An empty message of this model. `timestamp` is in milliseconds since the epoch.
    pub fn new(model: &Model, thinking: ThinkingLevel, timestamp: i64) -> Self {
        Self {
            message: AssistantMessage {
                content: Vec::new(),
                api: model.dialect.as_str().to_owned(),
                provider: model.reference.provider.clone(),
                model: model.reference.id.clone(),
                response_model: None,
                usage: Usage::default(),
                stop_reason: StopReason::Pending,
                error_message: None,
                timestamp,
                response_id: None,
                raw_stop_reason: None,
                duration_ms: None,
                thinking_level: Some(thinking),
            },
            arguments: Vec::new(),
            open: Vec::new(),
        }
    }

    /// The message so far.
    pub const fn message(&self) -> &AssistantMessage {
        &self.message
    }

    /// Takes one event in; the patches are what changed for listeners.
    pub fn push(&mut self, event: StreamEvent) -> Option<EntryPatch> {
        match event {
            StreamEvent::Started { response_id, response_model } => {
                self.message.response_id = response_id;
                self.message.response_model = response_model;
                None
            }
            StreamEvent::TextStart { index } => self.open(index, Block::text("")),
            StreamEvent::ThinkingStart { index } => self.open(
                index,
                Block::Thinking { thinking: String::new(), thinking_signature: None, redacted: false },
            ),
            StreamEvent::ToolCallStart { index, id, name } => self.open(
                index,
                Block::ToolCall(ToolCall {
                    id: self.unused(id),
                    name,
                    arguments: Map::new(),
                    thought_signature: None,
                    malformed: None,
                }),
            ),
            StreamEvent::TextDelta { index, delta }
            | StreamEvent::ThinkingDelta { index, delta }
            | StreamEvent::ToolCallDelta { index, delta } => self.append(index, delta),
            StreamEvent::TextEnd { index, signature } => {
                if let Some(Block::Text { text_signature, .. }) = self.message.content.get_mut(index) {
                    *text_signature = signature;
                }
                self.close(index)
            }
            StreamEvent::ThinkingEnd { index, signature, redacted: withheld } => {
                if let Some(Block::Thinking { thinking_signature, redacted, .. }) =
                    self.message.content.get_mut(index)
                {
                    *thinking_signature = signature;
                    *redacted = withheld;
                }
                self.close(index)
            }
            StreamEvent::ToolCallEnd { index, signature, corrected, arguments } => {
                self.finish_call(index, signature, corrected, arguments);
                self.close(index)
            }
            StreamEvent::Usage(usage) => {
                self.message.usage = usage;
                None
            }
            StreamEvent::Done { reason, raw_reason } => {
                self.message.stop_reason = reason;
                self.message.raw_stop_reason = raw_reason;
                None
            }
            StreamEvent::Failed(error) => {
                self.message.stop_reason = StopReason::Error;
                self.message.error_message = Some(error.message);
                None
            }
        }
    }

    /// The whole message. Blocks still open (a stream cut short) are closed as they are; calls among them whose
    /// arguments are not whole are marked malformed.
    pub fn finish(mut self) -> AssistantMessage {
        for index in 0..self.message.content.len() {
            if self.open.get(index).copied().unwrap_or(false)
                && matches!(self.message.content.get(index), Some(Block::ToolCall(_)))
            {
                self.finish_call(index, None, None, None);
            }
        }
        self.message
    }

    fn open(&mut self, index: usize, block: Block) -> Option<EntryPatch> {
        debug_assert_eq!(index, self.message.content.len(), "blocks open in order");
        self.message.content.push(block.clone());
        self.arguments.push(String::new());
        self.open.push(true);
        Some(EntryPatch::Open { index, block })
    }

    /// Results are paired with calls by id, so two calls of a message never share one, whatever a server sends.
    fn unused(&self, id: CallId) -> CallId {
        let taken = |id: &str| self.message.tool_calls().any(|call| call.id.as_str() == id);
        if !id.as_str().is_empty() && !taken(id.as_str()) {
            return id;
        }
        let stem = if id.as_str().is_empty() { "call" } else { id.as_str() };
        (1..).map(|n| format!("{stem}_{n}")).find(|id| !taken(id)).map_or(id, CallId::new)
    }

    fn append(&mut self, index: usize, delta: String) -> Option<EntryPatch> {
        match self.message.content.get_mut(index)? {
            Block::Text { text, .. } => text.push_str(&delta),
            Block::Thinking { thinking, .. } => thinking.push_str(&delta),
            Block::ToolCall(_) => self.arguments.get_mut(index)?.push_str(&delta),
            Block::Image { .. } | Block::Unknown => return None,
        }
        Some(EntryPatch::Append { index, delta, usage: self.message.usage })
    }

    fn close(&mut self, index: usize) -> Option<EntryPatch> {
        *self.open.get_mut(index)? = false;
        let block = self.message.content.get(index)?.clone();
        Some(EntryPatch::Close { index, block, usage: self.message.usage })
    }

    fn finish_call(
        &mut self,
        index: usize,
        signature: Option<String>,
        corrected: Option<(CallId, String)>,
        whole: Option<String>,
    ) {
        let collected = self.arguments.get(index).cloned().unwrap_or_default();
        let corrected = corrected.map(|(id, name)| match self.message.content.get(index) {
            Some(Block::ToolCall(call)) if call.id == id => (id, name),
            _ => (self.unused(id), name),
        });
        let Some(Block::ToolCall(call)) = self.message.content.get_mut(index) else { return };
        if let Some((id, name)) = corrected {
            call.id = id;
            call.name = name;
        }
        call.thought_signature = signature;
        match parse_arguments(whole.as_deref().unwrap_or(&collected)) {
            Ok(arguments) => call.arguments = arguments,
            Err(raw) => call.malformed = Some(raw),
        }
    }
}

/// Argument text to an object. Nothing at all is an empty object; anything but an object comes back as it was.
pub fn parse_arguments(text: &str) -> Result<Map<String, Value>, String> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(map),
        // Some servers encode the object once more as a string.
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(map)) => Ok(map),
            _ => Err(text.to_owned()),
        },
        Ok(Value::Null) => Ok(Map::new()),
        _ => Err(text.to_owned()),
    }
}
