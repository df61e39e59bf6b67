//! `[jobs]`: background shell jobs.

use super::settings::Typed;

/// The settings of jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSettings {
    /// Bytes of output that are kept of a job.
    pub log_cap: u64,
    /// Jobs of a session that may run at once.
    pub most_live: usize,
    /// What becomes of those that run when the program is left.
    pub at_quit: AtQuit,
}

/// What becomes of jobs that run when the program is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtQuit {
    /// The user says it.
    Ask,
    /// They go on, for the next run of the session.
    Keep,
    /// They are stopped.
    Stop,
}

impl AtQuit {
    /// Their words in settings.
    pub const NAMES: &'static [&'static str] = &["ask", "keep", "stop"];

    fn named(name: &str) -> Self {
        match name {
            "keep" => Self::Keep,
            "stop" => Self::Stop,
            _ => Self::Ask,
        }
    }
}

impl JobSettings {
    pub(super) fn of(values: &Typed<'_>) -> Self {
        let megabytes: u64 = values.number("jobs.log_megabytes").into();
        Self {
            log_cap: megabytes << 20,
            most_live: usize::try_from(values.number("jobs.most_live")).unwrap_or(usize::MAX),
            at_quit: AtQuit::named(values.text("jobs.at_quit")),
        }
    }
}
