//! Models, endpoints and messages for the tests of this folder.

use super::assemble::Assembler;
use super::decode::{DecodeError, Decoder};
use super::endpoint::{Endpoint, KeyStyle};
use super::sse::Frame;
use super::{CacheRetention, Dialect, Model, Price, Request, StreamEvent};
use crate::proto::ids::CallId;
use crate::proto::message::{
    AssistantMessage, Block, Message, StopReason, ToolCall, ToolResultMessage, UserMessage,
};
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::proto::tool::ToolSpec;
use crate::proto::usage::Usage;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A model that takes pictures and does not think.
pub fn model(dialect: Dialect) -> Model {
    Model {
        reference: ModelRef::new("example", "test-model"),
        name: "Test".to_owned(),
        dialect,
        base_url: "https://api.example.org/v1".to_owned(),
        reasoning: false,
        thinking_levels: BTreeMap::new(),
        images: true,
        context_window: 100_000,
        max_tokens: 64_000,
        price: Price::default(),
        headers: BTreeMap::new(),
        compat: Map::new(),
        unlisted: false,
    }
}

/// A model that thinks, with this `compat`.
pub fn thinker(dialect: Dialect, compat: Value) -> Model {
    let mut model = model(dialect);
    model.reasoning = true;
    model.compat = match compat {
        Value::Object(compat) => compat,
        _ => Map::new(),
    };
    model
}

pub fn endpoint(base_url: &str) -> Endpoint {
    Endpoint {
        provider: "example".to_owned(),
        provider_name: "Example".to_owned(),
        base_url: base_url.to_owned(),
        key: None,
        key_variable: Some("EXAMPLE_API_KEY".to_owned()),
        key_style: KeyStyle::Dialect,
        headers: BTreeMap::new(),
    }
}

pub fn request(model: Model, messages: Vec<Message>) -> Request {
    Request {
        model: Arc::new(model),
        system: Arc::from("Be brief."),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::from([]),
        thinking: ThinkingLevel::Off,
        max_tokens: None,
        session_id: "session-1".to_owned(),
        cache: CacheRetention::Short,
        temperature: None,
    }
}

pub fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("The {name} tool."),
        parameters: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
    }
}

pub fn user(text: &str) -> Message {
    Message::User(UserMessage { content: vec![Block::text(text)], timestamp: 1 })
}

/// What this model said itself.
pub fn assistant(model: &Model, content: Vec<Block>) -> Message {
    let stop_reason = if content.iter().any(|block| matches!(block, Block::ToolCall(_))) {
        StopReason::ToolUse
    } else {
        StopReason::Stop
    };
    stopped(model, content, stop_reason)
}

pub fn stopped(model: &Model, content: Vec<Block>, stop_reason: StopReason) -> Message {
    Message::Assistant(AssistantMessage {
        content,
        api: model.dialect.as_str().to_owned(),
        provider: model.reference.provider.clone(),
        model: model.reference.id.clone(),
        response_model: None,
        usage: Usage::default(),
        stop_reason,
        error_message: None,
        timestamp: 2,
        response_id: None,
        raw_stop_reason: None,
        duration_ms: None,
        thinking_level: None,
    })
}

pub fn thinking(text: &str, signature: Option<&str>) -> Block {
    Block::Thinking {
        thinking: text.to_owned(),
        thinking_signature: signature.map(str::to_owned),
        redacted: false,
    }
}

pub fn call(id: &str, name: &str, arguments: Value) -> Block {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    Block::ToolCall(ToolCall {
        id: CallId::new(id),
        name: name.to_owned(),
        arguments,
        thought_signature: None,
        malformed: None,
    })
}

pub fn image() -> Block {
    Block::Image { data: "AAAA".to_owned(), mime_type: "image/png".to_owned() }
}

pub fn result(id: &str, content: Vec<Block>) -> Message {
    Message::ToolResult(ToolResultMessage {
        tool_call_id: CallId::new(id),
        tool_name: "read".to_owned(),
        content,
        details: None,
        usage: None,
        is_error: false,
        duration_ms: None,
        timestamp: 3,
    })
}

/// What a decoder made of a stream.
pub struct Played {
    pub events: Vec<StreamEvent>,
    pub outcome: Result<(), DecodeError>,
}

impl Played {
    /// The message that the events make up.
    pub fn message(&self) -> AssistantMessage {
        let mut assembler = Assembler::new(&model(Dialect::OpenAiCompletions), ThinkingLevel::Off, 0);
        for event in &self.events {
            assembler.push(event.clone());
        }
        assembler.finish()
    }

    /// The last event's reasons; panics when the stream was not whole.
    pub fn done(&self) -> (StopReason, Option<&str>) {
        assert_eq!(self.outcome, Ok(()));
        match self.events.last() {
            Some(StreamEvent::Done { reason, raw_reason }) => (*reason, raw_reason.as_deref()),
            other => panic!("not done: {other:?}"),
        }
    }

    /// The last usage that was told.
    pub fn usage(&self) -> Usage {
        let mut latest_first = self.events.iter().rev().filter_map(|event| match event {
            StreamEvent::Usage(usage) => Some(*usage),
            _ => None,
        });
        latest_first.next().expect("usage was told")
    }
}

/// Plays frames, each given as its data, and the end of the stream.
pub fn play(mut decoder: impl Decoder, data: &[&str]) -> Played {
    let mut events = Vec::new();
    let mut frames = data.iter().map(|data| Frame { event: String::new(), data: (*data).to_owned() });
    let fed = frames.try_for_each(|frame| decoder.frame(&frame, &mut events));
    let outcome = fed.and_then(|()| decoder.end(&mut events));
    Played { events, outcome }
}

/// A body as JSON.
pub fn json_of(body: &[u8]) -> Value {
    serde_json::from_slice(body).expect("a body is JSON")
}

/// Any message, also nonsensical ones, said by any of these models.
pub fn any_message(authors: &[Model]) -> impl Strategy<Value = Message> + use<> {
    let reason = prop::sample::select(vec![
        StopReason::Stop,
        StopReason::ToolUse,
        StopReason::Length,
        StopReason::Error,
        StopReason::Aborted,
    ]);
    let author = prop::sample::select(authors.to_vec());
    prop_oneof![
        "[ a-c]{0,3}".prop_map(|text| user(&text)),
        (author, any_content(), reason)
            .prop_map(|(author, content, reason)| stopped(&author, content, reason)),
        ("[ab|:]{0,3}", any_content()).prop_map(|(id, content)| result(&id, content)),
    ]
}

fn any_content() -> impl Strategy<Value = Vec<Block>> {
    let reasoning = r#"{"id":"rs","type":"reasoning","summary":[],"encrypted_content":"z"}"#;
    let signature = prop::sample::select(vec!["", "x", "reasoning", reasoning]);
    let block = prop_oneof![
        ("[ a-c]{0,3}", prop::option::of(Just(r#"{"v":1,"id":"msg_1"}"#))).prop_map(|(text, signature)| {
            Block::Text { text, text_signature: signature.map(str::to_owned) }
        }),
        ("[ a-c]{0,3}", prop::option::of(signature), any::<bool>()).prop_map(
            |(text, signature, redacted)| {
                Block::Thinking { thinking: text, thinking_signature: signature.map(str::to_owned), redacted }
            }
        ),
        "[ab|:]{0,3}".prop_map(|id| call(&id, "read", json!({"a": 1}))),
        "[ab]{1,2}".prop_map(|id| call(&format!("{id}|fc_{id}"), "ls", json!({}))),
        Just(image()),
        Just(Block::Unknown),
    ];
    prop::collection::vec(block, 0..5)
}
