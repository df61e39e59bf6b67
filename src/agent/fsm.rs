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

use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::retry::{Retry, RetryPolicy};
use crate::proto::command::TicketOutcome;
use crate::proto::event::NoticeLevel;
use crate::proto::ids::CallId;
use crate::proto::message::{AssistantMessage, StopReason, ToolCall};
use crate::proto::tool::ToolOutput;
use crate::tools::Arguments;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A provider may pause a long response this often before we take what it has.
const MAX_PAUSES: u32 = 5;
/// After a stop, running calls get this long to hand over what they have.
const STOP_GRACE: Duration = Duration::from_millis(40);

/// The result of a call that the user's stop kept from running or from ending.
pub const STOPPED: &str = "Stopped by the user before it was done.";
/// The result of the calls after one that the user refused.
pub const NOT_RUN: &str = "Not run: the user refused an earlier call of this batch.";
/// The question that the user refused, as its result.
pub const REFUSED: &str = "The user refused this call.";

/// What happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// The prompt is in the history.
    Begin,
    /// The response is whole.
    StreamFinished(Arc<AssistantMessage>),
    /// The response failed.
    StreamFailed {
        /// How.
        error: LlmError,
        /// What came, marked as failed; `None` when the provider had not begun to answer.
        message: Option<Arc<AssistantMessage>>,
        /// A random number from 0 to 1 for the wait before the next try.
        jitter: f64,
    },
    /// The checks of a call are through.
    Judged {
        /// The call.
        call: CallId,
        /// What they say.
        judgement: Judgement,
    },
    /// A call ended.
    ToolFinished {
        /// The call.
        call: CallId,
        /// What it gave.
        output: Arc<ToolOutput>,
        /// How long it ran.
        duration_ms: u64,
    },
    /// What the user said meanwhile is in the history, if there was anything.
    SteeringTaken {
        /// There was.
        any: bool,
    },
    /// The timer ran out.
    TimerFired(TimerId),
    /// The user wants it to stop.
    Stop,
}

/// What the checks of a call say.
#[derive(Debug, Clone)]
pub enum Judgement {
    /// It may run.
    Run {
        /// Checked arguments.
        arguments: Arguments,
        /// It may change something: runs alone, in order.
        mutating: bool,
    },
    /// It is answered without running; the turn goes on.
    Answer(ToolOutput),
    /// The user said no: this call and all after it are answered, the turn ends.
    Refused,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// A round begins.
    RoundStarted(u32),
    /// Send the history to the model.
    Request,
    /// Drop the stream; what came so far is recorded as aborted and ends the round.
    AbortStream,
    /// This is part of the conversation now.
    Record(Arc<AssistantMessage>),
    /// So is this result.
    RecordResult {
        /// The call that is answered.
        call: ToolCall,
        /// What it gave.
        output: Arc<ToolOutput>,
        /// How long it ran; `None` when it did not run.
        duration_ms: Option<u64>,
    },
    /// Check the call; answer with [`Event::Judged`], at once or when the user has answered.
    Judge(ToolCall),
    /// The question to the user about this call falls away.
    Unask(CallId),
    /// Run the call.
    Run {
        /// The call, with checked arguments.
        call: ToolCall,
    },
    /// A call ended or was answered; tell the listeners.
    Announce {
        /// The call.
        call: ToolCall,
        /// What it gave.
        output: Arc<ToolOutput>,
        /// How long it ran; `None` when it did not run.
        duration_ms: Option<u64>,
    },
    /// Stop all running calls.
    AbortTools,
    /// Set the timer (the one before it is void).
    StartTimer {
        /// Its name.
        id: TimerId,
        /// When it fires.
        after: Duration,
    },
    /// Put what the user said meanwhile into the history; answer with [`Event::SteeringTaken`].
    TakeSteering,
    /// A round ended with this message.
    RoundFinished(Arc<AssistantMessage>),
    /// The request is repeated after a wait.
    RetryScheduled {
        /// Counts from 1.
        attempt: u32,
        /// How long.
        after: Duration,
        /// What failed.
        error: String,
    },
    /// The retries ended.
    RetryFinished {
        /// With a response.
        success: bool,
        /// How many there were.
        attempt: u32,
        /// The last failure.
        error: Option<String>,
    },
    /// Tell the user.
    Notice(NoticeLevel, String),
    /// The turn is over.
    Finish(TicketOutcome),
}

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

#[derive(Debug)]
struct Batch {
    message: Arc<AssistantMessage>,
    /// Calls not recorded yet, in order.
    slots: VecDeque<Slot>,
    /// The user refused: the turn ends with this batch.
    refused: bool,
}

#[derive(Debug)]
struct Slot {
    call: ToolCall,
    progress: Progress,
}

#[derive(Debug)]
enum Progress {
    Unchecked,
    BeingChecked,
    Ready { mutating: bool },
    Running { mutating: bool },
    Done { output: Arc<ToolOutput>, duration_ms: Option<u64> },
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

impl Slot {
    /// Ends the call without a run.
    fn answer(&mut self, output: ToolOutput, effects: &mut Vec<Effect>) {
        let output = Arc::new(output);
        effects.push(Effect::Announce { call: self.call.clone(), output: output.clone(), duration_ms: None });
        self.progress = Progress::Done { output, duration_ms: None };
    }
}

impl Batch {
    fn is_running(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.progress, Progress::Running { .. }))
    }

    fn done(
        &mut self,
        call: &CallId,
        output: Arc<ToolOutput>,
        duration_ms: Option<u64>,
        effects: &mut Vec<Effect>,
    ) {
        let running = self
            .slots
            .iter_mut()
            .find(|slot| slot.call.id == *call && matches!(slot.progress, Progress::Running { .. }));
        if let Some(slot) = running {
            effects.push(Effect::Announce { call: slot.call.clone(), output: output.clone(), duration_ms });
            slot.progress = Progress::Done { output, duration_ms };
        }
    }

    /// Read-only calls run side by side; a mutating one waits for all before it and holds up all behind it.
    fn start(&mut self, effects: &mut Vec<Effect>) {
        let mut unfinished_before = false;
        for slot in &mut self.slots {
            match slot.progress {
                Progress::Done { .. } => continue,
                Progress::Running { mutating: true } => return,
                Progress::Running { mutating: false } => {}
                Progress::Ready { mutating: true } => {
                    if !unfinished_before {
                        slot.progress = Progress::Running { mutating: true };
                        effects.push(Effect::Run { call: slot.call.clone() });
                    }
                    return;
                }
                Progress::Ready { mutating: false } => {
                    slot.progress = Progress::Running { mutating: false };
                    effects.push(Effect::Run { call: slot.call.clone() });
                }
                Progress::Unchecked | Progress::BeingChecked => return,
            }
            unfinished_before = true;
        }
    }

    /// Records results from the front, so that their order is that of the calls and a crash loses as little as it can.
    fn record(&mut self, effects: &mut Vec<Effect>) {
        while let Some(Slot { progress: Progress::Done { output, duration_ms }, .. }) = self.slots.front() {
            let (output, duration_ms) = (output.clone(), *duration_ms);
            if let Some(slot) = self.slots.pop_front() {
                effects.push(Effect::RecordResult { call: slot.call, output, duration_ms });
            }
        }
    }

    fn refuse_rest(&mut self, effects: &mut Vec<Effect>) {
        self.refused = true;
        for slot in &mut self.slots {
            if !matches!(slot.progress, Progress::Done { .. }) {
                slot.answer(ToolOutput::error(NOT_RUN), effects);
            }
        }
    }
}

#[cfg(test)]
mod tests;
