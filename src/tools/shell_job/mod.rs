//! `shell_job`: looks after background jobs. [`start`] starts them.

mod start;

pub use start::ShellJobStart;

use super::arguments::{self, Arguments};
use super::registry::embedded_spec;
use super::truncate::MAX_BYTES;
use super::{Tool, ToolCx};
use crate::jobs::table::read::{Page, Wanted};
use crate::jobs::table::report::{seconds, words};
use crate::jobs::table::{JobError, JobTable};
use crate::llm::BoxFuture;
use crate::proto::ask::{AskPreview, Subject};
use crate::proto::ids::JobId;
use crate::proto::job::{JobState, JobView};
use crate::proto::tool::{ToolOutput, ToolSpec};
use regex::Regex;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

static SPEC: LazyLock<ToolSpec> =
    LazyLock::new(|| embedded_spec(include_str!("../../../assets/tools/shell_job.json")));

/// Lines of a log unless others are wanted, and at most.
const LINES: usize = 100;
const MOST_LINES: usize = 2_000;
/// How long an end is waited for.
const WAIT: Duration = Duration::from_secs(60);
const LONGEST_WAIT: Duration = Duration::from_secs(600);
/// A job that was told to end has ended within this time: TERM, two seconds, KILL.
const KILL_PATIENCE: Duration = Duration::from_secs(4);

/// The tool `shell_job`.
pub struct ShellJob;

impl Tool for ShellJob {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn summary(&self) -> &'static str {
        "List, read, answer, stop and wait for background jobs"
    }

    fn is_mutating(&self, arguments: &Arguments) -> bool {
        matches!(action(arguments), "input" | "kill")
    }

    fn subjects(&self, arguments: &Arguments, cwd: &Path) -> Vec<Subject> {
        match action(arguments) {
            // What is written to a shell is a command.
            "input" => vec![Subject::Shell { command: text(arguments).to_owned(), cwd: cwd.to_owned() }],
            // Its own jobs may always be looked at and stopped.
            _ => Vec::new(),
        }
    }

    fn headline(&self, arguments: &Arguments) -> String {
        let job = arguments::text(arguments, "job").unwrap_or_default();
        match action(arguments) {
            "input" => format!("input to {job}: {}", text(arguments).escape_debug()),
            action => format!("{action} {job}").trim_end().to_owned(),
        }
    }

    fn preview(&self, arguments: &Arguments, _: &Path) -> BoxFuture<'static, AskPreview> {
        Box::pin(std::future::ready(AskPreview::Command(text(arguments).to_owned())))
    }

    fn run(&self, arguments: Arguments, cx: ToolCx) -> BoxFuture<'static, ToolOutput> {
        Box::pin(async move { answer(&arguments, &cx).await.unwrap_or_else(ToolOutput::error) })
    }
}

fn action(arguments: &Arguments) -> &str {
    arguments::text(arguments, "action").unwrap_or_default()
}

fn text(arguments: &Arguments) -> &str {
    arguments::text(arguments, "text").unwrap_or_default()
}

fn job(arguments: &Arguments) -> Result<JobId, String> {
    let job = arguments::text(arguments, "job").filter(|job| !job.is_empty());
    job.map(JobId::new).ok_or_else(|| {
        format!("`{}` needs the name of a job: \"job\". `list` shows them.", action(arguments))
    })
}

async fn answer(arguments: &Arguments, cx: &ToolCx) -> Result<ToolOutput, String> {
    let told = |error: JobError| error.to_string();
    let table = &cx.table;
    match action(arguments) {
        "list" => Ok(list(table)),
        "logs" => logs(&job(arguments)?, arguments, table).await,
        "input" => {
            let id = job(arguments)?;
            table.input(&id, text(arguments)).map_err(told)?;
            Ok(about(&id, format!("Written to `{id}`. `logs` shows what it answers.")))
        }
        "kill" => {
            let id = job(arguments)?;
            table.stop(&id).map_err(told)?;
            let view = ended(table, &id, KILL_PATIENCE, cx).await?;
            Ok(about(&id, told_end(table, &view)))
        }
        "wait" => {
            let id = job(arguments)?;
            let limit = arguments.get("timeout").and_then(Value::as_f64);
            let limit = limit.map_or(WAIT, |limit| Duration::try_from_secs_f64(limit).unwrap_or(WAIT));
            let view = ended(table, &id, limit.min(LONGEST_WAIT), cx).await?;
            Ok(about(&id, told_end(table, &view)))
        }
        other => Err(format!("There is no action `{other}`.")),
    }
}

/// Waits for the end, or for the user's stop.
async fn ended(
    table: &JobTable,
    id: &JobId,
    limit: Duration,
    cx: &ToolCx,
) -> Result<std::sync::Arc<JobView>, String> {
    tokio::select! {
        view = table.wait(id, limit) => view.map_err(|error| error.to_string()),
        () = cx.cancel.cancelled() => table.view(id).map_err(|error| error.to_string()),
    }
}

/// How a job is, with its last lines where it has ended: who reads this need not be told again.
fn told_end(table: &JobTable, view: &JobView) -> String {
    match table.report(&view.id) {
        Some(report) => {
            table.heard(&view.id);
            crate::jobs::table::report::text(&[report])
        }
        None => format!("`{}` is still running: {}.", view.id, state(view, now())),
    }
}

fn about(id: &JobId, text: String) -> ToolOutput {
    ToolOutput::text(text).with_details(json!({"job": id}))
}

fn list(table: &JobTable) -> ToolOutput {
    let jobs = table.list();
    if jobs.is_empty() {
        return ToolOutput::text("There are no background jobs.");
    }
    let now = now();
    let lines = jobs.iter().map(|job| {
        let command: String = job.command.chars().take(120).collect();
        format!("{} ({}): {} · $ {}", job.id, job.title, state(job, now), command.replace('\n', " ⏎ "))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    for job in jobs.iter().filter(|job| !job.state.is_live()) {
        table.heard(&job.id);
    }
    ToolOutput::text(text)
}

/// How far a job is, in words.
fn state(job: &JobView, now: i64) -> String {
    let since = |then: i64| seconds(Duration::from_millis(u64::try_from(now - then).unwrap_or(0)));
    match &job.state {
        JobState::Running => {
            let printed = match job.printed {
                0 => "printed nothing yet".to_owned(),
                bytes => format!("printed {bytes} bytes, last {} ago", since(job.printed_at)),
            };
            format!("running for {}, {printed}", since(job.started))
        }
        JobState::Stopping { since: told } => format!("being stopped for {}", since(*told)),
        JobState::Ended(end) => words(end),
    }
}

async fn logs(id: &JobId, arguments: &Arguments, table: &JobTable) -> Result<ToolOutput, String> {
    let count = |name: &str| arguments.get(name).and_then(Value::as_u64);
    let pattern = arguments::text(arguments, "grep").filter(|pattern| !pattern.is_empty());
    let pattern = pattern
        .map(Regex::new)
        .transpose()
        .map_err(|error| format!("`grep` is no regular expression: {error}"))?;
    let lines = count("tail").map_or(LINES, |lines| usize::try_from(lines).unwrap_or(MOST_LINES));
    let wanted = Wanted { offset: count("offset"), pattern, lines: lines.min(MOST_LINES), bytes: MAX_BYTES };
    let page = table.read(id, wanted).await.map_err(|error| error.to_string())?;
    let view = table.view(id).map_err(|error| error.to_string())?;
    let mut text = shown(&page);
    text.push_str(&format!("\n[{}. {}]", state(&view, now()), place(&page)));
    if !view.state.is_live() && !page.has_later {
        table.heard(id);
    }
    Ok(about(id, text))
}

fn shown(page: &Page) -> String {
    if page.lines == 0 {
        return "(no lines)\n".to_owned();
    }
    page.text.clone()
}

/// Where in the log a part stands.
fn place(page: &Page) -> String {
    let (first, end) = page.extent;
    let mut place = format!("{} lines shown", page.lines);
    if page.has_earlier {
        place.push_str(", more before them");
    }
    if page.has_later {
        place.push_str(", more behind them");
    }
    if first > 0 {
        place.push_str(&format!("; the first {first} bytes are no longer kept"));
    }
    format!("{place}. Read on with offset {} of {end}", page.next)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
