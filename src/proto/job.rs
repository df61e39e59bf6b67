//! Background shell jobs as agents and front ends see them: data only.

use super::chain::Wait;
use super::ids::JobId;
use super::message::Millis;
use super::meter::Meter;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// Whose the message is by which an agent learns of ends of jobs.
pub const JOB_MESSAGE: &str = "mynah.jobs";

/// The tools whose calls start background jobs, or become ones: the details of their results name the job as `job`.
pub const STARTS_JOBS: [&str; 2] = ["shell_job_start", "bash"];

/// A background job at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct JobView {
    /// Its name.
    pub id: JobId,
    /// What it is for, in words.
    pub title: String,
    /// The command as written.
    pub command: String,
    /// Where it started.
    pub cwd: PathBuf,
    /// It has a terminal, so that it can be written to.
    pub has_terminal: bool,
    /// How far it is.
    pub state: JobState,
    /// When it started.
    pub started: Millis,
    /// The folder of its log.
    pub folder: PathBuf,
    /// Bytes that it has printed.
    pub printed: u64,
    /// When it printed last; its start, before it did.
    pub printed_at: Millis,
    /// The newest line of its output that is not blank, clean and bounded.
    pub latest: String,
    /// What its progress display says.
    pub meter: Option<Meter>,
    /// What it waits for, if that ends at a known time.
    pub wait: Option<Wait>,
    /// The agent has heard of its end.
    pub is_told: bool,
    /// Its end could not be told to the agent yet, though it was tried.
    pub is_undelivered: bool,
}

#[cfg(test)]
impl JobView {
    /// A job of this name that has just begun; tests change what matters to them.
    pub fn sample(name: &str) -> Self {
        Self {
            id: JobId::new(name),
            title: name.to_owned(),
            command: "make all".to_owned(),
            cwd: "/work".into(),
            has_terminal: false,
            state: JobState::Running,
            started: 0,
            folder: "/state/jobs".into(),
            printed: 0,
            printed_at: 0,
            latest: String::new(),
            meter: None,
            wait: None,
            is_told: false,
            is_undelivered: false,
        }
    }
}

/// How far a job is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It runs.
    Running,
    /// It was told to end.
    Stopping {
        /// When.
        since: Millis,
    },
    /// It has ended.
    Ended(JobEnd),
}

/// The end of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobEnd {
    /// How.
    pub how: JobEnding,
    /// How long it ran, in milliseconds.
    pub took_ms: u64,
    /// Bytes of output that could not be written down.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum JobEnding {
    /// By itself, with this code.
    Exited(i32),
    /// By the signal of this name, which did not come from us.
    Signalled(String),
    /// At its time limit, in seconds.
    TimedOut(u64),
    /// Somebody stopped it.
    Stopped(StoppedBy),
    /// What watched it is gone, and so is it: nobody knows how it ended.
    Unknown,
}

/// Who stopped a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StoppedBy {
    /// The agent, through a tool.
    Agent,
    /// The user.
    User,
    /// The end of the session: only what the user keeps outlives it.
    End,
    /// It wanted something of the terminal, which it does not have.
    Terminal,
}

impl JobEnding {
    /// It did what it should.
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Exited(0))
    }
}

impl JobState {
    /// It has not ended.
    pub const fn is_live(&self) -> bool {
        !matches!(self, Self::Ended(_))
    }
}

/// What is kept of a job that ended, in the details of the message that tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobReport {
    /// Its name.
    pub id: JobId,
    /// What it was for.
    pub title: String,
    /// The command.
    pub command: String,
    /// How it ended.
    pub end: JobEnd,
    /// Its last lines, plain.
    #[serde(default)]
    pub last_lines: String,
    /// Where its log is.
    #[serde(default)]
    pub log: PathBuf,
}

/// The reports that the details of a message hold; none where they hold something else.
pub fn reports_of(details: Option<&Value>) -> Vec<JobReport> {
    details
        .and_then(|details| details.get("jobs"))
        .and_then(|jobs| Vec::deserialize(jobs).ok())
        .unwrap_or_default()
}

/// Details with these reports.
pub fn details_of(reports: &[JobReport]) -> Value {
    serde_json::json!({"jobs": reports})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_kept_in_details() {
        let report = JobReport {
            id: JobId::new("run-tests"),
            title: "Run tests".to_owned(),
            command: "npm test".to_owned(),
            end: JobEnd { how: JobEnding::Exited(2), took_ms: 3_100, lost_bytes: 0 },
            last_lines: "2 failed\n".to_owned(),
            log: "/state/jobs/run-tests".into(),
        };
        let details = details_of(std::slice::from_ref(&report));
        assert_eq!(reports_of(Some(&details)), [report]);
        for other in [serde_json::json!({}), serde_json::json!({"jobs": 3}), serde_json::json!([])] {
            assert!(reports_of(Some(&other)).is_empty(), "{other}");
        }
        assert!(reports_of(None).is_empty());
    }
}
