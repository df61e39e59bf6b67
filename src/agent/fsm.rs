//! The turn machine: from what happened to what to do, without doing it.
//!
//! Responsibilities: the order of a turn (request, batch of calls, steering, next round), retries, the user's stop, and
//! the rule which calls may run side by side. Non-responsibilities: history, log, queue, permission rules, tasks; those
//! are effects that the session and its driver perform.
//!
//! Invariants:
//! - exactly one [`Effect::Finish`], and nothing after it;
//! - every call of a recorded assistant message gets exactly one [`Effect::Record`]ed result, in the order of the calls,
//!   before the next request and before the finish;
//! - at most one stream and one timer at a time; an event that does not fit the state changes nothing.
//!
//! `fsm/tests.rs` reads as its specification.

mod batch;
mod effect;
mod event;

pub use effect::Effect;
pub use event::{Event, Judgement};

use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::retry::{Retry, RetryPolicy};
use crate::proto::command::TicketOutcome;
use crate::proto::event::NoticeLevel;
use crate::proto::ids::CallId;
use crate::proto::message::{AssistantMessage, StopReason};
use crate::proto::tool::{REFUSED, STOPPED, ToolOutput};
use batch::{Batch, Progress, Slot};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A provider may pause a long response this often before we take what it has.
const MAX_PAUSES: u32 = 5;
/// After a stop, running calls get this long to hand over what they have.
const STOP_GRACE: Duration = Duration::from_millis(40);

/// Names a timer, so that a late one is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimerId(u32);

/// The state of one turn.
#[derive(Debug)]
pub struct TurnFsm {
    state: State,
    retry: RetryPolicy,
    /// 0 is no limit.
    max_rounds: u32,
    round: u32,
    /// Failed tries of the current request.
    failures: u32,
    pauses: u32,
    timers: u32,
}

#[derive(Debug)]
enum State {
    New,
    Streaming,
    WaitingToRetry(TimerId),
    Batch(Batch),
    /// Stopped; running calls hand over what they have.
    Stopping(Batch, TimerId),
    /// Between rounds, steering is being taken.
    Boundary {
        had_calls: bool,
    },
    Over,
}

impl TurnFsm {
    /// A turn that has not begun. `max_rounds` 0 is no limit.
    pub const fn new(retry: RetryPolicy, max_rounds: u32) -> Self {
        Self { state: State::New, retry, max_rounds, round: 0, failures: 0, pauses: 0, timers: 0 }
    }

    /// The turn has ended.
    pub const fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// The user has stopped it; running calls hand over what they have.
    pub const fn is_stopping(&self) -> bool {
        matches!(self.state, State::Stopping(..))
    }

    /// The round in progress, from 1.
    pub const fn round(&self) -> u32 {
        self.round
    }

    /// Takes an event in; the effects are to be performed in order.
    pub fn handle(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        match (std::mem::replace(&mut self.state, State::Over), event) {
            (State::New, Event::Begin) => self.next_round(&mut effects),
            (State::New, Event::Stop) => effects.push(Effect::Finish(TicketOutcome::Cancelled)),

            (State::Streaming, Event::StreamFinished(message)) => self.response(message, &mut effects),
            (State::Streaming, Event::StreamFailed { error, message, jitter }) => {
                self.failure(&error, message, jitter, &mut effects);
            }
            (State::Streaming, Event::Stop) => {
                effects.push(Effect::AbortStream);
                effects.push(Effect::Finish(TicketOutcome::Cancelled));
            }

            (State::WaitingToRetry(timer), Event::TimerFired(fired)) if timer == fired => {
                self.state = State::Streaming;
                effects.push(Effect::Request);
            }
            (State::WaitingToRetry(_), Event::Stop) => {
                effects.push(self.retry_finished(false, None));
                effects.push(Effect::Finish(TicketOutcome::Cancelled));
            }

            (State::Batch(batch), Event::Judged { call, judgement }) => {
                self.judged(batch, &call, judgement, &mut effects);
            }
            (State::Batch(mut batch), Event::ToolFinished { call, output, duration_ms }) => {
                batch.done(&call, output, Some(duration_ms), &mut effects);
                self.advance(batch, &mut effects);
            }
            (State::Batch(batch), Event::Stop) => self.stop_batch(batch, &mut effects),

            (State::Stopping(mut batch, timer), Event::ToolFinished { call, output, duration_ms }) => {
                batch.done(&call, output, Some(duration_ms), &mut effects);
                self.stopping(batch, timer, &mut effects);
            }
            (State::Stopping(batch, timer), Event::TimerFired(fired)) if timer == fired => {
                finish_stopped(batch, &mut effects);
            }

            (State::Boundary { had_calls }, Event::SteeringTaken { any }) => {
                if had_calls || any {
                    self.next_round(&mut effects);
                } else {
                    effects.push(Effect::Finish(TicketOutcome::Completed));
                }
            }
            (State::Boundary { .. }, Event::Stop) => effects.push(Effect::Finish(TicketOutcome::Cancelled)),

            // Late or doubled news: a second stop, a timer that was replaced, a call that was given up.
            (state, _) => self.state = state,
        }
        effects
    }

    fn next_round(&mut self, effects: &mut Vec<Effect>) {
        if self.max_rounds > 0 && self.round >= self.max_rounds {
            effects.push(Effect::Finish(TicketOutcome::MaxRounds { limit: self.max_rounds }));
            return;
        }
        self.round += 1;
        self.failures = 0;
        self.pauses = 0;
        self.state = State::Streaming;
        effects.push(Effect::RoundStarted(self.round));
        effects.push(Effect::Request);
    }

    fn response(&mut self, message: Arc<AssistantMessage>, effects: &mut Vec<Effect>) {
        if self.failures > 0 {
            effects.push(self.retry_finished(true, None));
            self.failures = 0;
        }
        effects.push(Effect::Record(message.clone()));
        let slots: VecDeque<Slot> = message
            .tool_calls()
            .map(|call| Slot { call: call.clone(), progress: Progress::Unchecked })
            .collect();
        if !slots.is_empty() {
            self.advance(Batch { message, slots, refused: false }, effects);
            return;
        }
        if message.raw_stop_reason.as_deref() == Some("pause_turn") && self.pauses < MAX_PAUSES {
            self.pauses += 1;
            self.state = State::Streaming;
            effects.push(Effect::Request);
            return;
        }
        if message.stop_reason == StopReason::Length {
            let text = "The answer reached the model's output limit and is cut off. Ask it to continue.";
            effects.push(Effect::Notice(NoticeLevel::Warning, text.to_owned()));
        } else if message.content.is_empty() {
            let text = "The model ended its answer without saying anything.";
            effects.push(Effect::Notice(NoticeLevel::Warning, text.to_owned()));
        }
        self.boundary(message, false, effects);
    }

    fn failure(
        &mut self,
        error: &LlmError,
        message: Option<Arc<AssistantMessage>>,
        jitter: f64,
        effects: &mut Vec<Effect>,
    ) {
        // A failed response stays in the log; requests leave it out.
        if let Some(message) = &message {
            effects.push(Effect::Record(message.clone()));
        }
        self.failures += 1;
        match self.retry.next(self.failures, error, jitter) {
            Retry::After(after) => {
                let timer = self.timer();
                self.state = State::WaitingToRetry(timer);
                let attempt = self.failures;
                effects.push(Effect::RetryScheduled { attempt, after, error: error.message.clone() });
                effects.push(Effect::StartTimer { id: timer, after });
            }
            Retry::GiveUp { reason } => {
                self.failures -= 1;
                if self.failures > 0 {
                    effects.push(self.retry_finished(false, Some(error.message.clone())));
                }
                effects.extend(message.map(Effect::RoundFinished));
                effects.push(Effect::Finish(match error.class {
                    ErrorClass::Refusal => TicketOutcome::Refused { reason: error.message.clone() },
                    class if class.is_retryable() => {
                        TicketOutcome::Failed { error: format!("{} Mynah gave up: {reason}.", error.message) }
                    }
                    // The message says already what must change first.
                    _ => TicketOutcome::Failed { error: error.message.clone() },
                }));
            }
        }
    }

    const fn retry_finished(&self, success: bool, error: Option<String>) -> Effect {
        Effect::RetryFinished { success, attempt: self.failures, error }
    }

    fn judged(&mut self, mut batch: Batch, call: &CallId, judgement: Judgement, effects: &mut Vec<Effect>) {
        let checked = batch
            .slots
            .iter_mut()
            .find(|slot| slot.call.id == *call && matches!(slot.progress, Progress::BeingChecked));
        if let Some(slot) = checked {
            match judgement {
                Judgement::Run { arguments, mutating } => {
                    slot.call.arguments = arguments;
                    slot.progress = Progress::Ready { mutating };
                }
                Judgement::Answer(output) => slot.answer(output, effects),
                Judgement::Refused => {
                    slot.answer(ToolOutput::error(REFUSED), effects);
                    batch.refuse_rest(effects);
                }
            }
        }
        self.advance(batch, effects);
    }

    /// Checks the next call; once all are checked, runs what may run; records what is done; ends the round.
    fn advance(&mut self, mut batch: Batch, effects: &mut Vec<Effect>) {
        if batch.slots.iter().any(|slot| matches!(slot.progress, Progress::BeingChecked)) {
            self.state = State::Batch(batch);
            return;
        }
        if let Some(slot) = batch.slots.iter_mut().find(|slot| matches!(slot.progress, Progress::Unchecked)) {
            slot.progress = Progress::BeingChecked;
            effects.push(Effect::Judge(slot.call.clone()));
            self.state = State::Batch(batch);
            return;
        }
        batch.record(effects);
        if batch.slots.is_empty() {
            if batch.refused {
                effects.push(Effect::RoundFinished(batch.message));
                effects.push(Effect::Finish(TicketOutcome::Cancelled));
            } else {
                self.boundary(batch.message, true, effects);
            }
            return;
        }
        batch.start(effects);
        self.state = State::Batch(batch);
    }

    fn boundary(&mut self, message: Arc<AssistantMessage>, had_calls: bool, effects: &mut Vec<Effect>) {
        effects.push(Effect::RoundFinished(message));
        effects.push(Effect::TakeSteering);
        self.state = State::Boundary { had_calls };
    }

    fn stop_batch(&mut self, batch: Batch, effects: &mut Vec<Effect>) {
        if let Some(slot) = batch.slots.iter().find(|slot| matches!(slot.progress, Progress::BeingChecked)) {
            effects.push(Effect::Unask(slot.call.id.clone()));
        }
        effects.push(Effect::AbortTools);
        let timer = self.timer();
        if batch.is_running() {
            effects.push(Effect::StartTimer { id: timer, after: STOP_GRACE });
        }
        self.stopping(batch, timer, effects);
    }

    fn stopping(&mut self, batch: Batch, timer: TimerId, effects: &mut Vec<Effect>) {
        if batch.is_running() {
            self.state = State::Stopping(batch, timer);
        } else {
            finish_stopped(batch, effects);
        }
    }

    const fn timer(&mut self) -> TimerId {
        self.timers += 1;
        TimerId(self.timers)
    }
}

/// Answers what is left of a stopped batch and ends the turn.
fn finish_stopped(mut batch: Batch, effects: &mut Vec<Effect>) {
    for slot in &mut batch.slots {
        if !matches!(slot.progress, Progress::Done { .. }) {
            slot.answer(ToolOutput::error(STOPPED), effects);
        }
    }
    batch.record(effects);
    effects.push(Effect::RoundFinished(batch.message));
    effects.push(Effect::Finish(TicketOutcome::Cancelled));
}

#[cfg(test)]
mod tests;
