//! `bash`: one shell command of the model. The same shell runs the commands of the user ([`user`]).

mod report;
mod user;

pub use user::{UserCommand, run_for_user};

use super::arguments::{self, Arguments};
use super::registry::embedded_spec;
use super::truncate::{self, MAX_BYTES, MAX_LINES, Totals};
use super::{ProgressNews, Tool, ToolCx, ToolLimits};
use crate::jobs::{Detached, LiveNews, Outcome, SaveAbove, ShellCommand, sleep, steps};
use crate::llm::BoxFuture;
use crate::proto::ask::{AskPreview, Subject};
use crate::proto::tool::{ToolOutput, ToolSpec};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

static SPEC: LazyLock<ToolSpec> =
    LazyLock::new(|| embedded_spec(include_str!("../../../assets/tools/bash.json")));

/// Found once: the folders of the search path do not change while we run.
static SHELL: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let found = folders.map(|folder| folder.join("bash")).find(|shell| shell.is_file());
    let bash = Path::new("/bin/bash");
    found.unwrap_or_else(|| if bash.is_file() { bash.to_owned() } else { "/bin/sh".into() })
});

/// The tool `bash`.
pub struct Bash;

impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn summary(&self) -> &'static str {
        "Run shell commands"
    }

    fn is_mutating(&self, _: &Arguments) -> bool {
        true
    }

    fn subjects(&self, arguments: &Arguments, cwd: &Path) -> Vec<Subject> {
        vec![Subject::Shell { command: command(arguments).to_owned(), cwd: cwd.to_owned() }]
    }

    fn headline(&self, arguments: &Arguments) -> String {
        headline(arguments)
    }

    fn preview(&self, arguments: &Arguments, _: &Path) -> BoxFuture<'static, AskPreview> {
        Box::pin(std::future::ready(AskPreview::Command(command(arguments).to_owned())))
    }

    fn time_limit(&self, arguments: &Arguments, limits: &ToolLimits) -> Option<Duration> {
        time_limit(arguments, limits)
    }

    fn run(&self, arguments: Arguments, cx: ToolCx) -> BoxFuture<'static, ToolOutput> {
        Box::pin(async move {
            let limit = time_limit(&arguments, &cx.limits);
            let text = command(&arguments);
            let mut command = shell_command(text, &cx.cwd, &cx.output_dir, &cx.limits, limit);
            // With a prefix of the user's the first step would not be that of the call.
            command.steps = steps::plan(text).ok().filter(|_| cx.limits.shell_prefix.is_none());
            command.sleeps = sleep::plan(text);
            let progress = cx.progress.clone();
            let output = move |news| progress.tell(of_live(news));
            match cx.jobs.run_detachable(command, &cx.cancel, &cx.detach, output).await {
                Ok(Outcome::Finished(finished)) => report::result(&finished),
                Ok(Outcome::Detached(detached)) => go_on(text_title(&arguments), detached, &cx).await,
                Err(error) => ToolOutput::error(error.to_string()),
            }
        })
    }
}

/// The command goes on as a background job.
async fn go_on(title: String, detached: Box<Detached>, cx: &ToolCx) -> ToolOutput {
    let printed = detached.tail.clone();
    match cx.table.adopt(&title, detached).await {
        Ok(view) => {
            let (shown, _) = truncate::tail(&printed, Totals::of(&printed));
            let printed = match shown.trim() {
                "" => String::new(),
                _ => format!("\nSo far it printed:\n{shown}"),
            };
            let text = format!(
                "The user sent this command to the background. It goes on as the job `{}`; you will be told when it ends. Its \
                 time limit no longer holds.{printed}",
                view.id
            );
            ToolOutput::text(text).with_details(json!({"job": view.id}))
        }
        Err(error) => ToolOutput::error(format!("The command could not go on in the background: {error}")),
    }
}

/// What a job is called that nobody has given a title: its first words.
pub(super) fn text_title(arguments: &Arguments) -> String {
    let words = command(arguments).split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(40).collect()
}

fn of_live(news: LiveNews) -> ProgressNews {
    match news {
        LiveNews::Output(delta) => ProgressNews::Output(delta),
        LiveNews::Steps(chain) => ProgressNews::Steps(chain),
        LiveNews::Wait(wait) => ProgressNews::Wait(wait),
    }
}

/// The command text of a call.
pub(super) fn command(arguments: &Arguments) -> &str {
    arguments::text(arguments, "command").unwrap_or_default()
}

/// The same in one line.
pub(super) fn headline(arguments: &Arguments) -> String {
    let lines = command(arguments).trim().lines().map(|line| line.replace(char::is_control, " "));
    lines.collect::<Vec<_>>().join(" ⏎ ")
}

/// A command text behind what the settings put in front of each.
pub(super) fn prefixed(text: &str, limits: &ToolLimits) -> String {
    let prefix = limits.shell_prefix.as_ref();
    prefix.map_or_else(|| text.to_owned(), |prefix| format!("{prefix}\n{text}"))
}

/// Environment variables that commands get besides ours.
pub(super) fn environment() -> Vec<(String, OsString)> {
    vec![("AI_AGENT".to_owned(), "mynah".into())]
}

/// A command as the settings want it run.
fn shell_command(
    text: &str,
    cwd: &Path,
    output_dir: &Path,
    limits: &ToolLimits,
    timeout: Option<Duration>,
) -> ShellCommand {
    ShellCommand {
        text: prefixed(text, limits),
        shell: shell_of(limits),
        cwd: cwd.to_owned(),
        timeout,
        secret_env: limits.secret_env.clone(),
        env: environment(),
        output_dir: output_dir.to_owned(),
        steps: None,
        sleeps: None,
        save: SaveAbove { lines: MAX_LINES as u64, bytes: MAX_BYTES as u64 },
    }
}

/// The shell that runs commands.
pub(super) fn shell_of(limits: &ToolLimits) -> PathBuf {
    limits.shell_path.clone().unwrap_or_else(|| SHELL.clone())
}

/// The call's own limit, else that of the settings. Zero is none; less than zero means nothing and is as good as none
/// given. More than a clock can hold is no limit.
fn time_limit(arguments: &Arguments, limits: &ToolLimits) -> Option<Duration> {
    match arguments.get("timeout").and_then(Value::as_f64) {
        Some(seconds) if seconds > 0.0 => Duration::try_from_secs_f64(seconds).ok(),
        Some(0.0) => None,
        Some(_) | None => limits.bash_timeout,
    }
}

#[cfg(test)]
mod tests;
