//! The folders of jobs on the disk, and who may use them.
//!
//! `<root>/<session>/<job>/`, all of them only for their owner. A Mynah that has the jobs of a session holds a lock on
//! `.owner` in the folder of the session; the system lets it go when that program ends, however it ends. What stands in the
//! file tells when the jobs were left alone.

use crate::jobs::keeper::control;
use crate::jobs::keeper::record::{self, JobRecord, RecordError};
use crate::proto::ids::SessionId;
use crate::proto::message::Millis;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// No job has a name that begins with a dot.
const OWNER: &str = ".owner";

/// The folder of a session's jobs.
pub fn of_session(root: &Path, session: &SessionId) -> PathBuf {
    root.join(session.as_str())
}

/// The jobs of a session are ours as long as this is held.
#[derive(Debug)]
pub struct Owner(File);

impl Owner {
    /// Takes them. `None`: another program that runs has them.
    pub fn take(folder: &Path) -> io::Result<Option<Self>> {
        create_private(folder)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(folder.join(OWNER))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Nobody has left them alone.
    pub fn claim(&self) -> io::Result<()> {
        self.0.set_len(0)
    }

    /// Since when nobody has them; `None` when it was not noted.
    pub fn left_at(&mut self) -> Option<Millis> {
        let mut text = String::new();
        self.0.seek(SeekFrom::Start(0)).ok()?;
        (&self.0).take(64).read_to_string(&mut text).ok()?;
        text.trim().parse().ok()
    }

    /// Notes that from now on nobody has them.
    pub fn leave(&mut self, now: Millis) -> io::Result<()> {
        self.0.set_len(0)?;
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(now.to_string().as_bytes())
    }
}

/// Makes the folder of a new job, with all that a keeper needs.
pub fn create_job(folder: &Path, record: &JobRecord) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)?;
    let made = control::create(folder).and_then(|()| record.write(folder).map_err(io::Error::other));
    if made.is_err() {
        remove(folder);
    }
    made
}

/// Removes the folder of a job.
pub fn remove(folder: &Path) {
    if let Err(error) = fs::remove_dir_all(folder) {
        tracing::warn!(%error, folder = %folder.display(), "the folder of a job could not be removed");
    }
}

/// The folders of the jobs of a session, or of the sessions of a root, in order.
pub fn inner(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> =
        // A link is none: what it leads to is not ours.
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect();
    folders.sort_unstable();
    folders
}

/// A folder that only its owner enters, and those above it.
fn create_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// What is known of the job of a folder.
#[derive(Debug)]
pub enum Found {
    /// It has started.
    Job {
        /// What runs, or ran.
        record: Box<JobRecord>,
        /// The agent knows of its end.
        is_told: bool,
    },
    /// Its keeper had not yet told that it had started.
    Unborn(Box<JobRecord>),
    /// Nothing that could be used, for this reason.
    Broken(String),
    /// A later version of this program wrote it.
    Later(String),
}

/// Looks into the folder of a job.
pub fn look(folder: &Path) -> Found {
    match JobRecord::read(folder) {
        Ok(record) if record.has_started() => {
            Found::Job { record: Box::new(record), is_told: record::is_told(folder) }
        }
        Ok(record) => Found::Unborn(Box::new(record)),
        Err(error @ RecordError::Later(_)) => Found::Later(error.to_string()),
        Err(error) => Found::Broken(error.to_string()),
    }
}
