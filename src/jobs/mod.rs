//! Shell processes: started in a process group of their own, read to a bounded memory, and never left behind.
//!
//! Responsibilities: [`Jobs`] runs commands, counts what still runs, and ends all of it. Invariants: a command whose
//! caller goes away is stopped; what is stopped is also reaped; a running group is known to the guard, so that it dies
//! with this program even when nothing of ours can run any more.

mod collect;
mod guard;
mod live;
mod plain_text;
mod process;
pub mod segments;
mod spill;
mod tail;
mod tree;

pub use process::{End, Finished, ProcessError, SaveAbove, ShellCommand, signal_name};
pub use spill::Saved;

use guard::Guard;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long a stopped process has between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);
/// All shell processes of this program.
#[derive(Debug, Default)]
pub struct Jobs {
    supervisors: TaskTracker,
    closing: CancellationToken,
    guard: Mutex<Guard>,
}

impl Jobs {
    /// None yet. Nothing is started before the first command.
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// Runs a command to its end. `output` gets new text at most 30 times a second while it runs; a carriage return
    /// in it means that the current line begins anew. When `cancel` fires, or the future is dropped, the whole group
    /// is ended; the result comes at once and the rest happens behind it.
    pub async fn run(
        self: &Arc<Self>,
        command: ShellCommand,
        cancel: &CancellationToken,
        output: impl Fn(String) + Send + Sync + 'static,
    ) -> Result<Finished, ProcessError> {
        if self.closing.is_cancelled() {
            return Err(ProcessError::Closing);
        }
        let running = process::start(&command)?;
        self.with_guard(|guard| guard.watch(running.group()));
        let stop = cancel.child_token();
        let _stop_when_dropped = stop.clone().drop_guard();
        let (sender, receiver) = oneshot::channel();
        self.supervisors.spawn(process::supervise(Arc::clone(self), running, command, stop, sender, output));
        receiver.await.unwrap_or(Err(ProcessError::Lost))
    }

    /// How many commands run, those included that are being ended.
    pub fn count(&self) -> usize {
        self.supervisors.len()
    }

    /// Ends everything that runs and waits for it, a little over two seconds at most. No command starts afterwards.
    pub async fn shutdown(&self) {
        self.closing.cancel();
        self.supervisors.close();
        if tokio::time::timeout(GRACE + Duration::from_secs(1), self.supervisors.wait()).await.is_err() {
            tracing::warn!(left = self.count(), "processes did not end when told to");
        }
    }

    fn with_guard(&self, act: impl FnOnce(&mut Guard)) {
        act(&mut self.guard.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests;
