//! What earlier runs of a session have left: jobs that were kept, or whose program died.

use super::follow::{KeeperEnd, follow};
use super::job::Job;
use super::{JobNews, JobTable};
use crate::jobs::identity::Identity;
use crate::jobs::keeper::control::{self, Ask};
use crate::jobs::keeper::record::{self, ExitRecord, JobRecord};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Who has the jobs of a session.
const OWNER: &str = "owner.json";
/// Jobs that nobody took over for so long are stopped.
const ABANDONED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder that only its owner enters, and those above it.
pub fn create_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The jobs of this folder are ours.
pub fn own(folder: &Path) -> io::Result<()> {
    create_private(folder)?;
    let us = Identity::of(rustix::process::getpid());
    let bytes = serde_json::to_vec(&us).map_err(io::Error::other)?;
    let new = folder.join("owner.new");
    fs::write(&new, bytes)?;
    fs::rename(new, folder.join(OWNER))
}

/// They are no longer: a later run may have them. `is_empty`: there are none.
pub fn let_go(folder: &Path, is_empty: bool) {
    if is_empty {
        // Only what is ours stands in it.
        let _gone = fs::remove_file(folder.join(OWNER)).and_then(|()| fs::remove_dir(folder));
    } else if let Ok(owner) = fs::File::options().write(true).open(folder.join(OWNER)) {
        // From now on it counts how long nobody takes them.
        let _noted = owner.set_modified(SystemTime::now());
    }
}

/// Another program that runs has them.
fn is_owned_by_another(folder: &Path) -> bool {
    let owner = fs::read(folder.join(OWNER)).ok();
    let owner = owner.and_then(|bytes| serde_json::from_slice::<Identity>(&bytes).ok());
    owner.is_some_and(|owner| {
        owner.is_alive() && owner.pid().is_some_and(|pid| pid != rustix::process::getpid())
    })
}

impl JobTable {
    /// Takes over what an earlier run of this session has left. Tells what could not be read, for people.
    pub fn restore(self: &Arc<Self>) -> Vec<String> {
        let folder = self.config.folder.clone();
        let mut told = Vec::new();
        let folders = folders(&folder);
        if folders.is_empty() || is_owned_by_another(&folder) {
            return told;
        }
        if let Err(error) = own(&folder) {
            told.push(format!("Jobs of this session can't be taken over: {error}. They go on."));
            return told;
        }
        for folder in folders {
            if let Err(error) = self.restore_one(&folder) {
                told.push(format!(
                    "What is known of a job can't be read: {error}. Its folder was left as it is."
                ));
            }
        }
        told
    }

    fn restore_one(self: &Arc<Self>, folder: &Path) -> Result<(), record::RecordError> {
        let record = match JobRecord::read(folder) {
            Ok(record) => record,
            // It was never written: the program died before it knew of the job.
            Err(error) if error.is_missing() => {
                let _gone = fs::remove_dir_all(folder);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let exit = ExitRecord::read(folder)?;
        let is_told = record::is_told(folder);
        let keeper = record.running.as_ref().map(|running| running.keeper);
        let end = match keeper.filter(|keeper| exit.is_none() && keeper.is_alive()) {
            Some(keeper) => KeeperEnd::Other(keeper),
            None => KeeperEnd::Gone,
        };
        // One that never ran, and one that was told of: nobody waits for them.
        if record.running.is_none() || (is_told && matches!(end, KeeperEnd::Gone)) {
            let _gone = fs::remove_dir_all(folder);
            return Ok(());
        }
        let id = record.id.clone();
        let job = Arc::new(Job::new(record, folder.to_owned()));
        {
            let mut state = self.state();
            state.names.insert(id.as_str().to_owned());
            state.watch(&job);
            state.jobs.push(Arc::clone(&job));
        }
        self.tell(JobNews::Changed(id));
        tokio::spawn(follow(Arc::clone(self), job, end));
        Ok(())
    }
}

/// The folders of jobs in a session's folder, in the order in which the jobs were made.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<(Option<SystemTime>, PathBuf)> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| {
            let made = fs::metadata(entry.path().join("control")).and_then(|data| data.modified()).ok();
            (made, entry.path())
        })
        .collect();
    folders.sort();
    folders.into_iter().map(|(_, folder)| folder).collect()
}

/// Stops the jobs of sessions that nobody has opened again for a day, and removes what was kept of them. `root` holds a
/// folder for each session. Nothing is waited for: keepers end their jobs by themselves.
pub fn clean_abandoned(root: &Path, now: SystemTime) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let session = entry.path();
        let owner = fs::metadata(session.join(OWNER)).and_then(|data| data.modified());
        let age = owner.ok().and_then(|at| now.duration_since(at).ok());
        if age.is_none_or(|age| age < ABANDONED_AFTER) || is_owned_by_another(&session) {
            continue;
        }
        let mut is_over = true;
        for folder in folders(&session) {
            let running = JobRecord::read(&folder).ok().and_then(|record| record.running);
            let keeper = running.map(|running| running.keeper);
            if keeper.is_some_and(Identity::is_alive) {
                is_over = false;
                if let Err(error) = control::send(&folder, &Ask::Stop) {
                    tracing::warn!(%error, folder = %folder.display(), "an abandoned job could not be stopped");
                }
            }
        }
        // What is stopped now goes the next time.
        if is_over && let Err(error) = fs::remove_dir_all(&session) {
            tracing::warn!(%error, folder = %session.display(), "what an abandoned session left can't be removed");
        }
    }
}
