//! `mynah -p`: runs prompts without a screen and leaves.
//!
//! Standard output holds the answer (or the JSON lines) and nothing else; everything a person should know goes to
//! standard error. The exit code tells how it went, see [`Exit`].

pub mod json;
pub mod text;

use crate::agent::handle::{AgentHandle, Ticket};
use crate::agent::outbox::Listener;
use crate::cli::OutputMode;
use crate::proto::command::{CancelReason, Command, Placement, Prompt, TicketOutcome};
use crate::proto::event::AgentEvent;
use json::JsonLines;
use serde_json::Value;
use std::io::{self, Write};
use std::time::Duration;
use text::{Streams, TextOutput};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The session gets this long to stop its processes and save.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(5);

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All prompts were answered.
    Success,
    /// A prompt failed, or something could not be saved.
    Failure,
    /// A signal stopped it.
    Signal(i32),
}

impl Exit {
    /// The process's exit code: 0, 1, or 128 and the signal's number.
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Signal(number) => u8::try_from(128 + number).unwrap_or(1),
        }
    }
}

/// Runs the prompts in order and ends the session. `header` is the first line of JSON mode.
pub async fn run(
    handle: &AgentHandle,
    events: Listener,
    prompts: Vec<Prompt>,
    mode: OutputMode,
    header: &Value,
    streams: Streams,
) -> io::Result<Exit> {
    let printer = Printer::new(mode, streams);
    if mode == OutputMode::Json {
        printer.json_line(header)?;
    }
    let mut signals = Signals::listen()?;
    let mut run = Run { handle, events, printer, failed: false };
    let mut exit = Exit::Success;
    for prompt in prompts {
        let ticket = handle.submit(prompt, Placement::Back);
        if let Some(number) = run.follow(ticket, &mut signals).await? {
            exit = Exit::Signal(number);
            break;
        }
        if run.failed {
            exit = Exit::Failure;
            break;
        }
    }
    let saved = tokio::select! {
        saved = handle.shutdown(SHUTDOWN_LIMIT) => saved,
        // Asked again while saving: the user does not want to wait.
        number = signals.next() => return Ok(Exit::Signal(number)),
    };
    run.drain()?;
    if let Err(error) = saved {
        run.printer.complain(&error)?;
        if exit == Exit::Success {
            exit = Exit::Failure;
        }
    }
    if exit == Exit::Success {
        run.printer.answer()?;
    }
    Ok(exit)
}

/// A run in progress.
struct Run<'a> {
    handle: &'a AgentHandle,
    events: Listener,
    printer: Printer,
    failed: bool,
}

impl Run<'_> {
    /// Prints what happens until the prompt has ended. Returns the signal that stopped it, if one did.
    async fn follow(&mut self, ticket: Ticket, signals: &mut Signals) -> io::Result<Option<i32>> {
        let outcome = ticket.outcome();
        tokio::pin!(outcome);
        let mut stopped_by = None;
        let outcome = loop {
            tokio::select! {
                biased;
                number = signals.next() => {
                    if stopped_by.is_some() {
                        return Ok(stopped_by);
                    }
                    stopped_by = Some(number);
                    self.handle.send(Command::Cancel { reason: CancelReason::Stop });
                }
                event = self.events.next() => match event {
                    Some(event) => self.printer.event(&event.event)?,
                    None => break (&mut outcome).await,
                },
                outcome = &mut outcome => break outcome,
            }
        };
        self.drain()?;
        self.failed = self.printer.end(&outcome)?;
        Ok(stopped_by)
    }

    fn drain(&mut self) -> io::Result<()> {
        while let Some(event) = self.events.try_next() {
            self.printer.event(&event.event)?;
        }
        Ok(())
    }
}

/// Writes to the two streams.
enum Printer {
    Text(TextOutput),
    Json(JsonLines),
}

impl Printer {
    fn new(mode: OutputMode, streams: Streams) -> Self {
        match mode {
            OutputMode::Text => Self::Text(TextOutput::new(streams)),
            OutputMode::Json => Self::Json(JsonLines::default()),
        }
    }

    fn event(&mut self, event: &AgentEvent) -> io::Result<()> {
        match self {
            Self::Text(output) => output.tell(event).map_or(Ok(()), |line| tell(&line)),
            Self::Json(lines) => lines.line(event).map_or(Ok(()), |line| print_json(&line)),
        }
    }

    fn json_line(&self, line: &Value) -> io::Result<()> {
        print_json(line)
    }

    /// Says how a prompt ended, if not well. Returns whether it failed.
    fn end(&self, outcome: &TicketOutcome) -> io::Result<bool> {
        let problem = match outcome {
            TicketOutcome::Completed | TicketOutcome::Delivered => return Ok(false),
            TicketOutcome::Cancelled => "Stopped. The session keeps what was done so far.".to_owned(),
            TicketOutcome::MaxRounds { limit } => {
                format!(
                    "Stopped after {limit} rounds, the limit set by agent.max_rounds. Go on with `mynah -p -c`."
                )
            }
            TicketOutcome::Refused { reason } => format!("The model declined to answer: {reason}"),
            TicketOutcome::Failed { error } => error.clone(),
            TicketOutcome::Removed => "The prompt was taken from the queue.".to_owned(),
        };
        self.complain(&problem)?;
        Ok(true)
    }

    fn complain(&self, problem: &str) -> io::Result<()> {
        tell(&format!("mynah: {}", crate::text::clean::for_terminal(problem)))
    }

    fn answer(&mut self) -> io::Result<()> {
        match self {
            Self::Text(output) => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(output.answer().as_bytes())?;
                stdout.flush()
            }
            Self::Json(_) => Ok(()),
        }
    }
}

fn tell(line: &str) -> io::Result<()> {
    // Nobody may read standard error (`2>&-`): the run goes on.
    match writeln!(io::stderr().lock(), "{line}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn print_json(line: &Value) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&bytes)?;
    stdout.flush()
}

/// The signals that end a run.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The number of the next one.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            _ = self.hangup.recv() => SignalKind::hangup().as_raw_value(),
        }
    }
}
