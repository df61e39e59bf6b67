//! The background jobs of a session: started, followed, read, stopped, kept beyond the session, and taken over by the next
//! run of it.
//!
//! Responsibilities: what runs, what it prints, how it ended. Not: when the agent hears of an end ([`wakes`] decides that
//! for its owner), and the processes and logs themselves, which belong to the keepers ([`super::keeper`]).
//! Invariants
//! - All events come from one task, in order: first the start of a job, at last its end, once.
//! - A process is only signalled while it is the recorded one, or carries the mark of the job.
//! - Nothing is polled: the system tells of growth and of ends. A session without jobs costs nothing.
//!
//! | file | what it is |
//! |---|---|
//! | `state` | what is known of the jobs |
//! | `launch`, `adopt` | a new job, and a command that becomes one |
//! | `follow`, `watch` | the task that tells of growth and ends |
//! | `stop`, `end` | stopping one, and all at the end of the session |
//! | `restore`, `abandoned`, `folders` | what earlier runs have left |
//! | [`read`], `lines`, `latest` | logs as text |
//! | [`report`], [`wakes`], `names` | what the agent reads, when it does, and what jobs are called |

mod abandoned;
mod adopt;
mod end;
mod folders;
mod follow;
mod latest;
mod launch;
mod lines;
mod names;
pub mod read;
pub mod report;
mod restore;
mod state;
mod stop;
#[cfg(test)]
pub mod testing;
pub mod wakes;
mod watch;

pub use super::keeper::KeeperProgram;
pub use super::keeper::record::TerminalSize;
pub use abandoned::{Cleaned, clean_abandoned};
pub use read::{ReadError, ReadFrom, ReadLine, ReadPage, ReadSpec};
pub use restore::Restored;

use super::keeper::control::{self, Ask};
use super::keeper::record::set_told;
use super::log::files;
use crate::proto::ids::{JobId, SessionId};
use crate::proto::job::{JobReport, JobState, JobView};
use follow::Message;
use state::{Shared, State};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Jobs of one session that may run at a time.
pub const DEFAULT_LIMIT: usize = 32;

/// Bytes of output that are kept of each job.
pub const DEFAULT_LOG_CAP: u64 = 64 * 1024 * 1024;

/// What a table needs.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The folder of all jobs of all sessions; absolute.
    pub root: PathBuf,
    /// Whose jobs these are.
    pub session: SessionId,
    /// How keepers are started.
    pub keeper: KeeperProgram,
    /// Jobs that may run at a time.
    pub limit: usize,
    /// Bytes of output that are kept of each job.
    pub log_cap: u64,
}

/// Who is told. Both are called by a task of the table, one at a time; neither may wait or call the table back for long.
pub struct Hooks {
    /// What happens.
    pub event: Box<dyn Fn(JobEvent) + Send + Sync>,
    /// New output, before the event that tells of the growth.
    pub output: OutputHook,
}

/// What a table tells, for one listener that takes it when it can.
#[derive(Clone, Debug, PartialEq)]
pub enum JobNews {
    /// Something has happened to a job.
    Event(JobEvent),
    /// A job has printed this.
    Output {
        /// Which.
        id: JobId,
        /// The newest bytes, see [`NewOutput`].
        bytes: Vec<u8>,
        /// How many came before them.
        skipped: u64,
    },
}

impl Hooks {
    /// Everything goes into this channel. Without a listener it goes nowhere.
    pub fn channel() -> (Self, mpsc::UnboundedReceiver<JobNews>) {
        let (events, listener) = mpsc::unbounded_channel();
        let output = events.clone();
        let hooks = Self {
            event: Box::new(move |event| drop(events.send(JobNews::Event(event)))),
            output: Box::new(move |id, NewOutput { bytes, skipped }| {
                drop(output.send(JobNews::Output { id: id.clone(), bytes: bytes.to_vec(), skipped }));
            }),
        };
        (hooks, listener)
    }
}

/// Takes new output of a job.
pub type OutputHook = Box<dyn Fn(&JobId, NewOutput<'_>) + Send + Sync>;

/// What happens to a job.
#[derive(Clone, Debug, PartialEq)]
pub enum JobEvent {
    /// It runs: it has been started, or an earlier run has left it.
    Started(Arc<JobView>),
    /// It has printed more, or is being stopped. While it prints about ten of these come in a second.
    Changed(Arc<JobView>),
    /// It has ended. Comes once, in each run until [`JobTable::set_told`].
    Ended(Arc<JobView>),
}

/// What a job has printed since the last time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewOutput<'a> {
    /// The newest bytes as they were printed, 16 KiB at most.
    pub bytes: &'a [u8],
    /// How many came before them since the last time, and are only in the log.
    pub skipped: u64,
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSpec {
    /// What it is for, in words.
    pub title: String,
    /// The command text.
    pub command: String,
    /// Where it starts; absolute.
    pub cwd: PathBuf,
    /// The shell; gets `-c` and the text.
    pub shell: PathBuf,
    /// The terminal that it gets, if any.
    pub terminal: Option<TerminalSize>,
    /// After how long it is stopped.
    pub time_limit: Option<Duration>,
    /// Environment variables that it gets besides ours.
    pub env: Vec<(String, OsString)>,
    /// Environment variables that it does not get.
    pub secret_env: Vec<String>,
}

/// A job that did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Too many run.
    #[error(
        "{0} background jobs run already, which is the most at a time. Stop one that is no longer needed, or wait until \
         one has ended, and try again."
    )]
    Limit(usize),
    /// Another program has the jobs of this session.
    #[error("Another Mynah that runs has the background jobs of this session. The command was not started.")]
    Busy,
    /// The session ends.
    #[error("The session is ending. The command was not started.")]
    Closing,
    /// Its folder could not be made.
    #[error("The folder of the job {folder} could not be made: {error}. The command was not started.")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The keeper did not start.
    #[error("The process that watches over the job could not be started: {0}. The command was not started.")]
    Keeper(io::Error),
    /// The shell did not start.
    #[error("{0} The command was not started.")]
    Failed(String),
    /// The keeper said nothing.
    #[error("The process that watches over the job gave no answer. The command was not started.")]
    NoAnswer,
}

/// Input that a job did not get.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// No such job.
    #[error(transparent)]
    NoSuchJob(#[from] NoSuchJob),
    /// It has ended.
    #[error("The job {0} has ended.")]
    Ended(JobId),
    /// It has no terminal.
    #[error("The job {0} has no terminal, so it can't be written to. Start it with one.")]
    NoTerminal(JobId),
    /// It does not read.
    #[error("The job {0} does not read what it was given before. Not all of this could be given to it.")]
    Full(JobId),
    /// The system says so.
    #[error("The job {id} can't be written to: {error}.")]
    Write {
        /// Which.
        id: JobId,
        /// Why.
        error: io::Error,
    },
}

/// No job has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("There is no background job {0}.")]
pub struct NoSuchJob(pub JobId);

/// The background jobs of a session.
#[derive(Debug)]
pub struct JobTable {
    shared: Arc<Shared>,
    /// For the task that follows jobs; it ends with this.
    messages: mpsc::UnboundedSender<Message>,
}

impl JobTable {
    /// No jobs. Must be called on a runtime. A table that is dropped without [`Self::end`] leaves its jobs to the next run.
    pub fn new(setup: Setup, hooks: Hooks) -> Arc<Self> {
        let shared = Arc::new(Shared::new(setup, hooks));
        let (messages, inbox) = mpsc::unbounded_channel();
        tokio::spawn(follow::run(Arc::clone(&shared), inbox, messages.downgrade()));
        Arc::new(Self { shared, messages })
    }

    /// All jobs, in the order of their starts; those that have ended too.
    pub fn list(&self) -> Vec<Arc<JobView>> {
        self.shared.with(|state| state.jobs().map(|job| Arc::clone(&job.view)).collect())
    }

    /// One of them.
    pub fn get(&self, id: &JobId) -> Option<Arc<JobView>> {
        self.shared.with(|state| state.job(id).map(|job| Arc::clone(&job.view)))
    }

    /// The process of a job's shell, as far as it is known.
    pub fn shell(&self, id: &JobId) -> Option<i32> {
        self.shared.with(|state| state.job(id)?.record.running.as_ref().map(|running| running.shell.pid))
    }

    /// A part of a job's log.
    pub async fn read(&self, id: &JobId, spec: ReadSpec) -> Result<ReadPage, ReadError> {
        let view = self.existing(id)?;
        let (folder, is_live) = (view.folder.clone(), view.state.is_live());
        // A large log is read through, which takes its time.
        let page = tokio::task::spawn_blocking(move || read::read(&folder, &spec, is_live));
        page.await.map_err(|_stopped| io::Error::other("the program is quitting"))?
    }

    /// Writes to the terminal of a job. Returns at once: the job reads when it wants to.
    pub fn input(&self, id: &JobId, bytes: Vec<u8>) -> Result<(), InputError> {
        let view = self.existing(id)?;
        if !view.state.is_live() {
            return Err(InputError::Ended(id.clone()));
        }
        if !view.has_terminal {
            return Err(InputError::NoTerminal(id.clone()));
        }
        control::send(&view.folder, &Ask::Input(bytes)).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => InputError::Full(id.clone()),
            _ => InputError::Write { id: id.clone(), error },
        })
    }

    /// Waits for the end of a job, so long at most: the job as it is then.
    pub async fn wait(&self, id: &JobId, limit: Duration) -> Result<Arc<JobView>, NoSuchJob> {
        let ended = self.shared.with(|state| state.job(id).map(|job| job.ended.subscribe()));
        let mut ended = ended.ok_or_else(|| NoSuchJob(id.clone()))?;
        // A table that is gone tells no end.
        let _late = tokio::time::timeout(limit, ended.wait_for(|ended| *ended)).await;
        self.existing(id)
    }

    /// What the agent is told of the end of a job, or of the job as it is.
    pub async fn report(&self, id: &JobId) -> Result<JobReport, NoSuchJob> {
        let view = self.existing(id)?;
        let spec =
            ReadSpec { max_lines: report::LAST_LINES, max_bytes: report::LAST_BYTES, ..ReadSpec::default() };
        let page = self.read(id, spec).await.unwrap_or_default();
        let mut last_lines = String::new();
        for line in page.lines {
            last_lines.push_str(&line.text);
            last_lines.push('\n');
        }
        let log = files::newest(&view.folder).unwrap_or_else(|| files::path(&view.folder, 0));
        let JobView { id, title, command, .. } = JobView::clone(&view);
        Ok(JobReport { id, title, command, end: state::end_of(&view), last_lines, log })
    }

    /// The agent knows of these ends: no later run tells them again.
    pub fn set_told(&self, ids: &[JobId]) {
        for view in ids.iter().filter_map(|id| self.get(id)) {
            if let Err(error) = set_told(&view.folder) {
                tracing::warn!(%error, job = %view.id, "the end of a job may be told twice");
            }
        }
    }

    fn existing(&self, id: &JobId) -> Result<Arc<JobView>, NoSuchJob> {
        self.get(id).ok_or_else(|| NoSuchJob(id.clone()))
    }

    /// Jobs that have not ended.
    fn live(state: &State) -> usize {
        state.jobs().filter(|job| !matches!(job.view.state, JobState::Ended(_))).count()
    }
}

#[cfg(test)]
mod tests;
