//! Requests to OpenAI Responses.

use super::TextSignature;
use crate::llm::call_ids::{IdRule, hash};
use crate::llm::compat::{LongCache, ResponsesCompat};
use crate::llm::convert::{AssistantPart, Item, Part, ToolResult, convert, estimated_tokens, max_tokens};
use crate::llm::wire::{ArgumentText, DataUrl, Schema, affinity_headers, cache_key};
use crate::llm::{CacheRetention, Request, temperature, thinking};
use crate::proto::model::ThinkingLevel;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The longest id that the provider takes.
const ID_LIMIT: usize = 64;
/// The provider refuses less room than this.
const LEAST_MAX_TOKENS: u64 = 16;

/// The dialect's headers: affinity.
pub fn headers(request: &Request, compat: ResponsesCompat) -> Vec<(&'static str, String)> {
    if request.cache == CacheRetention::None {
        return Vec::new();
    }
    affinity_headers(compat.affinity, request.model.dialect, &request.session_id)
}

/// The JSON body.
pub fn body(request: &Request, compat: ResponsesCompat) -> Result<Vec<u8>, serde_json::Error> {
    let model = &request.model;
    let items = convert(&request.messages, model, IdRule::AtMost(ID_LIMIT));
    let room = max_tokens(model, request.max_tokens, estimated_tokens(request)).max(LEAST_MAX_TOKENS);
    let long = compat.long_cache.filter(|_| request.cache == CacheRetention::Long);
    let tools = request.tools.iter().map(|tool| Tool {
        kind: "function",
        name: &tool.name,
        description: &tool.description,
        parameters: Schema(tool),
        strict: false,
    });
    serde_json::to_vec(&Body {
        model: &model.reference.id,
        stream: true,
        store: false,
        temperature: temperature::of(request),
        tools: tools.collect(),
        include: model.reasoning.then_some(["reasoning.encrypted_content"]),
        reasoning: reasoning(request, compat),
        max_output_tokens: compat.max_output_tokens.then_some(room),
        prompt_cache_key: compat.sends_cache_key(request.cache).then(|| cache_key(&request.session_id)),
        prompt_cache_retention: (long == Some(LongCache::Retention)).then_some("24h"),
        prompt_cache_options: (long == Some(LongCache::Options)).then_some(CacheOptions { ttl: "30m" }),
        input: input(request, &items, compat),
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_retention: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_options: Option<CacheOptions>,
    input: Vec<InputItem<'a>>,
}

#[derive(Serialize)]
struct CacheOptions {
    ttl: &'static str,
}

#[derive(Serialize)]
struct Reasoning<'a> {
    effort: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: Schema<'a>,
    strict: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum InputItem<'a> {
    Said {
        role: &'static str,
        content: Content<'a>,
    },
    /// A message item as the provider made it.
    Message {
        #[serde(rename = "type")]
        kind: &'static str,
        id: Cow<'a, str>,
        role: &'static str,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
        content: [OutputText<'a>; 1],
    },
    /// A reasoning item as the provider made it.
    Reasoning(Map<String, Value>),
    Call {
        #[serde(rename = "type")]
        kind: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: &'a str,
        name: &'a str,
        arguments: ArgumentText<'a>,
    },
    Result {
        #[serde(rename = "type")]
        kind: &'static str,
        call_id: &'a str,
        output: Content<'a>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<ContentPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    InputText { text: &'a str },
    InputImage { detail: &'static str, image_url: DataUrl<'a> },
}

#[derive(Serialize)]
struct OutputText<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    annotations: [(); 0],
}

fn reasoning<'a>(request: &'a Request, compat: ResponsesCompat) -> Option<Reasoning<'a>> {
    let model = &request.model;
    if !model.reasoning || !compat.reasoning_effort {
        return None;
    }
    match request.thinking {
        // Only some models can be told not to think, and those say how.
        ThinkingLevel::Off => {
            thinking::own_word(model, ThinkingLevel::Off).map(|effort| Reasoning { effort, summary: None })
        }
        level => thinking::word(model, level).map(|effort| Reasoning { effort, summary: Some("auto") }),
    }
}

fn input<'i>(request: &'i Request, items: &'i [Item<'_>], compat: ResponsesCompat) -> Vec<InputItem<'i>> {
    let mut input = Vec::with_capacity(items.len() + 1);
    if !request.system.trim().is_empty() {
        let developer = compat.developer_role && request.model.reasoning;
        input.push(InputItem::Said {
            role: if developer { "developer" } else { "system" },
            content: Content::Text(Cow::Borrowed(&request.system)),
        });
    }
    for item in items {
        match item {
            Item::User(parts) => {
                input.push(InputItem::Said { role: "user", content: Content::Parts(content_parts(parts)) });
            }
            Item::Assistant { parts, own } => push_answer(&mut input, parts, *own),
            Item::ToolResult(result) => input.push(InputItem::Result {
                kind: "function_call_output",
                call_id: &result.call_id,
                output: output(result),
            }),
        }
    }
    input
}

/// A reasoning item goes back only together with what followed it, and an item that followed one goes back under its id
/// only together with it: the provider checks both.
fn push_answer<'i>(input: &mut Vec<InputItem<'i>>, parts: &'i [AssistantPart<'_>], own: bool) {
    let mut waiting = Vec::new();
    let mut keeps_ids = own;
    for part in parts {
        match part {
            AssistantPart::Thinking { signature, .. } => match signature.and_then(replayable) {
                Some(item) => waiting.push(InputItem::Reasoning(item)),
                None => keeps_ids = false,
            },
            AssistantPart::Text { text, signature } => {
                input.append(&mut waiting);
                let signature =
                    signature.filter(|_| keeps_ids).and_then(|json| serde_json::from_str(json).ok());
                input.push(said(text, signature));
            }
            AssistantPart::Call { id, original_id, name, arguments, signature: _ } => {
                input.append(&mut waiting);
                let item_id = original_id.split_once('|').map(|(_, item_id)| item_id);
                input.push(InputItem::Call {
                    kind: "function_call",
                    id: item_id.filter(|id| keeps_ids && id.starts_with("fc_") && id.len() <= ID_LIMIT),
                    call_id: id,
                    name,
                    arguments: ArgumentText(arguments),
                });
            }
        }
    }
}

fn said<'i>(text: &'i str, signature: Option<TextSignature>) -> InputItem<'i> {
    let Some(signature) = signature else {
        return InputItem::Said { role: "assistant", content: Content::Text(Cow::Borrowed(text)) };
    };
    let id = if signature.id.len() > ID_LIMIT {
        Cow::Owned(format!("msg_{:016x}", hash(&signature.id)))
    } else {
        Cow::Owned(signature.id)
    };
    InputItem::Message {
        kind: "message",
        id,
        role: "assistant",
        status: "completed",
        phase: signature.phase,
        content: [OutputText { kind: "output_text", text, annotations: [] }],
    }
}

/// A reasoning item that the provider can take back without having stored it.
fn replayable(signature: &str) -> Option<Map<String, Value>> {
    let mut item: Map<String, Value> = serde_json::from_str(signature).ok()?;
    let holds = |field| {
        item.get(field).is_some_and(|value: &Value| !value.is_null() && *value != Value::Array(Vec::new()))
    };
    if item.get("type").and_then(Value::as_str) != Some("reasoning")
        || !(holds("encrypted_content") || holds("content"))
    {
        return None;
    }
    item.shift_remove("status");
    Some(item)
}

fn content_parts<'i>(parts: &'i [Part<'_>]) -> Vec<ContentPart<'i>> {
    let part = |part: &'i Part<'_>| match part {
        Part::Text(text) => ContentPart::InputText { text },
        Part::Image { data, mime_type } => {
            ContentPart::InputImage { detail: "auto", image_url: DataUrl { mime_type, data } }
        }
    };
    parts.iter().map(part).collect()
}

fn output<'i>(result: &'i ToolResult<'_>) -> Content<'i> {
    if result.has_images() {
        Content::Parts(content_parts(&result.parts))
    } else {
        Content::Text(result.text())
    }
}
