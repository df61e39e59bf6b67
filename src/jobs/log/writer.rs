//! Writes a log.

use super::files::{files, path};
use super::plan::{Place, Rotation};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long nothing is tried after the disk refused: a flood must not become a flood of attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// Writes the log of one job.
#[derive(Debug)]
pub struct LogWriter {
    folder: PathBuf,
    rotation: Rotation,
    file: Option<File>,
    lost: u64,
    problem: Option<String>,
    retry_at: Option<Instant>,
}

impl LogWriter {
    /// A log of at most `cap` bytes in this folder, whose next byte has the offset `at`. What is in the folder already is
    /// its beginning.
    pub fn new(folder: &Path, cap: u64, at: u64) -> Self {
        Self {
            folder: folder.to_owned(),
            rotation: Rotation::new(cap, files(folder), at),
            file: None,
            lost: 0,
            problem: None,
            retry_at: None,
        }
    }

    /// Bytes that could not be written.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Why, the first time.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// Adds what was printed.
    pub fn write(&mut self, bytes: &[u8], now: Instant) {
        if self.retry_at.is_some_and(|at| now < at) {
            self.skip(bytes.len());
            return;
        }
        self.retry_at = None;
        if self.file.as_ref().is_some_and(|file| !is_linked(file)) {
            self.file = None;
            self.rotation.deleted();
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let place = self.rotation.place(rest.len());
            let (part, later) = rest.split_at_checked(place.length).unwrap_or((rest, &[]));
            let (count, refused) = self.write_part(place, part);
            self.rotation.written(place, count);
            if let Some(error) = refused {
                self.refuse(place, count, &error);
                self.skip(rest.len() - count);
                self.retry_at = Some(now + PAUSE);
                return;
            }
            rest = later;
        }
    }

    fn write_part(&mut self, place: Place, bytes: &[u8]) -> (usize, Option<io::Error>) {
        if place.is_new {
            for surplus in self.rotation.make_room() {
                // What can't be removed goes with the folder, at the latest.
                let _kept = fs::remove_file(path(&self.folder, surplus));
            }
            match private(&path(&self.folder, place.begins)) {
                Ok(file) => self.file = Some(file),
                Err(error) => return (0, Some(error)),
            }
        }
        let Some(file) = &mut self.file else { return (0, Some(io::ErrorKind::NotFound.into())) };
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            match file.write(rest) {
                Ok(0) => return (done, Some(io::ErrorKind::WriteZero.into())),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (done, Some(error)),
            }
        }
        (done, None)
    }

    fn refuse(&mut self, place: Place, count: usize, error: &io::Error) {
        self.problem.get_or_insert_with(|| error.to_string());
        self.file = None;
        if place.is_new && count == 0 {
            // An empty file would tell of output that is not there.
            let _gone = fs::remove_file(path(&self.folder, place.begins));
        }
    }

    fn skip(&mut self, count: usize) {
        self.lost += count as u64;
        self.rotation.lost(count);
    }
}

/// Somebody may have deleted it.
fn is_linked(file: &File) -> bool {
    file.metadata().is_ok_and(|data| data.nlink() > 0)
}

/// Only the user may read it: an output can hold secrets.
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}
