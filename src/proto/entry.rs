//! Entries: one line of the session log each, and how a live one changes.

use super::ids::EntryId;
use super::message::{Block, Message, SystemMessage};
use super::usage::Usage;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// One line of the session log: a node of the conversation tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Unique in the log.
    pub id: EntryId,
    /// The entry before it; `None` for a root.
    pub parent_id: Option<EntryId>,
    /// ISO 8601, UTC.
    pub timestamp: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum EntryKind {
    /// A message of the conversation.
    Message {
        /// The message.
        message: Arc<Message>,
    },
    /// Another model from here on.
    ModelChange {
        /// Provider id.
        provider: String,
        /// Model id.
        model_id: String,
    },
    /// Another thinking level from here on.
    ThinkingLevelChange {
        /// The level's word.
        thinking_level: String,
    },
    /// Older entries are represented by a summary.
    Compaction {
        /// The summary.
        summary: String,
        /// First entry still sent as it is; this entry's own id for none.
        first_kept_entry_id: EntryId,
        /// Context size before.
        #[serde(default)]
        tokens_before: u64,
        /// Prompt and tools in force at this point.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        system_message: Option<Box<SystemMessage>>,
        /// What the summary cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Files read and changed, and whatever else the writer noted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
    },
    /// Summary of a branch that was left.
    BranchSummary {
        /// Leaf of that branch.
        #[serde(default)]
        from_id: Option<String>,
        /// The summary.
        summary: String,
        /// What the summary cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// Data of a program; not for models.
    Custom {
        /// Whose; ours begin with `mynah.`.
        custom_type: String,
        /// The data.
        #[serde(default)]
        data: Value,
    },
    /// A message of a program; user role for models.
    CustomMessage {
        /// Whose.
        custom_type: String,
        /// Text, or blocks.
        content: Value,
        /// Shown to the user.
        #[serde(default)]
        display: bool,
        /// Facts for front ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
    },
    /// A bookmark on an entry; without a label it is taken away.
    Label {
        /// The entry.
        target_id: EntryId,
        /// The mark.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// The session's name.
    SessionInfo {
        /// The name.
        #[serde(default)]
        name: String,
    },
    /// Model use that belongs to no message.
    Usage {
        /// What for.
        kind: String,
        /// Provider id.
        provider: String,
        /// Model id.
        model: String,
        /// Tokens and price.
        usage: Usage,
    },
    /// Later requests leave an entry out or send something else for it.
    ContextEdit {
        /// The entry.
        target_id: EntryId,
        /// New content; `null` leaves it out.
        #[serde(default)]
        replacement: Value,
    },
    /// A kind this version does not know, or one it could not read: kept as it is.
    #[serde(skip)]
    Unknown(Map<String, Value>),
}

/// How a live entry changes. Appends to the same block can be merged without loss.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryPatch {
    /// The entry begins. For streamed ones the message is still empty.
    Start(Arc<Message>),
    /// A block begins. For a call the arguments are still empty.
    Open {
        /// Place in the content.
        index: usize,
        /// What kind.
        block: Block,
    },
    /// Text for an open block: of the text, the thinking, or the argument JSON.
    Append {
        /// Place in the content.
        index: usize,
        /// What is new.
        delta: String,
        /// The response's usage so far.
        usage: Usage,
    },
    /// A block is whole; this is what counts.
    Close {
        /// Place in the content.
        index: usize,
        /// The block.
        block: Block,
        /// The response's usage so far.
        usage: Usage,
    },
    /// The entry is whole; this is what counts.
    Finish(Arc<Message>),
}
