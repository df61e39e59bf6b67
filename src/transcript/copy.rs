//! Items as text: what a copy of one is, whatever it looks like on screen.

use super::item::{Body, Call, CallPhase, Item, Shell, Thinking};
use crate::proto::message::text_of;
use crate::text::markdown::{self, Card};

/// The text of an item; empty where there is nothing to copy.
pub fn text(item: &Item) -> String {
    match &item.body {
        Body::User(user) => user.text.clone(),
        Body::Reply(prose) => prose.text().to_owned(),
        Body::Thinking(thinking) => thinking.text.text().to_owned(),
        Body::Call(call) => call_text(call),
        Body::Shell(shell) => shell_text(shell),
        Body::Compaction(compaction) => compaction.summary.clone(),
        Body::Custom { text, .. } | Body::Notice { text, .. } => text.clone(),
        Body::Jobs(jobs) => jobs.text.clone(),
        Body::TurnEnd(_) => String::new(),
    }
}

/// The blocks of an item that can be copied as a whole; nothing of an item that is no Markdown.
pub fn cards(item: &Item) -> Option<Vec<Card>> {
    let source = match &item.body {
        Body::Reply(prose) | Body::Thinking(Thinking { text: prose, .. }) => prose.text(),
        Body::Custom { text, .. } => text,
        Body::Compaction(compaction) => &compaction.summary,
        Body::User(_)
        | Body::Call(_)
        | Body::Shell(_)
        | Body::Jobs(_)
        | Body::TurnEnd(_)
        | Body::Notice { .. } => return None,
    };
    Some(markdown::cards(source))
}

/// The command of a shell call and what it printed; of others what they gave, or, before that, what they ask for.
fn call_text(call: &Call) -> String {
    let gave = match &call.phase {
        CallPhase::Done { result, .. } => text_of(&result.content),
        CallPhase::Running { .. } => call.output.clone(),
        CallPhase::Writing { .. } | CallPhase::Queued | CallPhase::Asking | CallPhase::Dropped => {
            String::new()
        }
    };
    if let Some(command) = call.arguments.get("command").and_then(serde_json::Value::as_str) {
        return command_and_output(command, &gave);
    }
    if !gave.is_empty() {
        return gave;
    }
    match call.arguments.is_empty() {
        true => call.draft.clone(),
        false => serde_json::to_string_pretty(&*call.arguments).unwrap_or_default(),
    }
}

fn shell_text(shell: &Shell) -> String {
    match (shell, shell.done()) {
        (_, Some(done)) => command_and_output(&done.command, &done.output),
        (Shell::Running { command, output, .. }, None) => command_and_output(command, output),
        (Shell::Done(_), None) => String::new(),
    }
}

fn command_and_output(command: &str, output: &str) -> String {
    let output = output.trim_end();
    if output.is_empty() { format!("$ {command}") } else { format!("$ {command}\n{output}") }
}
