//! Parts of messages that the session keeps anyway: held in the message, not copied. The output of tools is most of a
//! long session, and what `write` was given comes next.

use super::item::BlockRef;
use crate::proto::ids::CallId;
use crate::proto::message::{Block, Message, ToolResultMessage};
use serde_json::{Map, Value};
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

static NO_ARGUMENTS: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

static NO_RESULT: LazyLock<ToolResultMessage> = LazyLock::new(|| ToolResultMessage {
    tool_call_id: CallId::new(""),
    tool_name: String::new(),
    content: Vec::new(),
    details: None,
    usage: None,
    is_error: false,
    duration_ms: None,
    timestamp: 0,
});

/// What a tool gave.
#[derive(Clone, Debug)]
pub enum Given {
    /// As it was told when the call ended; its message was not told yet.
    Told(Arc<ToolResultMessage>),
    /// The session's message; always [`Message::ToolResult`].
    Kept(Arc<Message>),
}

impl Given {
    /// What a message says that a tool gave. One with pictures is copied without their data: nobody draws them, and they
    /// must not be held for longer than the session wants them.
    pub(super) fn of(message: &Arc<Message>) -> Option<Self> {
        let Message::ToolResult(result) = &**message else { return None };
        if !result.content.iter().any(|block| matches!(block, Block::Image { .. })) {
            return Some(Self::Kept(message.clone()));
        }
        Some(Self::Told(Arc::new(ToolResultMessage {
            content: without_pictures(&result.content),
            tool_call_id: result.tool_call_id.clone(),
            tool_name: result.tool_name.clone(),
            details: result.details.clone(),
            usage: result.usage,
            ..*result
        })))
    }
}

impl Deref for Given {
    type Target = ToolResultMessage;

    fn deref(&self) -> &ToolResultMessage {
        match self {
            Self::Told(result) => result,
            Self::Kept(message) => match &**message {
                Message::ToolResult(result) => result,
                _ => &NO_RESULT,
            },
        }
    }
}

/// Content without the data of its pictures.
pub(super) fn without_pictures(content: &[Block]) -> Vec<Block> {
    let kept = content.iter().map(|block| match block {
        Block::Image { mime_type, .. } => Block::Image { data: String::new(), mime_type: mime_type.clone() },
        other => other.clone(),
    });
    kept.collect()
}

/// What a tool was called with.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// As they were told; the message of the call is not whole yet.
    Told(Map<String, Value>),
    /// Those of a call in the session's message.
    Kept(BlockRef),
}

impl Arguments {
    /// Where the session keeps them, once the message of the call is whole.
    pub const fn block(&self) -> Option<&BlockRef> {
        match self {
            Self::Told(_) => None,
            Self::Kept(block) => Some(block),
        }
    }

    /// About how many characters were written of them, for an estimate.
    pub fn chars(&self) -> usize {
        self.iter().map(|(key, value)| key.len() + value.as_str().map_or(8, str::len) + 4).sum()
    }
}

impl Deref for Arguments {
    type Target = Map<String, Value>;

    fn deref(&self) -> &Map<String, Value> {
        match self {
            Self::Told(arguments) => arguments,
            Self::Kept(block) => block.call().map_or(&NO_ARGUMENTS, |call| &call.arguments),
        }
    }
}
