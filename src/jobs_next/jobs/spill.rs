//! The whole output of a command, byte for byte: in memory while it is small, in a file from then on.
//!
//! The file is written on a thread of its own, so that a slow disk never holds up a cancel; a bounded channel slows
//! the command down instead. A failed write ends the file, not the command, and is told in [`Saved::problem`].

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinHandle;

/// Bytes that stay in memory before a file is begun.
const IN_MEMORY: usize = 256 * 1024;

/// Bytes that a file takes at most.
const FILE_CAP: u64 = 1 << 30;

/// Chunks that may wait for the disk, 64 KiB each at most.
const WAITING: usize = 16;

/// Where the whole output is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The file; `None` when none was needed or none could be made.
    pub path: Option<PathBuf>,
    /// Bytes in it.
    pub bytes: u64,
    /// Why it is not the whole output, as a clause for people.
    pub problem: Option<String>,
}

/// Takes the whole output.
#[derive(Debug)]
pub struct Spill {
    dir: PathBuf,
    cap: u64,
    /// Bytes that came while too much waited for the disk.
    lost: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Memory(Vec<u8>),
    File { path: PathBuf, chunks: mpsc::Sender<Vec<u8>>, writer: JoinHandle<Saved> },
}

impl Spill {
    /// Files go into `dir`, which is made when it is needed.
    pub const fn new(dir: PathBuf) -> Self {
        Self { dir, cap: FILE_CAP, lost: 0, state: State::Memory(Vec::new()) }
    }

    /// Waits until [`Self::push`] can take a chunk without waiting for the disk.
    pub async fn ready(&self) {
        if let State::File { chunks, .. } = &self.state {
            // An error means that the writer has given up: its chunks are dropped, and the result says why.
            drop(chunks.reserve().await);
        }
    }

    /// Takes the next bytes. Without [`Self::ready`] before, they may be lost to the file; the result says so.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.state {
            State::Memory(memory) => {
                memory.extend_from_slice(bytes);
                if memory.len() > IN_MEMORY {
                    let memory = std::mem::take(memory);
                    self.begin_file(memory);
                }
            }
            State::File { chunks, .. } => match chunks.try_send(bytes.to_vec()) {
                // The writer has given up, and says why at the end.
                Ok(()) | Err(TrySendError::Closed(_)) => {}
                Err(TrySendError::Full(_)) => self.lost += bytes.len() as u64,
            },
        }
    }

    /// No more bytes will come. A small output is saved only if `wanted`. Waits for the disk for `patience` at most.
    pub async fn finish(mut self, wanted: bool, patience: Duration) -> Saved {
        if let State::Memory(memory) = &mut self.state {
            if !wanted {
                return Saved::default();
            }
            let memory = std::mem::take(memory);
            self.begin_file(memory);
        }
        let State::File { path, chunks, writer } = self.state else { return Saved::default() };
        drop(chunks);
        match tokio::time::timeout(patience, writer).await {
            Ok(Ok(Saved { path, bytes, problem: None })) if self.lost > 0 => {
                Saved { path, bytes, problem: Some("the disk was too slow for the rest".to_owned()) }
            }
            Ok(Ok(saved)) => saved,
            Ok(Err(_)) => problem("the writer was stopped"),
            Err(_) => {
                Saved { path: Some(path), bytes: 0, problem: Some("it is still being written".to_owned()) }
            }
        }
    }

    fn begin_file(&mut self, first: Vec<u8>) {
        let path = self.dir.join(format!("bash-{:016x}.log", fastrand::u64(..)));
        let (chunks, receiver) = mpsc::channel(WAITING);
        let (file, cap) = (path.clone(), self.cap);
        let writer = tokio::task::spawn_blocking(move || match create(&file) {
            Ok(open) => fill(open, &file, first, receiver, cap),
            Err(error) => problem(&format!("the file could not be created: {error}")),
        });
        self.state = State::File { path, chunks, writer };
    }
}

fn problem(text: &str) -> Saved {
    Saved { path: None, bytes: 0, problem: Some(text.to_owned()) }
}

/// Writes until the chunks end, the cap is reached or the disk refuses.
fn fill(mut file: File, path: &Path, first: Vec<u8>, mut chunks: mpsc::Receiver<Vec<u8>>, cap: u64) -> Saved {
    let mut saved = Saved { path: Some(path.to_owned()), ..Saved::default() };
    let mut next = Some(first);
    while let Some(chunk) = next {
        let room = usize::try_from(cap - saved.bytes).unwrap_or(usize::MAX);
        let part = chunk.get(..room).unwrap_or(&chunk);
        if let Err(error) = file.write_all(part) {
            saved.bytes = file.metadata().map_or(saved.bytes, |metadata| metadata.len());
            saved.problem = Some(format!("the rest could not be written: {error}"));
            break;
        }
        saved.bytes += part.len() as u64;
        if part.len() < chunk.len() {
            saved.problem = Some("the rest is beyond the size limit of such files".to_owned());
            break;
        }
        next = chunks.blocking_recv();
    }
    saved
}

/// Only the user may read it: an output can hold secrets.
fn create(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn a_small_output_is_saved_only_when_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(dir.path().join("new"));
        spill.push(b"abc");
        assert_eq!(spill.finish(false, LONG).await, Saved::default());
        assert!(!dir.path().join("new").exists());
        let mut spill = Spill::new(dir.path().join("new"));
        spill.push(b"abc");
        let saved = spill.finish(true, LONG).await;
        assert_eq!(std::fs::read(saved.path.unwrap()).unwrap(), b"abc");
        assert_eq!(saved.problem, None);
    }

    #[tokio::test]
    async fn a_large_output_goes_to_the_file_while_it_comes() {
        let dir = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(dir.path().to_owned());
        let mut want = Vec::new();
        for number in 0..20_u8 {
            let chunk = vec![number; 60_000];
            spill.ready().await;
            spill.push(&chunk);
            want.extend(chunk);
        }
        let saved = spill.finish(false, LONG).await;
        assert_eq!(saved.bytes, want.len() as u64);
        assert_eq!(std::fs::read(saved.path.unwrap()).unwrap(), want);
    }

    #[tokio::test]
    async fn the_cap_ends_the_file_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let mut spill = Spill { cap: 300_000, ..Spill::new(dir.path().to_owned()) };
        for _ in 0..40 {
            spill.ready().await;
            spill.push(&[7; 60_000]);
        }
        let saved = spill.finish(true, LONG).await;
        assert_eq!(saved.bytes, 300_000);
        assert_eq!(std::fs::metadata(saved.path.unwrap()).unwrap().len(), 300_000);
        assert!(saved.problem.unwrap().contains("size limit"));
    }

    #[tokio::test]
    async fn a_disk_that_refuses_is_told_and_ends_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let blocked = dir.path().join("file");
        std::fs::write(&blocked, "").unwrap();
        let mut spill = Spill::new(blocked);
        for _ in 0..40 {
            spill.ready().await;
            spill.push(&[7; 60_000]);
        }
        let saved = spill.finish(true, LONG).await;
        assert_eq!(saved.path, None);
        assert!(saved.problem.unwrap().contains("could not be created"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told() {
        let (sender, receiver) = mpsc::channel(1);
        drop(sender);
        let device = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let saved = fill(device, Path::new("/dev/full"), vec![1], receiver, 10);
        assert!(saved.problem.unwrap().contains("could not be written"));
    }
}
