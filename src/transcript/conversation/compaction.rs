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
        // There is one at a time. One whose end was not told would move for ever.
        self.compaction_finished(&CompactionOutcome::Cancelled, now);
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
        let running = self.running_compaction();
        let told = match outcome {
            CompactionOutcome::Done { entry, .. } => self.compaction_of(entry),
            CompactionOutcome::Cancelled | CompactionOutcome::Failed { .. } => None,
        };
        let Some(index) = running.or(told) else { return false };
        let Some(Item { body: Body::Compaction(compaction), entry, .. }) = self.item_mut(index) else {
            return false;
        };
        let took = match compaction.phase {
            CompactionPhase::Running { since } => now.saturating_duration_since(since),
            _ => Duration::ZERO,
        };
        match outcome {
            CompactionOutcome::Done { entry: id, tokens_after, cost, duration_ms } => {
                *entry = Some(id.clone());
                compaction.trail = Trail::default();
                compaction.phase = CompactionPhase::Done {
                    tokens_after: *tokens_after,
                    cost: *cost,
                    took: Some(Duration::from_millis(*duration_ms)),
                };
            }
            CompactionOutcome::Cancelled => compaction.phase = CompactionPhase::Cancelled { at: now, took },
            CompactionOutcome::Failed { error } => {
                compaction.phase = CompactionPhase::Failed;
                self.notice(NoticeLevel::Error, error.clone());
            }
        }
        true
    }

    /// The summary of a log, or the one that was just written: its entry and the end of its compaction come in any order,
    /// and are one item.
    pub(super) fn compacted(&mut self, id: Option<EntryId>, summary: &CompactionSummaryMessage) {
        let known = id.as_ref().and_then(|id| self.compaction_of(id)).or_else(|| self.running_compaction());
        let facts = summary.facts;
        let took = facts.duration_ms.map(Duration::from_millis);
        if let Some(index) = known
            && let Some(Item { body: Body::Compaction(compaction), entry, .. }) = self.item_mut(index)
        {
            *entry = id;
            compaction.summary.clone_from(&summary.summary);
            compaction.reason = compaction.reason.or(facts.reason);
            if summary.tokens_before > 0 {
                compaction.tokens_before = summary.tokens_before;
            }
            if let CompactionPhase::Done { tokens_after, cost, took: known } = &mut compaction.phase {
                *tokens_after = tokens_after.or(facts.tokens_after);
                *cost = cost.or(facts.cost);
                *known = known.or(took);
            }
            return;
        }
        self.push(
            id,
            Body::Compaction(Box::new(Compaction {
                reason: facts.reason,
                summary: summary.summary.clone(),
                trail: Trail::default(),
                tokens_before: summary.tokens_before,
                phase: CompactionPhase::Done { tokens_after: facts.tokens_after, cost: facts.cost, took },
            })),
        );
    }

    /// Takes away what was told for a moment only: what has no rows any more has no gap either, and no focus.
    pub fn settle(&mut self, now: Instant) {
        let is_over = |_: &Item, compaction: &Compaction| match compaction.phase {
            CompactionPhase::Cancelled { at, .. } => now >= at + Compaction::STOPPED_FOR,
            _ => false,
        };
        while let Some(index) = self.newest_compaction(is_over) {
            let Some(Item { body: Body::Compaction(compaction), .. }) = self.item_mut(index) else { return };
            compaction.phase = CompactionPhase::Gone;
        }
    }

    fn running_compaction(&self) -> Option<usize> {
        self.newest_compaction(|_, compaction| matches!(compaction.phase, CompactionPhase::Running { .. }))
    }

    fn compaction_of(&self, id: &EntryId) -> Option<usize> {
        self.newest_compaction(|item, _| item.entry.as_ref() == Some(id))
    }

    fn newest_compaction(&self, is_it: impl Fn(&Item, &Compaction) -> bool) -> Option<usize> {
        // Little is said while one runs, so it stands near the end.
        let last = self.items.iter().enumerate().rev().take(16);
        last.into_iter()
            .find(|(_, item)| matches!(&item.body, Body::Compaction(compaction) if is_it(item, compaction)))
            .map(|(index, _)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::compaction::CompactionFacts;
    use crate::proto::entry::EntryPatch;
    use crate::proto::event::AgentEvent;
    use crate::proto::message::Message;
    use std::sync::Arc;

    const FACTS: CompactionFacts = CompactionFacts {
        reason: Some(CompactionReason::Auto),
        tokens_after: Some(9400),
        cost: Some(0.02),
        duration_ms: Some(41_200),
    };

    fn summary(facts: CompactionFacts) -> Arc<Message> {
        Arc::new(Message::CompactionSummary(CompactionSummaryMessage {
            summary: "# Goal".to_owned(),
            tokens_before: 112_000,
            facts,
            timestamp: 0,
        }))
    }

    fn started() -> AgentEvent {
        AgentEvent::CompactionStarted { reason: CompactionReason::Auto, tokens_before: 112_000 }
    }

    fn finished() -> AgentEvent {
        let outcome = CompactionOutcome::Done {
            entry: EntryId::new("e9"),
            tokens_after: Some(9400),
            cost: Some(0.02),
            duration_ms: 41_200,
        };
        AgentEvent::CompactionFinished { outcome }
    }

    fn play(events: &[AgentEvent]) -> Conversation {
        let mut conversation = Conversation::new();
        for event in events {
            conversation.apply(event, Instant::now(), (0, 0));
        }
        conversation
    }

    fn shown(conversation: &Conversation) -> String {
        format!("{:?}", conversation.items().iter().map(|item| &item.body).collect::<Vec<_>>())
    }

    /// Whatever comes first, the entry or the end, in one piece or in two.
    #[test]
    fn the_entry_and_the_end_are_one_item_and_look_as_after_a_resume() {
        let start = AgentEvent::Entry { id: EntryId::new("e9"), patch: EntryPatch::Start(summary(FACTS)) };
        let finish = AgentEvent::Entry { id: EntryId::new("e9"), patch: EntryPatch::Finish(summary(FACTS)) };
        let mut resumed = Conversation::new();
        resumed.load([summary(FACTS)]);
        let progress = AgentEvent::CompactionProgress { delta: "# Go".to_owned() };
        let orders = [
            vec![started(), progress.clone(), start.clone(), finish.clone(), finished()],
            vec![started(), progress.clone(), finished(), start.clone(), finish.clone()],
            vec![started(), start.clone(), finished(), finish.clone()],
            vec![started(), progress, finish.clone(), finished()],
            vec![start, finish, finished()],
        ];
        for order in &orders {
            let live = play(order);
            assert_eq!(live.len(), 1, "{order:?}");
            assert_eq!(shown(&live), shown(&resumed), "{order:?}");
            assert_eq!(live.items()[0].entry, Some(EntryId::new("e9")), "{order:?}");
        }
    }

    #[test]
    fn one_that_did_not_end_well_changes_nothing() {
        let cancelled = AgentEvent::CompactionFinished { outcome: CompactionOutcome::Cancelled };
        let conversation = play(&[started(), cancelled.clone(), started(), finished()]);
        assert_eq!(conversation.len(), 2);
        let error = "No model answered.".to_owned();
        let failed = AgentEvent::CompactionFinished { outcome: CompactionOutcome::Failed { error } };
        let conversation = play(&[started(), failed]);
        assert!(shown(&conversation).contains("phase: Failed"));
        assert!(shown(&conversation).contains("No model answered."));
        assert_eq!(play(&[cancelled]).len(), 0, "nothing was cancelled");
        let conversation = play(&[started(), started(), finished(), finished()]);
        assert!(conversation.running_compaction().is_none(), "one at a time");
    }
}
