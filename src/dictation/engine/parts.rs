//! What the engine is put together from, as traits: the program gives the real ones, tests give others.

use super::ear::{Ear, Heard};
use crate::dictation::transcriber::{Cancel, Transcriber};
use crate::proto::voice::{Microphone, ModelOffer, ModelRow, VoiceFailure, VoiceSettings};
use std::path::PathBuf;
use std::sync::Arc;

/// Where the ear's words go.
pub type HeardFn = Arc<dyn Fn(Heard) + Send + Sync>;

/// Speech models: which one to use, fetching, opening.
pub trait Models: Send + Sync {
    /// The model for the next recording.
    ///
    /// # Errors
    /// There is none; what to do, for people.
    fn pick(&self, settings: &VoiceSettings) -> Result<Picked, String>;

    /// Brings a model into memory. Takes seconds.
    ///
    /// # Errors
    /// In which way it failed, and what to do, for people.
    fn open(
        &self,
        picked: &Picked,
        settings: &VoiceSettings,
        cancel: &Cancel,
    ) -> Result<Box<dyn Transcriber>, (VoiceFailure, String)>;

    /// What the user is asked before a model is fetched; `None` for a name that is not known.
    fn offer(&self, name: &str, why: Option<String>) -> Option<ModelOffer>;

    /// Fetches a model. Takes minutes; `progress` gets bytes so far and in all, at most ten times a second.
    ///
    /// # Errors
    /// In which way it failed, and what to do, for people.
    fn fetch(
        &self,
        name: &str,
        settings: &VoiceSettings,
        cancel: &Cancel,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), (VoiceFailure, String)>;

    /// All models, as rows.
    fn rows(&self, settings: &VoiceSettings) -> Vec<ModelRow>;

    /// Free bytes of memory, the folder that models are kept in, and the free bytes there.
    fn room(&self) -> (u64, (PathBuf, u64));
}

/// A model that was picked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    /// Its name in the table, or the last part of its path.
    pub name: String,
    /// For people.
    pub title: String,
    /// What is opened.
    pub path: PathBuf,
    /// Its files are on this disk.
    pub is_here: bool,
    /// It can be fetched by its name.
    pub can_fetch: bool,
    /// Bytes of memory that it needs; 0 where that is not known.
    pub memory: u64,
    /// Why it is this one, as a sentence.
    pub why: String,
    /// What tells two loaded models apart: the path and how its weights are kept.
    pub key: String,
}

/// Makes the ear that tells what it hears.
pub type MakeEar = Box<dyn FnOnce(HeardFn, &VoiceSettings) -> Box<dyn Ear> + Send>;

/// The parts.
pub struct Parts {
    /// Makes the ear, once, at the first recording: until then no device is touched.
    pub ear: MakeEar,
    /// The microphones, the default first; or why there are none. Asked on a thread of its own.
    pub microphones: Arc<dyn Fn() -> Result<Vec<Microphone>, String> + Send + Sync>,
    /// The models.
    pub models: Arc<dyn Models>,
}
