//! A job from its start to its end: output into the log, what others ask for, the time limit.

use super::control::{Ask, Control, ShellEnd};
use super::record::JobRecord;
use super::shell::Shell;
use crate::jobs::GRACE;
use crate::jobs::groups::is_left;
use crate::jobs::log::writer::LogWriter;
use crate::jobs::tree::Tree;
use crate::jobs::{process, signal_name};
use crate::proto::job::JobEnding;
use rustix::process::Signal;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// How long the end of a shell that is not our child waits to be told by its parent.
const PARENT_PATIENCE: Duration = Duration::from_secs(2);

/// Bytes that are read at once.
const CHUNK: usize = 256 * 1024;

/// A job.
#[derive(Debug)]
pub struct Job {
    log: LogWriter,
    shell: Shell,
    record: JobRecord,
    tree: Tree,
    /// Why it is to end, once it is.
    why: Option<JobEnding>,
    /// When what is left of it is killed.
    kill_at: Option<Instant>,
    exit: Option<Exit>,
    /// Input that nobody read.
    ignored_input: usize,
}

/// The end of the shell.
#[derive(Debug)]
struct Exit {
    at: Instant,
    /// `None` as long as only its parent knows.
    how: Option<JobEnding>,
}

impl Job {
    /// A job that has just begun.
    pub fn new(log: LogWriter, shell: Shell, record: JobRecord) -> Self {
        let tree = Tree::since(record.since(), vec![shell.group()], record.marked());
        Self { log, shell, record, tree, why: None, kill_at: None, exit: None, ignored_input: 0 }
    }

    /// Bytes of output that are in no log.
    pub const fn lost(&self) -> u64 {
        self.record.lost_before + self.log.lost()
    }

    /// What went wrong, for people.
    pub fn problem(&self) -> Option<String> {
        let disk = self.log.problem().map(|error| format!("Output could not be written: {error}."));
        let input = (self.ignored_input > 0)
            .then(|| format!("{} bytes of input were never read.", self.ignored_input));
        disk.or(input)
    }

    /// Follows it until the shell has ended and its output is closed, or is held open for too long.
    pub async fn run(&mut self, control: &mut Control) -> JobEnding {
        let limit = self.record.limit();
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut buffer = vec![0; CHUNK];
        loop {
            if self.is_over() {
                // What is told to end has ended when it is said to have.
                if let Some(kill_at) = self.kill_at {
                    self.tree.end(kill_at).await;
                }
                let how = self.exit.take().and_then(|exit| exit.how);
                return self.why.take().or(how).unwrap_or(JobEnding::Unknown);
            }
            let ended = self.exit.as_ref().map(|exit| exit.at);
            let drained = ended.map(|at| at + process::DRAIN).filter(|at| *at > Instant::now());
            let given_up = ended.map(|at| at + PARENT_PATIENCE);
            let is_open = self.shell.output.is_open();
            tokio::select! {
                biased;
                ask = control.next() => self.asked(ask),
                () = at(deadline), if self.why.is_none() && ended.is_none() => {
                    let seconds = limit.unwrap_or_default().as_millis().div_ceil(1000);
                    self.stop(JobEnding::TimedOut(u64::try_from(seconds).unwrap_or(u64::MAX)));
                }
                () = at(self.kill_at), if ended.is_none() => {
                    self.tree.signal(Signal::KILL);
                    // Again, should more have come meanwhile.
                    self.kill_at = Some(Instant::now() + GRACE);
                }
                () = at(drained) => {}
                () = at(given_up) => {}
                status = self.shell.process.wait(), if ended.is_none() => {
                    self.shell_ended(status.ok().flatten());
                }
                length = self.shell.output.next(&mut buffer), if is_open => {
                    self.log.write(buffer.get(..length).unwrap_or_default(), std::time::Instant::now());
                }
            }
        }
    }

    /// The end has been told. What is still written must not kill who writes it, so it is read until that is over, or
    /// until all of it is to end.
    pub async fn linger(&mut self, control: &mut Control) {
        let mut buffer = vec![0; CHUNK];
        while self.shell.output.is_open() {
            tokio::select! {
                biased;
                ask = control.next() => if let Ask::Stop(_) = ask {
                    self.end_what_is_left();
                    self.tree.end(Instant::now() + GRACE).await;
                    return;
                },
                _length = self.shell.output.next(&mut buffer) => {}
            }
        }
    }

    fn is_over(&self) -> bool {
        let Some(exit) = &self.exit else { return false };
        let now = Instant::now();
        let is_drained = !self.shell.output.is_open() || now >= exit.at + process::DRAIN;
        is_drained && (exit.how.is_some() || self.why.is_some() || now >= exit.at + PARENT_PATIENCE)
    }

    fn asked(&mut self, ask: Ask) {
        match ask {
            Ask::Stop(by) if self.exit.is_none() => self.stop(JobEnding::Stopped(by)),
            // It has ended by itself, and that is what is told; but what it has left is to go.
            Ask::Stop(_) => {
                self.end_what_is_left();
                self.kill_at.get_or_insert(Instant::now() + GRACE);
            }
            Ask::IsBeingStopped(by) if self.exit.is_none() => {
                self.why.get_or_insert(JobEnding::Stopped(by));
            }
            Ask::IsBeingStopped(_) => {}
            Ask::Input(bytes) => self.ignored_input += self.shell.output.push_input(&bytes),
            Ask::ShellEnded(end) if self.record.is_adopted => {
                let how = Some(match end {
                    ShellEnd::Exited(code) => JobEnding::Exited(code),
                    ShellEnd::Signalled(signal) => JobEnding::Signalled(signal_name(signal)),
                });
                self.exit.get_or_insert_with(|| Exit { at: Instant::now(), how: None }).how = how;
            }
            Ask::ShellEnded(_) => {}
        }
    }

    fn shell_ended(&mut self, status: Option<ExitStatus>) {
        self.exit = Some(Exit { at: Instant::now(), how: status.map(ending_of) });
    }

    fn stop(&mut self, why: JobEnding) {
        self.why.get_or_insert(why);
        if self.kill_at.is_none() {
            self.tree.signal(Signal::TERM);
            self.kill_at = Some(Instant::now() + GRACE);
        }
    }

    /// The shell has been reaped: its number may have a new use.
    fn end_what_is_left(&mut self) {
        let group = self.shell.group();
        let groups = if is_left(group) { vec![group] } else { Vec::new() };
        self.tree = Tree::since(self.record.since(), groups, self.record.marked());
        self.tree.signal(Signal::TERM);
    }
}

fn ending_of(status: ExitStatus) -> JobEnding {
    match (status.code(), status.signal()) {
        (Some(code), _) => JobEnding::Exited(code),
        (None, signal) => JobEnding::Signalled(signal_name(signal.unwrap_or_default())),
    }
}

/// Resolves at that time, or never.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
