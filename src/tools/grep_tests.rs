use super::super::testing::{call, checked, context, failure, text};
use super::*;
use crate::proto::message::text_of;
use serde_json::Value;
use std::fs::write;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        write(path, content).unwrap();
    }
    dir
}

async fn found(dir: &tempfile::TempDir, given: Value) -> String {
    text(&Grep, dir.path(), given).await
}

#[tokio::test]
async fn matches_come_in_order_of_path_and_line() {
    let dir = folder(&[
        ("b.txt", "one\ntwo\n"),
        ("a/x.txt", "two\r\nthree two\n"),
        (".hidden", "two"),
        (".git/config", "two"),
        ("skipped.log", "two"),
        (".gitignore", "*.log\n"),
    ]);
    let want = ".hidden:1: two\na/x.txt:1: two\na/x.txt:2: three two\nb.txt:2: two";
    assert_eq!(found(&dir, json!({"pattern": "two"})).await, want);
    assert_eq!(
        found(&dir, json!({"pattern": "two$", "path": "a"})).await,
        "x.txt:1: two\nx.txt:2: three two"
    );
    assert_eq!(
        found(&dir, json!({"pattern": "TWO", "path": "b.txt", "ignoreCase": true})).await,
        "b.txt:2: two"
    );
    assert_eq!(found(&dir, json!({"pattern": "two", "path": "skipped.log"})).await, "skipped.log:1: two");
    assert_eq!(found(&dir, json!({"pattern": "two", "glob": "*.txt", "limit": 9})).await.lines().count(), 3);
    assert_eq!(found(&dir, json!({"pattern": "two", "glob": "!a/**"})).await, ".hidden:1: two\nb.txt:2: two");
    assert_eq!(found(&dir, json!({"pattern": "nothing"})).await, "No matches found");
}

#[tokio::test]
async fn a_pattern_may_look_like_an_option_or_be_taken_literally() {
    let dir = folder(&[("a", "--flag\nf(x)\n")]);
    assert_eq!(found(&dir, json!({"pattern": "--flag"})).await, "a:1: --flag");
    assert_eq!(found(&dir, json!({"pattern": "f(x)", "literal": true})).await, "a:2: f(x)");
    let error = failure(&Grep, dir.path(), json!({"pattern": "f(x"})).await;
    assert!(
        error.contains("no valid regular expression") && error.contains("Set literal to true"),
        "{error}"
    );
    let error = failure(&Grep, dir.path(), json!({"pattern": "a\nb", "literal": true})).await;
    assert!(error.contains("can't span lines"), "{error}");
    assert_eq!(
        failure(&Grep, dir.path(), json!({"pattern": "a", "path": "zzz"})).await,
        "zzz does not exist."
    );
}

#[tokio::test]
async fn context_blocks_merge_and_are_set_apart() {
    let lines: String = (1..=20).map(|number| format!("{number}\n")).collect();
    let dir = folder(&[("a", &lines), ("b", "3\n")]);
    let want = "a-2- 2\na:3: 3\na-4- 4\na:5: 5\na-6- 6\n--\na-12- 12\na:13: 13\na-14- 14\n--\nb:1: 3";
    assert_eq!(found(&dir, json!({"pattern": "^(3|5|13)$", "context": 1})).await, want);
}

#[tokio::test]
async fn the_notice_appears_only_beyond_the_limit() {
    let dir = folder(&[("a", "x\nx\n"), ("b", "x\n")]);
    let all = "a:1: x\na:2: x\nb:1: x";
    for limit in [4, 3] {
        assert_eq!(found(&dir, json!({"pattern": "x", "limit": limit})).await, all);
    }
    let notice = "[2 matches limit reached. Use limit=4 for more, or refine pattern]";
    assert_eq!(found(&dir, json!({"pattern": "x", "limit": 2})).await, format!("a:1: x\na:2: x\n\n{notice}"));
    let details = call(&Grep, dir.path(), json!({"pattern": "x", "limit": 2})).await.details;
    assert_eq!(details, Some(json!({"matchLimitReached": 2})));
    let cut = found(&dir, json!({"pattern": "x", "limit": 1, "context": 1})).await;
    assert!(cut.starts_with("a:1: x\n\n[1 matches"), "{cut}");
}

#[tokio::test]
async fn long_lines_are_cut_by_characters() {
    let dir = folder(&[("a", &"é".repeat(500)), ("b", &"é".repeat(501))]);
    let output = call(&Grep, dir.path(), json!({"pattern": "é"})).await;
    let text = text_of(&output.content);
    assert!(text.contains(&format!("a:1: {}\n", "é".repeat(500))));
    assert!(text.contains(&format!(
        "b:1: {}... [truncated]\n\n[Some lines truncated to 500 chars.",
        "é".repeat(500)
    )));
    assert_eq!(output.details, Some(json!({"linesTruncated": true})));
}

#[tokio::test]
async fn the_output_is_cut_at_fifty_kilobytes() {
    let line = format!("{}\n", "x".repeat(400));
    let dir = folder(&[("a", &line.repeat(1000))]);
    let output = found(&dir, json!({"pattern": "x", "limit": 1000})).await;
    assert!(output.ends_with("\n\n[50.0KB limit reached]"));
    assert!(output.len() < 52_000);
}

#[cfg(unix)]
#[tokio::test]
async fn files_that_are_no_text_are_left_out() {
    let dir = folder(&[("text", "needle \u{fffd}\n")]);
    write(dir.path().join("early"), b"\0needle\n").unwrap();
    write(dir.path().join("late"), [b"needle\n".as_slice(), &[b'x'; 200_000], b"\n\0"].concat()).unwrap();
    write(dir.path().join("latin"), b"needle \xe9\n").unwrap();
    write(dir.path().join("utf16"), b"\xff\xfen\0e\0e\0d\0l\0e\0\n\0").unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    let want = "latin:1: needle \u{fffd}\ntext:1: needle \u{fffd}\nutf16:1: needle";
    assert_eq!(found(&dir, json!({"pattern": "needle"})).await, want);
    let error = failure(&Grep, dir.path(), json!({"pattern": "x", "path": "pipe"})).await;
    assert_eq!(error, "pipe is neither a file nor a folder.");
}

#[tokio::test]
async fn files_with_keys_are_shown_only_when_they_are_named() {
    let dir = folder(&[("a", "x=1\n"), (".env", "x=2\n"), ("keys/.env", "x=3\n"), ("keys/b", "y\n")]);
    let search = async |arguments| {
        let mut cx = context(dir.path());
        cx.key_files = super::super::KeyFiles::new(|path| path.ends_with(".env"));
        text_of(&Grep.run(checked(&Grep, arguments), cx).await.content)
    };
    let notice = "that may hold keys left out. Give its path to search such a file]";
    assert_eq!(search(json!({"pattern": "x"})).await, format!("a:1: x=1\n\n[2 files {notice}"));
    let none = format!("No matches found\n\n[1 file {notice}");
    assert_eq!(search(json!({"pattern": "x", "path": "keys"})).await, none);
    assert_eq!(search(json!({"pattern": "x", "glob": ".env", "path": "keys"})).await, none);
    assert_eq!(search(json!({"pattern": "y"})).await, "keys/b:1: y");
    assert_eq!(search(json!({"pattern": "x", "path": ".env"})).await, ".env:1: x=2");
}

#[tokio::test]
async fn a_cancel_ends_the_search() {
    let dir = folder(&[("a", "x")]);
    let cx = context(dir.path());
    cx.cancel.cancel();
    let output = Grep.run(checked(&Grep, json!({"pattern": "x"})), cx).await;
    assert_eq!(text_of(&output.content), "No matches found\n\n[Search aborted before it was done]");
}
