//! The thread that owns the model: loads it, decodes in order, and frees it when nobody spoke for long.
//!
//! It never dies of a model: a panic in one is caught, reported, and the model is dropped, because nobody knows in which
//! state it was left. With a model in memory it waits with a time limit, without one it waits for ever: no wake-ups.

use super::parts::{Models, Picked};
use crate::dictation::audio::{self, Chunk};
use crate::dictation::models::room;
use crate::dictation::transcriber::{Ask, Cancel, SpeechError, Transcriber};
use crate::proto::ids::RecordingId;
use crate::proto::voice::{Precision, VoiceFailure, VoiceSettings};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What the worker is to do.
pub(super) enum Order {
    /// Have this model in memory.
    Load(Box<Picked>, Box<VoiceSettings>, Cancel),
    /// Decode a chunk.
    Decode(RecordingId, Chunk, Ask),
    /// Decode a chunk that is not whole.
    DecodePartial(RecordingId, u32, Arc<[f32]>, Ask),
    /// Free the model after this time without an order.
    Idle(Duration),
    /// Free the model now.
    Unload,
}

/// What the worker tells.
pub(super) enum News {
    /// It begins to load this one.
    Loading(String),
    /// It is in memory.
    Ready { name: String, precision: Precision, key: String },
    /// It could not be loaded.
    LoadFailed(VoiceFailure, String),
    /// No model is in memory any more.
    Unloaded,
    /// A chunk was decoded.
    Decoded { recording: RecordingId, number: u32, result: Result<String, String> },
    /// A chunk that is not whole was decoded.
    Partial { recording: RecordingId, number: u32, text: Option<String> },
}

/// Starts the thread. It ends when the orders' other end is dropped. Whatever it tells goes through `tell`.
pub(super) fn start(
    models: Arc<dyn Models>,
    idle: Duration,
    tell: impl Fn(News) + Send + 'static,
) -> std::io::Result<(Sender<Order>, JoinHandle<()>)> {
    let (orders, inbox) = channel();
    let worker = Worker { models, idle, tell, model: None, asked: None };
    let thread = std::thread::Builder::new().name("speech".to_owned()).spawn(move || worker.run(&inbox))?;
    Ok((orders, thread))
}

struct Worker<T> {
    models: Arc<dyn Models>,
    idle: Duration,
    tell: T,
    model: Option<(String, Box<dyn Transcriber>)>,
    /// What was asked for last: a chunk may be on its way while the model is freed, and is not to be lost.
    asked: Option<(Box<Picked>, Box<VoiceSettings>)>,
}

impl<T: Fn(News)> Worker<T> {
    fn run(mut self, inbox: &Receiver<Order>) {
        loop {
            let next = if self.model.is_some() {
                inbox.recv_timeout(self.idle)
            } else {
                inbox.recv().map_err(|_closed| RecvTimeoutError::Disconnected)
            };
            match next {
                Ok(order) => self.follow(order),
                Err(RecvTimeoutError::Timeout) => self.unload(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn follow(&mut self, order: Order) {
        match order {
            Order::Load(picked, settings, cancel) => {
                self.load(&picked, &settings, &cancel);
                self.asked = Some((picked, settings));
            }
            Order::Decode(recording, chunk, ask) => {
                if self.model.is_none()
                    && let Some((picked, settings)) = self.asked.take()
                {
                    self.load(&picked, &settings, &ask.cancel);
                    self.asked = Some((picked, settings));
                }
                let result = self.decode(&chunk.samples, &ask);
                (self.tell)(News::Decoded { recording, number: chunk.number, result });
            }
            Order::DecodePartial(recording, number, samples, ask) => {
                let text = self.decode(&samples, &ask).ok();
                (self.tell)(News::Partial { recording, number, text });
            }
            Order::Idle(idle) => self.idle = idle,
            Order::Unload => self.unload(),
        }
    }

    fn load(&mut self, picked: &Picked, settings: &VoiceSettings, cancel: &Cancel) {
        if let Some((key, model)) = self.model.as_ref().filter(|(key, _)| *key == picked.key) {
            let ready = News::Ready {
                name: picked.name.clone(),
                precision: model.info().precision,
                key: key.clone(),
            };
            (self.tell)(ready);
            return;
        }
        // The old one first: two may not fit.
        if self.model.take().is_some() {
            give_back();
        }
        (self.tell)(News::Loading(picked.name.clone()));
        let before = Instant::now();
        let opened = catch_unwind(AssertUnwindSafe(|| self.models.open(picked, settings, cancel)));
        let opened = opened.unwrap_or_else(|_panic| {
            Err((
                VoiceFailure::Internal,
                format!("Loading {} failed inside Mynah. Another model may work.", picked.title),
            ))
        });
        match opened {
            Ok(model) => {
                let info = model.info();
                let (precision, megabytes) = (info.precision, info.bytes / 1_000_000);
                let milliseconds = before.elapsed().as_millis();
                tracing::info!(model = %picked.name, kind = info.kind, megabytes, milliseconds, "speech model loaded");
                self.model = Some((picked.key.clone(), model));
                (self.tell)(News::Ready { name: picked.name.clone(), precision, key: picked.key.clone() });
            }
            Err((failure, text)) => (self.tell)(News::LoadFailed(failure, text)),
        }
    }

    fn decode(&mut self, samples: &[f32], ask: &Ask) -> Result<String, String> {
        let Some((_, model)) = &mut self.model else { return Err("no model is in memory".to_owned()) };
        ask.cancel.check().map_err(|error| error.to_string())?;
        let before = Instant::now();
        let decoded = catch_unwind(AssertUnwindSafe(|| model.transcribe(samples, ask)));
        let milliseconds = before.elapsed().as_millis();
        let length = audio::duration(samples.len()).as_millis();
        match decoded {
            Ok(Ok(transcript)) => {
                tracing::debug!(length, milliseconds, "speech decoded");
                Ok(transcript.text)
            }
            Ok(Err(error)) => {
                if !matches!(error, SpeechError::Cancelled) {
                    tracing::warn!(%error, length, milliseconds, "speech not decoded");
                }
                Err(error.to_string())
            }
            Err(_panic) => {
                tracing::error!(length, "the speech model panicked");
                self.unload();
                Err("something in the speech model went wrong".to_owned())
            }
        }
    }

    fn unload(&mut self) {
        if self.model.take().is_none() {
            return;
        }
        give_back();
        let resident_mb = room::resident().unwrap_or(0) / 1_000_000;
        tracing::info!(resident_mb, "speech model freed");
        (self.tell)(News::Unloaded);
    }
}

/// Gives freed memory back to the system: the allocator would keep some of it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library has no safe way to this function")]
fn give_back() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> std::ffi::c_int;
    }
    // SAFETY: malloc_trim(3) takes a number, locks what it touches itself, and only returns unused pages.
    let _given_back = unsafe { malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
const fn give_back() {}
