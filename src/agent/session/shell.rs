//! The user's shell commands: they run beside the turn, and join the conversation between two turns.

use super::record::now_millis;
use super::{Note, Session};
use crate::agent::view::ShellView;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::message::{BashExecutionMessage, Message};
use crate::tools::{Progress, ProgressNews, UserCommand, run_for_user};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// A command that runs. Dropping it stops the command.
pub(super) struct Shell {
    view: ShellView,
    cancel: CancellationToken,
}

impl Shell {
    /// What front ends see of it.
    pub(super) fn view(&self) -> ShellView {
        self.view.clone()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl Session {
    pub(super) fn run_shell(&mut self, command: &str, shown_only: bool) {
        if command.trim().is_empty() {
            return;
        }
        if let Some(shell) = &self.shell {
            let first = shell.view.command.lines().next().unwrap_or_default();
            let text = format!("Not run: `{first}` still runs. Wait for its end or stop it first.");
            self.notice(NoticeLevel::Warning, text);
            return;
        }
        let view = ShellView { command: command.into(), shown_only, since: Instant::now() };
        let cancel = CancellationToken::new();
        self.outbox.publish(AgentEvent::ShellStarted { command: command.to_owned(), shown_only });
        let outbox = self.outbox.clone();
        let progress = Progress::new(move |news| {
            // The user's command is shown as one step.
            if let ProgressNews::Output(delta) = news {
                outbox.publish(AgentEvent::ShellProgress { delta });
            }
        });
        let workshop = &self.parts.workshop;
        let run = UserCommand {
            command: command.to_owned(),
            shown_only,
            cwd: workshop.cwd.clone(),
            jobs: workshop.jobs.clone(),
            output_dir: workshop.output_dir.clone(),
            limits: workshop.limits.clone(),
        };
        let notes = self.notes.clone();
        let running = tokio::spawn(run_for_user(run, cancel.clone(), progress, now_millis));
        let command = command.to_owned();
        tokio::spawn(async move {
            // A bug there must not leave a command that runs for ever.
            let message = running.await.unwrap_or_else(|error| {
                tracing::error!(%error, "a command of the user was lost");
                lost(command, shown_only)
            });
            let _ended = notes.send(Note::ShellEnded(message));
        });
        self.shell = Some(Shell { view, cancel });
    }

    pub(super) fn stop_shell(&self) {
        if let Some(shell) = &self.shell {
            shell.cancel.cancel();
        }
    }

    pub(super) fn shell_ended(&mut self, message: BashExecutionMessage) {
        self.shell = None;
        let message = Arc::new(Message::BashExecution(message));
        self.outbox.publish(AgentEvent::ShellFinished { message: message.clone() });
        self.shells.push(message);
        // Between a call and its result a provider takes nothing else.
        if self.running.is_none() {
            self.record_shells();
            self.save(None);
        }
    }

    /// Takes the commands that ended into the conversation.
    pub(super) fn record_shells(&mut self) {
        for message in std::mem::take(&mut self.shells) {
            let id = self.parts.log.fresh_id();
            self.record(id, message);
        }
    }
}

/// What is told of a command whose outcome is not known.
fn lost(command: String, shown_only: bool) -> BashExecutionMessage {
    BashExecutionMessage {
        command,
        output: "The outcome is not known because of a bug in Mynah. The command may have had effects."
            .to_owned(),
        exit_code: None,
        cancelled: false,
        truncated: false,
        full_output_path: None,
        exclude_from_context: shown_only.then_some(true),
        timestamp: now_millis(),
    }
}
