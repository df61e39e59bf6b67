//! OpenAI Responses: the events of a response, and what the API demands of a request.

use super::answer::{Asked, Frames, in_turns, named_event, pieces, sign};
use super::check::{self, Findings, Seen, is_name, is_object_text, items, says_something, text};
use super::step::{Block, Step};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Writes events with rising numbers and collects finished items.
struct Writer<'a> {
    asked: Asked<'a>,
    piece_chars: usize,
    number: u64,
    frames: Frames,
    output: Vec<Value>,
}

impl Writer<'_> {
    fn text_of(&mut self, name: &str, mut data: Value) -> String {
        self.number += 1;
        data["type"] = name.into();
        data["sequence_number"] = self.number.into();
        named_event(name, &data)
    }

    fn event(&mut self, name: &str, data: Value) {
        let text = self.text_of(name, data);
        self.frames.event(text);
    }

    fn piece(&mut self, name: &str, data: Value) {
        let text = self.text_of(name, data);
        self.frames.piece(text);
    }

    fn added(&mut self, at: usize, item: &Value) {
        self.event("response.output_item.added", json!({"output_index": at, "item": item}));
    }

    fn done(&mut self, at: usize, item: Value) {
        self.event("response.output_item.done", json!({"output_index": at, "item": item}));
        self.output.push(item);
    }

    fn response(&self, status: &str) -> Value {
        json!({
            "id": format!("resp_{}", self.asked.number), "object": "response", "created_at": 1_700_000_000,
            "status": status, "model": self.asked.model, "output": self.output, "error": null,
            "incomplete_details": null, "usage": null,
        })
    }

    fn reasoning(&mut self, at: usize, summary: &str) {
        let id = format!("rs_{}_{at}", self.asked.number);
        self.added(at, &json!({"id": id, "type": "reasoning", "summary": []}));
        let place = json!({"item_id": id, "output_index": at, "summary_index": 0});
        let part = json!({"type": "summary_text", "text": summary});
        if !summary.is_empty() {
            let empty = json!({"type": "summary_text", "text": ""});
            self.event("response.reasoning_summary_part.added", with(&place, "part", empty));
            for piece in pieces(summary, self.piece_chars) {
                self.piece("response.reasoning_summary_text.delta", with(&place, "delta", piece.into()));
            }
            self.event("response.reasoning_summary_text.done", with(&place, "text", summary.into()));
            self.event("response.reasoning_summary_part.done", with(&place, "part", part.clone()));
        }
        let parts = if summary.is_empty() { json!([]) } else { json!([part]) };
        let encrypted = sign(&format!("{id}{summary}"));
        self.done(
            at,
            json!({"id": id, "type": "reasoning", "summary": parts, "encrypted_content": encrypted}),
        );
    }

    fn message(&mut self, at: usize, said: &str) {
        let id = self.message_id(at);
        let item = |status: &str, content: Value| {
            let item = json!({"id": id, "type": "message", "status": status, "role": "assistant"});
            with(&item, "content", content)
        };
        let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
        let place = json!({"item_id": id, "output_index": at, "content_index": 0});
        self.added(at, &item("in_progress", json!([])));
        self.event("response.content_part.added", with(&place, "part", part("")));
        for piece in pieces(said, self.piece_chars) {
            self.piece("response.output_text.delta", with(&place, "delta", piece.into()));
        }
        self.event("response.output_text.done", with(&place, "text", said.into()));
        self.event("response.content_part.done", with(&place, "part", part(said)));
        self.done(at, item("completed", json!([part(said)])));
    }

    fn message_id(&self, at: usize) -> String {
        format!("msg_{}_{at}", self.asked.number)
    }

    fn call_item_id(&self, at: usize) -> String {
        format!("fc_{}_{at}", self.asked.number)
    }

    fn call_item(&self, at: usize, name: &str, arguments: &str, status: &str) -> Value {
        json!({
            "id": self.call_item_id(at), "type": "function_call", "status": status,
            "call_id": format!("call_{}_{at}", self.asked.number), "name": name, "arguments": arguments,
        })
    }

    fn start_call(&mut self, at: usize, name: &str) {
        self.added(at, &self.call_item(at, name, "", "in_progress"));
    }

    fn call_piece(&mut self, at: usize, piece: &str) {
        let data = json!({"item_id": self.call_item_id(at), "output_index": at, "delta": piece});
        self.piece("response.function_call_arguments.delta", data);
    }

    fn end_call(&mut self, at: usize, name: &str, arguments: &str) {
        let data = json!({"item_id": self.call_item_id(at), "output_index": at, "arguments": arguments});
        self.event("response.function_call_arguments.done", data);
        self.done(at, self.call_item(at, name, arguments, "completed"));
    }
}

fn with(place: &Value, field: &str, value: Value) -> Value {
    let mut data = place.clone();
    data[field] = value;
    data
}

/// The events of a response.
pub(super) fn frames(step: &Step, asked: Asked<'_>) -> Frames {
    let mut writer = Writer {
        asked,
        piece_chars: step.piece_chars,
        number: 0,
        frames: Frames::default(),
        output: Vec::new(),
    };
    let response = writer.response("in_progress");
    writer.event("response.created", json!({"response": response}));
    writer.event("response.in_progress", json!({"response": response}));
    let mut reasoning = None;
    let mut calls = Vec::new();
    for (at, block) in step.blocks.iter().enumerate() {
        let tied = match block {
            Block::Thinking(summary) => {
                reasoning = Some(format!("rs_{}_{at}", asked.number));
                writer.reasoning(at, summary);
                continue;
            }
            Block::Redacted(_) => {
                reasoning = Some(format!("rs_{}_{at}", asked.number));
                writer.reasoning(at, "");
                continue;
            }
            Block::Text(said) => {
                writer.message(at, said);
                writer.message_id(at)
            }
            Block::Call { name, arguments } if step.interleaved => {
                writer.start_call(at, name);
                calls.push((at, name, arguments));
                writer.call_item_id(at)
            }
            Block::Call { name, arguments } => {
                writer.start_call(at, name);
                for piece in pieces(arguments, step.piece_chars) {
                    writer.call_piece(at, &piece);
                }
                writer.end_call(at, name, arguments);
                writer.call_item_id(at)
            }
        };
        // The API ties an item to the reasoning right before it.
        writer.frames.ties.extend(reasoning.take().map(|reasoning| (tied, reasoning)));
    }
    let arguments: Vec<_> =
        calls.iter().map(|(_, _, arguments)| pieces(arguments, step.piece_chars)).collect();
    for (call, piece) in in_turns(&arguments) {
        if let Some((at, _, _)) = calls.get(call) {
            writer.call_piece(*at, &piece);
        }
    }
    for (at, name, arguments) in calls {
        writer.end_call(at, name, arguments);
    }
    let incomplete = match step.stop.as_deref() {
        None | Some("end_turn" | "stop_sequence" | "tool_use") => None,
        Some("max_tokens") => Some("max_output_tokens"),
        Some("refusal") => Some("content_filter"),
        Some(other) => Some(other),
    };
    let status = if incomplete.is_some() { "incomplete" } else { "completed" };
    let mut response = writer.response(status);
    response["usage"] = json!({
        "input_tokens": step.usage.input,
        "input_tokens_details": {"cached_tokens": step.usage.cached},
        "output_tokens": step.usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": step.usage.input + step.usage.output,
    });
    if let Some(reason) = incomplete {
        response["incomplete_details"] = json!({"reason": reason});
    }
    let last = writer.text_of(&format!("response.{status}"), json!({"response": response}));
    writer.frames.closing.push(last);
    writer.frames
}

/// An error in the middle of a stream: the API sends an error event and then the failed response.
pub(super) fn error_frames(kind: &str, message: &str) -> String {
    let error =
        json!({"type": "error", "code": kind, "message": message, "param": null, "sequence_number": 9998});
    let response = json!({
        "id": "resp_failed", "object": "response", "status": "failed", "output": [],
        "error": {"code": kind, "message": message}, "incomplete_details": null, "usage": null,
    });
    let failed = json!({"type": "response.failed", "response": response, "sequence_number": 9999});
    named_event("error", &error) + &named_event("response.failed", &failed)
}

/// What is wrong with a request.
pub(super) fn check(seen: Seen<'_>) -> Vec<String> {
    let mut found = Findings::default();
    check::common(seen, &mut found);
    let body = seen.body;
    found.expect(body["store"] == false, "store", "must be false: nothing may stay with the provider");
    let room = &body["max_output_tokens"];
    let enough = room.is_null() || room.as_u64().is_some_and(|room| room >= 16);
    found.expect(enough, "max_output_tokens", "must be at least 16");
    let key = text(&body["prompt_cache_key"]);
    found.expect(key.chars().count() <= 64, "prompt_cache_key", "must have at most 64 characters");
    let thinks = !matches!(text(&body["reasoning"]["effort"]), "" | "none");
    let keeps = items(&body["include"]).iter().any(|item| item == "reasoning.encrypted_content");
    found.expect(!thinks || keeps, "include", "must ask for reasoning.encrypted_content");
    let tools = items(&body["tools"]).iter().enumerate().map(|(at, tool)| (format!("tools[{at}]"), tool));
    check::tools(tools, "parameters", 64, &mut found);
    let input = items(&body["input"]);
    found.expect(!input.is_empty(), "input", "must be a list that is not empty");
    check_items(seen, input, &mut found);
    found.into_vec()
}

fn check_items(seen: Seen<'_>, input: &[Value], found: &mut Findings) {
    let mut ids = HashSet::new();
    let mut waiting: Vec<&str> = Vec::new();
    let mut reasoning = HashSet::new();
    for (at, item) in input.iter().enumerate() {
        let place = format!("input[{at}]");
        match text(&item["type"]) {
            "reasoning" => {
                check_reasoning(&place, item, input.get(at + 1), found);
                reasoning.insert(text(&item["id"]));
                continue;
            }
            "function_call" => {
                let id = text(&item["call_id"]);
                found.expect(is_name(&item["call_id"], 64), &place, "has a call_id that the API refuses");
                found.expect(
                    ids.insert(id),
                    &place,
                    format_args!("has the call_id {id:?} of an earlier call"),
                );
                found.expect(is_name(&item["name"], 64), &place, "has a name that the API refuses");
                let arguments = is_object_text(&item["arguments"]);
                found.expect(arguments, &place, "must have the text of a JSON object as arguments");
                check_item_id(&place, &item["id"], "fc_", found);
                waiting.push(id);
            }
            "function_call_output" => {
                let id = text(&item["call_id"]);
                match waiting.iter().position(|waiting| *waiting == id) {
                    Some(at) => drop(waiting.remove(at)),
                    None => found.add(&place, format_args!("answers {id:?}, no open call before it")),
                }
                if !item["output"].is_string() {
                    found.expect(!items(&item["output"]).is_empty(), &place, "has no output");
                    check_parts(&place, &item["output"], &["input_text", "input_image"], found);
                }
            }
            "message" | "" => check_message(&place, item, found),
            kind => found.add(&place, format_args!("has the type {kind:?}, which is not served")),
        }
        if let Some(tie) = seen.ties.get(text(&item["id"])) {
            let is_there = reasoning.contains(tie.as_str());
            found.expect(is_there, &place, "lacks the reasoning item it came with: send that, or no id");
        }
    }
    for id in waiting {
        found.add("input", format_args!("holds no output of the call {id}"));
    }
    if let Some(last) = input.last() {
        let open = last["role"] != "assistant" && last["type"] != "function_call";
        found.expect(open, "input", "must end with the user's message or an output");
    }
}

fn check_reasoning(place: &str, item: &Value, next: Option<&Value>, found: &mut Findings) {
    let id = text(&item["id"]);
    found.expect(id.starts_with("rs_"), place, "must have an id that begins with rs_");
    found.expect(item["summary"].is_array(), place, "must have a summary list");
    let summary: String = items(&item["summary"]).iter().map(|part| text(&part["text"])).collect();
    let fits = text(&item["encrypted_content"]) == sign(&format!("{id}{summary}"));
    found.expect(fits, place, "has encrypted content that does not belong to it");
    let followed = next.is_some_and(|next| {
        next["role"] == "assistant" || matches!(text(&next["type"]), "reasoning" | "function_call")
    });
    found.expect(followed, place, "must be followed by the message or the call it led to");
}

fn check_message(place: &str, item: &Value, found: &mut Findings) {
    let allowed: &[&str] = match text(&item["role"]) {
        "assistant" => {
            check_item_id(place, &item["id"], "msg_", found);
            &["output_text", "refusal"]
        }
        "user" => &["input_text", "input_image"],
        "system" | "developer" => &["input_text"],
        role => {
            found.add(place, format_args!("has the role {role:?}, which does not exist"));
            return;
        }
    };
    if item["content"].is_string() {
        found.expect(says_something(&item["content"]), place, "has an empty text");
    } else {
        found.expect(!items(&item["content"]).is_empty(), place, "has no content");
        check_parts(place, &item["content"], allowed, found);
    }
}

fn check_parts(place: &str, parts: &Value, allowed: &[&str], found: &mut Findings) {
    for (at, part) in items(parts).iter().enumerate() {
        let kind = text(&part["type"]);
        let place = format!("{place}[{at}]");
        found.expect(
            allowed.contains(&kind),
            &place,
            format_args!("has the type {kind:?}, which does not belong here"),
        );
        let filled = match kind {
            "input_image" => says_something(&part["image_url"]),
            "refusal" => says_something(&part["refusal"]),
            _ => says_something(&part["text"]),
        };
        found.expect(filled, &place, "is empty");
    }
}

fn check_item_id(place: &str, id: &Value, prefix: &str, found: &mut Findings) {
    let holds = id.is_null() || (text(id).starts_with(prefix) && text(id).len() <= 64);
    found.expect(
        holds,
        place,
        format_args!("must have an id that begins with {prefix}, of at most 64 characters"),
    );
}
