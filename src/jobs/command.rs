//! A shell command: what is to run, and what became of it. Data only.

use super::detached::Detached;
use super::sleep::SleepPlan;
use super::spill::Saved;
use super::steps::Plan;
use crate::proto::chain::Chain;
use rustix::process::Signal;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// The command text.
    pub text: String,
    /// The shell; gets `-c` and the text.
    pub shell: PathBuf,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Time limit; `None` is no limit.
    pub timeout: Option<Duration>,
    /// Environment variables that it does not get.
    pub secret_env: Vec<String>,
    /// Environment variables that it gets besides.
    pub env: Vec<(String, OsString)>,
    /// Where the file with the whole output goes.
    pub output_dir: PathBuf,
    /// When that file is wanted.
    pub save: SaveAbove,
    /// Its steps are to be timed.
    pub steps: Option<Plan>,
    /// It sleeps, and what it waits for is to be told.
    pub sleeps: Option<SleepPlan>,
}

/// An output beyond one of these is saved whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaveAbove {
    /// Lines.
    pub lines: u64,
    /// Bytes of plain text, its last line end not counted.
    pub bytes: u64,
}

/// A command that has ended, or that is being ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How.
    pub end: End,
    /// Time from its start.
    pub duration: Duration,
    /// The end of what it printed as plain text, both outputs in order of arrival.
    pub tail: String,
    /// Lines of the whole plain text.
    pub lines: u64,
    /// Bytes of the whole plain text.
    pub bytes: u64,
    /// Bytes of its last line.
    pub last_line_bytes: u64,
    /// Bytes that it printed, escape sequences and all.
    pub raw_bytes: u64,
    /// How many of them were no text: replaced or left out.
    pub not_text: u64,
    /// The file with all of it.
    pub saved: Saved,
    /// Its steps, if they were timed.
    pub chain: Option<Chain>,
}

/// What became of a command.
#[derive(Debug)]
pub enum Outcome {
    /// It has ended, or is being ended.
    Finished(Finished),
    /// It goes on, and is the caller's to look after.
    Detached(Box<Detached>),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal, which did not come from us.
    Signalled(i32),
    /// At its time limit.
    TimedOut(Duration),
    /// When it wanted something of the terminal, which it does not have.
    WantedTerminal,
    /// Told to.
    Cancelled,
}

/// A command that gave no result.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The folder is gone.
    #[error("The working directory {0} does not exist. The command was not started.")]
    NoFolder(PathBuf),
    /// The shell did not start.
    #[error("The shell {shell} could not be started: {error}. The command was not run.")]
    Start {
        /// Its path.
        shell: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The system takes no such long arguments.
    #[error(
        "The command is too long for this system ({0} bytes). It was not run. Write the text to a file and run that."
    )]
    TooLong(usize),
    /// There was no pipe to be had.
    #[error("No pipe for the output could be made: {0}. The command was not started.")]
    Pipe(io::Error),
    /// Its end could not be observed.
    #[error("The end of the command could not be observed: {0}. It may still be running.")]
    Wait(io::Error),
    /// It could not be sent to the background.
    #[error("The command could not go on in the background: {0}. It was stopped.")]
    Detach(io::Error),
    /// The program is quitting.
    #[error("The program is quitting. The command was not started.")]
    Closing,
    /// The watching task was dropped with the runtime.
    #[error("The command was lost while the program quit.")]
    Lost,
}

/// A signal's name, such as `SIGSEGV`.
pub fn signal_name(signal: i32) -> String {
    const NAMES: &[(Signal, &str)] = &[
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    NAMES
        .iter()
        .find(|(known, _)| known.as_raw() == signal)
        .map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
