//! What earlier runs of a session have left: jobs that were kept, or whose program died.

use super::abandoned::ABANDONED_AFTER;
use super::folders::{self, Found};
use super::follow::{Keeper, Message, end_tree};
use super::launch::own;
use super::state::{Job, Shared};
use super::{JobTable, StartError};
use crate::jobs::identity::Identity;
use crate::jobs::keeper::control::{self, Ask};
use crate::jobs::keeper::process_end::ProcessEnd;
use crate::jobs::keeper::record::{ExitRecord, JobRecord, now};
use crate::proto::ids::JobId;
use crate::proto::job::{JobEnding, JobView, StoppedBy};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a job that was being started when its program died is waited for.
const UNBORN_PATIENCE: Duration = Duration::from_secs(3);
const UNBORN_LOOK: Duration = Duration::from_millis(100);

/// How long another program may have the jobs of the session while we start.
const OWN_PATIENCE: Duration = Duration::from_secs(1);
const OWN_LOOK: Duration = Duration::from_millis(20);

/// How long the events of ends that have come before are waited for.
const END_PATIENCE: Duration = Duration::from_secs(2);

/// What earlier runs have left.
#[derive(Debug, Default)]
pub struct Restored {
    /// All jobs, also those whose ends the agent knows: their logs can still be read.
    pub jobs: Vec<Arc<JobView>>,
    /// Those that have ended and whose end the agent does not know; also told as events.
    pub untold: Vec<JobId>,
    /// What was found and could not be used, for people.
    pub problems: Vec<String>,
}

/// A job of an earlier run.
struct Left {
    folder: PathBuf,
    record: Box<JobRecord>,
    exit: Option<ExitRecord>,
    is_told: bool,
}

impl JobTable {
    /// Takes over what earlier runs of this session have left. To be called once, before the first start. Without such jobs
    /// nothing is touched.
    pub async fn restore(self: &Arc<Self>) -> Result<Restored, StartError> {
        let shared = Arc::clone(&self.shared);
        let found = tokio::task::spawn_blocking(move || {
            let folder = shared.folder();
            if !folder.is_dir() {
                return Ok(Vec::new());
            }
            own_soon(&shared)?;
            Ok(folders::inner(&folder).into_iter().map(|folder| (folders::look(&folder), folder)).collect())
        });
        let found: Vec<(Found, PathBuf)> = found.await.unwrap_or(Err(StartError::Closing))?;
        let mut restored = Restored::default();
        let mut left = Vec::new();
        for (found, folder) in found {
            match found {
                Found::Job { record, is_told } => {
                    let exit = ExitRecord::read(&folder).unwrap_or_else(|error| {
                        restored.problems.push(error.to_string());
                        Some(unknown())
                    });
                    left.push(Left { folder, record, exit, is_told });
                }
                Found::Unborn(record) => {
                    let title = record.title.clone();
                    clean_unborn(&folder, &record).await;
                    restored.problems.push(format!(
                        "The job \"{title}\" was not yet started when its program died. It was removed."
                    ));
                }
                Found::Broken(why) => {
                    folders::remove(&folder);
                    restored.problems.push(format!("A job could not be restored, and was removed: {why}"));
                }
                Found::Later(why) => {
                    // Its name is not to be used.
                    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    self.shared.with(|state| state.reserve(&name));
                    restored.problems.push(format!("A job was left alone: {why}"));
                }
            }
        }
        left.sort_by_key(|left| left.record.running.as_ref().map_or(0, |running| running.at));
        for left in left {
            self.take_over(left, &mut restored);
        }
        for id in &restored.untold {
            // Its end is read once more, and told, by the task that follows jobs.
            let _told = self.wait(id, END_PATIENCE).await;
        }
        restored.jobs = self.list();
        Ok(restored)
    }

    fn take_over(&self, left: Left, restored: &mut Restored) {
        let Left { folder, record, exit, is_told } = left;
        if is_told && exit.as_ref().is_some_and(|exit| now() - exit.ended_at >= ABANDONED_AFTER) {
            // Nobody reads its log any more.
            folders::remove(&folder);
            return;
        }
        let keeper =
            record.running.as_ref().map_or(Identity { pid: 0, started: 0 }, |running| running.keeper);
        let mut job = Job::new(*record, &folder);
        let id = job.view.id.clone();
        if let (Some(exit), true) = (&exit, is_told) {
            job.restore_end(exit);
        }
        self.shared.with(|state| state.insert(job));
        if exit.is_some() && !is_told {
            restored.untold.push(id.clone());
        }
        if is_told && exit.is_some() {
            return;
        }
        match ProcessEnd::of(keeper) {
            Ok(keeper) => {
                // The task ends only with us. A keeper that is gone is found to be at once.
                let _told = self.messages.send(Message::Added(id, Keeper::Other(keeper)));
            }
            Err(error) => restored.problems.push(format!("The job {id} can't be followed: {error}.")),
        }
    }
}

impl Job {
    /// It had ended, and all of it is known.
    fn restore_end(&mut self, exit: &ExitRecord) {
        let printed = crate::jobs::log::files::extent(&self.view.folder).end;
        self.ended.send_replace(true);
        self.end(exit);
        Arc::make_mut(&mut self.view).printed = printed;
    }
}

fn unknown() -> ExitRecord {
    ExitRecord { how: JobEnding::Unknown, ended_at: now(), lost_bytes: 0, problem: None }
}

/// Another program may look for a moment whether these jobs were abandoned.
fn own_soon(shared: &Shared) -> Result<(), StartError> {
    let begun = Instant::now();
    loop {
        match own(shared) {
            Err(StartError::Busy) if begun.elapsed() < OWN_PATIENCE => std::thread::sleep(OWN_LOOK),
            owned => return owned,
        }
    }
}

/// Nobody was told that this job exists: it is ended.
async fn clean_unborn(folder: &Path, record: &JobRecord) {
    if control::send(folder, &Ask::Stop(StoppedBy::End)).is_ok() {
        // Its keeper is there, and is about to start it, or has. This is no matter of milliseconds but for a dead program.
        for _ in 0..UNBORN_PATIENCE.as_millis().div_ceil(UNBORN_LOOK.as_millis()) {
            if !matches!(ExitRecord::read(folder), Ok(None)) {
                break;
            }
            tokio::time::sleep(UNBORN_LOOK).await;
        }
    }
    end_tree(record).await;
    folders::remove(folder);
}
