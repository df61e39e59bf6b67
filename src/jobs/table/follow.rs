//! Waiting for what a job does: its log grows, it ends.

use super::job::Job;
use super::{ByFolder, JobNews, JobTable};
use crate::jobs::GRACE;
use crate::jobs::identity::Identity;
use crate::jobs::keeper::record::{self, ExitRecord};
use crate::jobs::tree::Tree;
use crate::proto::job::{JobEnd, JobEnding};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use rustix::process::Signal;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::process::Child;
use tokio::time::Instant;

/// News of a job that prints all the time come no more often.
const INTERVAL: Duration = Duration::from_millis(100);

/// Watches the folders of jobs until it is dropped.
#[derive(Debug)]
pub struct Watch {
    watcher: RecommendedWatcher,
    jobs: ByFolder,
}

impl Watch {
    /// Begins to watch.
    pub fn start() -> notify::Result<Self> {
        let jobs = ByFolder::default();
        let watched = Arc::clone(&jobs);
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let Ok(event) = event else { return };
            // Our own reading must not make us read again.
            if event.kind.is_access() {
                return;
            }
            let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
            for job in event.paths.iter().filter_map(|path| watched.get(path.parent()?)) {
                job.grew();
            }
        })?;
        Ok(Self { watcher, jobs })
    }

    /// Watches one more.
    pub fn add(&mut self, job: &Arc<Job>) {
        let folder = job.folder().to_owned();
        if let Err(error) = self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
            tracing::warn!(%error, "the log of a job can't be watched: only its end is told");
            return;
        }
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).insert(folder, Arc::clone(job));
        // What was printed before.
        job.grew();
    }

    /// It has ended.
    pub fn remove(&mut self, folder: &Path) {
        let _gone = self.watcher.unwatch(folder);
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).remove(folder);
    }
}

/// How the end of a keeper is noticed.
#[derive(Debug)]
pub enum KeeperEnd {
    /// We started it.
    Child(Child),
    /// An earlier run of the program did.
    Other(Identity),
    /// It had ended already.
    Gone,
}

impl KeeperEnd {
    async fn wait(&mut self) {
        match self {
            Self::Child(child) => drop(child.wait().await),
            Self::Other(identity) => ended(*identity).await,
            Self::Gone => {}
        }
    }
}

/// Waits for the end of a process that is not our child.
#[cfg(target_os = "linux")]
async fn ended(identity: Identity) {
    use rustix::process::{PidfdFlags, pidfd_open};
    use tokio::net::unix::pipe::Receiver;
    let Some(handle) = identity.pid().and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return;
    };
    // Its number may have been used again before it was opened.
    if !identity.is_alive() {
        return;
    }
    // No pipe, but all that is asked of it is when it can be read: then the process has ended.
    if let Ok(handle) = Receiver::from_owned_fd_unchecked(handle) {
        let _ended = handle.readable().await;
    }
}

/// Untested.
#[cfg(not(target_os = "linux"))]
async fn ended(identity: Identity) {
    while identity.is_alive() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Follows a job to its end.
pub async fn follow(table: Arc<JobTable>, job: Arc<Job>, mut keeper: KeeperEnd) {
    loop {
        tokio::select! {
            () = keeper.wait() => break,
            () = job.until_grown() => {
                if job.look(record::now()) {
                    table.tell(JobNews::Changed(job.view().id.clone()));
                }
                tokio::select! {
                    () = keeper.wait() => break,
                    () = tokio::time::sleep(INTERVAL) => {}
                }
            }
        }
    }
    let end = end_of(&job).await;
    if let Some(watch) = &mut table.state().watch {
        watch.remove(job.folder());
    }
    job.look(record::now());
    job.end(end);
    table.tell(JobNews::Ended(job.view().id.clone()));
}

async fn end_of(job: &Job) -> JobEnd {
    let exit = ExitRecord::read(job.folder()).unwrap_or_else(|error| {
        tracing::warn!(%error, "how a job ended can't be read");
        None
    });
    let started = job.view().started;
    let took = |ended| u64::try_from(ended - started).unwrap_or(0);
    if let Some(ExitRecord { how, ended_at, lost_bytes }) = exit {
        return JobEnd { how, took_ms: took(ended_at), lost_bytes };
    }
    // Its keeper is gone without a word: what it kept must not go on unseen.
    let running = job.record().running.as_ref();
    if let Some(shell) = running.map(|running| running.shell).filter(|shell| shell.is_alive()) {
        let mut tree = Tree::new(shell.pid().into_iter().collect(), job.record().marked());
        tree.signal(Signal::TERM);
        tree.end(Instant::now() + GRACE).await;
    }
    JobEnd { how: JobEnding::Unknown, took_ms: took(record::now()), lost_bytes: 0 }
}
