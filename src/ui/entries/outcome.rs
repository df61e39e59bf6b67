//! What a result says about how its call ended.
//!
//! Tools and the agent tell it to the model in fixed sentences and to front ends in `details`; sessions of other
//! programs hold the same sentences. What the rail says is taken from the text that is shown below.

use super::seg::Seg;
use super::state::State;
use crate::proto::message::{Block, ToolResultMessage, text_of};
use crate::theme::role::Role;
use serde_json::Value;
use std::borrow::Cow;
use std::time::Duration;

/// The beginnings of what a shell command's result ends with when it did not end well.
const SHELL_ENDS: [&str; 5] = [
    "Command exited with code ",
    "Command killed by signal ",
    "Command timed out after ",
    "Command aborted",
    WANTED_TERMINAL,
];

const WANTED_TERMINAL: &str = "Command stopped: it waited for input";

/// How a call ended.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// In a word.
    pub state: State,
    /// The word of the rail.
    pub word: Option<Seg>,
    /// How long it ran.
    pub took: Option<Duration>,
    /// What is said about the end beyond the rail, and how bad that is.
    pub says: Option<(Role, String)>,
    /// Facts of the tool.
    pub details: Option<&'a Value>,
    text: Cow<'a, str>,
    /// Where what was printed ends.
    body: usize,
}

impl<'a> Outcome<'a> {
    /// Reads a result. `is_shell`: it is the output of a command, not a sentence of ours.
    pub fn of(result: &'a ToolResultMessage, is_shell: bool) -> Self {
        let text = text(&result.content);
        let details = result.details.as_ref();
        let number = |key: &str| details.and_then(|details| details.get(key));
        let millis = result.duration_ms.or_else(|| number("durationMs").and_then(Value::as_u64));
        let mut outcome = Self {
            state: State::Ok,
            word: None,
            took: millis.map(Duration::from_millis),
            says: None,
            details,
            body: text.len(),
            text,
        };
        if result.is_error {
            outcome.failed(is_shell);
        }
        if is_shell {
            outcome.body = shell_body(&outcome.text, outcome.body).len();
        }
        outcome
    }

    /// What was printed or found, without what the rail says.
    pub fn body(&self) -> &str {
        self.text.get(..self.body).unwrap_or_default()
    }

    /// A number among the facts.
    pub fn number(&self, path: &[&str]) -> Option<u64> {
        let mut value = self.details?;
        for key in path {
            value = value.get(key)?;
        }
        value.as_u64()
    }

    /// A fact is there.
    pub fn has(&self, key: &str) -> bool {
        self.details.and_then(|details| details.get(key)).is_some()
    }

    /// A text among the facts.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.details?.get(key)?.as_str()
    }

    /// The call ran to its end and did what it should.
    pub fn is_ok(&self) -> bool {
        self.state == State::Ok
    }

    fn end(&mut self, state: State, role: Role, word: impl Into<String>) {
        self.state = state;
        self.word = Some(Seg::new(role, word));
    }

    fn failed(&mut self, is_shell: bool) {
        let text = self.text.as_ref().trim_end();
        let (state, role, word) = match text {
            _ if starts(text, "The user refused this call") => {
                let said = text.split_once(" and says: ").map(|(_, said)| said.to_owned());
                self.says = said.map(|said| (Role::Muted, said));
                (State::Denied, Role::Error, "not allowed")
            }
            _ if is_refusal(text) => {
                self.says = refusal_reason(text).map(|reason| (Role::Muted, reason));
                (State::Denied, Role::Error, "not allowed")
            }
            _ if starts(text, "Not run: the user refused") => (State::Stopped, Role::Muted, "not run"),
            _ if starts(text, "The call was interrupted") => (State::Stopped, Role::Muted, "interrupted"),
            "Stopped by the user before it was done." | "Operation aborted" => {
                (State::Stopped, Role::Muted, "stopped")
            }
            _ if is_shell => return self.shell_failed(),
            _ => {
                self.says = Some((Role::Error, text.to_owned()));
                (State::Failed, Role::Error, "failed")
            }
        };
        self.body = 0;
        if state == State::Denied || word == "not run" {
            // Nothing ran: a time would be that of the question.
            self.took = None;
        }
        self.end(state, role, word);
    }

    /// A shell command that did not end well keeps what it printed; the sentence behind it is in the rail.
    fn shell_failed(&mut self) {
        let text = self.text.as_ref().trim_end();
        let (before, last) = last_paragraph(text);
        if !SHELL_ENDS.iter().any(|start| starts(last, start)) {
            // It never ran: the text says why.
            self.says = Some((Role::Error, text.to_owned()));
            self.body = 0;
            return self.end(State::Failed, Role::Error, "failed");
        }
        self.body = before.len();
        let last = last.to_owned();
        if let Some(code) = last.strip_prefix("Command exited with code ") {
            self.end(State::Failed, Role::Error, format!("exit {}", super::seg::line(code)));
        } else if let Some(signal) = last.strip_prefix("Command killed by signal ") {
            self.end(State::Failed, Role::Error, format!("killed by {}", super::seg::line(signal)));
        } else if starts(&last, "Command timed out") {
            self.end(State::TimedOut, Role::Warning, "timed out");
        } else if starts(&last, WANTED_TERMINAL) {
            self.says = Some((Role::Error, last));
            self.end(State::Failed, Role::Error, "failed");
        } else {
            self.end(State::Stopped, Role::Muted, "stopped");
        }
    }
}

fn starts(text: &str, start: &str) -> bool {
    text.starts_with(start)
}

/// `This bash call was refused and did not run: …`, then why, and advice for the model.
fn is_refusal(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    starts(first, "This ") && first.contains(" call was refused and did not run: ")
}

fn refusal_reason(text: &str) -> Option<String> {
    let (_, reason) = text.split_once('\n')?;
    let advice = [" Do not try to get the same effect", " Nobody can be asked in this run."];
    let end = advice.iter().filter_map(|advice| reason.find(advice)).min().unwrap_or(reason.len());
    Some(reason.get(..end)?.trim().to_owned()).filter(|reason| !reason.is_empty())
}

fn last_paragraph(text: &str) -> (&str, &str) {
    text.rsplit_once("\n\n").unwrap_or(("", text))
}

/// The output before the notice that not all of it is shown; nothing where there was none.
fn shell_body(text: &str, end: usize) -> &str {
    let mut body = text.get(..end).unwrap_or_default();
    let (before, last) = last_paragraph(body.trim_end());
    if starts(last, "[Showing ") && last.ends_with(']') {
        body = before;
    }
    if body.trim_end() == "(no output)" { "" } else { body }
}

/// The text of a result; only copied when it stands in several blocks.
pub fn text(content: &[Block]) -> Cow<'_, str> {
    let mut texts = content.iter().filter_map(|block| match block {
        Block::Text { text, .. } => Some(text),
        _ => None,
    });
    match (texts.next(), texts.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(only), None) => Cow::Borrowed(only),
        (Some(_), Some(_)) => Cow::Owned(text_of(content)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::ids::CallId;
    use crate::proto::tool;
    use serde_json::json;

    fn result(text: &str, is_error: bool) -> ToolResultMessage {
        ToolResultMessage {
            tool_call_id: CallId::new("c"),
            tool_name: "bash".to_owned(),
            content: vec![Block::text(text)],
            details: Some(json!({ "durationMs": 1200 })),
            usage: None,
            is_error,
            duration_ms: None,
            timestamp: 0,
        }
    }

    #[test]
    fn shell_results_are_told_by_their_last_sentence() {
        let wanted = format!("x\n\n{WANTED_TERMINAL} from a terminal.");
        let table: [(&str, bool, State, Option<&str>, &str); 11] = [
            ("hi\n", false, State::Ok, None, "hi\n"),
            ("(no output)", false, State::Ok, None, ""),
            ("Command aborted", false, State::Ok, None, "Command aborted"),
            ("a\n\n[Showing lines 2-3 of 3. Full output: /x]", false, State::Ok, None, "a"),
            ("x\n\nCommand exited with code 101", true, State::Failed, Some("exit 101"), "x"),
            ("(no output)\n\nCommand exited with code 1", true, State::Failed, Some("exit 1"), ""),
            (
                "a\n\n[Showing lines 2-3 of 3. Full output: /x]\n\nCommand killed by signal SIGSEGV",
                true,
                State::Failed,
                Some("killed by SIGSEGV"),
                "a",
            ),
            ("a\n\nCommand timed out after 1 seconds", true, State::TimedOut, Some("timed out"), "a"),
            ("a\n\nCommand aborted", true, State::Stopped, Some("stopped"), "a"),
            (&wanted, true, State::Failed, Some("failed"), "x"),
            ("/gone does not exist.", true, State::Failed, Some("failed"), ""),
        ];
        for (text, is_error, state, word, body) in table {
            let result = result(text, is_error);
            let outcome = Outcome::of(&result, true);
            assert_eq!(outcome.state, state, "{text}");
            assert_eq!(outcome.word.as_ref().map(|word| word.text.as_str()), word, "{text}");
            assert_eq!(outcome.body(), body, "{text}");
            assert_eq!(outcome.took, Some(Duration::from_millis(1200)));
        }
    }

    #[test]
    fn sentences_of_the_agent_are_known() {
        let denied = "This bash call was refused and did not run: rm -rf /\nThe rule bash(rm:*) denies it. Do not try \
                      to get the same effect in another way.";
        let table = [
            (tool::STOPPED, State::Stopped, "stopped", None),
            (tool::NOT_RUN, State::Stopped, "not run", None),
            (tool::REFUSED, State::Denied, "not allowed", None),
            (tool::INTERRUPTED, State::Stopped, "interrupted", None),
            ("Operation aborted", State::Stopped, "stopped", None),
            ("The user refused this call and says: use rg", State::Denied, "not allowed", Some("use rg")),
            (denied, State::Denied, "not allowed", Some("The rule bash(rm:*) denies it.")),
        ];
        for (text, state, word, says) in table {
            for is_shell in [true, false] {
                let result = result(text, true);
                let outcome = Outcome::of(&result, is_shell);
                assert_eq!(outcome.state, state, "{text}");
                assert_eq!(outcome.word.map(|word| word.text).as_deref(), Some(word), "{text}");
                assert_eq!(outcome.says.map(|(_, says)| says).as_deref(), says, "{text}");
            }
        }
    }

    #[test]
    fn other_failures_are_shown_whole() {
        let result = result("a.rs does not exist.", true);
        let outcome = Outcome::of(&result, false);
        assert_eq!(outcome.says, Some((Role::Error, "a.rs does not exist.".to_owned())));
        assert_eq!((outcome.state, outcome.body()), (State::Failed, ""));
    }
}
