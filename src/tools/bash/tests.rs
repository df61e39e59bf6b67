use super::*;
use crate::proto::message::text_of;
use crate::tools::ProgressNews;
use crate::tools::testing::{call, checked, context, failure, text};
use serde_json::json;

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
        (r"printf '\000\001'", false, "(no readable output: 2 bytes of control characters or binary data)"),
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
    cx.progress = crate::tools::Progress::new(move |news| {
        if let ProgressNews::Output(delta) = news {
            assert_eq!(delta, "begun\n");
            cancel.cancel();
        }
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
fn the_headline_shows_every_line() {
    let arguments = checked(&Bash, json!({"command": "cd x\n\tmake \u{1b}[2J\n"}));
    assert_eq!(Bash.headline(&arguments), "cd x ⏎  make  [2J");
    let subjects = Bash.subjects(&arguments, Path::new("/w"));
    assert!(matches!(&subjects[..], [Subject::Shell { cwd, .. }] if cwd == Path::new("/w")));
}
