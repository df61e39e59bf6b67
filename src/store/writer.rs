//! The writing end of a session file.
//!
//! Responsibilities: bytes reach the file in order and once; what can't be written waits in memory and is tried again;
//! a failure is remembered until a barrier has reported it. Invariants: the file is only ever appended to; after a
//! partial write the rest of the same line comes next, so that no later line is glued to half a one.

use super::error::StoreError;
use super::lock::Lock;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::mem;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Resolves when everything is on the disk, or with the first failure since the last barrier.
pub type Barrier = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

/// An open session file. Tests put a failing one in its place.
pub(super) trait Storage: Send {
    /// Appends bytes; says how many it took.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// What to run on a blocking thread until the bytes are on the disk.
    fn sync(&self) -> Box<dyn FnOnce() -> io::Result<()> + Send>;
}

/// A real file and its lock.
pub(super) struct LockedFile {
    lock: Option<Lock>,
    file: Arc<File>,
}

impl LockedFile {
    pub(super) fn new(file: File, lock: Option<Lock>) -> Self {
        Self { lock, file: Arc::new(file) }
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // The note of the lock goes before the lock does.
        if self.lock.take().is_none() {
            return;
        }
        // Closing the file is not enough: a sync under way and a child that was just forked hold it open for a moment.
        if let Err(error) = self.file.unlock() {
            tracing::debug!(%error, "the lock of the session goes with the file");
        }
    }
}

impl Storage for LockedFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.file).write(bytes)
    }

    fn sync(&self) -> Box<dyn FnOnce() -> io::Result<()> + Send> {
        let file = Arc::clone(&self.file);
        Box::new(move || file.sync_data())
    }
}

enum Target {
    /// Nothing is kept.
    Memory,
    /// The file is made when there is something to write.
    Later,
    /// The file is there.
    Open(Box<dyn Storage>),
}

/// The first failure since the last barrier.
type Latch = Arc<Mutex<Option<StoreError>>>;

pub(super) struct Writer {
    path: PathBuf,
    target: Target,
    pending: Vec<u8>,
    latch: Latch,
    /// Folders whose new members are not known to be on the disk.
    unsynced: Arc<Mutex<Vec<PathBuf>>>,
}

impl Writer {
    pub(super) fn memory() -> Self {
        Self::with(PathBuf::new(), Target::Memory)
    }

    pub(super) fn later(path: PathBuf) -> Self {
        Self::with(path, Target::Later)
    }

    pub(super) fn open(path: PathBuf, storage: Box<dyn Storage>) -> Self {
        let folder = path.parent().map(Path::to_owned);
        let writer = Self::with(path, Target::Open(storage));
        lock(&writer.unsynced).extend(folder);
        writer
    }

    fn with(path: PathBuf, target: Target) -> Self {
        Self { path, target, pending: Vec::new(), latch: Latch::default(), unsynced: Arc::default() }
    }

    /// Writes bytes, or keeps them for the next try.
    pub(super) fn write(&mut self, bytes: Vec<u8>) {
        if matches!(self.target, Target::Memory) {
            return;
        }
        // Pictures make lines of megabytes: no copy in the usual case.
        if self.pending.is_empty() {
            self.pending = bytes;
        } else {
            self.pending.extend(bytes);
        }
        self.flush();
    }

    /// Remembers a failure for the next barrier.
    pub(super) fn fail(&self, error: StoreError) {
        latch(&self.latch, error);
    }

    /// Tries to write everything that waits. Gives why it still waits.
    fn flush(&mut self) -> Option<io::Error> {
        if self.pending.is_empty() {
            return None;
        }
        let error = self.try_flush().err()?;
        let why = match &error {
            StoreError::Write { source, .. } => same_error(source),
            other => io::Error::other(other.to_string()),
        };
        self.fail(error);
        Some(why)
    }

    fn try_flush(&mut self) -> Result<(), StoreError> {
        if matches!(self.target, Target::Later) {
            let (storage, folders) = create(&self.path)?;
            lock(&self.unsynced).extend(folders);
            self.target = Target::Open(Box::new(storage));
        }
        let Target::Open(storage) = &mut self.target else { return Ok(()) };
        let mut written = 0;
        let result = loop {
            let Some(rest) = self.pending.get(written..).filter(|rest| !rest.is_empty()) else {
                break Ok(());
            };
            match storage.append(rest) {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        self.pending.drain(..written.min(self.pending.len()));
        result.map_err(|source| StoreError::Write { path: self.path.clone(), source, recovered: false })
    }

    /// Resolves when everything so far is on the disk, or with the first failure since the last barrier.
    pub(super) fn barrier(&mut self) -> Barrier {
        let unwritten = self.flush();
        let Target::Open(storage) = &self.target else {
            let latch = Arc::clone(&self.latch);
            let path = self.path.clone();
            return Box::pin(async move { report(&latch, path, unwritten, None) });
        };
        let sync = storage.sync();
        let unsynced = Arc::clone(&self.unsynced);
        let path = self.path.clone();
        let latch_in_task = Arc::clone(&self.latch);
        let latch = Arc::clone(&self.latch);
        // On its own thread from now on, whether or not somebody waits: a failure stays in the latch either way.
        let task = tokio::task::spawn_blocking(move || {
            let mut unsynced_because = None;
            if let Err(source) = sync() {
                unsynced_because = Some(same_error(&source));
                self::latch(&latch_in_task, StoreError::Sync { path, source });
            }
            let folders = mem::take(&mut *lock(&unsynced));
            for folder in folders {
                if let Err(source) = sync_folder(&folder) {
                    unsynced_because = Some(same_error(&source));
                    lock(&unsynced).push(folder.clone());
                    self::latch(&latch_in_task, StoreError::Sync { path: folder, source });
                }
            }
            unsynced_because
        });
        let path = self.path.clone();
        Box::pin(async move {
            let unsynced_because =
                task.await.unwrap_or_else(|error| Some(io::Error::other(error.to_string())));
            report(&latch, path, unwritten, unsynced_because)
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn latch(latch: &Latch, error: StoreError) {
    tracing::warn!(%error, "session log");
    lock(latch).get_or_insert(error);
}

/// An error of the system can't be cloned, but named again.
fn same_error(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// Takes the failure out of the latch: it is reported once. A barrier that runs beside this one may have taken it; what
/// is not on the disk fails this one all the same, and each says why, as nobody knows which is heard first.
fn report(
    latch: &Latch,
    path: PathBuf,
    unwritten: Option<io::Error>,
    unsynced: Option<io::Error>,
) -> Result<(), StoreError> {
    let failure = lock(latch).take();
    match (failure, unwritten, unsynced) {
        (None, Some(source), _) => Err(StoreError::Write { path, source, recovered: false }),
        (None, None, Some(source)) => Err(StoreError::Sync { path, source }),
        (None, None, None) => Ok(()),
        (Some(StoreError::Write { path, source, .. }), unwritten, _) => {
            Err(StoreError::Write { path, source, recovered: unwritten.is_none() })
        }
        (Some(other), _, _) => Err(other),
    }
}

/// Makes a new session file that only its owner can read, and takes its lock. Also says which folders have a new
/// member.
pub(super) fn create(path: &Path) -> Result<(LockedFile, Vec<PathBuf>), StoreError> {
    let failed = |source| StoreError::Write { path: path.to_owned(), source, recovered: false };
    let mut changed = Vec::new();
    if let Some(folder) = path.parent() {
        changed = make_folders(folder).map_err(failed)?;
    }
    let mut options = OpenOptions::new();
    let file = options.append(true).create_new(true).mode(0o600).open(path).map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            StoreError::Exists { path: path.to_owned() }
        } else {
            failed(error)
        }
    })?;
    let lock = Lock::acquire(&file, path)?;
    changed.extend(path.parent().map(Path::to_owned));
    Ok((LockedFile::new(file, lock), changed))
}

/// Makes a folder and those above it, for their owner only. Gives the folders that got a new member.
pub(super) fn make_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let missing = folder.ancestors().take_while(|ancestor| !ancestor.exists());
    let changed = missing.filter_map(|made| made.parent().map(Path::to_owned)).collect();
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    Ok(changed)
}

/// Puts the names in a folder onto the disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}
