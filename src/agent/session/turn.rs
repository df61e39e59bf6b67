//! The running turn: performs the turn machine's effects on the session.

use super::Session;
use super::record::now_millis;
use crate::agent::driver::{Driver, News};
use crate::agent::fsm::{Effect, Event, TurnFsm};
use crate::agent::repair;
use crate::jobs::table::wakes::WakeEvent;
use crate::llm::Request;
use crate::proto::command::{CancelReason, TicketOutcome};
use crate::proto::event::AgentEvent;
use crate::proto::ids::{CallId, EntryId, JobId, TicketId, TurnId};
use crate::proto::message::{Block, ToolCall, ToolResultMessage};
use crate::tools::Withheld;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

/// What a turn begins with.
pub(super) enum Opening {
    /// What somebody said.
    Prompt(Vec<Block>),
    /// The ends of these background jobs.
    Jobs(Vec<JobId>),
}

/// The one turn that runs.
pub(super) struct Running {
    pub(super) turn: TurnId,
    pub(super) ticket: TicketId,
    pub(super) fsm: TurnFsm,
    pub(super) since: Instant,
    driver: Driver,
    /// Results of the round in progress, in the order of its calls.
    pub(super) results: Vec<Arc<ToolResultMessage>>,
    /// Calls that the user was asked about and allowed.
    pub(super) allowed: HashSet<CallId>,
    /// Entry of the response that ended and is not recorded yet.
    streamed: Option<EntryId>,
}

impl Running {
    pub(super) fn detach_commands(&mut self) {
        self.driver.detach_commands();
    }
}

impl Session {
    /// Starts the first waiting prompt that may run, if nothing runs.
    pub(super) fn start_next(&mut self) {
        while self.running.is_none()
            && let Some(row) = self.queue.take_next(Instant::now())
        {
            self.announce_queue();
            self.begin(row.ticket, Opening::Prompt(row.prompt.content.clone()));
        }
        if self.running.is_none() {
            self.wake();
        }
    }

    pub(super) fn begin(&mut self, ticket: TicketId, opening: Opening) {
        let turn = self.next_turn();
        self.last_aborted = false;
        self.outbox.publish(AgentEvent::TurnStarted { turn, ticket });
        self.declare_choices();
        self.declare_system();
        // What ended meanwhile comes before what the user says of it.
        let (ends, prompt) = match opening {
            Opening::Prompt(content) => (self.job_wake(WakeEvent::UserSpoke), Some(content)),
            Opening::Jobs(ends) => (ends, None),
        };
        self.job_wake(WakeEvent::TurnBegan);
        self.record_jobs(ends);
        if let Some(content) = prompt {
            self.record_user(content);
        }
        self.owes_wake = false;
        let accepted = self.waiters.get_mut(&ticket).and_then(|waiter| waiter.accepted.take());
        self.save(accepted);
        let driver = Driver::new(turn, self.news.clone(), self.outbox.clone(), self.parts.workshop.clone());
        let fsm = TurnFsm::new(self.parts.retry, self.parts.max_rounds);
        self.running = Some(Running {
            turn,
            ticket,
            fsm,
            since: Instant::now(),
            driver,
            results: Vec::new(),
            allowed: HashSet::new(),
            streamed: None,
        });
        self.feed(Event::Begin);
    }

    pub(super) fn news(&mut self, news: News) {
        let Some(running) = &mut self.running else { return };
        if running.turn != news.turn {
            return;
        }
        if matches!(news.event, Event::StreamFinished(_) | Event::StreamFailed { .. }) {
            running.streamed = running.driver.stream_ended();
        }
        self.feed(news.event);
    }

    pub(super) fn stop_turn(&mut self) {
        if self.running.is_some() {
            self.feed(Event::Stop);
        }
    }

    /// Gives the turn machine an event, performs what it says, and whatever follows from that at once.
    pub(super) fn feed(&mut self, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let Some(running) = &mut self.running else { return };
            for effect in running.fsm.handle(event) {
                self.perform(effect, &mut events);
            }
        }
    }

    fn perform(&mut self, effect: Effect, events: &mut VecDeque<Event>) {
        match effect {
            Effect::RoundStarted(round) => self.outbox.publish(AgentEvent::RoundStarted { round }),
            Effect::Request => self.request(),
            Effect::AbortStream => {
                if let Some((entry, message)) =
                    self.running.as_mut().and_then(|running| running.driver.abort_stream())
                {
                    let message = Arc::new(message);
                    self.record_assistant(entry, message.clone());
                    self.outbox.publish(AgentEvent::RoundFinished { message, results: Vec::new() });
                }
            }
            Effect::Record(message) => {
                let entry = self.running.as_mut().and_then(|running| running.streamed.take());
                let entry = entry.unwrap_or_else(|| self.parts.log.fresh_id());
                self.record_assistant(entry, message);
            }
            Effect::RecordResult { call, output, duration_ms } => {
                self.record_result(&call, &output, duration_ms);
            }
            Effect::Judge(call) => events.extend(self.judge(&call)),
            Effect::Unask(_) => self.unask(),
            Effect::Run { call } => events.extend(self.run_call(call)),
            Effect::Announce { call, output, duration_ms } => {
                self.outbox.publish(AgentEvent::ToolFinished {
                    call: call.id,
                    tool: call.name,
                    output,
                    duration_ms,
                });
            }
            Effect::AbortTools => {
                if let Some(running) = &self.running {
                    running.driver.abort_tools();
                }
            }
            Effect::StartTimer { id, after } => {
                if let Some(running) = &mut self.running {
                    running.driver.start_timer(id, after);
                }
            }
            Effect::TakeSteering => {
                let steered = self.queue.take_steering(Instant::now());
                let mut any = !steered.is_empty();
                for row in steered {
                    self.record_user(row.prompt.content.clone());
                    self.resolve(row.ticket, TicketOutcome::Delivered);
                }
                if any {
                    self.announce_queue();
                }
                // What the user says of it comes first: it was typed without it.
                let event = if any { WakeEvent::UserSpoke } else { WakeEvent::Round };
                let ends = self.job_wake(event);
                any |= self.record_jobs(ends);
                if any {
                    self.save(None);
                }
                events.push_back(Event::SteeringTaken { any });
            }
            Effect::RoundFinished(message) => {
                let results = self
                    .running
                    .as_mut()
                    .map(|running| std::mem::take(&mut running.results))
                    .unwrap_or_default();
                self.outbox.publish(AgentEvent::RoundFinished { message, results });
            }
            Effect::RetryScheduled { attempt, after, error } => {
                self.outbox.publish(AgentEvent::RetryScheduled {
                    attempt,
                    max_attempts: self.parts.retry.max_attempts,
                    delay_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
                    error,
                });
            }
            Effect::RetryFinished { success, attempt, error } => {
                self.outbox.publish(AgentEvent::RetryFinished { success, attempt, error });
            }
            Effect::Notice(level, text) => self.notice(level, text),
            Effect::Finish(outcome) => self.finish(outcome),
        }
    }

    /// Runs a checked call. A mutating one is checked once more: what ran before it in the batch may have changed where
    /// its path leads.
    fn run_call(&self, call: ToolCall) -> Option<Event> {
        let (running, tool) = (self.running.as_ref()?, self.parts.tools.get(&call.name)?);
        if !running.allowed.contains(&call.id)
            && let Some(output) = self.second_thought(tool.as_ref(), &call)
        {
            return Some(Event::ToolFinished { call: call.id, output: Arc::new(output), duration_ms: 0 });
        }
        // Only searches ask what is withheld, and they change nothing: other calls need not be judged a third time.
        let withheld = if tool.is_mutating(&call.arguments) {
            Withheld::none()
        } else {
            self.withheld(tool.as_ref(), &call.arguments)
        };
        running.driver.run(tool, call, self.parts.model.images, withheld);
        None
    }

    fn request(&mut self) {
        self.declare_choices();
        // A history that providers refuse would make every later request fail, so it is checked each time.
        let mut messages = self.parts.history.clone();
        repair::repair(&mut messages);
        let request = Arc::new(Request {
            model: self.parts.model.clone(),
            system: self.system.clone(),
            messages,
            tools: self.parts.tools.specs(),
            thinking: self.parts.thinking,
            max_tokens: None,
            session_id: self.parts.log.header().id.to_string(),
            cache: self.cache(),
            temperature: None,
        });
        let entry = self.parts.log.fresh_id();
        let provider = self.parts.provider.clone();
        if let Some(running) = &mut self.running {
            running.driver.request(provider.as_ref(), request, entry, now_millis());
        }
    }

    fn finish(&mut self, outcome: TicketOutcome) {
        let Some(running) = self.running.take() else { return };
        self.last_aborted = outcome == TicketOutcome::Cancelled;
        // What was said to this turn and not heard runs next; after a failure the user speaks first.
        let change = match outcome {
            TicketOutcome::Failed { .. } | TicketOutcome::Refused { .. } => {
                self.job_wake(WakeEvent::StopGesture);
                self.queue.turn_cancelled(CancelReason::Stop)
            }
            TicketOutcome::Completed
            | TicketOutcome::Delivered
            | TicketOutcome::Cancelled
            | TicketOutcome::MaxRounds { .. }
            | TicketOutcome::Removed => self.queue.turn_ended(),
        };
        if change.changed {
            self.announce_queue();
        }
        // Before the next prompt, so that the model has read them when it answers that.
        self.record_shells();
        self.save(None);
        self.outbox.publish(AgentEvent::TurnFinished {
            turn: running.turn,
            ticket: running.ticket,
            outcome: outcome.clone(),
        });
        self.resolve(running.ticket, outcome);
        self.job_wake(WakeEvent::TurnEnded);
        self.start_next();
        if self.running.is_none() {
            self.outbox.publish(AgentEvent::Settled { aborted: self.last_aborted });
        }
    }
}
