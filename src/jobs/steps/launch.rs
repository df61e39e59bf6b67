//! The start-up file that sets the trap, and the two named pipes through which it tells and is answered.
//!
//! The trap is written so that nothing of it is left between two commands. `$?` and `$_` are read before anything
//! of it changes them: a `for` is no command to bash. The function that does the work takes `$_` as its argument
//! and removes itself, so that `$_` is the same behind it. Whatever goes wrong, and an answer that says so, removes
//! the trap.

use super::clock::{Answer, Mark};
use crate::jobs::keeper::control::make_pipe;
use rustix::fs::OFlags;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tokio::net::unix::pipe::{self, Receiver, Sender};

/// Bash reads this file before a command that is no terminal's.
const VARIABLE: &str = "BASH_ENV";
/// Bytes of one mark, at most: what is longer is none.
const LONGEST: usize = 8192;

/// Seconds that the command waits for an answer at most. Whole ones: older versions of bash know no others.
const PATIENCE_S: u32 = 5;

/// Variables with which bash would start differently, or not read our file.
const DISTURBING: &[&str] =
    &[VARIABLE, "SHELLOPTS", "BASHOPTS", "POSIXLY_CORRECT", "BASH_XTRACEFD", "FUNCNEST", "BASH_COMPAT"];
/// The same by their begin: functions that are handed down.
const FUNCTION: &str = "BASH_FUNC_";

/// The start-up file; `%MARKS%` and `%ANSWERS%` stand for the pipes, `%PATIENCE%` for seconds. It has nothing that
/// bash 3.2 does not know.
///
/// `LINENO` is that of the command plus the line within the trap, so it stands in the first one. The pipes are
/// opened for reading and writing, which never waits. An answer is a single byte, so that two shells could wait for
/// one at a time. Errors go nowhere, and neither does what a sourced file's `set -x` would show; the backslashes
/// keep its aliases out. `IFS` may be constant: to set it in front of `read` would then end the shell. When no
/// answer comes, we are no longer there, or as good as that.
const START: &str = r#"_mynah_begin() {
builtin unset -v BASH_ENV
builtin unset -f _mynah_begin
builtin trap '{ for _mynah in "$? $LINENO ${BASH_COMMAND:0:200}"; do
_mynah() {
\builtin local _mynah_mark="$_mynah" _mynah_answer=
\builtin local IFS= || :
\builtin unset -v _mynah
\builtin unset -f _mynah
if ! \builtin printf "%s\0" "$_mynah_mark" 1<>"%MARKS%"; then
\builtin return 1
elif ! \builtin read -r -n 1 -t %PATIENCE% _mynah_answer 0<>"%ANSWERS%"; then
\builtin printf "late\0" 1<>"%MARKS%"
\builtin return 1
fi
[[ $_mynah_answer == + ]]
}
_mynah "$_" || for _mynah in "$_"; do
\builtin trap - DEBUG
_mynah() {
\builtin unset -v _mynah
\builtin unset -f _mynah
}
_mynah "$_mynah"
done
done
} 2>/dev/null' DEBUG
}
_mynah_begin "$_"
"#;

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

/// Whether a shell can be told to time its steps: bash, and none of the variables it starts with in our way. A
/// start-up file of the user's, above all, is read by bash and nobody else.
pub fn can_time<N: AsRef<OsStr>>(shell: &Path, variables: impl IntoIterator<Item = N>) -> bool {
    let is_bash = shell.file_name().is_some_and(|name| name == "bash");
    let disturbs = |name: &OsStr| {
        DISTURBING.iter().any(|disturbing| name == *disturbing)
            || name.as_encoded_bytes().starts_with(FUNCTION.as_bytes())
    };
    is_bash && !variables.into_iter().any(|name| disturbs(name.as_ref()))
}

impl Launch {
    /// Makes the files, in a folder of their own within this one: one of ours, which no command is likely to list.
    pub fn prepare(parent: &Path) -> io::Result<Self> {
        Self::with_patience(parent, PATIENCE_S)
    }

    pub(super) fn with_patience(parent: &Path, patience_s: u32) -> io::Result<Self> {
        let folder = parent.join(format!("steps-{}-{:016x}", std::process::id(), fastrand::u64(..)));
        // It is written into the start-up file, within two kinds of quotes.
        let is_plain =
            |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ' ' | ',' | '@');
        let text = folder.to_str().filter(|text| text.starts_with('/') && text.chars().all(is_plain));
        let text = text.ok_or(io::ErrorKind::InvalidFilename)?;
        DirBuilder::new().mode(0o700).recursive(true).create(parent)?;
        DirBuilder::new().mode(0o700).create(&folder)?;
        let made = Self::make(&folder, text, patience_s);
        if made.is_err() {
            let _gone = fs::remove_dir_all(&folder);
        }
        made
    }

    fn make(folder: &Path, text: &str, patience_s: u32) -> io::Result<Self> {
        let (marks, answers) = (folder.join("marks"), folder.join("answers"));
        make_pipe(&marks)?;
        make_pipe(&answers)?;
        let start = START
            .replace("%MARKS%", &format!("{text}/marks"))
            .replace("%ANSWERS%", &format!("{text}/answers"))
            .replace("%PATIENCE%", &patience_s.to_string());
        fs::write(folder.join("start"), start)?;
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
                return read_mark(&mark);
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

    /// Answers a mark: the command goes on. Without it, it does so after a while, and is no longer timed.
    pub fn answer(&mut self, answer: Answer) {
        let text: &[u8] = match answer {
            Answer::GoOn => b"+",
            Answer::NoMore => b"-",
        };
        // Without room there are many answers that nobody has read, and the command needs none.
        let _full = self.answers.write(text);
    }

    /// The files are still there. A command that has removed them could not send its marks.
    pub fn is_intact(&self) -> bool {
        self.folder.join("marks").exists() && self.folder.join("answers").exists()
    }
}

impl Drop for Launch {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.folder);
    }
}

/// Reads what is in a pipe, without waiting: what a mark is answered after. The runtime's own way asks the system only
/// when an event has come that it may not have looked at yet, and would miss what was printed just before the mark.
pub fn read_now(pipe: &Receiver, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(pipe, &mut *buffer) {
            Err(rustix::io::Errno::INTR) => {}
            length => return length.map_err(Into::into),
        }
    }
}

/// A mark as it was sent. One that makes no sense fits no command, and ends the timing.
fn read_mark(mark: &[u8]) -> Mark {
    let text = String::from_utf8_lossy(mark);
    let mut words = text.splitn(3, ' ');
    let mut number = || words.next().and_then(|word| word.parse::<u32>().ok());
    let (status, line) = (number(), number());
    Mark {
        status: status.and_then(|status| i32::try_from(status).ok()).unwrap_or(i32::MIN),
        line: line.and_then(|line| usize::try_from(line).ok()).unwrap_or(usize::MAX),
        command: words.next().unwrap_or_default().to_owned(),
    }
}
