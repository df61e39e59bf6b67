//! `mynah -p`: runs prompts without a screen and leaves.
//!
//! Standard output holds the answer (or the JSON lines) and nothing else; everything a person should know goes to
//! standard error. The exit code tells how it went, see [`Exit`].

pub mod json;
pub mod text;

use super::signals::Signals;
use crate::agent::handle::{AgentHandle, Ticket};
use crate::agent::outbox::Listener;
use crate::agent::view::Durability;
use crate::cli::OutputMode;
use crate::proto::command::{CancelReason, Command, Placement, Prompt, TicketOutcome};
use crate::proto::event::AgentEvent;
use crate::store::error::reason;
use json::JsonLines;
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use text::{Streams, TextOutput};

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
    let mut signals = Signals::listen()?;
    let mut run = Run { handle, events, printer: Printer::new(mode, streams), failed: false };
    let worked = run.prompts(prompts, header, &mut signals).await;
    // However it went: what runs is stopped and the session is saved.
    let saved = tokio::select! {
        saved = handle.shutdown(SHUTDOWN_LIMIT) => saved,
        // Asked again while saving: the user does not want to wait.
        number = signals.next() => return Ok(Exit::Signal(number)),
    };
    let printed = worked.and_then(|exit| run.finish(exit).map(|()| exit));
    let mut exit = printed.unwrap_or_else(|error| {
        complain(&unprintable(&error, run.file().as_deref()));
        Exit::Failure
    });
    if let Err(error) = saved {
        complain(&error);
        if exit == Exit::Success {
            exit = Exit::Failure;
        }
    }
    Ok(exit)
}

/// What a person reads when standard output takes no more.
fn unprintable(error: &io::Error, file: Option<&Path>) -> String {
    let why = match error.kind() {
        io::ErrorKind::BrokenPipe => "nobody reads it any more".to_owned(),
        _ => reason(error),
    };
    let kept = file.map_or_else(
        || "This run keeps no session, so what was not printed is lost.".to_owned(),
        |file| format!("What was said is kept in {}.", file.display()),
    );
    format!("Standard output could not be written: {why}. {kept}")
}

/// A run in progress.
struct Run<'a> {
    handle: &'a AgentHandle,
    events: Listener,
    printer: Printer,
    failed: bool,
}

impl Run<'_> {
    /// Runs the prompts until one does not succeed. The error is one of standard output.
    async fn prompts(
        &mut self,
        prompts: Vec<Prompt>,
        header: &Value,
        signals: &mut Signals,
    ) -> io::Result<Exit> {
        self.printer.begin(header)?;
        for prompt in prompts {
            let ticket = self.handle.submit(prompt, Placement::Back);
            if let Some(number) = self.follow(ticket, signals).await? {
                return Ok(Exit::Signal(number));
            }
            if self.failed {
                return Ok(Exit::Failure);
            }
        }
        Ok(Exit::Success)
    }

    /// Prints what is left when the session has ended.
    fn finish(&mut self, exit: Exit) -> io::Result<()> {
        self.drain()?;
        if exit == Exit::Success {
            self.printer.answer()?;
        }
        Ok(())
    }

    /// The session's file, if there is one and it is whole.
    fn file(&self) -> Option<PathBuf> {
        let view = self.handle.view();
        match view.durability {
            Durability::Failed(_) | Durability::InMemory => None,
            Durability::Pending | Durability::Saved => view.file.clone(),
        }
    }

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
                    Some(event) => {
                        self.printer.event(&event.event)?;
                        self.drain()?;
                    }
                    None => break (&mut outcome).await,
                },
                outcome = &mut outcome => break outcome,
            }
        };
        self.drain()?;
        if let Some(problem) = problem(&outcome, self.file().is_some()) {
            complain(&problem);
            self.failed = true;
        }
        Ok(stopped_by)
    }

    /// Prints what has happened already, in one write: a model can be faster than whoever reads us.
    fn drain(&mut self) -> io::Result<()> {
        while let Some(event) = self.events.try_next() {
            self.printer.event(&event.event)?;
        }
        self.printer.flush()
    }
}

/// Writes to the two streams.
enum Printer {
    Text(TextOutput),
    Json {
        lines: JsonLines,
        /// Whole lines that are not written yet.
        pending: Vec<u8>,
    },
}

/// This much is written without waiting for more.
const WRITE_AT_BYTES: usize = 64 * 1024;

impl Printer {
    fn new(mode: OutputMode, streams: Streams) -> Self {
        match mode {
            OutputMode::Text => Self::Text(TextOutput::new(streams)),
            OutputMode::Json => Self::Json { lines: JsonLines::default(), pending: Vec::new() },
        }
    }

    /// Takes an event in. A line of JSON may be printed with the next [`Self::flush`] only.
    fn event(&mut self, event: &AgentEvent) -> io::Result<()> {
        match self {
            Self::Text(output) => {
                if let Some(line) = output.tell(event) {
                    tell(&line);
                }
                Ok(())
            }
            Self::Json { lines, pending } => {
                if let Some(line) = lines.line(event) {
                    push_line(pending, &line)?;
                }
                if pending.len() >= WRITE_AT_BYTES { self.flush() } else { Ok(()) }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Json { pending, .. } if !pending.is_empty() => {
                let written = print(pending);
                pending.clear();
                written
            }
            Self::Json { .. } | Self::Text(_) => Ok(()),
        }
    }

    fn begin(&mut self, header: &Value) -> io::Result<()> {
        match self {
            Self::Text(_) => Ok(()),
            Self::Json { pending, .. } => {
                push_line(pending, header)?;
                self.flush()
            }
        }
    }

    fn answer(&mut self) -> io::Result<()> {
        match self {
            Self::Text(output) => print(output.answer().as_bytes()),
            Self::Json { .. } => Ok(()),
        }
    }
}

/// How a prompt ended, for people; `None` when it went well. `kept`: the session has a file that can be gone on with.
fn problem(outcome: &TicketOutcome, kept: bool) -> Option<String> {
    let go_on = if kept { " Go on with `mynah -p -c \"…\"`." } else { "" };
    Some(match outcome {
        TicketOutcome::Completed | TicketOutcome::Delivered => return None,
        TicketOutcome::Cancelled if kept => "Stopped. The session keeps what was done so far.".to_owned(),
        TicketOutcome::Cancelled => "Stopped.".to_owned(),
        TicketOutcome::MaxRounds { limit } => {
            format!("Stopped after {limit} rounds, the limit set by agent.max_rounds.{go_on}")
        }
        TicketOutcome::Refused { reason } => format!("The model declined to answer: {reason}"),
        TicketOutcome::Failed { error } if kept => {
            format!("{error} The session keeps your prompt and what was done.{go_on}")
        }
        TicketOutcome::Failed { error } => error.clone(),
        TicketOutcome::Removed => "The prompt was taken from the queue.".to_owned(),
    })
}

fn complain(problem: &str) {
    tell(&format!("mynah: {}", crate::text::clean::for_terminal(problem)));
}

fn tell(line: &str) {
    // Nobody may read standard error (`2>&-`), or its disk may be full: the run goes on.
    let _unread = writeln!(io::stderr().lock(), "{line}");
}

fn push_line(lines: &mut Vec<u8>, line: &Value) -> io::Result<()> {
    serde_json::to_writer(&mut *lines, line)?;
    lines.push(b'\n');
    Ok(())
}

fn print(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_kept_is_promised() {
        let failed = TicketOutcome::Failed { error: "It broke.".to_owned() };
        for (outcome, kept, expected) in [
            (TicketOutcome::Completed, true, None),
            (failed.clone(), false, Some("It broke.")),
            (
                failed,
                true,
                Some(
                    "It broke. The session keeps your prompt and what was done. Go on with `mynah -p -c \"…\"`.",
                ),
            ),
            (TicketOutcome::Cancelled, false, Some("Stopped.")),
            (TicketOutcome::Cancelled, true, Some("Stopped. The session keeps what was done so far.")),
        ] {
            assert_eq!(problem(&outcome, kept).as_deref(), expected, "{outcome:?}");
        }
    }

    #[test]
    fn an_output_that_takes_no_more_is_told_with_what_remains() {
        let closed = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(
            unprintable(&closed, Some(Path::new("/s.jsonl"))),
            "Standard output could not be written: nobody reads it any more. What was said is kept in /s.jsonl."
        );
        assert!(unprintable(&closed, None).ends_with("what was not printed is lost."));
    }
}
