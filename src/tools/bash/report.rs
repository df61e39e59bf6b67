//! What of a finished command a model and a front end get.

use crate::jobs::{End, Finished, Saved, signal_name};
use crate::proto::chain::CHAIN;
use crate::proto::tool::ToolOutput;
use crate::tools::truncate::{self, Limit, MAX_BYTES, Totals, Truncation, size};
use serde_json::{Map, Value, json};

/// The end of a command that asked on the terminal.
const WANTED_TERMINAL: &str = "Command stopped: it waited for input from a terminal, and commands have none. Use a form \
                               that asks nothing, such as `sudo -n` or `ssh -o BatchMode=yes`.";

/// What a model and a front end get of a finished command.
pub(super) fn result(finished: &Finished) -> ToolOutput {
    let total = Totals { lines: finished.lines, bytes: finished.bytes };
    let (shown, truncation) = truncate::tail(&finished.tail, total);
    let mut parts = vec![summarise_binary(shown)];
    if let Some(limit) = truncation.truncated_by {
        parts.push(format!("[{}]", notice(finished, &truncation, limit)));
    }
    let failure = failure(finished.end);
    parts.extend(failure.clone());
    let text = join(parts, finished);
    let output = if failure.is_some() { ToolOutput::error(text) } else { ToolOutput::text(text) };
    output.with_details(details(finished, &truncation))
}

/// What went wrong with a command, for the model.
pub(super) fn failure(end: End) -> Option<String> {
    match end {
        End::Exited(0) => None,
        End::Exited(code) => Some(format!("Command exited with code {code}")),
        End::Signalled(signal) => Some(format!("Command killed by signal {}", signal_name(signal))),
        End::TimedOut(limit) => Some(format!("Command timed out after {} seconds", limit.as_secs_f64())),
        End::WantedTerminal => Some(WANTED_TERMINAL.to_owned()),
        End::Cancelled => Some("Command aborted".to_owned()),
    }
}

/// Parts with a blank line between them; a single one stays as it is.
fn join(mut parts: Vec<String>, finished: &Finished) -> String {
    if let Some(first) = parts.first_mut().filter(|first| first.trim().is_empty()) {
        *first = match finished.not_text {
            0 => "(no output)".to_owned(),
            bytes => format!("(no readable output: {bytes} bytes of control characters or binary data)"),
        };
    }
    match parts.as_slice() {
        [only] => only.clone(),
        parts => parts.iter().map(|part| part.trim_end_matches('\n')).collect::<Vec<_>>().join("\n\n"),
    }
}

fn notice(finished: &Finished, truncation: &Truncation, limit: Limit) -> String {
    let total = truncation.total_lines;
    let shown = if truncation.last_line_partial {
        let (part, line) = (size(truncation.output_bytes), size(finished.last_line_bytes));
        format!("Showing last {part} of line {total} (line is {line}).")
    } else {
        let first = total.saturating_sub(truncation.output_lines) + 1;
        let limit = match limit {
            Limit::Lines => String::new(),
            Limit::Bytes => format!(" ({} limit)", size(MAX_BYTES as u64)),
        };
        format!("Showing lines {first}-{total} of {total}{limit}.")
    };
    format!("{shown} {}", saved(&finished.saved))
}

fn saved(saved: &Saved) -> String {
    match (&saved.path, &saved.problem) {
        (Some(path), None) => format!("Full output: {}", path.display()),
        (Some(path), Some(problem)) if saved.bytes == 0 => format!("Output: {} ({problem})", path.display()),
        (Some(path), Some(problem)) => {
            format!("First {} of the output: {} ({problem})", size(saved.bytes), path.display())
        }
        (None, Some(problem)) => format!("The full output was not saved: {problem}"),
        (None, None) => "The full output was not saved".to_owned(),
    }
}

/// Puts one line in the place of neighbouring lines that are mostly not text.
pub(super) fn summarise_binary(text: &str) -> String {
    let is_binary = |line: &str| {
        let bad = line.matches(char::REPLACEMENT_CHARACTER).count();
        bad >= 4 && bad * 10 >= line.chars().count()
    };
    if !text.lines().any(is_binary) {
        return text.to_owned();
    }
    let mut summary = String::new();
    let mut noise = 0;
    for line in text.split_inclusive('\n') {
        if is_binary(line) {
            noise += 1;
            continue;
        }
        flush_noise(&mut summary, &mut noise);
        summary.push_str(line);
    }
    flush_noise(&mut summary, &mut noise);
    summary
}

fn flush_noise(summary: &mut String, noise: &mut usize) {
    match std::mem::take(noise) {
        0 => {}
        1 => summary.push_str("[1 line of binary data]\n"),
        lines => summary.push_str(&format!("[{lines} lines of binary data]\n")),
    }
}

fn details(finished: &Finished, truncation: &Truncation) -> Value {
    let mut details = Map::new();
    match finished.end {
        End::Exited(code) => drop(details.insert("exitCode".to_owned(), json!(code))),
        End::Signalled(signal) => drop(details.insert("signal".to_owned(), json!(signal_name(signal)))),
        End::TimedOut(_) | End::WantedTerminal | End::Cancelled => {}
    }
    if let Some(chain) = &finished.chain {
        details.insert(CHAIN.to_owned(), json!(chain));
    }
    if truncation.truncated {
        details.insert("truncation".to_owned(), json!(truncation));
    }
    if let Some(path) = &finished.saved.path {
        details.insert("fullOutputPath".to_owned(), json!(path.to_string_lossy()));
    }
    details.insert(
        "durationMs".to_owned(),
        json!(u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX)),
    );
    Value::Object(details)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_lines_are_summed_up() {
        let noise = "\u{fffd}".repeat(9);
        assert_eq!(summarise_binary("plain \u{fffd}\n"), "plain \u{fffd}\n");
        assert_eq!(
            summarise_binary(&format!("a\n{noise}\nx{noise}\nb\n{noise}")),
            "a\n[2 lines of binary data]\nb\n[1 line of binary data]\n"
        );
    }
}
