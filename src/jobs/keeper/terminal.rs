//! A job with a terminal of its own.
//!
//! The shell must lead a session whose terminal this is, or job control, password prompts and Ctrl+C do not work. No
//! program can do that to its child from outside, so the child is our own program: it makes itself the leader, takes the
//! terminal, and becomes the shell. On its standard output it tells why it could not.

use super::output::Output;
use super::record::{JobRecord, TerminalSize};
use super::shell::why_not;
use super::{KeeperProgram, inherited};
use crate::jobs::mark;
use crate::jobs::readiness::watched;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use tokio::io::Interest;
use tokio::process::Child;

/// What its programs are told about the terminal.
const KIND: &str = "xterm-256color";

/// Stands before the reason why a shell was not started.
const FAILED: char = '\u{1}';

/// Starts the shell of this folder's job with a terminal. The error is for people. Waits for it to begin.
pub fn start(folder: &Path, record: &JobRecord, size: TerminalSize) -> Result<(Child, Output), String> {
    let none = |error: io::Error| format!("No terminal for it could be made: {error}.");
    let (ours, theirs) = open(size).map_err(none)?;
    let ours = watched(ours, Interest::READABLE | Interest::WRITABLE).map_err(none)?;
    let (mut report, reporter) = io::pipe().map_err(none)?;
    let program = KeeperProgram::again(folder).map_err(none)?;
    let mut command = tokio::process::Command::new(&program.path);
    command.args(&program.arguments).arg(folder).arg("shell");
    command.stdin(theirs.try_clone().map_err(none)?).stdout(reporter).stderr(theirs);
    command.env(mark::VARIABLE, &record.mark).env("TERM", KIND);
    let child = command.spawn().map_err(none)?;
    // Its copies of the two ends.
    drop(command);
    let mut told = String::new();
    report.read_to_string(&mut told).map_err(none)?;
    match told.split_once(FAILED) {
        None => Ok((child, Output::Terminal(ours, VecDeque::new()))),
        Some((_, why)) => Err(why.to_owned()),
    }
}

/// Becomes the shell of this folder's job. Standard input and error are its terminal.
pub fn main(folder: &Path) -> ExitCode {
    let why = match JobRecord::read(folder) {
        Ok(record) => match become_shell(&record) {
            Ok(error) => why_not(&error, &record),
            Err(error) => format!("It could not get its terminal: {error}."),
        },
        Err(error) => error.to_string(),
    };
    // Nobody else can be told.
    let _gone = io::stdout().write_all(format!("{FAILED}{why}").as_bytes());
    let _gone = io::stdout().flush();
    ExitCode::FAILURE
}

/// Comes back only with the reason why the shell was not started.
fn become_shell(record: &JobRecord) -> io::Result<io::Error> {
    rustix::process::setsid()?;
    let terminal = inherited::standard_input()?;
    rustix::process::ioctl_tiocsctty(&terminal)?;
    // Standard output stays open for an error, and is closed by a shell that begins.
    let output = terminal.try_clone()?;
    rustix::io::fcntl_setfd(rustix::stdio::stdout(), rustix::io::FdFlags::CLOEXEC)?;
    let mut command = Command::new(&record.shell);
    command.arg("-c").arg(&record.command).current_dir(&record.cwd);
    Ok(exec(command, output))
}

fn exec(mut command: Command, output: OwnedFd) -> io::Error {
    let kept = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3);
    let error = command.stdout(Stdio::from(output)).exec();
    // The streams may have been exchanged before it failed.
    if let Ok(kept) = kept {
        let _unchanged = rustix::stdio::dup2_stdout(kept);
    }
    error
}

/// A terminal: our side, and that of the shell.
fn open(size: TerminalSize) -> io::Result<(OwnedFd, File)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let not_ours = i32::try_from(OpenptFlags::NOCTTY.bits()).unwrap_or_default();
    let path = Path::new(OsStr::from_bytes(name.as_bytes()));
    let theirs = OpenOptions::new().read(true).write(true).custom_flags(not_ours).open(path)?;
    tcsetwinsize(&theirs, Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 })?;
    rustix::io::ioctl_fionbio(&ours, true)?;
    Ok((ours, theirs))
}
