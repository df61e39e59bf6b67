//! A shell command that the user typed at the prompt. It runs as the model's commands do, but without a time limit, and
//! its outcome is a message of the conversation.

use super::report;
use super::shell_command;
use crate::jobs::{End, Finished, Jobs, ProcessError};
use crate::proto::message::{BashExecutionMessage, Millis};
use crate::tools::truncate::{self, Totals};
use crate::tools::{Progress, ToolLimits};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A command of the user and where it runs.
#[derive(Clone)]
pub struct UserCommand {
    /// The command as it was typed.
    pub command: String,
    /// It is not for the model.
    pub shown_only: bool,
    /// Working directory of the session.
    pub cwd: PathBuf,
    /// Shell processes.
    pub jobs: Arc<Jobs>,
    /// Where the whole output goes when the message holds only a part.
    pub output_dir: PathBuf,
    /// What the settings say.
    pub limits: ToolLimits,
}

/// Runs the command to its end, or until `cancel` fires. `now` tells the time at the end.
pub async fn run_for_user(
    command: UserCommand,
    cancel: CancellationToken,
    progress: Progress,
    now: fn() -> Millis,
) -> BashExecutionMessage {
    let UserCommand { command: text, shown_only, cwd, jobs, output_dir, limits } = command;
    let shell = shell_command(&text, &cwd, &output_dir, &limits, None);
    let outcome = jobs.run(shell, &cancel, move |news| progress.tell(super::of_live(news))).await;
    message(text, shown_only, outcome, now())
}

fn message(
    command: String,
    shown_only: bool,
    outcome: Result<Finished, ProcessError>,
    timestamp: Millis,
) -> BashExecutionMessage {
    let empty = BashExecutionMessage {
        command,
        output: String::new(),
        exit_code: None,
        cancelled: false,
        truncated: false,
        full_output_path: None,
        exclude_from_context: shown_only.then_some(true),
        timestamp,
    };
    let finished = match outcome {
        Ok(finished) => finished,
        Err(error) => return BashExecutionMessage { output: error.to_string(), ..empty },
    };
    let total = Totals { lines: finished.lines, bytes: finished.bytes };
    let (shown, truncation) = truncate::tail(&finished.tail, total);
    let mut output = report::summarise_binary(shown);
    // The message has fields for an exit code and a stop only.
    if matches!(finished.end, End::Signalled(_) | End::TimedOut(_) | End::WantedTerminal)
        && let Some(failure) = report::failure(finished.end)
    {
        if !output.is_empty() {
            output.truncate(output.trim_end_matches('\n').len());
            output.push_str("\n\n");
        }
        output.push_str(&failure);
    }
    BashExecutionMessage {
        output,
        exit_code: match finished.end {
            End::Exited(code) => Some(code.into()),
            // As shells tell it.
            End::Signalled(signal) => Some((128 + signal).into()),
            End::TimedOut(_) | End::WantedTerminal | End::Cancelled => None,
        },
        cancelled: finished.end == End::Cancelled,
        truncated: truncation.truncated,
        full_output_path: finished.saved.path.as_ref().map(|path| path.to_string_lossy().into_owned()),
        ..empty
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::context;
    use std::path::Path;

    async fn run(command: &str, cwd: &Path) -> BashExecutionMessage {
        let cx = context(cwd);
        let command = UserCommand {
            command: command.to_owned(),
            shown_only: false,
            cwd: cx.cwd,
            jobs: cx.jobs,
            output_dir: cx.output_dir,
            limits: ToolLimits { bash_timeout: Some(std::time::Duration::ZERO), ..cx.limits },
        };
        run_for_user(command, cx.cancel, Progress::none(), || 7).await
    }

    #[tokio::test]
    async fn the_message_says_how_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        for (command, output, exit_code) in [
            ("echo hi; sleep 0.01; pwd | wc -l", "hi\n1\n", Some(0)),
            ("echo no >&2; exit 3", "no\n", Some(3)),
            ("echo x; kill -SEGV $$", "x\n\nCommand killed by signal SIGSEGV", Some(139)),
            ("kill -SEGV $$", "Command killed by signal SIGSEGV", Some(139)),
        ] {
            let message = run(command, folder.path()).await;
            assert_eq!((message.output.as_str(), message.exit_code), (output, exit_code), "{command}");
            assert_eq!((message.command.as_str(), message.timestamp), (command, 7));
            assert!(!message.cancelled && !message.truncated && message.exclude_from_context.is_none());
        }
    }

    #[tokio::test]
    async fn a_long_output_is_cut_and_saved_whole() {
        let folder = tempfile::tempdir().unwrap();
        let message = run("seq 2001", folder.path()).await;
        assert!(message.truncated && message.output.starts_with("2\n3\n"));
        let whole = std::fs::read_to_string(message.full_output_path.unwrap()).unwrap();
        assert_eq!(whole.lines().count(), 2001);
    }

    #[tokio::test]
    async fn what_can_not_start_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let message = run("true", &folder.path().join("gone")).await;
        assert!(message.output.contains("does not exist"), "{}", message.output);
        assert_eq!((message.exit_code, message.cancelled), (None, false));
    }
}
