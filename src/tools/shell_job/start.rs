//! `shell_job_start`: a shell command in the background.

use super::about;
use crate::jobs::table::report::completion;
use crate::jobs::table::{JobSpec, ReadFrom, ReadSpec, TerminalSize};
use crate::llm::BoxFuture;
use crate::proto::ask::{AskPreview, Subject};
use crate::proto::job::JobState;
use crate::proto::tool::{ToolOutput, ToolSpec};
use crate::tools::arguments::{self, Arguments};
use crate::tools::bash::{self, command};
use crate::tools::registry::embedded_spec;
use crate::tools::{Tool, ToolCx, ToolLimits, paths};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

static SPEC: LazyLock<ToolSpec> =
    LazyLock::new(|| embedded_spec(include_str!("../../../assets/tools/shell_job_start.json")));

/// A command that fails at once is told with the start, and so is what it says first.
const FIRST_LOOK: Duration = Duration::from_millis(400);
/// Lines and bytes of that.
const FIRST_LINES: usize = 20;
const FIRST_BYTES: usize = 2_000;

/// The tool `shell_job_start`.
pub struct ShellJobStart;

impl Tool for ShellJobStart {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn summary(&self) -> &'static str {
        "Start long shell commands in the background"
    }

    fn is_mutating(&self, _: &Arguments) -> bool {
        true
    }

    fn subjects(&self, arguments: &Arguments, cwd: &Path) -> Vec<Subject> {
        vec![Subject::Shell { command: command(arguments).to_owned(), cwd: folder(arguments, cwd) }]
    }

    fn headline(&self, arguments: &Arguments) -> String {
        bash::headline(arguments)
    }

    fn preview(&self, arguments: &Arguments, _: &Path) -> BoxFuture<'static, AskPreview> {
        Box::pin(std::future::ready(AskPreview::Command(command(arguments).to_owned())))
    }

    fn run(&self, arguments: Arguments, cx: ToolCx) -> BoxFuture<'static, ToolOutput> {
        Box::pin(async move {
            let table = cx.table.clone();
            let view = match table.start(spec(&arguments, &cx)).await {
                Ok(view) => view,
                Err(error) => return ToolOutput::error(error.to_string()),
            };
            let id = &view.id;
            let view = match table.wait(id, FIRST_LOOK).await {
                Ok(view) => view,
                Err(error) => return ToolOutput::error(error.to_string()),
            };
            if matches!(view.state, JobState::Ended(_)) {
                return match table.report(id).await {
                    Ok(report) => about(id, completion(std::slice::from_ref(&report)), &[report]),
                    Err(error) => ToolOutput::error(error.to_string()),
                };
            }
            let first = ReadSpec {
                from: ReadFrom::Offset(0),
                grep: None,
                max_lines: FIRST_LINES,
                max_bytes: FIRST_BYTES,
            };
            let page = table.read(id, first).await.unwrap_or_default();
            let printed = page.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n");
            let printed = match printed.trim() {
                "" => String::new(),
                text => format!("\nSo far it printed:\n{text}"),
            };
            let text = format!(
                "Started \"{}\" as the background job `{id}`. You will be told when it ends.{printed}",
                view.title
            );
            about(id, text, &[])
        })
    }
}

fn folder(arguments: &Arguments, cwd: &Path) -> PathBuf {
    arguments::text(arguments, "cwd").map_or_else(|| cwd.to_owned(), |folder| paths::resolve(folder, cwd))
}

fn spec(arguments: &Arguments, cx: &ToolCx) -> JobSpec {
    let limits: &ToolLimits = &cx.limits;
    let limit = arguments.get("timeout").and_then(Value::as_f64).filter(|seconds| *seconds > 0.0);
    let title = arguments::text(arguments, "title").map(str::trim).filter(|title| !title.is_empty());
    JobSpec {
        title: title.map_or_else(|| bash::text_title(arguments), str::to_owned),
        command: bash::prefixed(command(arguments), limits),
        cwd: folder(arguments, &cx.cwd),
        shell: bash::shell_of(limits),
        terminal: arguments.get("pty").and_then(Value::as_bool).unwrap_or(false).then(TerminalSize::default),
        time_limit: limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        secret_env: limits.secret_env.clone(),
        env: bash::environment(),
    }
}
