//! `ls`: the entries of a folder.

use super::arguments::{self, Arguments};
use super::registry::embedded_spec;
use super::truncate;
use super::{Tool, ToolCx, blocking, paths};
use crate::llm::BoxFuture;
use crate::proto::ask::Subject;
use crate::proto::tool::{ToolOutput, ToolSpec};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::LazyLock;
use tokio_util::sync::CancellationToken;

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| embedded_spec(include_str!("../../assets/tools/ls.json")));

/// Entries without a limit of the call.
const LIMIT: usize = 500;

/// The tool `ls`.
pub struct Ls;

impl Tool for Ls {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn summary(&self) -> &'static str {
        "List folders"
    }

    fn is_mutating(&self, _: &Arguments) -> bool {
        false
    }

    fn subjects(&self, arguments: &Arguments, cwd: &Path) -> Vec<Subject> {
        vec![Subject::Read(paths::resolve(folder(arguments), cwd))]
    }

    fn headline(&self, arguments: &Arguments) -> String {
        paths::shown(folder(arguments)).into_owned()
    }

    fn run(&self, arguments: Arguments, cx: ToolCx) -> BoxFuture<'static, ToolOutput> {
        let cwd = cx.cwd;
        Box::pin(blocking::reading(cx.cancel, move |cancel| {
            let given = folder(&arguments);
            let limit = arguments::count(&arguments, "limit").unwrap_or(LIMIT);
            list(given, &paths::resolve(given, &cwd), limit, cancel)
        }))
    }
}

fn folder(arguments: &Arguments) -> &str {
    arguments::text(arguments, "path").filter(|path| !path.trim().is_empty()).unwrap_or(".")
}

fn list(given: &str, folder: &Path, limit: usize, cancel: &CancellationToken) -> ToolOutput {
    if folder.is_file() {
        return ToolOutput::error(format!("{} is a file, not a folder.", paths::shown(given)));
    }
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return ToolOutput::error(paths::failed(given, folder, &error)),
    };
    let mut names = Vec::new();
    let mut unreadable = 0_usize;
    for entry in entries {
        if cancel.is_cancelled() {
            return blocking::stopped();
        }
        match entry {
            Ok(entry) => names.push(entry.file_name().to_string_lossy().into_owned()),
            Err(_) => unreadable += 1,
        }
    }
    if names.is_empty() && unreadable == 0 {
        return ToolOutput::text("(empty directory)");
    }
    names.sort_by_cached_key(|name| (name.to_lowercase(), name.clone()));
    let more = names.len() > limit;
    names.truncate(limit);
    let lines = names.iter().map(|name| {
        // A link to a folder counts as one; a link to nothing is just a name.
        let slash = if folder.join(name).is_dir() { "/" } else { "" };
        format!("{}{slash}", paths::shown(name))
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    let (shown, truncation) = truncate::head(&text);
    let mut notices = Vec::new();
    let mut details = Map::new();
    if more {
        notices
            .push(format!("{limit} entries limit reached. Use limit={} for more", limit.saturating_mul(2)));
        details.insert("entryLimitReached".to_owned(), json!(limit));
    }
    if truncation.truncated {
        notices.push(truncate::head_notice());
        details.insert("truncation".to_owned(), json!(truncation));
    }
    if unreadable > 0 {
        notices.push(format!("{unreadable} entries could not be read"));
    }
    with_notices(shown, &notices, details)
}

/// A listing with its notices in one bracket, and details where there are any.
pub(super) fn with_notices(shown: &str, notices: &[String], details: Map<String, Value>) -> ToolOutput {
    let notices = if notices.is_empty() { String::new() } else { format!("\n\n[{}]", notices.join(". ")) };
    let output = ToolOutput::text(format!("{shown}{notices}"));
    if details.is_empty() { output } else { output.with_details(Value::Object(details)) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, failure, text};
    use super::*;

    #[tokio::test]
    async fn entries_are_sorted_and_folders_marked() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b.txt", "A.txt", ".hidden", "line\nend"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        std::fs::create_dir(dir.path().join("Folder")).unwrap();
        std::os::unix::fs::symlink("Folder", dir.path().join("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("broken")).unwrap();
        let want = ".hidden\nA.txt\nb.txt\nbroken\nFolder/\nline?end\nlink/";
        assert_eq!(text(&Ls, dir.path(), json!({})).await, want);
        assert_eq!(text(&Ls, dir.path(), json!({"path": "Folder"})).await, "(empty directory)");
    }

    #[tokio::test]
    async fn the_notice_appears_only_beyond_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..5 {
            std::fs::write(dir.path().join(number.to_string()), "").unwrap();
        }
        let listed = |limit| text(&Ls, dir.path(), json!({ "limit": limit }));
        assert_eq!(listed(6).await, "0\n1\n2\n3\n4");
        assert_eq!(listed(5).await, "0\n1\n2\n3\n4");
        assert_eq!(listed(4).await, "0\n1\n2\n3\n\n[4 entries limit reached. Use limit=8 for more]");
        let details = call(&Ls, dir.path(), json!({"limit": 4})).await.details.unwrap();
        assert_eq!(details, json!({"entryLimitReached": 4}));
    }

    #[tokio::test]
    async fn what_is_no_folder_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        assert_eq!(failure(&Ls, dir.path(), json!({"path": "file"})).await, "file is a file, not a folder.");
        assert!(
            failure(&Ls, dir.path(), json!({"path": "fle"}))
                .await
                .contains("Similar names in that folder: file")
        );
    }
}
