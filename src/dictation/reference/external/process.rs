//! Facts of a process, read out of a `/proc` folder.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// The longest environment that is looked through, in bytes.
const LONGEST_ENVIRONMENT: u64 = 4 * 1024 * 1024;

/// Processes have at most so many open files that are looked at.
const MOST_FILES: usize = 4_096;

/// The processes of a `/proc` folder.
#[derive(Clone, Debug)]
pub struct Processes {
    root: PathBuf,
}

impl Processes {
    /// Those of this folder.
    pub const fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// When a process began, in ticks since the machine did: with its id it names one process for ever.
    pub fn start_ticks(&self, pid: u32) -> Option<u64> {
        let stat = fs::read_to_string(self.folder(pid).join("stat")).ok()?;
        // A process chooses its name, which stands in brackets: only what is behind the last one counts.
        let (_, rest) = stat.rsplit_once(')')?;
        rest.split_whitespace().nth(19)?.parse().ok()
    }

    /// One variable of a process's environment. The others are not kept.
    pub fn variable(&self, pid: u32, name: &str) -> Option<OsString> {
        let file = fs::File::open(self.folder(pid).join("environ")).ok()?;
        let mut bytes = Vec::new();
        file.take(LONGEST_ENVIRONMENT).read_to_end(&mut bytes).ok()?;
        let mut pairs = bytes.split(|byte| *byte == 0);
        let value = pairs.find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
        Some(OsString::from_vec(value.to_vec()))
    }

    /// The links to the open files of a process. `None` when they can't be listed.
    pub fn files(&self, pid: u32) -> Option<Vec<PathBuf>> {
        let entries = fs::read_dir(self.folder(pid).join("fd")).ok()?;
        let links: Vec<PathBuf> = entries
            .take(MOST_FILES + 1)
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .ok()?;
        (links.len() <= MOST_FILES).then_some(links)
    }

    fn folder(&self, pid: u32) -> PathBuf {
        self.root.join(pid.to_string())
    }
}
