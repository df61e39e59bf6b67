//! Chunks of Chat Completions to events.
//!
//! Responsibilities: text, thinking and calls of the first choice, usage, the reason to stop, errors in a 200 response.
//! Invariants: at most one of text and thinking is open; `Done` comes at `[DONE]` or at the end of the stream, because
//! usage follows the reason to stop; a stream that never said why it stopped has failed, unless the server is known not to
//! say so.

use super::REASONING_FIELDS;
use super::calls::Calls;
use crate::llm::StreamEvent;
use crate::llm::decode::{DecodeError, Decoder, count, parse, some, some_text};
use crate::llm::provider_error::ProviderError;
use crate::llm::sse::Frame;
use crate::proto::message::StopReason;
use crate::proto::usage::Usage;
use serde_json::Value;

/// Decodes one answer.
#[derive(Debug)]
pub struct ChatDecoder {
    says_finish_reason: bool,
    started: bool,
    said: Option<Said>,
    calls: Calls,
    has_calls: bool,
    next_index: usize,
    finish_reason: Option<String>,
    done: bool,
}

/// The block of text or thinking that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Text { index: usize },
    Thinking { index: usize, field: &'static str },
}

impl Decoder for ChatDecoder {
    fn frame(&mut self, frame: &Frame, events: &mut Vec<StreamEvent>) -> Result<(), DecodeError> {
        if self.done {
            return Ok(());
        }
        if frame.data.trim() == "[DONE]" {
            return self.finish(events);
        }
        let chunk = parse(&frame.data)?;
        if let Some(error) = some(&chunk, "error") {
            return Err(DecodeError::Reported(ProviderError::from_json(error)));
        }
        if frame.event == "error" {
            return Err(DecodeError::Reported(ProviderError::from_json(&chunk)));
        }
        self.start(&chunk, events);
        let choice = chunk.get("choices").and_then(|choices| choices.get(0));
        if let Some(choice) = choice {
            if let Some(error) = some(choice, "error") {
                return Err(DecodeError::Reported(ProviderError::from_json(error)));
            }
            if let Some(delta) = some(choice, "delta").or_else(|| some(choice, "message")) {
                self.delta(delta, events);
            }
        }
        let usage = some(&chunk, "usage").or_else(|| choice.and_then(|choice| some(choice, "usage")));
        if let Some(usage) = usage {
            events.push(StreamEvent::Usage(read_usage(usage)));
        }
        match choice.and_then(|choice| some_text(choice, "finish_reason")) {
            Some(reason) => self.stop(reason),
            None => Ok(()),
        }
    }

    fn end(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), DecodeError> {
        if self.done { Ok(()) } else { self.finish(events) }
    }
}

impl ChatDecoder {
    /// A decoder for a server that says why it stopped, or for one that does not.
    pub fn new(says_finish_reason: bool) -> Self {
        Self {
            says_finish_reason,
            started: false,
            said: None,
            calls: Calls::default(),
            has_calls: false,
            next_index: 0,
            finish_reason: None,
            done: false,
        }
    }

    fn start(&mut self, chunk: &Value, events: &mut Vec<StreamEvent>) {
        if !self.started {
            self.started = true;
            events.push(StreamEvent::Started {
                response_id: some_text(chunk, "id").map(str::to_owned),
                response_model: some_text(chunk, "model").map(str::to_owned),
            });
        }
    }

    fn delta(&mut self, delta: &Value, events: &mut Vec<StreamEvent>) {
        let reasoning =
            REASONING_FIELDS.into_iter().find_map(|field| Some((field, some_text(delta, field)?)));
        if let Some((field, thinking)) = reasoning {
            self.think(field, thinking, events);
        }
        match delta.get("content") {
            Some(Value::String(text)) => self.say(text, events),
            // Mistral sends parts.
            Some(Value::Array(parts)) => {
                for part in parts {
                    if let Some(text) = some_text(part, "text") {
                        self.say(text, events);
                    }
                    for thought in part.get("thinking").and_then(Value::as_array).into_iter().flatten() {
                        if let Some(text) = some_text(thought, "text") {
                            self.think("reasoning_content", text, events);
                        }
                    }
                }
            }
            _ => {}
        }
        if let Some(text) = some_text(delta, "refusal") {
            self.say(text, events);
        }
        for piece in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.close_said(events);
            self.has_calls = true;
            self.calls.piece(piece, &mut self.next_index, events);
        }
        for detail in delta.get("reasoning_details").and_then(Value::as_array).into_iter().flatten() {
            self.calls.detail(detail);
        }
    }

    fn say(&mut self, text: &str, events: &mut Vec<StreamEvent>) {
        if text.is_empty() {
            return;
        }
        let index = match self.said {
            Some(Said::Text { index }) => index,
            Some(Said::Thinking { .. }) | None => {
                let index = self.place(events);
                self.said = Some(Said::Text { index });
                events.push(StreamEvent::TextStart { index });
                index
            }
        };
        events.push(StreamEvent::TextDelta { index, delta: text.to_owned() });
    }

    fn think(&mut self, field: &'static str, thinking: &str, events: &mut Vec<StreamEvent>) {
        let index = match self.said {
            Some(Said::Thinking { index, .. }) => index,
            Some(Said::Text { .. }) | None => {
                let index = self.place(events);
                self.said = Some(Said::Thinking { index, field });
                events.push(StreamEvent::ThinkingStart { index });
                index
            }
        };
        events.push(StreamEvent::ThinkingDelta { index, delta: thinking.to_owned() });
    }

    /// The place for a new block of text or thinking.
    fn place(&mut self, events: &mut Vec<StreamEvent>) -> usize {
        self.close_said(events);
        let index = self.next_index;
        self.next_index += 1;
        index
    }

    fn close_said(&mut self, events: &mut Vec<StreamEvent>) {
        match self.said.take() {
            Some(Said::Text { index }) => events.push(StreamEvent::TextEnd { index, signature: None }),
            Some(Said::Thinking { index, field }) => events.push(StreamEvent::ThinkingEnd {
                index,
                signature: Some(field.to_owned()),
                redacted: false,
            }),
            None => {}
        }
    }

    fn stop(&mut self, reason: &str) -> Result<(), DecodeError> {
        match reason {
            "content_filter" => Err(DecodeError::Refused("its content filter stopped the answer".to_owned())),
            "network_error" => Err(DecodeError::Reported(ProviderError::new(
                "network_error",
                "the provider lost a connection",
            ))),
            "error" => Err(DecodeError::Reported(ProviderError::new("server_error", ""))),
            _ => {
                self.finish_reason = Some(reason.to_owned());
                Ok(())
            }
        }
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), DecodeError> {
        if self.finish_reason.is_none() && (self.says_finish_reason || !self.started) {
            return Err(DecodeError::CutOff);
        }
        self.close_said(events);
        self.calls.close(events);
        // What was called counts more than the word: local servers say `stop` after calls.
        let reason = match self.finish_reason.as_deref() {
            Some("length" | "max_tokens") => StopReason::Length,
            Some(_) | None if self.has_calls => StopReason::ToolUse,
            Some(_) | None => StopReason::Stop,
        };
        self.done = true;
        events.push(StreamEvent::Done { reason, raw_reason: self.finish_reason.take() });
        Ok(())
    }
}

fn read_usage(usage: &Value) -> Usage {
    let prompt = count(usage, "prompt_tokens").unwrap_or(0);
    let completion = count(usage, "completion_tokens").unwrap_or(0);
    let details = usage.get("prompt_tokens_details");
    let detail = |name| details.and_then(|details| count(details, name));
    let cache_read = detail("cached_tokens")
        .or_else(|| count(usage, "prompt_cache_hit_tokens"))
        .or_else(|| count(usage, "cached_tokens"))
        .unwrap_or(0);
    let cache_write = detail("cache_write_tokens").unwrap_or(0);
    let reasoning =
        usage.get("completion_tokens_details").and_then(|details| count(details, "reasoning_tokens"));
    // Most servers count thinking as completion; xAI does not, which its total gives away.
    let apart = reasoning.unwrap_or(0);
    let counted_apart = apart > 0
        && count(usage, "total_tokens") == Some(prompt.saturating_add(completion).saturating_add(apart));
    Usage {
        input: prompt.saturating_sub(cache_read).saturating_sub(cache_write),
        output: if counted_apart { completion.saturating_add(apart) } else { completion },
        cache_read,
        cache_write,
        reasoning,
        ..Usage::default()
    }
    .with_total()
}
