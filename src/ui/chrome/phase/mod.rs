//! What the agent is doing, from its events. Pure: what is shown is a function of the events and of the time asked
//! about.
//!
//! | file | what it is |
//! |---|---|
//! | `status` | what the phase line is told |
//! | `word` | what a step is called |
//! | `request` | one request: its clock, its tokens, its speed |

mod request;
mod status;
mod word;

pub use status::{Figures, Kind, Speed, Status};

use super::flow::Flow;
use crate::proto::command::TicketOutcome;
use crate::proto::entry::EntryPatch;
use crate::proto::event::AgentEvent;
use crate::proto::ids::{AskId, CallId, EntryId};
use crate::proto::message::{AssistantMessage, Block, Message, StopReason};
use crate::transcript::runs::waits_for_agent;
use request::{Measures, Request};
use std::sync::Arc;
use std::time::{Duration, Instant};
use word::{Draft, name};

/// What the agent is doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phase {
    live: Option<Live>,
    /// What takes the place of all of that while it goes on, and since when.
    host: Option<(Kind, Instant)>,
    last: Option<Figures>,
    /// When the last prompt came to its end by itself.
    done: Option<Instant>,
    measures: Measures,
}

#[derive(Clone, Debug, PartialEq)]
struct Live {
    since: Instant,
    step: Step,
    step_since: Instant,
    request: Request,
    verb: Option<Arc<str>>,
    running: Vec<(CallId, String)>,
    asks: Vec<AskId>,
    retry: Option<Retry>,
    first: Option<(Duration, Duration)>,
    output: u64,
    waited: Duration,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Prep,
    Api,
    FirstToken,
    Think,
    Tool(Draft),
    Run {
        what: String,
        /// All of it waits for other agents.
        for_agents: bool,
    },
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Retry {
    attempt: u32,
    max: u32,
    since: Instant,
    delay: Duration,
}

impl Phase {
    /// Takes an event of the agent that is shown.
    pub fn on_event(&mut self, event: &AgentEvent, now: Instant) {
        match event {
            AgentEvent::TurnStarted { .. } => {
                self.live = Some(Live::new(now));
                self.done = None;
            }
            AgentEvent::TurnFinished { outcome, .. } => {
                let is_done = matches!(
                    outcome,
                    TicketOutcome::Completed | TicketOutcome::Delivered | TicketOutcome::Removed
                );
                self.end(now, is_done);
            }
            AgentEvent::Settled { .. } => {
                self.host = None;
                self.end(now, false);
            }
            // Whoever begins to listen within a turn has not heard its beginning.
            AgentEvent::RoundStarted { .. } => self.live(now).request(now),
            AgentEvent::ToolStarted { call, tool, .. } => {
                let live = self.live(now);
                live.running.push((call.clone(), tool.clone()));
                live.follow_tools(now);
            }
            AgentEvent::ToolFinished { call, .. } => {
                if let Some(live) = &mut self.live {
                    let before = live.running.len();
                    live.running.retain(|(id, _)| id != call);
                    if live.running.len() < before {
                        live.follow_tools(now);
                    }
                }
            }
            AgentEvent::PermissionAsked(ask) => self.live(now).asks.push(ask.id),
            AgentEvent::PermissionResolved { ask } => {
                if let Some(live) = &mut self.live {
                    live.asks.retain(|id| id != ask);
                }
            }
            AgentEvent::RetryScheduled { attempt, max_attempts, delay_ms, .. } => {
                let live = self.live(now);
                live.enter(Step::Prep, now);
                let delay = Duration::from_millis(*delay_ms);
                live.retry = Some(Retry { attempt: *attempt, max: *max_attempts, since: now, delay });
            }
            AgentEvent::RetryFinished { .. } => {
                if let Some(live) = &mut self.live {
                    live.retry = None;
                }
            }
            AgentEvent::Entry { id, patch } => {
                if let Some(live) = &mut self.live {
                    live.patch(id, patch, &mut self.measures, now);
                }
            }
            AgentEvent::CompactionStarted { .. } => self.host = Some((Kind::Compaction, now)),
            AgentEvent::CompactionFinished { .. } => self.end_host(now),
            AgentEvent::ToolProgress { .. }
            | AgentEvent::ToolSteps { .. }
            | AgentEvent::ToolWait { .. }
            | AgentEvent::CompactionProgress { .. }
            | AgentEvent::ShellStarted { .. }
            | AgentEvent::ShellProgress { .. }
            | AgentEvent::ShellFinished { .. }
            | AgentEvent::RoundFinished { .. }
            | AgentEvent::QueueChanged { .. }
            | AgentEvent::ModelChanged(_)
            | AgentEvent::ThinkingChanged(_)
            | AgentEvent::ModeChanged(_)
            | AgentEvent::Renamed(_)
            | AgentEvent::Notice { .. } => {}
        }
    }

    /// A turn runs.
    pub const fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// What the prompt that runs is called, if not by what is done for it.
    pub fn set_verb(&mut self, verb: Option<Arc<str>>) {
        if let Some(live) = &mut self.live {
            live.verb = verb;
        }
    }

    /// Another branch is being summed up from now on.
    pub const fn branch_summary_started(&mut self, now: Instant) {
        self.host = Some((Kind::BranchSummary, now));
    }

    /// The other branch is summed up, or nobody wants that any more.
    pub fn branch_summary_finished(&mut self, now: Instant) {
        self.end_host(now);
    }

    /// What is being done; nothing when idle.
    pub fn status(&self, now: Instant, motion: bool) -> Option<Status> {
        let live = self.live.as_ref();
        match self.host {
            Some((kind, since)) if live.is_none_or(|live| live.asks.is_empty()) => {
                let word = match kind {
                    Kind::BranchSummary => "Summing up the branch",
                    _ => "Compacting",
                };
                Some(Status::plain(kind, word, now.saturating_duration_since(since)))
            }
            _ => live.map(|live| live.status(now, motion)),
        }
    }

    /// The figures of the running prompt, else of the last one.
    pub fn figures(&self, now: Instant) -> Option<Figures> {
        self.live.as_ref().map(|live| live.figures(now)).or(self.last)
    }

    /// When the last prompt came to its end by itself; nothing of one that was stopped or failed.
    pub const fn done(&self) -> Option<Instant> {
        self.done
    }

    /// The stream of the running request.
    pub fn flow(&self) -> Option<&Flow> {
        self.live.as_ref().map(|live| &live.request.flow)
    }

    fn live(&mut self, now: Instant) -> &mut Live {
        self.live.get_or_insert_with(|| Live::new(now))
    }

    fn end(&mut self, now: Instant, is_done: bool) {
        if let Some(live) = self.live.take() {
            self.last = Some(Figures { speed: live.average(), is_running: false, ..live.figures(now) });
            self.done = is_done.then_some(now);
        }
    }

    fn end_host(&mut self, now: Instant) {
        self.host = None;
        // What it held up begins now.
        if let Some(live) = self.live.as_mut().filter(|live| live.step == Step::Prep) {
            live.enter(Step::Prep, now);
        }
    }
}

impl Live {
    const fn new(now: Instant) -> Self {
        Self {
            since: now,
            step: Step::Prep,
            step_since: now,
            request: Request::sent(now),
            verb: None,
            running: Vec::new(),
            asks: Vec::new(),
            retry: None,
            first: None,
            output: 0,
            waited: Duration::ZERO,
        }
    }

    fn enter(&mut self, step: Step, now: Instant) {
        self.step = step;
        self.step_since = now;
    }

    fn request(&mut self, now: Instant) {
        self.retry = None;
        self.request = Request::sent(now);
        self.enter(Step::Api, now);
    }

    fn follow_tools(&mut self, now: Instant) {
        let for_agents = self.running.iter().all(|(_, tool)| waits_for_agent(tool));
        let step = match self.running.as_slice() {
            [] => Step::Prep,
            [(_, tool)] => Step::Run { what: name(tool), for_agents },
            several => Step::Run { what: format!("{} tools", several.len()), for_agents },
        };
        if step != self.step {
            self.enter(step, now);
        }
    }

    fn patch(&mut self, id: &EntryId, patch: &EntryPatch, measures: &mut Measures, now: Instant) {
        if let EntryPatch::Start(message) = patch {
            if let Message::Assistant(message) = &**message {
                self.begin_response(id, message, measures, now);
            }
            return;
        }
        if self.request.entry.as_ref() != Some(id) {
            return;
        }
        match patch {
            EntryPatch::Start(_) => {}
            EntryPatch::Open { block, .. } => {
                self.content(now);
                match block {
                    Block::Thinking { .. } => self.enter(Step::Think, now),
                    Block::Text { .. } => self.enter(Step::Text, now),
                    Block::ToolCall(call) => self.enter(Step::Tool(Draft::new(&call.name)), now),
                    Block::Image { .. } | Block::Unknown => {}
                }
            }
            EntryPatch::Append { delta, .. } => {
                self.content(now);
                self.request.append(delta, now);
                if let Step::Tool(draft) = &mut self.step {
                    draft.append(delta);
                }
            }
            EntryPatch::Close { block, .. } => {
                if matches!(block, Block::Thinking { .. }) {
                    self.enter(Step::Prep, now);
                }
            }
            EntryPatch::Finish(message) => {
                if let Message::Assistant(message) = &**message {
                    measures.learn(&self.request, message);
                    self.finish_response(message, now);
                }
                self.enter(Step::Prep, now);
            }
        }
    }

    fn begin_response(
        &mut self,
        id: &EntryId,
        message: &AssistantMessage,
        measures: &Measures,
        now: Instant,
    ) {
        // A repeated request began when its wait ended, and one that follows within a round when the one before ended.
        let begun = match self.retry.take() {
            Some(retry) => (retry.since + retry.delay).min(now),
            None if self.request.entry.is_some() => self.step_since,
            None => self.request.since,
        };
        self.request = Request::answered(begun, now, Some(id.clone()), measures.of(message));
        // Nothing new for the stopwatch: the request is still waited for.
        self.enter(Step::FirstToken, begun);
    }

    fn content(&mut self, now: Instant) {
        if self.request.has_content {
            return;
        }
        self.request.has_content = true;
        let took = now.saturating_duration_since(self.request.since);
        let (least, most) = self.first.unwrap_or((took, took));
        self.first = Some((least.min(took), most.max(took)));
    }

    fn finish_response(&mut self, message: &AssistantMessage, now: Instant) {
        if matches!(message.stop_reason, StopReason::Stop | StopReason::Length | StopReason::ToolUse) {
            self.output = self.output.saturating_add(message.usage.output);
            self.waited += now.saturating_duration_since(self.request.since);
        }
    }

    fn average(&self) -> Option<Speed> {
        #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
        let output = self.output as f64;
        let tokens =
            (self.output > 0 && !self.waited.is_zero()).then(|| output / self.waited.as_secs_f64())?;
        Some(Speed { tokens, is_guessed: false })
    }

    fn figures(&self, now: Instant) -> Figures {
        let is_guessed = !self.request.is_measured();
        let live = self.request.flow.tokens_per_second(now).map(|tokens| Speed { tokens, is_guessed });
        Figures {
            speed: live.or_else(|| self.average()),
            first: self.first,
            total: now.saturating_duration_since(self.since),
            is_running: true,
        }
    }

    fn status(&self, now: Instant, motion: bool) -> Status {
        let elapsed = now.saturating_duration_since(self.step_since);
        if !self.asks.is_empty() {
            return Status { elapsed: None, ..Status::plain(Kind::Asking, "Waiting for you", elapsed) };
        }
        let status =
            |kind, word: &str| Status { verb: self.verb.clone(), ..Status::plain(kind, word, elapsed) };
        if let Some(retry) = self.retry {
            return retry.status(now, self.verb.clone());
        }
        let count = self.request.tokens.shown(now, motion);
        let tokens = (count > 0).then_some(count);
        let heard = self.request.flow.last().map(|last| now.saturating_duration_since(last));
        let quiet = heard.map_or(elapsed, |heard| heard.min(elapsed));
        match &self.step {
            Step::Prep => status(Kind::Prep, "Preparing"),
            Step::Api => status(Kind::Api, "Sending request"),
            Step::FirstToken => status(Kind::FirstToken, "Waiting for the model"),
            Step::Think => Status { tokens, quiet, ..status(Kind::Think, status::thinking(elapsed)) },
            Step::Tool(draft) => Status {
                tokens,
                quiet,
                short: Some(draft.short().to_owned()),
                is_held_back: !draft.has_arguments,
                ..status(Kind::Tool, &draft.word())
            },
            Step::Run { what, for_agents } => {
                let kind = if *for_agents { Kind::RunAgents } else { Kind::Run };
                Status { short: Some("Running".to_owned()), ..status(kind, &format!("Running {what}")) }
            }
            Step::Text => Status { tokens, quiet, ..status(Kind::Text, "Writing reply") },
        }
    }
}

impl Retry {
    fn status(self, now: Instant, verb: Option<Arc<str>>) -> Status {
        let gone = now.saturating_duration_since(self.since);
        let left = self.delay.saturating_sub(gone);
        if left.is_zero() {
            let elapsed = gone.saturating_sub(self.delay);
            return Status { verb, ..Status::plain(Kind::Api, "Sending request", elapsed) };
        }
        let counts = format!("attempt {} of {}", self.attempt, self.max);
        let left = crate::text::formats::limit(left);
        Status {
            short: Some(format!("Retrying in {left}")),
            elapsed: None,
            gone: gone.as_secs_f64() / self.delay.as_secs_f64(),
            ..Status::plain(Kind::Retry, format!("Retrying in {left} · {counts}"), gone)
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
pub(in crate::ui::chrome) mod tests;
