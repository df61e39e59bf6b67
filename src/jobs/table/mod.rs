//! The background jobs of a session: started, followed, read, stopped, kept beyond the session, and adopted by the next
//! run of it.
//!
//! Responsibilities: what runs and what it tells. Not: when the agent hears of an end ([`wakes`]); processes and logs
//! themselves, which belong to the keepers ([`super::keeper`]).
//! Invariants
//! - A job whose start was told is in the list until its end was told to the agent, also across runs of the program.
//! - A process is only ever signalled while it is the recorded one.
//! - Nothing is polled: logs are watched by the system, and ends are told by it.
//!
//! | file | what it is |
//! |---|---|
//! | [`wakes`] | which ends the agent is still to hear of, and when |
//! | [`read`] | a log as text |
//! | `job` | one job: its facts and its newest output |
//! | `follow` | waiting for growth and the end |
//! | `name` | names made of titles |
//! | [`report`] | what an agent reads of ends |
//! | `restore` | what earlier runs have left |

mod follow;
mod job;
mod name;
pub mod read;
pub mod report;
mod restore;
pub mod wakes;

use super::GRACE;
use super::keeper::control::{self, Ask};
use super::keeper::record::{self, JobRecord, Started};
use super::mark::{self, Commands, Mark, Marked};
use super::tree::Tree;
use crate::proto::ids::JobId;
use crate::proto::job::{JobReport, JobView};
use follow::{KeeperEnd, Watch};
use job::Job;
pub use restore::clean_abandoned;
use rustix::process::Signal;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use wakes::Wakes;

/// A keeper tells within this time whether its job runs.
const START_PATIENCE: Duration = Duration::from_secs(10);
/// Stopped jobs have ended within this time, or their keepers go on without us.
const END_PATIENCE: Duration = Duration::from_secs(3);

/// What a table needs.
#[derive(Clone, Debug)]
pub struct TableConfig {
    /// Our own program: keepers are made of it.
    pub program: PathBuf,
    /// Where the folders of this session's jobs are.
    pub folder: PathBuf,
    /// Bytes of output that are kept of a job.
    pub log_cap: u64,
    /// Jobs that may run at once.
    pub most_live: usize,
}

/// A job to start.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// What it is for.
    pub title: String,
    /// The command.
    pub command: String,
    /// Where it starts.
    pub cwd: PathBuf,
    /// The shell.
    pub shell: PathBuf,
    /// It gets a terminal, and can be written to.
    pub has_terminal: bool,
    /// After how long it is stopped.
    pub limit: Option<Duration>,
    /// Environment variables that it does not get.
    pub secret_env: Vec<String>,
    /// Environment variables that it gets besides.
    pub env: Vec<(String, OsString)>,
}

/// A job that did not start. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Enough are running.
    #[error(
        "{0} jobs are running, which is as many as there may be. Stop some, or wait for their ends. It was not started."
    )]
    TooMany(usize),
    /// Its folder can't be made.
    #[error("The job was not started: its folder can't be written: {0}")]
    Folder(String),
    /// What watches over it did not start.
    #[error("The job was not started: the process that watches over it could not be: {0}")]
    Keeper(io::Error),
    /// It says so itself.
    #[error("{0} The job was not started.")]
    Refused(String),
    /// The program is quitting.
    #[error("The program is quitting. The job was not started.")]
    Closing,
}

/// Something that is asked of a job.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// There is none of this name.
    #[error("There is no job `{0}`.{1}")]
    Unknown(JobId, String),
    /// It has ended.
    #[error("The job `{0}` has ended: it takes nothing any more.")]
    Ended(JobId),
    /// It has no terminal.
    #[error("The job `{0}` has no terminal to write to. Start it again with \"pty\": true.")]
    NoTerminal(JobId),
    /// Its keeper does not listen.
    #[error("The job `{0}` can't be reached: {1}. Try again in a moment.")]
    Unreachable(JobId, io::Error),
    /// Its log can't be read.
    #[error("The log of `{0}` can't be read: {1}")]
    Log(JobId, io::Error),
}

/// What a table tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobNews {
    /// Something about it is different.
    Changed(JobId),
    /// It has ended.
    Ended(JobId),
}

/// The jobs of a session.
#[derive(Debug)]
pub struct JobTable {
    config: TableConfig,
    mark: Mark,
    state: Mutex<State>,
    news: mpsc::UnboundedSender<JobNews>,
    /// For who has the session.
    listener: Mutex<Option<mpsc::UnboundedReceiver<JobNews>>>,
}

#[derive(Debug, Default)]
struct State {
    /// In the order of their starts.
    jobs: Vec<Arc<Job>>,
    /// Names that were ever used.
    names: BTreeSet<String>,
    number: u64,
    /// Starting, and in no list yet.
    starting: usize,
    closing: bool,
    watch: Option<Watch>,
    wakes: Wakes,
}

impl JobTable {
    /// An empty table. Nothing is touched before the first job.
    pub fn new(config: TableConfig) -> Arc<Self> {
        let (news, listener) = mpsc::unbounded_channel();
        Arc::new(Self {
            config,
            mark: Mark::new(mark::inherited()),
            state: Mutex::new(State::default()),
            news,
            listener: Mutex::new(Some(listener)),
        })
    }

    /// What it tells, for the one that has the session; nothing for a second one.
    pub fn listen(&self) -> Option<mpsc::UnboundedReceiver<JobNews>> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Starts a job.
    pub async fn start(self: &Arc<Self>, spec: JobSpec) -> Result<Arc<JobView>, StartError> {
        let (id, number) = self.reserve(&spec.title)?;
        let _reserved = Reserved(self);
        let folder = self.config.folder.join(id.as_str());
        let record = JobRecord {
            version: JobRecord::VERSION,
            id,
            title: spec.title.clone(),
            command: spec.command.clone(),
            cwd: spec.cwd.clone(),
            shell: spec.shell.clone(),
            has_terminal: spec.has_terminal,
            // A part of a second is none that would be cut off.
            limit_seconds: spec.limit.map(|limit| limit.as_secs() + u64::from(limit.subsec_nanos() > 0)),
            log_cap: self.config.log_cap,
            mark: self.mark.value(number).to_string_lossy().into_owned(),
            token: self.mark.token().to_owned(),
            number,
            running: None,
        };
        if let Err(error) = self.prepare(&folder, &record) {
            let _gone = std::fs::remove_dir_all(&folder);
            return Err(StartError::Folder(error));
        }
        match self.start_keeper(&folder, &spec).await {
            Ok((record, end)) => Ok(self.add(record, folder, end)),
            Err(error) => {
                let _gone = std::fs::remove_dir_all(&folder);
                Err(error)
            }
        }
    }

    /// A name and a number, if one more may run.
    fn reserve(&self, title: &str) -> Result<(JobId, u64), StartError> {
        let mut state = self.state();
        if state.closing {
            return Err(StartError::Closing);
        }
        let live = state.jobs.iter().filter(|job| job.is_live()).count() + state.starting;
        if live >= self.config.most_live {
            return Err(StartError::TooMany(live));
        }
        let name = name::of(title, |name| state.names.contains(name));
        state.names.insert(name.clone());
        state.starting += 1;
        state.number += 1;
        Ok((JobId::new(name), state.number))
    }

    fn prepare(&self, folder: &Path, record: &JobRecord) -> Result<(), String> {
        let told = |error: io::Error| error.to_string();
        restore::own(&self.config.folder).map_err(told)?;
        restore::create_private(folder).map_err(told)?;
        control::create(folder).map_err(told)?;
        record.write(folder).map_err(|error| error.to_string())
    }

    async fn start_keeper(
        &self,
        folder: &Path,
        spec: &JobSpec,
    ) -> Result<(JobRecord, KeeperEnd), StartError> {
        let mut keeper = Command::new(&self.config.program);
        // From a folder that nobody wants to unmount.
        keeper.arg("keep-job").arg(folder).current_dir("/");
        keeper.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        for name in &spec.secret_env {
            keeper.env_remove(name);
        }
        keeper.envs(spec.env.iter().map(|(name, value)| (name, value)));
        let mut keeper = keeper.spawn().map_err(StartError::Keeper)?;
        let mut line = String::new();
        if let Some(output) = keeper.stdout.take() {
            let mut output = BufReader::new(output);
            let _late = timeout(START_PATIENCE, output.read_line(&mut line)).await;
        }
        match serde_json::from_str(&line) {
            Ok(Started::Running(record)) => Ok((record, KeeperEnd::Child(keeper))),
            Ok(Started::Failed(why)) => {
                let _status = keeper.wait().await;
                Err(StartError::Refused(why))
            }
            Err(_) => {
                let _gone = keeper.kill().await;
                let mut tree = Tree::new(Vec::new(), self.mark.of(Commands::Only(0)));
                tree.signal(Signal::KILL);
                Err(StartError::Refused("What watches over it did not answer.".to_owned()))
            }
        }
    }

    fn add(self: &Arc<Self>, record: JobRecord, folder: PathBuf, end: KeeperEnd) -> Arc<JobView> {
        let job = Arc::new(Job::new(record, folder));
        let view = job.view();
        {
            let mut state = self.state();
            state.watch(&job);
            state.jobs.push(Arc::clone(&job));
        }
        self.tell(JobNews::Changed(view.id.clone()));
        tokio::spawn(follow::follow(Arc::clone(self), job, end));
        view
    }

    /// All jobs that this session knows, in the order of their starts.
    pub fn list(&self) -> Vec<Arc<JobView>> {
        self.state().jobs.iter().map(|job| job.view()).collect()
    }

    /// How many run.
    pub fn live(&self) -> usize {
        self.state().jobs.iter().filter(|job| job.is_live()).count()
    }

    /// A job as it is.
    pub fn view(&self, id: &JobId) -> Result<Arc<JobView>, JobError> {
        Ok(self.job(id)?.view())
    }

    /// Writes to the terminal of a job.
    pub fn input(&self, id: &JobId, text: &str) -> Result<(), JobError> {
        let job = self.job(id)?;
        if !job.view().has_terminal {
            return Err(JobError::NoTerminal(id.clone()));
        }
        if !job.is_live() {
            return Err(JobError::Ended(id.clone()));
        }
        control::send(job.folder(), &Ask::Input(text.as_bytes().to_vec()))
            .map_err(|error| JobError::Unreachable(id.clone(), error))
    }

    /// Stops a job and all that it started. Its end is told as any other; of one that has ended nothing is wanted.
    pub fn stop(&self, id: &JobId) -> Result<Arc<JobView>, JobError> {
        let job = self.job(id)?;
        if job.is_live() {
            control::send(job.folder(), &Ask::Stop)
                .map_err(|error| JobError::Unreachable(id.clone(), error))?;
            job.stopping(record::now());
            self.tell(JobNews::Changed(id.clone()));
        }
        Ok(job.view())
    }

    /// Waits for the end of a job, so long at most.
    pub async fn wait(&self, id: &JobId, limit: Duration) -> Result<Arc<JobView>, JobError> {
        let job = self.job(id)?;
        let _late = timeout(limit, job.ended()).await;
        Ok(job.view())
    }

    /// What a job printed, as text.
    pub async fn read(&self, id: &JobId, wanted: read::Wanted) -> Result<read::Page, JobError> {
        let folder = self.job(id)?.folder().to_owned();
        let reading = tokio::task::spawn_blocking(move || read::page(&folder, &wanted));
        let page = reading.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        page.map_err(|error| JobError::Log(id.clone(), error))
    }

    /// The first byte of a job's log that is kept, and the one behind the last.
    pub fn extent(&self, id: &JobId) -> Result<(u64, u64), JobError> {
        Ok(super::keeper::log::extent(self.job(id)?.folder()))
    }

    /// What is told to the agent of a job that has ended; nothing of one that runs.
    pub fn report(&self, id: &JobId) -> Option<JobReport> {
        self.job(id).ok()?.report()
    }

    /// The end of these was told to the agent. They can still be asked for by their names, and their logs stay for as long
    /// as the session is open.
    pub fn told(&self, ids: &[JobId]) {
        for job in ids.iter().filter_map(|id| self.job(id).ok()).filter(|job| !job.is_live()) {
            if let Err(error) = record::set_told(job.folder()) {
                tracing::warn!(%error, job = %job.view().id, "that the end of a job was told could not be noted");
            }
            job.told();
            self.tell(JobNews::Changed(job.view().id.clone()));
        }
    }

    /// The session ends: these go on, all others are stopped. Takes three seconds at most.
    pub async fn end(&self, kept: &[JobId]) {
        let jobs = {
            let mut state = self.state();
            state.closing = true;
            state.watch = None;
            state.jobs.clone()
        };
        let (kept, others): (Vec<_>, Vec<_>) =
            jobs.into_iter().partition(|job| job.is_live() && kept.contains(&job.view().id));
        let stopped: Vec<_> = others.iter().filter(|job| job.is_live()).collect();
        for job in &stopped {
            if let Err(error) = control::send(job.folder(), &Ask::Stop) {
                tracing::warn!(%error, job = %job.view().id, "a job could not be told to end");
            }
        }
        let ends = futures_all(stopped.iter().map(|job| job.ended()));
        let _late = timeout(END_PATIENCE, ends).await;
        self.end_what_is_left(&kept, &others).await;
        for job in others.iter().filter(|job| !job.is_live()) {
            let _gone = std::fs::remove_dir_all(job.folder());
        }
        restore::let_go(&self.config.folder, kept.is_empty());
    }

    /// What jobs that have ended left behind.
    async fn end_what_is_left(&self, kept: &[Arc<Job>], others: &[Arc<Job>]) {
        if others.is_empty() {
            return;
        }
        let kept = kept.iter().map(|job| job.number(self.mark.token())).collect::<Option<BTreeSet<u64>>>();
        let marked = Marked::new(self.mark.token().to_owned(), Commands::AllBut(kept.unwrap_or_default()));
        let mut tree = Tree::new(Vec::new(), marked);
        if tree.is_alive() {
            tree.signal(Signal::TERM);
            tree.end(Instant::now() + GRACE).await;
        }
    }

    /// A job has ended, and the agent is to hear of it.
    pub fn has_ended(&self, id: JobId) {
        self.state().wakes.ended(id);
    }

    /// The agent hears of the end of this job with the answer to a call, if it has ended.
    pub fn heard(&self, id: &JobId) {
        if self.job(id).is_ok_and(|job| !job.is_live()) && self.state().wakes.heard(id) {
            self.told(std::slice::from_ref(id));
        }
    }

    /// The user stopped the agent: it hears nothing before the user speaks.
    pub fn agent_stopped(&self) {
        self.state().wakes.stopped();
    }

    /// The user speaks.
    pub fn user_spoke(&self) {
        self.state().wakes.user_spoke();
    }

    /// The agent may hear of an end now.
    pub fn is_due(&self) -> bool {
        self.state().wakes.is_due()
    }

    /// The ends that the agent may hear of now.
    pub fn take_due(&self) -> Vec<JobId> {
        self.state().wakes.take()
    }

    fn job(&self, id: &JobId) -> Result<Arc<Job>, JobError> {
        let state = self.state();
        let found = state.jobs.iter().find(|job| job.view().id == *id).cloned();
        found.ok_or_else(|| {
            let names: Vec<String> = state.jobs.iter().map(|job| job.view().id.to_string()).collect();
            let known = if names.is_empty() { " There are none." } else { " There are: " };
            JobError::Unknown(id.clone(), format!("{known}{}", names.join(", ")))
        })
    }

    fn tell(&self, news: JobNews) {
        // Nobody listens when the session has ended.
        let _gone = self.news.send(news);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under this lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn watch(&mut self, job: &Arc<Job>) {
        if self.watch.is_none() {
            match Watch::start() {
                Ok(watch) => self.watch = Some(watch),
                Err(error) => {
                    tracing::warn!(%error, "logs of jobs can't be watched: only their ends are told")
                }
            }
        }
        if let Some(watch) = &mut self.watch {
            watch.add(job);
        }
    }
}

/// A start under way counts as a job that runs.
struct Reserved<'a>(&'a JobTable);

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.0.state().starting -= 1;
    }
}

async fn futures_all<F: Future<Output = ()>>(futures: impl Iterator<Item = F>) {
    // One after the other is as long as the longest: all of them run by themselves.
    for future in futures {
        future.await;
    }
}

/// Jobs by the folder of their log.
type ByFolder = Arc<Mutex<HashMap<PathBuf, Arc<Job>>>>;
