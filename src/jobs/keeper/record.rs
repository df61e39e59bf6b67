//! What stands in the folder of a job about it: what runs, by which processes, and how it ended. Files are written whole
//! or not at all, and only their owner reads them. No environment and no key is in them.

use crate::jobs::identity::Identity;
use crate::jobs::mark::{Commands, Marked};
use crate::proto::ids::JobId;
use crate::proto::job::JobEnding;
use crate::proto::message::Millis;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const JOB: &str = "job.json";
const EXIT: &str = "exit.json";
/// Its end was told to the agent.
const TOLD: &str = "told";

/// The extension of a file that is being written.
const NEW: &str = "new";

/// Bytes that are kept free for the record of an end.
const RESERVED: usize = 1_024;

/// Raised when the meaning of a field changes: what a later version wrote is left alone.
const VERSION: u32 = 1;

/// A job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobRecord {
    /// Of this form.
    pub version: u32,
    /// Its name.
    pub id: JobId,
    /// What it is for.
    pub title: String,
    /// The command.
    pub command: String,
    /// Where it starts.
    pub cwd: PathBuf,
    /// The shell; gets `-c` and the command.
    pub shell: PathBuf,
    /// It has a terminal of this size.
    #[serde(default)]
    pub terminal: Option<TerminalSize>,
    /// It began as a command of a Mynah, whose child the shell is.
    #[serde(default)]
    pub is_adopted: bool,
    /// After how many milliseconds it is stopped.
    #[serde(default)]
    pub limit_ms: Option<u64>,
    /// Bytes of output that are kept at most.
    pub log_cap: u64,
    /// Bytes that it had printed before its keeper began to read.
    #[serde(default)]
    pub printed_before: u64,
    /// How many of them are not in the log.
    #[serde(default)]
    pub lost_before: u64,
    /// The value of the variable by which its processes are found.
    pub mark: String,
    /// The part of it that is this job's own.
    pub token: String,
    /// The number of this job behind that.
    pub number: u64,
    /// Its processes, once it has started.
    pub running: Option<Running>,
}

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Cells of a line.
    pub columns: u16,
}

impl Default for TerminalSize {
    /// What programs expect where nobody looks.
    fn default() -> Self {
        Self { rows: 24, columns: 80 }
    }
}

/// The processes of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Running {
    /// When it started.
    pub at: Millis,
    /// Who watches over it.
    pub keeper: Identity,
    /// The shell, which leads its group.
    pub shell: Identity,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExitRecord {
    /// How.
    pub how: JobEnding,
    /// When.
    pub ended_at: Millis,
    /// Bytes of output that could not be written.
    #[serde(default)]
    pub lost_bytes: u64,
    /// What went wrong with it besides, for people.
    #[serde(default)]
    pub problem: Option<String>,
}

/// What a keeper tells whoever started it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Started {
    /// It runs.
    Running(Box<JobRecord>),
    /// It does not, for this reason, and nothing of it is left.
    Failed(String),
}

/// A file that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The system says so.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It holds something else.
    #[error("{} is damaged: {error}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: serde_json::Error,
    },
    /// A later version of this program wrote it.
    #[error("{} is of a later version of Mynah", .0.display())]
    Later(PathBuf),
}

impl RecordError {
    /// There is no such file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::File { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

impl JobRecord {
    /// The version that is written.
    pub const VERSION: u32 = VERSION;

    /// Reads the record of this folder.
    pub fn read(folder: &Path) -> Result<Self, RecordError> {
        let record: Self = read(&folder.join(JOB))?;
        if record.version > VERSION { Err(RecordError::Later(folder.join(JOB))) } else { Ok(record) }
    }

    /// Writes it.
    pub fn write(&self, folder: &Path) -> Result<(), RecordError> {
        write(&folder.join(JOB), self)
    }

    /// After how long it is stopped.
    pub fn limit(&self) -> Option<Duration> {
        self.limit_ms.map(Duration::from_millis)
    }

    /// Its keeper has told that it runs.
    pub fn has_started(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.keeper.pid != 0)
    }

    /// When the oldest of its processes began; the beginning of all times while that is not known.
    pub fn since(&self) -> u64 {
        self.running.as_ref().map_or(0, |running| running.shell.started)
    }

    /// How its processes are found.
    pub fn marked(&self) -> Marked {
        Marked::new(self.token.clone(), Commands::Only(self.number))
    }
}

impl ExitRecord {
    /// Reads the record of this folder; `None` if the job has not ended.
    pub fn read(folder: &Path) -> Result<Option<Self>, RecordError> {
        match read(&folder.join(EXIT)) {
            Ok(exit) => Ok(Some(exit)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes it into the place that [`reserve`] has made, so that it can be told even on a full disk.
    pub fn write(&self, folder: &Path) -> Result<(), RecordError> {
        let path = folder.join(EXIT);
        let mut bytes = encode(&path, self)?;
        // Blanks behind it do no harm, and nothing of the place has to be given back.
        bytes.resize(bytes.len().max(RESERVED), b' ');
        put(&path, &bytes, private().create(true).truncate(false))
    }
}

/// Makes sure that there is room for the record of an end.
pub fn reserve(folder: &Path) -> Result<(), RecordError> {
    let path = folder.join(EXIT).with_extension(NEW);
    let file = |error| RecordError::File { path: path.clone(), error };
    let mut reserved = private().create(true).truncate(true).open(&path).map_err(file)?;
    reserved.write_all(&[b' '; RESERVED]).map_err(file)
}

/// The end of the job of this folder was told.
pub fn is_told(folder: &Path) -> bool {
    folder.join(TOLD).exists()
}

/// Notes that.
pub fn set_told(folder: &Path) -> io::Result<()> {
    private().create(true).truncate(false).open(folder.join(TOLD)).map(drop)
}

/// The clock on the wall.
pub fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

/// For files that only their owner reads.
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, RecordError> {
    let file = |error| RecordError::File { path: path.to_owned(), error };
    let bytes = fs::read(path).map_err(file)?;
    serde_json::from_slice(&bytes).map_err(|error| RecordError::Damaged { path: path.to_owned(), error })
}

fn write(path: &Path, record: &impl Serialize) -> Result<(), RecordError> {
    put(path, &encode(path, record)?, private().create(true).truncate(true))
}

fn encode(path: &Path, record: &impl Serialize) -> Result<Vec<u8>, RecordError> {
    serde_json::to_vec(record).map_err(|error| RecordError::Damaged { path: path.to_owned(), error })
}

/// Nobody ever sees a part of it: it is written beside its place, and moved there.
fn put(path: &Path, bytes: &[u8], how: &OpenOptions) -> Result<(), RecordError> {
    let file = |error| RecordError::File { path: path.to_owned(), error };
    let new = path.with_extension(NEW);
    how.open(&new).and_then(|mut written| written.write_all(bytes)).map_err(file)?;
    fs::rename(&new, path).map_err(file)
}
