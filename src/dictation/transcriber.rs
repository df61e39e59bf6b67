//! What a speech model can do, and what it gives.

use crate::proto::voice::Precision;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A speech model in memory. One thread owns it.
pub trait Transcriber: Send {
    /// Decodes samples at 16 kHz, mono, from -1 to 1: any number, also none. The model sees them as a whole, so the cost
    /// grows faster than their number: cut what is longer than half a minute at pauses.
    ///
    /// # Errors
    /// [`SpeechError::Cancelled`] soon after the ask's flag is up (asked between layers and between tokens), else what
    /// went wrong in the model.
    fn transcribe(&mut self, samples: &[f32], ask: &Ask) -> Result<Transcript, SpeechError>;

    /// What it is.
    fn info(&self) -> &ModelInfo;
}

/// How samples are to be decoded.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// The language that is spoken, as `en`; `None` to hear it. Models of one language, and those that hear it by
    /// themselves, take no notice.
    pub language: Option<String>,
    /// Ends the work early.
    pub cancel: Cancel,
}

/// A flag that ends work early, shared between threads.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Puts the flag up. It stays up.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The flag is up.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// [`SpeechError::Cancelled`] if the flag is up.
    pub fn check(&self) -> Result<(), SpeechError> {
        if self.is_cancelled() { Err(SpeechError::Cancelled) } else { Ok(()) }
    }
}

/// What was said. Deliberately without `Debug`: no log may hold it.
#[derive(Clone, Default, PartialEq)]
pub struct Transcript {
    /// All of it, trimmed; empty if nothing was said.
    pub text: String,
    /// Its words, in order.
    pub words: Vec<Word>,
    /// The language, where the model tells it.
    pub language: Option<String>,
}

/// A word and when it was said.
#[derive(Clone, PartialEq)]
pub struct Word {
    /// With the punctuation that is written to it.
    pub text: String,
    /// Seconds from the first sample.
    pub start: f32,
    /// Seconds from the first sample; not before `start`.
    pub end: f32,
}

/// What a model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// The kind, as `parakeet-tdt`, `parakeet-ctc` or `whisper`.
    pub kind: &'static str,
    /// How its weights are kept.
    pub precision: Precision,
    /// Bytes that its weights take, whether shared with other programs or not.
    pub bytes: u64,
}

/// Why there is no transcript.
#[derive(Debug, thiserror::Error)]
pub enum SpeechError {
    /// It was not wanted any more.
    #[error("cancelled")]
    Cancelled,
    /// The model could not be read.
    #[error(transparent)]
    Model(#[from] super::weights::ModelError),
    /// The model failed while it ran.
    #[error("the speech model failed: {0}")]
    Run(#[from] candle_core::Error),
}
