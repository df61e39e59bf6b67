//! `bash`: one shell command, and what of its output a model gets.

use super::arguments::{self, Arguments};
use super::registry::embedded_spec;
use super::truncate::{self, Limit, MAX_BYTES, MAX_LINES, Totals, Truncation, size};
use super::{Tool, ToolCx, ToolLimits};
use crate::jobs::{End, Finished, SaveAbove, Saved, ShellCommand, signal_name};
use crate::llm::BoxFuture;
use crate::proto::ask::Subject;
use crate::proto::tool::{ToolOutput, ToolSpec};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

static SPEC: LazyLock<ToolSpec> =
    LazyLock::new(|| embedded_spec(include_str!("../../assets/tools/bash.json")));

/// Found once: the folders of the search path do not change while we run.
static SHELL: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let found = folders.map(|folder| folder.join("bash")).find(|shell| shell.is_file());
    let bash = Path::new("/bin/bash");
    found.unwrap_or_else(|| if bash.is_file() { bash.to_owned() } else { "/bin/sh".into() })
});

/// The end of a command that asked on the terminal.
const WANTED_TERMINAL: &str = "Command stopped: it waited for input from a terminal, and commands have none. Use a form \
                               that asks nothing, such as `sudo -n` or `ssh -o BatchMode=yes`.";

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
        let lines = command(arguments).trim().lines().map(|line| line.replace(char::is_control, " "));
        lines.collect::<Vec<_>>().join(" ⏎ ")
    }

    fn run(&self, arguments: Arguments, cx: ToolCx) -> BoxFuture<'static, ToolOutput> {
        Box::pin(async move {
            let command = shell_command(&arguments, &cx);
            let progress = cx.progress.clone();
            let output = move |delta| progress.send(delta);
            match cx.jobs.run(command, &cx.cancel, output).await {
                Ok(finished) => result(&finished),
                Err(error) => ToolOutput::error(error.to_string()),
            }
        })
    }
}

fn command(arguments: &Arguments) -> &str {
    arguments::text(arguments, "command").unwrap_or_default()
}

fn shell_command(arguments: &Arguments, cx: &ToolCx) -> ShellCommand {
    let text = command(arguments);
    ShellCommand {
        text: cx
            .limits
            .shell_prefix
            .as_ref()
            .map_or_else(|| text.to_owned(), |prefix| format!("{prefix}\n{text}")),
        shell: cx.limits.shell_path.clone().unwrap_or_else(|| SHELL.clone()),
        cwd: cx.cwd.clone(),
        timeout: time_limit(arguments, &cx.limits),
        secret_env: cx.limits.secret_env.clone(),
        env: vec![("AI_AGENT".to_owned(), "mynah".into())],
        output_dir: cx.output_dir.clone(),
        save: SaveAbove { lines: MAX_LINES as u64, bytes: MAX_BYTES as u64 },
    }
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

/// What a model and a front end get of a finished command.
fn result(finished: &Finished) -> ToolOutput {
    let total = Totals { lines: finished.lines, bytes: finished.bytes };
    let (shown, truncation) = truncate::tail(&finished.tail, total);
    let mut parts = vec![summarise_binary(shown)];
    if let Some(limit) = truncation.truncated_by {
        parts.push(format!("[{}]", notice(finished, &truncation, limit)));
    }
    let failure = match finished.end {
        End::Exited(0) => None,
        End::Exited(code) => Some(format!("Command exited with code {code}")),
        End::Signalled(signal) => Some(format!("Command killed by signal {}", signal_name(signal))),
        End::TimedOut(limit) => Some(format!("Command timed out after {} seconds", limit.as_secs_f64())),
        End::WantedTerminal => Some(WANTED_TERMINAL.to_owned()),
        End::Cancelled => Some("Command aborted".to_owned()),
    };
    parts.extend(failure.clone());
    let text = join(parts, finished);
    let output = if failure.is_some() { ToolOutput::error(text) } else { ToolOutput::text(text) };
    output.with_details(details(finished, &truncation))
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
fn summarise_binary(text: &str) -> String {
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
    use super::super::testing::{call, checked, context, failure, text};
    use super::*;
    use crate::proto::message::text_of;

    async fn run(command: &str) -> ToolOutput {
        let dir = tempfile::tempdir().unwrap();
        call(&Bash, dir.path(), json!({ "command": command })).await
    }

    #[tokio::test]
    async fn results_have_the_words_of_the_specification() {
        for (command, is_error, want) in [
            ("echo hi", false, "hi\n"),
            ("true", false, "(no output)"),
            ("exit 3", true, "(no output)\n\nCommand exited with code 3"),
            ("echo x; exit 1", true, "x\n\nCommand exited with code 1"),
            ("printf x; exit 127", true, "x\n\nCommand exited with code 127"),
            ("kill -SEGV $$", true, "(no output)\n\nCommand killed by signal SIGSEGV"),
            (
                r"printf '\000\001'",
                false,
                "(no readable output: 2 bytes of control characters or binary data)",
            ),
        ] {
            let output = run(command).await;
            assert_eq!((output.is_error, text_of(&output.content).as_str()), (is_error, want), "{command}");
        }
    }

    #[tokio::test]
    async fn details_hold_the_facts() {
        let details = run("exit 7").await.details.unwrap();
        assert_eq!(details.get("exitCode"), Some(&json!(7)));
        assert!(details.get("durationMs").is_some_and(Value::is_u64));
        assert!(details.get("truncation").is_none());
        assert_eq!(run("kill -TERM $$").await.details.unwrap().get("signal"), Some(&json!("SIGTERM")));
    }

    #[tokio::test]
    async fn the_notice_counts_all_lines_and_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!text(&Bash, dir.path(), json!({"command": "seq 2000"})).await.contains("[Showing"));
        let output = call(&Bash, dir.path(), json!({"command": "seq 2001"})).await;
        let path = output.details.unwrap()["fullOutputPath"].as_str().unwrap().to_owned();
        let shown = text_of(&output.content);
        assert!(shown.starts_with("2\n3\n"));
        assert!(shown.ends_with(&format!("2001\n\n[Showing lines 2-2001 of 2001. Full output: {path}]")));
        assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 2001);
        let output = text(&Bash, dir.path(), json!({"command": "seq -f '%099.0f' 3000"})).await;
        assert!(
            output.contains("\n\n[Showing lines 2489-3000 of 3000 (50.0KB limit). Full output: "),
            "{output}"
        );
    }

    #[tokio::test]
    async fn the_end_of_one_long_line_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        for end in ["", "; echo"] {
            let command = format!("echo a; head -c 300000 /dev/zero | tr '\\0' x{end}");
            let output = text(&Bash, dir.path(), json!({"command": &command})).await;
            let notice = "x\n\n[Showing last 50.0KB of line 2 (line is 293.0KB). Full output: ";
            assert!(output.contains(notice), "no notice after {command}");
        }
    }

    #[tokio::test]
    async fn a_command_that_is_too_long_for_the_system_is_told_apart_from_a_broken_shell() {
        let dir = tempfile::tempdir().unwrap();
        let output =
            failure(&Bash, dir.path(), json!({ "command": format!("true {}", "x".repeat(4 << 20)) })).await;
        assert!(output.contains("too long") && output.contains("was not run"), "{output}");
    }

    #[tokio::test]
    async fn time_limits_of_the_call_and_of_the_settings() {
        let dir = tempfile::tempdir().unwrap();
        let output = failure(&Bash, dir.path(), json!({"command": "echo a; sleep 60", "timeout": 1})).await;
        assert_eq!(output, "a\n\nCommand timed out after 1 seconds");
        let limits = context(dir.path()).limits;
        for (given, want) in [
            (json!({"command": ""}), Some(120)),
            (json!({"command": "", "timeout": 5}), Some(5)),
            (json!({"command": "", "timeout": 0}), None),
            (json!({"command": "", "timeout": -1}), Some(120)),
            (json!({"command": "", "timeout": 1e300}), None),
        ] {
            assert_eq!(time_limit(&checked(&Bash, given), &limits), want.map(Duration::from_secs));
        }
    }

    #[tokio::test]
    async fn a_cancel_keeps_the_output() {
        let dir = tempfile::tempdir().unwrap();
        let mut cx = context(dir.path());
        let cancel = cx.cancel.clone();
        cx.progress = super::super::Progress::new(move |delta| {
            assert_eq!(delta, "begun\n");
            cancel.cancel();
        });
        let output = Bash.run(checked(&Bash, json!({"command": "echo begun; sleep 60"})), cx).await;
        assert_eq!(text_of(&output.content), "begun\n\nCommand aborted");
        assert!(output.is_error);
    }

    #[tokio::test]
    async fn shell_prefix_and_environment() {
        let dir = tempfile::tempdir().unwrap();
        let mut cx = context(dir.path());
        cx.limits.shell_prefix = Some("x=5".to_owned());
        cx.limits.shell_path = Some("/bin/sh".into());
        cx.limits.secret_env = vec!["PATH".to_owned()];
        let arguments = checked(&Bash, json!({"command": "echo $0 $x $AI_AGENT; env | /bin/grep -c ^PATH="}));
        let output = Bash.run(arguments, cx).await;
        assert!(text_of(&output.content).starts_with("/bin/sh 5 mynah\n"), "{}", text_of(&output.content));
    }

    #[tokio::test]
    async fn a_missing_folder_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let output = failure(&Bash, &dir.path().join("gone"), json!({"command": "true"})).await;
        assert!(output.contains("does not exist"), "{output}");
    }

    #[test]
    fn binary_lines_are_summed_up() {
        let noise = "\u{fffd}".repeat(9);
        assert_eq!(summarise_binary("plain \u{fffd}\n"), "plain \u{fffd}\n");
        assert_eq!(
            summarise_binary(&format!("a\n{noise}\nx{noise}\nb\n{noise}")),
            "a\n[2 lines of binary data]\nb\n[1 line of binary data]\n"
        );
    }

    #[test]
    fn the_headline_shows_every_line() {
        let arguments = checked(&Bash, json!({"command": "cd x\n\tmake \u{1b}[2J\n"}));
        assert_eq!(Bash.headline(&arguments), "cd x ⏎  make  [2J");
        let subjects = Bash.subjects(&arguments, Path::new("/w"));
        assert!(matches!(&subjects[..], [Subject::Shell { cwd, .. }] if cwd == Path::new("/w")));
    }
}
