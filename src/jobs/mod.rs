//! Shell processes: started in a process group of their own, read to a bounded memory, and never left behind.
//!
//! Responsibilities: [`Jobs`] runs commands, counts what still runs, and ends all of it. Invariants: a command whose
//! caller goes away is stopped; what is stopped is also reaped. What a finished command leaves behind (a server that the
//! model tests against) may go on while this program runs, and ends with it: all that carries our mark or stands in one
//! of our groups is ended at [`Jobs::shutdown`], or by the guard when nothing of ours can run any more.

mod collect;
mod command;
mod detached;
mod groups;
mod guard;
mod identity;
pub mod keeper;
mod live;
pub mod log;
mod mark;
pub mod meter;
mod plain_text;
mod process;
#[cfg(target_os = "linux")]
mod processes;
pub mod progress;
mod readiness;
pub mod segments;
pub mod sleep;
mod spill;
pub mod steps;
pub mod table;
mod tail;
mod terminal;
mod timing;
mod tree;

pub use command::{End, Finished, Outcome, ProcessError, SaveAbove, ShellCommand, signal_name};
pub use detached::Detached;
pub use live::LiveNews;
pub use spill::Saved;

use guard::Guard;
use mark::{Commands, Mark};
use process::Requests;
use rustix::process::{Pid, Signal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tree::Tree;

/// How long a stopped process has between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);

/// All shell processes of this program.
#[derive(Debug)]
pub struct Jobs {
    supervisors: TaskTracker,
    closing: CancellationToken,
    mark: Mark,
    commands: AtomicU64,
    guard: Mutex<Guard>,
}

impl Jobs {
    /// None yet. Nothing is started before the first command.
    pub fn new() -> Arc<Self> {
        let mark = Mark::new(mark::inherited());
        Arc::new(Self {
            supervisors: TaskTracker::new(),
            closing: CancellationToken::new(),
            guard: Mutex::new(Guard::new(mark.prefix())),
            mark,
            commands: AtomicU64::new(0),
        })
    }

    /// Runs a command to its end. `output` gets new text at most 30 times a second while it runs, more often at the begin
    /// of a step, and the steps whenever another one begins. When `cancel` fires, or the future is dropped, the whole tree
    /// is ended; the result comes at once and the rest happens behind it.
    pub async fn run(
        self: &Arc<Self>,
        command: ShellCommand,
        cancel: &CancellationToken,
        output: impl Fn(LiveNews) + Send + Sync + 'static,
    ) -> Result<Finished, ProcessError> {
        match self.run_detachable(command, cancel, &CancellationToken::new(), output).await? {
            Outcome::Finished(finished) => Ok(finished),
            // Nobody asks for it.
            Outcome::Detached(_) => Err(ProcessError::Lost),
        }
    }

    /// The same of a command that goes on in the background when `detach` fires: then it is the caller's, who gives it to
    /// [`table::JobTable::adopt`]. It no longer has a time limit, and `cancel` does not end it any more.
    pub async fn run_detachable(
        self: &Arc<Self>,
        command: ShellCommand,
        cancel: &CancellationToken,
        detach: &CancellationToken,
        output: impl Fn(LiveNews) + Send + Sync + 'static,
    ) -> Result<Outcome, ProcessError> {
        // From here on a shutdown waits for us, so what it does not see it finds.
        let held = self.supervisors.token();
        if self.closing.is_cancelled() {
            return Err(ProcessError::Closing);
        }
        let number = self.commands.fetch_add(1, Ordering::Relaxed) + 1;
        // The guard first: there is no moment at which a command runs and nobody would end it.
        self.with_guard(Guard::start);
        let running = process::start(&command, number, &self.mark.value(number))?;
        self.with_guard(|guard| guard.update(|groups| groups.started(running.group(), number)));
        let requests = Requests { stop: cancel.child_token(), detach: detach.clone() };
        let _stop_when_dropped = requests.stop.clone().drop_guard();
        let (sender, receiver) = oneshot::channel();
        self.supervisors.spawn(process::supervise(
            Arc::clone(self),
            running,
            command,
            requests,
            sender,
            output,
        ));
        drop(held);
        receiver.await.unwrap_or(Err(ProcessError::Lost))
    }

    /// How many commands run, those included that are being ended.
    pub fn count(&self) -> usize {
        self.supervisors.len()
    }

    /// Ends everything that runs, and what finished commands have left behind, and waits for it, a little over two
    /// seconds at most. No command starts afterwards.
    pub async fn shutdown(&self) {
        self.closing.cancel();
        self.supervisors.close();
        if self.commands.load(Ordering::Relaxed) == 0 {
            return;
        }
        let some_run = self.count() > 0;
        let stopped = tokio::time::timeout(GRACE + Duration::from_secs(1), self.supervisors.wait());
        let (stopped, ()) = tokio::join!(stopped, self.end_what_is_left());
        if some_run {
            // Those that ended by themselves meanwhile may have left something too.
            self.end_what_is_left().await;
        }
        if stopped.is_err() {
            // The guard stays: it goes on when we are gone.
            tracing::warn!(left = self.count(), "processes did not end when told to");
        } else {
            self.with_guard(Guard::end);
        }
    }

    /// Ends what belongs to commands that no longer run.
    async fn end_what_is_left(&self) {
        let (left, running) =
            self.with_guard(|guard| guard.update(|groups| (groups.left(), groups.spared())));
        let mut tree = Tree::new(left, self.mark.of(Commands::AllBut(running)));
        if tree.is_alive() {
            tree.signal(Signal::TERM);
            tree.end(Instant::now() + GRACE).await;
        }
    }

    /// The processes of one command.
    fn tree(&self, group: Pid, number: u64) -> Tree {
        Tree::new(vec![group], self.mark.of(Commands::Only(number)))
    }

    fn with_guard<T>(&self, act: impl FnOnce(&mut Guard) -> T) -> T {
        act(&mut self.guard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests;
