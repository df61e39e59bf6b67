//! The writer of a session: appends entries, moves the leaf, and says when everything is on the disk.
//!
//! Responsibilities: the leaf, the ids, the file and its lock. Invariants: nothing that was written is ever changed; an
//! entry's parent is the leaf at the time; `append` never fails, a failure waits for the next [`Log::barrier`]; opening
//! a file does not change it, the first append does.

use super::error::StoreError;
use super::line::{self, Header};
use super::lock::Lock;
use super::replay;
use super::tree::Tree;
pub use super::writer::Barrier;
use super::writer::{LockedFile, Writer};
use crate::proto::entry::{Entry, EntryKind};
use crate::proto::ids::EntryId;
use serde_json::Value;
use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// The custom type of an entry that moves the leaf.
pub const LEAF_TYPE: &str = "mynah.leaf";

/// What an opened file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// Its entries.
    pub tree: Tree,
    /// What could not be read, for people.
    pub warnings: Vec<String>,
}

/// The writer of one session.
pub struct Log {
    header: Header,
    path: Option<PathBuf>,
    leaf: Option<EntryId>,
    ids: HashSet<EntryId>,
    writer: Writer,
    /// What must be written in front of the next entry: the header of a new file, the newline of a torn one.
    before_next: String,
}

impl Log {
    /// A session that leaves no file.
    pub fn in_memory(header: Header) -> Self {
        Self {
            header,
            path: None,
            leaf: None,
            ids: HashSet::new(),
            writer: Writer::memory(),
            before_next: String::new(),
        }
    }

    /// A new session. The file is made at the first append.
    ///
    /// # Errors
    /// The file exists already.
    pub fn create(path: PathBuf, header: Header) -> Result<Self, StoreError> {
        if path.exists() {
            return Err(StoreError::Exists { path });
        }
        let before_next = line::write_header(&header)
            .map_err(|error| StoreError::Create { path: path.clone(), source: error.into() })?;
        Ok(Self {
            header,
            leaf: None,
            ids: HashSet::new(),
            writer: Writer::later(path.clone()),
            before_next,
            path: Some(path),
        })
    }

    /// Goes on with a session file. Nothing in it changes before the first append.
    ///
    /// # Errors
    /// The file is missing, no session, of a newer format, open in another process, or can't be written.
    pub fn open(path: &Path) -> Result<(Self, Opened), StoreError> {
        let failed = |source| StoreError::Read { path: path.to_owned(), source };
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(|source| {
            if source.kind() == io::ErrorKind::NotFound {
                StoreError::Missing { path: path.to_owned() }
            } else {
                failed(source)
            }
        })?;
        let lock = Lock::acquire(&file, path)?;
        let replay = replay::read_from(BufReader::with_capacity(replay::READ_BUFFER_BYTES, &file), path)?;
        let storage = Box::new(LockedFile::new(file, lock));
        let log = Self {
            header: replay.header,
            leaf: replay.tree.leaf().cloned(),
            ids: replay.tree.ids(),
            writer: Writer::open(path.to_owned(), storage),
            before_next: if replay.terminated { String::new() } else { "\n".to_owned() },
            path: Some(path.to_owned()),
        };
        Ok((log, Opened { tree: replay.tree, warnings: replay.warnings }))
    }

    /// The session's first line.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The session's file; `None` for one that leaves none. It need not exist before the first append.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Where the session stands: the parent of the next entry.
    pub const fn leaf(&self) -> Option<&EntryId> {
        self.leaf.as_ref()
    }

    /// An id that no entry of this session has.
    pub fn fresh_id(&self) -> EntryId {
        loop {
            let id = EntryId::fresh();
            if !self.ids.contains(&id) {
                return id;
            }
        }
    }

    /// Adds an entry behind the leaf; it becomes the leaf. What can't be written waits in memory and is tried again at
    /// the next append or barrier.
    pub fn append(&mut self, id: EntryId, kind: EntryKind, now: jiff::Timestamp) {
        let parent_id = self.leaf.replace(id.clone());
        self.ids.insert(id.clone());
        let entry = Entry { id, parent_id, timestamp: line::timestamp(now), kind };
        match line::write_entry(&entry) {
            Ok(text) => {
                let mut line = std::mem::take(&mut self.before_next);
                if line.is_empty() {
                    line = text;
                } else {
                    line.push_str(&text);
                }
                self.writer.write(line.into_bytes());
            }
            Err(error) => self.writer.fail(StoreError::Write {
                path: self.path.clone().unwrap_or_default(),
                source: error.into(),
                recovered: false,
            }),
        }
    }

    /// Goes on from an earlier entry, or from before the first one. Leaves a marker entry behind it, so that every
    /// reader whose leaf is the last entry stands there too. `false` for an entry that is not there: nothing changes.
    pub fn move_leaf(&mut self, to: Option<EntryId>, now: jiff::Timestamp) -> bool {
        if to.as_ref().is_some_and(|id| !self.ids.contains(id)) {
            return false;
        }
        self.leaf = to;
        let marker = EntryKind::Custom { custom_type: LEAF_TYPE.to_owned(), data: Value::Null };
        self.append(self.fresh_id(), marker, now);
        true
    }

    /// Resolves when everything appended so far is on the disk. A failure since the last barrier is reported exactly
    /// once, also when a later try mended it. Must be called inside a tokio runtime.
    pub fn barrier(&mut self) -> Barrier {
        self.writer.barrier()
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
