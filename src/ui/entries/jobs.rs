//! Background jobs in the transcript: the call that started one, and the message that tells of ends.

use super::body::Panel;
use super::{EntryCx, Layout};
use crate::proto::job::{JobReport, STARTS_JOBS};
use crate::text::row::Row;
use crate::text::{clean, width};
use crate::theme::role::Role;
use crate::transcript::item::{Call, CallPhase, Jobs};
use crate::ui::band::seg::{self, Seg};
use crate::ui::band::state::State;
use crate::ui::jobs::band;
use crate::ui::jobs::line::JobLine;
use crate::ui::paint;
use ratatui::text::Span;

/// The tool that starts jobs.
pub const START: &str = "shell_job_start";
/// The tool whose calls can go on as jobs.
pub const BASH: &str = "bash";

/// Lines of output that are shown of a closed one.
const SHOWN: usize = 3;

/// The row of a call that has started a job, or that was sent to the background. Nothing for any other, or one that
/// failed: those look as all calls do.
pub fn started(call: &Call, cx: &EntryCx<'_>) -> Option<Layout> {
    let CallPhase::Done { result, .. } = &call.phase else { return None };
    let text = |key: &str| super::title::text(&call.arguments, key).unwrap_or_default();
    let details = result.details.as_ref();
    let is_job = details.is_some_and(|details| details.get("job").is_some());
    if result.is_error || !is_job || !STARTS_JOBS.contains(&call.tool.as_str()) {
        return None;
    }
    let (state, status) = match &call.job_end {
        Some(end) => band::ended(end),
        None => (State::Queued, vec![Seg::new(Role::Muted, "⇢ background")]),
    };
    let line = JobLine::new(text("title"), text("command")).status(status);
    Some(Layout { rows: vec![band::still(&line, state, cx)], ..Layout::default() })
}

/// The ends of jobs: a row each, and their last lines.
pub fn lay_out(jobs: &Jobs, cx: &EntryCx<'_>) -> Layout {
    let mut layout = Layout::default();
    let mut start = 0;
    for report in &jobs.reports {
        let (state, status) = band::ended(&report.end);
        let line = JobLine::new(&report.title, &report.command).status(status);
        layout.rows.push(Row { start, ..band::still(&line, state, cx) });
        start += 1;
        for row in last_lines(report, cx) {
            layout.rows.push(Row { start, ..row });
            start += 1;
        }
    }
    layout
}

/// The last lines of a job's output, behind a bar.
fn last_lines(report: &JobReport, cx: &EntryCx<'_>) -> Vec<Row> {
    let mut panel = Panel::new(cx);
    let lines: Vec<&str> = report.last_lines.lines().filter(|line| !line.trim().is_empty()).collect();
    // A single line that is hidden is shown in the row of the note.
    let shown = if cx.open || lines.len() <= SHOWN + 1 { lines.len() } else { SHOWN };
    let hidden = lines.len() - shown;
    if hidden > 0 {
        panel.note(0, &crate::text::formats::counted(hidden as u64, "earlier line"));
    }
    let room = panel.room().saturating_sub(2);
    for line in lines.iter().skip(hidden) {
        let text = width::drawn(&clean::for_line(line)).into_owned();
        let output = panel.style(Role::ToolOutput);
        let text = paint::cut(vec![Span::styled(text, output)], room, panel.style(Role::Dim));
        let mut spans = vec![Span::styled("│ ", panel.style(Role::Border))];
        spans.extend(text);
        panel.push(Row { spans, ..Row::default() });
    }
    let mut layout = Layout::default();
    panel.under(&mut layout);
    layout.rows
}

/// What a job's call is about, before it has started.
pub fn title(title: &str, command: &str) -> Vec<Seg> {
    let command = command.trim().lines().next().unwrap_or_default();
    vec![
        Seg::bold(Role::ToolTitle, seg::line(title)),
        Seg::new(Role::Muted, "  "),
        Seg::bold(Role::Accent, "$ "),
        Seg::foreign(Role::Text, command),
    ]
}
