//! Anthropic Messages: the events of a response, and what the API demands of a request.

use super::answer::{Asked, Frames, named_event, pieces, sign};
use super::check::{self, Findings, Seen, is_name, items, says_something, text};
use super::step::{Block, Step};
use serde_json::{Value, json};
use std::collections::HashSet;

/// The events of a response.
pub(super) fn frames(step: &Step, asked: Asked<'_>) -> Frames {
    let mut frames = Frames::default();
    let usage = json!({
        "input_tokens": step.usage.input - step.usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": step.usage.cached,
        "output_tokens": 1,
    });
    let message = json!({
        "id": format!("msg_{}", asked.number), "type": "message", "role": "assistant", "model": asked.model,
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    frames.event(event("message_start", json!({"message": message})));
    frames.event(event("ping", json!({})));
    let thinking = step.blocks.iter().find_map(|block| match block {
        Block::Thinking(text) => Some(sign(text)),
        Block::Redacted(data) => Some(data.clone()),
        Block::Text(_) | Block::Call { .. } => None,
    });
    for (index, block) in step.blocks.iter().enumerate() {
        let (start, kind, field, content) = match block {
            Block::Thinking(text) => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                "thinking_delta",
                "thinking",
                text.as_str(),
            ),
            Block::Redacted(data) => (json!({"type": "redacted_thinking", "data": data}), "", "", ""),
            Block::Text(text) => (json!({"type": "text", "text": ""}), "text_delta", "text", text.as_str()),
            Block::Call { name, arguments } => {
                let id = format!("toolu_{}_{index}", asked.number);
                frames.ties.extend(thinking.clone().map(|thinking| (id.clone(), thinking)));
                (
                    json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                    "input_json_delta",
                    "partial_json",
                    arguments.as_str(),
                )
            }
        };
        frames.event(event("content_block_start", json!({"index": index, "content_block": start})));
        for piece in pieces(content, step.piece_chars) {
            let delta = json!({"type": kind, field: piece});
            frames.piece(event("content_block_delta", json!({"index": index, "delta": delta})));
        }
        if let Block::Thinking(text) = block {
            let delta = json!({"type": "signature_delta", "signature": sign(text)});
            frames.event(event("content_block_delta", json!({"index": index, "delta": delta})));
        }
        frames.event(event("content_block_stop", json!({"index": index})));
    }
    let usual = if step.blocks.iter().any(Block::is_call) { "tool_use" } else { "end_turn" };
    let delta = json!({"stop_reason": step.stop.as_deref().unwrap_or(usual), "stop_sequence": null});
    let usage = json!({"output_tokens": step.usage.output});
    frames.closing.push(event("message_delta", json!({"delta": delta, "usage": usage})));
    frames.closing.push(event("message_stop", json!({})));
    frames
}

/// An error in the middle of a stream.
pub(super) fn error_frame(kind: &str, message: &str) -> String {
    event("error", json!({"error": {"type": kind, "message": message}}))
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = name.into();
    named_event(name, &data)
}

/// What is wrong with a request.
pub(super) fn check(seen: Seen<'_>) -> Vec<String> {
    let mut found = Findings::default();
    check::common(seen, &mut found);
    let Seen { headers, body, .. } = seen;
    let bearer = headers.get("authorization").is_some_and(|value| value.starts_with("Bearer "));
    found.expect(bearer || headers.contains_key("x-api-key"), "headers", "carry no key");
    found.expect(headers.contains_key("anthropic-version"), "headers", "carry no anthropic-version");
    for field in body.as_object().into_iter().flat_map(|body| body.keys()) {
        found.expect(FIELDS.contains(&field.as_str()), field, "is no field of the API");
    }
    found.expect(body["max_tokens"].as_u64().is_some_and(|n| n > 0), "max_tokens", "must be at least 1");
    check_thinking_settings(body, &mut found);
    match &body["system"] {
        Value::Null => {}
        Value::String(system) => found.expect(!system.is_empty(), "system", "is empty: leave it out"),
        system => {
            found.expect(!items(system).is_empty(), "system", "must be a string or a list of text blocks");
            for (at, block) in items(system).iter().enumerate() {
                let holds = block["type"] == "text" && says_something(&block["text"]);
                found.expect(holds, format_args!("system[{at}]"), "must be a text block that is not empty");
            }
        }
    }
    let tools = items(&body["tools"]).iter().enumerate().map(|(at, tool)| (format!("tools[{at}]"), tool));
    check::tools(tools, "input_schema", 128, &mut found);
    check_cache_marks(body, &mut found);
    check_messages(seen, &mut found);
    found.into_vec()
}

/// Fields of the API; it refuses others.
const FIELDS: [&str; 20] = [
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "thinking",
    "output_config",
    "metadata",
    "service_tier",
    "context_management",
    "container",
    "mcp_servers",
    "cache_control",
    "speed",
];

fn check_thinking_settings(body: &Value, found: &mut Findings) {
    let thinking = &body["thinking"];
    match text(&thinking["type"]) {
        "enabled" => {
            let budget = thinking["budget_tokens"].as_u64().unwrap_or(0);
            found.expect(budget >= 1024, "thinking.budget_tokens", "must be at least 1024");
            let room = body["max_tokens"].as_u64().unwrap_or(0);
            found.expect(budget < room, "thinking.budget_tokens", "must be smaller than max_tokens");
        }
        "adaptive" => {
            found.expect(
                thinking["budget_tokens"].is_null(),
                "thinking.budget_tokens",
                "is not for adaptive",
            );
        }
        "disabled" => return,
        _ => {
            found.expect(thinking.is_null(), "thinking.type", "must be enabled, adaptive or disabled");
            return;
        }
    }
    let temperature = &body["temperature"];
    let usual = temperature.is_null() || temperature.as_f64() == Some(1.0);
    found.expect(usual, "temperature", "must be left out while thinking is on");
    let free = matches!(text(&body["tool_choice"]["type"]), "" | "auto" | "none");
    found.expect(free, "tool_choice", "must not force a tool while thinking is on");
}

fn check_cache_marks(body: &Value, found: &mut Findings) {
    let mut marks = 0;
    let system =
        items(&body["system"]).iter().enumerate().map(|(at, block)| (format!("system[{at}]"), block));
    let tools = items(&body["tools"]).iter().enumerate().map(|(at, tool)| (format!("tools[{at}]"), tool));
    let blocks = items(&body["messages"]).iter().enumerate().flat_map(|(at, message)| {
        let nested = items(&message["content"])
            .iter()
            .flat_map(|block| std::iter::once(block).chain(items(&block["content"])));
        nested.map(move |block| (format!("messages[{at}]"), block))
    });
    for (place, block) in system.chain(tools).chain(blocks) {
        let mark = &block["cache_control"];
        if mark.is_null() {
            continue;
        }
        marks += 1;
        found.expect(mark["type"] == "ephemeral", format_args!("{place}.cache_control"), "must be ephemeral");
        let ttl = matches!(text(&mark["ttl"]), "" | "5m" | "1h");
        found.expect(ttl, format_args!("{place}.cache_control.ttl"), "must be 5m or 1h");
        let thinking = matches!(text(&block["type"]), "thinking" | "redacted_thinking");
        found.expect(!thinking, format_args!("{place}.cache_control"), "must not be on thinking");
    }
    found.expect(marks <= 4, "cache_control", format_args!("{marks} marks, at most 4 are allowed"));
}

fn check_messages(seen: Seen<'_>, found: &mut Findings) {
    let messages = items(&seen.body["messages"]);
    found.expect(!messages.is_empty(), "messages", "must not be empty");
    if let (Some(first), Some(last)) = (messages.first(), messages.last()) {
        found.expect(first["role"] == "user", "messages[0]", "must be the user's");
        found.expect(last["role"] == "user", "messages", "must end with the user's");
    }
    let mut ids = HashSet::new();
    // Calls of the message before, not yet answered.
    let mut waiting: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages[{at}]");
        let content = &message["content"];
        match text(&message["role"]) {
            "user" => check_user(&place, content, &mut waiting, found),
            "assistant" => {
                found.expect(waiting.is_empty(), &place, "comes where the results of calls must stand");
                waiting.clear();
                check_assistant(&place, content, &mut ids, &mut waiting, found);
                continue;
            }
            role => found.add(&place, format_args!("has the role {role:?}: only user and assistant exist")),
        }
        for id in waiting.drain(..) {
            found.add(&place, format_args!("does not answer the call {id}"));
        }
    }
    for id in waiting {
        found.add("messages", format_args!("end without an answer to the call {id}"));
    }
    check_thinking_of_open_turn(seen, messages, found);
}

fn check_user<'a>(place: &str, content: &'a Value, waiting: &mut Vec<&'a str>, found: &mut Findings) {
    if content.is_string() {
        found.expect(says_something(content), place, "has an empty text");
        return;
    }
    found.expect(!items(content).is_empty(), place, "has no content");
    let mut other_seen = false;
    for (at, block) in items(content).iter().enumerate() {
        let place = format!("{place}.content[{at}]");
        if block["type"] != "tool_result" {
            other_seen = true;
            check_input_block(&place, block, found);
            continue;
        }
        found.expect(!other_seen, &place, "a result must stand before text and pictures");
        let id = text(&block["tool_use_id"]);
        match waiting.iter().position(|waiting| *waiting == id) {
            Some(at) => drop(waiting.remove(at)),
            None => found.add(&place, format_args!("answers {id:?}, no open call of the message before")),
        }
        for (at, inner) in items(&block["content"]).iter().enumerate() {
            check_input_block(&format!("{place}.content[{at}]"), inner, found);
        }
    }
}

fn check_input_block(place: &str, block: &Value, found: &mut Findings) {
    match text(&block["type"]) {
        "text" => found.expect(says_something(&block["text"]), place, "has an empty text"),
        "image" => {
            let source = &block["source"];
            let kind = matches!(
                text(&source["media_type"]),
                "image/jpeg" | "image/png" | "image/gif" | "image/webp"
            );
            found.expect(
                source["type"] == "base64" && kind,
                place,
                "must be a base64 jpeg, png, gif or webp",
            );
            found.expect(says_something(&source["data"]), place, "has no picture data");
        }
        kind => found.add(place, format_args!("has the type {kind:?}, which does not belong here")),
    }
}

fn check_assistant<'a>(
    place: &str,
    content: &'a Value,
    ids: &mut HashSet<&'a str>,
    waiting: &mut Vec<&'a str>,
    found: &mut Findings,
) {
    if content.is_string() {
        found.expect(says_something(content), place, "has an empty text");
        return;
    }
    found.expect(!items(content).is_empty(), place, "has no content");
    for (at, block) in items(content).iter().enumerate() {
        let place = format!("{place}.content[{at}]");
        match text(&block["type"]) {
            "text" => found.expect(says_something(&block["text"]), &place, "has an empty text"),
            "thinking" => {
                let signature = text(&block["signature"]);
                let fits = signature == sign(text(&block["thinking"]));
                found.expect(fits, &place, "has a signature that does not belong to this thinking");
            }
            "redacted_thinking" => {
                found.expect(says_something(&block["data"]), &place, "has no data");
            }
            "tool_use" => {
                let id = text(&block["id"]);
                found.expect(is_name(&block["id"], 64), &place, "has an id that the API refuses");
                found.expect(ids.insert(id), &place, format_args!("has the id {id:?} of an earlier call"));
                found.expect(is_name(&block["name"], 128), &place, "has a name that the API refuses");
                found.expect(block["input"].is_object(), &place, "must have an object as input");
                waiting.push(id);
            }
            kind => found.add(&place, format_args!("has the type {kind:?}, which does not belong here")),
        }
    }
    let ends_thinking = items(content)
        .last()
        .is_some_and(|block| matches!(text(&block["type"]), "thinking" | "redacted_thinking"));
    found.expect(!ends_thinking, place, "must not end with thinking");
}

/// While results are handed in, the thinking that led to the calls must come back with them.
fn check_thinking_of_open_turn(seen: Seen<'_>, messages: &[Value], found: &mut Findings) {
    if !matches!(text(&seen.body["thinking"]["type"]), "enabled" | "adaptive") {
        return;
    }
    for (at, message) in messages.iter().enumerate().rev() {
        if message["role"] == "user" {
            let blocks = items(&message["content"]);
            if !blocks.iter().any(|block| block["type"] == "tool_result") {
                return;
            }
            continue;
        }
        let blocks = items(&message["content"]);
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        for tie in calls.filter_map(|call| seen.ties.get(text(&call["id"]))) {
            let is_there = blocks.iter().any(|block| block["signature"] == **tie || block["data"] == **tie);
            found.expect(is_there, format_args!("messages[{at}]"), "lacks the thinking its calls came with");
        }
    }
}
