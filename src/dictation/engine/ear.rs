//! What the engine asks of whatever listens, and what it is told. The microphone's recorder is one, tests have others.

use crate::dictation::audio::Chunk;
use crate::proto::ids::RecordingId;
use crate::proto::voice::{VoiceFailure, VoiceSettings, VoiceWarning};
use std::sync::Arc;
use std::time::Duration;

/// Something that listens. It answers through the function that it was made with, from any thread; [`EarAsk`]s never
/// wait. Dropping it closes the microphone.
pub trait Ear: Send {
    /// Asks it for something.
    fn ask(&mut self, ask: EarAsk);
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum EarAsk {
    /// Begins a recording.
    Record(RecordingId),
    /// Ends it: what was heard and not yet told comes as chunks, then [`Heard::Ended`].
    Stop {
        /// Which.
        recording: RecordingId,
        /// Goes on listening for this long in case of a [`EarAsk::Resume`].
        may_resume: Duration,
    },
    /// The stop was a mistake.
    Resume(RecordingId),
    /// Throws it away; nothing more is told of it.
    Cancel(RecordingId),
    /// Wants the samples of the chunk that is being spoken, as [`Heard::Open`].
    Peek(RecordingId),
    /// Other settings hold from the next recording on.
    Configure(Box<VoiceSettings>),
}

/// What it tells.
#[derive(Clone, PartialEq)]
pub enum Heard {
    /// The first samples came.
    Began {
        /// Which recording.
        recording: RecordingId,
        /// The microphone.
        microphone: String,
        /// Time from asking to the first sample.
        latency: Duration,
    },
    /// About a tenth of a second was recorded.
    Level {
        /// Which recording.
        recording: RecordingId,
        /// The recording's length so far.
        recorded: Duration,
        /// Loudness, from 0 to 1.
        level: f32,
        /// Samples at full scale.
        clipped: u32,
    },
    /// The chunk that is being spoken has grown.
    Filling {
        /// Which recording.
        recording: RecordingId,
        /// Its number.
        number: u32,
        /// Its length so far.
        length: Duration,
    },
    /// A chunk is whole.
    Chunk {
        /// Which recording.
        recording: RecordingId,
        /// It.
        chunk: Chunk,
    },
    /// The chunk that is being spoken, so far.
    Open {
        /// Which recording.
        recording: RecordingId,
        /// Its number.
        number: u32,
        /// Its samples.
        samples: Arc<[f32]>,
    },
    /// Something the user should know while speaking.
    Warning {
        /// Which recording.
        recording: RecordingId,
        /// What.
        warning: VoiceWarning,
    },
    /// The recording ends without being asked; its last chunks and [`Heard::Ended`] follow.
    StoppedItself {
        /// Which recording.
        recording: RecordingId,
        /// Why, for people.
        why: String,
    },
    /// All chunks of the recording were told.
    Ended(RecordingId),
    /// There is no sound to be had.
    Failed {
        /// Which recording.
        recording: RecordingId,
        /// In which way.
        failure: VoiceFailure,
        /// For people.
        text: String,
    },
    /// Something to say once, of no recording.
    Notice(String),
}

impl Heard {
    /// The recording it is about.
    #[must_use]
    pub const fn recording(&self) -> Option<RecordingId> {
        match self {
            Self::Began { recording, .. }
            | Self::Level { recording, .. }
            | Self::Filling { recording, .. }
            | Self::Chunk { recording, .. }
            | Self::Open { recording, .. }
            | Self::Warning { recording, .. }
            | Self::StoppedItself { recording, .. }
            | Self::Ended(recording)
            | Self::Failed { recording, .. } => Some(*recording),
            Self::Notice(_) => None,
        }
    }
}
