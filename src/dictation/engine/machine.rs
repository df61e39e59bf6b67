//! What follows from what: a pure machine between the ear, the model and the screen.
//!
//! It knows one recording at a time, the newest. Invariants: each recording ends exactly once, with one of
//! [`VoiceEvent::Text`], [`VoiceEvent::Nothing`], [`VoiceEvent::Cancelled`] or [`VoiceEvent::Failed`], and nothing is told
//! of it afterwards (unless a failed one is retried, which ends once more); chunks are decoded one at a time and in
//! order; what comes in an order that makes no sense is counted and changes nothing.
//!
//! | file | what it is |
//! |---|---|
//! | `asks` | what the user asks |
//! | `hearing` | what the ear tells |
//! | `decoding` | what the model does |
//! | `patience` | time |

mod asks;
mod decoding;
mod hearing;
mod patience;
#[cfg(test)]
mod tests;

use super::ear::{EarAsk, Heard};
use super::recording::{End, Recording};
use crate::dictation::audio::Chunk;
use crate::proto::ids::RecordingId;
use crate::proto::voice::{VoiceEvent, VoiceFailure};
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
}
