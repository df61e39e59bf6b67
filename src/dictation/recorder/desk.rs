//! What a recorder knows and decides, without threads: orders, what sources tell, and the time go in.
//!
//! One recording runs at a time, and one source is open at most. Without pre-roll the source is closed as soon as the
//! recording needs it no more. With it the source stays open after the first recording, and the newest samples are kept
//! until the next one begins.

use super::take::Take;
use super::{Heard, Order, Rules, Told};
use crate::dictation::capture::{CaptureError, Note, Reader};
use crate::proto::ids::RecordingId;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Between two looks at the queue while something is recorded.
const LOOK: Duration = Duration::from_millis(25);

/// Between two looks while only the pre-roll is kept.
const IDLE_LOOK: Duration = Duration::from_millis(500);

/// Opens sources. What a source tells comes back to [`Desk::note`] with the number that it was opened with. It is closed
/// when `T` is dropped.
pub trait Open<T> {
    /// Opens what the rules say.
    ///
    /// # Errors
    /// It can't even be tried.
    fn open(&mut self, rules: &Rules, number: u64) -> Result<T, CaptureError>;
}

/// The state of a recorder.
pub struct Desk<T, O> {
    opener: O,
    rules: Rules,
    /// Rules that hold once the running recording is over.
    next_rules: Option<Rules>,
    opened: u64,
    tap: Option<Tapped<T>>,
    take: Option<(RecordingId, Take)>,
    block: Vec<f32>,
}

/// A source that is open or on its way.
struct Tapped<T> {
    /// Held: dropped, the source is closed.
    _tap: T,
    number: u64,
    /// Name, rate and samples, once it is open.
    open: Option<(String, u32, Reader)>,
    /// The newest samples, while nothing is recorded.
    before: VecDeque<f32>,
}

type Tell<'a> = &'a mut dyn FnMut(Heard);

impl<T, O: Open<T>> Desk<T, O> {
    /// Nothing is open, and nothing is opened before it is asked for.
    pub const fn new(opener: O, rules: Rules) -> Self {
        Self { opener, rules, next_rules: None, opened: 0, tap: None, take: None, block: Vec::new() }
    }

    /// Follows an order.
    pub fn order(&mut self, order: Order, now: Instant, tell: Tell<'_>) {
        self.look(now, tell);
        match order {
            Order::Record(recording) => self.record(recording, now, tell),
            Order::Stop { recording, may_resume } => {
                if let Some(take) = self.take_of(recording) {
                    take.stop(may_resume, now);
                }
            }
            Order::Resume(recording) => {
                if let Some(take) = self.take_of(recording) {
                    take.resume(now, &mut |told| tell(Heard { recording, told }));
                }
            }
            Order::Cancel(recording) => {
                if self.take_of(recording).is_some() {
                    self.take = None;
                    self.release();
                }
            }
            Order::Peek(recording) => {
                if let Some(chunk) = self.take_of(recording).and_then(|take| take.open_chunk()) {
                    tell(Heard { recording, told: Told::Open(chunk) });
                }
            }
            Order::Configure(rules) => {
                self.next_rules = Some(rules);
                if self.take.is_none() {
                    self.release();
                }
            }
        }
        self.settle(now, tell);
    }

    /// Takes what a source tells. One that is not open any more has nothing to say.
    pub fn note(&mut self, number: u64, note: Note, now: Instant, tell: Tell<'_>) {
        let Some(tapped) = self.tap.as_mut().filter(|tapped| tapped.number == number) else { return };
        match note {
            Note::Opened { name, rate, samples } => {
                let lost = samples.lost();
                tapped.open = Some((name.clone(), rate, samples));
                if let Some((_recording, take)) = &mut self.take
                    && let Err(error) = take.opened(name, rate, lost, now)
                {
                    self.source_ended(Err(error), now, tell);
                }
            }
            Note::Notice(text) => {
                if let Some((recording, _take)) = &self.take {
                    tell(Heard { recording: *recording, told: Told::Notice(text) });
                }
            }
            Note::Ended(result) => {
                self.look(now, tell);
                self.source_ended(result, now, tell);
            }
        }
        self.look(now, tell);
        self.settle(now, tell);
    }

    /// Looks at the queue and the time.
    pub fn tick(&mut self, now: Instant, tell: Tell<'_>) {
        self.look(now, tell);
        if let Some(error) = self.take.as_ref().and_then(|(_recording, take)| take.is_starved(now)) {
            self.source_ended(Err(error), now, tell);
        }
        self.settle(now, tell);
    }

    /// When it must be woken although nothing comes; `None` if it need not.
    pub fn pause(&self, now: Instant) -> Option<Duration> {
        let is_open = self.tap.as_ref().is_some_and(|tapped| tapped.open.is_some());
        match &self.take {
            Some(_take) if is_open => Some(LOOK),
            Some((_recording, take)) => Some(take.deadline(now).saturating_duration_since(now)),
            None => self.tap.as_ref().map(|_tapped| IDLE_LOOK),
        }
    }

    fn take_of(&mut self, recording: RecordingId) -> Option<&mut Take> {
        self.take.as_mut().filter(|(running, _take)| *running == recording).map(|(_running, take)| take)
    }

    fn record(&mut self, recording: RecordingId, now: Instant, tell: Tell<'_>) {
        if self.take.as_ref().is_some_and(|(running, _take)| *running == recording) {
            return;
        }
        // The one before is over, whatever it waited for; its source is taken over.
        if let Some((before, take)) = self.take.take() {
            take.finish(&mut |told| tell(Heard { recording: before, told }));
        }
        if self.next_rules.is_some() {
            self.tap = None;
        }
        if let Some(rules) = self.next_rules.take() {
            self.rules = rules;
        }
        let mut take = Take::new(self.rules.microphone.clone(), self.rules.longest, now);
        let mut failed = None;
        match &mut self.tap {
            Some(tapped) => {
                if let Some((name, rate, reader)) = &tapped.open {
                    failed = take.opened(name.clone(), *rate, reader.lost(), now).err();
                    let before: Vec<f32> = std::mem::take(&mut tapped.before).into();
                    take.hear(&before, reader.lost(), now, &mut |told| tell(Heard { recording, told }));
                }
            }
            None => {
                self.opened += 1;
                match self.opener.open(&self.rules, self.opened) {
                    Ok(tap) => {
                        let number = self.opened;
                        self.tap = Some(Tapped { _tap: tap, number, open: None, before: VecDeque::new() });
                    }
                    Err(error) => failed = Some(error),
                }
            }
        }
        self.take = Some((recording, take));
        if let Some(error) = failed {
            self.source_ended(Err(error), now, tell);
        }
    }

    /// Moves samples from the queue to where they belong.
    fn look(&mut self, now: Instant, tell: Tell<'_>) {
        let Some(tapped) = &mut self.tap else { return };
        let Some((_name, rate, reader)) = &mut tapped.open else { return };
        self.block.clear();
        reader.read(&mut self.block);
        match &mut self.take {
            Some((recording, take)) => {
                let recording = *recording;
                take.hear(&self.block, reader.lost(), now, &mut |told| tell(Heard { recording, told }));
            }
            None => {
                let kept = usize::try_from(self.rules.pre_roll.as_micros() * u128::from(*rate) / 1_000_000);
                let kept = kept.unwrap_or(0);
                tapped.before.extend(&self.block);
                tapped.before.drain(..tapped.before.len().saturating_sub(kept));
            }
        }
    }

    /// The source gives no more: what was heard is finished; without any sound the recording has failed.
    fn source_ended(&mut self, result: Result<(), CaptureError>, now: Instant, tell: Tell<'_>) {
        self.tap = None;
        let Some((recording, take)) = self.take.take() else { return };
        let mut tell = |told| tell(Heard { recording, told });
        match result {
            Err(error) if !take.has_sound() && !take.is_stopped() => {
                tell(Told::Failed { failure: error.failure(), text: error.to_string() });
                return;
            }
            // What counts is already there.
            _ if take.is_stopped() || take.is_complete(now) => {}
            Err(error) => tell(Told::StoppedItself(error.to_string())),
            Ok(()) => tell(Told::StoppedItself("The sound has ended.".to_owned())),
        }
        take.finish(&mut tell);
    }

    /// Finishes a recording that has all it waits for.
    fn settle(&mut self, now: Instant, tell: Tell<'_>) {
        if let Some((recording, take)) = self.take.take_if(|(_recording, take)| take.is_complete(now)) {
            // Until the next one nothing is kept of what came after the end, but the pre-roll.
            take.finish(&mut |told| tell(Heard { recording, told }));
            self.release();
        }
    }

    /// Closes the source, unless it is to stay open.
    fn release(&mut self) {
        if let Some(rules) = self.next_rules.take() {
            self.rules = rules;
            self.tap = None;
        }
        let is_open = self.tap.as_ref().is_some_and(|tapped| tapped.open.is_some());
        if self.rules.pre_roll.is_zero() || !is_open {
            self.tap = None;
        }
    }
}
