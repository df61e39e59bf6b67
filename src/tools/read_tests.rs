use super::super::testing::{call, checked, context, failure, text};
use super::*;
use crate::proto::message::text_of;
use serde_json::Value;
use std::fs::write;

fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("{number}\n")).collect()
}

async fn read(content: impl AsRef<[u8]>, mut given: Value) -> ToolOutput {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("a.txt"), content).unwrap();
    given["path"] = json!("a.txt");
    call(&Read, dir.path(), given).await
}

async fn shown(content: impl AsRef<[u8]>, given: Value) -> String {
    text_of(&read(content, given).await.content)
}

#[tokio::test]
async fn a_whole_file_is_shown_as_it_is() {
    for content in ["alpha\nbeta\n", "no line end", "\n\n", "dos\r\nline\r\n"] {
        let output = read(content, json!({})).await;
        assert_eq!((text_of(&output.content).as_str(), &output.details), (content, &None));
    }
    assert_eq!(shown("", json!({})).await, "(empty file)");
    assert_eq!(shown("\u{feff}bom", json!({})).await, "bom");
}

#[tokio::test]
async fn slices_and_their_notices() {
    for (given, want) in [
        (json!({"offset": 4}), "4\n5\n"),
        (json!({"offset": 2, "limit": 2}), "2\n3\n\n[2 more lines in file. Use offset=4 to continue.]"),
        (json!({"offset": 4, "limit": 2}), "4\n5\n"),
        (json!({"limit": 4}), "1\n2\n3\n4\n\n[1 more lines in file. Use offset=5 to continue.]"),
        (json!({"limit": 5}), "1\n2\n3\n4\n5\n"),
        (json!({"limit": 6}), "1\n2\n3\n4\n5\n"),
        (json!({"offset": 0}), "1\n2\n3\n4\n5\n"),
        (json!({"offset": 6}), "Offset 6 is beyond end of file (5 lines total)."),
    ] {
        assert_eq!(shown(lines(5), given.clone()).await, want, "{given}");
    }
    assert!(read(lines(5), json!({"offset": 6})).await.is_error);
}

#[tokio::test]
async fn the_limit_of_lines() {
    for count in [1999, 2000] {
        assert_eq!(shown(lines(count), json!({})).await, lines(count));
    }
    let output = read(lines(2001), json!({})).await;
    let text = text_of(&output.content);
    assert!(text.ends_with("2000\n\n[Showing lines 1-2000 of 2001. Use offset=2001 to continue.]"), "{text}");
    let record = &output.details.unwrap()["truncation"];
    assert_eq!(
        (&record["truncatedBy"], &record["totalLines"], &record["outputLines"]),
        (&json!("lines"), &json!(2001), &json!(2000))
    );
    let text = shown(lines(5000), json!({"offset": 1001, "limit": 2500})).await;
    assert!(text.ends_with("[Showing lines 1001-3000 of 5000. Use offset=3001 to continue.]"));
}

#[tokio::test]
async fn the_limit_of_bytes() {
    for extra in [0, 1] {
        let content = format!("{}\n{}\n", "a".repeat(100), "b".repeat(MAX_BYTES - 102 + extra));
        assert_eq!(shown(&content, json!({})).await, content, "{extra}");
    }
    let content = format!("{}\n{}\n", "a".repeat(100), "b".repeat(MAX_BYTES - 100));
    let want =
        format!("{}\n\n[Showing lines 1-1 of 2 (50.0KB limit). Use offset=2 to continue.]", "a".repeat(100));
    assert_eq!(shown(&content, json!({})).await, want);
}

#[tokio::test]
async fn a_line_that_is_too_long_alone() {
    let content = format!("short\n{}\nend", "é".repeat(40_000));
    let output = read(&content, json!({"offset": 2})).await;
    let want = "[Line 2 is 78.1KB, exceeds 50.0KB limit. Use bash: sed -n '2p' a.txt | head -c 51200]";
    assert_eq!(text_of(&output.content), want);
    assert_eq!(output.details.unwrap()["truncation"]["firstLineExceedsLimit"], json!(true));
    assert_eq!(quoted("it's here"), r"'it'\''s here'");
}

#[tokio::test]
async fn bytes_that_are_no_text_are_counted() {
    let text = shown(b"caf\xe9 \xff\n", json!({})).await;
    assert_eq!(
        text,
        "caf\u{fffd} \u{fffd}\n\n[2 bytes are not valid UTF-8 and are shown as \u{fffd}.]"
            .replacen("\n\n\n", "\n\n", 1)
    );
    let text = shown(b"\x7fELF\0\0\0", json!({})).await;
    assert!(text.contains("is a binary file of 7B"), "{text}");
}

#[tokio::test]
async fn a_picture_is_recognised_by_its_content() {
    let mut png = io::Cursor::new(Vec::new());
    ::image::RgbImage::new(3, 2).write_to(&mut png, ::image::ImageFormat::Png).unwrap();
    let output = read(png.into_inner(), json!({})).await;
    assert_eq!(text_of(&output.content), "Read image file [image/png]");
    assert!(matches!(output.content.get(1), Some(Block::Image { .. })));
}

#[tokio::test]
async fn what_is_no_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("notes.md"), "").unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    let fail = |path: &str| failure(&Read, dir.path(), json!({ "path": path }));
    assert_eq!(fail(".").await, ". is a folder. Use ls to see what is in it.");
    assert!(fail("pipe").await.starts_with("pipe is not a regular file"));
    assert!(fail("/dev/zero").await.starts_with("/dev/zero is not a regular file"));
    assert_eq!(fail("note.md").await, "note.md does not exist. Similar names in that folder: notes.md.");
    assert_eq!(text(&Read, dir.path(), json!({"path": "@notes.md"})).await, "(empty file)");
}

/// A sparse file whose last line is far larger than anything that is held.
#[tokio::test]
async fn a_huge_file_is_streamed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("huge");
    write(&path, format!("{}{}", "x".repeat(9000), "\nsecond\nthird\n")).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(64 << 20).unwrap();
    let output = text(&Read, dir.path(), json!({"path": "huge", "offset": 2, "limit": 1})).await;
    assert_eq!(output, "second\n\n[2 more lines in file. Use offset=3 to continue.]");
    let output = text(&Read, dir.path(), json!({"path": "huge", "offset": 4})).await;
    assert!(output.starts_with("[Line 4 is 64.0MB, exceeds 50.0KB limit."), "{output}");
    let cx = context(dir.path());
    cx.cancel.cancel();
    let output = Read.run(checked(&Read, json!({"path": "huge"})), cx).await;
    assert_eq!(text_of(&output.content), "Operation aborted");
}
