use super::*;
use crate::llm::decode::DecodeError;
use crate::llm::fixtures::{
    assistant, call, image, json_of, model, play, request, result, thinker, thinking, tool, user,
};
use crate::llm::{CacheRetention, Dialect, Model, StreamEvent};
use crate::proto::ids::CallId;
use crate::proto::message::{Block, StopReason};
use crate::proto::model::ThinkingLevel;
use crate::proto::usage::Usage;
use serde_json::{Value, json};
use std::sync::Arc;

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1,"cache_creation_input_tokens":4,"cache_read_input_tokens":20}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const TEXT: &str = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const HELLO: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#;
const CLOSE: &str = r#"{"type":"content_block_stop","index":0}"#;

fn stop_for(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":15}}}}"#
    )
}

fn decode(data: &[&str]) -> crate::llm::fixtures::Played {
    play(AnthropicDecoder::default(), data)
}

#[test]
fn text_and_usage() {
    let end = stop_for("end_turn");
    let played =
        decode(&[START, r#"{"type":"ping"}"#, TEXT, HELLO, CLOSE, r#"{"type":"new_kind"}"#, &end, STOP]);
    let usage = |output| {
        StreamEvent::Usage(
            Usage { input: 10, output, cache_read: 20, cache_write: 4, ..Usage::default() }.with_total(),
        )
    };
    assert_eq!(
        played.events,
        [
            StreamEvent::Started {
                response_id: Some("msg_1".to_owned()),
                response_model: Some("claude-x".to_owned())
            },
            usage(1),
            StreamEvent::TextStart { index: 0 },
            StreamEvent::TextDelta { index: 0, delta: "Hello".to_owned() },
            StreamEvent::TextEnd { index: 0, signature: None },
            usage(15),
            StreamEvent::Done { reason: StopReason::Stop, raw_reason: Some("end_turn".to_owned()) },
        ]
    );
    assert_eq!(played.usage().total_tokens, 49);
}

#[test]
fn thinking_signatures_redaction_and_calls() {
    let end = stop_for("tool_use");
    let played = decode(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ab"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"cd"}}"#,
        CLOSE,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"secret"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"s","name":"web","input":{}}}"#,
        r#"{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"\"a\"}"}}"#,
        r#"{"type":"content_block_stop","index":3}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"ls","input":{"path":"."}}}"#,
        r#"{"type":"content_block_stop","index":4}"#,
        &end,
        STOP,
    ]);
    assert_eq!(played.done(), (StopReason::ToolUse, Some("tool_use")));
    assert_eq!(
        played.message().content,
        [
            thinking("hm", Some("abcd")),
            Block::Thinking {
                thinking: String::new(),
                thinking_signature: Some("secret".to_owned()),
                redacted: true
            },
            call("toolu_1", "read", json!({"path": "a"})),
            call("toolu_2", "ls", json!({"path": "."})),
        ]
    );
}

#[test]
fn reasons_to_stop() {
    for (word, reason) in [
        ("end_turn", StopReason::Stop),
        ("stop_sequence", StopReason::Stop),
        ("max_tokens", StopReason::Length),
        ("model_context_window_exceeded", StopReason::Length),
        ("tool_use", StopReason::ToolUse),
        (PAUSE_TURN, StopReason::Stop),
        ("something_new", StopReason::Stop),
    ] {
        let end = stop_for(word);
        assert_eq!(decode(&[START, TEXT, HELLO, CLOSE, &end, STOP]).done(), (reason, Some(word)));
    }
}

#[test]
fn refusals_keep_text_and_usage() {
    let end = r#"{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"explanation":"It is about locks."}},"usage":{"output_tokens":3}}"#;
    let played = decode(&[START, TEXT, HELLO, CLOSE, end, STOP]);
    assert_eq!(played.outcome, Err(DecodeError::Refused("It is about locks.".to_owned())));
    assert_eq!(played.usage().output, 3);
    assert_eq!(played.message().text(), "Hello");
    let sensitive = stop_for("sensitive");
    assert_eq!(decode(&[START, &sensitive]).outcome, Err(DecodeError::Refused("sensitive".to_owned())));
}

#[test]
fn streams_that_break() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let DecodeError::Reported(reported) = decode(&[START, error]).outcome.unwrap_err() else { panic!() };
    assert_eq!((reported.codes[0].as_str(), reported.message.as_str()), ("overloaded_error", "Overloaded"));
    assert_eq!(decode(&[]).outcome, Err(DecodeError::CutOff));
    let end = stop_for("end_turn");
    assert_eq!(decode(&[START, TEXT, HELLO, CLOSE, &end]).outcome, Err(DecodeError::CutOff));
    assert_eq!(decode(&[START, "}{not json"]).outcome, Err(DecodeError::Malformed));
    let cut = decode(&[START, TEXT, HELLO]);
    assert_eq!(cut.message().text(), "Hello");
}

#[test]
fn a_cut_call_is_marked() {
    let played = decode(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"pa"}}"#,
    ]);
    let message = played.message();
    let broken = message.tool_calls().next().unwrap();
    assert_eq!((broken.id.clone(), broken.malformed.as_deref()), (CallId::new("t"), Some("{\"pa")));
}

fn sent(request: &Request) -> Value {
    json_of(&exchange(request, "https://api.anthropic.com").unwrap().body)
}

fn claude() -> Model {
    let mut model = thinker(Dialect::AnthropicMessages, json!({}));
    model.reference.id = "claude-sonnet-4-5".to_owned();
    model
}

#[test]
fn a_whole_conversation() {
    let model = claude();
    let mut request = request(
        model.clone(),
        vec![
            user("hi"),
            assistant(
                &model,
                vec![
                    thinking("hm", Some("sig")),
                    thinking("unsigned", None),
                    Block::Thinking {
                        thinking: String::new(),
                        thinking_signature: Some("d".to_owned()),
                        redacted: true,
                    },
                    Block::text("let me look"),
                    call("a|b", "read", json!({"path": "x"})),
                    call("c", "ls", json!({})),
                ],
            ),
            result("a|b", vec![Block::text("one"), Block::text("two")]),
            result("c", vec![Block::text("see"), image()]),
        ],
    );
    request.tools = Arc::from([tool("read"), tool("ls")]);
    let mark = json!({"type": "ephemeral"});
    assert_eq!(
        sent(&request),
        json!({
            "model": "claude-sonnet-4-5",
            "max_tokens": 32000,
            "stream": true,
            "thinking": {"type": "disabled"},
            "tools": [
                {"name": "read", "description": "The read tool.", "input_schema": tool("read").parameters, "eager_input_streaming": true},
                {"name": "ls", "description": "The ls tool.", "input_schema": tool("ls").parameters, "eager_input_streaming": true, "cache_control": mark},
            ],
            "system": [{"type": "text", "text": "Be brief.", "cache_control": mark}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "sig"},
                    {"type": "text", "text": "unsigned"},
                    {"type": "redacted_thinking", "data": "d"},
                    {"type": "text", "text": "let me look"},
                    {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
                    {"type": "tool_use", "id": "c", "name": "ls", "input": {}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "one\ntwo"},
                    {"type": "tool_result", "tool_use_id": "c", "content": [
                        {"type": "text", "text": "see"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                    ], "cache_control": mark},
                ]},
            ],
        })
    );
}

#[test]
fn thinking_with_a_budget() {
    let mut model = claude();
    let mut request = request(model.clone(), vec![user("hi")]);
    let mut ask = |level, max_tokens, most| {
        model.max_tokens = most;
        request.model = Arc::new(model.clone());
        request.thinking = level;
        request.max_tokens = max_tokens;
        let body = sent(&request);
        (body["thinking"].clone(), body["max_tokens"].as_u64().unwrap())
    };
    let enabled = |budget| json!({"type": "enabled", "budget_tokens": budget});
    assert_eq!(ask(ThinkingLevel::Minimal, None, 64_000), (enabled(1024), 33_024));
    assert_eq!(ask(ThinkingLevel::High, None, 64_000), (enabled(16_384), 48_384));
    assert_eq!(ask(ThinkingLevel::High, Some(1_000), 64_000), (enabled(16_360), 17_384));
    assert_eq!(ask(ThinkingLevel::High, None, 4_096), (enabled(3_072), 4_096));
    assert_eq!(ask(ThinkingLevel::High, None, 2_000), (json!({"type": "disabled"}), 2_000));
    let headers = exchange(&request, "https://api.anthropic.com").unwrap().headers;
    assert!(headers.contains(&("anthropic-beta", "interleaved-thinking-2025-05-14".to_owned())));
}

#[test]
fn adaptive_thinking_has_an_effort() {
    let mut model = claude();
    model.reference.id = "claude-opus-4-7".to_owned();
    model.thinking_levels.insert(ThinkingLevel::Xhigh, Some("extra".to_owned()));
    let mut request = request(model, vec![user("hi")]);
    for (level, effort) in [
        (ThinkingLevel::Minimal, "low"),
        (ThinkingLevel::Low, "low"),
        (ThinkingLevel::Medium, "medium"),
        (ThinkingLevel::High, "high"),
        (ThinkingLevel::Xhigh, "extra"),
        (ThinkingLevel::Max, "max"),
    ] {
        request.thinking = level;
        let body = sent(&request);
        assert_eq!(body["thinking"], json!({"type": "adaptive", "display": "summarized"}));
        assert_eq!(body["output_config"], json!({ "effort": effort }));
        assert_eq!(body["max_tokens"], 32_000);
    }
    let headers = exchange(&request, "https://api.anthropic.com").unwrap().headers;
    assert_eq!(headers, [("anthropic-version", "2023-06-01".to_owned())]);
    request.thinking = ThinkingLevel::Off;
    assert_eq!(sent(&request)["thinking"], json!({"type": "disabled"}));
    assert_eq!(sent(&request)["output_config"], Value::Null);
}

#[test]
fn cache_lifetimes() {
    let mut request = request(claude(), vec![user("hi")]);
    request.tools = Arc::from([tool("read")]);
    let marks = |request: &Request, base_url| {
        let body = json_of(&exchange(request, base_url).unwrap().body);
        [
            body["system"][0]["cache_control"].clone(),
            body["tools"][0]["cache_control"].clone(),
            body["messages"][0]["content"][0]["cache_control"].clone(),
        ]
    };
    let anthropic = "https://api.anthropic.com";
    let all = |mark: Value| [mark.clone(), mark.clone(), mark];
    assert_eq!(marks(&request, anthropic), all(json!({"type": "ephemeral"})));
    request.cache = CacheRetention::Long;
    assert_eq!(marks(&request, anthropic), all(json!({"type": "ephemeral", "ttl": "1h"})));
    assert_eq!(marks(&request, "https://gateway.example.org"), all(json!({"type": "ephemeral"})));
    request.cache = CacheRetention::None;
    assert_eq!(marks(&request, anthropic), all(Value::Null));
}

#[test]
fn flags_of_relatives() {
    let compat = json!({
        "supportsEagerToolInputStreaming": false, "supportsCacheControlOnTools": false,
        "allowEmptySignature": true, "sendSessionAffinityHeaders": true, "forceAdaptiveThinking": true
    });
    let model = thinker(Dialect::AnthropicMessages, compat);
    let mut request = request(
        model.clone(),
        vec![user("hi"), assistant(&model, vec![thinking("hm", None), Block::text("a ")])],
    );
    request.tools = Arc::from([tool("read")]);
    let sent = exchange(&request, "https://relative.example.org/v1/").unwrap();
    assert_eq!(sent.path, "/messages");
    assert_eq!(
        sent.headers,
        [
            ("anthropic-version", "2023-06-01".to_owned()),
            ("anthropic-beta", "fine-grained-tool-streaming-2025-05-14".to_owned()),
            ("x-session-affinity", "session-1".to_owned()),
        ]
    );
    let body = json_of(&sent.body);
    assert_eq!(
        body["tools"],
        json!([{"name": "read", "description": "The read tool.", "input_schema": tool("read").parameters}])
    );
    // An answer at the end is to be continued: it must not end in a blank.
    assert_eq!(
        body["messages"][1]["content"],
        json!([{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": "a"}])
    );
}

#[test]
fn plain_models_and_empty_prompts() {
    let mut request = request(model(Dialect::AnthropicMessages), vec![user("hi")]);
    request.system = Arc::from(" ");
    request.cache = CacheRetention::None;
    assert_eq!(
        sent(&request),
        json!({
            "model": "test-model", "max_tokens": 32000, "stream": true,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        })
    );
    assert_eq!(exchange(&request, "https://api.anthropic.com").unwrap().path, "/v1/messages");
}

#[test]
fn the_same_history_gives_the_same_bytes() {
    let model = claude();
    let history = || {
        vec![
            user("hi"),
            assistant(&model, vec![call("odd:id", "read", json!({"b": 1, "a": 2}))]),
            result("odd:id", vec![]),
        ]
    };
    let body =
        |messages| exchange(&request(model.clone(), messages), "https://api.anthropic.com").unwrap().body;
    assert_eq!(body(history()), body(history()));
    let text = String::from_utf8(body(history())).unwrap();
    assert!(text.contains(r#"{"b":1,"a":2}"#), "arguments keep their order");
    let mut longer = history();
    longer.push(user("more"));
    let longer = String::from_utf8(body(longer)).unwrap();
    let mark = r#","cache_control":{"type":"ephemeral"}}]}]}"#;
    let prefix = text.strip_suffix(mark).expect("the mark is at the end");
    assert!(longer.starts_with(prefix));
}
