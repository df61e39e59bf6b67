//! A command on its way to the background: it runs, nobody reads what it prints, and whoever holds this looks after it.
//!
//! Invariant: it is either handed on ([`Detached::handed_on`]) or ended: a shell is never left without an owner. Until
//! then the guard counts it among its own.

use super::Jobs;
use super::collect::Collected;
use super::command::{ProcessError, ShellCommand};
use super::mark::{Commands, Marked};
use super::process::{Parts, Running};
use super::spill::Saved;
use super::tree::Tree;
use rustix::process::{Pid, Signal};
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

/// A command that goes on.
#[derive(Debug)]
pub struct Detached {
    /// What was run.
    pub command: ShellCommand,
    /// The end of what it printed so far, plain.
    pub tail: String,
    /// Bytes that it printed so far.
    pub printed: u64,
    /// The file with all of that.
    pub(super) saved: Saved,
    parts: Option<Parts>,
    group: Pid,
    number: u64,
    jobs: Arc<Jobs>,
}

impl Detached {
    /// Takes a command over between two reads of its output.
    pub(super) fn new(
        jobs: Arc<Jobs>,
        running: Running,
        command: ShellCommand,
        collected: Collected,
    ) -> Result<Self, ProcessError> {
        let (group, number) = (running.group(), running.number());
        let Collected { tail, saved, raw_bytes, .. } = collected;
        let tail = tail.into_text();
        match running.into_parts() {
            Ok(parts) => {
                let parts = Some(parts);
                Ok(Self { command, tail, printed: raw_bytes, saved, parts, group, number, jobs })
            }
            Err(error) => {
                jobs.tree(group, number).signal(Signal::KILL);
                jobs.with_guard(|guard| guard.update(|groups| groups.ended(group)));
                Err(ProcessError::Detach(error))
            }
        }
    }

    /// Time from its start.
    pub fn elapsed(&self) -> Duration {
        self.parts.as_ref().map(|parts| parts.started.elapsed()).unwrap_or_default()
    }

    /// Its group, whose leader is the shell.
    pub(super) const fn group(&self) -> Pid {
        self.group
    }

    /// Its number among the commands.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// The token of its mark, and the mark.
    pub(super) fn mark(&self) -> (String, OsString) {
        (self.jobs.mark.token().to_owned(), self.jobs.mark.value(self.number))
    }

    /// The reading end of its output, for who reads on.
    pub(super) fn take_pipe(&mut self) -> Option<std::os::fd::OwnedFd> {
        self.parts.as_mut()?.pipe.take()
    }

    /// Somebody else looks after it from now on; the shell is still our child, and has to be reaped.
    pub(super) fn handed_on(mut self) -> Option<Parts> {
        let parts = self.parts.take();
        let (group, number) = (self.group, self.number);
        self.jobs.with_guard(|guard| guard.update(|groups| groups.detached(group, number)));
        parts
    }

    fn marked(&self) -> Marked {
        self.jobs.mark.of(Commands::Only(self.number))
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        if self.parts.is_some() {
            Tree::new(vec![self.group], self.marked()).signal(Signal::KILL);
            let group = self.group;
            self.jobs.with_guard(|guard| guard.update(|groups| groups.ended(group)));
        }
    }
}
