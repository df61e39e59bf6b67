//! Heights before anything is laid out, from lengths alone.

use super::outcome::Outcome;
use crate::proto::chain::Chain;
use crate::proto::job::JobReport;
use crate::transcript::item::{Body, Call, CallPhase, CompactionPhase, Fold, Item, Shell};
use serde_json::Value;

/// Bytes in which line breaks are counted; what is beyond is taken to be like them.
const SAMPLE: usize = 16 * 1024;

/// The gap above.
const GAP: u32 = 1;

/// Rows that an item will take, before it is laid out. Cheap, and right to a factor of two.
pub fn estimate(item: &Item, width: u16) -> u32 {
    let columns = usize::from(width.saturating_sub(2).max(1));
    let is_open = item.fold == Fold::Open;
    match &item.body {
        Body::User(user) => {
            let rows = text(&user.text, columns);
            let rows = if is_open { rows } else { rows.min(21) };
            GAP + rows + u32::from(user.pictures > 0)
        }
        Body::Reply(prose) => GAP + text(prose.text(), columns),
        Body::Thinking(thinking) if is_open => GAP + 1 + text(thinking.text.text(), columns),
        Body::Thinking(thinking) if thinking.since.is_some() => {
            GAP + text(thinking.text.text(), columns).min(3)
        }
        Body::Thinking(_) => GAP + 1,
        Body::Call(called) => 1 + call(called, columns, is_open),
        Body::Shell(shell) => GAP + 1 + output(printed(shell), columns, is_open),
        Body::Compaction(compaction) => {
            let rows = text(&compaction.summary, columns);
            GAP + 1
                + match compaction.phase {
                    CompactionPhase::Running { .. } => rows.min(2),
                    CompactionPhase::Done { .. } if is_open => rows,
                    CompactionPhase::Done { .. } => rows.min(4),
                    CompactionPhase::Cancelled { .. } | CompactionPhase::Failed | CompactionPhase::Gone => 0,
                }
        }
        Body::Custom { text: said, .. } => {
            let rows = text(said, columns);
            GAP + 1 + if is_open { rows } else { rows.min(9) }
        }
        Body::Jobs(jobs) => {
            let rows = |report: &JobReport| {
                let lines = report.last_lines.lines().count() as u32;
                1 + if is_open { lines } else { lines.min(4) }
            };
            GAP + jobs.reports.iter().map(rows).sum::<u32>()
        }
        Body::Notice { text: said, .. } => GAP + text(said, columns),
        Body::TurnEnd(_) => GAP + 1,
    }
}

/// Rows under the band of a call.
fn call(call: &Call, columns: usize, is_open: bool) -> u32 {
    let argument = |key: &str| call.arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    if let Some(chain) = &call.chain
        && chain.steps.len() > 1
    {
        return steps(call, chain, columns, is_open);
    }
    let CallPhase::Done { result, .. } = &call.phase else {
        return match call.tool.as_str() {
            // The draft has its line breaks escaped; most files have more lines than are shown.
            "write" if call.arguments.is_empty() && !call.draft.is_empty() => 4,
            "write" => lines(argument("content")).min(4),
            _ => output(&call.output, columns, is_open),
        };
    };
    // Reads only the ends of the text.
    let outcome = Outcome::of(result, call.tool == "bash");
    let given = outcome.body();
    if let Some((_, says)) = &outcome.says {
        let rows = text(says, columns);
        return output(given, columns, is_open) + if is_open { rows } else { rows.min(7) };
    }
    match call.tool.as_str() {
        "edit" => {
            let patch = result.details.as_ref().and_then(|details| details.get("patch")?.as_str());
            let rows = patch.map_or(0, |patch| lines(patch).saturating_sub(3));
            if is_open { rows } else { rows.min(21) }
        }
        "write" if is_open => text(argument("content"), columns),
        "write" => lines(argument("content")).min(4),
        "read" | "grep" | "find" | "ls" if !is_open => 0,
        "read" | "grep" | "find" | "ls" => text(given, columns),
        _ => output(given, columns, is_open),
    }
}

/// A row for each step, and what the one printed that tells most.
fn steps(call: &Call, chain: &Chain, columns: usize, is_open: bool) -> u32 {
    let printed = |step: usize| call.step_output(step).0;
    let lines_of = u32::try_from(chain.steps.len()).unwrap_or(u32::MAX);
    lines_of
        + match is_open {
            true => (0..chain.steps.len()).map(|step| output(printed(step), columns, true)).sum(),
            false => chain.focus().map_or(0, |step| lines(printed(step)).min(4)),
        }
}

fn printed(shell: &Shell) -> &str {
    match shell {
        Shell::Running { output, .. } => output,
        Shell::Done(_) => shell.done().map(|done| done.output.as_str()).unwrap_or_default(),
    }
}

fn output(printed: &str, columns: usize, is_open: bool) -> u32 {
    if is_open { text(printed, columns) } else { lines(printed).min(5) }
}

/// Lines of a text.
fn lines(text: &str) -> u32 {
    if text.is_empty() { 0 } else { breaks(text) + 1 }
}

/// Rows of a wrapped text.
fn text(text: &str, columns: usize) -> u32 {
    let rows = u32::try_from(text.len() / columns).unwrap_or(u32::MAX);
    // A line takes a row at least, and leaves half a row unused where it is wrapped.
    rows.saturating_add(breaks(text)).saturating_add(1)
}

/// Line breaks, counted in the beginning.
fn breaks(text: &str) -> u32 {
    let text = text.trim_end().as_bytes();
    let sample = text.get(..SAMPLE.min(text.len())).unwrap_or_default();
    let found = sample.iter().filter(|byte| **byte == b'\n').count();
    let all = if sample.is_empty() { 0 } else { found.saturating_mul(text.len()) / sample.len() };
    u32::try_from(all).unwrap_or(u32::MAX)
}
