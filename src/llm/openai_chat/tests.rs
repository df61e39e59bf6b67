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

fn decode(data: &[&str]) -> Played {
    play(ChatDecoder::new(true), data)
}

fn chunk(delta: &str) -> String {
    format!(r#"{{"id":"c1","model":"m-1","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}"#)
}

fn finish(reason: &str) -> String {
    format!(
        r#"{{"id":"c1","model":"m-1","choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#
    )
}

/// An answer of these deltas, with its reason to stop and its end.
fn answer(deltas: &[&str], reason: &str) -> Played {
    let mut data: Vec<String> = deltas.iter().map(|delta| chunk(delta)).collect();
    data.push(finish(reason));
    data.push("[DONE]".to_owned());
    decode(&data.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn text_usage_and_the_end() {
    let usage = r#"{"id":"c1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"completion_tokens_details":{"reasoning_tokens":5}}}"#;
    let played = decode(&[
        &chunk(r#"{"role":"assistant","content":""}"#),
        &chunk(r#"{"content":"Hel"}"#),
        &chunk(r#"{"content":"lo"}"#),
        &finish("stop"),
        usage,
        "[DONE]",
        "ignored after the end",
    ]);
    assert_eq!(
        played.events.first(),
        Some(&StreamEvent::Started {
            response_id: Some("c1".to_owned()),
            response_model: Some("m-1".to_owned())
        })
    );
    assert_eq!(played.message().content, [Block::text("Hello")]);
    assert_eq!(played.done(), (StopReason::Stop, Some("stop")));
    let usage = played.usage();
    assert_eq!((usage.input, usage.output, usage.cache_read, usage.cache_write), (30, 20, 60, 10));
    assert_eq!((usage.reasoning, usage.total_tokens), (Some(5), 120));
}

#[test]
fn usage_of_relatives() {
    for (usage, expected) in [
        (r#"{"prompt_tokens":50,"completion_tokens":5,"prompt_cache_hit_tokens":40}"#, (10, 5, 40)),
        (r#"{"prompt_tokens":50,"completion_tokens":5,"cached_tokens":8}"#, (42, 5, 8)),
        (
            r#"{"prompt_tokens":50,"completion_tokens":5,"total_tokens":62,"completion_tokens_details":{"reasoning_tokens":7}}"#,
            (50, 12, 0),
        ),
        (
            r#"{"prompt_tokens":50,"completion_tokens":9,"total_tokens":59,"completion_tokens_details":{"reasoning_tokens":7}}"#,
            (50, 9, 0),
        ),
        (
            r#"{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9}}"#,
            (0, 1, 9),
        ),
    ] {
        let last = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"stop","usage":{usage}}}]}}"#);
        let told = decode(&[&chunk(r#"{"content":"a"}"#), &last]).usage();
        assert_eq!((told.input, told.output, told.cache_read), expected, "{usage}");
    }
}

#[test]
fn thinking_remembers_its_field() {
    for field in REASONING_FIELDS {
        let thought = format!(r#"{{"content":"","{field}":"hm"}}"#);
        let played = answer(&[&thought, r#"{"content":"so"}"#], "stop");
        assert_eq!(played.message().content, [thinking("hm", Some(field)), Block::text("so")]);
    }
    // The first field that says something counts, and thinking may come back after text.
    let played = answer(
        &[
            r#"{"reasoning_content":"","reasoning":"a","reasoning_text":"b"}"#,
            r#"{"content":"x"}"#,
            r#"{"reasoning":"c"}"#,
        ],
        "stop",
    );
    assert_eq!(
        played.message().content,
        [thinking("a", Some("reasoning")), Block::text("x"), thinking("c", Some("reasoning"))]
    );
    let parts = r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"so"}]}"#;
    assert_eq!(
        answer(&[parts], "stop").message().content,
        [thinking("hm", Some("reasoning_content")), Block::text("so")]
    );
}

#[test]
fn calls_may_interleave() {
    let played = answer(
        &[
            r#"{"content":"look"}"#,
            r#"{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}]}"#,
            r#"{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"ls","arguments":"{\"p"}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}},{"index":1,"function":{"arguments":"\":1}"}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"\"x\"}"}}]}"#,
        ],
        "tool_calls",
    );
    assert_eq!(played.done(), (StopReason::ToolUse, Some("tool_calls")));
    assert_eq!(
        played.message().content,
        [Block::text("look"), call("a", "read", json!({"path": "x"})), call("b", "ls", json!({"p": 1}))]
    );
    let starts: Vec<usize> = played
        .events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::TextStart { index } | StreamEvent::ToolCallStart { index, .. } => Some(*index),
            _ => None,
        })
        .collect();
    assert_eq!(starts, [0, 1, 2]);
}

#[test]
fn arguments_in_many_forms() {
    let start = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":""}}]}"#;
    let more = |arguments: &str| {
        let arguments = serde_json::to_string(arguments).unwrap();
        format!(r#"{{"tool_calls":[{{"index":0,"function":{{"arguments":{arguments}}}}}]}}"#)
    };
    let arguments = |pieces: &[&str]| {
        let mut deltas = vec![start.to_owned()];
        deltas.extend(pieces.iter().map(|piece| more(piece)));
        let played = answer(&deltas.iter().map(String::as_str).collect::<Vec<_>>(), "tool_calls");
        let message = played.message();
        let call = message.tool_calls().next().unwrap().clone();
        (Value::Object(call.arguments), call.malformed)
    };
    assert_eq!(arguments(&[]), (json!({}), None));
    assert_eq!(arguments(&[r#"{"a":1}"#]), (json!({"a": 1}), None));
    assert_eq!(arguments(&[r#"{"a""#, ":1}", r#"{"a":1}"#]), (json!({"a": 1}), None));
    assert_eq!(arguments(&["{}", r#"{"a":1}"#]), (json!({"a": 1}), None));
    assert_eq!(arguments(&["{}", "{}"]), (json!({}), None));
    assert_eq!(arguments(&["{"]), (json!({}), Some("{".to_owned())));
    assert_eq!(arguments(&["[1]"]), (json!({}), Some("[1]".to_owned())));
    let object = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":{"a":1}}}]}"#;
    assert_eq!(answer(&[object], "tool_calls").message().content, [call("a", "read", json!({"a": 1}))]);
}

#[test]
fn calls_of_careless_servers() {
    // All under one index, with ids.
    let played = answer(
        &[
            r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}"#,
            r#"{"tool_calls":[{"index":0,"id":"b","function":{"name":"ls","arguments":"{}"}}]}"#,
        ],
        "stop",
    );
    assert_eq!(played.done().0, StopReason::ToolUse, "calls count more than the word");
    assert_eq!(played.message().content, [call("a", "read", json!({})), call("b", "ls", json!({}))]);
    // Neither index nor id.
    let played = answer(
        &[
            r#"{"tool_calls":[{"function":{"name":"read","arguments":"{\"a\":"}}]}"#,
            r#"{"tool_calls":[{"function":{"arguments":"1}"}}]}"#,
            r#"{"tool_calls":[{"function":{"name":"ls"}}]}"#,
        ],
        "tool_calls",
    );
    let message = played.message();
    let calls: Vec<_> = message.tool_calls().collect();
    assert_eq!(calls.len(), 2);
    assert_eq!((calls[0].name.as_str(), &calls[0].arguments["a"]), ("read", &json!(1)));
    assert!(calls[0].id.as_str().starts_with("call_") && calls[0].id != calls[1].id);
    // One id for all.
    let played = answer(
        &[
            r#"{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"{}"}}]}"#,
            r#"{"tool_calls":[{"index":1,"id":"x","function":{"name":"ls","arguments":"{}"}}]}"#,
        ],
        "tool_calls",
    );
    let message = played.message();
    let ids: Vec<_> = message.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!(ids[0], "x");
    assert_ne!(ids[1], "x");
    // Name and id come late.
    let played = answer(
        &[
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}"#,
            r#"{"tool_calls":[{"index":0,"id":"late","function":{"name":"read","arguments":"}"}}]}"#,
        ],
        "tool_calls",
    );
    assert_eq!(played.message().content, [call("late", "read", json!({}))]);
}

#[test]
fn encrypted_reasoning_belongs_to_its_call() {
    let detail = r#"{"type":"reasoning.encrypted","id":"a","data":"zz"}"#;
    let early = format!(r#"{{"reasoning_details":[{detail},{{"type":"reasoning.text","text":"t"}}]}}"#);
    let played = answer(
        &[&early, r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}"#],
        "tool_calls",
    );
    assert_eq!(played.message().tool_calls().next().unwrap().thought_signature.as_deref(), Some(detail));
}

#[test]
fn reasons_to_stop() {
    for (word, reason) in [
        ("stop", StopReason::Stop),
        ("end", StopReason::Stop),
        ("length", StopReason::Length),
        ("tool_calls", StopReason::Stop),
        ("eos", StopReason::Stop),
    ] {
        assert_eq!(answer(&[r#"{"content":"a"}"#], word).done(), (reason, Some(word)));
    }
    let with_call = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}]}"#;
    for (word, reason) in [
        ("tool_calls", StopReason::ToolUse),
        ("function_call", StopReason::ToolUse),
        ("length", StopReason::Length),
    ] {
        assert_eq!(answer(&[with_call], word).done().0, reason);
    }
    assert!(matches!(answer(&[], "content_filter").outcome, Err(DecodeError::Refused(_))));
    for word in ["network_error", "error"] {
        assert!(matches!(answer(&[], word).outcome, Err(DecodeError::Reported(_))));
    }
}

#[test]
fn streams_that_break() {
    let hello = chunk(r#"{"content":"Hello"}"#);
    assert_eq!(decode(&[]).outcome, Err(DecodeError::CutOff));
    assert_eq!(decode(&[&hello]).outcome, Err(DecodeError::CutOff));
    assert_eq!(decode(&[&hello, "[DONE]"]).outcome, Err(DecodeError::CutOff));
    assert_eq!(decode(&[&hello, "br}"]).outcome, Err(DecodeError::Malformed));
    // A stream that closes without `[DONE]` is whole once it said why it stopped.
    assert_eq!(decode(&[&hello, &finish("stop")]).done().0, StopReason::Stop);
    // A server that never says why is believed, but not when it said nothing at all.
    let silent = play(ChatDecoder::new(false), &[&hello]);
    assert_eq!(silent.done(), (StopReason::Stop, None));
    assert_eq!(play(ChatDecoder::new(false), &[]).outcome, Err(DecodeError::CutOff));
    for error in [
        r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"upstream is down"}}}"#,
        r#"{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"upstream is down"}}]}"#,
    ] {
        let DecodeError::Reported(reported) = decode(&[&hello, error]).outcome.unwrap_err() else { panic!() };
        assert_eq!((reported.status, reported.message.as_str()), (Some(502), "upstream is down"));
    }
}

const OPENAI: &str = "https://api.openai.com/v1";
const LOCAL: &str = "http://127.0.0.1:8080/v1";

fn sent(request: &Request, base_url: &str) -> Value {
    json_of(&exchange(request, base_url).unwrap().body)
}

fn with(compat: Value) -> Model {
    thinker(Dialect::OpenAiCompletions, compat)
}

#[test]
fn a_whole_conversation() {
    let model = with(json!({"supportsStrictMode": true}));
    let mut request = request(
        model.clone(),
        vec![
            user("hi"),
            assistant(
                &model,
                vec![
                    thinking("hm", Some("reasoning_content")),
                    thinking("unknown field", Some("other")),
                    Block::text("let me"),
                    Block::text("look"),
                    call("a", "read", json!({"path": "x"})),
                    call("b", "ls", json!({})),
                ],
            ),
            result("a", vec![Block::text("one"), image()]),
            result("b", vec![image()]),
            user("and?"),
        ],
    );
    request.tools = Arc::from([tool("read")]);
    request.thinking = ThinkingLevel::High;
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    assert_eq!(
        sent(&request, OPENAI),
        json!({
            "model": "test-model",
            "tools": [{"type": "function", "function": {
                "name": "read", "description": "The read tool.", "parameters": tool("read").parameters, "strict": false,
            }}],
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "let me\n\nlook", "reasoning_content": "hm", "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"x\"}"}},
                    {"id": "b", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": "a", "content": "one"},
                {"role": "tool", "tool_call_id": "b", "content": "(The picture follows in the next message.)"},
                {"role": "user", "content": [
                    {"type": "text", "text": "Pictures from the tool results above:"}, picture, picture,
                ]},
                {"role": "user", "content": "and?"},
            ],
            "stream": true,
            "stream_options": {"include_usage": true},
            "store": false,
            "max_completion_tokens": 32000,
            "prompt_cache_key": "session-1",
            "reasoning_effort": "high",
        })
    );
}

#[test]
fn a_local_server_gets_only_what_all_know() {
    let model = model(Dialect::OpenAiCompletions);
    let mut request = request(
        model.clone(),
        vec![user("hi"), assistant(&model, vec![call("a", "read", json!({}))]), result("a", vec![])],
    );
    request.thinking = ThinkingLevel::Off;
    assert_eq!(
        sent(&request, LOCAL),
        json!({
            "model": "test-model",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": "a", "content": "(no output)"},
            ],
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_tokens": 32000,
        })
    );
}

#[test]
fn flags_that_shape_the_history() {
    let model = with(json!({
        "requiresToolResultName": true, "requiresAssistantAfterToolResult": true,
        "requiresNonNullAssistantContent": true, "requiresToolsWithToolHistory": true,
        "requiresReasoningContentOnAssistantMessages": true
    }));
    let mut request = request(
        model.clone(),
        vec![
            user("hi"),
            assistant(&model, vec![call("a", "read", json!({}))]),
            result("a", vec![Block::text("x")]),
            user("go on"),
        ],
    );
    request.thinking = ThinkingLevel::High;
    let body = sent(&request, LOCAL);
    assert_eq!(body["tools"], json!([]));
    assert_eq!(body["messages"][2]["content"], "");
    assert_eq!(body["messages"][2]["reasoning_content"], "");
    assert_eq!(body["messages"][3]["name"], "read");
    assert_eq!(body["messages"][4]["role"], "assistant");
    assert_eq!(body["messages"][5], json!({"role": "user", "content": "go on"}));
}

#[test]
fn thinking_as_text() {
    let model = with(json!({"requiresThinkingAsText": true}));
    let messages =
        vec![user("hi"), assistant(&model, vec![thinking("hm", Some("reasoning")), Block::text("so")])];
    let body = sent(&request(model, messages), LOCAL);
    assert_eq!(
        body["messages"][2],
        json!({"role": "assistant", "content": "<thinking>\nhm\n</thinking>\n\nso"})
    );
}

#[test]
fn thinking_goes_back_under_the_servers_name() {
    for field in REASONING_FIELDS {
        let model = with(json!({}));
        let messages =
            vec![user("hi"), assistant(&model, vec![thinking("hm", Some(field)), Block::text("so")])];
        let body = sent(&request(model, messages), LOCAL);
        assert_eq!(body["messages"][2], json!({"role": "assistant", "content": "so", field: "hm"}));
    }
}

#[test]
fn encrypted_reasoning_goes_back() {
    let model = with(json!({}));
    let detail = json!({"type": "reasoning.encrypted", "id": "a", "data": "zz"});
    let mut with_detail = call("a", "read", json!({}));
    if let Block::ToolCall(call) = &mut with_detail {
        call.thought_signature = Some(detail.to_string());
    }
    let body = sent(&request(model.clone(), vec![user("hi"), assistant(&model, vec![with_detail])]), LOCAL);
    assert_eq!(body["messages"][2]["reasoning_details"], json!([detail]));
}

#[test]
fn thinking_formats() {
    let template = json!({
        "enable": {"$var": "thinking.enabled"}, "effort": {"$var": "thinking.effort"},
        "limits": {"budget": {"$var": "thinking.budget"}}, "fixed": 1
    });
    for (compat, level, expected) in [
        (json!({}), ThinkingLevel::Low, json!({"reasoning_effort": "low"})),
        (json!({}), ThinkingLevel::Off, json!({})),
        (json!({"supportsReasoningEffort": false}), ThinkingLevel::Low, json!({})),
        (
            json!({"thinkingFormat": "openrouter"}),
            ThinkingLevel::Low,
            json!({"reasoning": {"effort": "low"}}),
        ),
        (
            json!({"thinkingFormat": "openrouter"}),
            ThinkingLevel::Off,
            json!({"reasoning": {"effort": "none"}}),
        ),
        (
            json!({"thinkingFormat": "deepseek"}),
            ThinkingLevel::High,
            json!({"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ),
        (
            json!({"thinkingFormat": "deepseek"}),
            ThinkingLevel::Off,
            json!({"thinking": {"type": "disabled"}}),
        ),
        (
            json!({"thinkingFormat": "together", "supportsReasoningEffort": false}),
            ThinkingLevel::High,
            json!({"reasoning": {"enabled": true}}),
        ),
        (json!({"thinkingFormat": "zai"}), ThinkingLevel::High, json!({"thinking": {"type": "enabled"}})),
        (json!({"thinkingFormat": "qwen"}), ThinkingLevel::High, json!({"enable_thinking": true})),
        (
            json!({"thinkingFormat": "qwen", "supportsReasoningEffort": true}),
            ThinkingLevel::High,
            json!({"enable_thinking": true, "reasoning_effort": "high"}),
        ),
        (
            json!({"thinkingFormat": "qwen-chat-template"}),
            ThinkingLevel::Off,
            json!({"chat_template_kwargs": {"enable_thinking": false, "preserve_thinking": true}}),
        ),
        (
            json!({"thinkingFormat": "chat-template", "chatTemplateKwargs": template}),
            ThinkingLevel::Medium,
            json!({"chat_template_kwargs": {"enable": true, "effort": "medium", "limits": {"budget": 8192}, "fixed": 1}}),
        ),
        (
            json!({"thinkingFormat": "baseten", "chatTemplateArgs": template}),
            ThinkingLevel::Off,
            json!({"chat_template_args": {"enable": false, "limits": {}, "fixed": 1}}),
        ),
        (json!({"thinkingFormat": "string-thinking"}), ThinkingLevel::Low, json!({"thinking": "low"})),
        (json!({"thinkingFormat": "ant-ling"}), ThinkingLevel::Low, json!({})),
        (
            json!({"thinkingTokenBudgetField": "thinking_budget"}),
            ThinkingLevel::Low,
            json!({"reasoning_effort": "low", "thinking_budget": 2048}),
        ),
    ] {
        let mut request = request(with(compat.clone()), vec![user("hi")]);
        request.thinking = level;
        let Value::Object(mut body) = sent(&request, LOCAL) else { panic!() };
        for usual in ["model", "messages", "stream", "stream_options", "max_tokens"] {
            assert!(body.remove(usual).is_some());
        }
        assert_eq!(Value::Object(body), expected, "{compat} {level}");
    }
}

#[test]
fn a_word_for_no_thinking_is_sent() {
    let mut model = with(json!({}));
    model.thinking_levels.insert(ThinkingLevel::Off, Some("none".to_owned()));
    assert_eq!(sent(&request(model, vec![user("hi")]), LOCAL)["reasoning_effort"], "none");
}

#[test]
fn routing_and_other_fields() {
    let model = with(json!({
        "openRouterRouting": {"order": ["a"]}, "vercelGatewayRouting": {"only": ["b"]}, "vllmPriority": -3,
        "zaiToolStream": true, "supportsUsageInStreaming": false, "supportsStore": true
    }));
    let mut request = request(model, vec![user("hi")]);
    request.tools = Arc::from([tool("read")]);
    let body = sent(&request, LOCAL);
    assert_eq!(body["provider"], json!({"order": ["a"]}));
    assert_eq!(body["providerOptions"], json!({"gateway": {"only": ["b"]}}));
    assert_eq!((body["priority"].as_i64(), body["tool_stream"].as_bool()), (Some(-3), Some(true)));
    assert_eq!((&body["stream_options"], &body["store"]), (&Value::Null, &json!(false)));
    assert_eq!(body["tools"][0]["function"].get("strict"), None);
}

#[test]
fn cache_fields_and_headers() {
    let fields = |compat: Value, base_url: &str, cache| {
        let mut request = request(with(compat), vec![user("hi")]);
        request.cache = cache;
        request.session_id = "s".repeat(70);
        let sent = exchange(&request, base_url).unwrap();
        let body = json_of(&sent.body);
        let key = body["prompt_cache_key"].as_str().map(str::len);
        let names: Vec<&str> = sent.headers.iter().map(|(name, _)| *name).collect();
        (key, body["prompt_cache_retention"].as_str().map(str::to_owned), names.join(" "))
    };
    let day = Some("24h".to_owned());
    assert_eq!(fields(json!({}), OPENAI, CacheRetention::Short), (Some(64), None, String::new()));
    assert_eq!(fields(json!({}), OPENAI, CacheRetention::Long), (Some(64), day, String::new()));
    assert_eq!(fields(json!({}), OPENAI, CacheRetention::None), (None, None, String::new()));
    assert_eq!(fields(json!({}), LOCAL, CacheRetention::Long), (None, None, String::new()));
    let affinity = json!({"sendSessionAffinityHeaders": true, "promptCacheKeyMode": "enabled"});
    assert_eq!(
        fields(affinity.clone(), LOCAL, CacheRetention::Short),
        (Some(64), None, "session_id x-client-request-id x-session-affinity".to_owned())
    );
    assert_eq!(fields(affinity, LOCAL, CacheRetention::None).2, "");
    assert_eq!(fields(json!({}), "https://openrouter.ai/api/v1", CacheRetention::Short).2, "x-session-id");
}

#[test]
fn cache_marks_as_in_anthropic_messages() {
    let model = with(json!({"cacheControlFormat": "anthropic"}));
    let mut request = request(
        model.clone(),
        vec![
            user("hi"),
            assistant(&model, vec![call("a", "read", json!({}))]),
            result("a", vec![Block::text("x")]),
        ],
    );
    request.tools = Arc::from([tool("read"), tool("ls")]);
    let body = sent(&request, LOCAL);
    let mark = json!({"type": "ephemeral"});
    let marked = |text| json!([{"type": "text", "text": text, "cache_control": mark}]);
    assert_eq!(body["messages"][0]["content"], marked("Be brief."));
    assert_eq!(body["messages"][1]["content"], "hi");
    assert_eq!(body["messages"][3]["content"], marked("x"));
    assert_eq!(
        (&body["tools"][0]["cache_control"], &body["tools"][1]["cache_control"]),
        (&Value::Null, &mark)
    );
}

#[test]
fn ids_fit_the_provider() {
    let model = with(json!({}));
    let long = "x".repeat(60);
    let messages = || {
        vec![
            user("hi"),
            assistant(&model, vec![call(&long, "read", json!({}))]),
            result(&long, vec![Block::text("x")]),
        ]
    };
    for (base_url, fits) in [(OPENAI, 1..=40), ("https://api.mistral.ai/v1", 9..=9)] {
        let body = sent(&request(model.clone(), messages()), base_url);
        let id = body["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
        assert!(fits.contains(&id.len()), "{id}");
        assert_eq!(body["messages"][3]["tool_call_id"], id);
    }
}
