//! A session file as a tree. Whatever stands in the file, every entry that can be read is there afterwards.
//!
//! The file is read once, line by line, and never changed: old versions are brought up to date in memory only.

use super::error::StoreError;
use super::line::{self, BadLine, FORMAT_VERSION, Header, Read};
use super::lines::{Lines, MAX_LINE_BYTES, RawLine};
use super::tree::Tree;
use crate::proto::entry::EntryKind;
use crate::proto::ids::EntryId;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// More warnings than this are counted, not told: a file of garbage must not flood the screen.
const MAX_WARNINGS: usize = 8;
pub(super) const READ_BUFFER_BYTES: usize = 256 * 1024;

/// What a session file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// Its first line.
    pub header: Header,
    /// Its entries.
    pub tree: Tree,
    /// What could not be read, for people.
    pub warnings: Vec<String>,
    /// The file ends in a newline: the next line can be appended as it is.
    pub terminated: bool,
}

/// Reads a session file without taking its lock.
///
/// # Errors
/// The file is missing, can't be read, or is no session of a version we know.
pub fn read(path: &Path) -> Result<Replay, StoreError> {
    read_from(open(path)?, path)
}

/// Opens a file for reading.
pub(super) fn open(path: &Path) -> Result<BufReader<File>, StoreError> {
    let file = File::open(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => StoreError::Missing { path: path.to_owned() },
        _ => StoreError::Read { path: path.to_owned(), source },
    })?;
    Ok(BufReader::with_capacity(READ_BUFFER_BYTES, file))
}

/// Reads a session out of bytes; `path` is for messages.
///
/// # Errors
/// As for [`read`].
pub fn read_from(source: impl BufRead, path: &Path) -> Result<Replay, StoreError> {
    let mut lines = Lines::new(source);
    let failed = |source| StoreError::Read { path: path.to_owned(), source };
    let mut warnings = Warnings::default();
    let header = read_header(&mut lines, path, &mut warnings)?;
    let mut tree = Tree::default();
    let mut decoder = Decoder::new(header.version);
    while let Some(raw) = lines.next_line().map_err(failed)? {
        match decoder.read(raw) {
            Ok(Some(Read { entry, unreadable })) => {
                if unreadable {
                    warnings.add(format!("Line {} can't be read by this version; it was kept.", raw.number));
                }
                if raw.cut {
                    warnings.add(format!(
                        "Line {} is longer than {} MiB: it stays in the file, the model does not get it.",
                        raw.number,
                        MAX_LINE_BYTES / (1024 * 1024)
                    ));
                }
                tree.push(entry);
            }
            Ok(None) => warnings.add(format!(
                "Line {} is a second session header; everything is read as one session.",
                raw.number
            )),
            Err(bad) => warnings.add(format!("Line {} {bad}; it was skipped and kept.", raw.number)),
        }
    }
    let terminated = lines.terminated();
    let mut warnings = warnings.finish();
    if tree.orphans() > 0 {
        warnings.push(format!(
            "Entries whose predecessor is not there: {}. What came before them is not part of their branch.",
            tree.orphans()
        ));
    }
    Ok(Replay { header, tree, warnings, terminated })
}

/// The header: the first line that is JSON.
pub(super) fn read_header<R: BufRead>(
    lines: &mut Lines<R>,
    path: &Path,
    warnings: &mut Warnings,
) -> Result<Header, StoreError> {
    let foreign = || StoreError::NotASession { path: path.to_owned() };
    let failed = |source| StoreError::Read { path: path.to_owned(), source };
    while let Some(raw) = lines.next_line().map_err(failed)? {
        // The first lines of a file that is no session can be anything, also one endless line.
        if raw.cut {
            return Err(foreign());
        }
        let Ok(map) = line::parse_object(raw.bytes) else {
            warnings.add(format!("Line {} is damaged; it was skipped and kept.", raw.number));
            continue;
        };
        let header = line::header_of(&map).ok_or_else(foreign)?;
        if header.version > FORMAT_VERSION {
            return Err(StoreError::NewerFormat { path: path.to_owned(), version: header.version });
        }
        return Ok(header);
    }
    Err(foreign())
}

/// Warnings, bounded.
#[derive(Default)]
pub(super) struct Warnings {
    told: Vec<String>,
    more: usize,
}

impl Warnings {
    fn add(&mut self, text: String) {
        if self.told.len() < MAX_WARNINGS {
            self.told.push(text);
        } else {
            self.more += 1;
        }
    }

    fn finish(mut self) -> Vec<String> {
        if self.more > 0 {
            self.told.push(format!("{} more lines like these.", self.more));
        }
        self.told
    }
}

/// Lines of one file to entries, in order: old versions need to know what came before.
pub(super) struct Decoder {
    version: u32,
    /// Place of the next line among those that are JSON; the header has 0.
    place: u64,
    previous: Option<EntryId>,
}

impl Decoder {
    pub(super) const fn new(version: u32) -> Self {
        Self { version, place: 1, previous: None }
    }

    /// The entry of a line; `None` for another header.
    pub(super) fn read(&mut self, raw: RawLine<'_>) -> Result<Option<Read>, BadLine> {
        if raw.cut {
            // Keeps the place of a line that is too long: its successors must not become orphans.
            let mut map = line::read_beginning(raw.bytes).ok_or(BadLine::NotJson)?;
            self.upgrade(&mut map);
            return line::read_unknown(map).map(Some);
        }
        let read = if self.version < FORMAT_VERSION {
            self.upgraded(raw.bytes).and_then(line::read_map)
        } else {
            line::read_entry(raw.bytes)
        };
        match read {
            Ok(read) if !is_header(&read) => Ok(Some(read)),
            Ok(_) => Ok(None),
            Err(bad) => Err(bad),
        }
    }

    /// A line of an older version as an object of the present one.
    pub(super) fn upgraded(&mut self, bytes: &[u8]) -> Result<Map<String, Value>, BadLine> {
        let mut map = line::parse_object(bytes)?;
        self.upgrade(&mut map);
        Ok(map)
    }

    fn upgrade(&mut self, map: &mut Map<String, Value>) {
        if line::header_of(map).is_none() {
            line::upgrade(map, self.version, self.place, self.previous.as_ref());
            self.previous = map.get("id").and_then(Value::as_str).map(EntryId::new);
        }
        self.place += 1;
    }
}

/// A header has an id too, but no place in the tree.
fn is_header(read: &Read) -> bool {
    matches!(&read.entry.kind, EntryKind::Unknown(map) if line::header_of(map).is_some())
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
