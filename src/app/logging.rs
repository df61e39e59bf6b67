//! The log file. Standard output and standard error belong to the user, so logs go to a file; it is made at the first
//! line, so a run with nothing to log writes nothing.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

/// A log this large is begun anew at the next start; the one before is kept as `mynah.log.1`.
const ROTATE_AT_BYTES: u64 = 8 * 1024 * 1024;

/// Where the log goes, below the state folder.
pub fn path(state: &Path) -> PathBuf {
    state.join("log").join("mynah.log")
}

/// Sends log lines of this level (a word of the setting `log.level`) and above to the file. A second call in a process
/// changes nothing.
pub fn init(state: &Path, level: &str) {
    let level = level.parse().unwrap_or(LevelFilter::WARN);
    let file = LazyFile(Arc::new(Mutex::new(Target::NotOpen(path(state)))));
    let subscriber =
        tracing_subscriber::fmt().with_max_level(level).with_ansi(false).with_writer(file).finish();
    // Only tests start more than once in a process; the first log file is as good as the second.
    let _already_set = tracing::subscriber::set_global_default(subscriber);
}

#[derive(Clone)]
struct LazyFile(Arc<Mutex<Target>>);

enum Target {
    NotOpen(PathBuf),
    Open(File),
    /// A log that can't be written must not stop the program, and there is nowhere to say so.
    Unwritable,
}

impl Write for LazyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut target = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Target::NotOpen(path) = &*target {
            *target = open(path).map_or(Target::Unwritable, Target::Open);
        }
        match &mut *target {
            // The subscriber would print an error of ours on standard error, which is the user's.
            Target::Open(file) => Ok(file.write(bytes).unwrap_or(bytes.len())),
            Target::NotOpen(_) | Target::Unwritable => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LazyFile {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    if std::fs::metadata(path).is_ok_and(|file| file.len() > ROTATE_AT_BYTES) {
        std::fs::rename(path, path.with_extension("log.1"))?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_made_at_the_first_line_and_kept_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("folder");
        let path = path(folder.path());
        let mut log = LazyFile(Arc::new(Mutex::new(Target::NotOpen(path.clone()))));
        assert!(!path.exists());
        log.write_all(b"line\n").expect("written");
        assert_eq!(std::fs::read_to_string(&path).expect("file"), "line\n");
        assert_eq!(std::fs::metadata(&path).expect("file").permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_large_log_is_put_aside() {
        let folder = tempfile::tempdir().expect("folder");
        let path = path(folder.path());
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        File::create(&path).expect("file").set_len(ROTATE_AT_BYTES + 1).expect("size");
        open(&path).expect("opened");
        assert_eq!(std::fs::metadata(&path).expect("file").len(), 0);
        assert!(path.with_extension("log.1").exists());
    }

    #[test]
    fn a_log_that_cannot_be_written_stops_nothing() {
        let folder = tempfile::tempdir().expect("folder");
        std::fs::write(folder.path().join("log"), "a file in the way").expect("file");
        let mut log = LazyFile(Arc::new(Mutex::new(Target::NotOpen(path(folder.path())))));
        assert!(log.write_all(b"line\n").is_ok());
    }
}
