//! What a change of a file looks like: numbered lines for people, a patch for programs. Pure.

use super::paths;
use crate::proto::ask::AskPreview;
use serde_json::{Value, json};
use similar::{ChangeTag, DiffOp, TextDiff};
use std::time::Duration;

/// Unchanged lines around a change.
const CONTEXT: usize = 4;

/// Time after which a coarser difference has to do.
const PATIENCE: Duration = Duration::from_millis(500);

/// Bytes of text on both sides beyond which no difference is made.
const MOST_INPUT: usize = 8 << 20;

/// Bytes of a difference that are kept: logs hold them for good.
const MOST_OUTPUT: usize = 256 * 1024;

/// The details of a changed file: `diff`, `patch`, `firstChangedLine`. Nothing when nothing changed; only the line,
/// and `diffOmitted`, when the difference is too large to keep.
pub fn details(path: &str, old: &[u8], new: &[u8]) -> Option<Value> {
    if old == new {
        return None;
    }
    if old.len() + new.len() > MOST_INPUT {
        return Some(json!({ "diffOmitted": true }));
    }
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old.as_ref(), new.as_ref());
    let first = diff.ops().iter().find(|op| !matches!(op, DiffOp::Equal { .. }));
    let first = first.map(|op| op.new_range().start + 1);
    let numbered = numbered(&diff);
    let patch = diff.unified_diff().context_radius(CONTEXT).header(path, path).to_string();
    if numbered.len() + patch.len() > MOST_OUTPUT {
        return Some(json!({ "diffOmitted": true, "firstChangedLine": first }));
    }
    Some(json!({ "diff": numbered, "patch": patch, "firstChangedLine": first }))
}

/// The change of a file for the question to the user; `None` for what is not text, does not change, or is too large to
/// be read. Without an old content the file is made.
pub fn preview(path: &str, old: Option<&[u8]>, new: &[u8]) -> Option<AskPreview> {
    let before = old.unwrap_or_default();
    let is_binary = |content: &[u8]| content.contains(&0);
    if old == Some(new) || before.len() + new.len() > MOST_INPUT || is_binary(before) || is_binary(new) {
        return None;
    }
    let path = paths::shown(path.trim_end()).into_owned();
    let (before, new) = (String::from_utf8_lossy(before), String::from_utf8_lossy(new));
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before.as_ref(), new.as_ref());
    let from = if old.is_some() { path.as_str() } else { "/dev/null" };
    let patch = diff.unified_diff().context_radius(CONTEXT).header(from, &path).to_string();
    (patch.len() <= MOST_OUTPUT).then_some(AskPreview::Change { path, patch })
}

/// Lines with their numbers: the new one, of removed lines the old one.
fn numbered(diff: &TextDiff<'_, '_, str>) -> String {
    let width = diff.old_len().max(diff.new_len()).to_string().len();
    let groups = diff.grouped_ops(CONTEXT);
    let (mut lines, mut shown_until) = (Vec::new(), 0);
    for group in &groups {
        if group.first().is_some_and(|op| op.old_range().start > shown_until) {
            lines.push(format!(" {:width$} ...", ""));
        }
        for op in group {
            for change in diff.iter_changes(op) {
                let (sign, index) = match change.tag() {
                    ChangeTag::Equal => (' ', change.new_index()),
                    ChangeTag::Delete => ('-', change.old_index()),
                    ChangeTag::Insert => ('+', change.new_index()),
                };
                let number = index.map_or(0, |index| index + 1);
                lines.push(format!(
                    "{sign}{number:>width$} {}",
                    change.value().trim_end_matches(['\n', '\r'])
                ));
            }
            shown_until = op.old_range().end;
        }
    }
    if shown_until < diff.old_len() {
        lines.push(format!(" {:width$} ...", ""));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(range: std::ops::RangeInclusive<usize>) -> String {
        range.map(|number| format!("line {number}\n")).collect()
    }

    #[test]
    fn is_the_recorded_shape() {
        let details = details("a.txt", b"alpha\nbeta\ngamma\n", b"alpha\nBETA\ngamma\n").unwrap();
        assert_eq!(
            details,
            json!({
                "diff": " 1 alpha\n-2 beta\n+2 BETA\n 3 gamma",
                "patch": "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n alpha\n-beta\n+BETA\n gamma\n",
                "firstChangedLine": 2,
            })
        );
    }

    #[test]
    fn four_lines_of_context_and_gaps() {
        let old = lines(1..=30);
        let new = old.replace("line 10\n", "").replace("line 25\n", "line 25\nnew\n");
        let details = details("a", old.as_bytes(), new.as_bytes()).unwrap();
        let diff = details["diff"].as_str().unwrap();
        let want = "    ...\n  6 line 6\n  7 line 7\n  8 line 8\n  9 line 9\n-10 line 10\n 10 line 11";
        assert!(diff.starts_with(want), "{diff}");
        assert!(diff.contains("\n 13 line 14\n    ...\n 21 line 22\n"), "{diff}");
        assert!(diff.contains("\n+25 new\n") && diff.ends_with("line 29\n    ..."), "{diff}");
        assert_eq!(details["firstChangedLine"], json!(10));
    }

    #[test]
    fn line_ends_and_missing_ones() {
        let details = details("a", b"x\r\ny", b"x\r\nz").unwrap();
        assert_eq!(details["diff"], json!(" 1 x\n-2 y\n+2 z"));
        assert!(details["patch"].as_str().unwrap().contains("\\ No newline at end of file"));
        assert_eq!(super::details("a", b"same", b"same"), None);
    }

    #[test]
    fn a_preview_is_a_patch_or_nothing() {
        let patch = |old: Option<&[u8]>, new: &[u8]| match preview("a\u{1b}b ", old, new) {
            Some(AskPreview::Change { path, patch }) => Some((path, patch)),
            Some(AskPreview::Command(_) | AskPreview::None) => panic!("a change or nothing"),
            None => None,
        };
        let (path, changed) = patch(Some(b"x\n"), b"y\n").unwrap();
        assert_eq!((path.as_str(), changed.as_str()), ("a?b", "--- a?b\n+++ a?b\n@@ -1 +1 @@\n-x\n+y\n"));
        assert_eq!(patch(None, b"y\n").unwrap().1, "--- /dev/null\n+++ a?b\n@@ -0,0 +1 @@\n+y\n");
        assert!(patch(Some(b"caf\xe9\n"), b"caf\xe9s\n").is_some(), "an old encoding is text");
        let (large, huge) = (lines(1..=40_000), "x".repeat(MOST_INPUT));
        for (old, new) in [("same", "same"), ("a\0b", "ab"), ("ab", "a\0b"), ("", &large), ("x", &huge)] {
            assert_eq!(patch(Some(old.as_bytes()), new.as_bytes()), None);
        }
        let near_the_end = format!("{large}one more\n");
        assert!(
            patch(Some(large.as_bytes()), near_the_end.as_bytes()).is_some(),
            "the patch counts, not the file"
        );
    }

    #[test]
    fn what_is_too_large_is_left_out() {
        let (old, new) = (lines(1..=20_000), lines(30_000..=50_000));
        let details = details("a", old.as_bytes(), new.as_bytes()).unwrap();
        assert_eq!(details, json!({"diffOmitted": true, "firstChangedLine": 1}));
    }
}
