//! What follows from what: a pure machine between the ear, the model and the screen.
//!
//! It knows one recording at a time, the newest. Invariants: each recording ends exactly once, with one of
//! [`VoiceEvent::Text`], [`VoiceEvent::Nothing`], [`VoiceEvent::Cancelled`] or [`VoiceEvent::Failed`], and nothing is told
//! of it afterwards (unless a failed one is retried, which ends once more); chunks are decoded one at a time and in
//! order; what comes in an order that makes no sense is counted and changes nothing.

use super::ear::{EarAsk, Heard};
use super::recording::{End, Hearing, Recording};
use crate::dictation::audio::{self, Chunk};
use crate::proto::ids::RecordingId;
use crate::proto::voice::{ChunkState, VoiceEvent, VoiceFailure, Wait};
use std::sync::Arc;
use std::time::Duration;

/// Without progress for this long a stopped recording fails.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// The same while the model is on its way.
pub const LOADING_PATIENCE: Duration = Duration::from_mins(5);
/// This much is recorded without a model to decode it.
pub const LONGEST_QUEUE: Duration = Duration::from_mins(5);
/// Text of the open chunk comes no more often.
pub const PARTIAL_EVERY: Duration = Duration::from_millis(1_500);
/// A chunk may take this many times its length to decode.
const SLOWEST: u32 = 5;

/// What happens.
pub enum Input {
    /// Begins a recording.
    Record(RecordingId),
    /// Ends one.
    Stop(RecordingId, Duration),
    /// Takes the stop back.
    Resume(RecordingId),
    /// Throws one away.
    Cancel(RecordingId),
    /// Decodes what was kept.
    Retry(RecordingId),
    /// The ear told something.
    Heard(Heard),
    /// The model's state.
    Model(Model),
    /// A chunk was decoded, or could not be.
    Decoded {
        /// Whose.
        recording: RecordingId,
        /// Which.
        number: u32,
        /// Its text, or why there is none.
        result: Result<String, String>,
    },
    /// What was said so far in a chunk; `None` if that could not be told.
    Partial {
        /// Whose.
        recording: RecordingId,
        /// Which chunk.
        number: u32,
        /// Its text.
        text: Option<String>,
    },
    /// Time has passed.
    Clock,
}

/// The model, as far as the machine must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// It is not in memory, and nobody brings it there.
    Away,
    /// The user is asked whether to fetch it.
    Consent,
    /// It is being fetched.
    Fetching,
    /// It is being loaded.
    Loading,
    /// It can decode.
    Ready,
    /// It can't be had.
    Failed(VoiceFailure, String),
}

/// What is to be done.
#[derive(Clone, PartialEq)]
pub enum Output {
    /// Tells the screen.
    Tell(VoiceEvent),
    /// Asks the ear.
    Ear(EarAsk),
    /// The model is needed in memory.
    NeedModel,
    /// Decodes a chunk.
    Decode(RecordingId, Chunk),
    /// Decodes what there is of the open chunk.
    DecodePartial {
        /// Whose.
        recording: RecordingId,
        /// Which chunk.
        number: u32,
        /// Its samples.
        samples: Arc<[f32]>,
    },
    /// What is being decoded is not wanted any more.
    Abandon,
    /// The text of the open chunk is not wanted any more.
    AbandonPartial,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Partial {
    Idle,
    Running,
}

/// The machine. Times are those of one clock, from any beginning.
pub struct Machine {
    current: Option<Recording>,
    /// The audio of a failed recording.
    kept: Option<Recording>,
    newest: Option<RecordingId>,
    model: Model,
    in_flight: Option<(RecordingId, u32)>,
    partial: Partial,
    wants_partial: bool,
    /// What decodes, as it is called.
    pub model_name: String,
    ignored: u64,
    outputs: Vec<Output>,
}

impl Machine {
    /// A machine at rest.
    #[must_use]
    pub const fn new(wants_partial: bool) -> Self {
        Self {
            current: None,
            kept: None,
            newest: None,
            model: Model::Away,
            in_flight: None,
            partial: Partial::Idle,
            wants_partial,
            model_name: String::new(),
            ignored: 0,
            outputs: Vec::new(),
        }
    }

    /// Text of the open chunk is wanted, or not.
    pub const fn set_partial(&mut self, wanted: bool) {
        self.wants_partial = wanted;
    }

    /// Nothing is recorded or decoded.
    #[must_use]
    pub const fn is_idle(&self) -> bool {
        self.current.is_none()
    }

    /// A recording waits for a model.
    #[must_use]
    pub fn needs_model(&self) -> bool {
        self.current.is_some() && self.model != Model::Ready
    }

    /// How many inputs made no sense when they came.
    #[must_use]
    pub const fn ignored(&self) -> u64 {
        self.ignored
    }

    /// When [`Input::Clock`] is wanted next.
    #[must_use]
    pub fn wake_at(&self) -> Option<Duration> {
        let recording = self.current.as_ref()?;
        let partial = self.may_peek(recording).then_some(recording.peeked + PARTIAL_EVERY);
        [recording.deadline, partial].into_iter().flatten().min()
    }

    /// Takes something in, and tells what follows, in order.
    pub fn take(&mut self, input: Input, now: Duration) -> Vec<Output> {
        let is_news = !matches!(input, Input::Clock);
        let made_sense = match input {
            Input::Record(id) => self.record(id, now),
            Input::Stop(id, may_resume) => self.stop(id, may_resume),
            Input::Resume(id) => self.resume(id),
            Input::Cancel(id) => self.cancel(id),
            Input::Retry(id) => self.retry(id),
            Input::Heard(heard) => self.heard(heard, now),
            Input::Model(model) => self.model(model),
            Input::Decoded { recording, number, result } => self.decoded(recording, number, result),
            Input::Partial { recording, number, text } => self.partial(recording, number, text),
            Input::Clock => {
                self.clock(now);
                true
            }
        };
        self.ignored += u64::from(!made_sense);
        self.go_on();
        if is_news && made_sense {
            self.arm(now);
        }
        std::mem::take(&mut self.outputs)
    }

    fn tell(&mut self, event: VoiceEvent) {
        self.outputs.push(Output::Tell(event));
    }

    fn of(&mut self, id: RecordingId) -> Option<&mut Recording> {
        self.current.as_mut().filter(|recording| recording.id == id)
    }

    fn record(&mut self, id: RecordingId, now: Duration) -> bool {
        if self.newest.is_some_and(|newest| newest >= id) {
            return false;
        }
        if let Some(old) = self.current.as_ref().map(|recording| recording.id) {
            self.cancel(old);
        }
        self.newest = Some(id);
        self.kept = None;
        self.current = Some(Recording::new(id, now));
        self.tell(VoiceEvent::Opening { recording: id, model: self.model_name.clone(), processor: "cpu" });
        // The ear first: nothing is lost while the model comes.
        self.outputs.push(Output::Ear(EarAsk::Record(id)));
        self.ask_for_model();
        true
    }

    fn ask_for_model(&mut self) {
        if matches!(self.model, Model::Failed(..)) {
            // A new try may find it.
            self.model = Model::Away;
        }
        self.outputs.push(Output::NeedModel);
    }

    fn stop(&mut self, id: RecordingId, may_resume: Duration) -> bool {
        let Some(recording) = self
            .of(id)
            .filter(|recording| matches!(recording.hearing, Hearing::Opening | Hearing::Listening))
        else {
            return false;
        };
        recording.before_stop = recording.hearing;
        recording.hearing = Hearing::Stopping;
        self.outputs.push(Output::Ear(EarAsk::Stop { recording: id, may_resume }));
        true
    }

    fn resume(&mut self, id: RecordingId) -> bool {
        let is_asked = |recording: &&mut Recording| {
            recording.hearing == Hearing::Stopping && recording.failure.is_none() && !recording.ends_itself
        };
        let Some(recording) = self.of(id).filter(is_asked) else { return false };
        recording.hearing = recording.before_stop;
        self.outputs.push(Output::Ear(EarAsk::Resume(id)));
        true
    }

    fn cancel(&mut self, id: RecordingId) -> bool {
        let Some(recording) = self.current.take_if(|recording| recording.id == id) else {
            let is_kept = self.kept.as_ref().is_some_and(|kept| kept.id == id);
            if is_kept {
                self.kept = None;
            }
            return is_kept;
        };
        self.close(&recording);
        self.tell(VoiceEvent::Cancelled(id));
        true
    }

    /// Lets go of whatever works for a recording.
    fn close(&mut self, recording: &Recording) {
        if recording.hearing != Hearing::Ended {
            self.outputs.push(Output::Ear(EarAsk::Cancel(recording.id)));
        }
        if self.in_flight.is_some_and(|(id, _)| id == recording.id) {
            self.outputs.push(Output::Abandon);
        }
        if self.partial == Partial::Running {
            self.outputs.push(Output::AbandonPartial);
        }
    }

    fn retry(&mut self, id: RecordingId) -> bool {
        if self.current.is_some() {
            return false;
        }
        let Some(mut recording) = self.kept.take_if(|kept| kept.id == id) else { return false };
        for number in recording.try_again() {
            self.tell(VoiceEvent::Chunk { recording: id, number, state: ChunkState::Queued });
        }
        self.current = Some(recording);
        self.ask_for_model();
        true
    }

    fn heard(&mut self, heard: Heard, now: Duration) -> bool {
        if let Heard::Notice(text) = heard {
            self.tell(VoiceEvent::Notice(text));
            return true;
        }
        let Some(recording) = heard.recording().and_then(|id| self.of(id)) else { return false };
        let id = recording.id;
        if recording.hearing == Hearing::Ended {
            return false;
        }
        match heard {
            Heard::Began { microphone, latency, .. } => {
                if !recording.begin(now) {
                    return false;
                }
                self.tell(VoiceEvent::Listening { recording: id, microphone, latency });
            }
            Heard::Level { recorded, level, clipped, .. } => {
                recording.recorded = recorded;
                self.tell(VoiceEvent::Level { recording: id, recorded, level, clipped });
            }
            Heard::Filling { number, length, .. } => {
                if recording.pieces.contains_key(&number) {
                    return false;
                }
                recording.open = length;
                self.tell(VoiceEvent::Chunk { recording: id, number, state: ChunkState::Filling(length) });
            }
            Heard::Chunk { chunk, .. } => {
                let number = chunk.number;
                if !recording.add(chunk) {
                    return false;
                }
                if self.partial == Partial::Running {
                    self.outputs.push(Output::AbandonPartial);
                }
                self.tell(VoiceEvent::Chunk { recording: id, number, state: ChunkState::Queued });
            }
            Heard::Open { number, samples, .. } => {
                let is_open = !recording.pieces.contains_key(&number);
                let is_free = self.in_flight.is_none() && self.partial == Partial::Idle;
                if !is_open || !is_free || self.model != Model::Ready || samples.is_empty() {
                    // No fault of anybody: things went on between.
                    return true;
                }
                self.partial = Partial::Running;
                self.outputs.push(Output::DecodePartial { recording: id, number, samples });
            }
            Heard::Warning { warning, .. } => self.tell(VoiceEvent::Warning { recording: id, warning }),
            Heard::StoppedItself { why, .. } => {
                recording.ends_itself = true;
                recording.hearing = Hearing::Stopping;
                self.tell(VoiceEvent::StoppedItself { recording: id, why });
            }
            Heard::Ended(_) => recording.hearing = Hearing::Ended,
            Heard::Failed { failure, text, .. } => {
                recording.hearing = Hearing::Ended;
                if recording.pieces.is_empty() {
                    recording.failure = Some((failure, text));
                } else {
                    // What was heard before counts more than what was not.
                    recording.note = Some(text);
                }
            }
            Heard::Notice(_) => {}
        }
        true
    }

    fn model(&mut self, model: Model) -> bool {
        let was_ready = self.model == Model::Ready;
        self.model = model;
        match &self.model {
            Model::Away if was_ready && self.current.is_some() => self.outputs.push(Output::NeedModel),
            Model::Failed(failure, text) => {
                let failed = (*failure, text.clone());
                if let Some(recording) = &mut self.current {
                    recording.failure.get_or_insert(failed);
                    self.stop_ear();
                }
            }
            _ => {}
        }
        true
    }

    /// Ends the listening by ourselves: what was heard is kept.
    fn stop_ear(&mut self) {
        let Some(recording) = &mut self.current else { return };
        if matches!(recording.hearing, Hearing::Opening | Hearing::Listening) {
            recording.before_stop = recording.hearing;
            recording.hearing = Hearing::Stopping;
            let stop = EarAsk::Stop { recording: recording.id, may_resume: Duration::ZERO };
            self.outputs.push(Output::Ear(stop));
        }
    }

    fn decoded(&mut self, id: RecordingId, number: u32, result: Result<String, String>) -> bool {
        if self.in_flight != Some((id, number)) {
            return false;
        }
        self.in_flight = None;
        // The answer of one that is over frees the model; that is all.
        let Some(recording) = self.of(id) else { return true };
        let state = if result.is_ok() { ChunkState::Done } else { ChunkState::Failed };
        recording.settle(number, result);
        self.tell(VoiceEvent::Chunk { recording: id, number, state });
        true
    }

    fn partial(&mut self, id: RecordingId, number: u32, text: Option<String>) -> bool {
        if self.partial == Partial::Idle {
            return false;
        }
        self.partial = Partial::Idle;
        let is_open = self.of(id).is_some_and(|recording| {
            recording.hearing == Hearing::Listening && !recording.pieces.contains_key(&number)
        });
        if let Some(text) = text.filter(|text| is_open && !text.is_empty()) {
            self.tell(VoiceEvent::Partial { recording: id, text });
        }
        true
    }

    fn may_peek(&self, recording: &Recording) -> bool {
        self.wants_partial
            && self.model == Model::Ready
            && self.in_flight.is_none()
            && self.partial == Partial::Idle
            && recording.hearing == Hearing::Listening
            && recording.open > Duration::ZERO
    }

    fn clock(&mut self, now: Duration) {
        let Some(recording) = &self.current else { return };
        if recording.deadline.is_some_and(|deadline| deadline <= now) {
            self.time_out();
            return;
        }
        if self.may_peek(recording) && recording.peeked + PARTIAL_EVERY <= now {
            let id = recording.id;
            if let Some(recording) = &mut self.current {
                recording.peeked = now;
            }
            self.outputs.push(Output::Ear(EarAsk::Peek(id)));
        }
    }

    fn time_out(&mut self) {
        let Some(recording) = &mut self.current else { return };
        let id = recording.id;
        if recording.hearing == Hearing::Ended {
            let what = match self.model {
                Model::Ready => "The speech model did not answer in time",
                _ => "The speech model did not come in time",
            };
            recording.failure.get_or_insert((VoiceFailure::Timeout, format!("{what}.")));
            recording.give_up();
            if self.in_flight.is_some_and(|(of, _)| of == id) {
                self.outputs.push(Output::Abandon);
            }
        } else {
            // The ear said nothing for too long, not even silence.
            recording.hearing = Hearing::Ended;
            let text = "The microphone gave nothing more.".to_owned();
            if recording.pieces.is_empty() {
                recording.failure.get_or_insert((VoiceFailure::MicrophoneLost, text));
            } else {
                recording.note = Some(text);
            }
            self.outputs.push(Output::Ear(EarAsk::Cancel(id)));
        }
    }

    /// Does whatever can be done now: decodes, ends, says what is waited for.
    fn go_on(&mut self) {
        self.limit_queue();
        self.decode_next();
        if let Some(mut recording) = self.current.take_if(|recording| recording.is_over()) {
            self.close(&recording);
            let end = recording.end();
            if matches!(end, End::Failed { can_retry: true, .. }) {
                recording.clear_for_retry();
                self.kept = Some(recording);
            }
            let event = end.into_event(self.newest.unwrap_or(RecordingId(0)));
            self.tell(event);
        }
        self.tell_wait();
    }

    fn limit_queue(&mut self) {
        let is_ready = self.model == Model::Ready;
        let Some(recording) = &mut self.current else { return };
        if !is_ready && recording.hearing == Hearing::Listening && recording.queued() >= LONGEST_QUEUE {
            recording.ends_itself = true;
            let id = recording.id;
            let why = "The speech model is not ready yet, and five minutes wait for it already.".to_owned();
            self.stop_ear();
            self.tell(VoiceEvent::StoppedItself { recording: id, why });
        }
    }

    fn decode_next(&mut self) {
        if self.model != Model::Ready || self.in_flight.is_some() {
            return;
        }
        let Some(recording) = self.current.as_mut().filter(|recording| recording.failure.is_none()) else {
            return;
        };
        let Some(chunk) = recording.next_queued() else { return };
        let (id, number) = (recording.id, chunk.number);
        self.in_flight = Some((id, number));
        self.tell(VoiceEvent::Chunk { recording: id, number, state: ChunkState::Decoding });
        self.outputs.push(Output::Decode(id, chunk));
    }

    fn tell_wait(&mut self) {
        let Some(recording) = &self.current else { return };
        let on = match (&self.model, recording.hearing) {
            (_, Hearing::Opening) => Some(Wait::Microphone),
            (Model::Consent, _) => Some(Wait::Consent),
            (Model::Fetching, _) => Some(Wait::Fetching),
            (Model::Loading | Model::Away, _) => {
                // Whole tenths: what the eye can follow.
                let tenths = recording.queued().as_millis() / 100;
                Some(Wait::Loading {
                    queued: Duration::from_millis(u64::try_from(tenths).unwrap_or(0) * 100),
                })
            }
            (Model::Ready, Hearing::Stopping | Hearing::Ended) => Some(Wait::Decoding),
            _ => None,
        };
        let (id, told) = (recording.id, &recording.told_wait);
        if *told == on {
            return;
        }
        if let Some(recording) = &mut self.current {
            recording.told_wait.clone_from(&on);
        }
        self.tell(VoiceEvent::Waits { recording: id, on });
    }

    /// Sets the time at which patience ends, counted from now.
    fn arm(&mut self, now: Duration) {
        let in_flight = self.in_flight;
        let model = &self.model;
        let Some(recording) = &mut self.current else { return };
        let limit = match (model, recording.hearing) {
            // However long the user thinks about it.
            (Model::Consent, Hearing::Ended) => None,
            (Model::Away | Model::Fetching | Model::Loading, Hearing::Ended) => Some(LOADING_PATIENCE),
            (_, Hearing::Ended) => {
                let chunk = in_flight.and_then(|(_, number)| recording.pieces.get(&number));
                let length = chunk.and_then(|piece| piece.chunk.as_ref());
                let length = length.map_or(Duration::ZERO, |chunk| audio::duration(chunk.samples.len()));
                Some(PATIENCE.max(length * SLOWEST))
            }
            _ => Some(PATIENCE),
        };
        recording.deadline = limit.map(|limit| now + limit);
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
