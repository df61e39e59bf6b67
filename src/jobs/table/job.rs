//! One job as the table knows it.

use super::read;
use crate::jobs::keeper::log;
use crate::jobs::keeper::record::JobRecord;
use crate::proto::job::{JobEnd, JobReport, JobState, JobView};
use crate::proto::message::Millis;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};

/// Bytes of new output that are looked at: what came before them is in the log.
const NEWEST: usize = 16 * 1024;
/// Lines and bytes of the end of a job's output that are told with its end.
const LAST_LINES: usize = 20;
const LAST_BYTES: usize = 2_000;
/// Characters of the newest line.
const LATEST: usize = 300;

/// A job.
#[derive(Debug)]
pub struct Job {
    record: JobRecord,
    folder: PathBuf,
    view: Mutex<Arc<JobView>>,
    grew: Notify,
    ended: watch::Sender<bool>,
}

impl Job {
    pub fn new(record: JobRecord, folder: PathBuf) -> Self {
        let started = record.running.as_ref().map_or(0, |running| running.at);
        let view = JobView {
            id: record.id.clone(),
            title: record.title.clone(),
            command: record.command.clone(),
            cwd: record.cwd.clone(),
            has_terminal: record.has_terminal,
            state: JobState::Running,
            started,
            folder: folder.clone(),
            printed: 0,
            printed_at: started,
            latest: String::new(),
            meter: None,
            wait: None,
            is_told: false,
            is_undelivered: false,
        };
        Self {
            record,
            folder,
            view: Mutex::new(Arc::new(view)),
            grew: Notify::new(),
            ended: watch::Sender::new(false),
        }
    }

    pub const fn record(&self) -> &JobRecord {
        &self.record
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn view(&self) -> Arc<JobView> {
        Arc::clone(&self.lock())
    }

    pub fn is_live(&self) -> bool {
        self.lock().state.is_live()
    }

    /// Its number, if it is of the table with this token.
    pub fn number(&self, token: &str) -> Option<u64> {
        (self.record.token == token).then_some(self.record.number)
    }

    /// Something in its folder is different.
    pub fn grew(&self) {
        self.grew.notify_one();
    }

    /// Waits for that.
    pub async fn until_grown(&self) {
        self.grew.notified().await;
    }

    /// Waits for its end.
    pub async fn ended(&self) {
        let mut ended = self.ended.subscribe();
        // The sender is ours.
        let _never = ended.wait_for(|ended| *ended).await;
    }

    /// Reads what is new in the log. False: nothing is.
    pub fn look(&self, now: Millis) -> bool {
        let (first, end) = log::extent(&self.folder);
        if end <= self.lock().printed {
            return false;
        }
        let from = end.saturating_sub(NEWEST as u64).max(first);
        let mut buffer = vec![0; NEWEST];
        let length = log::read(&self.folder, from, &mut buffer).map_or(0, |(_, length)| length);
        let latest = read::latest_line(buffer.get(..length).unwrap_or_default(), LATEST);
        self.change(|view| {
            view.printed = end;
            view.printed_at = now;
            if let Some(latest) = latest {
                view.latest = latest;
            }
        });
        true
    }

    pub fn stopping(&self, now: Millis) {
        self.change(|view| {
            if view.state == JobState::Running {
                view.state = JobState::Stopping { since: now };
            }
        });
    }

    pub fn end(&self, end: JobEnd) {
        self.change(|view| {
            view.state = JobState::Ended(end);
            view.meter = None;
            view.wait = None;
        });
        self.ended.send_replace(true);
    }

    /// Its end was told to the agent.
    pub fn told(&self) {
        self.change(|view| view.is_told = true);
    }

    /// What is told of its end.
    pub fn report(&self) -> Option<JobReport> {
        let view = self.view();
        let JobState::Ended(end) = &view.state else { return None };
        let last_lines = read::last_lines(&self.folder, LAST_LINES, LAST_BYTES).unwrap_or_else(|error| {
            tracing::warn!(%error, job = %view.id, "the log of a job can't be read");
            String::new()
        });
        Some(JobReport {
            id: view.id.clone(),
            title: view.title.clone(),
            command: view.command.clone(),
            end: end.clone(),
            last_lines,
            log: log::newest(&self.folder).unwrap_or_else(|| self.folder.clone()),
        })
    }

    fn change(&self, change: impl FnOnce(&mut JobView)) {
        let mut view = self.lock();
        change(Arc::make_mut(&mut view));
    }

    fn lock(&self) -> MutexGuard<'_, Arc<JobView>> {
        // Changes are assignments: they can't panic.
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
