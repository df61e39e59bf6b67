use super::*;
use crate::llm::decode::DecodeError;
use crate::llm::fixtures::{
    Played, assistant, call, image, json_of, model, play, request, result, thinker, thinking, tool, user,
};
use crate::llm::{CacheRetention, Dialect, Model, StreamEvent};
use crate::proto::message::{Block, StopReason};
use crate::proto::model::ThinkingLevel;
use serde_json::{Value, json};
use std::sync::Arc;

const CREATED: &str =
    r#"{"type":"response.created","response":{"id":"resp_1","model":"gpt-x","status":"in_progress"}}"#;
const COMPLETED: &str = r#"{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":40},"output_tokens":30,"output_tokens_details":{"reasoning_tokens":12},"total_tokens":130}}}"#;

fn decode(data: &[&str]) -> Played {
    play(ResponsesDecoder::default(), data)
}

#[test]
fn reasoning_text_and_calls() {
    let reasoning = r#"{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"zz"}"#;
    let reasoning_done =
        format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{reasoning}}}"#);
    let played = decode(&[
        CREATED,
        r#"{"type":"response.in_progress","response":{}}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}"#,
        r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"a"}"#,
        r#"{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1}"#,
        r#"{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"b"}"#,
        &reasoning_done,
        r#"{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","content":[]}}"#,
        r#"{"type":"response.content_part.added","output_index":1,"content_index":0}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"Hel"}"#,
        r#"{"type":"response.output_text.delta","output_index":1,"delta":"lo"}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","phase":"commentary","content":[{"type":"output_text","text":"Hello"}]}}"#,
        r#"{"type":"response.output_item.added","output_index":2,"item":{"id":"ws_1","type":"web_search_call"}}"#,
        r#"{"type":"response.output_item.added","output_index":3,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"read","arguments":""}}"#,
        r#"{"type":"response.output_item.added","output_index":4,"item":{"id":"fc_2","type":"function_call","call_id":"call_2","name":"ls","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":3,"delta":"{\"path\":"}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":4,"delta":"{}"}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":3,"delta":"\"x\"}"}"#,
        r#"{"type":"response.output_item.done","output_index":3,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"read","arguments":"{\"path\":\"x\"}"}}"#,
        r#"{"type":"response.output_item.done","output_index":4,"item":{"id":"fc_2","type":"function_call","call_id":"call_2","name":"ls","arguments":"{}"}}"#,
        COMPLETED,
    ]);
    assert_eq!(
        played.events.first(),
        Some(&StreamEvent::Started {
            response_id: Some("resp_1".to_owned()),
            response_model: Some("gpt-x".to_owned())
        })
    );
    assert_eq!(played.done(), (StopReason::ToolUse, Some("completed")));
    assert_eq!(
        played.message().content,
        [
            thinking("a\n\nb", Some(reasoning)),
            Block::Text {
                text: "Hello".to_owned(),
                text_signature: Some(r#"{"v":1,"id":"msg_1","phase":"commentary"}"#.to_owned()),
            },
            call("call_1|fc_1", "read", json!({"path": "x"})),
            call("call_2|fc_2", "ls", json!({})),
        ]
    );
    let usage = played.usage();
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.reasoning), (60, 30, 40, Some(12)));
    assert_eq!(usage.total_tokens, 130);
}

#[test]
fn what_was_not_streamed_is_told_at_the_end_of_the_item() {
    let done = r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"m","type":"message","content":[{"type":"output_text","text":"whole"}]}}"#;
    assert_eq!(decode(&[CREATED, done, COMPLETED]).message().text(), "whole");
    let only_end = r#"{"type":"response.completed","response":{"status":"completed","output":[
        {"type":"message","content":[{"type":"refusal","refusal":"no"}]},
        {"type":"function_call","call_id":"c","name":"ls","arguments":"{}"}]}}"#;
    let played = decode(&[CREATED, only_end]);
    assert_eq!(played.message().content, [Block::text("no"), call("c", "ls", json!({}))]);
    assert_eq!(played.done().0, StopReason::ToolUse);
}

#[test]
fn ends() {
    let end = |kind: &str, response: &str| format!(r#"{{"type":"{kind}","response":{response}}}"#);
    let limit = end(
        "response.incomplete",
        r#"{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}"#,
    );
    assert_eq!(decode(&[CREATED, &limit]).done(), (StopReason::Length, Some("max_output_tokens")));
    let done = end("response.done", r#"{"status":"completed"}"#);
    assert_eq!(decode(&[CREATED, &done]).done(), (StopReason::Stop, Some("completed")));
    let filtered = end(
        "response.incomplete",
        r#"{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}"#,
    );
    assert!(matches!(decode(&[CREATED, &filtered]).outcome, Err(DecodeError::Refused(_))));
    for (response, code) in [
        (
            r#"{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}"#,
            "rate_limit_exceeded",
        ),
        (r#"{"status":"failed","error":null}"#, "server_error"),
        (r#"{"status":"cancelled"}"#, "server_error"),
    ] {
        let failed = end("response.failed", response);
        let DecodeError::Reported(reported) = decode(&[CREATED, &failed]).outcome.unwrap_err() else {
            panic!()
        };
        assert_eq!(reported.codes, [code], "{response}");
    }
    let error = r#"{"type":"error","code":"server_error","message":"Sorry","param":null}"#;
    let DecodeError::Reported(reported) = decode(&[CREATED, error]).outcome.unwrap_err() else { panic!() };
    assert_eq!(reported.message, "Sorry");
    assert_eq!(decode(&[CREATED]).outcome, Err(DecodeError::CutOff));
    assert_eq!(decode(&[CREATED, "nonsense"]).outcome, Err(DecodeError::Malformed));
}

const OPENAI: &str = "https://api.openai.com/v1";

fn gpt(compat: Value) -> Model {
    thinker(Dialect::OpenAiResponses, compat)
}

fn sent(request: &Request, base_url: &str) -> Value {
    json_of(&exchange(request, base_url).unwrap().body)
}

fn said(text: &str, id: &str) -> Block {
    let signature = TextSignature { v: 1, id: id.to_owned(), phase: None };
    Block::Text { text: text.to_owned(), text_signature: serde_json::to_string(&signature).ok() }
}

const REASONING: &str =
    r#"{"id":"rs_1","type":"reasoning","status":"completed","summary":[],"encrypted_content":"zz"}"#;

#[test]
fn a_whole_conversation() {
    let model = gpt(json!({}));
    let mut request = request(
        model.clone(),
        vec![
            user("hi"),
            assistant(
                &model,
                vec![
                    thinking("hm", Some(REASONING)),
                    said("look", &"m".repeat(70)),
                    call("call_1|fc_1", "read", json!({"path": "x"})),
                    call("call_2|wrong", "ls", json!({})),
                    thinking("nothing follows", Some(REASONING)),
                ],
            ),
            result("call_1|fc_1", vec![Block::text("one"), Block::text("two")]),
            result("call_2|wrong", vec![Block::text("see"), image()]),
        ],
    );
    request.tools = Arc::from([tool("read")]);
    request.thinking = ThinkingLevel::High;
    assert_eq!(
        sent(&request, OPENAI),
        json!({
            "model": "test-model",
            "stream": true,
            "store": false,
            "tools": [{"type": "function", "name": "read", "description": "The read tool.",
                       "parameters": tool("read").parameters, "strict": false}],
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "high", "summary": "auto"},
            "max_output_tokens": 32000,
            "prompt_cache_key": "session-1",
            "input": [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "zz"},
                {"type": "message", "id": format!("msg_{:016x}", crate::llm::call_ids::hash(&"m".repeat(70))),
                 "role": "assistant", "status": "completed",
                 "content": [{"type": "output_text", "text": "look", "annotations": []}]},
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": "{\"path\":\"x\"}"},
                {"type": "function_call", "call_id": "call_2", "name": "ls", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "call_1", "output": "one\ntwo"},
                {"type": "function_call_output", "call_id": "call_2", "output": [
                    {"type": "input_text", "text": "see"},
                    {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AAAA"},
                ]},
            ],
        })
    );
}

#[test]
fn reasoning_that_cannot_go_back_takes_the_ids_along() {
    let model = gpt(json!({}));
    for lost in [r#"{"id":"rs_1","type":"reasoning","summary":[]}"#, "not json", r#"{"type":"message"}"#] {
        let answer =
            vec![thinking("hm", Some(lost)), said("look", "msg_1"), call("c|fc_1", "read", json!({}))];
        let body = sent(&request(model.clone(), vec![user("hi"), assistant(&model, answer)]), OPENAI);
        assert_eq!(body["input"][2], json!({"role": "assistant", "content": "look"}), "{lost}");
        assert_eq!(
            body["input"][3],
            json!({"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"})
        );
    }
}

#[test]
fn another_models_answer_has_no_ids() {
    let mut other = gpt(json!({}));
    other.reference.id = "other".to_owned();
    let answer =
        vec![thinking("hm", Some(REASONING)), said("look", "msg_1"), call("c|fc_1", "read", json!({}))];
    let body = sent(&request(gpt(json!({})), vec![user("hi"), assistant(&other, answer)]), OPENAI);
    assert_eq!(body["input"][2], json!({"role": "assistant", "content": "hm"}));
    assert_eq!(body["input"][3], json!({"role": "assistant", "content": "look"}));
    assert_eq!(body["input"][4].get("id"), None);
}

#[test]
fn limits_roles_and_efforts() {
    let mut plain = request(model(Dialect::OpenAiResponses), vec![user("hi")]);
    plain.max_tokens = Some(4);
    plain.cache = CacheRetention::None;
    assert_eq!(
        sent(&plain, OPENAI),
        json!({
            "model": "test-model", "stream": true, "store": false, "max_output_tokens": 16,
            "input": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            ],
        })
    );
    let mut silent = gpt(json!({"supportsMaxOutputTokens": false, "supportsDeveloperRole": false}));
    let body = sent(&request(silent.clone(), vec![user("hi")]), OPENAI);
    assert_eq!(body.get("max_output_tokens"), None);
    assert_eq!(body.get("reasoning"), None, "a model that is not told how thinks as it likes");
    assert_eq!(body["input"][0]["role"], "system");
    silent.thinking_levels.insert(ThinkingLevel::Off, Some("none".to_owned()));
    assert_eq!(sent(&request(silent, vec![user("hi")]), OPENAI)["reasoning"], json!({"effort": "none"}));
    let mut deaf = request(gpt(json!({"supportsReasoningEffort": false})), vec![user("hi")]);
    deaf.thinking = ThinkingLevel::High;
    assert_eq!(sent(&deaf, OPENAI).get("reasoning"), None);
}

#[test]
fn caching() {
    let fields = |compat: Value, base_url: &str, cache| {
        let mut request = request(gpt(compat), vec![user("hi")]);
        request.cache = cache;
        let sent = exchange(&request, base_url).unwrap();
        let body = json_of(&sent.body);
        let names: Vec<&str> = sent.headers.iter().map(|(name, _)| *name).collect();
        let field = |name| body.get(name).cloned().unwrap_or_default();
        (
            field("prompt_cache_key"),
            field("prompt_cache_retention"),
            field("prompt_cache_options"),
            names.join(" "),
        )
    };
    let (none, key) = (Value::Null, json!("session-1"));
    let headers = "session-id x-client-request-id".to_owned();
    assert_eq!(
        fields(json!({}), OPENAI, CacheRetention::Short),
        (key.clone(), none.clone(), none.clone(), headers.clone())
    );
    assert_eq!(
        fields(json!({}), OPENAI, CacheRetention::Long),
        (key.clone(), json!("24h"), none.clone(), headers.clone())
    );
    assert_eq!(
        fields(json!({"supportsExplicitPromptCacheMode": true}), OPENAI, CacheRetention::Long),
        (key.clone(), none.clone(), json!({"ttl": "30m"}), headers)
    );
    assert_eq!(
        fields(
            json!({"sessionAffinityFormat": "openai-nosession"}),
            "https://x.example.org",
            CacheRetention::Long
        ),
        (key, none.clone(), none.clone(), "x-client-request-id".to_owned())
    );
    assert_eq!(
        fields(json!({"promptCacheKeyMode": "disabled"}), "https://x.example.org", CacheRetention::Short).0,
        none
    );
    assert_eq!(
        fields(json!({}), OPENAI, CacheRetention::None),
        (none.clone(), none.clone(), none, String::new())
    );
}
