//! What front ends see: the published view, and what is told beside it.

use super::Session;
use super::shell::Shell;
use crate::agent::queue::Row;
use crate::agent::view::{ContextFill, QueuedView, RunningView, SessionView, SteeringView};
use crate::proto::event::{AgentEvent, NoticeLevel};
use std::sync::Arc;
use std::time::Instant;

impl Session {
    pub(super) fn notice(&self, level: NoticeLevel, text: String) {
        self.outbox.publish(AgentEvent::Notice { level, text });
    }

    pub(super) fn announce_queue(&self) {
        let queue = self.queue.snapshot();
        self.outbox.publish(AgentEvent::QueueChanged {
            steering: queue.steering.iter().map(Row::text).collect(),
            waiting: queue.waiting.iter().map(Row::text).collect(),
        });
    }

    pub(super) fn publish(&self) {
        let snapshot = self.snapshot();
        if let Some(view) = &self.view {
            view.send_if_modified(|view| {
                let changed = **view != snapshot;
                if changed {
                    *view = Arc::new(snapshot);
                }
                changed
            });
        }
    }

    pub(super) fn snapshot(&self) -> SessionView {
        let parts = &self.parts;
        let queue = self.queue.snapshot();
        let now = Instant::now();
        SessionView {
            id: parts.log.header().id.clone(),
            name: self.name.clone(),
            file: parts.log.path().map(std::path::Path::to_owned),
            cwd: parts.workshop.cwd.clone(),
            model: parts.model.reference.clone(),
            model_name: parts.model.name.clone(),
            thinking: parts.thinking,
            mode: parts.mode,
            running: self.running.as_ref().map(|running| RunningView {
                turn: running.turn,
                ticket: running.ticket,
                round: running.fsm.round(),
                since: running.since,
            }),
            queue: queue
                .waiting
                .iter()
                .map(|row| QueuedView {
                    ticket: row.ticket,
                    version: row.version,
                    text: row.short(),
                    prompt: row.prompt.clone(),
                    held: queue.all_held || row.is_held(now),
                })
                .collect(),
            steering: queue
                .steering
                .iter()
                .map(|row| SteeringView {
                    ticket: row.ticket,
                    version: row.version,
                    text: row.short(),
                    prompt: row.prompt.clone(),
                })
                .collect(),
            shell: self.shell.as_ref().map(Shell::view),
            jobs: self.job_views(),
            ask: self.asking.clone(),
            usage: parts.usage,
            counts: parts.counts,
            cache: self.cache,
            context: ContextFill {
                tokens: self.fill.unwrap_or(0),
                window: parts.model.context_window,
                known: self.fill.is_some() || parts.history.is_empty(),
            },
            durability: self.durability.clone(),
        }
    }
}
