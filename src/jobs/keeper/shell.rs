//! The shell of a job: in a group of its own, with one pipe for both of its outputs, or with a terminal; or one that a
//! Mynah has started and handed on.

use super::output::Output;
use super::process_end::ProcessEnd;
use super::record::JobRecord;
use super::{inherited, terminal};
use crate::jobs::mark;
use rustix::process::Pid;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};

/// Bytes that the pipe holds, if the system lets us: fewer changes between the job and us.
#[cfg(target_os = "linux")]
const PIPE: usize = 1024 * 1024;

/// A shell that runs.
#[derive(Debug)]
pub struct Shell {
    /// Its process.
    pub process: Process,
    group: Pid,
    /// What it prints, and its terminal.
    pub output: Output,
}

/// The process of a shell.
#[derive(Debug)]
pub enum Process {
    /// Ours to reap.
    Child(Child),
    /// The child of somebody else.
    Other(ProcessEnd),
}

impl Shell {
    /// Starts the shell of this folder's job, or takes over the one that was handed on. The error is for people.
    pub fn start(folder: &Path, record: &JobRecord) -> Result<Self, String> {
        if record.is_adopted {
            return Self::adopt(record);
        }
        let (child, output) = match record.terminal {
            Some(size) => terminal::start(folder, record, size)?,
            None => with_pipe(record)?,
        };
        let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let group = id.ok_or("It ended before anything was known of it.")?;
        Ok(Self { process: Process::Child(child), group, output })
    }

    fn adopt(record: &JobRecord) -> Result<Self, String> {
        let shell = record.running.as_ref().map(|running| running.shell);
        let (shell, group) =
            shell.and_then(|shell| Some((shell, shell.pid()?))).ok_or("It has no process.")?;
        let output = inherited::standard_input().and_then(Output::of_pipe);
        let output = output.map_err(|error| format!("Its output can't be read: {error}."))?;
        let end = ProcessEnd::of(shell).map_err(|error| format!("It can't be followed: {error}."))?;
        Ok(Self { process: Process::Other(end), group, output })
    }

    /// Its group, whose leader it is.
    pub const fn group(&self) -> Pid {
        self.group
    }
}

impl Process {
    /// Waits for its end; `None` when only its parent knows how it was. May be dropped at any time.
    pub async fn wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match self {
            Self::Child(child) => child.wait().await.map(Some),
            Self::Other(end) => {
                end.wait().await;
                Ok(None)
            }
        }
    }
}

fn with_pipe(record: &JobRecord) -> Result<(Child, Output), String> {
    let none = |error: io::Error| format!("No pipe for its output could be made: {error}.");
    let (reader, writer) = io::pipe().map_err(none)?;
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::pipe::fcntl_setpipe_size(&reader, PIPE) {
        // Only slower.
        tracing::debug!(%error, "the pipe stays small");
    }
    let reader = Receiver::from_owned_fd(OwnedFd::from(reader)).map_err(none)?;
    let mut command = Command::new(&record.shell);
    command.arg("-c").arg(&record.command).current_dir(&record.cwd).process_group(0);
    command.stdin(Stdio::null()).stdout(writer.try_clone().map_err(none)?).stderr(writer);
    command.env(mark::VARIABLE, &record.mark);
    let child = command.spawn().map_err(|error| why_not(&error, record))?;
    Ok((child, Output::Pipe(reader)))
}

/// Why a shell did not start, for people.
pub fn why_not(error: &io::Error, record: &JobRecord) -> String {
    if error.kind() == io::ErrorKind::ArgumentListTooLong {
        return format!("The command is too long for this system ({} bytes).", record.command.len());
    }
    if record.cwd.is_dir() {
        return format!("The shell {} could not be started: {error}.", record.shell.display());
    }
    format!("The working directory {} does not exist.", record.cwd.display())
}
