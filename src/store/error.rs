//! What goes wrong between a session and its file, in words for people.

use crate::proto::ids::EntryId;
use std::io;
use std::path::PathBuf;

/// A session file could not be read or written. The text says what happened, what was kept and what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No such file.
    #[error("There is no session file {}. Nothing was changed. Look for it with `mynah --resume`.", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file has no session header.
    #[error(
        "{} is not a session file: it does not begin with a session header. It was left as it is. \
         Choose another file.",
        path.display()
    )]
    NotASession {
        /// The file.
        path: PathBuf,
    },
    /// The file was written in a later format.
    #[error(
        "{} is in session format {version}; this version of Mynah writes format 3. The file was left as it is. \
         Use a newer Mynah for it.",
        path.display()
    )]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// What its header says.
        version: u32,
    },
    /// Another process has the session open.
    #[error(
        "The session {} is open in {}. Nothing was changed. Go on there, end that process, or fork the session.",
        path.display(),
        holder(*pid)
    )]
    Locked {
        /// The file.
        path: PathBuf,
        /// Who has it, if it left its number.
        pid: Option<u32>,
    },
    /// A new session would overwrite a file.
    #[error("{} exists already. It was left as it is. Start the session under another name.", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The session has no such entry.
    #[error("The session {} has no entry `{id}`. Nothing was changed.", path.display())]
    NoSuchEntry {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        id: EntryId,
    },
    /// The file could not be opened or read.
    #[error(
        "The session file {} could not be opened: {}. It was left as it is. {}",
        path.display(), reason(source), advice(source)
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A new session file could not be made in one go; nothing of it remains.
    #[error(
        "The session file {} could not be made: {}. No other file was changed. {}",
        path.display(), reason(source), advice(source)
    )]
    Create {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Entries could not be written at once.
    #[error(
        "The session file {} could not be written: {}. {}",
        path.display(), reason(source), kept(*recovered, source)
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
        /// A later try wrote everything.
        recovered: bool,
    },
    /// Entries were written, but the disk did not confirm it.
    #[error(
        "The disk did not confirm the session file {}: {}. The newest entries may be lost if the machine stops now. \
         Check the disk.",
        path.display(), reason(source)
    )]
    Sync {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("another process ({pid})"))
}

/// An error of the operating system in plain words.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::QuotaExceeded => "your disk quota is used up".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        io::ErrorKind::PermissionDenied => "you have no permission".to_owned(),
        io::ErrorKind::NotADirectory => "a part of the path is no folder".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::NotFound => "it does not exist".to_owned(),
        io::ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        // The number that Rust puts behind an error of the system says nothing to people.
        _ => {
            let text = error.to_string();
            text.split_once(" (os error ").map_or(text.as_str(), |(words, _)| words).to_owned()
        }
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "Make room and try again.",
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "Change the permissions, or set MYNAH_HOME to a folder that you can write."
        }
        _ => "Check the path and try again.",
    }
}

fn kept(recovered: bool, error: &io::Error) -> String {
    if recovered {
        "A later try wrote everything, nothing is lost.".to_owned()
    } else {
        format!("The entries are kept in memory and tried again with the next one. {}", advice(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_words_without_numbers() {
        use rustix::io::Errno;
        for (errno, words) in [
            (Errno::NOSPC, "the disk is full"),
            (Errno::NOENT, "it does not exist"),
            (Errno::NOTDIR, "a part of the path is no folder"),
            (Errno::MFILE, "Too many open files"),
        ] {
            assert_eq!(reason(&errno.into()), words);
        }
    }

    #[test]
    fn messages_name_the_cause_what_was_kept_and_what_to_do() {
        let full = |recovered| StoreError::Write {
            path: PathBuf::from("/s.jsonl"),
            source: io::ErrorKind::StorageFull.into(),
            recovered,
        };
        assert_eq!(
            full(false).to_string(),
            "The session file /s.jsonl could not be written: the disk is full. The entries are kept in memory and \
             tried again with the next one. Make room and try again."
        );
        assert!(full(true).to_string().ends_with("A later try wrote everything, nothing is lost."));
        let locked = StoreError::Locked { path: PathBuf::from("/s.jsonl"), pid: Some(42) };
        assert!(locked.to_string().contains("another process (42)"));
    }
}
