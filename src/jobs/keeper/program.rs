//! How a keeper is started: our own program, whatever has become of its file.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A program and its first arguments; the folder of a job is the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeeperProgram {
    /// The program.
    pub path: PathBuf,
    /// What comes before the folder.
    pub arguments: Vec<OsString>,
}

impl KeeperProgram {
    /// The program that runs, with its hidden command.
    pub fn this() -> io::Result<Self> {
        Ok(Self { path: path()?, arguments: vec!["keep-job".into()] })
    }

    /// The way in which this process itself was started for the job of this folder.
    pub fn again(folder: &Path) -> io::Result<Self> {
        let arguments = std::env::args_os().skip(1).take_while(|argument| argument != folder).collect();
        Ok(Self { path: path()?, arguments })
    }
}

/// An update may have put another program in the place of ours, or none: this is what runs all the same, since a new
/// process is a copy of ours until it begins another program.
#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
fn path() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc/self/exe"))
}

/// Untested. Another program that was put in its place is run instead.
#[cfg(not(target_os = "linux"))]
fn path() -> io::Result<PathBuf> {
    std::env::current_exe()
}
