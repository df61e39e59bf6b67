//! The whole engine with an ear and models that do as they are told.

use super::ear::{Ear, EarAsk, Heard};
use super::parts::{HeardFn, Models, Parts, Picked};
use super::*;
use crate::config::load::Loaded;
use crate::dictation::audio::Chunk;
use crate::dictation::transcriber::{Ask, Cancel, ModelInfo, SpeechError, Transcriber, Transcript};
use crate::proto::ids::RecordingId;
use crate::proto::voice::{
    Microphone, ModelOffer, ModelRow, ModelState, Precision, VoiceFailure, VoiceSettings,
};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

const LONG: Duration = Duration::from_secs(20);

/// Answers each recording with these chunks, a sample each: the sample's value says what the model makes of it.
struct FakeEar {
    heard: HeardFn,
    values: Vec<f32>,
    alive: Arc<AtomicUsize>,
}

impl Ear for FakeEar {
    fn ask(&mut self, ask: EarAsk) {
        let tell = &self.heard;
        match ask {
            EarAsk::Record(recording) => {
                tell(Heard::Began { recording, microphone: "M".into(), latency: Duration::from_millis(5) });
                for (number, value) in (0..).zip(&self.values) {
                    let chunk = Chunk { number, start: 0, samples: vec![*value].into() };
                    tell(Heard::Chunk { recording, chunk });
                }
            }
            EarAsk::Stop { recording, .. } => tell(Heard::Ended(recording)),
            _ => {}
        }
    }
}

impl Drop for FakeEar {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Says `wN` for a sample of N; 13 panics, 14 fails, 15 waits until it is cancelled.
struct FakeModel(ModelInfo, Arc<AtomicUsize>);

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Transcriber for FakeModel {
    fn transcribe(&mut self, samples: &[f32], ask: &Ask) -> Result<Transcript, SpeechError> {
        let value = samples[0] as i32;
        match value {
            13 => panic!("as told"),
            14 => Err(crate::dictation::weights::ModelError::Damaged("as told".into()).into()),
            15 => loop {
                ask.cancel.check()?;
                std::thread::yield_now();
            },
            _ => Ok(Transcript { text: format!("w{value}"), ..Transcript::default() }),
        }
    }

    fn info(&self) -> &ModelInfo {
        &self.0
    }
}

#[derive(Default)]
struct FakeModels {
    is_here: AtomicBool,
    opened: AtomicUsize,
    alive: Arc<AtomicUsize>,
    fails: AtomicBool,
    fetch_fails: AtomicBool,
}

impl Models for FakeModels {
    fn pick(&self, _: &VoiceSettings) -> Result<Picked, String> {
        Ok(Picked {
            name: "tiny".into(),
            title: "Tiny".into(),
            path: PathBuf::from("/m"),
            is_here: self.is_here.load(Ordering::SeqCst),
            can_fetch: true,
            memory: 1,
            why: "it is small.".into(),
            key: "tiny".into(),
        })
    }

    fn open(
        &self,
        _: &Picked,
        _: &VoiceSettings,
        _: &Cancel,
    ) -> Result<Box<dyn Transcriber>, (VoiceFailure, String)> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        if self.fails.load(Ordering::SeqCst) {
            return Err((VoiceFailure::BadModel, "It is broken.".into()));
        }
        self.alive.fetch_add(1, Ordering::SeqCst);
        let info = ModelInfo { kind: "whisper", precision: Precision::F32, bytes: 1 };
        Ok(Box::new(FakeModel(info, Arc::clone(&self.alive))))
    }

    fn offer(&self, name: &str, why: Option<String>) -> Option<ModelOffer> {
        let (title, from) = ("Tiny".into(), "host/me/tiny".into());
        let (licence, languages) = ("MIT".into(), "English".into());
        Some(ModelOffer { name: name.into(), title, from, bytes: 9, licence, languages, memory: 1, why })
    }

    fn fetch(
        &self,
        _: &str,
        _: &VoiceSettings,
        cancel: &Cancel,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), (VoiceFailure, String)> {
        progress(1, 9);
        if self.fetch_fails.load(Ordering::SeqCst) || cancel.is_cancelled() {
            return Err((VoiceFailure::Network, "The network is gone.".into()));
        }
        self.is_here.store(true, Ordering::SeqCst);
        Ok(())
    }

    fn rows(&self, _: &VoiceSettings) -> Vec<ModelRow> {
        Vec::new()
    }

    fn room(&self) -> (u64, (PathBuf, u64)) {
        (5, (PathBuf::from("/m"), 6))
    }
}

struct Stage {
    engine: Option<Dictation>,
    models: Arc<FakeModels>,
    told: Receiver<VoiceEvent>,
    ears: Arc<AtomicUsize>,
}

fn settings() -> VoiceSettings {
    Loaded::defaults().settings.voice.engine
}

fn stage(values: &[f32], is_here: bool, settings: VoiceSettings) -> Stage {
    let models = Arc::new(FakeModels::default());
    models.is_here.store(is_here, Ordering::SeqCst);
    let (values, ears) = (values.to_vec(), Arc::new(AtomicUsize::new(0)));
    let alive = Arc::clone(&ears);
    let parts = Parts {
        ear: Box::new(move |heard, _| {
            alive.fetch_add(1, Ordering::SeqCst);
            Box::new(FakeEar { heard, values, alive })
        }),
        microphones: Arc::new(|| Ok(vec![Microphone { name: "M".into(), is_default: true }])),
        models: Arc::clone(&models) as Arc<dyn Models>,
    };
    let (sender, told) = channel();
    let sender = Mutex::new(sender);
    let engine = Dictation::with_parts(parts, settings, move |event| {
        let _gone = sender.lock().unwrap().send(event);
    });
    Stage { engine: Some(engine.unwrap()), models, told, ears }
}

impl Stage {
    fn send(&self, command: VoiceCommand) {
        self.engine.as_ref().unwrap().send(command);
    }

    fn until(&self, is: impl Fn(&VoiceEvent) -> bool) -> Vec<VoiceEvent> {
        let mut events = Vec::new();
        loop {
            let event = self.told.recv_timeout(LONG).unwrap_or_else(|_| panic!("only {events:?}"));
            let is_last = is(&event);
            events.push(event);
            if is_last {
                return events;
            }
        }
    }

    fn end(&self) -> VoiceEvent {
        let is_end = |event: &VoiceEvent| {
            matches!(
                event,
                VoiceEvent::Text { .. }
                    | VoiceEvent::Nothing(_)
                    | VoiceEvent::Cancelled(_)
                    | VoiceEvent::Failed { .. }
            )
        };
        self.until(is_end).pop().unwrap()
    }

    fn say(&self, id: u64) -> VoiceEvent {
        self.send(VoiceCommand::Record(RecordingId(id)));
        self.send(VoiceCommand::Stop { recording: RecordingId(id), may_resume: Duration::ZERO });
        self.end()
    }
}

fn text(id: u64, text: &str) -> VoiceEvent {
    VoiceEvent::Text { recording: RecordingId(id), text: text.into(), note: None }
}

#[test]
fn speech_becomes_text_and_the_model_is_loaded_once() {
    let stage = stage(&[1.0, 2.0, 3.0], true, settings());
    assert_eq!(stage.say(1), text(1, "w1 w2 w3"));
    assert_eq!(stage.say(2), text(2, "w1 w2 w3"));
    assert_eq!(stage.models.opened.load(Ordering::SeqCst), 1);
}

#[test]
fn a_missing_model_is_offered_and_what_was_said_waits_for_it() {
    let stage = stage(&[4.0], false, settings());
    stage.send(VoiceCommand::Record(RecordingId(1)));
    stage.send(VoiceCommand::Stop { recording: RecordingId(1), may_resume: Duration::ZERO });
    let events = stage.until(|event| matches!(event, VoiceEvent::Offer(_)));
    let Some(VoiceEvent::Offer(offer)) = events.last() else { unreachable!() };
    assert_eq!(offer.why.as_deref(), Some("it is small."));
    stage.send(VoiceCommand::Fetch(offer.name.clone()));
    let events = stage.until(|event| matches!(event, VoiceEvent::Text { .. }));
    assert!(events.contains(&VoiceEvent::Fetching { model: "tiny".into(), done: 1, total: 9 }));
    assert!(events.contains(&VoiceEvent::Fetched { model: "tiny".into(), result: Ok(()) }));
    assert_eq!(events.last(), Some(&text(1, "w4")));
}

#[test]
fn a_declined_offer_fails_and_what_was_said_can_be_tried_again() {
    let stage = stage(&[4.0], false, settings());
    stage.send(VoiceCommand::Record(RecordingId(1)));
    stage.until(|event| matches!(event, VoiceEvent::Offer(_)));
    stage.send(VoiceCommand::StopFetching);
    let VoiceEvent::Failed { failure, can_retry, .. } = stage.end() else { panic!("no failure") };
    assert_eq!((failure, can_retry), (VoiceFailure::NoModel, true));
    stage.models.is_here.store(true, Ordering::SeqCst);
    stage.send(VoiceCommand::Retry(RecordingId(1)));
    assert_eq!(stage.end(), text(1, "w4"));
}

#[test]
fn what_fails_says_so_and_the_next_recording_works() {
    let first = stage(&[4.0], false, settings());
    first.models.fetch_fails.store(true, Ordering::SeqCst);
    first.send(VoiceCommand::Record(RecordingId(1)));
    first.send(VoiceCommand::Fetch("tiny".into()));
    assert!(matches!(first.end(), VoiceEvent::Failed { failure: VoiceFailure::Network, .. }));

    let second = stage(&[4.0], true, settings());
    second.models.fails.store(true, Ordering::SeqCst);
    let VoiceEvent::Failed { failure, text: said, .. } = second.say(1) else { panic!("no failure") };
    assert_eq!(failure, VoiceFailure::BadModel);
    assert!(said.starts_with("It is broken."), "{said}");
    second.models.fails.store(false, Ordering::SeqCst);
    assert_eq!(second.say(2), text(2, "w4"));
}

#[test]
fn a_model_that_panics_or_fails_costs_its_chunk_only() {
    let stage = stage(&[1.0, 13.0, 2.0, 14.0, 3.0], true, settings());
    let VoiceEvent::Text { text, note, .. } = stage.say(1) else { panic!("no text") };
    assert_eq!(text, "w1 w2 w3");
    assert!(note.is_some_and(|note| note.starts_with("2 of 5 parts")));
    assert_eq!(stage.models.opened.load(Ordering::SeqCst), 2, "nobody trusts the one that panicked");
}

#[test]
fn a_cancel_ends_the_decoding_too() {
    let stage = stage(&[15.0], true, settings());
    stage.send(VoiceCommand::Record(RecordingId(1)));
    stage.until(|event| {
        matches!(event, VoiceEvent::Chunk { state: crate::proto::voice::ChunkState::Decoding, .. })
    });
    stage.send(VoiceCommand::Cancel(RecordingId(1)));
    assert_eq!(stage.end(), VoiceEvent::Cancelled(RecordingId(1)));
    // The worker is free again: it takes the next order.
    stage.send(VoiceCommand::Unload);
    stage.until(|event| *event == VoiceEvent::Model(ModelState::Unloaded));
}

#[test]
fn an_idle_model_is_freed_and_comes_back() {
    let short = VoiceSettings { idle: Duration::from_millis(1), ..settings() };
    let stage = stage(&[7.0], true, short);
    assert_eq!(stage.say(1), text(1, "w7"));
    stage.until(|event| *event == VoiceEvent::Model(ModelState::Unloaded));
    assert_eq!(stage.models.alive.load(Ordering::SeqCst), 0);
    assert_eq!(stage.say(2), text(2, "w7"));
}

#[test]
fn twenty_presses_in_a_second() {
    let stage = stage(&[7.0], true, settings());
    for id in 1..=20 {
        stage.send(VoiceCommand::Record(RecordingId(id)));
    }
    stage.send(VoiceCommand::Stop { recording: RecordingId(20), may_resume: Duration::ZERO });
    for id in 1..20 {
        assert_eq!(stage.end(), VoiceEvent::Cancelled(RecordingId(id)));
    }
    assert_eq!(stage.end(), text(20, "w7"));
}

#[test]
fn the_end_while_recording_leaves_nothing_behind() {
    for values in [&[1.0][..], &[15.0], &[]] {
        let mut stage = stage(values, true, settings());
        stage.send(VoiceCommand::Record(RecordingId(1)));
        stage.until(|event| matches!(event, VoiceEvent::Model(ModelState::Ready { .. })));
        stage.engine = None;
        assert_eq!(stage.ears.load(Ordering::SeqCst), 0);
        assert_eq!(stage.models.alive.load(Ordering::SeqCst), 0);
        // Every sender is gone with its thread.
        while stage.told.try_recv().is_ok() {}
        assert!(stage.told.recv_timeout(LONG).is_err());
    }
}

#[test]
fn offline_there_is_no_offer() {
    let offline = VoiceSettings { offline: true, ..settings() };
    let stage = stage(&[1.0], false, offline);
    let VoiceEvent::Failed { failure, text, .. } = stage.say(1) else { panic!("no failure") };
    assert_eq!(failure, VoiceFailure::NoModel);
    assert!(text.contains("offline"), "{text}");
}

#[test]
fn a_status_opens_nothing() {
    let stage = stage(&[1.0], true, settings());
    stage.send(VoiceCommand::Status);
    let events = stage.until(|event| matches!(event, VoiceEvent::Status(_)));
    let Some(VoiceEvent::Status(status)) = events.last() else { unreachable!() };
    assert_eq!((status.chosen.as_str(), status.free_memory), ("tiny", 5));
    assert_eq!(status.state, ModelState::Unloaded);
    assert_eq!(stage.ears.load(Ordering::SeqCst), 0);
    assert_eq!(stage.models.opened.load(Ordering::SeqCst), 0);
}
