//! The shell of a job: in a group of its own, with one pipe for both of its outputs, or with a terminal.

use super::record::JobRecord;
use crate::jobs::mark;
use rustix::process::Pid;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetpgrp, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::process::{ExitStatus, Stdio};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::process::{Child, Command};

/// Size of the terminal of a job: what programs expect where nobody looks.
const SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

/// A shell that runs.
#[derive(Debug)]
pub struct Shell {
    child: Child,
    group: Pid,
    /// What it prints, and writes to it.
    pub streams: Streams,
}

/// Our side of a shell's output, and of its terminal.
#[derive(Debug)]
pub struct Streams {
    output: Output,
    is_open: bool,
}

#[derive(Debug)]
enum Output {
    Pipe(Receiver),
    /// Our side of the terminal, for both ways. It is no pipe, but is read and written like one.
    Terminal(Receiver, Sender),
}

impl Shell {
    /// Starts it. The error is for people.
    pub fn start(record: &JobRecord) -> Result<Self, String> {
        let mut command = Command::new(&record.shell);
        command.arg("-c").arg(&record.command).current_dir(&record.cwd).process_group(0);
        command.env(mark::VARIABLE, &record.mark);
        let (output, terminal) = if record.has_terminal {
            let none = |error: io::Error| format!("No terminal for it could be made: {error}.");
            let (ours, theirs) = terminal().map_err(none)?;
            let copy = || theirs.try_clone().map(Stdio::from).map_err(none);
            command.stdin(copy()?).stdout(copy()?).stderr(copy()?).env("TERM", "xterm-256color");
            let input = ours.try_clone().and_then(Sender::from_file_unchecked).map_err(none)?;
            let output = Receiver::from_file_unchecked(ours).map_err(none)?;
            (Output::Terminal(output, input), Some(theirs))
        } else {
            let none = |error: io::Error| format!("No pipe for its output could be made: {error}.");
            let (reader, writer) = io::pipe().map_err(none)?;
            let reader = Receiver::from_owned_fd(OwnedFd::from(reader)).map_err(none)?;
            command.stdin(Stdio::null()).stdout(writer.try_clone().map_err(none)?).stderr(writer);
            (Output::Pipe(reader), None)
        };
        let child = command.spawn().map_err(|error| {
            if error.kind() == io::ErrorKind::ArgumentListTooLong {
                return format!("The command is too long for this system ({} bytes).", record.command.len());
            }
            if record.cwd.is_dir() {
                return format!("The shell {} could not be started: {error}.", record.shell.display());
            }
            format!("The working directory {} does not exist.", record.cwd.display())
        })?;
        let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let group = id.ok_or("It ended before anything was known of it.")?;
        if let Some(terminal) = terminal {
            // Or the first read of it would stop the shell. It may have ended already.
            let _ended = tcsetpgrp(&terminal, group);
        }
        Ok(Self { child, group, streams: Streams { output, is_open: true } })
    }

    /// Its group, whose leader it is.
    pub const fn group(&self) -> Pid {
        self.group
    }

    /// The shell itself, and its streams.
    pub const fn parts(&mut self) -> (&mut Child, &mut Streams) {
        (&mut self.child, &mut self.streams)
    }

    /// Waits for its end.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }
}

impl Streams {
    /// More output may come.
    pub const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Reads what it printed; nothing, once that is closed.
    pub async fn read(&mut self, buffer: &mut [u8]) -> usize {
        let (Output::Pipe(output) | Output::Terminal(output, _)) = &self.output;
        let length = loop {
            if let Err(error) = output.readable().await {
                break Err(error);
            }
            match output.try_read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                length => break length,
            }
        };
        // A terminal that nobody has open any more is an error to read from.
        let length = length.unwrap_or(0);
        self.is_open = length > 0;
        length
    }

    /// Writes to its terminal, as far as there is room and it has one.
    pub async fn write(&mut self, bytes: &[u8]) {
        let Output::Terminal(_, input) = &self.output else { return };
        let mut rest = bytes;
        while !rest.is_empty() {
            if input.writable().await.is_err() {
                return;
            }
            match input.try_write(rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    }
}

/// A terminal: our side, and that of the shell. We lead a session without one, so that it becomes ours when it is opened.
fn terminal() -> io::Result<(File, File)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let path = std::path::PathBuf::from(std::ffi::OsString::from(name.to_string_lossy().into_owned()));
    let theirs = OpenOptions::new().read(true).write(true).open(path)?;
    tcsetwinsize(&theirs, SIZE)?;
    Ok((File::from(ours), theirs))
}
