//! The settings of dictation, as types.

use super::settings::Typed;
use crate::proto::voice::{Precision, SoundSource, VoiceSettings};
use std::time::Duration;

/// Words of `voice.precision`.
pub const PRECISIONS: &[&str] = &["auto", "int8", "f32"];

/// `[voice]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voice {
    /// What the speech engine is told.
    pub engine: VoiceSettings,
    /// What becomes of its text.
    pub cleanup: Cleanup,
}

/// How a transcript is corrected by a language model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleanup {
    /// It is at all.
    pub is_on: bool,
    /// By which model, as `provider/id`; `None` for the session's.
    pub model: Option<String>,
    /// After this time the text is used as it is. One deadline for everything, a repetition included.
    pub limit: Duration,
    /// Providers that may get the transcript.
    pub providers: Vec<String>,
    /// Whose last answer helps to spell terms.
    pub reference: ReferenceSource,
    /// Characters of that answer, at most.
    pub reference_chars: usize,
    /// Providers that may get that answer although the session does not talk to them.
    pub reference_providers: Vec<String>,
}

/// Whose last answer helps to spell terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceSource {
    /// Nobody's.
    Off,
    /// This session's agent.
    Own,
    /// A Pi or Codex session in the focused window.
    FocusedWindow,
}

impl ReferenceSource {
    /// Their words in settings.
    pub const NAMES: &'static [&'static str] = &["off", "own", "focused-window"];

    fn named(name: &str) -> Self {
        match name {
            "own" => Self::Own,
            "focused-window" => Self::FocusedWindow,
            _ => Self::Off,
        }
    }
}

impl Voice {
    pub(super) fn of(values: &Typed<'_>) -> Self {
        let threads = usize::try_from(values.number("voice.threads")).unwrap_or(0);
        Self {
            engine: VoiceSettings {
                source: match values.text("voice.source") {
                    "" | "auto" => SoundSource::Auto,
                    "device" => SoundSource::Device,
                    command => SoundSource::Command(command.to_owned()),
                },
                microphone: values.text("voice.microphone").to_owned(),
                model: values.text("voice.model").to_owned(),
                language: values.text("voice.language").to_owned(),
                precision: match values.text("voice.precision") {
                    "int8" => Precision::Int8,
                    "f32" => Precision::F32,
                    _ => Precision::Auto,
                },
                partial_text: values.switch("voice.partial_text"),
                longest: values.seconds("voice.longest_seconds"),
                pre_roll: Duration::from_millis(values.number("voice.pre_roll_ms").into()),
                idle: values.seconds("voice.idle_minutes") * 60,
                threads: Some(threads).filter(|threads| *threads > 0),
                offline: values.switch("network.offline"),
            },
            cleanup: Cleanup {
                is_on: values.switch("voice.cleanup"),
                model: values.optional_text("voice.cleanup_model"),
                limit: values.seconds("voice.cleanup_seconds"),
                providers: values.list("voice.cleanup_providers"),
                reference: ReferenceSource::named(values.text("voice.reference")),
                reference_chars: usize::try_from(values.number("voice.reference_chars")).unwrap_or(6_000),
                reference_providers: values.list("voice.reference_providers"),
            },
        }
    }
}
