//! Where the next bytes of a log go, and which files are no longer kept. Pure.
//!
//! A file is closed when it holds half of what may be kept, or when bytes are missing behind it. The oldest files go when
//! the others would no longer fit beside a new one.

use std::collections::VecDeque;

/// Files of one log at most: a disk that is full by turns must not make thousands.
const MOST_FILES: usize = 16;

/// A file of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// The offset of its first byte.
    pub begins: u64,
    /// Its bytes.
    pub length: u64,
}

/// Where the next bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file that begins at this offset.
    pub begins: u64,
    /// It is a new one.
    pub is_new: bool,
    /// So many of the bytes; at least one.
    pub length: usize,
}

/// The files of a log.
#[derive(Debug)]
pub struct Rotation {
    cap: u64,
    files: VecDeque<LogFile>,
    /// The offset of the next byte.
    at: u64,
    /// The newest file takes more.
    is_open: bool,
}

impl Rotation {
    /// A log of at most `cap` bytes, whose next byte has the offset `at`. `files` are those of an earlier writer, in order.
    pub fn new(cap: u64, files: impl IntoIterator<Item = LogFile>, at: u64) -> Self {
        Self { cap, files: files.into_iter().collect(), at, is_open: false }
    }

    /// The offset of the next byte.
    pub const fn at(&self) -> u64 {
        self.at
    }

    /// Where the first of so many bytes go.
    pub fn place(&self, wanted: usize) -> Place {
        let open = self.files.back().filter(|file| self.is_open && file.length < self.half());
        let (begins, used) = open.map_or((self.at, 0), |file| (file.begins, file.length));
        let room = usize::try_from(self.half() - used).unwrap_or(usize::MAX);
        Place { begins, is_new: open.is_none(), length: wanted.min(room) }
    }

    /// So many bytes were written there.
    pub fn written(&mut self, place: Place, count: usize) {
        if count == 0 {
            return;
        }
        self.at += count as u64;
        if let Some(file) = self.files.back_mut().filter(|file| !place.is_new && file.begins == place.begins)
        {
            file.length += count as u64;
            return;
        }
        self.files.push_back(LogFile { begins: place.begins, length: count as u64 });
        self.is_open = true;
    }

    /// So many bytes could not be written. What follows stands in a file of its own.
    pub const fn lost(&mut self, count: usize) {
        self.at += count as u64;
        self.is_open = false;
    }

    /// Somebody has deleted the newest file.
    pub fn deleted(&mut self) {
        if self.is_open {
            self.files.pop_back();
            self.is_open = false;
        }
    }

    /// Bytes of one file.
    const fn half(&self) -> u64 {
        if self.cap < 2 { 1 } else { self.cap / 2 }
    }

    /// The files that have to go before a new one is begun, by where they begin.
    pub fn make_room(&mut self) -> Vec<u64> {
        let mut kept: u64 = self.files.iter().map(|file| file.length).sum();
        let mut surplus = Vec::new();
        while kept > self.cap.saturating_sub(self.half()) || self.files.len() >= MOST_FILES {
            let Some(oldest) = self.files.pop_front() else { break };
            kept -= oldest.length;
            surplus.push(oldest.begins);
        }
        surplus
    }
}
