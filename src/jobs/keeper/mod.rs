//! The process that runs one background job: our own program, started as `mynah keep-job FOLDER`.
//!
//! A job outlives the program that started it when the user keeps it, and when that program dies. So its output, its exit
//! code, its terminal and its limits belong to a process of its own, and everything that others know of it stands in its
//! folder:
//!
//! | file | what it is |
//! |---|---|
//! | `job.json` | what runs, and by which processes ([`record`]) |
//! | `log.N` | what it printed, from byte N on ([`log`]) |
//! | `control` | a pipe for those who want something of it ([`control`]) |
//! | `exit.json` | how it ended ([`record`]) |
//!
//! Invariants: it tells on its standard output whether the job started, in one line, and nothing else; the shell is always
//! reaped; the job is never held up by a full disk; `exit.json` is the last thing that is written.

pub mod control;
pub mod log;
pub mod record;
mod shell;

use super::GRACE;
use super::identity::Identity;
use super::tree::Tree;
use crate::proto::job::JobEnding;
use control::{Ask, Control};
use log::LogWriter;
use record::{ExitRecord, JobRecord, Running, Started};
use rustix::process::Signal;
use shell::Shell;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until};

/// How long output is still taken after the shell's exit, when something else holds the pipe open.
const DRAIN: Duration = Duration::from_millis(200);

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// Runs the job of this folder to its end.
pub fn main(folder: &Path) -> ExitCode {
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

/// One line for who started us; nobody else listens, so that it may be gone.
fn tell(started: &Started) {
    if let Ok(line) = serde_json::to_string(started) {
        let _gone = writeln!(std::io::stdout(), "{line}");
    }
}

async fn keep(folder: &Path) -> Result<(), String> {
    // A terminal that closes, or a key pressed in it, is none of our business. Handlers are enough: what is told is
    // never read.
    let _deaf = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit()].map(signal);
    rustix::process::setsid().map_err(|error| format!("It could not be made independent: {error}."))?;
    let mut record = JobRecord::read(folder).map_err(|error| error.to_string())?;
    let mut control =
        Control::open(folder).map_err(|error| format!("Its pipe for orders can't be opened: {error}."))?;
    let log = LogWriter::create(folder, record.log_cap)
        .map_err(|error| format!("Its log can't be written: {error}."))?;
    let mut shell = Shell::start(&record)?;
    let keeper = Identity::of(rustix::process::getpid());
    record.running = Some(Running { at: record::now(), keeper, shell: Identity::of(shell.group()) });
    if let Err(error) = record.write(folder) {
        end_at_once(&mut shell, &record).await;
        return Err(format!("What is known of it can't be written: {error}."));
    }
    tell(&Started::Running(record.clone()));
    let_go_of_streams();
    let mut job = Job { log, shell, record, why: None, kill_at: None };
    let ending = job.run(&mut control).await;
    let exit = ExitRecord { how: ending, ended_at: record::now(), lost_bytes: job.log.lost() };
    exit.write(folder).map_err(|error| error.to_string())
}

/// The line was told: whoever reads our output waits for its end, and errors have no place to go.
fn let_go_of_streams() {
    if let Ok(nowhere) = OpenOptions::new().write(true).open("/dev/null") {
        let _kept = rustix::stdio::dup2_stdout(&nowhere);
        let _kept = rustix::stdio::dup2_stderr(&nowhere);
    }
}

async fn end_at_once(shell: &mut Shell, record: &JobRecord) {
    let mut tree = Tree::new(vec![shell.group()], record.marked());
    tree.signal(Signal::TERM);
    tree.end(Instant::now() + GRACE).await;
    let _status = shell.wait().await;
}

struct Job {
    log: LogWriter,
    shell: Shell,
    record: JobRecord,
    /// Why it was told to end.
    why: Option<JobEnding>,
    kill_at: Option<Instant>,
}

impl Job {
    /// Follows it until the shell has exited and its output is closed, or is held open for too long.
    async fn run(&mut self, control: &mut Control) -> JobEnding {
        let began = Instant::now();
        let limit = self.record.limit();
        let deadline = limit.and_then(|limit| began.checked_add(limit));
        let mut tree = Tree::new(vec![self.shell.group()], self.record.marked());
        let mut exit: Option<(ExitStatus, Instant)> = None;
        let mut buffer = vec![0; CHUNK];
        loop {
            let drained = exit.map(|(_, at)| at + DRAIN);
            if let Some((status, _)) = exit
                && (!self.shell.streams.is_open() || drained.is_some_and(|at| Instant::now() >= at))
            {
                if let Some(kill_at) = self.kill_at {
                    tree.end(kill_at).await;
                }
                return self.why.take().unwrap_or_else(|| ending_of(status));
            }
            let is_open = self.shell.streams.is_open();
            let (child, streams) = self.shell.parts();
            tokio::select! {
                biased;
                ask = control.next() => match ask {
                    Ask::Stop => self.stop(JobEnding::Stopped, &mut tree),
                    Ask::Input(bytes) => self.shell.streams.write(&bytes).await,
                },
                () = at(deadline), if self.why.is_none() && exit.is_none() => {
                    let seconds = limit.unwrap_or_default().as_secs();
                    self.stop(JobEnding::TimedOut(seconds), &mut tree);
                }
                () = at(self.kill_at), if exit.is_none() => {
                    tree.signal(Signal::KILL);
                    // Again, should there be any that came meanwhile.
                    self.kill_at = Some(Instant::now() + GRACE);
                }
                () = at(drained) => {}
                status = child.wait(), if exit.is_none() => {
                    let status = status.unwrap_or_else(|_| ExitStatus::from_raw(0));
                    exit = Some((status, Instant::now()));
                }
                length = streams.read(&mut buffer), if is_open => {
                    self.log.write(buffer.get(..length).unwrap_or_default());
                }
            }
        }
    }

    fn stop(&mut self, why: JobEnding, tree: &mut Tree) {
        self.why.get_or_insert(why);
        if self.kill_at.is_none() {
            tree.signal(Signal::TERM);
            self.kill_at = Some(Instant::now() + GRACE);
        }
    }
}

fn ending_of(status: ExitStatus) -> JobEnding {
    match (status.code(), status.signal()) {
        (Some(code), _) => JobEnding::Exited(code),
        (None, signal) => JobEnding::Signalled(super::signal_name(signal.unwrap_or_default())),
    }
}

/// Resolves at that time, or never.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
