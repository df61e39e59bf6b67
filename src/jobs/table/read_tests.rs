//! Reading of logs that are written here and now.

use super::*;
use crate::jobs::log::writer::LogWriter;
use std::time::Instant;
use tempfile::TempDir;

fn log_of(bytes: &[u8], cap: u64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    LogWriter::new(folder.path(), cap, 0).write(bytes, Instant::now());
    folder
}

fn numbers(count: u32) -> Vec<u8> {
    (0..count).map(|number| format!("line {number:05}\n")).collect::<String>().into_bytes()
}

fn texts(page: &ReadPage) -> Vec<&str> {
    page.lines.iter().map(|line| line.text.as_str()).collect()
}

fn spec(from: ReadFrom, grep: Option<&str>, max_lines: usize) -> ReadSpec {
    ReadSpec { from, grep: grep.map(str::to_owned), max_lines, ..ReadSpec::default() }
}

#[test]
fn pages_follow_on_each_other() {
    let folder = log_of(&numbers(250), 1 << 20);
    let (mut at, mut all) = (0, Vec::new());
    loop {
        let page = read(folder.path(), &spec(ReadFrom::Offset(at), None, 100), false).unwrap();
        all.extend(page.lines.iter().map(|line| (line.offset, line.text.clone())));
        at = page.next;
        if !page.has_more {
            assert_eq!((page.next, page.end), (250 * 11, 250 * 11));
            break;
        }
        assert_eq!(page.lines.len(), 100);
    }
    assert_eq!(all.len(), 250);
    for (number, (offset, text)) in (0_u64..).zip(&all) {
        assert_eq!((*offset, text.as_str()), (number * 11, format!("line {number:05}").as_str()));
    }
}

#[test]
fn the_tail_has_the_last_lines() {
    let folder = log_of(&numbers(5_000), 1 << 20);
    let page = read(folder.path(), &spec(ReadFrom::Tail, None, 3), true).unwrap();
    assert_eq!(texts(&page), ["line 04997", "line 04998", "line 04999"]);
    assert_eq!((page.lines[0].offset, page.next, page.has_more), (4997 * 11, 55_000, false));
    let page =
        read(folder.path(), &ReadSpec { max_bytes: 25, ..spec(ReadFrom::Tail, None, 9) }, true).unwrap();
    assert_eq!(page.lines.len(), 2, "as many as the bytes allow");
}

#[test]
fn a_large_log_is_read_by_its_end() {
    let folder = log_of(&numbers(300_000), 64 << 20);
    let page = read(folder.path(), &spec(ReadFrom::Tail, None, 2_000), false).unwrap();
    assert_eq!((page.lines.len(), texts(&page)[0]), (1_489, "line 298511"), "as many as the bytes allow");
    let page = read(folder.path(), &spec(ReadFrom::Tail, Some("0777$"), 2), false).unwrap();
    assert_eq!(texts(&page), ["line 280777", "line 290777"]);
}

#[test]
fn lines_that_match_from_an_offset() {
    let folder = log_of(&numbers(300), 1 << 20);
    let page = read(folder.path(), &spec(ReadFrom::Offset(11 * 100), Some("5$"), 3), false).unwrap();
    assert_eq!((texts(&page), page.has_more), (vec!["line 00105", "line 00115", "line 00125"], true));
    let page = read(folder.path(), &spec(ReadFrom::Offset(page.next), Some("5$"), 100), false).unwrap();
    assert_eq!((page.lines.len(), texts(&page)[0], page.has_more), (17, "line 00135", false));
    assert!(matches!(
        read(folder.path(), &spec(ReadFrom::Tail, Some("("), 3), false),
        Err(ReadError::Pattern(_))
    ));
}

#[test]
fn a_line_that_still_grows_comes_once_more() {
    let folder = log_of(b"one\n10%\r20%", 1 << 20);
    let page = read(folder.path(), &spec(ReadFrom::Offset(0), None, 9), true).unwrap();
    assert_eq!((texts(&page), page.next), (vec!["one", "20%"], 4));
    assert_eq!(page.text(), "0| one\n4| 20%\n[still running: read on from offset 4]\n");
    let page = read(folder.path(), &spec(ReadFrom::Offset(0), None, 9), false).unwrap();
    assert_eq!(page.next, 11);
    let page = read(folder.path(), &spec(ReadFrom::Tail, None, 9), true).unwrap();
    assert_eq!((texts(&page), page.next), (vec!["one", "20%"], 4));
}

#[test]
fn what_is_no_longer_kept_is_said() {
    let folder = log_of(&numbers(100), 110);
    let page = read(folder.path(), &spec(ReadFrom::Offset(0), None, 50), false).unwrap();
    assert_eq!((page.first_kept, page.lines.len()), (990, 10));
    assert!(page.text().contains("[bytes before 990 are no longer kept]"), "{}", page.text());
    assert!(page.text().ends_with("[end of the log, 1100 bytes]\n"));
    let nothing = read(tempfile::tempdir().unwrap().path(), &ReadSpec::default(), true).unwrap();
    assert_eq!(nothing.text(), "[nothing]\n[still running: read on from offset 0]\n");
}

#[test]
fn one_endless_line_is_cut() {
    let folder = log_of(&vec![b'x'; 3 << 20], 64 << 20);
    for from in [ReadFrom::Tail, ReadFrom::Offset(0)] {
        let page = read(folder.path(), &spec(from, None, 9), false).unwrap();
        assert_eq!(page.lines.len(), 1);
        assert!(page.lines[0].text.len() < 2_100 && page.lines[0].text.ends_with("more bytes]"));
        assert_eq!(page.next, 3 << 20);
    }
}

#[test]
fn text_of_a_log_is_harmless() {
    let folder = log_of("a\u{202e}b\x1b]0;title\x07c\0d\u{9b}31me\n".as_bytes(), 1 << 20);
    let page = read(folder.path(), &ReadSpec::default(), false).unwrap();
    assert!(!page.lines[0].text.chars().any(|c| c.is_control() || c == '\u{202e}'), "{:?}", page.lines);
}
