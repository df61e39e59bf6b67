//! What times the steps of a command that runs: the files by which its shell tells of them, and the clock.

use super::command::ShellCommand;
use super::steps::clock::{Mark, StepClock};
use super::steps::launch::{Launch, can_time};
use std::ffi::OsString;

/// The timing of its steps.
#[derive(Debug)]
pub struct Timing {
    /// Where the shell tells of its steps.
    pub launch: Launch,
    /// Which step runs.
    pub clock: StepClock,
}

impl Timing {
    /// What times the steps of a command; nothing where that can't be had: then it runs untimed.
    pub fn of(command: &ShellCommand) -> Option<Self> {
        let plan = command.steps.as_ref()?;
        let is_kept =
            |name: &OsString| !command.secret_env.iter().any(|secret| name.as_os_str() == secret.as_str());
        let inherited = std::env::vars_os().map(|(name, _)| name).filter(is_kept);
        let added = command.env.iter().map(|(name, _)| OsString::from(name));
        if !can_time(&command.shell, inherited.chain(added)) {
            return None;
        }
        match Launch::prepare(&command.output_dir) {
            Ok(launch) => Some(Self { launch, clock: StepClock::new(plan.clone()) }),
            Err(error) => {
                tracing::warn!(%error, "the steps of a command can't be timed");
                None
            }
        }
    }
}

/// The next mark; never one of a command that is not timed.
pub async fn next_mark(timing: &mut Option<Timing>) -> Mark {
    match timing {
        Some(timing) => timing.launch.mark().await,
        None => std::future::pending().await,
    }
}
