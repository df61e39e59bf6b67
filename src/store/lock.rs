//! One process a session: an advisory lock on the session file itself.
//!
//! The operating system drops the lock when the process ends, however it ends, so that a stale one can't exist. The
//! number of the process stands in a file beside the session only so that a message can name it; nothing is decided by
//! it.

use super::error::StoreError;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// The lock of one session. It ends with the file, or when its owner unlocks that; its note goes before.
#[derive(Debug)]
pub struct Lock {
    note: PathBuf,
}

impl Lock {
    /// Takes the lock on an open session file. The file must live as long as the lock.
    ///
    /// `None` on a file system that has no locks: two processes are unlikely there, and a session that can't be opened
    /// at all would be worse.
    ///
    /// # Errors
    /// Another process has it.
    pub fn acquire(file: &File, path: &Path) -> Result<Option<Self>, StoreError> {
        let note = path.with_extension("pid");
        match file.try_lock() {
            Ok(()) => {
                // The note is a courtesy: without it the message names no number.
                if let Err(error) = fs::write(&note, std::process::id().to_string()) {
                    tracing::debug!(path = %note.display(), %error, "no note of the lock's holder");
                }
                Ok(Some(Self { note }))
            }
            Err(TryLockError::WouldBlock) => {
                let pid = fs::read_to_string(&note).ok().and_then(|text| text.trim().parse().ok());
                Err(StoreError::Locked { path: path.to_owned(), pid })
            }
            Err(TryLockError::Error(error)) => {
                tracing::warn!(path = %path.display(), %error, "the file system has no locks");
                Ok(None)
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A note that stays behind is harmless: the lock decides.
        if let Err(error) = fs::remove_file(&self.note) {
            tracing::debug!(path = %self.note.display(), %error, "the note of the lock's holder stays");
        }
    }
}
