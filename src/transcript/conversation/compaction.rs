//! Compactions: the one that runs, and those of the log.

use super::Conversation;
use crate::proto::compaction::{CompactionOutcome, CompactionReason};
use crate::proto::event::NoticeLevel;
use crate::proto::ids::EntryId;
use crate::proto::message::CompactionSummaryMessage;
use crate::transcript::item::{Body, Compaction, CompactionPhase, Item};
use crate::transcript::trail::Trail;
use std::time::{Duration, Instant};

impl Conversation {
    /// A compaction begins: its band stands at the end until it is over.
    pub(super) fn compaction_started(&mut self, reason: CompactionReason, tokens_before: u64, now: Instant) {
        self.push(
            None,
            Body::Compaction(Box::new(Compaction {
                reason: Some(reason),
                summary: String::new(),
                trail: Trail::default(),
                tokens_before,
                phase: CompactionPhase::Running { since: now },
            })),
        );
    }

    /// More of the summary came.
    pub(super) fn compaction_progress(&mut self, delta: &str, now: Instant) -> bool {
        let Some(index) = self.running_compaction() else { return false };
        let Some(Item { body: Body::Compaction(compaction), .. }) = self.item_mut(index) else {
            return false;
        };
        compaction.summary.push_str(delta);
        compaction.trail.grow(compaction.summary.len(), now);
        true
    }

    /// It is over.
    pub(super) fn compaction_finished(&mut self, outcome: &CompactionOutcome, now: Instant) -> bool {
        let Some(index) = self.running_compaction() else { return false };
        let Some(Item { body: Body::Compaction(compaction), entry, .. }) = self.item_mut(index) else {
            return false;
        };
        let CompactionPhase::Running { since } = compaction.phase else { return false };
        let took = now.saturating_duration_since(since);
        match outcome {
            CompactionOutcome::Done { entry: id, tokens_after, cost, duration_ms } => {
                *entry = Some(id.clone());
                compaction.phase = CompactionPhase::Done {
                    tokens_after: *tokens_after,
                    cost: *cost,
                    took: Some(Duration::from_millis(*duration_ms)),
                };
            }
            CompactionOutcome::Cancelled => compaction.phase = CompactionPhase::Cancelled { at: now, took },
            CompactionOutcome::Failed { error } => {
                compaction.phase = CompactionPhase::Cancelled { at: now, took };
                self.notice(NoticeLevel::Error, error.clone());
            }
        }
        true
    }

    /// The summary of a log, or the one that was just written.
    pub(super) fn compacted(&mut self, entry: Option<EntryId>, summary: &CompactionSummaryMessage) {
        if let Some(index) = self.running_compaction()
            && let Some(Item { body: Body::Compaction(compaction), .. }) = self.item_mut(index)
        {
            compaction.summary.clone_from(&summary.summary);
            return;
        }
        self.push(
            entry,
            Body::Compaction(Box::new(Compaction {
                reason: None,
                summary: summary.summary.clone(),
                trail: Trail::default(),
                tokens_before: summary.tokens_before,
                phase: CompactionPhase::Done { tokens_after: None, cost: None, took: None },
            })),
        );
    }

    fn running_compaction(&self) -> Option<usize> {
        let is_running = |item: &Item| {
            matches!(&item.body, Body::Compaction(compaction)
                if matches!(compaction.phase, CompactionPhase::Running { .. }))
        };
        // Nothing is said while one runs, so it stands near the end.
        self.items
            .iter()
            .enumerate()
            .rev()
            .take(16)
            .find(|(_, item)| is_running(item))
            .map(|(index, _)| index)
    }
}
