//! The final text on standard output, and what a person should know on standard error.

use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::proto::ids::CallId;
use crate::proto::message::AssistantMessage;
use crate::text::clean;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Where the two streams go.
#[derive(Debug, Clone, Copy)]
pub struct Streams {
    /// Standard output is a terminal: it gets no control characters.
    pub out_is_terminal: bool,
    /// Standard error is a terminal: a person watches, so calls are told as they run.
    pub err_is_terminal: bool,
}

/// Collects what is printed at the end and says what is printed now.
#[derive(Debug)]
pub struct TextOutput {
    streams: Streams,
    last: Option<Arc<AssistantMessage>>,
    /// Calls that run.
    started: HashSet<CallId>,
}

impl TextOutput {
    /// Nothing printed yet.
    pub fn new(streams: Streams) -> Self {
        Self { streams, last: None, started: HashSet::new() }
    }

    /// The line for standard error that an event calls for, without its newline.
    pub fn tell(&mut self, event: &AgentEvent) -> Option<String> {
        match event {
            AgentEvent::RoundFinished { message, .. } => {
                self.last = Some(message.clone());
                None
            }
            AgentEvent::Notice { level, text } => {
                let text = clean::for_terminal(text);
                Some(match level {
                    NoticeLevel::Info => format!("mynah: {text}"),
                    NoticeLevel::Warning => format!("mynah: warning: {text}"),
                    NoticeLevel::Error => format!("mynah: error: {text}"),
                })
            }
            AgentEvent::RetryScheduled { attempt, max_attempts, delay_ms, error } => Some(format!(
                "mynah: {} Trying again in {} (attempt {attempt} of {max_attempts}).",
                clean::for_line(error),
                seconds(*delay_ms),
            )),
            AgentEvent::ToolStarted { call, tool, arguments, .. } if self.streams.err_is_terminal => {
                self.started.insert(call.clone());
                Some(format!("· {tool} {}", subject(arguments)))
            }
            AgentEvent::ToolFinished { call, tool, output, .. } if self.streams.err_is_terminal => {
                let ran = self.started.remove(call);
                output.is_error.then(|| format!("· {tool} {}", if ran { "failed" } else { "did not run" }))
            }
            AgentEvent::TurnStarted { .. }
            | AgentEvent::RoundStarted { .. }
            | AgentEvent::Entry { .. }
            | AgentEvent::ToolStarted { .. }
            | AgentEvent::ToolProgress { .. }
            | AgentEvent::ToolFinished { .. }
            | AgentEvent::RetryFinished { .. }
            | AgentEvent::ToolSteps { .. }
            | AgentEvent::ToolWait { .. }
            | AgentEvent::CompactionStarted { .. }
            | AgentEvent::CompactionProgress { .. }
            | AgentEvent::CompactionFinished { .. }
            | AgentEvent::ShellStarted { .. }
            | AgentEvent::ShellProgress { .. }
            | AgentEvent::ShellFinished { .. }
            | AgentEvent::PermissionAsked(_)
            | AgentEvent::PermissionResolved { .. }
            | AgentEvent::TurnFinished { .. }
            | AgentEvent::Settled { .. }
            | AgentEvent::QueueChanged { .. }
            | AgentEvent::ModelChanged(_)
            | AgentEvent::ThinkingChanged(_)
            | AgentEvent::ModeChanged(_)
            | AgentEvent::Renamed(_) => None,
        }
    }

    /// The text of the last answer, with a newline at its end; nothing if there was none.
    pub fn answer(&mut self) -> String {
        let Some(message) = self.last.take() else { return String::new() };
        let text = message.text();
        if text.trim().is_empty() {
            return String::new();
        }
        let text = if self.streams.out_is_terminal { clean::for_terminal(&text).into_owned() } else { text };
        format!("{}\n", text.trim_end_matches('\n'))
    }
}

/// What a call is about, in a few words: its path, command or pattern.
fn subject(arguments: &Map<String, Value>) -> String {
    const WIDTH: usize = 100;
    let named = ["path", "command", "pattern"].iter().find_map(|key| arguments.get(*key)?.as_str());
    let line = clean::for_line(named.unwrap_or_default());
    if line.chars().count() <= WIDTH {
        return line;
    }
    line.chars().take(WIDTH - 1).chain(['…']).collect()
}

fn seconds(millis: u64) -> String {
    format!("{:.1} s", Duration::from_millis(millis).as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::tool::ToolOutput;
    use serde_json::json;

    #[test]
    fn a_watcher_sees_what_runs_what_fails_and_what_never_ran() {
        let mut output = TextOutput::new(Streams { out_is_terminal: true, err_is_terminal: true });
        let started = |id: &str| AgentEvent::ToolStarted {
            call: CallId::new(id),
            tool: "bash".to_owned(),
            arguments: json!({"command": "make\ntest"}).as_object().cloned().unwrap_or_default(),
            limit_ms: None,
        };
        let finished = |id: &str, result: ToolOutput| AgentEvent::ToolFinished {
            call: CallId::new(id),
            tool: "bash".to_owned(),
            output: Arc::new(result),
            duration_ms: None,
        };
        assert_eq!(output.tell(&started("1")).as_deref(), Some("· bash make test"));
        assert_eq!(output.tell(&finished("1", ToolOutput::text("fine"))), None);
        output.tell(&started("2"));
        let failed = output.tell(&finished("2", ToolOutput::error("no")));
        assert_eq!(failed.as_deref(), Some("· bash failed"));
        let refused = output.tell(&finished("3", ToolOutput::error("no")));
        assert_eq!(refused.as_deref(), Some("· bash did not run"));
        let mut unwatched = TextOutput::new(Streams { out_is_terminal: true, err_is_terminal: false });
        assert_eq!(unwatched.tell(&started("1")), None);
    }
}
