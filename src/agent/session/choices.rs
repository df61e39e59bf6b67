//! What the user chooses: model, thinking level, mode and name.

use super::Session;
use crate::llm::thinking;
use crate::proto::ask::PermissionMode;
use crate::proto::entry::EntryKind;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::model::{ModelRef, ThinkingLevel};

impl Session {
    pub(super) fn set_model(&mut self, model: &ModelRef) {
        match self.parts.models.resolve(model) {
            Ok((model, provider)) => {
                self.parts.provider = provider;
                self.outbox.publish(AgentEvent::ModelChanged(model.reference.clone()));
                self.parts.model = model;
                self.set_thinking(self.parts.thinking);
            }
            Err(error) => self.notice(
                NoticeLevel::Error,
                format!("{} The model stays {}.", error.message, self.parts.model.reference),
            ),
        }
    }

    pub(super) fn set_thinking(&mut self, level: ThinkingLevel) {
        let level = thinking::clamp(&self.parts.model, level);
        if level != self.parts.thinking {
            self.parts.thinking = level;
            self.outbox.publish(AgentEvent::ThinkingChanged(level));
        }
    }

    /// Which levels there are is the model's matter, so the one after the present one is found here.
    pub(super) fn next_thinking(&mut self) {
        let levels = thinking::offered(&self.parts.model);
        let next = levels.iter().find(|level| **level > self.parts.thinking).or(levels.first());
        if let Some(next) = next.copied() {
            self.set_thinking(next);
        }
    }

    pub(super) fn set_mode(&mut self, mode: PermissionMode) {
        if mode != self.parts.mode {
            self.parts.mode = mode;
            self.outbox.publish(AgentEvent::ModeChanged(mode));
        }
    }

    pub(super) fn rename(&mut self, name: String) {
        self.name = Some(name.clone());
        self.outbox.publish(AgentEvent::Renamed(name));
        if self.parts.log.leaf().is_some() {
            self.declare_choices();
        }
    }

    /// Writes model, level and name into the log where they differ from what it says.
    pub(super) fn declare_choices(&mut self) {
        let model = self.parts.model.reference.clone();
        if self.parts.logged.model.as_ref() != Some(&model) {
            self.parts.logged.model = Some(model.clone());
            self.log(EntryKind::ModelChange { provider: model.provider, model_id: model.id });
        }
        let thinking = self.parts.thinking;
        if self.parts.logged.thinking != Some(thinking) {
            self.parts.logged.thinking = Some(thinking);
            self.log(EntryKind::ThinkingLevelChange { thinking_level: thinking.as_str().to_owned() });
        }
        if self.name != self.parts.logged.name
            && let Some(name) = self.name.clone()
        {
            self.parts.logged.name = Some(name.clone());
            self.log(EntryKind::SessionInfo { name });
        }
    }
}
