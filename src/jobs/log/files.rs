//! Reads a log: what there is of it, and bytes from an offset on.

use super::plan::LogFile;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

const PREFIX: &str = "log.";

/// What there is of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The offset of the first byte that is kept.
    pub first: u64,
    /// The offset behind the last.
    pub end: u64,
}

/// The file that begins at this offset.
pub fn path(folder: &Path, begins: u64) -> PathBuf {
    folder.join(format!("{PREFIX}{begins}"))
}

/// The files of a log, in order.
pub fn files(folder: &Path) -> Vec<LogFile> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<LogFile> = entries
        .filter_map(|entry| {
            let begins = entry.file_name().to_str()?.strip_prefix(PREFIX)?.parse().ok()?;
            // It may go between the look and now.
            Some(LogFile { begins, length: entry.metadata().ok()?.len() })
        })
        .collect();
    files.sort_unstable_by_key(|file| file.begins);
    files
}

/// The newest file of a log, if there is any.
pub fn newest(folder: &Path) -> Option<PathBuf> {
    files(folder).last().map(|file| path(folder, file.begins))
}

/// What there is of a log.
pub fn extent(folder: &Path) -> Extent {
    let files = files(folder);
    let first = files.first().map_or(0, |file| file.begins);
    Extent { first, end: files.last().map_or(0, |file| file.begins + file.length) }
}

/// Reads on from an offset, until the buffer is full or the file ends: where the bytes begin, and how many they are; none
/// at the end of the log. What is no longer kept, or was never written, is passed over.
pub fn read(folder: &Path, from: u64, buffer: &mut [u8]) -> io::Result<(u64, usize)> {
    for file in files(folder).into_iter().filter(|file| file.begins + file.length > from) {
        let from = from.max(file.begins);
        let length = match read_file(&path(folder, file.begins), from - file.begins, buffer) {
            Ok(length) => length,
            // It went between the look and now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if length > 0 {
            return Ok((from, length));
        }
    }
    Ok((from, 0))
}

fn read_file(path: &Path, from: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut length = 0;
    while let Some(rest) = buffer.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}
