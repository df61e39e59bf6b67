//! What becomes part of the conversation: the history, the log, and the news of it.

use super::Session;
use crate::agent::view::CacheView;
use crate::llm::Model;
use crate::proto::entry::{EntryKind, EntryPatch};
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::EntryId;
use crate::proto::message::{
    AssistantMessage, Block, Message, SystemMessage, ToolCall, ToolResultMessage, UserMessage,
};
use crate::proto::tool::ToolOutput;
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Session {
    /// Writes prompt sections and tools into the log where they differ from what it declares.
    pub(super) fn declare_system(&mut self) {
        let declared = self.parts.declared.as_ref();
        let known = |name: &str| declared.and_then(|declared| declared.sections.get(name));
        let mut sections: Map<String, Value> = Map::new();
        for (name, text) in &self.parts.system.sections {
            if known(name).and_then(Value::as_str) != Some(text) {
                sections.insert((*name).to_owned(), Value::from(text.as_str()));
            }
        }
        let gone = declared.iter().flat_map(|declared| declared.sections.keys());
        for name in gone.filter(|name| !self.parts.system.sections.iter().any(|(have, _)| have == *name)) {
            sections.insert(name.clone(), Value::Null);
        }
        let specs = self.parts.tools.specs();
        let before = declared.map(|declared| declared.tools_added.as_slice()).unwrap_or_default();
        let added: Vec<_> = specs.iter().filter(|spec| !before.contains(spec)).cloned().collect();
        let removed: Vec<Value> = before
            .iter()
            .filter(|old| !specs.iter().any(|spec| spec.name == old.name))
            .map(|old| json!({"name": old.name}))
            .collect();
        if sections.is_empty() && added.is_empty() && removed.is_empty() {
            return;
        }
        self.parts.declared = Some(SystemMessage {
            content: String::new(),
            sections: self.parts.system.to_map(),
            tools_added: specs.to_vec(),
            tools_removed: Vec::new(),
            timestamp: 0,
        });
        let message = Arc::new(Message::System(SystemMessage {
            content: String::new(),
            sections,
            tools_added: added,
            tools_removed: removed,
            timestamp: now_millis(),
        }));
        let id = self.parts.log.fresh_id();
        self.announce(&id, &message);
        self.parts.log.append(id, EntryKind::Message { message }, jiff::Timestamp::now());
    }

    pub(super) fn record_user(&mut self, content: Vec<Block>) {
        if !self.parts.model.images && content.iter().any(|block| matches!(block, Block::Image { .. })) {
            self.notice(NoticeLevel::Warning, no_pictures(&self.parts.model));
        }
        let message = Arc::new(Message::User(UserMessage { content, timestamp: now_millis() }));
        let id = self.parts.log.fresh_id();
        self.record(id.clone(), message.clone());
        self.announce(&id, &message);
    }

    pub(super) fn record_assistant(&mut self, id: EntryId, message: Arc<AssistantMessage>) {
        self.parts.usage.add(&message.usage);
        let whole = Arc::new(Message::Assistant(AssistantMessage::clone(&message)));
        if message.usage.total_tokens > 0 {
            self.fill = Some(message.usage.total_tokens);
            self.cache = Some(CacheView { last_usage: message.usage, ended: now_millis() });
        }
        self.record(id.clone(), whole.clone());
        self.outbox.publish(AgentEvent::Entry { id, patch: EntryPatch::Finish(whole) });
    }

    pub(super) fn record_result(&mut self, call: &ToolCall, output: &ToolOutput, duration_ms: Option<u64>) {
        let result = ToolResultMessage {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            content: output.content.clone(),
            details: output.details.clone(),
            usage: output.usage,
            is_error: output.is_error,
            duration_ms,
            timestamp: now_millis(),
        };
        if let Some(usage) = &result.usage {
            self.parts.usage.add(usage);
        }
        if let Some(running) = &mut self.running {
            running.results.push(Arc::new(result.clone()));
        }
        let message = Arc::new(Message::ToolResult(result));
        let id = self.parts.log.fresh_id();
        self.record(id.clone(), message.clone());
        self.announce(&id, &message);
        self.hear_of_jobs(&message);
    }

    pub(super) fn record(&mut self, id: EntryId, message: Arc<Message>) {
        self.parts.counts.add(&message);
        self.parts.history.push(message.clone());
        self.parts.log.append(id, EntryKind::Message { message }, jiff::Timestamp::now());
    }

    /// Tells listeners of a message that came whole.
    pub(super) fn announce(&self, id: &EntryId, message: &Arc<Message>) {
        for patch in [EntryPatch::Start(message.clone()), EntryPatch::Finish(message.clone())] {
            self.outbox.publish(AgentEvent::Entry { id: id.clone(), patch });
        }
    }
}
/// Tokens in the model's window, as the last response tells; `None` when none has counted the conversation as it is.
pub(super) fn filled(history: &[Arc<Message>]) -> Option<u64> {
    // Responses that a summary kept were counted with all that it stands for.
    let since = match history.first().map(Arc::as_ref) {
        Some(Message::CompactionSummary(summary)) => Some(summary.timestamp),
        _ => None,
    };
    let answer = last_answer(history)?;
    since.is_none_or(|since| answer.timestamp >= since).then_some(answer.usage.total_tokens)
}

/// What the last request may have left in the provider's cache.
pub(super) fn cached(history: &[Arc<Message>]) -> Option<CacheView> {
    let answer = last_answer(history)?;
    let took = i64::try_from(answer.duration_ms.unwrap_or(0)).unwrap_or(0);
    Some(CacheView { last_usage: answer.usage, ended: answer.timestamp.saturating_add(took) })
}

/// The last response whose tokens are known.
fn last_answer(history: &[Arc<Message>]) -> Option<&AssistantMessage> {
    history.iter().rev().find_map(|message| match message.as_ref() {
        Message::Assistant(answer) if answer.usage.total_tokens > 0 => Some(answer),
        _ => None,
    })
}

/// What the user reads who sends a picture to a model that takes none.
fn no_pictures(model: &Model) -> String {
    let mut text = format!("{} takes no pictures: it gets the prompt without them.", model.reference);
    if model.unlisted {
        text.push_str(" If it does take them, list it in models.toml with `input = [\"text\", \"image\"]`.");
    }
    text
}

pub(super) fn now_millis() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
