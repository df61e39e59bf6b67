//! The start-up file that sets the trap, and the two named pipes through which it tells and is answered.

use rustix::fs::OFlags;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tokio::net::unix::pipe::{self, Receiver, Sender};

/// Bash reads this file before a command that is no terminal's.
const VARIABLE: &str = "BASH_ENV";
/// Bytes of a command that are told with a mark.
const TOLD: usize = 200;
/// Bytes of one mark, at most: what is longer is none.
const LONGEST: usize = 4096;

/// What belongs to the timing of one command. Its files go with it.
#[derive(Debug)]
pub struct Launch {
    folder: PathBuf,
    marks: Receiver,
    /// With it the pipe of the marks never ends.
    _other_side: Sender,
    answers: File,
    buffer: Vec<u8>,
}

/// A simple command is about to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The status before it.
    pub status: i32,
    /// How bash shows it, or the begin of that.
    pub command: String,
}

/// Whether a shell can be told to time its steps: bash, with nothing of the user's in our place.
pub fn can_time(shell: &Path) -> bool {
    let is_bash = shell.file_name().is_some_and(|name| name == "bash");
    let is_ours = [VARIABLE, "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT"];
    is_bash && is_ours.iter().all(|name| std::env::var_os(name).is_none())
}

impl Launch {
    /// Makes the files in a folder of their own.
    pub fn prepare() -> io::Result<Self> {
        let name = format!("mynah-steps-{}-{:08x}", std::process::id(), fastrand::u32(..));
        let folder = std::env::temp_dir().join(name);
        let text = folder.to_str().filter(|text| !text.contains(['\'', '"', '$', '`', '\\', '\n']));
        let Some(text) = text else { return Err(io::ErrorKind::InvalidFilename.into()) };
        DirBuilder::new().mode(0o700).create(&folder)?;
        let made = Self::make(&folder, text);
        if made.is_err() {
            let _gone = fs::remove_dir_all(&folder);
        }
        made
    }

    fn make(folder: &Path, text: &str) -> io::Result<Self> {
        let (marks, answers) = (folder.join("marks"), folder.join("answers"));
        make_pipe(&marks)?;
        make_pipe(&answers)?;
        // Errors of the trap itself are nobody's: at worst a step is not timed. The variable `_` is set anew by each
        // command, so that none is left behind; a command that reads it is not timed at all.
        let script = format!(
            "unset {VARIABLE}\ntrap '{{ builtin printf \"%s %s\\0\" \"$?\" \"${{BASH_COMMAND:0:{TOLD}}}\" \
             1<>\"{text}/marks\"; builtin read -r -t 5 -N 1 _ 0<>\"{text}/answers\"; }} 2>/dev/null' DEBUG\n"
        );
        fs::write(folder.join("start"), script)?;
        let options = pipe::OpenOptions::new();
        let receiver = options.open_receiver(&marks)?;
        let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        Ok(Self {
            marks: receiver,
            _other_side: options.open_sender(&marks)?,
            answers: OpenOptions::new().read(true).write(true).custom_flags(nonblocking).open(&answers)?,
            folder: folder.to_owned(),
            buffer: Vec::new(),
        })
    }

    /// The variable that the shell is started with.
    pub fn variable(&self) -> (&'static str, OsString) {
        (VARIABLE, self.folder.join("start").into_os_string())
    }

    /// The next mark. Safe to drop while it waits.
    pub async fn mark(&mut self) -> Mark {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == 0) {
                let mark: Vec<u8> = self.buffer.drain(..=end).take(end).collect();
                let text = String::from_utf8_lossy(&mark);
                let (status, command) = text.split_once(' ').unwrap_or((&text, ""));
                // A status that is none fits no step, and ends the timing.
                let status = status.parse().unwrap_or(i32::MIN);
                return Mark { status, command: command.to_owned() };
            }
            if self.buffer.len() > LONGEST {
                self.buffer.clear();
            }
            let mut piece = [0; 512];
            if self.marks.readable().await.is_err() {
                std::future::pending::<()>().await;
            }
            if let Ok(length) = self.marks.try_read(&mut piece) {
                self.buffer.extend(piece.get(..length).unwrap_or_default());
            }
        }
    }

    /// What was printed before the mark has been read: the command may go on.
    pub fn answer(&mut self) {
        // It goes on by itself after a while.
        let _later = self.answers.write(b".");
    }
}

impl Drop for Launch {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.folder);
    }
}

fn make_pipe(path: &Path) -> io::Result<()> {
    crate::jobs::keeper::control::make_pipe(path)
}
