//! What is known of the recording, from what the engine tells.
//!
//! Invariants: it knows one recording at a time, and whoever feeds it drops what is told of another one; it looks at no
//! clock of its own; what was said is never in it but as partial text on request.

use crate::proto::voice::{ChunkState, VoiceEvent, VoiceFailure, VoiceWarning, Wait};
use crate::text::clean;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Samples of the meter.
pub const SAMPLES: usize = 28;
/// A warning of clipping stays for this long after the last one.
const WARNS: Duration = Duration::from_secs(2);
/// Full-scale samples of a step that are heard as clipping.
const CLIPS: u32 = 4;
/// How long an end is shown.
pub const LINGERS: Duration = Duration::from_millis(1_500);
/// The same of a failure.
pub const FAILURE_LINGERS: Duration = Duration::from_millis(4_000);

/// What the row shows.
#[derive(Clone, Debug, Default)]
pub struct VoiceView {
    pub(super) stage: Stage,
    /// The recording's length so far.
    pub(super) recorded: Duration,
    /// Loudness of the last steps, the newest last.
    pub(super) levels: VecDeque<f32>,
    pub(super) chunks: Vec<ChunkState>,
    pub(super) warning: Option<Warned>,
    pub(super) wait: Option<Wait>,
    pub(super) microphone: String,
    pub(super) model: String,
    pub(super) processor: &'static str,
    /// What was understood of the open chunk.
    pub(super) partial: String,
    /// Percent of a model that is on its way.
    pub(super) fetching: Option<u8>,
}

/// What a recording does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// There is none.
    #[default]
    Idle,
    /// It runs.
    Recording,
    /// It has ended, and its text is waited for since then.
    Stopped(Instant),
    /// Its text is corrected.
    CleaningUp,
    /// What became of it, until then.
    Ended(Ending, Instant),
}

/// What became of a recording, where that is to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was thrown away.
    Cancelled,
    /// Nothing was said.
    Nothing,
    /// It has failed.
    Failed(VoiceFailure),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Warned {
    pub what: VoiceWarning,
    pub at: Instant,
}

impl VoiceView {
    /// A recording was asked for: it is shown from now on.
    pub fn begin(&mut self) {
        let known = std::mem::take(self);
        // What was used last is most likely what will be used now, and the line does not jump.
        *self = Self {
            stage: Stage::Recording,
            microphone: known.microphone,
            model: known.model,
            processor: known.processor,
            fetching: known.fetching,
            ..Self::default()
        };
    }

    /// The recording has ended; its text is on its way.
    pub fn stop(&mut self, now: Instant) {
        self.stage = Stage::Stopped(now);
        self.warning = None;
        self.partial.clear();
    }

    /// The end was a mistake.
    pub fn resume(&mut self) {
        self.stage = Stage::Recording;
    }

    /// The text is there and is being corrected.
    pub fn clean_up(&mut self) {
        self.stage = Stage::CleaningUp;
        self.wait = None;
    }

    /// The recording is over, and this is shown for a moment.
    pub fn end(&mut self, ending: Ending, now: Instant) {
        let lingers = if matches!(ending, Ending::Failed(_)) { FAILURE_LINGERS } else { LINGERS };
        self.stage = Stage::Ended(ending, now + lingers);
        self.partial.clear();
        self.wait = None;
    }

    /// The recording is over, and nothing more is shown: its text stands in the prompt.
    pub fn hide(&mut self) {
        self.stage = Stage::Idle;
        self.partial.clear();
        self.wait = None;
    }

    /// What is told of a model on its way from the network; nothing once it has come, or will not.
    pub fn set_fetching(&mut self, done_of_total: Option<(u64, u64)>) {
        self.fetching = done_of_total.map(|(done, total)| {
            u8::try_from(done.saturating_mul(100).checked_div(total).unwrap_or(0).min(100)).unwrap_or(100)
        });
    }

    /// The row is to be shown.
    pub fn is_shown(&self, now: Instant) -> bool {
        match self.stage {
            Stage::Idle => self.fetching.is_some(),
            Stage::Ended(_, until) => until > now || self.fetching.is_some(),
            Stage::Recording | Stage::Stopped(_) | Stage::CleaningUp => true,
        }
    }

    /// There is something to measure: before the first sample an empty meter would be a hole in the row.
    pub(super) fn is_heard(&self) -> bool {
        !self.levels.is_empty() || self.wait != Some(Wait::Microphone)
    }

    /// Takes in what is told of the recording that is shown. True if the row is another one by it.
    pub fn take(&mut self, event: &VoiceEvent, now: Instant) -> bool {
        match event {
            VoiceEvent::Opening { model, processor, .. } => {
                self.model = clean::for_line(model);
                self.processor = processor;
            }
            VoiceEvent::Listening { microphone, .. } => {
                self.microphone = clean::for_line(microphone);
                if self.wait == Some(Wait::Microphone) {
                    self.wait = None;
                }
            }
            VoiceEvent::Level { recorded, level, clipped, .. } => {
                self.recorded = *recorded;
                if self.levels.len() >= SAMPLES {
                    self.levels.pop_front();
                }
                self.levels.push_back(if level.is_finite() { level.clamp(0.0, 1.0) } else { 0.0 });
                self.heed(*level, *clipped, now);
            }
            VoiceEvent::Chunk { number, state, .. } => {
                let at = usize::try_from(*number).unwrap_or(usize::MAX);
                // They come in order; one that is far ahead is no chunk of ours.
                if at > self.chunks.len() {
                    return false;
                }
                match self.chunks.get_mut(at) {
                    Some(chunk) => *chunk = *state,
                    None => self.chunks.push(*state),
                }
                if !matches!(state, ChunkState::Filling(_)) {
                    self.partial.clear();
                }
            }
            VoiceEvent::Partial { text, .. } if self.stage == Stage::Recording => {
                self.partial = clean::for_line(text);
            }
            VoiceEvent::Waits { on, .. } => self.wait.clone_from(on),
            VoiceEvent::Warning { warning, .. } => self.warning = Some(Warned { what: *warning, at: now }),
            _ => return false,
        }
        true
    }

    /// What is heard may end a warning, or begin one.
    fn heed(&mut self, level: f32, clipped: u32, now: Instant) {
        if clipped >= CLIPS {
            self.warning = Some(Warned { what: VoiceWarning::TooLoud, at: now });
        }
        let is_over = match self.warning.map(|warned| warned.what) {
            Some(VoiceWarning::NothingHeard | VoiceWarning::Silent) => level > HEARD,
            Some(VoiceWarning::TooLoud | VoiceWarning::Dropped) | None => false,
        };
        if is_over {
            self.warning = None;
        }
    }

    /// The warning that is shown now, and until when it is if it ends by itself.
    pub(super) fn warning(&self, now: Instant) -> Option<(VoiceWarning, Option<Instant>)> {
        let warned = self.warning.filter(|_| self.stage == Stage::Recording)?;
        let until = match warned.what {
            VoiceWarning::TooLoud | VoiceWarning::Dropped => Some(warned.at + WARNS),
            VoiceWarning::NothingHeard | VoiceWarning::Silent => None,
        };
        until.is_none_or(|until| until > now).then_some((warned.what, until))
    }
}

/// Above this level somebody is heard.
const HEARD: f32 = 0.05;
