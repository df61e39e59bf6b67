//! OpenAI Chat Completions: the chunks of a response, and what the API and its relatives demand of a request.

use super::answer::{Asked, Frames, in_turns, pieces};
use super::check::{self, Findings, Seen, is_name, is_object_text, items, says_something, text};
use super::step::{Block, Step};
use serde_json::{Value, json};
use std::collections::HashSet;

/// The chunks of a response.
pub(super) fn frames(step: &Step, asked: Asked<'_>) -> Frames {
    let mut frames = Frames::default();
    let chunk = |choices: Value, usage: Option<Value>| {
        let mut chunk = json!({
            "id": format!("chatcmpl-{}", asked.number), "object": "chat.completion.chunk", "created": 1_700_000_000,
            "model": asked.model, "choices": choices,
        });
        if asked.include_usage {
            chunk["usage"] = usage.unwrap_or(Value::Null);
        }
        format!("data: {chunk}\n\n")
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), None);
    frames.event(delta(json!({"role": "assistant", "content": ""})));
    let mut calls = Vec::new();
    for block in &step.blocks {
        match block {
            Block::Thinking(text) => {
                for piece in pieces(text, step.piece_chars) {
                    frames.piece(delta(json!({"reasoning_content": piece})));
                }
            }
            Block::Redacted(_) => {}
            Block::Text(text) => {
                for piece in pieces(text, step.piece_chars) {
                    frames.piece(delta(json!({"content": piece})));
                }
            }
            Block::Call { name, arguments } => calls.push((name, pieces(arguments, step.piece_chars))),
        }
    }
    let head = |at: usize, name: &str| {
        let id = format!("call_{}_{at}", asked.number);
        let function = json!({"name": name, "arguments": ""});
        delta(json!({"tool_calls": [{"index": at, "id": id, "type": "function", "function": function}]}))
    };
    let more = |at: usize, piece: &str| {
        delta(json!({"tool_calls": [{"index": at, "function": {"arguments": piece}}]}))
    };
    if step.interleaved {
        for (at, (name, _)) in calls.iter().enumerate() {
            frames.event(head(at, name));
        }
        let arguments: Vec<_> = calls.iter().map(|(_, pieces)| pieces.clone()).collect();
        for (at, piece) in in_turns(&arguments) {
            frames.piece(more(at, &piece));
        }
    } else {
        for (at, (name, pieces)) in calls.iter().enumerate() {
            frames.event(head(at, name));
            for piece in pieces {
                frames.piece(more(at, piece));
            }
        }
    }
    let finish = match step.stop.as_deref() {
        None if calls.is_empty() => "stop",
        None => "tool_calls",
        Some("end_turn" | "stop_sequence") => "stop",
        Some("tool_use") => "tool_calls",
        Some("max_tokens") => "length",
        Some("refusal") => "content_filter",
        Some(other) => other,
    };
    frames.closing.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": finish}]), None));
    if asked.include_usage {
        let usage = json!({
            "prompt_tokens": step.usage.input,
            "completion_tokens": step.usage.output,
            "total_tokens": step.usage.input + step.usage.output,
            "prompt_tokens_details": {"cached_tokens": step.usage.cached},
            "completion_tokens_details": {"reasoning_tokens": 0},
        });
        frames.closing.push(chunk(json!([]), Some(usage)));
    }
    frames.closing.push("data: [DONE]\n\n".to_owned());
    frames
}

/// An error in the middle of a stream.
pub(super) fn error_frame(kind: &str, message: &str) -> String {
    let error = json!({"error": {"message": message, "type": kind, "param": null, "code": kind}});
    format!("data: {error}\n\n")
}

/// What is wrong with a request.
pub(super) fn check(seen: Seen<'_>) -> Vec<String> {
    let mut found = Findings::default();
    check::common(seen, &mut found);
    let body = seen.body;
    let both = body["max_tokens"].is_u64() && body["max_completion_tokens"].is_u64();
    found.expect(!both, "max_tokens", "must not stand beside max_completion_tokens");
    let messages = items(&body["messages"]);
    let has_calls = messages.iter().any(|message| !message["tool_calls"].is_null());
    if let Some(tools) = body["tools"].as_array() {
        let holds = !tools.is_empty() || has_calls;
        found.expect(holds, "tools", "must not be empty in a conversation without calls");
        let functions = tools.iter().enumerate();
        let functions = functions.map(|(at, tool)| (format!("tools[{at}].function"), &tool["function"]));
        check::tools(functions, "parameters", 64, &mut found);
        let kinds = tools.iter().all(|tool| tool["type"] == "function");
        found.expect(kinds, "tools", "must all have the type function");
    }
    check_messages(messages, &mut found);
    found.into_vec()
}

fn check_messages(messages: &[Value], found: &mut Findings) {
    found.expect(!messages.is_empty(), "messages", "must not be empty");
    if let Some(last) = messages.last() {
        let open = matches!(text(&last["role"]), "user" | "tool");
        found.expect(open, "messages", "must end with the user's or a tool's");
    }
    let mut ids = HashSet::new();
    // Calls that must be answered before anything else is said.
    let mut waiting: Vec<&str> = Vec::new();
    let mut only_system = true;
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages[{at}]");
        let role = text(&message["role"]);
        if role == "tool" {
            let id = text(&message["tool_call_id"]);
            match waiting.iter().position(|waiting| *waiting == id) {
                Some(at) => drop(waiting.remove(at)),
                None => found.add(&place, format_args!("answers {id:?}, no open call right before")),
            }
            check_content(&place, &message["content"], false, found);
            continue;
        }
        for id in waiting.drain(..) {
            found.add(&place, format_args!("comes before the answer to the call {id}"));
        }
        match role {
            "system" | "developer" => {
                found.expect(only_system, &place, "comes after the conversation began");
                check_content(&place, &message["content"], false, found);
            }
            "user" => check_content(&place, &message["content"], true, found),
            "assistant" => check_assistant(&place, message, &mut ids, &mut waiting, found),
            _ => found.add(&place, format_args!("has the role {role:?}, which does not exist")),
        }
        only_system &= matches!(role, "system" | "developer");
    }
    for id in waiting {
        found.add("messages", format_args!("end without an answer to the call {id}"));
    }
}

fn check_content(place: &str, content: &Value, pictures: bool, found: &mut Findings) {
    if content.is_string() {
        found.expect(says_something(content), place, "has an empty text");
        return;
    }
    found.expect(!items(content).is_empty(), place, "has no content");
    for (at, part) in items(content).iter().enumerate() {
        let place = format!("{place}.content[{at}]");
        match text(&part["type"]) {
            "text" => found.expect(says_something(&part["text"]), &place, "has an empty text"),
            "image_url" if pictures => {
                found.expect(says_something(&part["image_url"]["url"]), &place, "has no picture");
            }
            kind => found.add(&place, format_args!("has the type {kind:?}, which does not belong here")),
        }
    }
}

fn check_assistant<'a>(
    place: &str,
    message: &'a Value,
    ids: &mut HashSet<&'a str>,
    waiting: &mut Vec<&'a str>,
    found: &mut Findings,
) {
    let (content, calls) = (&message["content"], &message["tool_calls"]);
    let is_plain = content.is_null() || content.is_string();
    found.expect(is_plain, place, "must have its text as one string: some models copy the form of a list");
    let speaks = says_something(content) || !items(calls).is_empty();
    found.expect(speaks, place, "has neither text nor calls");
    found.expect(calls.is_null() || !items(calls).is_empty(), place, "has an empty list of calls");
    for (at, call) in items(calls).iter().enumerate() {
        let place = format!("{place}.tool_calls[{at}]");
        let id = text(&call["id"]);
        found.expect(!id.is_empty() && id.len() <= 40, &place, "must have an id of at most 40 characters");
        found.expect(ids.insert(id), &place, format_args!("has the id {id:?} of an earlier call"));
        found.expect(call["type"] == "function", &place, "must have the type function");
        found.expect(is_name(&call["function"]["name"], 64), &place, "has a name that the API refuses");
        let arguments = &call["function"]["arguments"];
        found.expect(is_object_text(arguments), &place, "must have the text of a JSON object as arguments");
        waiting.push(id);
    }
}
