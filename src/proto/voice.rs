//! Dictation as the screen and the speech engine speak of it: what is asked, and what is told.
//!
//! A recording has a number of its own. Whatever is told of a recording that was cancelled, or is not the newest, is
//! late: whoever reads it drops it.

use super::ids::RecordingId;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// What dictation is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum VoiceCommand {
    /// Begins a recording: at once, whatever the model does.
    Record(RecordingId),
    /// Ends a recording: what was heard so far becomes text.
    Stop {
        /// Which.
        recording: RecordingId,
        /// Goes on listening for this long in case the stop was a mistake ([`VoiceCommand::Resume`]); the text comes
        /// no sooner. Zero where the terminal tells releases of keys.
        may_resume: Duration,
    },
    /// The stop was a mistake: the recording goes on, and nothing between is lost.
    Resume(RecordingId),
    /// Throws a recording away, at whatever stage it is.
    Cancel(RecordingId),
    /// Decodes the kept audio of a failed recording once more.
    Retry(RecordingId),
    /// The user agrees to load a model from the network, by its name in the table.
    Fetch(String),
    /// The user does not want to load a model, or no longer.
    StopFetching,
    /// Lists microphones and models, as [`VoiceEvent::Status`].
    Status,
    /// Loads the model now, and offers to fetch it where it is missing.
    SetUp,
    /// Frees the model's memory.
    Unload,
    /// Other settings hold from now on; a running recording keeps its microphone and its model.
    Configure(Box<VoiceSettings>),
}

/// What the settings say of dictation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoiceSettings {
    /// Where sound comes from.
    pub source: SoundSource,
    /// The microphone by its name; empty for the system's default.
    pub microphone: String,
    /// A model's name in the table, or a path; empty to choose by this machine's memory.
    pub model: String,
    /// `auto`, or a language as `en`.
    pub language: String,
    /// How a model's weights are kept in memory.
    pub precision: Precision,
    /// Text of the open chunk is told while it is spoken.
    pub partial_text: bool,
    /// A recording stops by itself after this time.
    pub longest: Duration,
    /// The microphone stays open between recordings, and this much of what was heard before the key counts.
    pub pre_roll: Duration,
    /// The model is freed after this time without dictation.
    pub idle: Duration,
    /// Threads that decode; `None` for one a physical core.
    pub threads: Option<usize>,
    /// Nothing is fetched.
    pub offline: bool,
}

/// Where sound comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SoundSource {
    /// The system's audio, else the first recording program that is there.
    Auto,
    /// The system's audio.
    Device,
    /// A program that writes 16-bit little-endian mono samples at 16 kHz: `arecord`, `parec`, `pw-record`, or any
    /// command line.
    Command(String),
}

/// How a model's weights are kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Whatever is faster here, measured once.
    Auto,
    /// A byte each.
    Int8,
    /// Four bytes each, as they were trained.
    F32,
}

/// What dictation tells.
#[derive(Clone, Debug, PartialEq)]
pub enum VoiceEvent {
    /// The microphone is being opened.
    Opening {
        /// Which recording.
        recording: RecordingId,
        /// What will decode it.
        model: String,
        /// What it runs on, as `cpu`.
        processor: &'static str,
    },
    /// The first samples came.
    Listening {
        /// Which recording.
        recording: RecordingId,
        /// The microphone.
        microphone: String,
        /// Time from asking to the first sample: what was said before is not on record.
        latency: Duration,
    },
    /// About a tenth of a second was recorded.
    Level {
        /// Which recording.
        recording: RecordingId,
        /// The recording's length so far.
        recorded: Duration,
        /// Loudness, from 0 (-60 dBFS and less) to 1 (-6 dBFS and more).
        level: f32,
        /// Samples at full scale.
        clipped: u32,
    },
    /// A chunk has changed.
    Chunk {
        /// Which recording.
        recording: RecordingId,
        /// From 0 on, in the order in which they were spoken.
        number: u32,
        /// What it is now.
        state: ChunkState,
    },
    /// What was said so far in the open chunk, as far as can be told.
    Partial {
        /// Which recording.
        recording: RecordingId,
        /// The text.
        text: String,
    },
    /// What the recording waits for; `None` when it waits for nothing but speech.
    Waits {
        /// Which recording.
        recording: RecordingId,
        /// For what.
        on: Option<Wait>,
    },
    /// Something the user should know while speaking.
    Warning {
        /// Which recording.
        recording: RecordingId,
        /// What.
        warning: VoiceWarning,
    },
    /// The recording has ended without being asked: its longest time is reached, or the microphone is gone. What was
    /// heard becomes text all the same.
    StoppedItself {
        /// Which recording.
        recording: RecordingId,
        /// Why, for people.
        why: String,
    },
    /// All that was said. Chunks that could not be decoded are missing, and `note` says so.
    Text {
        /// Which recording.
        recording: RecordingId,
        /// The text; never empty.
        text: String,
        /// What is wrong with it, for people.
        note: Option<String>,
    },
    /// Nothing was said.
    Nothing(RecordingId),
    /// The recording was thrown away.
    Cancelled(RecordingId),
    /// The recording has failed.
    Failed {
        /// Which.
        recording: RecordingId,
        /// In which way.
        failure: VoiceFailure,
        /// What happened, what was kept and what to do next.
        text: String,
        /// The audio is kept for one [`VoiceCommand::Retry`].
        can_retry: bool,
    },
    /// A model is missing and can be fetched: the user is asked.
    Offer(Box<ModelOffer>),
    /// A model is being fetched.
    Fetching {
        /// Its name.
        model: String,
        /// Bytes so far, those of an earlier try included.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// A model was fetched, or could not be.
    Fetched {
        /// Its name.
        model: String,
        /// Why not.
        result: Result<(), String>,
    },
    /// The model's state has changed.
    Model(ModelState),
    /// What there is.
    Status(Box<VoiceStatus>),
    /// Something to say once, as that the chosen microphone is missing.
    Notice(String),
}

/// What a chunk is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChunkState {
    /// It is being spoken, and is this long.
    Filling(Duration),
    /// It waits for the model.
    Queued,
    /// The model decodes it.
    Decoding,
    /// It is text.
    Done,
    /// It could not be decoded.
    Failed,
}

/// What a recording waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The microphone to give its first sample.
    Microphone,
    /// The user to agree to fetching a model.
    Consent,
    /// A model on its way from the network.
    Fetching,
    /// The model to be in memory. This much of the recording waits for it.
    Loading {
        /// Recorded and not yet given to the model.
        queued: Duration,
    },
    /// The last chunks to be decoded.
    Decoding,
}

/// What a speaker should know at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoiceWarning {
    /// The sound is clipped.
    TooLoud,
    /// Nothing was heard in the first seconds.
    NothingHeard,
    /// The microphone gives nothing but zeros.
    Silent,
    /// Sound was lost: this machine is too busy.
    Dropped,
}

/// In which way dictation failed: a closed list, for reports that hold nothing private.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VoiceFailure {
    /// There is no microphone, or no audio here at all.
    NoMicrophone,
    /// The system does not let us use it.
    PermissionDenied,
    /// It stopped giving sound.
    MicrophoneLost,
    /// There is no model, and none was fetched.
    NoModel,
    /// The model's files are broken, or no speech model we know.
    BadModel,
    /// Too little memory.
    Memory,
    /// Too little disk.
    Disk,
    /// The network, while fetching.
    Network,
    /// The model failed while decoding.
    Decoding,
    /// Nothing happened for too long.
    Timeout,
    /// Something of ours.
    Internal,
}

/// What the user is asked before a model is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelOffer {
    /// Its name in the table.
    pub name: String,
    /// For people: `Parakeet TDT 0.6B v3`.
    pub title: String,
    /// Where from, as the host and the repository.
    pub from: String,
    /// Bytes that are fetched.
    pub bytes: u64,
    /// Its licence.
    pub licence: String,
    /// What it understands.
    pub languages: String,
    /// Bytes of memory that it needs.
    pub memory: u64,
    /// Why this one, and not a larger one.
    pub why: Option<String>,
}

/// What the model does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelState {
    /// It is not in memory.
    Unloaded,
    /// It is on its way there.
    Loading(String),
    /// It is in memory.
    Ready {
        /// Its name.
        name: String,
        /// How its weights are kept.
        precision: Precision,
    },
    /// It can't be used, and why.
    Failed(String),
}

/// What there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoiceStatus {
    /// Microphones, the system's default first.
    pub microphones: Vec<Microphone>,
    /// Why there are none, or why they can't be listed.
    pub no_microphones: Option<String>,
    /// All models of the table, and those given by path.
    pub models: Vec<ModelRow>,
    /// The model that a recording would use now.
    pub chosen: String,
    /// Why it is that one.
    pub why: String,
    /// What the model does.
    pub state: ModelState,
    /// Free memory, in bytes.
    pub free_memory: u64,
    /// Where models are kept, and the free bytes there.
    pub cache: (PathBuf, u64),
}

/// A microphone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Microphone {
    /// By which it is chosen and kept.
    pub name: String,
    /// The system uses it when nothing is chosen.
    pub is_default: bool,
}

/// A model that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelRow {
    /// Its name in the table, or its path.
    pub name: String,
    /// For people.
    pub title: String,
    /// What it understands.
    pub languages: String,
    /// Its files are here.
    pub is_here: bool,
    /// Bytes to fetch, or on disk.
    pub bytes: u64,
    /// Why it can't be used here.
    pub skipped: Option<String>,
}
