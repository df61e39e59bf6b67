//! A session file: opened once, and everything that is checked or read is that descriptor's. The length is that of when
//! it was opened: what is written later is not read.

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

/// The longest first line, in bytes.
pub const LONGEST_HEADER: usize = 128 * 1024;

/// So much of a file's end is read at most.
pub const LONGEST_TAIL: u64 = 8 * 1024 * 1024;

/// An open session file.
pub struct SessionFile {
    file: File,
    device: u64,
    inode: u64,
    length: u64,
}

impl SessionFile {
    /// Opens a regular file. `follow`: the path is a link of `/proc` to an open file, and that is meant.
    pub fn open(path: &Path, follow: bool) -> Option<Self> {
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        if !follow {
            flags |= OFlags::NOFOLLOW;
        }
        let descriptor = open(path, flags, Mode::empty()).ok()?;
        let stat = fstat(&descriptor).ok()?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        let file = File::from(descriptor);
        let facts = file.metadata().ok()?;
        Some(Self { device: facts.dev(), inode: facts.ino(), length: facts.len(), file })
    }

    /// Device and inode.
    pub const fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// Another path, not followed, leads to this very file.
    pub fn is_at(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|facts| (facts.dev(), facts.ino()) == self.identity())
    }

    /// The first line as JSON, if it is whole and at most [`LONGEST_HEADER`].
    pub fn header(&self) -> Option<Value> {
        let bytes = self.read(0, self.length.min(LONGEST_HEADER as u64 + 1))?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        serde_json::from_slice(bytes.get(..end)?).ok()
    }

    /// The lines of the file's end that are JSON, oldest first. A line that was cut off at the begin is left out, and so
    /// are broken ones.
    pub fn tail(&self) -> Option<Vec<Value>> {
        let from = self.length.saturating_sub(LONGEST_TAIL);
        let bytes = self.read(from, self.length - from)?;
        let mut lines = bytes.split(|byte| *byte == b'\n');
        if from > 0 {
            lines.next();
        }
        Some(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    fn read(&self, from: u64, length: u64) -> Option<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        self.file.read_exact_at(&mut bytes, from).ok()?;
        Some(bytes)
    }
}

/// The path is canonical and lies below a folder, which is made canonical first.
pub fn is_below(path: &Path, folder: &Path) -> bool {
    let (Ok(canonical), Ok(folder)) = (path.canonicalize(), folder.canonicalize()) else { return false };
    canonical == path && canonical.starts_with(&folder) && canonical != folder
}
