//! One model from the network onto the shelf.
//!
//! Invariants: a file stands under its name only when it came whole and its checksum, written beside it, is that of
//! its bytes; what came of a file before something failed stays for the next try, unless the host has another one by
//! then; one process at a time fetches a model.

mod file;
#[cfg(test)]
mod tests;

use super::room;
use super::shelf::Shelf;
use super::size_text;
use super::table::Entry;
use crate::config::env::Env;
use crate::dictation::transcriber::Cancel;
use crate::proto::voice::VoiceFailure;
use reqwest::Url;
use std::fs::{self, File, TryLockError};
use std::time::{Duration, Instant};

/// Progress is told no more often than this.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// While another process fetches the same model we look this often whether it is done.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Where models come from when `HF_ENDPOINT` says nothing else.
pub const HOST: &str = "https://huggingface.co";

/// Why a model was not fetched. The texts are for people.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Nothing is fetched.
    #[error(
        "Mynah is offline (`network.offline`), so the model was not fetched. Give a model by its path, or go online."
    )]
    Offline,
    /// There is not room enough.
    #[error(
        "There is too little room for the model: it needs {} free, twice what is still to come, and {folder} has {}. \
         Nothing was fetched. Make room, or choose a smaller model.",
        size_text(*need), size_text(*free)
    )]
    Room {
        /// Bytes.
        need: u64,
        /// Bytes.
        free: u64,
        /// Where.
        folder: String,
    },
    /// The disk got full, or a file can't be written.
    #[error("{file} can't be written: {why}. What came so far is kept; make room and try again.")]
    Disk {
        /// Which.
        file: String,
        /// Why.
        why: String,
    },
    /// The host is no URL that we ask.
    #[error("`{0}` (HF_ENDPOINT) is no host that models are fetched from: it must begin with https://.")]
    Host(String),
    /// The host does not have it.
    #[error(
        "{host} has no {what} (status 404). It may have moved; a newer table can say where to, or choose another model."
    )]
    NotFound {
        /// Who was asked.
        host: String,
        /// For what.
        what: String,
    },
    /// The host wants an account.
    #[error(
        "{host} does not give {what} without an account (status {status}). Fetch it with a browser and give its path, or choose another model."
    )]
    Denied {
        /// Who was asked.
        host: String,
        /// For what.
        what: String,
        /// Its answer.
        status: u16,
    },
    /// Another answer that is no file.
    #[error("{host} could not give {what} (status {status}). What came so far is kept; try again later.")]
    Status {
        /// Who was asked.
        host: String,
        /// For what.
        what: String,
        /// Its answer.
        status: u16,
    },
    /// A page came where a model should.
    #[error(
        "{host} sent a web page instead of {what}. The network may want a login first; nothing was kept of it."
    )]
    Page {
        /// Who was asked.
        host: String,
        /// For what.
        what: String,
    },
    /// It sent us to somewhere we do not go.
    #[error("{host} sent us for {what} to an address without encryption. It was not followed.")]
    Redirect {
        /// Who was asked.
        host: String,
        /// For what.
        what: String,
    },
    /// The connection failed or ended early.
    #[error("{what} did not come whole: {why}. {kept} are kept; try again to go on from there.", kept = size_text(*kept))]
    Cut {
        /// What was fetched.
        what: String,
        /// Why.
        why: String,
        /// Bytes that are kept.
        kept: u64,
    },
    /// It came whole and is another file.
    #[error(
        "{what} came damaged: its checksum is {found} and should be {expected}. It was thrown away; try again."
    )]
    Checksum {
        /// Which.
        what: String,
        /// As it is.
        found: String,
        /// As announced.
        expected: String,
    },
    /// It was not wanted any more.
    #[error("The download was stopped. What came so far is kept.")]
    Cancelled,
}

impl FetchError {
    /// As the kinds of failures go.
    #[must_use]
    pub const fn failure(&self) -> VoiceFailure {
        match self {
            Self::Offline | Self::Cancelled => VoiceFailure::NoModel,
            Self::Room { .. } | Self::Disk { .. } => VoiceFailure::Disk,
            _ => VoiceFailure::Network,
        }
    }
}

/// Where a model comes from and goes to.
#[derive(Clone, Debug)]
pub struct Fetcher {
    /// As `https://huggingface.co`.
    pub host: String,
    /// Where it is put.
    pub shelf: Shelf,
    /// Nothing is fetched.
    pub offline: bool,
    /// Free bytes there; `None` to ask the system.
    pub free: Option<u64>,
}

/// The host of models that this environment names.
#[must_use]
pub fn host(env: &Env) -> String {
    env.get("HF_ENDPOINT").unwrap_or(HOST).trim_end_matches('/').to_owned()
}

impl Fetcher {
    /// Fetches what is missing of a model. Returns when all of it is here; while another process fetches the same model
    /// this one waits for it. `progress` gets the bytes so far and those in all.
    ///
    /// # Errors
    /// Why it is not here; soon after `cancel` is up, that it was stopped.
    pub fn fetch(
        &self,
        entry: &Entry,
        cancel: &Cancel,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), FetchError> {
        if self.shelf.check_sizes(entry).is_ok() {
            return Ok(());
        }
        if self.offline {
            return Err(FetchError::Offline);
        }
        let host = checked_host(&self.host)?;
        let folder = self.shelf.folder_of(entry);
        fs::create_dir_all(&folder).map_err(|error| disk(&folder.display().to_string(), &error))?;
        let lock = self.lock(entry, cancel, progress)?;
        // Another process may just have done it.
        if self.shelf.check_sizes(entry).is_ok() {
            return Ok(());
        }
        self.check_room(entry.bytes().saturating_sub(self.shelf.bytes_so_far(entry)))?;
        let ended = runtime(entry)?.block_on(self.files(entry, &host, cancel, progress));
        drop(lock);
        ended
    }

    async fn files(
        &self,
        entry: &Entry,
        host: &Url,
        cancel: &Cancel,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), FetchError> {
        let mut sizes: Vec<u64> = entry.files.iter().map(|part| part.size).collect();
        let mut before = 0;
        let mut told: Option<Instant> = None;
        for (number, part) in entry.files.iter().enumerate() {
            let asked = file::Asked {
                host,
                repository: &entry.repository,
                revision: &entry.revision,
                part,
                path: self.shelf.folder_of(entry).join(&part.name),
            };
            let mut on_progress = |done: u64, size: u64| {
                // What the host says counts, not what the table says.
                if let Some(known) = sizes.get_mut(number) {
                    *known = size;
                }
                if told.is_none_or(|told| told.elapsed() >= PROGRESS_EVERY) {
                    told = Some(Instant::now());
                    progress(before + done, sizes.iter().sum());
                }
            };
            let room = |more: u64| self.check_room(more);
            before += file::fetch(&asked, &room, cancel, &mut on_progress).await?;
        }
        progress(before, before);
        Ok(())
    }

    /// Twice what is still to come must be free: the copy for this processor needs room too.
    fn check_room(&self, more: u64) -> Result<(), FetchError> {
        let folder = self.shelf.folder();
        let Some(free) = self.free.or_else(|| room::free_disk(folder)) else { return Ok(()) };
        let need = more.saturating_mul(2);
        if free < need {
            return Err(FetchError::Room { need, free, folder: folder.display().to_string() });
        }
        Ok(())
    }

    /// Waits for the lock of this model. The system drops it when the process ends, however it ends.
    fn lock(
        &self,
        entry: &Entry,
        cancel: &Cancel,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Option<File>, FetchError> {
        let path = self.shelf.lock_of(entry);
        let name = path.display().to_string();
        let file = File::options().create(true).write(true).truncate(false).open(&path);
        let file = file.map_err(|error| disk(&name, &error))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(file)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    tracing::warn!(file = %name, %error, "the file system has no locks");
                    return Ok(None);
                }
            }
            if cancel.is_cancelled() {
                return Err(FetchError::Cancelled);
            }
            progress(self.shelf.bytes_so_far(entry), entry.bytes());
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

fn runtime(entry: &Entry) -> Result<tokio::runtime::Runtime, FetchError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| FetchError::Cut {
        what: entry.title.clone(),
        why: error.to_string(),
        kept: 0,
    })
}

fn checked_host(host: &str) -> Result<Url, FetchError> {
    let url = Url::parse(host).map_err(|_no_url| FetchError::Host(host.to_owned()))?;
    if is_safe(&url) { Ok(url) } else { Err(FetchError::Host(host.to_owned())) }
}

/// Encrypted, or on this machine.
fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        host == "localhost"
            || host
                .trim_matches(['[', ']'])
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    })
}

fn disk(file: &str, error: &std::io::Error) -> FetchError {
    let why = if error.kind() == std::io::ErrorKind::StorageFull {
        "the disk is full".to_owned()
    } else {
        let text = error.to_string();
        // The number of the system's error says nothing to people.
        text.split_once(" (os error").map_or(text.clone(), |(words, _)| words.to_owned())
    };
    FetchError::Disk { file: file.to_owned(), why }
}
