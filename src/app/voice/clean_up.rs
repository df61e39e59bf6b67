//! What corrects a dictated text: finds the reference and the model, asks for consent, sends, and can be stopped.
//!
//! Invariants
//! - One correction at a time: another recording's ends it.
//! - Nothing is sent to a provider that the user has not agreed to; the question is told instead, with the text as it is.
//! - Whatever fails, an answer is told for each correction that was begun and not stopped.

use super::refine::{ModelEditor, destination};
use crate::app::effect::Refine;
use crate::app::msg::Done;
use crate::app::start::Surroundings;
use crate::config::settings::Settings;
use crate::dictation::reference::external::focus::{Hyprland, Kitty};
use crate::dictation::reference::external::{Places, Search};
use crate::dictation::reference::{Agent, Excerpt, note_use};
use crate::dictation::refine::Reason;
use crate::dictation::refine::consent::{Consent, decide};
use crate::dictation::refine::prompt::Style;
use crate::dictation::refine::run::{Refined, refine};
use crate::proto::ids::RecordingId;
use crate::proto::model::ModelRef;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;

/// Helpers that look for the focused window have ended by then.
const SEARCH_LIMIT: Duration = Duration::from_secs(3);

/// How the session reaches models.
pub struct Access {
    /// Settings, places, environment.
    pub around: Arc<Surroundings>,
    /// `--api-key`
    pub api_key: Option<String>,
    /// `--offline`
    pub offline: bool,
    /// What the session talks to.
    pub session: Option<ModelRef>,
}

/// The correction that is on its way, and the reference for the next one.
#[derive(Default)]
pub struct CleanUp {
    search: Option<(RecordingId, Search)>,
    running: Option<(RecordingId, AbortHandle)>,
}

impl CleanUp {
    /// Looks for the agent in the focused window: the stop of a recording was accepted.
    pub fn find_reference(&mut self, recording: RecordingId, around: &Surroundings) {
        let places = Places {
            processes: PathBuf::from("/proc"),
            runtime: around.env.folder("XDG_RUNTIME_DIR"),
            home: around.places.home.clone(),
        };
        let search = Search::begin(places, Box::new(Hyprland), Box::new(Kitty));
        self.search = search.map(|search| (recording, search));
    }

    /// Corrects a text, and tells what came of it.
    pub fn begin(&mut self, work: Refine, access: Access, tell: impl FnOnce(Done) + Send + 'static) {
        let recording = work.recording;
        let search = self.search.take().filter(|(of, _)| *of == recording).map(|(_, search)| search);
        let task = tokio::spawn(async move { tell(correct(work, search, access).await) });
        if let Some((_, before)) = self.running.replace((recording, task.abort_handle())) {
            before.abort();
        }
    }

    /// Nobody waits for the correction of that recording.
    pub fn stop(&mut self, recording: RecordingId) {
        self.search.take_if(|(of, _)| *of == recording);
        if let Some((_, task)) = self.running.take_if(|(of, _)| *of == recording) {
            task.abort();
        }
    }
}

async fn correct(work: Refine, search: Option<Search>, access: Access) -> Done {
    let deadline = Instant::now() + access.around.loaded.settings.voice.cleanup.limit;
    let recording = work.recording;
    let raw = |reason: Reason| Done::Refined { recording, result: Err(reason.words().to_owned()) };
    // Reads files, and may wait for the search.
    let prepared =
        tokio::task::spawn_blocking(move || prepare(&work, search, &access).map(|ready| (work, ready)));
    let (work, ready) = match prepared.await {
        Ok(Ok(both)) => both,
        Ok(Err(Stop::Ask { question, to })) => return Done::CleanUpAsks { recording, question, to },
        Ok(Err(Stop::Raw(reason))) => return raw(reason),
        Err(_ended) => return raw(Reason::Configuration),
    };
    let style = if work.is_plain { Style::ShellLine } else { Style::CodingAgent };
    let Refined { text, usage, requests } =
        refine(&ready.editor, style, &work.heard, ready.excerpt, deadline).await;
    tracing::info!(requests, tokens = usage.total_tokens, worked = text.is_ok(), "dictation corrected");
    Done::Refined { recording, result: text.map_err(|reason| reason.words().to_owned()) }
}

struct Ready {
    editor: ModelEditor,
    excerpt: Option<Excerpt>,
}

enum Stop {
    /// The user has not agreed to this provider.
    Ask {
        question: String,
        /// As the settings keep it, and whether it gets the reference, too.
        to: (String, bool),
    },
    /// The text stays as it is.
    Raw(Reason),
}

fn prepare(work: &Refine, search: Option<Search>, access: &Access) -> Result<Ready, Stop> {
    let settings: &Settings = &access.around.loaded.settings;
    let cleanup = &settings.voice.cleanup;
    let (models, _warnings) = access.around.models(access.api_key.as_deref(), access.offline);
    let session = access.session.as_ref().and_then(|model| models.find(model));
    let model = match &cleanup.model {
        Some(pattern) => models.select(pattern).ok().map(|selection| selection.model),
        None => session.clone(),
    };
    let model = model.ok_or(Stop::Raw(Reason::Configuration))?;
    let session = session.map(|model| destination(&model));
    let may_have_reference = match decide(cleanup, &destination(&model), session.as_ref()) {
        Consent::Send => true,
        Consent::WithoutReference => false,
        Consent::AskFor(question) => {
            let gets_reference = question.with_reference && session.as_ref() != Some(&question.destination);
            let to = (question.destination.key(), gets_reference);
            return Err(Stop::Ask { question: question.words(), to });
        }
        Consent::No => return Err(Stop::Raw(Reason::Configuration)),
    };
    let provider = models.provider(&model).map_err(|error| {
        tracing::warn!(%error, "no way to the model that corrects");
        Stop::Raw(Reason::Configuration)
    })?;
    let limit = cleanup.reference_chars;
    let excerpt = match (may_have_reference, search, &work.reference) {
        (true, Some(search), _) => search.excerpt(limit, SEARCH_LIMIT),
        (true, None, Some(own)) => {
            let excerpt = Excerpt::of(Agent::Mynah, &own.text, limit);
            note_use(excerpt.as_ref());
            excerpt
        }
        _ => None,
    };
    Ok(Ready { editor: ModelEditor::new(model, provider), excerpt })
}
