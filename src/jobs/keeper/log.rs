//! The log of a job: the bytes that it printed, in files that are named after the offset of their first byte.
//!
//! A file is closed when it holds half of what may be kept, and all but the last two go: so the newest output is always
//! there, and the disk never holds more than the cap. What can't be written is counted and left out, so that offsets tell
//! of it: a job is never held up by its log.

use super::record::private;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const PREFIX: &str = "log.";

/// Writes the log.
#[derive(Debug)]
pub struct LogWriter {
    folder: PathBuf,
    /// Bytes of one file.
    half: u64,
    file: Option<File>,
    /// The offset of the first byte of that file, and of the next one that is written.
    begins: u64,
    at: u64,
    lost: u64,
}

impl LogWriter {
    /// A log of at most `cap` bytes, empty.
    pub fn create(folder: &Path, cap: u64) -> io::Result<Self> {
        let mut log =
            Self { folder: folder.to_owned(), half: (cap / 2).max(1), file: None, begins: 0, at: 0, lost: 0 };
        log.begin_file()?;
        Ok(log)
    }

    /// Bytes that could not be written.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Adds what was printed.
    pub fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.at - self.begins >= self.half || !self.is_there() {
                self.file = None;
            }
            if self.file.is_none() && self.begin_file().is_err() {
                self.skip(bytes.len());
                return;
            }
            let room = usize::try_from(self.half - (self.at - self.begins)).unwrap_or(usize::MAX);
            let (now, later) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
            let written = self.file.as_mut().map_or(Ok(0), |file| write_most(file, now));
            match written {
                Ok(count) => self.at += count as u64,
                Err(count) => {
                    // A full disk. What follows the gap stands in a file of its own, so that offsets stay true.
                    self.at += count as u64;
                    self.skip(now.len() - count);
                    self.file = None;
                }
            }
            bytes = later;
        }
    }

    fn skip(&mut self, count: usize) {
        self.lost += count as u64;
        self.at += count as u64;
    }

    /// Somebody may have deleted it.
    fn is_there(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file.metadata().is_ok_and(|data| data.nlink() > 0))
    }

    fn begin_file(&mut self) -> io::Result<()> {
        let file = private().create(true).truncate(true).open(path(&self.folder, self.at))?;
        let mut files = files(&self.folder);
        files.retain(|begins| *begins != self.at);
        for old in files.iter().rev().skip(1) {
            // It goes with the folder, at the latest.
            let _gone = fs::remove_file(path(&self.folder, *old));
        }
        self.file = Some(file);
        self.begins = self.at;
        Ok(())
    }
}

/// Writes as much as can be written; the error tells how much that was.
fn write_most(file: &mut File, bytes: &[u8]) -> Result<usize, usize> {
    let mut done = 0;
    while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
        match file.write(rest) {
            Ok(0) => return Err(done),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(done),
        }
    }
    Ok(done)
}

fn path(folder: &Path, begins: u64) -> PathBuf {
    folder.join(format!("{PREFIX}{begins}"))
}

/// Where the files of a log begin, in order.
fn files(folder: &Path) -> Vec<u64> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<u64> =
        entries.filter_map(|entry| entry.file_name().to_str()?.strip_prefix(PREFIX)?.parse().ok()).collect();
    files.sort_unstable();
    files
}

/// The newest file of a log, if there is any.
pub fn newest(folder: &Path) -> Option<PathBuf> {
    files(folder).last().map(|begins| path(folder, *begins))
}

/// The offset of the first byte that is kept, and the one behind the last.
pub fn extent(folder: &Path) -> (u64, u64) {
    let files = files(folder);
    let (Some(first), Some(last)) = (files.first(), files.last()) else { return (0, 0) };
    let length = fs::metadata(path(folder, *last)).map_or(0, |data| data.len());
    (*first, last + length)
}

/// Reads on from an offset, into the whole buffer as far as there is something: how many bytes, and where they begin.
/// What is no longer kept is left out.
pub fn read(folder: &Path, from: u64, buffer: &mut [u8]) -> io::Result<(u64, usize)> {
    let files = files(folder);
    // The file that holds it, or else the next one.
    let at = files.partition_point(|begins| *begins <= from).saturating_sub(1);
    for begins in files.iter().skip(at) {
        let mut file = match File::open(path(folder, *begins)) {
            Ok(file) => file,
            // It went between the look and now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let from = from.max(*begins);
        file.seek(SeekFrom::Start(from - begins))?;
        let mut length = 0;
        while let Some(rest) = buffer.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match file.read(rest) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if length > 0 {
            return Ok((from, length));
        }
    }
    Ok((from, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(folder: &Path, from: u64) -> (u64, Vec<u8>) {
        let (mut all, mut at, mut first) = (Vec::new(), from, None);
        let mut buffer = [0; 7];
        loop {
            let (begins, length) = read(folder, at, &mut buffer).unwrap();
            if length == 0 {
                return (first.unwrap_or(from), all);
            }
            first.get_or_insert(begins);
            all.extend(&buffer[..length]);
            at = begins + length as u64;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        /// The newest bytes are kept, at least half of what may be, and never more than all of it.
        #[test]
        fn the_newest_is_kept(writes in prop::collection::vec(0_usize..40, 1..20), cap in 2_u64..64, from in 0_u64..400) {
            let folder = tempfile::tempdir().unwrap();
            let mut log = LogWriter::create(folder.path(), cap).unwrap();
            let mut all = Vec::new();
            for length in writes {
                let bytes: Vec<u8> = (0..length).map(|at| u8::try_from((all.len() + at) % 251).unwrap()).collect();
                log.write(&bytes);
                all.extend(bytes);
            }
            let (first, end) = extent(folder.path());
            prop_assert_eq!(end, all.len() as u64);
            prop_assert!(end - first <= cap && end - first >= (cap / 2).min(end), "{}..{} of {}", first, end, cap);
            let (begins, kept) = whole(folder.path(), from);
            let begins = usize::try_from(begins.max(first.max(from)).min(end)).unwrap();
            prop_assert_eq!(&kept[..], all.get(begins..).unwrap_or_default());
            prop_assert_eq!(log.lost(), 0);
        }
    }

    #[test]
    fn a_log_that_was_deleted_begins_anew_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = LogWriter::create(folder.path(), 1_000).unwrap();
        log.write(b"before\n");
        fs::remove_file(newest(folder.path()).unwrap()).unwrap();
        log.write(b"after\n");
        assert_eq!(whole(folder.path(), 0), (7, b"after\n".to_vec()));
        assert_eq!(extent(folder.path()), (7, 13));
    }

    #[test]
    fn what_cannot_be_written_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("job");
        fs::create_dir(&inner).unwrap();
        let mut log = LogWriter::create(&inner, 1_000).unwrap();
        log.write(b"kept\n");
        fs::remove_dir_all(&inner).unwrap();
        log.write(b"lost\n");
        assert_eq!(log.lost(), 5);
        fs::create_dir(&inner).unwrap();
        log.write(b"again\n");
        assert_eq!((log.lost(), whole(&inner, 0)), (5, (10, b"again\n".to_vec())));
    }
}
