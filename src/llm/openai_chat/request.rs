//! Bodies of Chat Completions requests.

use super::message::{CacheMark, Message, messages};
use super::options::options;
use crate::llm::call_ids::IdRule;
use crate::llm::compat::ChatCompat;
use crate::llm::convert::{Item, convert};
use crate::llm::wire::Schema;
use crate::llm::{CacheRetention, Request};
use serde::Serialize;
use serde_json::{Map, Value};

/// OpenAI takes call ids up to this length.
const CALL_ID_LIMIT: usize = 40;

/// The JSON body.
pub fn body(request: &Request, compat: &ChatCompat<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let ids = if compat.nine_character_ids { IdRule::Nine } else { IdRule::AtMost(CALL_ID_LIMIT) };
    let items = convert(&request.messages, &request.model, ids);
    let mark = mark(request.cache, compat);
    let has_results = items.iter().any(|item| matches!(item, Item::ToolResult(_)));
    let sends_tools = !request.tools.is_empty() || (compat.empty_tools_with_history && has_results);
    serde_json::to_vec(&Body {
        model: &request.model.reference.id,
        tools: sends_tools.then(|| tools(request, compat, mark)),
        messages: messages(request, &items, compat, mark),
        options: options(request, compat),
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Tool<'a>>>,
    messages: Vec<Message<'a>>,
    #[serde(flatten)]
    options: Map<String, Value>,
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheMark>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: Schema<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

fn tools<'a>(request: &'a Request, compat: &ChatCompat<'_>, mark: Option<CacheMark>) -> Vec<Tool<'a>> {
    let last = request.tools.len().saturating_sub(1);
    let tool = |(index, tool): (usize, &'a crate::proto::tool::ToolSpec)| Tool {
        kind: "function",
        function: Function {
            name: &tool.name,
            description: &tool.description,
            parameters: Schema(tool),
            // Our schemas have optional fields, which strict mode forbids.
            strict: compat.strict.then_some(false),
        },
        cache_control: mark.filter(|_| index == last),
    };
    request.tools.iter().enumerate().map(tool).collect()
}

fn mark(cache: CacheRetention, compat: &ChatCompat<'_>) -> Option<CacheMark> {
    if !compat.cache_marks {
        return None;
    }
    match cache {
        CacheRetention::None => None,
        CacheRetention::Short => Some(CacheMark { kind: "ephemeral", ttl: None }),
        CacheRetention::Long => Some(CacheMark { kind: "ephemeral", ttl: compat.long_cache.then_some("1h") }),
    }
}
