//! One shell command from start to end.
//!
//! Responsibilities: starts the shell in a group of its own, with one pipe for both of its outputs; follows it until it
//! has exited and its pipe is closed; ends the whole tree at the time limit or when told. Invariants: the shell is
//! always reaped; a daemon that keeps the pipe open delays the result by [`DRAIN`] at most; after a stop the result is
//! sent before the reaping.

use super::collect::{Collected, Collector};
use super::command::{End, Finished, Outcome, ProcessError, ShellCommand};
use super::detached::Detached;
use super::live::LiveNews;
use super::mark;
use super::sleep::Watch;
use super::sleep::processes::sleeping;
use super::steps::clock::{Answer, Ended, Mark, StepClock};
use super::steps::launch::read_now;
use super::terminal::TerminalWatch;
use super::timing::{Timing, next_mark};
use super::tree::Tree;
use super::{GRACE, Jobs};
use crate::proto::chain::Chain;
use rustix::process::{Pid, Signal};
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// How long output is still taken after the shell's exit, when something else holds the pipe open.
pub const DRAIN: Duration = Duration::from_millis(200);

/// How long a result waits for the disk: normally, and after a stop.
const DISK_PATIENCE: Duration = Duration::from_secs(10);
const DISK_PATIENCE_STOPPED: Duration = Duration::from_millis(20);

/// Bytes that a pipe holds at most, and that are read at once.
const CHUNK: usize = 64 * 1024;

/// Pieces of [`CHUNK`] that are read before a mark is answered.
const MOST_BEFORE_MARK: usize = 64;

/// A shell that runs.
#[derive(Debug)]
pub struct Running {
    child: Child,
    pipe: Receiver,
    pipe_open: bool,
    group: Pid,
    number: u64,
    terminal: TerminalWatch,
    started: Instant,
    exit: Option<Exit>,
    timing: Option<Timing>,
    sleeps: Option<Watch>,
}

/// A shell that runs and that nobody follows.
#[derive(Debug)]
pub struct Parts {
    /// To be reaped.
    pub child: Child,
    /// What it prints from now on; `None` when it has closed its outputs.
    pub pipe: Option<OwnedFd>,
    /// Its group, whose leader it is.
    pub group: Pid,
    /// Tells when it waits for the terminal.
    pub terminal: TerminalWatch,
    /// When it started.
    pub started: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Exit {
    status: ExitStatus,
    at: Instant,
}

/// Why following a command ended.
enum Followed {
    Exited(ExitStatus),
    DeadlinePassed,
    WantedTerminal,
    Stopped,
    Detached,
}

/// What may happen to a command from outside.
#[derive(Clone, Debug)]
pub struct Requests {
    /// It is to end.
    pub stop: CancellationToken,
    /// It is to go on without us.
    pub detach: CancellationToken,
}

/// Starts the shell of the command of this number, with its mark. Blocks for the time of a spawn, under a millisecond as
/// a rule.
pub fn start(command: &ShellCommand, number: u64, mark: &OsStr) -> Result<Running, ProcessError> {
    let (reader, writer) = io::pipe().map_err(ProcessError::Pipe)?;
    // All that can fail comes before the spawn: nothing may be left running without an owner.
    let pipe = Receiver::from_owned_fd(OwnedFd::from(reader)).map_err(ProcessError::Pipe)?;
    let stdout = writer.try_clone().map_err(ProcessError::Pipe)?;
    let terminal = TerminalWatch::new();
    let mut shell = Command::new(&command.shell);
    shell.arg("-c").arg(&command.text).current_dir(&command.cwd).process_group(0);
    shell.stdin(Stdio::null()).stdout(stdout).stderr(writer);
    for name in &command.secret_env {
        shell.env_remove(name);
    }
    shell.envs(command.env.iter().map(|(name, value)| (name, value)));
    shell.env(mark::VARIABLE, mark);
    let timing = Timing::of(command);
    if let Some(timing) = &timing {
        let (name, value) = timing.launch.variable();
        shell.env(name, value);
    }
    let sleeps = command.sleeps.clone().map(Watch::new);
    let started = Instant::now();
    let child = shell.spawn().map_err(|error| {
        if error.kind() == io::ErrorKind::ArgumentListTooLong {
            ProcessError::TooLong(command.text.len())
        } else if command.cwd.is_dir() {
            ProcessError::Start { shell: command.shell.clone(), error }
        } else {
            ProcessError::NoFolder(command.cwd.clone())
        }
    })?;
    let id = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let Some(group) = id else { return Err(ProcessError::Lost) };
    Ok(Running { child, pipe, pipe_open: true, group, number, terminal, started, exit: None, timing, sleeps })
}

impl Running {
    /// The process group, whose leader is the shell.
    pub const fn group(&self) -> Pid {
        self.group
    }

    /// Its number among the commands.
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Follows the shell until it has exited and its pipe is closed (or [`DRAIN`] has passed), or until `deadline`, a
    /// wait for the terminal, or a stop while it still runs.
    async fn follow(
        &mut self,
        collector: &mut Collector,
        deadline: Option<Instant>,
        stop: impl Future<Output = ()>,
        detach: &CancellationToken,
        live: &impl Fn(LiveNews),
    ) -> io::Result<Followed> {
        let mut buffer = vec![0; CHUNK];
        tokio::pin!(stop);
        loop {
            if let Some(exit) = self.exit
                && (!self.pipe_open || Instant::now() >= exit.at + DRAIN)
            {
                return Ok(Followed::Exited(exit.status));
            }
            let drained = self.exit.map(|exit| exit.at + DRAIN);
            tokio::select! {
                biased;
                () = &mut stop => {
                    return Ok(self.exit.map_or(Followed::Stopped, |exit| Followed::Exited(exit.status)));
                }
                // Between two reads: what was read is the collector's, all else is still in the pipe.
                () = detach.cancelled(), if self.exit.is_none() => return Ok(Followed::Detached),
                () = at(deadline), if self.exit.is_none() => return Ok(Followed::DeadlinePassed),
                () = at(drained) => {}
                () = at(self.next_look()), if self.exit.is_none() => self.look_for_sleeps(live),
                () = at(collector.live_due()) => live(LiveNews::Output(collector.take_live())),
                mark = next_mark(&mut self.timing), if self.exit.is_none() => {
                    self.take_before_mark(collector).await?;
                    self.mark(&mark, collector, live);
                }
                () = self.terminal.wanted_by(self.group), if self.exit.is_none() => {
                    return Ok(Followed::WantedTerminal);
                }
                status = self.child.wait(), if self.exit.is_none() => {
                    self.exit = Some(Exit { status: status?, at: Instant::now() });
                }
                length = read(&self.pipe, collector, &mut buffer), if self.pipe_open => {
                    self.take(length, collector, &buffer)?;
                }
            }
        }
    }

    /// When to look what it sleeps for.
    fn next_look(&self) -> Option<Instant> {
        let next = self.sleeps.as_ref().and_then(Watch::next_ms)?;
        self.started.checked_add(Duration::from_millis(next))
    }

    fn look_for_sleeps(&mut self, live: &impl Fn(LiveNews)) {
        let now_ms = millis(self.started);
        let Some(watch) = &mut self.sleeps else { return };
        if let Some(wait) = watch.look(&sleeping(self.group.as_raw_pid()), now_ms) {
            live(LiveNews::Wait(wait));
        }
    }

    /// Its parts, for who looks after it from now on.
    pub fn into_parts(self) -> io::Result<Parts> {
        let pipe = if self.pipe_open { Some(self.pipe.into_nonblocking_fd()?) } else { None };
        let Self { child, group, terminal, started, timing, .. } = self;
        if let Some(Timing { mut launch, .. }) = timing {
            // Its steps are not timed any more: one that waits goes on, and the next finds no pipes.
            launch.answer(Answer::NoMore);
        }
        Ok(Parts { child, pipe, group, terminal, started })
    }

    /// Takes all that was printed before a mark: what prints it waits for our answer. A daemon of an earlier step may go
    /// on printing, so there is an end to it.
    async fn take_before_mark(&mut self, collector: &mut Collector) -> io::Result<()> {
        let mut buffer = vec![0; CHUNK];
        for _ in 0..MOST_BEFORE_MARK {
            collector.ready().await;
            match read_now(&self.pipe, &mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                length => self.take(length, collector, &buffer)?,
            }
            if !self.pipe_open {
                break;
            }
        }
        Ok(())
    }

    fn mark(&mut self, mark: &Mark, collector: &mut Collector, live: &impl Fn(LiveNews)) {
        let now_ms = millis(self.started);
        let Some(Timing { launch, clock }) = &mut self.timing else { return };
        let turn = clock.mark(mark, now_ms);
        if turn.is_new {
            // What was printed is told before the step that did not print it.
            let text = collector.take_live();
            if !text.is_empty() {
                live(LiveNews::Output(text));
            }
            live(LiveNews::Steps(Arc::new(clock.chain().unwrap_or_default())));
        }
        launch.answer(turn.answer);
    }

    /// The steps at the end of the command.
    fn end_steps(&mut self, how: Ended) -> Option<Chain> {
        let now_ms = millis(self.started);
        let Timing { launch, mut clock } = self.timing.take()?;
        if !launch.is_intact() {
            clock.lose();
        }
        clock.end(how, now_ms);
        clock.saved()
    }

    /// Takes what is in the pipe without waiting, so much at most as a pipe holds by default.
    fn take_rest(&mut self, collector: &mut Collector) {
        let mut buffer = vec![0; CHUNK];
        if self.pipe_open
            && let Ok(length) = self.pipe.try_read(&mut buffer)
        {
            collector.push(buffer.get(..length).unwrap_or_default(), self.clock());
        }
    }

    fn clock(&mut self) -> Option<&mut StepClock> {
        self.timing.as_mut().map(|timing| &mut timing.clock)
    }

    fn take(
        &mut self,
        length: io::Result<usize>,
        collector: &mut Collector,
        buffer: &[u8],
    ) -> io::Result<()> {
        match length? {
            0 => self.pipe_open = false,
            length => collector.push(buffer.get(..length).unwrap_or_default(), self.clock()),
        }
        Ok(())
    }

    /// After TERM: reaps the shell, and ends what is left at `kill_at`. Closing the pipe ends writers early.
    async fn reap(mut self, mut tree: Tree, kill_at: Instant) -> io::Result<()> {
        drop(self.pipe);
        let shell = async {
            match self.exit {
                Some(_) => Ok(()),
                None => self.child.wait().await.map(drop),
            }
        };
        tokio::join!(shell, tree.end(kill_at)).0
    }

    /// What else writes into the pipe must not die of it: it is emptied until it closes, or we do.
    fn keep_draining(self, closing: CancellationToken) {
        if !self.pipe_open {
            return;
        }
        tokio::spawn(async move {
            let mut buffer = vec![0; CHUNK];
            let drained = async {
                while self.pipe.readable().await.is_ok() {
                    match self.pipe.try_read(&mut buffer) {
                        Ok(0) => break,
                        Err(error) if error.kind() != io::ErrorKind::WouldBlock => break,
                        Ok(_) | Err(_) => {}
                    }
                }
            };
            tokio::select! {
                () = closing.cancelled() => {}
                () = drained => {}
            }
        });
    }
}

/// Follows a command to its end, sends the result, and ends what has to be ended.
pub async fn supervise(
    jobs: Arc<Jobs>,
    mut running: Running,
    command: ShellCommand,
    requests: Requests,
    result: oneshot::Sender<Result<Outcome, ProcessError>>,
    live: impl Fn(LiveNews),
) {
    let (group, started) = (running.group, running.started);
    let mut tree = jobs.tree(group, running.number);
    let mut collector = Collector::new(command.output_dir.clone());
    let Requests { stop, detach } = requests;
    let stopped = async {
        tokio::select! {
            () = stop.cancelled() => {}
            () = jobs.closing.cancelled() => {}
        }
    };
    if let Some(chain) = running.timing.as_ref().and_then(|timing| timing.clock.chain()) {
        live(LiveNews::Steps(Arc::new(chain)));
    }
    let deadline = command.timeout.and_then(|timeout| started.checked_add(timeout));
    let followed = running.follow(&mut collector, deadline, stopped, &detach, &live).await;
    // A caller that no longer waits has dropped its end: then nobody wants the result. What is detached ends with it.
    let send = |result: oneshot::Sender<_>, outcome| drop(result.send(outcome));
    let finish = |end, collected, chain| Ok(Outcome::Finished(finished(end, started, collected, chain)));
    let reaped = match followed {
        Err(error) => {
            tree.signal(Signal::TERM);
            send(result, Err(ProcessError::Wait(error)));
            running.reap(tree, Instant::now() + GRACE).await
        }
        Ok(Followed::Exited(status)) => {
            let end = end_of(status);
            let chain = running.end_steps(how_ended(end));
            let collected = collector.finish(command.save, DISK_PATIENCE).await;
            jobs.with_guard(|guard| guard.update(|groups| groups.ended(group)));
            send(result, finish(end, collected, chain));
            running.keep_draining(jobs.closing.clone());
            return;
        }
        Ok(Followed::Detached) => {
            // Its output is wanted whole: it becomes the beginning of a log.
            let collected = collector.finish_whole(DISK_PATIENCE).await;
            let detached = Detached::new(Arc::clone(&jobs), running, command, collected);
            send(result, detached.map(Box::new).map(Outcome::Detached));
            return;
        }
        Ok(Followed::Stopped) => {
            running.take_rest(&mut collector);
            let chain = running.end_steps(Ended::Aborted);
            let collected = collector.finish(command.save, DISK_PATIENCE_STOPPED).await;
            send(result, finish(End::Cancelled, collected, chain));
            // The search for the tree takes milliseconds, and whoever waits for the result shares this thread perhaps.
            tokio::task::yield_now().await;
            tree.signal(Signal::TERM);
            running.reap(tree, Instant::now() + GRACE).await
        }
        Ok(why @ (Followed::DeadlinePassed | Followed::WantedTerminal)) => {
            tree.signal(Signal::TERM);
            let kill_at = Instant::now() + GRACE;
            let followed = end_gently(&mut running, &mut tree, &mut collector, kill_at, &stop, &live).await;
            let end = match why {
                Followed::WantedTerminal => End::WantedTerminal,
                Followed::DeadlinePassed | Followed::Exited(_) | Followed::Stopped | Followed::Detached => {
                    End::TimedOut(command.timeout.unwrap_or_default())
                }
            };
            let chain = running.end_steps(how_ended(end));
            let collected = collector.finish(command.save, DISK_PATIENCE).await;
            send(result, finish(end, collected, chain));
            match followed {
                Ok(()) => running.reap(tree, kill_at).await,
                Err(error) => Err(error),
            }
        }
    };
    if let Err(error) = reaped {
        tracing::warn!(%error, "a stopped command could not be reaped");
    }
    jobs.with_guard(|guard| guard.update(|groups| groups.ended(group)));
}

/// After TERM: takes what the command still prints until it has ended; KILL at `kill_at`.
async fn end_gently(
    running: &mut Running,
    tree: &mut Tree,
    collector: &mut Collector,
    kill_at: Instant,
    stop: &CancellationToken,
    live: &impl Fn(LiveNews),
) -> io::Result<()> {
    // What is being ended is not sent to the background.
    let never = CancellationToken::new();
    match running.follow(collector, Some(kill_at), stop.cancelled(), &never, live).await? {
        Followed::Exited(_) | Followed::Stopped | Followed::Detached => {}
        // Also one that asks the terminal a second time, while it ends.
        Followed::DeadlinePassed | Followed::WantedTerminal => {
            tree.signal(Signal::KILL);
            running.follow(collector, Some(Instant::now() + DRAIN), stop.cancelled(), &never, live).await?;
        }
    }
    Ok(())
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signalled(signal.unwrap_or_default()),
    }
}

/// The same for the step that ran then.
const fn how_ended(end: End) -> Ended {
    match end {
        End::Exited(code) => Ended::Status(code),
        End::Signalled(signal) => Ended::Status(128 + signal),
        End::TimedOut(_) => Ended::TimedOut,
        End::WantedTerminal | End::Cancelled => Ended::Aborted,
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn finished(end: End, started: Instant, collected: Collected, chain: Option<Chain>) -> Finished {
    let Collected { tail, saved, raw_bytes, not_text } = collected;
    Finished {
        end,
        duration: started.elapsed(),
        lines: tail.lines(),
        bytes: tail.bytes(),
        last_line_bytes: tail.last_line_bytes(),
        tail: tail.into_text(),
        raw_bytes,
        not_text,
        saved,
        chain,
    }
}

/// Waits for room on the disk's side first, so that a fast command waits for it and not our memory.
async fn read(pipe: &Receiver, collector: &Collector, buffer: &mut [u8]) -> io::Result<usize> {
    collector.ready().await;
    loop {
        pipe.readable().await?;
        match pipe.try_read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            length => return length,
        }
    }
}

/// Resolves at that time, or never.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
