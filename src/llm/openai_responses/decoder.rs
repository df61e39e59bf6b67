//! Events of OpenAI Responses to ours.
//!
//! Responsibilities: one block for each reasoning, message and function call item; the whole reasoning item as the
//! block's signature, because it must go back as it came. Invariants: an item of the wire that is not shown takes no
//! place; what only the end of an item holds (gateways that stream nothing) is told then; nothing is whole before the
//! response is.

use super::TextSignature;
use crate::llm::StreamEvent;
use crate::llm::decode::{DecodeError, Decoder, count, fresh_call_id, parse, some, some_text, text};
use crate::llm::provider_error::ProviderError;
use crate::llm::sse::Frame;
use crate::proto::ids::CallId;
use crate::proto::message::StopReason;
use crate::proto::usage::Usage;
use serde_json::{Map, Value};

/// Decodes one answer.
#[derive(Debug, Default)]
pub struct ResponsesDecoder {
    open: Vec<OpenItem>,
    next_index: usize,
    has_calls: bool,
    started: bool,
    done: bool,
}

#[derive(Debug)]
struct OpenItem {
    output_index: u64,
    index: usize,
    kind: Kind,
    /// Something of it was streamed.
    streamed: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Reasoning,
    Message,
    Call { id: CallId, name: String },
}

impl Decoder for ResponsesDecoder {
    fn frame(&mut self, frame: &Frame, events: &mut Vec<StreamEvent>) -> Result<(), DecodeError> {
        if self.done || frame.data.trim() == "[DONE]" {
            return Ok(());
        }
        let value = parse(&frame.data)?;
        match text(&value, "type").unwrap_or(&frame.event) {
            "response.created" => self.start(&value, events),
            "response.output_item.added" => {
                if let Some(item) = some(&value, "item") {
                    self.open(output_index(&value), item, events);
                }
            }
            "response.reasoning_summary_part.added" => {
                // Parts are paragraphs.
                if count(&value, "summary_index").unwrap_or(0) > 0 {
                    self.delta(&value, "\n\n", events);
                }
            }
            "response.reasoning_summary_text.delta"
            | "response.reasoning_text.delta"
            | "response.output_text.delta"
            | "response.refusal.delta"
            | "response.function_call_arguments.delta" => {
                self.delta(&value, some_text(&value, "delta").unwrap_or_default(), events);
            }
            "response.output_item.done" => {
                if let Some(item) = some(&value, "item") {
                    self.close(output_index(&value), item, events);
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
                return self.finish(value.get("response").unwrap_or(&value), events);
            }
            "error" => return Err(DecodeError::Reported(ProviderError::from_json(&value))),
            // Progress, parts that repeat what was streamed, and whatever comes later.
            _ => {
                // Some gateways send a bare error object.
                if some(&value, "type").is_none()
                    && let Some(error) = some(&value, "error")
                {
                    return Err(DecodeError::Reported(ProviderError::from_json(error)));
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, _events: &mut Vec<StreamEvent>) -> Result<(), DecodeError> {
        if self.done { Ok(()) } else { Err(DecodeError::CutOff) }
    }
}

impl ResponsesDecoder {
    fn start(&mut self, value: &Value, events: &mut Vec<StreamEvent>) {
        if let Some(response) = some(value, "response")
            && !self.started
        {
            self.started = true;
            events.push(StreamEvent::Started {
                response_id: some_text(response, "id").map(str::to_owned),
                response_model: some_text(response, "model").map(str::to_owned),
            });
        }
    }

    fn open(&mut self, output_index: u64, item: &Value, events: &mut Vec<StreamEvent>) {
        let index = self.next_index;
        let kind = match text(item, "type") {
            Some("reasoning") => {
                events.push(StreamEvent::ThinkingStart { index });
                Kind::Reasoning
            }
            Some("message") => {
                events.push(StreamEvent::TextStart { index });
                Kind::Message
            }
            Some("function_call") => {
                self.has_calls = true;
                let (id, name) = named(item);
                events.push(StreamEvent::ToolCallStart { index, id: id.clone(), name: name.clone() });
                Kind::Call { id, name }
            }
            Some(_) | None => return,
        };
        self.next_index += 1;
        self.open.push(OpenItem { output_index, index, kind, streamed: false });
    }

    fn delta(&mut self, value: &Value, delta: &str, events: &mut Vec<StreamEvent>) {
        let output_index = output_index(value);
        let item = self.open.iter_mut().find(|item| item.output_index == output_index);
        if let Some(item) = item.filter(|_| !delta.is_empty()) {
            item.streamed = true;
            events.push(item.delta(delta.to_owned()));
        }
    }

    fn close(&mut self, output_index: u64, item: &Value, events: &mut Vec<StreamEvent>) {
        if !self.open.iter().any(|open| open.output_index == output_index) {
            self.open(output_index, item, events);
        }
        let Some(place) = self.open.iter().position(|open| open.output_index == output_index) else { return };
        let open = self.open.remove(place);
        let index = open.index;
        let unheard = |text: String| (!open.streamed && !text.is_empty()).then_some(text);
        match &open.kind {
            Kind::Reasoning => {
                let whole = part_texts(item, "summary", "\n\n");
                let whole = if whole.is_empty() { part_texts(item, "content", "\n\n") } else { whole };
                events.extend(unheard(whole).map(|whole| open.delta(whole)));
                events.push(StreamEvent::ThinkingEnd {
                    index,
                    signature: Some(item.to_string()),
                    redacted: false,
                });
            }
            Kind::Message => {
                events.extend(unheard(part_texts(item, "content", "")).map(|whole| open.delta(whole)));
                let signature = some_text(item, "id").and_then(|id| {
                    let phase = some_text(item, "phase").map(str::to_owned);
                    serde_json::to_string(&TextSignature { v: 1, id: id.to_owned(), phase }).ok()
                });
                events.push(StreamEvent::TextEnd { index, signature });
            }
            Kind::Call { id, name } => {
                let known = if some_text(item, "call_id").is_some() {
                    named(item)
                } else {
                    (id.clone(), name.clone())
                };
                events.push(StreamEvent::ToolCallEnd {
                    index,
                    signature: None,
                    corrected: (known.0 != *id || known.1 != *name).then_some(known),
                    arguments: some_text(item, "arguments").map(str::to_owned),
                });
            }
        }
    }

    fn finish(&mut self, response: &Value, events: &mut Vec<StreamEvent>) -> Result<(), DecodeError> {
        if let Some(usage) = some(response, "usage") {
            events.push(StreamEvent::Usage(read_usage(usage)));
        }
        let status = some_text(response, "status");
        match status {
            Some("failed") => return Err(DecodeError::Reported(reported(response, "the response failed"))),
            Some("cancelled") => {
                return Err(DecodeError::Reported(reported(response, "the provider cancelled the response")));
            }
            _ => {}
        }
        let cut_by = response.get("incomplete_details").and_then(|details| some_text(details, "reason"));
        if cut_by == Some("content_filter") {
            return Err(DecodeError::Refused("its content filter stopped the answer".to_owned()));
        }
        if self.next_index == 0 {
            self.take_output(response, events);
        }
        let unfinished: Vec<u64> = self.open.iter().map(|item| item.output_index).collect();
        for output_index in unfinished {
            self.close(output_index, &Value::Object(Map::new()), events);
        }
        let reason = match status {
            Some("incomplete") => StopReason::Length,
            Some(_) | None if self.has_calls => StopReason::ToolUse,
            Some(_) | None => StopReason::Stop,
        };
        self.done = true;
        events.push(StreamEvent::Done { reason, raw_reason: cut_by.or(status).map(str::to_owned) });
        Ok(())
    }

    /// Some gateways stream nothing and tell everything at the end.
    fn take_output(&mut self, response: &Value, events: &mut Vec<StreamEvent>) {
        let items = response.get("output").and_then(Value::as_array);
        for (output_index, item) in (0_u64..).zip(items.into_iter().flatten()) {
            self.close(output_index, item, events);
        }
    }
}

impl OpenItem {
    fn delta(&self, delta: String) -> StreamEvent {
        let index = self.index;
        match self.kind {
            Kind::Reasoning => StreamEvent::ThinkingDelta { index, delta },
            Kind::Message => StreamEvent::TextDelta { index, delta },
            Kind::Call { .. } => StreamEvent::ToolCallDelta { index, delta },
        }
    }
}

fn output_index(value: &Value) -> u64 {
    count(value, "output_index").unwrap_or_default()
}

/// A call's id, with the item's id behind a bar (both must go back), and its name.
fn named(item: &Value) -> (CallId, String) {
    let call_id = some_text(item, "call_id").map_or_else(fresh_call_id, str::to_owned);
    let id = some_text(item, "id").map_or_else(|| call_id.clone(), |item_id| format!("{call_id}|{item_id}"));
    (CallId::new(id), text(item, "name").unwrap_or_default().to_owned())
}

/// The texts of an item's parts.
fn part_texts(item: &Value, field: &str, between: &str) -> String {
    let parts = item.get(field).and_then(Value::as_array).into_iter().flatten();
    let texts = parts.filter_map(|part| some_text(part, "text").or_else(|| some_text(part, "refusal")));
    texts.collect::<Vec<_>>().join(between)
}

fn reported(response: &Value, otherwise: &str) -> ProviderError {
    some(response, "error")
        .map_or_else(|| ProviderError::new("server_error", otherwise), ProviderError::from_json)
}

fn read_usage(usage: &Value) -> Usage {
    let detail = |name: &str, field| usage.get(name).and_then(|details| count(details, field));
    let cache_read = detail("input_tokens_details", "cached_tokens").unwrap_or(0);
    let cache_write = detail("input_tokens_details", "cache_write_tokens").unwrap_or(0);
    let input = count(usage, "input_tokens").unwrap_or(0);
    Usage {
        input: input.saturating_sub(cache_read).saturating_sub(cache_write),
        output: count(usage, "output_tokens").unwrap_or(0),
        cache_read,
        cache_write,
        reasoning: detail("output_tokens_details", "reasoning_tokens"),
        ..Usage::default()
    }
    .with_total()
}
