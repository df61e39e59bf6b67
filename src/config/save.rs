//! One setting into a file: read, change, replace, under a lock.
//!
//! Invariants: comments, order, unknown keys and the file's mode stay; a file that does not parse is never overwritten;
//! a reader sees the old file or the new one, never a part; a symbolic link stays a link.

use super::check::Value;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use toml_edit::{DocumentMut, Item, Table};

/// How long a save waits for another one.
const PATIENCE: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(20);
/// More links in a row than this are a loop.
const MAX_LINKS: usize = 40;
const NEW_FILE_MODE: u32 = 0o600;

/// A setting could not be saved. The file is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// The file can't be read or written.
    #[error("{} can't be changed: {source}. It was left as it is. Check its permissions.", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is no TOML.
    #[error("{} can't be changed: it is no valid TOML. It was left as it is. Mend it by hand first.", path.display())]
    NoToml {
        /// The file.
        path: PathBuf,
    },
    /// Something else stands where the setting belongs.
    #[error(
        "{}: `{key}` can't be set, because something else stands in its place. The file was left as it is. \
         Change it by hand.",
        path.display()
    )]
    InTheWay {
        /// The file.
        path: PathBuf,
        /// The setting.
        key: String,
    },
    /// Another process is saving.
    #[error("{} is being changed by another process. It was left as it is. Try again.", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
}

/// Sets one key. Gives the file that was written, behind all links.
///
/// # Errors
/// See [`SaveError`]; the file is as it was before.
pub fn set(file: &Path, key: &str, value: &Value) -> Result<PathBuf, SaveError> {
    update(file, |text, path| {
        let mut document = parse(&text.unwrap_or_default(), path)?;
        put(&mut document, key, value)
            .ok_or_else(|| SaveError::InTheWay { path: path.to_owned(), key: key.to_owned() })?;
        Ok(Some(document.to_string()))
    })
}

/// Takes one key out. Gives the file that was written, or `None` when the key was not in it.
///
/// # Errors
/// See [`SaveError`]; the file is as it was before.
pub fn unset(file: &Path, key: &str) -> Result<Option<PathBuf>, SaveError> {
    if !file.exists() {
        return Ok(None);
    }
    let mut removed = false;
    let path = update(file, |text, path| {
        let mut document = parse(&text.unwrap_or_default(), path)?;
        let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
        let table = document.get_mut(section).and_then(Item::as_table_like_mut);
        removed = table.is_some_and(|table| table.remove(name).is_some());
        Ok(removed.then(|| document.to_string()))
    })?;
    Ok(removed.then_some(path))
}

fn parse(text: &str, path: &Path) -> Result<DocumentMut, SaveError> {
    // The line is told at every start; here it matters that nothing is overwritten.
    #[expect(clippy::map_err_ignore, reason = "loading tells what is wrong, and where")]
    text.parse().map_err(|_| SaveError::NoToml { path: path.to_owned() })
}

/// `None` when something that is no value or no section is in the way.
fn put(document: &mut DocumentMut, key: &str, value: &Value) -> Option<()> {
    let (section, name) = key.rsplit_once('.')?;
    let section = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
    let table = section.as_table_like_mut()?;
    let mut value = value.to_toml();
    match table.get_mut(name) {
        None | Some(Item::None) => {
            table.insert(name, Item::Value(value));
        }
        Some(Item::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        Some(Item::Table(_) | Item::ArrayOfTables(_)) => return None,
    }
    Some(())
}

/// Changes a file under its lock: `change` gets the text, if there is a file, and gives the new one, or `None` to leave
/// it. Gives the file behind all links.
///
/// # Errors
/// Those of `change`, or the file can't be read or written.
pub(super) fn update<E: From<SaveError>>(
    file: &Path,
    change: impl FnOnce(Option<String>, &Path) -> Result<Option<String>, E>,
) -> Result<PathBuf, E> {
    update_patiently(file, PATIENCE, change)
}

fn update_patiently<E: From<SaveError>>(
    file: &Path,
    patience: Duration,
    change: impl FnOnce(Option<String>, &Path) -> Result<Option<String>, E>,
) -> Result<PathBuf, E> {
    let failed = |source| SaveError::Io { path: file.to_owned(), source };
    let path = behind_links(file).map_err(failed)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    let _lock = LockFile::acquire(&path, patience)?;
    let text = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error).into()),
    };
    if let Some(new) = change(text, &path)? {
        replace(&path, new.as_bytes()).map_err(failed)?;
    }
    Ok(path)
}

/// The file that a path means, whether or not it exists.
fn behind_links(file: &Path) -> io::Result<PathBuf> {
    let mut path = file.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new(".")).join(target),
            // `InvalidInput`: there is something, and it is no link.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotFound) => {
                return Ok(path);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Puts a new file in the place of the old one, with the old one's mode.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mode = match fs::metadata(path) {
        Ok(metadata) => metadata.mode() & 0o7777,
        Err(error) if error.kind() == io::ErrorKind::NotFound => NEW_FILE_MODE,
        Err(error) => return Err(error),
    };
    // Under the lock nobody else uses this name; what a crash left behind is overwritten.
    let temporary = beside(path, ".new");
    let written = write_new(&temporary, mode, bytes).and_then(|()| fs::rename(&temporary, path));
    if let Err(error) = written {
        if let Err(leftover) = fs::remove_file(&temporary) {
            tracing::debug!(path = %temporary.display(), error = %leftover, "a temporary file stays behind");
        }
        return Err(error);
    }
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

fn write_new(path: &Path, mode: u32, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(NEW_FILE_MODE).open(path)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A lock file beside the file. The operating system drops the lock with the process; the file goes with the guard.
struct LockFile {
    path: PathBuf,
    _file: File,
}

impl LockFile {
    fn acquire(target: &Path, patience: Duration) -> Result<Self, SaveError> {
        let failed = |source| SaveError::Io { path: target.to_owned(), source };
        let path = beside(target, ".lock");
        let start = Instant::now();
        loop {
            let mut options = OpenOptions::new();
            let file = options
                .write(true)
                .create(true)
                .truncate(false)
                .mode(NEW_FILE_MODE)
                .open(&path)
                .map_err(failed)?;
            match file.try_lock() {
                // Its former owner may have taken the file away in between: then this lock is worth nothing.
                Ok(()) if is_at(&file, &path) => return Ok(Self { path, _file: file }),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if start.elapsed() < patience => thread::sleep(POLL),
                Err(TryLockError::WouldBlock) => return Err(SaveError::Busy { path: target.to_owned() }),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // A lock file that stays behind locks nothing.
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(path = %self.path.display(), %error, "a lock file stays behind");
        }
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(theirs)) => ours.ino() == theirs.ino() && ours.dev() == theirs.dev(),
        (Ok(_) | Err(_), _) => false,
    }
}

#[cfg(test)]
#[path = "save_tests.rs"]
mod tests;
