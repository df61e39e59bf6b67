//! `shell_job`: looks after background jobs. [`start`] starts them.

mod start;

pub use start::ShellJobStart;

use super::arguments::{self, Arguments};
use super::registry::embedded_spec;
use super::truncate::MAX_BYTES;
use super::{Tool, ToolCx};
use crate::jobs::keeper::record::now;
use crate::jobs::table::report::{completion, duration, words};
use crate::jobs::table::{JobTable, ReadFrom, ReadSpec};
use crate::llm::BoxFuture;
use crate::proto::ask::{AskPreview, Subject};
use crate::proto::ids::JobId;
use crate::proto::job::{self, JobReport, JobState, JobView, StoppedBy};
use crate::proto::tool::{ToolOutput, ToolSpec};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

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
    let table = &cx.table;
    match action(arguments) {
        "list" => Ok(list(table).await),
        "logs" => logs(&job(arguments)?, arguments, table).await,
        "input" => {
            let id = job(arguments)?;
            let bytes = text(arguments).as_bytes().to_vec();
            table.input(&id, bytes).map_err(|error| known(error, table))?;
            Ok(about(&id, format!("Written to `{id}`. `logs` shows what it answers."), &[]))
        }
        "kill" => {
            let id = job(arguments)?;
            table.stop(&id, StoppedBy::Agent).map_err(|error| known(error, table))?;
            let view = ended(table, &id, KILL_PATIENCE, cx).await?;
            told_end(table, &view).await
        }
        "wait" => {
            let id = job(arguments)?;
            let limit = arguments.get("timeout").and_then(Value::as_f64);
            let limit = limit.map_or(WAIT, |limit| Duration::try_from_secs_f64(limit).unwrap_or(WAIT));
            let view = ended(table, &id, limit.min(LONGEST_WAIT), cx).await?;
            told_end(table, &view).await
        }
        other => Err(format!("There is no action `{other}`.")),
    }
}

/// The error, and which jobs there are: a name may be spelled in another way.
fn known(error: impl std::fmt::Display, table: &JobTable) -> String {
    let names: Vec<String> = table.list().iter().map(|job| format!("`{}`", job.id)).collect();
    match names.is_empty() {
        true => format!("{error} There are none."),
        false => format!("{error} Known jobs: {}.", names.join(", ")),
    }
}

/// Waits for the end, or for the user's stop.
async fn ended(table: &JobTable, id: &JobId, limit: Duration, cx: &ToolCx) -> Result<Arc<JobView>, String> {
    tokio::select! {
        view = table.wait(id, limit) => view.map_err(|error| known(error, table)),
        () = cx.cancel.cancelled() => table.get(id).ok_or_else(|| format!("There is no job `{id}`.")),
    }
}

/// How a job is, with its last lines where it has ended: who reads this need not be told again.
async fn told_end(table: &JobTable, view: &JobView) -> Result<ToolOutput, String> {
    if view.state.is_live() {
        let text = format!("`{}` is still running: {}.", view.id, state(view, now()));
        return Ok(about(&view.id, text, &[]));
    }
    let report = table.report(&view.id).await.map_err(|error| error.to_string())?;
    Ok(about(&view.id, completion(std::slice::from_ref(&report)), &[report]))
}

/// An answer about a job. Ends in it are known to the agent from now on, see [`job::reports_of`].
pub(super) fn about(id: &JobId, text: String, ends: &[JobReport]) -> ToolOutput {
    let mut details = json!({"job": id});
    if let (Value::Object(all), Value::Object(told), false) =
        (&mut details, job::details_of(ends), ends.is_empty())
    {
        all.extend(told);
    }
    ToolOutput::text(text).with_details(details)
}

async fn list(table: &JobTable) -> ToolOutput {
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
    let mut ends = Vec::new();
    for job in jobs.iter().filter(|job| !job.state.is_live()) {
        ends.extend(table.report(&job.id).await);
    }
    match ends.is_empty() {
        true => ToolOutput::text(text),
        false => ToolOutput::text(text).with_details(job::details_of(&ends)),
    }
}

/// How far a job is, in words.
fn state(job: &JobView, now: i64) -> String {
    let since = |then: i64| duration(Duration::from_millis(u64::try_from(now - then).unwrap_or(0)));
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
    let lines = count("tail").map_or(LINES, |lines| usize::try_from(lines).unwrap_or(MOST_LINES));
    let spec = ReadSpec {
        from: count("offset").map_or(ReadFrom::Tail, ReadFrom::Offset),
        grep: pattern.map(str::to_owned),
        max_lines: lines.min(MOST_LINES),
        max_bytes: MAX_BYTES,
    };
    let page = table.read(id, spec).await.map_err(|error| known(error, table))?;
    let view = table.get(id).ok_or_else(|| format!("There is no job `{id}`."))?;
    let text = format!("{}[{}]", page.text(), state(&view, now()));
    // One that was read to its end is known to have ended.
    match !view.state.is_live() && !page.has_more {
        true => {
            let report = table.report(id).await.map_err(|error| error.to_string())?;
            Ok(about(id, text, &[report]))
        }
        false => Ok(about(id, text, &[])),
    }
}
