//! Dictation as the screen drives it: the key, the recording that runs, what the engine tells of it, and the text.
//!
//! Responsibilities: one recording at a time, from the key to the text in the prompt, and whatever is asked of the
//! engine meanwhile. Not: sound, models and text (`dictation`), the row that shows it
//! ([`voice_row`](crate::ui::chrome::voice_row)).
//! Invariants
//! - What is told of another recording than the one that is waited for is late, and dropped.
//! - A recording ends in exactly one of: text in the prompt, nothing said, failed, thrown away.
//! - Nothing is ever sent by it, and no question is answered: while a dialog is open no recording begins.
//! - Which answer of the agent may help to spell is settled when the recording stops, not when its text comes.
//!
//! | file | what it is |
//! |---|---|
//! | [`hold_key`] | held or tapped |
//! | `keys` | which key it is, and the one that throws away |
//! | `menu` | `/voice`, its lists, and the question before a download |

pub mod hold_key;
pub(super) mod keys;
pub mod menu;

use super::Outcome;
use crate::app::effect::{Effect, Reference, Refine};
use crate::app::state::AppState;
use crate::config::action::Action;
use crate::config::voice::ReferenceSource;
use crate::proto::entry::EntryPatch;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::RecordingId;
use crate::proto::message::{Message, StopReason, text_of};
use crate::proto::voice::{ModelOffer, ModelState, VoiceCommand, VoiceEvent, VoiceStatus};
use crate::text::width;
use crate::ui::chrome::voice_row::{Ending, VoiceView};
use crate::ui::composer::{LONGEST_DICTATION, LineKind};
use crate::ui::layers::confirm::Confirm;
use crate::ui::layers::{ConfirmKind, Layer};
use crossterm::event::KeyCode;
use hold_key::{Follows, HoldKey};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Of a text that is longer than the prompt takes at once.
const TOO_LONG: &str =
    "The dictation was too long: only its first 16 KiB are in the prompt. Make a pause now and then.";

/// Columns of the footer that a passing notice does not get.
const BESIDE_NOTICE: usize = 8;

/// Dictation, as far as the screen knows.
#[derive(Default)]
pub struct Dictating {
    /// What the row shows.
    pub view: VoiceView,
    /// The key that is held or tapped.
    pub key: HoldKey,
    /// That key, as it was pressed last: its release is told by this code alone.
    down: Option<KeyCode>,
    /// The number of the last recording.
    newest: u64,
    active: Option<Active>,
    /// A recording that has failed, and whose sound is kept.
    failed: Option<RecordingId>,
    /// What there was when it was told last.
    status: Option<VoiceStatus>,
    /// The status is to be written into the transcript when it comes.
    reports: bool,
    /// What the user is asked to agree to.
    offer: Option<ModelOffer>,
    /// The model that is on its way.
    fetching: Option<String>,
    model: Option<ModelState>,
    /// What the user wants to be told of the model.
    asked: Option<Asked>,
    /// The newest answer of the agent that came to its end on this branch.
    answer: Option<Arc<Message>>,
}

/// What was asked of the model outside of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// To be in memory.
    SetUp,
    /// To be gone from there.
    Unload,
}

/// The recording whose text is waited for.
struct Active {
    recording: RecordingId,
    stage: Stage,
    /// What may help to spell, as it was when the recording stopped.
    reference: Option<Reference>,
}

enum Stage {
    Recording,
    Stopped,
    /// The text is there and is being corrected: what was heard, and what was wrong with it.
    Refining {
        heard: String,
        note: Option<String>,
    },
}

impl Dictating {
    /// A recording runs, or its text is on its way.
    pub const fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// It listens.
    pub fn is_recording(&self) -> bool {
        self.active.as_ref().is_some_and(|active| matches!(active.stage, Stage::Recording))
    }

    fn is_waiting_for(&self, recording: RecordingId) -> bool {
        self.active.as_ref().is_some_and(|active| active.recording == recording)
    }
}

/// Begins a recording, or ends it: chosen from a list, where no key is held.
pub fn toggle(state: &mut AppState, now: Instant) -> Outcome {
    let follows = state.voice.key.tap(now);
    follow(state, follows, now)
}

/// Time has passed: a key that repeats no more was let go.
pub fn time(state: &mut AppState, now: Instant) -> Outcome {
    let follows = state.voice.key.pass(now);
    follow(state, follows, now)
}

/// The terminal has lost the focus: a release may never be told.
pub fn focus_lost(state: &mut AppState, now: Instant) -> Outcome {
    state.voice.down = None;
    let follows = state.voice.key.lost(now);
    follow(state, follows, now)
}

/// The terminal is handed over: what was said so far becomes text, and nothing is recorded behind the user's back.
pub fn hand_over(state: &mut AppState, now: Instant) -> Outcome {
    if !state.voice.is_recording() {
        return Outcome::none();
    }
    state.voice.key.ended(now);
    state.voice.down = None;
    stop(state, Duration::ZERO, now)
}

/// What the key does to the recording.
fn follow(state: &mut AppState, follows: Follows, now: Instant) -> Outcome {
    match follows {
        Follows::Nothing => Outcome::none(),
        Follows::Start => start(state, now),
        Follows::Stop { may_resume } => stop(state, may_resume, now),
        Follows::Resume => resume(state),
    }
}

fn start(state: &mut AppState, now: Instant) -> Outcome {
    if state.voice.active.is_some() {
        // A second one would throw the first one's text away.
        state.voice.key.ended(now);
        let end = state.keymap.hint(Action::Cancel).map(|key| format!(" {key} throws it away."));
        let text = format!("The text of what you said before is on its way.{}", end.unwrap_or_default());
        state.toast(NoticeLevel::Info, text, now);
        return Outcome::changed();
    }
    let voice = &mut state.voice;
    voice.newest += 1;
    let recording = RecordingId(voice.newest);
    voice.active = Some(Active { recording, stage: Stage::Recording, reference: None });
    // Its sound is gone with the next recording.
    voice.failed = None;
    voice.asked = None;
    voice.view.begin();
    Outcome::effect(Effect::Voice(VoiceCommand::Record(recording)))
}

fn stop(state: &mut AppState, may_resume: Duration, now: Instant) -> Outcome {
    let Some(recording) = stopped(state, now) else { return Outcome::none() };
    let outcome = Outcome::effect(Effect::Voice(VoiceCommand::Stop { recording, may_resume }));
    outcome.and(look_elsewhere(state, recording))
}

/// The stop holds, whoever asked for it: from now on the text is waited for.
fn stopped(state: &mut AppState, now: Instant) -> Option<RecordingId> {
    let reference = reference(state);
    let active = state.voice.active.as_mut().filter(|active| matches!(active.stage, Stage::Recording))?;
    active.stage = Stage::Stopped;
    active.reference = reference;
    state.voice.view.stop(now);
    Some(active.recording)
}

fn resume(state: &mut AppState) -> Outcome {
    let Some(active) = state.voice.active.as_mut() else { return Outcome::none() };
    if !matches!(active.stage, Stage::Stopped) {
        return Outcome::none();
    }
    active.stage = Stage::Recording;
    active.reference = None;
    state.voice.view.resume();
    Outcome::effect(Effect::Voice(VoiceCommand::Resume(active.recording)))
}

/// Throws away what is recorded, transcribed or corrected; else ends a download while nothing else runs that the same
/// key stops. `None`: there is nothing of that.
pub fn cancel(state: &mut AppState, now: Instant) -> Option<Outcome> {
    if let Some(active) = state.voice.active.take() {
        state.voice.key.ended(now);
        state.voice.view.end(Ending::Cancelled, now);
        return Some(Outcome::effect(match active.stage {
            Stage::Recording | Stage::Stopped => Effect::Voice(VoiceCommand::Cancel(active.recording)),
            Stage::Refining { .. } => Effect::StopRefining(active.recording),
        }));
    }
    if state.voice.fetching.is_none() || state.is_running() || state.is_shell_running() {
        return None;
    }
    Some(stop_fetching(state))
}

fn stop_fetching(state: &mut AppState) -> Outcome {
    state.voice.fetching = None;
    state.voice.view.set_fetching(None);
    Outcome::effect(Effect::Voice(VoiceCommand::StopFetching))
}

/// What the agent said last, if the user lets it help to spell: settled when the recording stops.
fn reference(state: &AppState) -> Option<Reference> {
    let cleanup = &state.loaded.settings.voice.cleanup;
    if !cleanup.is_on || cleanup.reference != ReferenceSource::Own {
        return None;
    }
    let session = state.session.view.as_ref()?.id.clone();
    let Message::Assistant(answer) = state.voice.answer.as_deref()? else { return None };
    Some(Reference { session, text: text_of(&answer.content) })
}

/// A session in another window is looked for while the text is on its way, from what has the focus now.
fn look_elsewhere(state: &AppState, recording: RecordingId) -> Outcome {
    let cleanup = &state.loaded.settings.voice.cleanup;
    if !cleanup.is_on || cleanup.reference != ReferenceSource::FocusedWindow {
        return Outcome::none();
    }
    Outcome { effects: vec![Effect::FindReference(recording)], changed: false }
}

/// Keeps the newest answer that came to its end.
pub fn heed_agent(state: &mut AppState, event: &AgentEvent) {
    if let AgentEvent::Entry { patch: EntryPatch::Finish(message), .. } = event
        && is_answer(message)
    {
        state.voice.answer = Some(message.clone());
    }
}

/// Another session is open: its newest answer counts from now on.
pub fn heed_history(state: &mut AppState, history: &[Arc<Message>]) {
    state.voice.answer = history.iter().rev().find(|message| is_answer(message)).cloned();
}

/// A message of the model that came to its end as it should, with something to read.
fn is_answer(message: &Message) -> bool {
    let Message::Assistant(answer) = message else { return false };
    answer.stop_reason == StopReason::Stop && !text_of(&answer.content).trim().is_empty()
}

/// What the engine tells.
pub fn event(state: &mut AppState, event: VoiceEvent, now: Instant) -> Outcome {
    if recording_of(&event).is_some_and(|recording| !state.voice.is_waiting_for(recording)) {
        return Outcome::none();
    }
    match event {
        VoiceEvent::Text { text, note, .. } => return heard(state, text, note, now),
        VoiceEvent::Nothing(_) => over(state, Ending::Nothing, now),
        VoiceEvent::Cancelled(_) => over(state, Ending::Cancelled, now),
        VoiceEvent::Failed { recording, failure, text, can_retry } => {
            over(state, Ending::Failed(failure), now);
            state.voice.failed = can_retry.then_some(recording);
            say(state, NoticeLevel::Error, text, now);
        }
        VoiceEvent::StoppedItself { why, .. } => {
            state.voice.key.ended(now);
            let recording = stopped(state, now);
            say(state, NoticeLevel::Info, why, now);
            if let Some(recording) = recording {
                return Outcome::changed().and(look_elsewhere(state, recording));
            }
        }
        VoiceEvent::Offer(offer) => menu::ask_to_fetch(state, *offer),
        VoiceEvent::Fetching { model, done, total } => {
            state.voice.fetching = Some(model);
            state.voice.view.set_fetching(Some((done, total)));
        }
        VoiceEvent::Fetched { model, result } => {
            state.voice.fetching = None;
            state.voice.view.set_fetching(None);
            match result {
                Ok(()) => say(state, NoticeLevel::Info, format!("{model} is here."), now),
                Err(why) => say(state, NoticeLevel::Warning, why, now),
            }
        }
        VoiceEvent::Model(model) => menu::model_came(state, model, now),
        VoiceEvent::Status(status) => menu::status_came(state, *status),
        VoiceEvent::Notice(text) => say(state, NoticeLevel::Info, text, now),
        event => {
            let changed = state.voice.view.take(&event, now);
            return Outcome { effects: Vec::new(), changed };
        }
    }
    Outcome::changed()
}

/// The recording that is spoken of.
const fn recording_of(event: &VoiceEvent) -> Option<RecordingId> {
    match event {
        VoiceEvent::Opening { recording, .. }
        | VoiceEvent::Listening { recording, .. }
        | VoiceEvent::Level { recording, .. }
        | VoiceEvent::Chunk { recording, .. }
        | VoiceEvent::Partial { recording, .. }
        | VoiceEvent::Waits { recording, .. }
        | VoiceEvent::Warning { recording, .. }
        | VoiceEvent::StoppedItself { recording, .. }
        | VoiceEvent::Text { recording, .. }
        | VoiceEvent::Nothing(recording)
        | VoiceEvent::Cancelled(recording)
        | VoiceEvent::Failed { recording, .. } => Some(*recording),
        VoiceEvent::Offer(_)
        | VoiceEvent::Fetching { .. }
        | VoiceEvent::Fetched { .. }
        | VoiceEvent::Model(_)
        | VoiceEvent::Status(_)
        | VoiceEvent::Notice(_) => None,
    }
}

/// The recording is over without a text.
fn over(state: &mut AppState, ending: Ending, now: Instant) {
    state.voice.active = None;
    state.voice.key.ended(now);
    state.voice.view.end(ending, now);
}

/// The text is there.
fn heard(state: &mut AppState, heard: String, note: Option<String>, now: Instant) -> Outcome {
    // One that ends by itself tells so first; whatever comes, the key belongs to no recording any more.
    state.voice.key.ended(now);
    let is_cleaned = state.loaded.settings.voice.cleanup.is_on;
    let Some(active) = state.voice.active.as_mut().filter(|_| is_cleaned) else {
        insert(state, &heard, None, note, now);
        return Outcome::changed();
    };
    let is_shell = matches!(state.composer.kind(), LineKind::Shell | LineKind::ShellShownOnly);
    let refine = Refine {
        recording: active.recording,
        heard: heard.clone(),
        reference: active.reference.take(),
        is_plain: is_shell,
    };
    active.stage = Stage::Refining { heard, note };
    state.voice.view.clean_up();
    Outcome::effect(Effect::Refine(Box::new(refine)))
}

/// The text is corrected, or could not be: then what was heard is taken as it is.
pub fn refined(
    state: &mut AppState,
    recording: RecordingId,
    result: Result<String, String>,
    now: Instant,
) -> Outcome {
    if !state.voice.is_waiting_for(recording) {
        return Outcome::none();
    }
    let Some(Active { stage: Stage::Refining { heard, note }, .. }) = state.voice.active.take() else {
        return Outcome::none();
    };
    match result {
        Ok(text) => insert(state, &heard, Some(&text), note, now),
        Err(why) => {
            let note = match note {
                Some(note) => format!("{note} {why}"),
                None => why,
            };
            insert(state, &heard, None, Some(note), now);
        }
    }
    Outcome::changed()
}

/// Whoever corrects may not get the text yet: it is taken as it was heard, and the user is asked for the next one.
pub fn clean_up_asks(
    state: &mut AppState,
    recording: RecordingId,
    question: &str,
    (provider, with_reference): (String, bool),
    now: Instant,
) -> Outcome {
    let outcome = refined(state, recording, Err("Not corrected yet: you are asked first.".to_owned()), now);
    let is_asked = |layer: &Layer| matches!(layer, Layer::Confirm(confirm) if matches!(confirm.kind(), ConfirmKind::CleanUp { .. }));
    if state.layers.iter().any(is_asked) {
        return outcome;
    }
    let title = format!("Let {} correct what you dictate?", provider.split('@').next().unwrap_or_default());
    let kind = ConfirmKind::CleanUp { provider, with_reference };
    let confirm = Confirm::new(kind, &title, question, &["Send it, from the next dictation on", "No"]);
    // Below what is open: an answer meant for that must not agree to this.
    state.layers.insert(0, Layer::Confirm(confirm));
    Outcome::changed()
}

/// The user agrees: the settings keep it.
pub fn clean_up_agreed(state: &AppState, provider: String, with_reference: bool) -> Outcome {
    let cleanup = &state.loaded.settings.voice.cleanup;
    let with = |list: &[String]| {
        let mut all = list.to_vec();
        all.retain(|named| *named != provider);
        all.push(provider.clone());
        Some(all.join(","))
    };
    let mut effects =
        vec![Effect::Set { key: "voice.cleanup_providers".to_owned(), value: with(&cleanup.providers) }];
    if with_reference {
        let value = with(&cleanup.reference_providers);
        effects.push(Effect::Set { key: "voice.reference_providers".to_owned(), value });
    }
    Outcome { effects, changed: true }
}

/// Puts the text into the prompt, whatever has the keys. `note` says what is wrong with it.
fn insert(state: &mut AppState, heard: &str, corrected: Option<&str>, note: Option<String>, now: Instant) {
    state.voice.active = None;
    state.gestures.interrupt = None;
    if state.composer.dictate(heard, corrected, now) {
        state.voice.view.hide();
    } else {
        state.voice.view.end(Ending::Nothing, now);
    }
    if let Some(note) = note {
        say(state, NoticeLevel::Warning, note, now);
    }
    if heard.len().max(corrected.map_or(0, str::len)) > LONGEST_DICTATION {
        say(state, NoticeLevel::Warning, TOO_LONG.to_owned(), now);
    }
}

/// Says something for a moment; what has no room there stays in the transcript, too.
fn say(state: &mut AppState, level: NoticeLevel, text: String, now: Instant) {
    let room = usize::from(state.size.0).saturating_sub(BESIDE_NOTICE);
    if width::of(&text) > room {
        state.conversation.notice(level, text.clone());
    }
    state.toast(level, text, now);
}
