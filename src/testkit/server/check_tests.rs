//! What the server finds wrong: a history the services accept, and what each spoilt copy of it must be told.

use super::answer::sign;
use super::check::Seen;
use super::{anthropic, chat, responses};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

fn headers() -> BTreeMap<String, String> {
    let headers =
        [("content-type", "application/json"), ("x-api-key", "k"), ("anthropic-version", "2023-06-01")];
    headers.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn ties() -> HashMap<String, String> {
    let ties = [("toolu_1", sign("Hm.")), ("fc_1", "rs_1".to_owned())];
    ties.into_iter().map(|(id, tie)| (id.to_owned(), tie)).collect()
}

/// Puts `value` at the JSON pointer (null removes nothing: it stays as null).
fn spoil(good: &Value, pointer: &str, value: Value) -> Value {
    let mut body = good.clone();
    match body.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => {
            let (parent, field) = pointer.rsplit_once('/').unwrap();
            body.pointer_mut(parent).unwrap()[field] = value;
        }
    }
    body
}

fn assert_findings(check: fn(Seen<'_>) -> Vec<String>, good: &Value, cases: &[(&str, Value, &str)]) {
    let (headers, ties) = (headers(), ties());
    let findings = |body: &Value| check(Seen { headers: &headers, body, ties: &ties });
    assert_eq!(findings(good), Vec::<String>::new());
    for (pointer, value, expected) in cases {
        let found = findings(&spoil(good, pointer, value.clone()));
        let told = found.iter().any(|finding| finding.contains(expected));
        assert!(told, "{pointer} = {value}: expected {expected:?}, found {found:?}");
    }
}

#[test]
fn anthropic_rules() {
    let mark = json!({"type": "ephemeral"});
    let good = json!({
        "model": "m", "max_tokens": 4096, "stream": true,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "system": [{"type": "text", "text": "Be brief.", "cache_control": mark}],
        "tools": [{"name": "read", "description": "", "input_schema": {"type": "object"}, "cache_control": mark}],
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": sign("Hm.")},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}},
                {"type": "tool_use", "id": "toolu_2", "name": "read", "input": {"path": "b"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "b", "is_error": true},
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "a"}]},
                {"type": "text", "text": "Go on.", "cache_control": mark},
            ]},
        ],
    });
    let result = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"});
    let text = json!({"type": "text", "text": "x"});
    assert_findings(
        anthropic::check,
        &good,
        &[
            ("/stream", json!(false), "stream: must be true"),
            ("/model", json!(""), "model: is missing"),
            ("/max_tokens", json!(0), "max_tokens"),
            ("/surprise", json!(1), "surprise: is no field"),
            ("/temperature", json!(0.5), "temperature"),
            ("/thinking/budget_tokens", json!(1000), "at least 1024"),
            ("/thinking/budget_tokens", json!(4096), "smaller than max_tokens"),
            ("/tools/0/input_schema", json!({"type": "string"}), "must be an object schema"),
            ("/tools/0/name", json!("a b"), "tools[0].name"),
            ("/system/0/text", json!(""), "system[0]"),
            ("/messages", json!([]), "must not be empty"),
            ("/messages/0/role", json!("system"), "only user and assistant exist"),
            ("/messages/0/role", json!("assistant"), "messages[0]: must be the user's"),
            ("/messages/0/content", json!(" "), "messages[0]: has an empty text"),
            ("/messages/1/content/1/text", json!(""), "messages[1].content[1]: has an empty text"),
            ("/messages/1/content/0/signature", json!("other"), "does not belong to this thinking"),
            ("/messages/1/content/0", text.clone(), "lacks the thinking its calls came with"),
            ("/messages/1/content/3/id", json!("toolu_1"), "of an earlier call"),
            ("/messages/1/content/3/id", json!("a|b"), "an id that the API refuses"),
            ("/messages/1/content/3/input", json!("{}"), "an object as input"),
            (
                "/messages/1/content/3",
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                "end with thinking",
            ),
            ("/messages/2/content", json!("No results."), "does not answer the call toolu_1"),
            ("/messages/2/content", json!([result]), "does not answer the call toolu_2"),
            ("/messages/2/content/0/tool_use_id", json!("toolu_9"), "no open call of the message before"),
            ("/messages/2/content/0/tool_use_id", json!("toolu_1"), "no open call of the message before"),
            ("/messages/2/content/0", text, "must stand before text"),
            ("/messages/2/content/1/content/0/text", json!(""), "content[1].content[0]: has an empty text"),
            (
                "/messages/2",
                json!({"role": "assistant", "content": "x"}),
                "where the results of calls must stand",
            ),
            ("/messages/2/content/0/cache_control", json!({"type": "forever"}), "must be ephemeral"),
        ],
    );
    let mut five = good;
    for at in 0..2 {
        five["messages"][2]["content"][at]["cache_control"] = mark.clone();
    }
    assert_findings(
        anthropic::check,
        &spoil(&five, "/messages/2/content/0/cache_control", json!(null)),
        &[("/messages/2/content/0/cache_control", mark, "5 marks")],
    );
}

#[test]
fn chat_rules() {
    let call =
        |id: &str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}});
    let good = json!({
        "model": "m", "stream": true,
        "tools": [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": "data:x"}},
            ]},
            {"role": "assistant", "content": null, "tool_calls": [call("c1"), call("c2")]},
            {"role": "tool", "tool_call_id": "c2", "content": "b"},
            {"role": "tool", "tool_call_id": "c1", "content": "a"},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "Thanks"},
        ],
    });
    assert_findings(
        chat::check,
        &good,
        &[
            ("/messages/1/content/0/text", json!(""), "messages[1].content[0]: has an empty text"),
            ("/messages/2/content", json!([{"type": "text", "text": "x"}]), "one string"),
            ("/messages/2/tool_calls", json!([]), "neither text nor calls"),
            ("/messages/2/tool_calls/1/id", json!("c1"), "of an earlier call"),
            ("/messages/2/tool_calls/1/id", json!("c".repeat(41)), "at most 40 characters"),
            ("/messages/2/tool_calls/1/function/arguments", json!("{broken"), "text of a JSON object"),
            ("/messages/2/tool_calls/1/function/arguments", json!({}), "text of a JSON object"),
            ("/messages/3/tool_call_id", json!("c9"), "no open call right before"),
            ("/messages/3/content", json!(""), "messages[3]: has an empty text"),
            ("/messages/3", json!({"role": "user", "content": "x"}), "before the answer to the call c1"),
            ("/messages/4", json!({"role": "system", "content": "x"}), "after the conversation began"),
            ("/messages/5/content", json!(""), "neither text nor calls"),
            (
                "/messages/6",
                json!({"role": "assistant", "content": "x"}),
                "must end with the user's or a tool's",
            ),
            ("/tools/0/type", json!("custom"), "the type function"),
            ("/tools/0/function/parameters", json!(null), "object schema"),
        ],
    );
    let short = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    assert_findings(chat::check, &short, &[("/tools", json!([]), "without calls")]);
}

#[test]
fn responses_rules() {
    let summary = json!([{"type": "summary_text", "text": "Hm."}]);
    let good = json!({
        "model": "m", "stream": true, "store": false, "prompt_cache_key": "s", "max_output_tokens": 16,
        "reasoning": {"effort": "low"}, "include": ["reasoning.encrypted_content"],
        "tools": [{"type": "function", "name": "read", "parameters": {"type": "object"}, "strict": false}],
        "input": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": sign("rs_1Hm.")},
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": "{}"},
            {"type": "function_call", "call_id": "c2", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c2", "output": "b"},
            {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "a"}]},
        ],
    });
    let said = json!({"role": "user", "content": "x"});
    assert_findings(
        responses::check,
        &good,
        &[
            ("/store", json!(null), "store: must be false"),
            ("/include", json!([]), "reasoning.encrypted_content"),
            ("/max_output_tokens", json!(8), "at least 16"),
            ("/prompt_cache_key", json!("k".repeat(65)), "at most 64"),
            ("/input/1/content/0/type", json!("output_text"), "does not belong here"),
            ("/input/1/content/0/text", json!(""), "is empty"),
            ("/input/2/encrypted_content", json!("x"), "does not belong to it"),
            ("/input/2/summary", json!([]), "does not belong to it"),
            ("/input/2", said.clone(), "lacks the reasoning item"),
            ("/input/3", said.clone(), "must be followed by"),
            ("/input/3/id", json!("call_1"), "begins with fc_"),
            ("/input/4/call_id", json!("c1"), "of an earlier call"),
            ("/input/4/arguments", json!("nope"), "text of a JSON object"),
            ("/input/5/call_id", json!("c7"), "no open call before it"),
            ("/input/5", said, "holds no output of the call c2"),
            ("/input/6/output", json!([]), "has no output"),
        ],
    );
}
