//! History to the messages of Chat Completions.

use super::REASONING_FIELDS;
use crate::llm::Request;
use crate::llm::compat::ChatCompat;
use crate::llm::convert::{AssistantPart, Item, Part, ToolResult, joined};
use crate::llm::wire::{ArgumentText, DataUrl};
use crate::proto::model::ThinkingLevel;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

const PICTURES_FOLLOW: &str = "(The picture follows in the next message.)";
const PICTURES: &str = "Pictures from the tool results above:";
const BRIDGE: &str = "The tool results are in.";

/// A message on the wire.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Message<'a> {
    System {
        content: Content<'a>,
    },
    Developer {
        content: Content<'a>,
    },
    User {
        content: Content<'a>,
    },
    Assistant(Answer<'a>),
    Tool {
        tool_call_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
        content: Content<'a>,
    },
}

/// What a model said.
#[derive(Debug, Default, Serialize)]
pub struct Answer<'a> {
    content: Option<Content<'a>>,
    /// Thinking under the name that the server used for it.
    #[serde(flatten)]
    thoughts: Option<Thoughts<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasoning_details: Vec<Value>,
}

#[derive(Debug, Serialize)]
enum Thoughts<'a> {
    #[serde(rename = "reasoning_content")]
    AsContent(Cow<'a, str>),
    #[serde(rename = "reasoning")]
    Plain(Cow<'a, str>),
    #[serde(rename = "reasoning_text")]
    AsText(Cow<'a, str>),
}

#[derive(Debug, Serialize)]
struct Call<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Debug, Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: ArgumentText<'a>,
}

/// One string where it can be: arrays make some models answer in JSON.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<ContentPart<'a>>),
}

/// A part of a content.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentPart<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark>,
    },
    ImageUrl {
        image_url: ImageUrl<'a>,
    },
}

/// Where a picture is: inside the URL.
#[derive(Debug, Serialize)]
pub struct ImageUrl<'a> {
    url: DataUrl<'a>,
}

/// The prompt up to here is worth keeping.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CacheMark {
    #[serde(rename = "type")]
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<&'static str>,
}

/// The whole conversation, system prompt first.
pub fn messages<'i>(
    request: &'i Request,
    items: &'i [Item<'_>],
    compat: &ChatCompat<'_>,
    mark: Option<CacheMark>,
) -> Vec<Message<'i>> {
    let mut messages = Vec::with_capacity(items.len() + 1);
    if !request.system.trim().is_empty() {
        let mut content = Content::Text(Cow::Borrowed(&request.system));
        mark_content(&mut content, mark);
        let developer = compat.developer_role && request.model.reasoning;
        messages.push(if developer { Message::Developer { content } } else { Message::System { content } });
    }
    let thinks = request.model.reasoning && request.thinking != ThinkingLevel::Off;
    let mut items = items.iter().peekable();
    while let Some(item) = items.next() {
        match item {
            Item::User(parts) => {
                bridge(&mut messages, compat);
                messages.push(Message::User { content: content(parts) });
            }
            Item::Assistant { parts, own } => {
                messages.push(Message::Assistant(answer(
                    parts,
                    *own && !compat.thinking_as_text,
                    thinks,
                    compat,
                )));
            }
            Item::ToolResult(result) => {
                let mut pictures = pictures(result);
                messages.push(tool(result, compat));
                while let Some(Item::ToolResult(result)) = items.peek() {
                    pictures.extend(self::pictures(result));
                    messages.push(tool(result, compat));
                    items.next();
                }
                if !pictures.is_empty() {
                    bridge(&mut messages, compat);
                    let head = ContentPart::Text { text: Cow::Borrowed(PICTURES), cache_control: None };
                    pictures.insert(0, head);
                    messages.push(Message::User { content: Content::Parts(pictures) });
                }
            }
        }
    }
    if mark.is_some() {
        mark_last_text(&mut messages, mark);
    }
    messages
}

/// Some servers refuse a user message right after tool results.
fn bridge(messages: &mut Vec<Message<'_>>, compat: &ChatCompat<'_>) {
    if compat.assistant_after_tool_result && matches!(messages.last(), Some(Message::Tool { .. })) {
        let content = Some(Content::Text(Cow::Borrowed(BRIDGE)));
        messages.push(Message::Assistant(Answer { content, ..Answer::default() }));
    }
}

fn content<'i>(parts: &'i [Part<'_>]) -> Content<'i> {
    if parts.iter().all(|part| matches!(part, Part::Text(_))) {
        return Content::Text(joined(parts));
    }
    Content::Parts(parts.iter().map(part).collect())
}

fn part<'i>(part: &'i Part<'_>) -> ContentPart<'i> {
    match part {
        Part::Text(text) => ContentPart::Text { text: Cow::Borrowed(text), cache_control: None },
        Part::Image { data, mime_type } => {
            ContentPart::ImageUrl { image_url: ImageUrl { url: DataUrl { mime_type, data } } }
        }
    }
}

/// A tool message takes text only; its pictures go into a user message behind the batch.
fn tool<'i>(result: &'i ToolResult<'_>, compat: &ChatCompat<'_>) -> Message<'i> {
    let text = result.text();
    let text = if text.is_empty() { Cow::Borrowed(PICTURES_FOLLOW) } else { text };
    Message::Tool {
        tool_call_id: &result.call_id,
        name: compat.tool_result_name.then_some(result.tool_name),
        content: Content::Text(text),
    }
}

fn pictures<'i>(result: &'i ToolResult<'_>) -> Vec<ContentPart<'i>> {
    result.parts.iter().filter(|part| matches!(part, Part::Image { .. })).map(part).collect()
}

fn answer<'i>(
    parts: &'i [AssistantPart<'_>],
    replays_thinking: bool,
    thinks: bool,
    compat: &ChatCompat<'_>,
) -> Answer<'i> {
    let mut texts: Vec<Cow<'i, str>> = Vec::new();
    let mut thoughts: Vec<&str> = Vec::new();
    let mut field = None;
    let mut answer = Answer::default();
    for part in parts {
        match part {
            AssistantPart::Text { text, .. } => texts.push(Cow::Borrowed(text)),
            AssistantPart::Thinking { thinking, .. } if compat.thinking_as_text => {
                if !thinking.trim().is_empty() {
                    texts.push(Cow::Owned(format!("<thinking>\n{thinking}\n</thinking>")));
                }
            }
            AssistantPart::Thinking { thinking, signature, .. } if replays_thinking => {
                let known = REASONING_FIELDS.into_iter().find(|field| Some(*field) == *signature);
                if let Some(known) = known {
                    field = Some(known);
                    thoughts.push(thinking);
                }
            }
            AssistantPart::Thinking { .. } => {}
            AssistantPart::Call { id, original_id: _, name, arguments, signature } => {
                let function = Function { name, arguments: ArgumentText(arguments) };
                answer.tool_calls.push(Call { id, kind: "function", function });
                // The id inside names the call as the provider does; the rule of ids may have changed ours.
                let detail = signature
                    .and_then(|signature| serde_json::from_str::<Map<String, Value>>(signature).ok());
                answer.reasoning_details.extend(detail.map(Value::Object));
            }
        }
    }
    answer.content = match texts.len() {
        0 => compat.non_null_content.then_some(Content::Text(Cow::Borrowed(""))),
        1 => texts.pop().map(Content::Text),
        _ => Some(Content::Text(Cow::Owned(texts.join("\n\n")))),
    };
    answer.thoughts = match field {
        Some(field) => Some(named(field, &thoughts)),
        None => (compat.reasoning_content && thinks).then_some(Thoughts::AsContent(Cow::Borrowed(""))),
    };
    answer
}

fn named<'i>(field: &str, thoughts: &[&'i str]) -> Thoughts<'i> {
    let text = match thoughts {
        [only] => Cow::Borrowed(*only),
        several => Cow::Owned(several.join("\n")),
    };
    match field {
        "reasoning" => Thoughts::Plain(text),
        "reasoning_text" => Thoughts::AsText(text),
        _ => Thoughts::AsContent(text),
    }
}

fn mark_last_text(messages: &mut [Message<'_>], mark: Option<CacheMark>) {
    for message in messages.iter_mut().rev() {
        let content = match message {
            Message::System { .. } | Message::Developer { .. } => return,
            Message::User { content } | Message::Tool { content, .. } => Some(content),
            Message::Assistant(answer) => answer.content.as_mut(),
        };
        if content.is_some_and(|content| mark_content(content, mark)) {
            return;
        }
    }
}

/// Marks the last text of a content; a mark needs the form with parts. False when there is no text.
fn mark_content(content: &mut Content<'_>, mark: Option<CacheMark>) -> bool {
    if mark.is_none() {
        return false;
    }
    match content {
        Content::Text(text) if text.is_empty() => false,
        Content::Text(text) => {
            let text = std::mem::take(text);
            *content = Content::Parts(vec![ContentPart::Text { text, cache_control: mark }]);
            true
        }
        Content::Parts(parts) => {
            let last = parts.iter_mut().rev().find_map(|part| match part {
                ContentPart::Text { cache_control, .. } => Some(cache_control),
                ContentPart::ImageUrl { .. } => None,
            });
            last.is_some_and(|last| {
                *last = mark;
                true
            })
        }
    }
}
