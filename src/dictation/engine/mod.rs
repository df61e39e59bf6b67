//! The speech engine: one thread in which commands, sound, text and downloads meet.
//!
//! ```text
//!  VoiceCommand ─┐                 ┌─▶ ear      (its own threads: capture, recorder)
//!  ear ──────────┼─▶ desk ─▶ machine ─▶ worker  (owns the model)
//!  worker ───────┤    │            └─▶ VoiceEvent
//!  fetching ─────┘    └─ waits without a limit when nothing is recorded: no wake-ups
//! ```
//!
//! | file | what it is |
//! |---|---|
//! | [`machine`] | what follows from what, pure |
//! | [`ear`] | what is asked of whatever listens, and what it tells |
//! | [`microphone`] | the recorder as an ear |
//! | [`parts`] | what an engine is put together from |
//! | `desk` | the thread around the machine |
//! | `worker` | the thread that owns the model |
//!
//! Threads start with the first command that needs them, and all end when the [`Dictation`] is dropped.

mod desk;
pub mod ear;
pub mod machine;
pub mod microphone;
pub mod parts;
mod recording;
#[cfg(test)]
mod tests;
mod worker;

use crate::config::env::Env;
use crate::config::places::Places;
use crate::dictation::capture;
use crate::dictation::models::library::Library;
use crate::proto::voice::{VoiceCommand, VoiceEvent, VoiceSettings};
use desk::{Desk, Letter};
use parts::Parts;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the end of the program waits for the engine's threads. A model that is being read can't be interrupted.
const END_WITHIN: Duration = Duration::from_millis(500);

/// The engine, as its user holds it. Dropping it ends everything: recordings are thrown away, downloads stop and keep
/// what came.
pub struct Dictation {
    letters: Sender<Letter>,
    thread: Option<JoinHandle<()>>,
    ended: Receiver<()>,
}

/// What the engine of the program needs.
pub struct Setup {
    /// The user's folders.
    pub places: Places,
    /// The environment.
    pub env: Env,
    /// What holds from the beginning on.
    pub settings: VoiceSettings,
}

impl Dictation {
    /// Starts the engine with the microphones of this system and the models of this user. `tell` gets all that happens,
    /// on the engine's threads; it must not wait. No device is touched and no model read before the first command that
    /// needs it.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(setup: Setup, tell: impl Fn(VoiceEvent) + Send + Sync + 'static) -> std::io::Result<Self> {
        let (library, warnings) = Library::load(&setup.places, &setup.env);
        for warning in warnings {
            tell(VoiceEvent::Notice(warning));
        }
        let parts = Parts {
            ear: Box::new(microphone::ear),
            microphones: Arc::new(|| capture::quiet_stderr(capture::list).map_err(|error| error.to_string())),
            models: Arc::new(library),
        };
        Self::with_parts(parts, setup.settings, tell)
    }

    /// Starts the engine. `tell` gets all that happens, on the engine's threads; it must not wait.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn with_parts(
        parts: Parts,
        settings: VoiceSettings,
        tell: impl Fn(VoiceEvent) + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let (letters, inbox) = channel();
        let (alive, ended) = channel();
        let desk = Desk::new(parts, settings, Arc::new(tell), letters.clone());
        let thread = std::thread::Builder::new().name("dictation".to_owned()).spawn(move || {
            desk.run(&inbox);
            // Tells the end: whoever waits for it sees the channel closed.
            drop(alive);
        })?;
        Ok(Self { letters, thread: Some(thread), ended })
    }

    /// Asks for something. Never waits.
    pub fn send(&self, command: VoiceCommand) {
        // The thread ends only with us, or with a bug that its own message told of.
        if self.letters.send(Letter::Command(command)).is_err() {
            tracing::error!("the speech engine is gone");
        }
    }
}

impl Drop for Dictation {
    fn drop(&mut self) {
        // A thread that is gone needs no word.
        let _gone = self.letters.send(Letter::Quit);
        let has_ended =
            self.ended.recv_timeout(END_WITHIN) == Err(std::sync::mpsc::RecvTimeoutError::Disconnected);
        if let Some(thread) = self.thread.take().filter(|_| has_ended) {
            // Its panic was told by the hook.
            let _panicked = thread.join();
        }
    }
}
