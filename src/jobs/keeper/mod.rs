//! The process that runs one background job: our own program, started as `mynah keep-job FOLDER`.
//!
//! A job outlives the program that started it when the user keeps it, and when that program dies. So its output, its exit
//! code, its terminal and its limits belong to a process of its own, and everything that others know of it stands in its
//! folder:
//!
//! | file | what it is |
//! |---|---|
//! | `job.json` | what runs, and by which processes ([`record`]) |
//! | `log.N` | what it printed, from byte N on ([`super::log`]) |
//! | `control` | a pipe for those who want something of it ([`control`]) |
//! | `exit.json` | how it ended ([`record`]) |
//! | `told` | the agent knows of the end |
//!
//! Invariants: it tells on its standard output whether the job started, in one line, and nothing else; the shell is always
//! reaped; the job is never held up by a full disk; at rest nothing wakes it up; `exit.json` is written when nothing of the
//! shell's output is missing any more. After that it only stays as long as something that the shell has left behind still
//! writes, so that this does not die of a closed pipe.

pub mod control;
mod inherited;
mod job;
mod output;
pub mod process_end;
mod program;
pub mod record;
mod shell;
mod terminal;

pub use program::KeeperProgram;

use super::GRACE;
use super::identity::Identity;
use super::log::writer::LogWriter;
use super::tree::Tree;
use control::Control;
use job::Job;
use record::{ExitRecord, JobRecord, Running, Started};
use rustix::process::Signal;
use shell::Shell;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;

/// Runs the job of this folder to its end. To be called before anything else is set up, and never to return to.
pub fn main(folder: &Path) -> ExitCode {
    inherited::close_others();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let kept = match runtime {
        Ok(runtime) => runtime.block_on(keep(folder)),
        Err(error) => Err(format!("The process that watches over it could not be set up: {error}.")),
    };
    match kept {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&Started::Failed(error));
            ExitCode::FAILURE
        }
    }
}

/// Becomes the shell of this folder's job, which has a terminal. For `mynah keep-job FOLDER shell`.
pub fn shell_main(folder: &Path) -> ExitCode {
    terminal::main(folder)
}

/// One line for who started us; nobody else listens, so that it may be gone.
fn tell(started: &Started) {
    if let Ok(line) = serde_json::to_string(started) {
        let _gone = writeln!(std::io::stdout(), "\n{line}");
    }
}

async fn keep(folder: &Path) -> Result<(), String> {
    // A terminal that closes, or a key pressed in it, is none of our business. They are handled and not ignored: what is
    // ignored would be so for the job as well.
    // A limit on the size of files is an error to write, as a full disk is.
    let file_size = SignalKind::from_raw(Signal::XFSZ.as_raw());
    let _deaf = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit(), file_size].map(signal);
    rustix::process::setsid().map_err(|error| format!("It could not be made independent: {error}."))?;
    let mut record = JobRecord::read(folder).map_err(|error| error.to_string())?;
    record::reserve(folder).map_err(|error| format!("Nothing can be written: {error}."))?;
    let mut control =
        Control::open(folder).map_err(|error| format!("Its pipe for orders can't be opened: {error}."))?;
    let mut shell = Shell::start(folder, &record)?;
    let keeper = Identity::of(rustix::process::getpid());
    let (at, known) = match &record.running {
        Some(running) => (running.at, running.shell),
        None => (record::now(), Identity::of(shell.group())),
    };
    record.running = Some(Running { at, keeper, shell: known });
    if let Err(error) = record.write(folder) {
        end_at_once(&mut shell, &record).await;
        return Err(format!("What is known of it can't be written: {error}."));
    }
    tell(&Started::Running(Box::new(record.clone())));
    let_go_of_streams();
    let log = LogWriter::new(folder, record.log_cap, record.printed_before);
    let mut job = Job::new(log, shell, record);
    let how = job.run(&mut control).await;
    let exit = ExitRecord { how, ended_at: record::now(), lost_bytes: job.lost(), problem: job.problem() };
    exit.write(folder).map_err(|error| error.to_string())?;
    job.linger(&mut control).await;
    Ok(())
}

/// The line was told: whoever reads our output waits for its end, and errors have no place to go.
fn let_go_of_streams() {
    if let Ok(nowhere) = OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _kept = rustix::stdio::dup2_stdin(&nowhere);
        let _kept = rustix::stdio::dup2_stdout(&nowhere);
        let _kept = rustix::stdio::dup2_stderr(&nowhere);
    }
}

async fn end_at_once(shell: &mut Shell, record: &JobRecord) {
    let mut tree = Tree::since(record.since(), vec![shell.group()], record.marked());
    tree.signal(Signal::TERM);
    // It has to be reaped, or it would seem to live.
    let (_status, ()) = tokio::join!(shell.process.wait(), tree.end(Instant::now() + GRACE));
}

#[cfg(test)]
pub mod tests;
