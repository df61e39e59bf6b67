//! The part of a Chat Completions request in which its relatives differ: headers, limits, thinking, caching, routing.

use crate::llm::compat::{ChatCompat, ThinkingFormat};
use crate::llm::convert::{estimated_tokens, max_tokens};
use crate::llm::wire::{affinity_headers, cache_key};
use crate::llm::{CacheRetention, Model, Request, temperature, thinking};
use crate::proto::model::ThinkingLevel;
use serde_json::{Map, Value, json};

/// The dialect's headers: affinity.
pub fn headers(request: &Request, compat: &ChatCompat<'_>) -> Vec<(&'static str, String)> {
    if request.cache == CacheRetention::None {
        return Vec::new();
    }
    affinity_headers(compat.affinity, request.model.dialect, &request.session_id)
}

/// All fields beside model, messages and tools.
pub fn options(request: &Request, compat: &ChatCompat<'_>) -> Map<String, Value> {
    let mut options = Map::new();
    let mut set = |name: &str, value: Value| {
        options.insert(name.to_owned(), value);
    };
    set("stream", Value::Bool(true));
    if compat.usage_in_streaming {
        set("stream_options", json!({ "include_usage": true }));
    }
    if compat.store {
        set("store", Value::Bool(false));
    }
    let room = max_tokens(&request.model, request.max_tokens, estimated_tokens(request));
    set(compat.max_tokens_field, Value::from(room));
    if let Some(temperature) = temperature::of(request) {
        set("temperature", Value::from(temperature));
    }
    if compat.sends_cache_key(request.cache) {
        set("prompt_cache_key", Value::from(cache_key(&request.session_id)));
    }
    if request.cache == CacheRetention::Long && compat.long_cache && !compat.cache_marks {
        set("prompt_cache_retention", Value::from("24h"));
    }
    if compat.tool_stream && !request.tools.is_empty() {
        set("tool_stream", Value::Bool(true));
    }
    if let Some(routing) = compat.openrouter_routing {
        set("provider", Value::Object(routing.clone()));
    }
    if let Some(routing) = compat.vercel_routing {
        set("providerOptions", json!({ "gateway": routing }));
    }
    if let Some(priority) = compat.priority {
        set("priority", Value::from(priority));
    }
    options.extend(thinking_options(&request.model, request.thinking, compat));
    options
}

fn thinking_options(model: &Model, level: ThinkingLevel, compat: &ChatCompat<'_>) -> Map<String, Value> {
    let mut options = Map::new();
    let mut set = |name: &str, value: Value| {
        options.insert(name.to_owned(), value);
    };
    if !model.reasoning {
        // A template may hold fixed values that every request needs.
        if compat.thinking == ThinkingFormat::ChatTemplate
            && let Some(template) = compat.template_kwargs
        {
            set("chat_template_kwargs", filled(template, ThinkingLevel::Off, model));
        }
        return options;
    }
    let thinks = level != ThinkingLevel::Off;
    let word = if thinks { thinking::word(model, level) } else { thinking::own_word(model, level) };
    let on_off = |thinks: bool| if thinks { "enabled" } else { "disabled" };
    match compat.thinking {
        ThinkingFormat::OpenAi => {}
        ThinkingFormat::OpenRouter => set("reasoning", json!({ "effort": word.unwrap_or("none") })),
        ThinkingFormat::DeepSeek | ThinkingFormat::Zai => set("thinking", json!({ "type": on_off(thinks) })),
        ThinkingFormat::Together => set("reasoning", json!({ "enabled": thinks })),
        ThinkingFormat::Baseten => {
            if let Some(template) = compat.template_args {
                set("chat_template_args", filled(template, level, model));
            }
        }
        ThinkingFormat::Qwen => set("enable_thinking", Value::Bool(thinks)),
        ThinkingFormat::QwenChatTemplate => {
            set("chat_template_kwargs", json!({ "enable_thinking": thinks, "preserve_thinking": true }));
        }
        ThinkingFormat::ChatTemplate => {
            if let Some(template) = compat.template_kwargs {
                set("chat_template_kwargs", filled(template, level, model));
            }
        }
        ThinkingFormat::StringThinking => set("thinking", Value::from(word.unwrap_or("none"))),
        ThinkingFormat::AntLing => {
            if let Some(word) = thinking::own_word(model, level) {
                set("reasoning", json!({ "effort": word }));
            }
        }
    }
    let takes_effort = match compat.thinking {
        // Only here a word for `off` is sent as well: elsewhere the switch says it.
        ThinkingFormat::OpenAi => true,
        ThinkingFormat::DeepSeek
        | ThinkingFormat::Together
        | ThinkingFormat::Baseten
        | ThinkingFormat::Zai
        | ThinkingFormat::Qwen => thinks,
        ThinkingFormat::OpenRouter
        | ThinkingFormat::ChatTemplate
        | ThinkingFormat::QwenChatTemplate
        | ThinkingFormat::StringThinking
        | ThinkingFormat::AntLing => false,
    };
    if takes_effort
        && compat.reasoning_effort
        && let Some(word) = word
    {
        set("reasoning_effort", Value::from(word));
    }
    if let (Some(field), Some(budget)) = (compat.thinking_budget_field, thinking::budget(level)) {
        set(field, Value::from(budget));
    }
    options
}

/// A template with our values in place of its `{"$var": …}` objects. A value that there is none of is left out.
fn filled(template: &Map<String, Value>, level: ThinkingLevel, model: &Model) -> Value {
    let filled = template.iter().filter_map(|(key, value)| Some((key.clone(), fill(value, level, model)?)));
    Value::Object(filled.collect())
}

fn fill(value: &Value, level: ThinkingLevel, model: &Model) -> Option<Value> {
    let Value::Object(object) = value else { return Some(value.clone()) };
    match object.get("$var").and_then(Value::as_str) {
        Some("thinking.enabled") => Some(Value::Bool(level != ThinkingLevel::Off)),
        Some("thinking.effort") if level == ThinkingLevel::Off => {
            thinking::own_word(model, level).map(Value::from)
        }
        Some("thinking.effort") => thinking::word(model, level).map(Value::from),
        Some("thinking.budget") => thinking::budget(level).map(Value::from),
        Some(_) => None,
        None => Some(filled(object, level, model)),
    }
}
