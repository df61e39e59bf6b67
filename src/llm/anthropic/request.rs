//! Requests to Anthropic Messages.
//!
//! The body's bytes are the same for the same history: a message that is appended changes nothing before it but the cache
//! mark, which moves to the new end.

use crate::llm::call_ids::IdRule;
use crate::llm::compat::AnthropicCompat;
use crate::llm::convert::{AssistantPart, Item, Part, ToolResult, convert, estimated_tokens, max_tokens};
use crate::llm::wire::{Schema, affinity_headers};
use crate::llm::{CacheRetention, Request, temperature, thinking};
use crate::proto::model::ThinkingLevel;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

const VERSION: &str = "2023-06-01";
const INTERLEAVED_THINKING: &str = "interleaved-thinking-2025-05-14";
const FINE_GRAINED_TOOLS: &str = "fine-grained-tool-streaming-2025-05-14";

/// The smallest budget that the provider takes, and the room that is kept beside it for the answer.
const LEAST_BUDGET: u64 = 1024;

/// The dialect's headers: version, betas, affinity.
pub fn headers(request: &Request, base_url: &str) -> Vec<(&'static str, String)> {
    let compat = AnthropicCompat::of(&request.model, base_url);
    let mut betas = Vec::new();
    let thinks = request.model.reasoning && request.thinking != ThinkingLevel::Off;
    if thinks && !compat.adaptive_thinking {
        betas.push(INTERLEAVED_THINKING);
    }
    if !request.tools.is_empty() && !compat.eager_tool_input {
        betas.push(FINE_GRAINED_TOOLS);
    }
    let mut headers = vec![("anthropic-version", VERSION.to_owned())];
    if !betas.is_empty() {
        headers.push(("anthropic-beta", betas.join(",")));
    }
    if request.cache != CacheRetention::None {
        headers.extend(affinity_headers(compat.affinity, request.model.dialect, &request.session_id));
    }
    headers
}

/// The JSON body.
pub fn body(request: &Request, base_url: &str) -> Result<Vec<u8>, serde_json::Error> {
    let compat = AnthropicCompat::of(&request.model, base_url);
    let mark = mark(request.cache, compat);
    let (thinking, effort, max_tokens) = thinking(request, compat);
    let items = convert(&request.messages, &request.model, IdRule::AtMost(64));
    let mut messages = messages(&items, compat);
    mark_last_user_block(&mut messages, mark);
    trim_last_answer(&mut messages);
    let last_tool = request.tools.len().saturating_sub(1);
    let tools: Vec<Tool<'_>> = request
        .tools
        .iter()
        .enumerate()
        .map(|(index, tool)| Tool {
            name: &tool.name,
            description: &tool.description,
            input_schema: Schema(tool),
            eager_input_streaming: compat.eager_tool_input.then_some(true),
            cache_control: mark.filter(|_| index == last_tool && compat.cache_on_tools),
        })
        .collect();
    let system = (!request.system.trim().is_empty())
        .then(|| [SystemBlock { kind: "text", text: &request.system, cache_control: mark }]);
    serde_json::to_vec(&Body {
        model: &request.model.reference.id,
        max_tokens,
        stream: true,
        temperature: temperature::of(request),
        thinking,
        output_config: effort.map(|effort| OutputConfig { effort }),
        tools,
        system,
        messages,
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[SystemBlock<'a>; 1]>,
    messages: Vec<Message<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Thinking {
    Disabled,
    Enabled { budget_tokens: u64 },
    Adaptive { display: &'static str },
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    effort: &'a str,
}

#[derive(Clone, Copy, Serialize)]
struct Mark {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

#[derive(Serialize)]
struct SystemBlock<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: Schema<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    eager_input_streaming: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

#[derive(Serialize)]
#[serde(tag = "role", content = "content", rename_all = "lowercase")]
enum Message<'a> {
    User(Vec<Block<'a>>),
    Assistant(Vec<Block<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: &'a Map<String, Value>,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: ResultContent<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResultContent<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

#[derive(Serialize)]
struct Source<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    media_type: &'a str,
    data: &'a str,
}

const fn mark(cache: CacheRetention, compat: AnthropicCompat) -> Option<Mark> {
    let ttl = match cache {
        CacheRetention::None => return None,
        CacheRetention::Short => None,
        CacheRetention::Long => {
            if compat.long_cache {
                Some("1h")
            } else {
                None
            }
        }
    };
    Some(Mark { kind: "ephemeral", ttl })
}

/// How the model is told to think, with which effort, and the room for thinking and answer together.
fn thinking(request: &Request, compat: AnthropicCompat) -> (Option<Thinking>, Option<&str>, u64) {
    let model = &request.model;
    let input = estimated_tokens(request);
    let room = max_tokens(model, request.max_tokens, input);
    if !model.reasoning {
        return (None, None, room);
    }
    let Some(budget) = thinking::budget(request.thinking) else {
        return (Some(Thinking::Disabled), None, room);
    };
    if compat.adaptive_thinking {
        // The provider knows no `minimal`. Without `display`, newer models send their thinking unreadable.
        let effort = thinking::own_word(model, request.thinking).unwrap_or(match request.thinking {
            ThinkingLevel::Off | ThinkingLevel::Minimal | ThinkingLevel::Low => "low",
            ThinkingLevel::Medium => "medium",
            ThinkingLevel::High => "high",
            ThinkingLevel::Xhigh => "xhigh",
            ThinkingLevel::Max => "max",
        });
        return (Some(Thinking::Adaptive { display: "summarized" }), Some(effort), room);
    }
    // The budget counts as output: the answer keeps its room beside it.
    let room = max_tokens(model, Some(room.saturating_add(budget)), input);
    let budget = budget.min(room.saturating_sub(LEAST_BUDGET));
    if budget < LEAST_BUDGET {
        return (Some(Thinking::Disabled), None, room);
    }
    (Some(Thinking::Enabled { budget_tokens: budget }), None, room)
}

fn messages<'i>(items: &'i [Item<'_>], compat: AnthropicCompat) -> Vec<Message<'i>> {
    let mut messages: Vec<Message<'i>> = Vec::with_capacity(items.len());
    let mut in_results = false;
    for item in items {
        match item {
            Item::User(parts) => messages.push(Message::User(parts.iter().map(part).collect())),
            Item::Assistant { parts, own: _ } => {
                let blocks: Vec<_> = parts.iter().filter_map(|part| assistant_block(part, compat)).collect();
                messages.push(Message::Assistant(blocks));
            }
            // All results of an answer stand in one message, right after it.
            Item::ToolResult(result) => match messages.last_mut() {
                Some(Message::User(blocks)) if in_results => blocks.push(result_block(result)),
                _ => messages.push(Message::User(vec![result_block(result)])),
            },
        }
        in_results = matches!(item, Item::ToolResult(_));
    }
    messages
}

fn part<'i>(part: &'i Part<'_>) -> Block<'i> {
    match part {
        Part::Text(text) => Block::Text { text, cache_control: None },
        Part::Image { data, mime_type } => Block::Image {
            source: Source { kind: "base64", media_type: mime_type, data },
            cache_control: None,
        },
    }
}

fn assistant_block<'i>(part: &'i AssistantPart<'_>, compat: AnthropicCompat) -> Option<Block<'i>> {
    Some(match part {
        AssistantPart::Text { text, signature: _ } => Block::Text { text, cache_control: None },
        AssistantPart::Thinking { signature: Some(data), redacted: true, .. } => {
            Block::RedactedThinking { data }
        }
        AssistantPart::Thinking { redacted: true, .. } => return None,
        AssistantPart::Thinking { thinking, signature: Some(signature), .. } => {
            Block::Thinking { thinking, signature }
        }
        AssistantPart::Thinking { thinking, .. } if compat.empty_signature => {
            Block::Thinking { thinking, signature: "" }
        }
        // Thinking without a signature would be refused.
        AssistantPart::Thinking { thinking, .. } => Block::Text { text: thinking, cache_control: None },
        AssistantPart::Call { id, name, arguments, .. } => Block::ToolUse { id, name, input: arguments },
    })
}

fn result_block<'i>(result: &'i ToolResult<'_>) -> Block<'i> {
    let content = if result.has_images() {
        ResultContent::Blocks(result.parts.iter().map(part).collect())
    } else {
        ResultContent::Text(result.text())
    };
    Block::ToolResult {
        tool_use_id: &result.call_id,
        content,
        is_error: result.is_error,
        cache_control: None,
    }
}

fn mark_last_user_block(messages: &mut [Message<'_>], mark: Option<Mark>) {
    let last = messages.iter_mut().rev().find_map(|message| match message {
        Message::User(blocks) => blocks.last_mut(),
        Message::Assistant(_) => None,
    });
    match last {
        Some(
            Block::Text { cache_control, .. }
            | Block::Image { cache_control, .. }
            | Block::ToolResult { cache_control, .. },
        ) => *cache_control = mark,
        Some(Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::ToolUse { .. }) | None => {}
    }
}

/// An answer that is to be continued must not end in blanks.
fn trim_last_answer(messages: &mut [Message<'_>]) {
    if let Some(Message::Assistant(blocks)) = messages.last_mut()
        && let Some(Block::Text { text, .. }) = blocks.last_mut()
    {
        *text = text.trim_end();
    }
}
