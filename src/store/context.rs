//! What a branch means for the next request: messages, model, prompt in force.
//!
//! The rules are those of Pi, so that both programs send the same conversation for the same file:
//! the newest compaction on the branch stands first, then what it kept, then what came after it; older compactions in
//! the kept part say nothing; edits replace or leave out single messages; system messages are folded, from the
//! checkpoint of the compaction on where there is one.

use super::line::millis;
use crate::proto::compaction::CompactionFacts;
use crate::proto::entry::{Entry, EntryKind};
use crate::proto::ids::EntryId;
use crate::proto::message::{
    Block, BranchSummaryMessage, CompactionSummaryMessage, CustomMessage, Message, Millis, SystemMessage,
};
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::proto::usage::{Counts, Usage};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// What a branch means for the next request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// The conversation, oldest first, each with the entry it comes from. No system messages: see `system`.
    pub messages: Vec<(EntryId, Arc<Message>)>,
    /// The model in use at the end of the branch.
    pub model: Option<ModelRef>,
    /// The thinking level in use at the end of the branch; `None` when none was written, or an unknown word.
    pub thinking: Option<ThinkingLevel>,
    /// The session's name: the last one in the whole file.
    pub name: Option<String>,
    /// What the whole file cost, abandoned branches and summaries included.
    pub usage: Usage,
    /// What happened in the whole file, abandoned branches included.
    pub counts: Counts,
    /// Prompt sections and tools in force; `None` when the branch declares none.
    pub system: Option<SystemMessage>,
}

impl Context {
    /// The context of a branch (root first) in a file of these entries.
    pub(super) fn of(path: &[&Entry], all: &[Entry]) -> Self {
        let mut context =
            Self { name: name_of(all), usage: usage_of(all), counts: counts_of(all), ..Self::default() };
        for entry in path {
            context.note_state(&entry.kind);
        }
        let selected = select(path);
        let edits: HashMap<&EntryId, &Value> =
            selected.iter().filter_map(|entry| edit_of(&entry.kind)).collect();
        for (index, entry) in selected.iter().enumerate() {
            // A compaction that is not the first was inside the part that a newer one kept.
            if index > 0 && matches!(entry.kind, EntryKind::Compaction { .. }) {
                continue;
            }
            if let Some(change) = system_of(&entry.kind) {
                fold_system(context.system.get_or_insert_with(|| empty_system(change.timestamp)), change);
            }
            let message = message_of(entry).and_then(|message| match edits.get(&entry.id) {
                Some(replacement) => edited(message, replacement),
                None => Some(message),
            });
            context.messages.extend(message.map(|message| (entry.id.clone(), message)));
        }
        context
    }

    fn note_state(&mut self, kind: &EntryKind) {
        match kind {
            EntryKind::ModelChange { provider, model_id } => {
                self.model = Some(ModelRef::new(provider, model_id));
            }
            EntryKind::ThinkingLevelChange { thinking_level } => {
                self.thinking = thinking_level.parse().ok();
            }
            EntryKind::Message { message } => {
                if let Message::Assistant(answer) = &**message
                    && !answer.provider.is_empty()
                    && !answer.model.is_empty()
                {
                    self.model = Some(ModelRef::new(&answer.provider, &answer.model));
                }
            }
            EntryKind::Compaction { .. }
            | EntryKind::BranchSummary { .. }
            | EntryKind::Custom { .. }
            | EntryKind::CustomMessage { .. }
            | EntryKind::Label { .. }
            | EntryKind::SessionInfo { .. }
            | EntryKind::Usage { .. }
            | EntryKind::ContextEdit { .. }
            | EntryKind::Unknown(_) => {}
        }
    }
}

/// The entries that count: all of them, or the newest compaction, what it kept, and what came after it.
fn select<'a>(path: &[&'a Entry]) -> Vec<&'a Entry> {
    let newest = path.iter().enumerate().rev().find_map(|(at, entry)| {
        let EntryKind::Compaction { first_kept_entry_id, .. } = &entry.kind else { return None };
        Some((at, first_kept_entry_id))
    });
    let Some((at, first_kept)) = newest else { return path.to_vec() };
    let (before, rest) = path.split_at(at);
    let (compaction, after) = rest.split_at(1);
    let kept = before.iter().skip_while(|entry| entry.id != *first_kept);
    let kept = kept.filter(|entry| !is_system(&entry.kind));
    compaction.iter().chain(kept).chain(after).copied().collect()
}

fn is_system(kind: &EntryKind) -> bool {
    matches!(kind, EntryKind::Message { message } if matches!(**message, Message::System(_)))
}

const fn edit_of(kind: &EntryKind) -> Option<(&EntryId, &Value)> {
    let EntryKind::ContextEdit { target_id, replacement } = kind else { return None };
    Some((target_id, replacement))
}

/// What an entry says in the conversation.
fn message_of(entry: &Entry) -> Option<Arc<Message>> {
    let timestamp = millis(&entry.timestamp);
    Some(match &entry.kind {
        EntryKind::Message { .. } if is_system(&entry.kind) => return None,
        EntryKind::Message { message } => Arc::clone(message),
        EntryKind::Compaction { summary, tokens_before, usage, details, .. } => {
            let mut facts = CompactionFacts::of_details(details.as_ref());
            // A price of nothing is one that nobody knows.
            let cost = usage.as_ref().map(|usage| usage.cost.total).filter(|cost| *cost > 0.0);
            facts.cost = facts.cost.or(cost);
            Arc::new(Message::CompactionSummary(CompactionSummaryMessage {
                summary: summary.clone(),
                tokens_before: *tokens_before,
                facts,
                timestamp,
            }))
        }
        EntryKind::BranchSummary { from_id, summary, .. } if !summary.is_empty() => {
            Arc::new(Message::BranchSummary(BranchSummaryMessage {
                summary: summary.clone(),
                from_id: from_id.clone(),
                timestamp,
            }))
        }
        EntryKind::CustomMessage { custom_type, content, display, details } => {
            Arc::new(Message::Custom(CustomMessage {
                custom_type: custom_type.clone(),
                content: blocks_of(content).unwrap_or_default(),
                display: *display,
                details: details.clone(),
                timestamp,
            }))
        }
        EntryKind::BranchSummary { .. }
        | EntryKind::ModelChange { .. }
        | EntryKind::ThinkingLevelChange { .. }
        | EntryKind::Custom { .. }
        | EntryKind::Label { .. }
        | EntryKind::SessionInfo { .. }
        | EntryKind::Usage { .. }
        | EntryKind::ContextEdit { .. }
        | EntryKind::Unknown(_) => return None,
    })
}

/// Content as the format writes it: a text, or blocks. `None` for anything else.
fn blocks_of(content: &Value) -> Option<Vec<Block>> {
    match content {
        Value::String(text) => Some(vec![Block::text(text)]),
        Value::Array(_) => Vec::deserialize(content).ok(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// A message after an edit. `null` leaves it out; an edit that can't be read, or of a role that has no content, changes
/// nothing.
fn edited(message: Arc<Message>, replacement: &Value) -> Option<Arc<Message>> {
    if replacement.is_null() {
        return None;
    }
    let Some(new) = blocks_of(replacement.get("content").unwrap_or(replacement)) else {
        return Some(message);
    };
    let mut message = Arc::unwrap_or_clone(message);
    match &mut message {
        Message::User(user) => user.content = new,
        Message::Assistant(answer) => answer.content = new,
        Message::ToolResult(result) => result.content = new,
        Message::Custom(custom) => custom.content = new,
        Message::System(_)
        | Message::BashExecution(_)
        | Message::BranchSummary(_)
        | Message::CompactionSummary(_) => {}
    }
    Some(Arc::new(message))
}

/// Prompt and tools that a kind of entry declares or changes.
fn system_of(kind: &EntryKind) -> Option<&SystemMessage> {
    if let EntryKind::Compaction { system_message, .. } = kind {
        return system_message.as_deref();
    }
    let EntryKind::Message { message } = kind else { return None };
    if let Message::System(system) = &**message { Some(system) } else { None }
}

/// Applies a change of prompt and tools to what was in force.
fn fold_system(folded: &mut SystemMessage, change: &SystemMessage) {
    if !change.content.is_empty() {
        if !folded.content.is_empty() {
            folded.content.push_str("\n\n");
        }
        folded.content.push_str(&change.content);
    }
    for (name, value) in &change.sections {
        if value.is_null() {
            // Not `remove`: it would move the last section into the gap, and the order is part of the prompt.
            folded.sections.shift_remove(name);
        } else {
            folded.sections.insert(name.clone(), value.clone());
        }
    }
    for removed in &change.tools_removed {
        let name = removed.get("name").and_then(Value::as_str);
        folded.tools_added.retain(|tool| Some(tool.name.as_str()) != name);
    }
    for added in &change.tools_added {
        match folded.tools_added.iter_mut().find(|tool| tool.name == added.name) {
            Some(tool) => *tool = added.clone(),
            None => folded.tools_added.push(added.clone()),
        }
    }
}

fn empty_system(timestamp: Millis) -> SystemMessage {
    SystemMessage {
        content: String::new(),
        sections: Map::new(),
        tools_added: Vec::new(),
        tools_removed: Vec::new(),
        timestamp,
    }
}

fn name_of(all: &[Entry]) -> Option<String> {
    let name = all.iter().rev().find_map(|entry| {
        let EntryKind::SessionInfo { name } = &entry.kind else { return None };
        Some(name.trim())
    })?;
    (!name.is_empty()).then(|| name.to_owned())
}

fn usage_of(all: &[Entry]) -> Usage {
    let mut sum = Usage::default();
    for entry in all {
        if let Some(usage) = usage_in(&entry.kind) {
            sum.add(usage);
        }
    }
    sum
}

fn counts_of(all: &[Entry]) -> Counts {
    let mut counts = Counts::default();
    for entry in all {
        if let EntryKind::Message { message } = &entry.kind {
            counts.add(message);
        }
    }
    counts
}

fn usage_in(kind: &EntryKind) -> Option<&Usage> {
    match kind {
        EntryKind::Message { message } => match &**message {
            Message::Assistant(answer) => Some(&answer.usage),
            Message::ToolResult(result) => result.usage.as_ref(),
            Message::System(_)
            | Message::User(_)
            | Message::BashExecution(_)
            | Message::Custom(_)
            | Message::BranchSummary(_)
            | Message::CompactionSummary(_) => None,
        },
        EntryKind::Compaction { usage, .. } | EntryKind::BranchSummary { usage, .. } => usage.as_ref(),
        EntryKind::Usage { usage, .. } => Some(usage),
        EntryKind::ModelChange { .. }
        | EntryKind::ThinkingLevelChange { .. }
        | EntryKind::Custom { .. }
        | EntryKind::CustomMessage { .. }
        | EntryKind::Label { .. }
        | EntryKind::SessionInfo { .. }
        | EntryKind::ContextEdit { .. }
        | EntryKind::Unknown(_) => None,
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
