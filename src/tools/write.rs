//! `write`: a whole file.

use super::arguments::{self, Arguments};
use super::registry::embedded_spec;
use super::{Tool, ToolCx, atomic, blocking, diff, paths};
use crate::llm::BoxFuture;
use crate::proto::ask::{AskPreview, Subject};
use crate::proto::tool::{ToolOutput, ToolSpec};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::LazyLock;

static SPEC: LazyLock<ToolSpec> =
    LazyLock::new(|| embedded_spec(include_str!("../../assets/tools/write.json")));

/// Bytes of an overwritten file that are read to show what changed.
const MOST_COMPARED: u64 = 8 << 20;

/// The tool `write`.
pub struct Write;

impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn summary(&self) -> &'static str {
        "Create or overwrite files"
    }

    fn is_mutating(&self, _: &Arguments) -> bool {
        true
    }

    fn subjects(&self, arguments: &Arguments, cwd: &Path) -> Vec<Subject> {
        vec![Subject::Write(paths::resolve(path(arguments), cwd))]
    }

    fn headline(&self, arguments: &Arguments) -> String {
        paths::shown(path(arguments)).into_owned()
    }

    fn preview(&self, arguments: &Arguments, cwd: &Path) -> BoxFuture<'static, AskPreview> {
        let (arguments, target) = (arguments.clone(), paths::resolve(path(arguments), cwd));
        blocking::previewing(move || {
            let content = arguments::text(&arguments, "content").unwrap_or_default();
            let old = before(&target)?;
            diff::preview(path(&arguments), old.as_deref(), content.as_bytes())
        })
    }

    fn run(&self, arguments: Arguments, cx: ToolCx) -> BoxFuture<'static, ToolOutput> {
        Box::pin(async move {
            let target = paths::resolve(path(&arguments), &cx.cwd);
            let file = target.clone();
            blocking::writing(&cx, &target, move || write(&arguments, &file)).await
        })
    }
}

fn path(arguments: &Arguments) -> &str {
    arguments::text(arguments, "path").unwrap_or_default()
}

fn write(arguments: &Arguments, target: &Path) -> ToolOutput {
    let given = path(arguments);
    let content = arguments::text(arguments, "content").unwrap_or_default();
    let old = overwritten(target);
    if let Some(folder) = target.parent()
        && let Err(error) = std::fs::create_dir_all(folder)
    {
        return ToolOutput::error(format!("{}: its folder could not be made: {error}.", paths::shown(given)));
    }
    if let Err(error) = atomic::replace(target, content.as_bytes()) {
        return ToolOutput::error(format!("{}: {error}", paths::shown(given)));
    }
    let lines = content.lines().count();
    let (bytes, lines_word) = (content.len(), if lines == 1 { "line" } else { "lines" });
    let output = ToolOutput::text(format!(
        "Successfully wrote {bytes} bytes to {} ({lines} {lines_word}).",
        paths::shown(given.trim_end())
    ));
    match old.and_then(|old| diff::details(given, &old, content.as_bytes())) {
        Some(details) => output.with_details(details),
        None => output,
    }
}

/// What will be overwritten, to show the difference. A file that can't be read is simply not compared.
fn overwritten(target: &Path) -> Option<Vec<u8>> {
    let metadata = target.metadata().ok()?;
    (metadata.is_file() && metadata.len() <= MOST_COMPARED).then(|| std::fs::read(target).ok())?
}

/// What is there before a write: some content, or no file yet. `None` where a write would fail, or can't be shown.
#[expect(clippy::option_option, reason = "the two differ: nothing is there, and nothing can be told")]
fn before(target: &Path) -> Option<Option<Vec<u8>>> {
    match target.metadata() {
        Ok(_) => overwritten(target).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Some(None),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, checked, failure, text};
    use super::*;
    use serde_json::json;

    #[tokio::test]
    async fn bytes_and_lines_are_the_true_ones() {
        let dir = tempfile::tempdir().unwrap();
        for (content, want) in [
            ("", "Successfully wrote 0 bytes to new/a.txt (0 lines)."),
            ("é\n", "Successfully wrote 3 bytes to new/a.txt (1 line)."),
            ("a\nb\r\nc", "Successfully wrote 6 bytes to new/a.txt (3 lines)."),
        ] {
            assert_eq!(
                text(&Write, dir.path(), json!({"path": "new/a.txt", "content": content})).await,
                want
            );
            assert_eq!(std::fs::read_to_string(dir.path().join("new/a.txt")).unwrap(), content);
        }
    }

    #[tokio::test]
    async fn an_overwrite_shows_what_changed() {
        let dir = tempfile::tempdir().unwrap();
        let write = |content: &str| call(&Write, dir.path(), json!({"path": "a", "content": content}));
        assert_eq!(write("one\ntwo\n").await.details, None);
        let details = write("one\n2\n").await.details.unwrap();
        assert_eq!(details["diff"], json!(" 1 one\n-2 two\n+2 2"));
        assert_eq!(details["firstChangedLine"], json!(2));
        assert_eq!(write("one\n2\n").await.details, None);
    }

    #[tokio::test]
    async fn a_preview_changes_nothing_and_is_empty_where_the_write_would_fail() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "one\n").unwrap();
        let preview = |given| Write.preview(&checked(&Write, given), dir.path());
        let AskPreview::Change { path, patch } = preview(json!({"path": "file", "content": "1\n"})).await
        else {
            panic!("a change")
        };
        assert_eq!((path.as_str(), patch.as_str()), ("file", "--- file\n+++ file\n@@ -1 +1 @@\n-one\n+1\n"));
        for path in [".", "file/below"] {
            assert_eq!(preview(json!({"path": path, "content": "x"})).await, AskPreview::None);
        }
        assert!(matches!(
            preview(json!({"path": "a/b/new", "content": "x"})).await,
            AskPreview::Change { .. }
        ));
        assert_eq!(std::fs::read_to_string(dir.path().join("file")).unwrap(), "one\n");
        assert!(!dir.path().join("a").exists());
    }

    #[tokio::test]
    async fn what_can_not_be_written_is_told() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let error = failure(&Write, dir.path(), json!({"path": ".", "content": ""})).await;
        assert_eq!(error, ".: not a regular file. The file is as it was.");
        let error = failure(&Write, dir.path(), json!({"path": "file/below", "content": ""})).await;
        assert!(error.contains("its folder could not be made"), "{error}");
    }
}
