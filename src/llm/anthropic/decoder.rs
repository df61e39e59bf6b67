//! Frames of Anthropic Messages to events.
//!
//! Responsibilities: gives each content block of the wire its place, keeps signatures and usage, maps the reason to stop.
//! Invariants: a block of the wire that is not shown (unknown kinds) takes no place; usage fields that a later frame does
//! not name keep their value; nothing is whole before `message_stop`.
//!
//! `pause_turn` ends with `Stop` and the raw reason `pause_turn`: the provider wants the same conversation again, with
//! this answer at its end. The agent repeats the request, a bounded number of times.

use crate::llm::StreamEvent;
use crate::llm::decode::{DecodeError, Decoder, count, parse, some, some_text, text};
use crate::llm::provider_error::ProviderError;
use crate::llm::sse::Frame;
use crate::proto::ids::CallId;
use crate::proto::message::StopReason;
use crate::proto::usage::Usage;
use serde_json::Value;

/// The raw reason of an answer that is to be continued by the same request.
pub const PAUSE_TURN: &str = "pause_turn";

/// Decodes one answer.
#[derive(Debug, Default)]
pub struct AnthropicDecoder {
    open: Vec<OpenBlock>,
    next_index: usize,
    has_calls: bool,
    usage: Usage,
    stop_reason: Option<String>,
    done: bool,
}

#[derive(Debug)]
struct OpenBlock {
    wire_index: u64,
    index: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text,
    Thinking {
        signature: String,
    },
    Redacted {
        data: String,
    },
    Call {
        /// Arguments that came whole with the start; they count when no delta follows.
        initial: Option<String>,
        streamed: bool,
    },
}

impl Decoder for AnthropicDecoder {
    fn frame(&mut self, frame: &Frame, events: &mut Vec<StreamEvent>) -> Result<(), DecodeError> {
        let value = parse(&frame.data)?;
        match text(&value, "type").unwrap_or(&frame.event) {
            "message_start" => self.start(&value, events),
            "content_block_start" => self.block_start(&value, events),
            "content_block_delta" => self.block_delta(&value, events),
            "content_block_stop" => {
                if let Some(place) = self.place(&value) {
                    let block = self.open.remove(place);
                    events.push(closed(block));
                }
            }
            "message_delta" => {
                if let Some(reason) = value.get("delta").and_then(|delta| text(delta, "stop_reason")) {
                    self.stop_reason = Some(reason.to_owned());
                }
                self.take_usage(value.get("usage"), events);
                self.refusal(&value)?;
            }
            "message_stop" => self.stop(events),
            "error" => return Err(DecodeError::Reported(ProviderError::from_json(&value))),
            // `ping`, and whatever comes later.
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _events: &mut Vec<StreamEvent>) -> Result<(), DecodeError> {
        if self.done { Ok(()) } else { Err(DecodeError::CutOff) }
    }
}

impl AnthropicDecoder {
    fn start(&mut self, value: &Value, events: &mut Vec<StreamEvent>) {
        let Some(message) = some(value, "message") else { return };
        events.push(StreamEvent::Started {
            response_id: some_text(message, "id").map(str::to_owned),
            response_model: some_text(message, "model").map(str::to_owned),
        });
        self.take_usage(message.get("usage"), events);
    }

    fn take_usage(&mut self, reported: Option<&Value>, events: &mut Vec<StreamEvent>) {
        let Some(reported) = reported.filter(|reported| reported.is_object()) else { return };
        let usage = &mut self.usage;
        for (field, name) in [
            (&mut usage.input, "input_tokens"),
            (&mut usage.output, "output_tokens"),
            (&mut usage.cache_read, "cache_read_input_tokens"),
            (&mut usage.cache_write, "cache_creation_input_tokens"),
        ] {
            if let Some(tokens) = count(reported, name) {
                *field = tokens;
            }
        }
        *usage = usage.with_total();
        events.push(StreamEvent::Usage(*usage));
    }

    fn block_start(&mut self, value: &Value, events: &mut Vec<StreamEvent>) {
        let Some(block) = some(value, "content_block") else { return };
        let index = self.next_index;
        let kind = match text(block, "type") {
            Some("text") => {
                events.push(StreamEvent::TextStart { index });
                if let Some(first) = some_text(block, "text") {
                    events.push(StreamEvent::TextDelta { index, delta: first.to_owned() });
                }
                Kind::Text
            }
            Some("thinking") => {
                events.push(StreamEvent::ThinkingStart { index });
                if let Some(first) = some_text(block, "thinking") {
                    events.push(StreamEvent::ThinkingDelta { index, delta: first.to_owned() });
                }
                Kind::Thinking { signature: text(block, "signature").unwrap_or_default().to_owned() }
            }
            Some("redacted_thinking") => {
                events.push(StreamEvent::ThinkingStart { index });
                Kind::Redacted { data: text(block, "data").unwrap_or_default().to_owned() }
            }
            Some("tool_use") => {
                self.has_calls = true;
                events.push(StreamEvent::ToolCallStart {
                    index,
                    id: CallId::new(
                        some_text(block, "id").map_or_else(crate::llm::decode::fresh_call_id, str::to_owned),
                    ),
                    name: text(block, "name").unwrap_or_default().to_owned(),
                });
                let input =
                    block.get("input").filter(|input| input.as_object().is_some_and(|map| !map.is_empty()));
                Kind::Call { initial: input.map(Value::to_string), streamed: false }
            }
            Some(_) | None => return,
        };
        self.next_index += 1;
        self.open.push(OpenBlock { wire_index: count(value, "index").unwrap_or_default(), index, kind });
    }

    fn block_delta(&mut self, value: &Value, events: &mut Vec<StreamEvent>) {
        let Some(block) = self.place(value).and_then(|place| self.open.get_mut(place)) else { return };
        let Some(delta) = some(value, "delta") else { return };
        let index = block.index;
        match &mut block.kind {
            Kind::Text => {
                if let Some(delta) = some_text(delta, "text") {
                    events.push(StreamEvent::TextDelta { index, delta: delta.to_owned() });
                }
            }
            Kind::Thinking { signature } => {
                if let Some(delta) = some_text(delta, "thinking") {
                    events.push(StreamEvent::ThinkingDelta { index, delta: delta.to_owned() });
                }
                signature.push_str(text(delta, "signature").unwrap_or_default());
            }
            Kind::Redacted { .. } => {}
            Kind::Call { streamed, .. } => {
                if let Some(delta) = some_text(delta, "partial_json") {
                    *streamed = true;
                    events.push(StreamEvent::ToolCallDelta { index, delta: delta.to_owned() });
                }
            }
        }
    }

    fn place(&self, value: &Value) -> Option<usize> {
        let wire_index = count(value, "index").unwrap_or_default();
        self.open.iter().position(|block| block.wire_index == wire_index)
    }

    fn refusal(&self, value: &Value) -> Result<(), DecodeError> {
        let reason = self.stop_reason.as_deref().unwrap_or_default();
        if !matches!(reason, "refusal" | "sensitive") {
            return Ok(());
        }
        let details = value.get("delta").and_then(|delta| some(delta, "stop_details"));
        let explanation = details.and_then(|details| some_text(details, "explanation"));
        Err(DecodeError::Refused(explanation.unwrap_or(reason).to_owned()))
    }

    fn stop(&mut self, events: &mut Vec<StreamEvent>) {
        events.extend(self.open.drain(..).map(closed));
        let reason = match self.stop_reason.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            Some("end_turn" | "stop_sequence" | PAUSE_TURN) => StopReason::Stop,
            Some("tool_use") => StopReason::ToolUse,
            Some(_) | None if self.has_calls => StopReason::ToolUse,
            Some(_) | None => StopReason::Stop,
        };
        self.done = true;
        events.push(StreamEvent::Done { reason, raw_reason: self.stop_reason.take() });
    }
}

fn closed(block: OpenBlock) -> StreamEvent {
    let index = block.index;
    match block.kind {
        Kind::Text => StreamEvent::TextEnd { index, signature: None },
        Kind::Thinking { signature } => {
            let signature = (!signature.is_empty()).then_some(signature);
            StreamEvent::ThinkingEnd { index, signature, redacted: false }
        }
        Kind::Redacted { data } => StreamEvent::ThinkingEnd { index, signature: Some(data), redacted: true },
        Kind::Call { initial, streamed } => StreamEvent::ToolCallEnd {
            index,
            signature: None,
            corrected: None,
            arguments: initial.filter(|_| !streamed),
        },
    }
}
