//! `/voice`: its list, the lists behind it, the status as text, and the question before a model is loaded.

use super::super::Outcome;
use super::{Asked, say, stop_fetching};
use crate::app::effect::Effect;
use crate::app::state::AppState;
use crate::proto::event::NoticeLevel;
use crate::proto::ids::RecordingId;
use crate::proto::voice::{
    ModelOffer, ModelRow, ModelState, Precision, SoundSource, VoiceCommand, VoiceStatus,
};
use crate::ui::layers::confirm::Confirm;
use crate::ui::layers::voice::{VoiceChoice, VoiceItem, VoicePage, VoicePicker};
use crate::ui::layers::{ConfirmKind, Layer};
use std::fmt::Write;
use std::time::Instant;

/// What may stand behind `/voice`, and what it means.
pub const WORDS: [(&str, &str); 11] = [
    ("mic", "Choose the microphone"),
    ("model", "Choose the speech model"),
    ("language", "Choose the language that is spoken"),
    ("status", "What is here, and why which model is used"),
    ("setup", "Load the model now, and offer to download it where it is missing"),
    ("unload", "Free the memory of the model"),
    ("retry", "Transcribe the recording that failed once more"),
    ("stop", "Stop the download"),
    ("cleanup on", "A language model corrects what was understood"),
    ("cleanup off", "What was understood is taken as it is"),
    ("cleanup", "Say whether a language model corrects"),
];

/// Languages that a list offers; any other one can be written.
const LANGUAGES: [(&str, &str); 12] = [
    ("auto", "as it is heard"),
    ("en", "English"),
    ("de", "German"),
    ("fr", "French"),
    ("es", "Spanish"),
    ("it", "Italian"),
    ("pt", "Portuguese"),
    ("nl", "Dutch"),
    ("pl", "Polish"),
    ("uk", "Ukrainian"),
    ("zh", "Chinese"),
    ("ja", "Japanese"),
];

/// `/voice …`.
pub fn command(state: &mut AppState, argument: &str, now: Instant) -> Outcome {
    let (word, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    match (word, rest.trim()) {
        ("", _) => open(state, VoicePage::Menu),
        ("mic", "") => open(state, VoicePage::Microphones),
        ("mic", name) => set("voice.microphone", name),
        ("model", "") => open(state, VoicePage::Models),
        ("model", name) => set("voice.model", name),
        ("language", "") => open(state, VoicePage::Languages),
        ("language", code) => set("voice.language", code),
        ("status", "") => chosen(state, VoiceChoice::Status, now),
        ("setup", "") => chosen(state, VoiceChoice::SetUp, now),
        ("unload", "") => chosen(state, VoiceChoice::Unload, now),
        ("retry", "") => chosen(state, VoiceChoice::Retry, now),
        ("stop", "") => chosen(state, VoiceChoice::StopFetching, now),
        ("cleanup", "on") => chosen(state, VoiceChoice::Cleanup(true), now),
        ("cleanup", "off") => chosen(state, VoiceChoice::Cleanup(false), now),
        ("cleanup", "") => Outcome::effect(Effect::Set { key: "voice.cleanup".to_owned(), value: None }),
        _ => {
            let words: Vec<&str> =
                WORDS.iter().map(|(word, _)| *word).filter(|word| !word.contains(' ')).collect();
            let text = format!("/voice does not know {argument}. It knows {}.", words.join(", "));
            say(state, NoticeLevel::Warning, text, now);
            Outcome::changed()
        }
    }
}

fn set(key: &'static str, value: &str) -> Outcome {
    Outcome::effect(Effect::Set { key: key.to_owned(), value: Some(value.to_owned()) })
}

/// Shows a list. What is known already is shown at once; the engine is asked anew.
fn open(state: &mut AppState, page: VoicePage) -> Outcome {
    let mut picker = VoicePicker::new(page, items(state, page));
    picker.set_loading(state.voice.status.is_none() && page != VoicePage::Languages);
    state.layers.push(Layer::Voice(Box::new(picker)));
    if page == VoicePage::Languages {
        return Outcome::changed();
    }
    Outcome::effect(Effect::Voice(VoiceCommand::Status))
}

/// Something was chosen.
pub fn chosen(state: &mut AppState, choice: VoiceChoice, now: Instant) -> Outcome {
    let ask = |command| Outcome::effect(Effect::Voice(command));
    match choice {
        VoiceChoice::Page(page) => open(state, page),
        VoiceChoice::Status => {
            state.voice.reports = true;
            ask(VoiceCommand::Status)
        }
        VoiceChoice::SetUp => {
            state.voice.asked = Some(Asked::SetUp);
            ask(VoiceCommand::SetUp)
        }
        VoiceChoice::Unload => unload(state, now),
        VoiceChoice::StopFetching => stop_fetching(state),
        VoiceChoice::Retry => retry(state, now),
        VoiceChoice::Cleanup(is_on) => set("voice.cleanup", if is_on { "true" } else { "false" }),
        VoiceChoice::Microphone(name) => set("voice.microphone", &name),
        VoiceChoice::Language(code) => set("voice.language", &code),
        VoiceChoice::Model { name, is_here } => {
            let outcome = set("voice.model", &name);
            // Who chooses one that is missing wants it.
            if is_here { outcome } else { outcome.then(Effect::Voice(VoiceCommand::SetUp)) }
        }
    }
}

/// Frees the memory of the model, and says so once it is free.
fn unload(state: &mut AppState, now: Instant) -> Outcome {
    let why_not = match &state.voice.model {
        _ if state.voice.is_active() => Some("The model is at work: end the recording first."),
        Some(ModelState::Loading(_) | ModelState::Ready { .. }) => None,
        Some(ModelState::Unloaded | ModelState::Failed(_)) | None => Some("No speech model is in memory."),
    };
    if let Some(why_not) = why_not {
        say(state, NoticeLevel::Info, why_not.to_owned(), now);
        return Outcome::changed();
    }
    state.voice.asked = Some(Asked::Unload);
    Outcome::effect(Effect::Voice(VoiceCommand::Unload))
}

/// The model has changed: said where somebody asked for it, and where nothing else would tell that it can't be used.
pub fn model_came(state: &mut AppState, model: ModelState, now: Instant) {
    let asked = state.voice.asked;
    let is_told = match (&model, asked) {
        (ModelState::Ready { name, .. }, Some(Asked::SetUp)) => {
            Some((NoticeLevel::Info, format!("{name} is ready.")))
        }
        (ModelState::Unloaded, Some(Asked::Unload)) => {
            Some((NoticeLevel::Info, "The memory of the speech model is free.".to_owned()))
        }
        // A recording tells it by its end.
        (ModelState::Failed(why), _) if !state.voice.is_active() => Some((NoticeLevel::Warning, why.clone())),
        _ => None,
    };
    state.voice.model = Some(model);
    if let Some((level, text)) = is_told {
        state.voice.asked = None;
        say(state, level, text, now);
    }
}

/// Transcribes what is kept of a failed recording.
fn retry(state: &mut AppState, now: Instant) -> Outcome {
    let recording: Option<RecordingId> = state.voice.failed.take().filter(|_| !state.voice.is_active());
    let Some(recording) = recording else {
        say(state, NoticeLevel::Info, "There is no recording to transcribe once more.".to_owned(), now);
        return Outcome::changed();
    };
    let reference = super::reference(state);
    state.voice.active = Some(super::Active { recording, stage: super::Stage::Stopped, reference });
    state.voice.view.begin();
    state.voice.view.stop(now);
    Outcome::effect(Effect::Voice(VoiceCommand::Retry(recording)))
}

/// What there is has come: lists are filled, and the status is written where it was asked for.
pub fn status_came(state: &mut AppState, status: VoiceStatus) {
    state.voice.model = Some(status.state.clone());
    if std::mem::take(&mut state.voice.reports) {
        let text = status_text(&status, source_command(state));
        state.conversation.notice(NoticeLevel::Info, text);
        state.pane.to_end();
    }
    state.voice.status = Some(status);
    let pages =
        [VoicePage::Menu, VoicePage::Microphones, VoicePage::Models].map(|page| (page, items(state, page)));
    for layer in &mut state.layers {
        if let Layer::Voice(picker) = layer
            && let Some((_, items)) = pages.iter().find(|(page, _)| *page == picker.page())
        {
            picker.set_items(items.clone());
            picker.set_loading(false);
        }
    }
}

fn items(state: &AppState, page: VoicePage) -> Vec<VoiceItem> {
    match page {
        VoicePage::Menu => menu(state),
        VoicePage::Microphones => microphones(state),
        VoicePage::Models => models(state),
        VoicePage::Languages => languages(state),
    }
}

fn menu(state: &AppState) -> Vec<VoiceItem> {
    let settings = &state.loaded.settings.voice;
    let or = |text: &str, instead: &str| if text.is_empty() { instead.to_owned() } else { text.to_owned() };
    let row = |choice, name: &str, rail: String| VoiceItem { rail, ..VoiceItem::new(choice, name) };
    let does =
        |choice, name: &str, text: &str| VoiceItem { text: text.to_owned(), ..VoiceItem::new(choice, name) };
    let chosen = state.voice.status.as_ref().map(|status| status.chosen.clone()).unwrap_or_default();
    let model = or(&settings.engine.model, &or(&chosen, "by the memory of this machine"));
    let is_on = settings.cleanup.is_on;
    let mut items = vec![
        row(
            VoiceChoice::Page(VoicePage::Microphones),
            "Microphone",
            source_command(state).map_or_else(
                || or(&settings.engine.microphone, "the system's default"),
                |command| format!("by command: {command}"),
            ),
        ),
        row(VoiceChoice::Page(VoicePage::Models), "Model", model),
        row(VoiceChoice::Page(VoicePage::Languages), "Language", settings.engine.language.clone()),
        row(
            VoiceChoice::Cleanup(!is_on),
            if is_on { "Do not correct what was understood" } else { "Correct what was understood" },
            if is_on { "a language model corrects" } else { "off" }.to_owned(),
        ),
        row(VoiceChoice::Status, "Status", state.voice.model.as_ref().map(model_state).unwrap_or_default()),
        does(VoiceChoice::SetUp, "Set up", "loads the model, and offers it where it is missing"),
        does(VoiceChoice::Unload, "Unload", "frees the memory of the model"),
    ];
    if state.voice.failed.is_some() {
        items.push(does(VoiceChoice::Retry, "Retry", "transcribes the last recording once more"));
    }
    if let Some(name) = &state.voice.fetching {
        items.push(row(VoiceChoice::StopFetching, "Stop the download", name.clone()));
    }
    items
}

fn microphones(state: &AppState) -> Vec<VoiceItem> {
    let current = &state.loaded.settings.voice.engine.microphone;
    let Some(status) = &state.voice.status else { return Vec::new() };
    let mut items = vec![VoiceItem {
        is_current: current.is_empty(),
        // A chosen one is remembered, but has no say while a command brings the sound.
        text: source_command(state)
            .map(|command| format!("not used now: voice.source is {command}"))
            .unwrap_or_default(),
        ..VoiceItem::new(VoiceChoice::Microphone(String::new()), "The system's default")
    }];
    items.extend(status.microphones.iter().map(|microphone| VoiceItem {
        is_current: *current == microphone.name,
        rail: if microphone.is_default { "default now".to_owned() } else { String::new() },
        ..VoiceItem::new(VoiceChoice::Microphone(microphone.name.clone()), &microphone.name)
    }));
    if let Some(why) = &status.no_microphones {
        // Too long for a row: chosen, it is written down whole.
        items.push(VoiceItem { text: why.clone(), ..VoiceItem::new(VoiceChoice::Status, "None found") });
    }
    items
}

fn models(state: &AppState) -> Vec<VoiceItem> {
    let current = &state.loaded.settings.voice.engine.model;
    let Some(status) = &state.voice.status else { return Vec::new() };
    let by_memory = VoiceItem {
        is_current: current.is_empty(),
        text: if current.is_empty() {
            format!("{} now: {}", status.chosen, status.why)
        } else {
            String::new()
        },
        ..VoiceItem::new(
            VoiceChoice::Model { name: String::new(), is_here: true },
            "By the memory of this machine",
        )
    };
    let rows = status.models.iter().map(|model| VoiceItem {
        is_current: *current == model.name,
        text: model.languages.clone(),
        rail: format!("{}  {}", bytes(model.bytes), if model.is_here { "here" } else { "not here" }),
        problem: model.skipped.clone(),
        ..VoiceItem::new(
            VoiceChoice::Model { name: model.name.clone(), is_here: model.is_here },
            &model.title,
        )
    });
    std::iter::once(by_memory).chain(rows).collect()
}

fn languages(state: &AppState) -> Vec<VoiceItem> {
    let current = &state.loaded.settings.voice.engine.language;
    let mut items: Vec<VoiceItem> = LANGUAGES
        .iter()
        .map(|(code, name)| VoiceItem {
            is_current: current == code,
            text: (*name).to_owned(),
            ..VoiceItem::new(VoiceChoice::Language((*code).to_owned()), code)
        })
        .collect();
    if !items.iter().any(|item| item.is_current) {
        let own = VoiceItem::new(VoiceChoice::Language(current.clone()), current);
        items.push(VoiceItem { is_current: true, ..own });
    }
    items
}

/// Asks before a model is loaded from the network. Below whatever is open: nobody who types is interrupted.
pub fn ask_to_fetch(state: &mut AppState, offer: ModelOffer) {
    let is_asked = |layer: &Layer| matches!(layer, Layer::Confirm(confirm) if is_fetch(confirm.kind()));
    state.layers.retain(|layer| !is_asked(layer));
    let mut text = format!(
        "{} from {}, licence {}. It understands {} and takes {} of memory.",
        bytes(offer.bytes),
        offer.from,
        offer.licence,
        offer.languages,
        bytes(offer.memory)
    );
    if let Some(why) = &offer.why {
        // A text takes everything.
        let mut letters = why.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase).collect::<String>();
        let _always = write!(text, " {first}{}", letters.as_str());
    }
    text.push_str(
        " The files are checked by the checksums that the host tells; these are not verified by us.",
    );
    let question = format!("Download {}?", offer.title);
    let kind = ConfirmKind::FetchModel(offer.name.clone());
    let confirm = Confirm::new(kind, &question, &text, &["Download", "Not now"]);
    state.layers.insert(0, Layer::Confirm(confirm));
    state.voice.offer = Some(offer);
    state.voice.asked = None;
}

const fn is_fetch(kind: &ConfirmKind) -> bool {
    matches!(kind, ConfirmKind::FetchModel(_))
}

/// The user agrees.
pub fn agreed(state: &mut AppState, name: String) -> Outcome {
    let total = state.voice.offer.take().map_or(0, |offer| offer.bytes);
    state.voice.fetching = Some(name.clone());
    state.voice.view.set_fetching(Some((0, total)));
    Outcome::effect(Effect::Voice(VoiceCommand::Fetch(name)))
}

/// The user does not.
pub fn refused(state: &mut AppState) -> Outcome {
    state.voice.offer = None;
    stop_fetching(state)
}

/// The command that brings the sound, where the settings name one.
fn source_command(state: &AppState) -> Option<&str> {
    match &state.loaded.settings.voice.engine.source {
        SoundSource::Command(command) => Some(command),
        SoundSource::Auto | SoundSource::Device => None,
    }
}

/// The status, for people.
fn status_text(status: &VoiceStatus, source: Option<&str>) -> String {
    let mut lines = vec![format!("Dictation: {}", model_state(&status.state))];
    lines.push(format!("model      {} ({})", status.chosen, status.why));
    lines.extend(status.models.iter().map(|model| format!("           {}", model_line(model))));
    if let Some(command) = source {
        lines.push(format!("sound by   {command}"));
    }
    for (at, microphone) in status.microphones.iter().enumerate() {
        let label = if at == 0 { "microphone" } else { "" };
        let mark = if microphone.is_default { ", the system's default" } else { "" };
        lines.push(format!("{label:<10} {}{mark}", microphone.name));
    }
    // Nobody misses one where a command brings the sound.
    if let Some(why) = status.no_microphones.as_ref().filter(|_| source.is_none()) {
        lines.push(format!("microphone {why}"));
    }
    lines.push(format!("memory     {} free", bytes(status.free_memory)));
    let (folder, free) = &status.cache;
    lines.push(format!("models in  {} ({} free)", folder.display(), bytes(*free)));
    lines.join("\n")
}

fn model_line(model: &ModelRow) -> String {
    let place = if model.is_here { "here" } else { "not here" };
    let skipped = model.skipped.as_ref().map(|why| format!(", {why}")).unwrap_or_default();
    format!("{}: {}, {place}{skipped}", model.name, bytes(model.bytes))
}

fn model_state(state: &ModelState) -> String {
    match state {
        ModelState::Unloaded => "no model is loaded".to_owned(),
        ModelState::Loading(name) => format!("loading {name}"),
        ModelState::Ready { name, precision } => {
            let kept = match precision {
                Precision::Auto => "",
                Precision::Int8 => ", a byte a weight",
                Precision::F32 => ", four bytes a weight",
            };
            format!("{name} is ready{kept}")
        }
        ModelState::Failed(why) => format!("the model can't be used: {why}"),
    }
}

/// `1.2 GB`, `670 MB`.
fn bytes(count: u64) -> String {
    const MEGA: u64 = 1_000_000;
    if count >= 1_000 * MEGA {
        return format!("{}.{} GB", count / (1_000 * MEGA), count / (100 * MEGA) % 10);
    }
    format!("{} MB", count.div_ceil(MEGA))
}
