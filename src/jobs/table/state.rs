//! What is known of the jobs of a session, and how that changes.

use super::folders::{self, Owner};
use super::latest::Latest;
use super::{Hooks, JobEvent, NewOutput, Setup};
use crate::jobs::keeper::record::{ExitRecord, JobRecord, now};
use crate::proto::ids::JobId;
use crate::proto::job::{JobEnd, JobEnding, JobState, JobView, StoppedBy};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// What the table and its task share.
pub struct Shared {
    /// What the table was given.
    pub setup: Setup,
    hooks: Hooks,
    state: Mutex<State>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("setup", &self.setup)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

/// The jobs of a session.
#[derive(Debug, Default)]
pub struct State {
    jobs: HashMap<JobId, Job>,
    order: Vec<JobId>,
    /// Names of jobs that are about to start, and of those whose folders can't be used.
    reserved: BTreeSet<String>,
    /// Jobs that are about to start.
    pub starting: usize,
    /// Held from the first job on.
    pub owner: Option<Owner>,
    /// No job starts any more.
    pub is_closing: bool,
}

/// A job.
#[derive(Debug)]
pub struct Job {
    /// What its folder says of it.
    pub record: JobRecord,
    /// What others see.
    pub view: Arc<JobView>,
    /// True once it has ended.
    pub ended: watch::Sender<bool>,
    /// Why somebody stops it.
    pub stopped_by: Option<StoppedBy>,
    latest: Latest,
}

/// What a look into the folder of a job has found.
#[derive(Debug)]
pub struct Seen {
    /// Of which job.
    pub id: JobId,
    /// The offset behind its output, the newest bytes of it and where they begin.
    pub end: u64,
    /// See above.
    pub newest: Vec<u8>,
    /// See above.
    pub newest_from: u64,
    /// How it ended, if it has.
    pub exit: Option<ExitRecord>,
}

impl Shared {
    /// No jobs.
    pub fn new(setup: Setup, hooks: Hooks) -> Self {
        Self { setup, hooks, state: Mutex::default() }
    }

    /// The folder of the session's jobs.
    pub fn folder(&self) -> PathBuf {
        folders::of_session(&self.setup.root, &self.setup.session)
    }

    /// Looks at what is known, or changes it.
    pub fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Tells what has happened. Only the task that follows jobs does.
    pub fn tell(&self, event: JobEvent) {
        (self.hooks.event)(event);
    }

    /// Takes what a look has found, and tells of it. True: the job has ended.
    pub fn take(&self, seen: &Seen) -> bool {
        let Some((skipped, printed)) = self.with(|state| state.grow(seen)) else { return true };
        if printed > 0 {
            (self.hooks.output)(&seen.id, NewOutput { bytes: &seen.newest, skipped });
        }
        let event = self.with(|state| {
            let job = state.jobs.get_mut(&seen.id)?;
            match &seen.exit {
                Some(exit) => Some(JobEvent::Ended(job.end(exit))),
                None => (printed > 0).then(|| JobEvent::Changed(Arc::clone(&job.view))),
            }
        });
        if let Some(event) = event {
            self.tell(event);
        }
        if seen.exit.is_some() {
            // Whoever waits for the end finds that it was told.
            self.with(|state| state.job(&seen.id).map(|job| job.ended.send_replace(true)));
        }
        seen.exit.is_some()
    }
}

impl State {
    /// All jobs, in the order of their starts.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.order.iter().filter_map(|id| self.jobs.get(id))
    }

    /// One of them.
    pub fn job(&self, id: &JobId) -> Option<&Job> {
        self.jobs.get(id)
    }

    /// One of them.
    pub fn job_mut(&mut self, id: &JobId) -> Option<&mut Job> {
        self.jobs.get_mut(id)
    }

    /// A job has, or had, this name.
    pub fn is_taken(&self, name: &str) -> bool {
        self.reserved.contains(name) || self.jobs.contains_key(&JobId::new(name))
    }

    /// No other job gets this name.
    pub fn reserve(&mut self, name: &str) {
        self.reserved.insert(name.to_owned());
    }

    /// Others may have it again.
    pub fn release(&mut self, name: &str) {
        self.reserved.remove(name);
    }

    /// There is one more.
    pub fn insert(&mut self, job: Job) {
        let id = job.view.id.clone();
        if self.jobs.insert(id.clone(), job).is_none() {
            self.order.push(id);
        }
    }

    /// Takes new output of a job that has not ended: bytes that were not looked at, and bytes that came at all.
    fn grow(&mut self, seen: &Seen) -> Option<(u64, u64)> {
        let job = self.jobs.get_mut(&seen.id).filter(|job| job.view.state.is_live())?;
        let printed = seen.end.saturating_sub(job.view.printed);
        let skipped = printed.saturating_sub(seen.newest.len() as u64);
        if printed > 0 {
            job.latest.push(seen.newest_from, &seen.newest);
            let latest = job.latest.line();
            let view = Arc::make_mut(&mut job.view);
            (view.printed, view.printed_at, view.latest) = (seen.end, now(), latest);
        }
        Some((skipped, printed))
    }
}

impl Job {
    /// A job that runs, as far as is known.
    pub fn new(record: JobRecord, folder: &Path) -> Self {
        let started = record.running.as_ref().map_or(0, |running| running.at);
        let view = JobView {
            id: record.id.clone(),
            title: record.title.clone(),
            command: record.command.clone(),
            cwd: record.cwd.clone(),
            has_terminal: record.terminal.is_some(),
            state: JobState::Running,
            started,
            folder: folder.to_owned(),
            printed: 0,
            printed_at: started,
            latest: String::new(),
            meter: None,
            wait: None,
            is_told: false,
            is_undelivered: false,
        };
        let ended = watch::Sender::new(false);
        Self { record, view: Arc::new(view), ended, stopped_by: None, latest: Latest::new() }
    }

    /// It is being stopped. False: it was before, or has ended.
    pub fn stopping(&mut self, by: StoppedBy) -> bool {
        self.stopped_by.get_or_insert(by);
        let is_new = self.view.state == JobState::Running;
        if is_new {
            Arc::make_mut(&mut self.view).state = JobState::Stopping { since: now() };
        }
        is_new
    }

    pub(super) fn end(&mut self, exit: &ExitRecord) -> Arc<JobView> {
        let started = self.view.started;
        let took_ms = u64::try_from(exit.ended_at.saturating_sub(started)).unwrap_or(0);
        let end = JobEnd { how: exit.how.clone(), took_ms, lost_bytes: exit.lost_bytes };
        Arc::make_mut(&mut self.view).state = JobState::Ended(end);
        Arc::clone(&self.view)
    }
}

/// The end of a job; of one that runs, what is known now.
pub fn end_of(view: &JobView) -> JobEnd {
    match &view.state {
        JobState::Ended(end) => end.clone(),
        JobState::Running | JobState::Stopping { .. } => {
            let took_ms = u64::try_from(now().saturating_sub(view.started)).unwrap_or(0);
            JobEnd { how: JobEnding::Unknown, took_ms, lost_bytes: 0 }
        }
    }
}
