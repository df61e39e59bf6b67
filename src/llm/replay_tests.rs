//! Histories of several models, sent to each of them: every request must be one that the provider takes.

use super::fixtures::{
    any_message, assistant, call, image, json_of, model, request, result, thinker, thinking, user,
};
use super::{Dialect, Model, Request, anthropic, openai_chat, openai_responses};
use crate::proto::message::{Block, Message};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashSet;

fn claude() -> Model {
    let mut model = thinker(Dialect::AnthropicMessages, json!({}));
    model.reference.id = "claude-opus-4-6".to_owned();
    model
}

fn gpt() -> Model {
    let mut model = thinker(Dialect::OpenAiResponses, json!({}));
    model.reference.id = "gpt".to_owned();
    model
}

fn local() -> Model {
    let mut model = model(Dialect::OpenAiCompletions);
    model.reference.id = "qwen".to_owned();
    model.images = false;
    model
}

fn sent(model: &Model, messages: Vec<Message>) -> Value {
    let request: Request = request(model.clone(), messages);
    let exchange = match model.dialect {
        Dialect::AnthropicMessages => anthropic::exchange(&request, "https://api.anthropic.com"),
        Dialect::OpenAiResponses => openai_responses::exchange(&request, "https://api.openai.com/v1"),
        Dialect::OpenAiCompletions => openai_chat::exchange(&request, "http://127.0.0.1:8080/v1"),
        Dialect::Scripted => unreachable!(),
    };
    json_of(&exchange.unwrap().body)
}

/// What is wrong with a body, if something is.
fn flaw(model: &Model, body: &Value) -> Option<String> {
    let outcome = match model.dialect {
        Dialect::AnthropicMessages => check_anthropic(body),
        Dialect::OpenAiResponses => check_responses(body),
        Dialect::OpenAiCompletions => check_chat(body),
        Dialect::Scripted => unreachable!(),
    };
    outcome.err()
}

fn need(holds: bool, what: &str, at: &Value) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{what}: {at}")) }
}

fn filled(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

fn each(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn plain_id(id: &str, limit: usize) -> bool {
    (1..=limit).contains(&id.len()) && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn check_anthropic(body: &Value) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for message in each(&body["messages"]) {
        let blocks = each(&message["content"]);
        need(!blocks.is_empty(), "empty message", message)?;
        let mut called = Vec::new();
        let mut answered = Vec::new();
        for block in blocks {
            match block["type"].as_str() {
                Some("text") => need(filled(&block["text"]), "blank text", message)?,
                Some("thinking") => need(filled(&block["signature"]), "unsigned thinking", message)?,
                Some("redacted_thinking") => need(filled(&block["data"]), "no data", message)?,
                Some("image") => {}
                Some("tool_use") => {
                    let id = text(&block["id"]);
                    need(plain_id(&id, 64) && seen.insert(id.clone()), "bad id", message)?;
                    need(block["input"].is_object(), "bad input", message)?;
                    called.push(id);
                }
                Some("tool_result") => {
                    let content = &block["content"];
                    need(filled(content) || !each(content).is_empty(), "empty result", message)?;
                    answered.push(text(&block["tool_use_id"]));
                }
                _ => return Err(format!("unknown block: {block}")),
            }
        }
        need(answered == open, "calls and results differ", message)?;
        let assistant = message["role"] == "assistant";
        need(assistant || called.is_empty(), "a user calls", message)?;
        let ends_in_thought = blocks.last().is_some_and(|last| last["type"] == "thinking");
        need(!assistant || blocks.len() > 1 || !ends_in_thought, "only thinking", message)?;
        open = called;
    }
    need(open.is_empty(), "a call is not answered", body)
}

fn check_chat(body: &Value) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for message in each(&body["messages"]) {
        let content = &message["content"];
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = text(&message["tool_call_id"]);
            need(!open.is_empty() && open.remove(0) == id, "result without call", message)?;
            need(filled(content), "empty result", message)?;
            continue;
        }
        need(open.is_empty(), "a call is not answered", message)?;
        match role {
            "system" | "developer" | "user" => {
                need(filled(content) || !each(content).is_empty(), "empty message", message)?;
            }
            "assistant" => {
                let calls = each(&message["tool_calls"]);
                need(filled(content) || (content.is_null() && !calls.is_empty()), "empty answer", message)?;
                for call in calls {
                    let id = text(&call["id"]);
                    need(plain_id(&id, 40) && seen.insert(id.clone()), "bad id", message)?;
                    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                    let parsed = serde_json::from_str::<Value>(arguments).unwrap_or_default();
                    need(parsed.is_object(), "bad arguments", message)?;
                    open.push(id);
                }
            }
            _ => return Err(format!("unknown role: {message}")),
        }
    }
    need(open.is_empty(), "a call is not answered", body)
}

fn check_responses(body: &Value) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let mut after_reasoning = false;
    for item in each(&body["input"]) {
        let kind = item["type"].as_str().unwrap_or("message");
        need(
            !after_reasoning || matches!(kind, "message" | "function_call" | "reasoning"),
            "lone reasoning",
            item,
        )?;
        let follows_model = kind == "function_call" || item["role"] == "assistant";
        need(!after_reasoning || kind == "reasoning" || follows_model, "lone reasoning", item)?;
        after_reasoning = kind == "reasoning";
        match kind {
            "reasoning" => need(filled(&item["encrypted_content"]), "reasoning that is not stored", item)?,
            "message" => {
                need(open.is_empty() || item["role"] == "assistant", "a call is not answered", item)?;
                let content = &item["content"];
                need(filled(content) || !each(content).is_empty(), "empty message", item)?;
                for part in each(content) {
                    let blank = part.get("text").is_some_and(|text| !filled(text));
                    need(!blank, "blank text", item)?;
                }
            }
            "function_call" => {
                let id = text(&item["call_id"]);
                need(plain_id(&id, 64) && seen.insert(id.clone()), "bad id", item)?;
                need(item.get("id").is_none_or(|id| text(id).starts_with("fc_")), "bad item id", item)?;
                open.push(id);
            }
            "function_call_output" => {
                let id = text(&item["call_id"]);
                need(!open.is_empty() && open.remove(0) == id, "result without call", item)?;
                let output = &item["output"];
                need(filled(output) || !each(output).is_empty(), "empty result", item)?;
            }
            _ => return Err(format!("unknown item: {item}")),
        }
    }
    need(open.is_empty() && !after_reasoning, "a call is not answered", body)
}

#[test]
fn one_conversation_over_three_models() {
    let reasoning = r#"{"id":"rs","type":"reasoning","summary":[],"encrypted_content":"z"}"#;
    let history = || {
        vec![
            user("start"),
            assistant(
                &claude(),
                vec![thinking("by claude", Some("sig")), call("toolu_1", "read", json!({"path": "a"}))],
            ),
            result("toolu_1", vec![Block::text("one"), image()]),
            assistant(&claude(), vec![Block::text("said claude")]),
            user("go on"),
            assistant(
                &gpt(),
                vec![thinking("by gpt", Some(reasoning)), call("call_1|fc_1", "ls", json!({}))],
            ),
            result("call_1|fc_1", vec![Block::text("two")]),
            assistant(&gpt(), vec![Block::text("said gpt")]),
            user("and now"),
            assistant(
                &local(),
                vec![thinking("by qwen", Some("reasoning_content")), call("call_1", "ls", json!({}))],
            ),
            result("call_1", vec![Block::text("three")]),
            user("end"),
        ]
    };
    for (model, own) in [(claude(), "by claude"), (gpt(), "rs"), (local(), "by qwen")] {
        let body = sent(&model, history());
        assert_eq!(flaw(&model, &body), None);
        let text = body.to_string();
        for said in ["said claude", "said gpt", "one", "two", "three", own] {
            assert!(text.contains(said), "{said} is missing: {text}");
        }
        assert_eq!(text.contains("\"sig\""), model.dialect == Dialect::AnthropicMessages, "{text}");
        assert_eq!(
            text.contains("encrypted_content\":\"z"),
            model.dialect == Dialect::OpenAiResponses,
            "{text}"
        );
    }
}

/// The conversation of a body, without cache marks.
fn conversation(body: &Value) -> Vec<String> {
    let key = if body.get("input").is_some() { "input" } else { "messages" };
    let mut messages = body[key].clone();
    for message in messages.as_array_mut().unwrap() {
        for block in message["content"].as_array_mut().into_iter().flatten() {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
    each(&messages).iter().map(Value::to_string).collect()
}

proptest! {
    #[test]
    fn any_history_is_valid_for_any_model(
        history in prop::collection::vec(any_message(&[claude(), gpt(), local()]), 0..12),
    ) {
        for model in [claude(), gpt(), local()] {
            let body = sent(&model, history.clone());
            prop_assert_eq!(flaw(&model, &body), None);
        }
    }

    #[test]
    fn what_was_sent_stays_as_it_was(
        history in prop::collection::vec(any_message(&[claude(), gpt(), local()]), 0..10),
    ) {
        for model in [claude(), gpt(), local()] {
            // An answer at the end is trimmed for Anthropic, and only there.
            let mut before = history.clone();
            before.push(user("now"));
            let mut after = before.clone();
            after.push(user("next"));
            let (before, after) = (conversation(&sent(&model, before)), conversation(&sent(&model, after)));
            prop_assert_eq!(&after[..before.len()], &before[..]);
            prop_assert_eq!(after.len(), before.len() + 1);
        }
    }
}
