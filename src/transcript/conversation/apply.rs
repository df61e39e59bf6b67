//! Events and messages to items.

use super::{Begun, Conversation, Turn};
use crate::proto::command::TicketOutcome;
use crate::proto::entry::EntryPatch;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::EntryId;
use crate::proto::job::{JOB_MESSAGE, reports_of};
use crate::proto::message::{AssistantMessage, Block, Message, StopReason, ToolResultMessage, text_of};
use crate::text::markdown::stream::MarkdownStream;
use crate::transcript::held::{Arguments, Given, without_pictures};
use crate::transcript::item::{
    BlockRef, Body, CallPhase, Item, Jobs, Prose, Shell, Thinking, TurnEnd, TurnEndKind, User,
};
use crate::transcript::trail::Trail;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Conversation {
    /// Takes an event in; true if anything that is drawn changed. `clock` is the user's time of day, in hours and
    /// minutes.
    pub fn apply(&mut self, event: &AgentEvent, now: Instant, clock: (u8, u8)) -> bool {
        self.now = Some(now);
        match event {
            AgentEvent::TurnStarted { .. } => {
                self.turn = Some(Turn { since: now, tokens: 0, millis: 0, verb: None });
                false
            }
            AgentEvent::Entry { id, patch } => self.patch(id, patch, now),
            AgentEvent::ToolStarted { call: id, tool, arguments, limit_ms } => {
                let limit = limit_ms.map(Duration::from_millis);
                let Some(call) = self.call_runs(id, tool, now, limit) else { return false };
                call.tool.clone_from(tool);
                // Those of the message, as a rule.
                if *call.arguments != *arguments {
                    call.arguments = Arguments::Told(arguments.clone());
                }
                true
            }
            AgentEvent::ToolProgress { call, delta } => self.call_output(call, delta),
            AgentEvent::ToolSteps { call, chain } => self.call_steps(call, chain),
            AgentEvent::ToolWait { call, wait } => self.call_waits(call, *wait),
            AgentEvent::CompactionStarted { reason, tokens_before } => {
                self.compaction_started(*reason, *tokens_before, now);
                true
            }
            AgentEvent::CompactionProgress { delta } => self.compaction_progress(delta, now),
            AgentEvent::CompactionFinished { outcome } => self.compaction_finished(outcome, now),
            AgentEvent::ToolFinished { call, tool, output, duration_ms } => self.call_answered(
                Given::Told(Arc::new(ToolResultMessage {
                    tool_call_id: call.clone(),
                    tool_name: tool.clone(),
                    content: without_pictures(&output.content),
                    details: output.details.clone(),
                    usage: output.usage,
                    is_error: output.is_error,
                    duration_ms: *duration_ms,
                    timestamp: 0,
                })),
                Some(now),
            ),
            AgentEvent::ShellStarted { command, shown_only } => {
                self.begin_shell(command.clone(), *shown_only, now);
                true
            }
            AgentEvent::ShellProgress { delta } => {
                let Some(index) = self.shells.last().copied() else { return false };
                self.shell_output(index, delta);
                true
            }
            AgentEvent::ShellFinished { message } => {
                // Its entry is told by nothing else.
                match self.shells.last().copied() {
                    Some(index) => self.end_shell(index, message.clone()),
                    None => {
                        self.push(None, Body::Shell(Box::new(Shell::Done(message.clone()))));
                    }
                }
                true
            }
            AgentEvent::PermissionAsked(ask) => {
                self.asks.insert(ask.id, ask.call.clone());
                let Some(call) = self.call_mut(&ask.call) else { return false };
                call.phase = CallPhase::Asking;
                true
            }
            AgentEvent::PermissionResolved { ask } => {
                let Some(call) = self.asks.remove(ask) else { return false };
                let Some(call) = self.call_mut(&call) else { return false };
                if matches!(call.phase, CallPhase::Asking) {
                    call.phase = CallPhase::Queued;
                }
                true
            }
            AgentEvent::TurnFinished { outcome, .. } => {
                self.turn_finished(outcome, now, clock);
                true
            }
            AgentEvent::Notice { level, text } => {
                self.notice(*level, text.clone());
                true
            }
            // The rest is told elsewhere: by the phase line, the footer and the queue.
            AgentEvent::RoundStarted { .. }
            | AgentEvent::RoundFinished { .. }
            | AgentEvent::RetryScheduled { .. }
            | AgentEvent::RetryFinished { .. }
            | AgentEvent::Settled { .. }
            | AgentEvent::QueueChanged { .. }
            | AgentEvent::ModelChanged(_)
            | AgentEvent::ThinkingChanged(_)
            | AgentEvent::ModeChanged(_)
            | AgentEvent::Renamed(_) => false,
        }
    }

    fn patch(&mut self, id: &EntryId, patch: &EntryPatch, now: Instant) -> bool {
        match patch {
            EntryPatch::Start(message) => {
                let is_streamed = matches!(**message, Message::Assistant(_));
                let begun = if is_streamed { Begun::Streaming(Vec::new()) } else { Begun::Whole };
                self.entries.insert(id.clone(), begun);
                !is_streamed && self.whole(Some(id), message)
            }
            EntryPatch::Open { index, block } => self.open_block(id, *index, block, now).is_some(),
            EntryPatch::Append { index, delta, .. } => {
                let Some(item) = self.block_item(id, *index).and_then(|item| self.item_mut(item)) else {
                    return false;
                };
                match &mut item.body {
                    Body::Reply(Prose::Live(stream)) => stream.push(delta),
                    Body::Thinking(Thinking { text: Prose::Live(stream), trail, .. }) => {
                        stream.push(delta);
                        trail.grow(stream.source().len(), now);
                    }
                    Body::Call(call) => {
                        call.draft.push_str(delta);
                        call.trail.grow(call.draft.len(), now);
                    }
                    _ => return false,
                }
                true
            }
            EntryPatch::Close { index, block, .. } => {
                // One that was not heard of begins now: better late than at the end of the message.
                let known = self.block_item(id, *index);
                let Some(item) = known.or_else(|| self.open_block(id, *index, block, now)) else {
                    return false;
                };
                match block {
                    Block::ToolCall(call) => self.call_written(item, call, None),
                    Block::Thinking { .. } => self.thought(item, now),
                    Block::Text { .. } | Block::Image { .. } | Block::Unknown => return known.is_none(),
                }
                true
            }
            EntryPatch::Finish(message) => match (self.entries.remove(id), &**message) {
                (Some(Begun::Whole), _) => false,
                (Some(Begun::Streaming(items)), Message::Assistant(said)) => {
                    for item in items.iter().copied().flatten() {
                        self.thought(item, now);
                    }
                    let is_whole = matches!(
                        said.stop_reason,
                        StopReason::Stop | StopReason::Length | StopReason::ToolUse
                    );
                    if let Some(turn) = self.turn.as_mut().filter(|_| is_whole) {
                        turn.tokens = turn.tokens.saturating_add(said.usage.output);
                        turn.millis = turn.millis.saturating_add(said.duration_ms.unwrap_or_default());
                    }
                    self.said(Some(id), message, said, &items)
                }
                (Some(Begun::Streaming(_)) | None, _) => self.whole(Some(id), message),
            },
        }
    }

    /// The item of a block of an entry that streams.
    fn block_item(&self, id: &EntryId, index: usize) -> Option<usize> {
        match self.entries.get(id)? {
            Begun::Streaming(items) => items.get(index).copied().flatten(),
            Begun::Whole => None,
        }
    }

    fn open_block(&mut self, id: &EntryId, index: usize, block: &Block, now: Instant) -> Option<usize> {
        let live = |text: &str| {
            let mut stream = MarkdownStream::growing();
            stream.push(text);
            Prose::Live(Box::new(stream))
        };
        let entry = Some(id.clone());
        let item = match block {
            Block::Text { text, .. } => self.push(entry, Body::Reply(live(text))),
            Block::Thinking { thinking, .. } => {
                let thinking =
                    Thinking { text: live(thinking), since: Some(now), took: None, trail: Trail::default() };
                self.push(entry, Body::Thinking(thinking))
            }
            Block::ToolCall(call) => self.begin_call(entry, call, Some(now)),
            Block::Image { .. } | Block::Unknown => return None,
        };
        let begun = self.entries.entry(id.clone()).or_insert_with(|| Begun::Streaming(Vec::new()));
        if let Begun::Streaming(items) = begun {
            if items.len() <= index {
                items.resize(index + 1, None);
            }
            if let Some(slot) = items.get_mut(index) {
                *slot = Some(item);
            }
        }
        Some(item)
    }

    /// If this is thinking that goes on, it ends now.
    fn thought(&mut self, item: usize, now: Instant) {
        let goes_on = matches!(
            self.items.get(item),
            Some(Item { body: Body::Thinking(Thinking { since: Some(_), .. }), .. })
        );
        if goes_on && let Some(Item { body: Body::Thinking(thinking), .. }) = self.item_mut(item) {
            thinking.took = thinking.since.take().map(|since| now.saturating_duration_since(since));
        }
    }

    /// Adds the items of a message that came whole; true if there are any.
    pub(super) fn whole(&mut self, entry: Option<&EntryId>, message: &Arc<Message>) -> bool {
        let entry_id = entry.cloned();
        match &**message {
            Message::System(_) => return false,
            Message::User(user) => {
                let pictures = user.content.iter().filter(|block| matches!(block, Block::Image { .. }));
                let user = User { text: text_of(&user.content), pictures: pictures.count() };
                self.push(entry_id, Body::User(user));
            }
            Message::Assistant(said) => return self.said(entry, message, said, &[]),
            Message::ToolResult(_) => {
                return Given::of(message).is_some_and(|given| self.call_answered(given, None));
            }
            Message::BashExecution(done) => {
                // The one that ran, if it was shown while it did.
                let is_it = |index: &&usize| {
                    matches!(self.items.get(**index), Some(Item { body: Body::Shell(shell), .. })
                        if matches!(&**shell, Shell::Running { command, .. } if *command == done.command))
                };
                match self.shells.iter().find(is_it).copied() {
                    Some(index) => self.end_shell(index, message.clone()),
                    None => {
                        self.push(entry_id, Body::Shell(Box::new(Shell::Done(message.clone()))));
                    }
                }
            }
            Message::Custom(custom) => {
                if !custom.display {
                    return false;
                }
                let reports = reports_of(custom.details.as_ref());
                if custom.custom_type == JOB_MESSAGE && !reports.is_empty() {
                    self.jobs_ended(&reports);
                    let jobs = Jobs { reports, text: text_of(&custom.content) };
                    self.push(entry_id, Body::Jobs(Box::new(jobs)));
                    return true;
                }
                let label = custom.custom_type.strip_prefix("mynah.").unwrap_or(&custom.custom_type);
                self.custom(entry_id, label, text_of(&custom.content));
            }
            Message::BranchSummary(branch) => {
                self.custom(entry_id, "summary of the other branch", branch.summary.clone());
            }
            Message::CompactionSummary(summary) => self.compacted(entry_id, summary),
        }
        true
    }

    fn custom(&mut self, entry: Option<EntryId>, label: &str, text: String) {
        self.push(entry, Body::Custom { label: label.to_owned(), text });
    }

    /// A message of the model is whole: `items` are those of its blocks that streamed, the others are added.
    fn said(
        &mut self,
        entry: Option<&EntryId>,
        message: &Arc<Message>,
        said: &AssistantMessage,
        items: &[Option<usize>],
    ) -> bool {
        let is_cut = matches!(said.stop_reason, StopReason::Error | StopReason::Aborted);
        let before = self.revision;
        self.finished.clear();
        for (index, block) in said.content.iter().enumerate() {
            let kept = || BlockRef { message: message.clone(), index };
            let whole = || Prose::Whole(kept());
            let known = items.get(index).copied().flatten();
            match block {
                Block::Text { text, .. } => match known.and_then(|item| self.item_mut(item)) {
                    Some(item) => {
                        let old = std::mem::replace(&mut item.body, Body::Reply(whole()));
                        // Another text, if what streamed was not all of it or had to be cleaned.
                        if let (Body::Reply(Prose::Live(stream)), Some(known)) = (old, known)
                            && stream.source() == text
                        {
                            self.finished.insert(known, stream);
                        }
                    }
                    None => {
                        self.push(entry.cloned(), Body::Reply(whole()));
                    }
                },
                Block::Thinking { .. } => match known.and_then(|item| self.item_mut(item)) {
                    Some(Item { body: Body::Thinking(thinking), .. }) => thinking.text = whole(),
                    _ => {
                        let thinking =
                            Thinking { text: whole(), since: None, took: None, trail: Trail::default() };
                        self.push(entry.cloned(), Body::Thinking(thinking));
                    }
                },
                Block::ToolCall(call) => {
                    let item = known.unwrap_or_else(|| self.begin_call(entry.cloned(), call, None));
                    self.call_written(item, call, Some(kept()));
                    // A response that was cut off is not carried out.
                    if is_cut {
                        self.drop_call(item);
                    }
                }
                Block::Image { .. } | Block::Unknown => {}
            }
        }
        if said.stop_reason == StopReason::Error {
            let text = said.error_message.clone();
            self.notice(NoticeLevel::Error, text.unwrap_or_else(|| "The response failed.".to_owned()));
        }
        self.revision != before
    }

    fn turn_finished(&mut self, outcome: &TicketOutcome, now: Instant, clock: (u8, u8)) {
        self.drop_unanswered();
        self.asks.clear();
        // A response whose end was never told: nobody thinks any more.
        let streaming = self.entries.values().filter_map(|begun| match begun {
            Begun::Streaming(items) => Some(items),
            Begun::Whole => None,
        });
        let items: Vec<usize> = streaming.flatten().copied().flatten().collect();
        for item in items {
            self.thought(item, now);
        }
        let turn = self.turn.take();
        let how = match outcome {
            TicketOutcome::Completed | TicketOutcome::Delivered | TicketOutcome::Removed => TurnEndKind::Done,
            TicketOutcome::Cancelled => TurnEndKind::Stopped,
            TicketOutcome::MaxRounds { limit } => {
                TurnEndKind::Failed(format!("The limit of {limit} rounds was reached."))
            }
            TicketOutcome::Refused { reason } => TurnEndKind::Failed(reason.clone()),
            TicketOutcome::Failed { error } => TurnEndKind::Failed(error.clone()),
        };
        let took = turn.as_ref().map_or(Duration::ZERO, |turn| now.saturating_duration_since(turn.since));
        let speed = turn.as_ref().and_then(Turn::speed);
        let verb = turn.and_then(|turn| turn.verb);
        let end = Body::TurnEnd(TurnEnd { took, at: clock, speed, how, verb });
        // The last response failed with this very text, and the turn with it: it is said once.
        if let (TicketOutcome::Failed { error: why } | TicketOutcome::Refused { reason: why }, Some(last)) =
            (outcome, self.items.len().checked_sub(1))
            && matches!(&self.items.get(last), Some(Item { body: Body::Notice { level: NoticeLevel::Error, text }, .. })
                if text == why)
            && let Some(item) = self.item_mut(last)
        {
            item.body = end;
            return;
        }
        self.push(None, end);
    }
}

impl Turn {
    /// Tokens a second, times ten.
    fn speed(&self) -> Option<u32> {
        let tenths = self.tokens.saturating_mul(10_000).checked_div(self.millis)?;
        u32::try_from(tenths).ok().filter(|speed| *speed > 0)
    }
}
