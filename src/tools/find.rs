//! `find`: files and folders by name.

use super::arguments::{self, Arguments};
use super::ls::with_notices;
use super::registry::embedded_spec;
use super::truncate;
use super::walk::{self, Pattern};
use super::{Tool, ToolCx, blocking, paths};
use crate::llm::BoxFuture;
use crate::proto::ask::Subject;
use crate::proto::tool::{ToolOutput, ToolSpec};
use serde_json::{Map, json};
use std::path::Path;
use std::sync::LazyLock;
use tokio_util::sync::CancellationToken;

static SPEC: LazyLock<ToolSpec> =
    LazyLock::new(|| embedded_spec(include_str!("../../assets/tools/find.json")));

/// Results without a limit of the call.
const LIMIT: usize = 1000;

/// The tool `find`.
pub struct Find;

impl Tool for Find {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn summary(&self) -> &'static str {
        "Find files by name (leaves out ignored files)"
    }

    fn is_mutating(&self, _: &Arguments) -> bool {
        false
    }

    fn subjects(&self, arguments: &Arguments, cwd: &Path) -> Vec<Subject> {
        vec![Subject::Read(paths::resolve(folder(arguments), cwd))]
    }

    fn headline(&self, arguments: &Arguments) -> String {
        let pattern = arguments::text(arguments, "pattern").unwrap_or_default();
        format!("{} in {}", paths::shown(pattern), paths::shown(folder(arguments)))
    }

    fn run(&self, arguments: Arguments, cx: ToolCx) -> BoxFuture<'static, ToolOutput> {
        let cwd = cx.cwd;
        Box::pin(blocking::reading(cx.cancel, move |cancel| find(&arguments, &cwd, cancel)))
    }
}

fn folder(arguments: &Arguments) -> &str {
    arguments::text(arguments, "path").filter(|path| !path.trim().is_empty()).unwrap_or(".")
}

fn find(arguments: &Arguments, cwd: &Path, cancel: &CancellationToken) -> ToolOutput {
    let given = folder(arguments);
    let root = paths::resolve(given, cwd);
    match root.metadata() {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return ToolOutput::error(format!("{} is a file, not a folder.", paths::shown(given))),
        Err(error) => return ToolOutput::error(paths::failed(given, &root, &error)),
    }
    let pattern = match Pattern::new(arguments::text(arguments, "pattern").unwrap_or_default()) {
        Ok(pattern) => pattern,
        Err(problem) => return ToolOutput::error(problem),
    };
    let limit = arguments::count(arguments, "limit").unwrap_or(LIMIT);
    let mut found = Vec::new();
    let mut unreadable = 0_usize;
    let (mut notices, mut details) = (Vec::new(), Map::new());
    for entry in walk::below(&root) {
        if cancel.is_cancelled() {
            notices.push("Search aborted before it was done".to_owned());
            break;
        }
        let Ok(entry) = entry else {
            unreadable += 1;
            continue;
        };
        if entry.depth() == 0 || !pattern.matches(entry.path(), &root) {
            continue;
        }
        if found.len() == limit {
            notices.push(format!(
                "{limit} results limit reached. Use limit={} for more, or refine pattern",
                limit.saturating_mul(2)
            ));
            details.insert("resultLimitReached".to_owned(), json!(limit));
            break;
        }
        let slash = if entry.file_type().is_some_and(|kind| kind.is_dir()) { "/" } else { "" };
        found.push(format!("{}{slash}", paths::relative(entry.path(), &root)));
    }
    let text = if found.is_empty() { "No files found matching pattern".to_owned() } else { found.join("\n") };
    let (shown, truncation) = truncate::head(&text);
    if truncation.truncated {
        notices.push(truncate::head_notice());
        details.insert("truncation".to_owned(), json!(truncation));
    }
    if unreadable > 0 {
        notices.push(format!("{unreadable} folders could not be read"));
    }
    with_notices(shown, &notices, details)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{call, checked, context, failure, text};
    use super::*;
    use crate::proto::message::text_of;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        dir
    }

    #[tokio::test]
    async fn names_paths_hidden_files_and_ignore_files() {
        let dir = tree(&["b/x.rs", "a/x.rs", ".hid/x.rs", ".git/x.rs", "gone/x.rs", "a/sub/no.rs", "top.rs"]);
        std::fs::write(dir.path().join(".gitignore"), "gone/\n").unwrap();
        std::fs::write(dir.path().join("a/.gitignore"), "no.rs\n").unwrap();
        let found = |pattern: &str| text(&Find, dir.path(), json!({ "pattern": pattern }));
        assert_eq!(found("*.rs").await, ".hid/x.rs\na/x.rs\nb/x.rs\ntop.rs");
        assert_eq!(found("a/*.rs").await, "a/x.rs");
        assert_eq!(found("sub").await, "a/sub/");
        assert_eq!(found("*.py").await, "No files found matching pattern");
        assert_eq!(text(&Find, dir.path(), json!({"pattern": "*.rs", "path": "a"})).await, "x.rs");
    }

    #[tokio::test]
    async fn the_notice_appears_only_beyond_the_limit() {
        let dir = tree(&["1", "2", "3"]);
        let found = |limit| text(&Find, dir.path(), json!({"pattern": "*", "limit": limit}));
        assert_eq!(found(4).await, "1\n2\n3");
        assert_eq!(found(3).await, "1\n2\n3");
        let cut = "1\n2\n\n[2 results limit reached. Use limit=4 for more, or refine pattern]";
        assert_eq!(found(2).await, cut);
        let details = call(&Find, dir.path(), json!({"pattern": "*", "limit": 2})).await.details;
        assert_eq!(details, Some(json!({"resultLimitReached": 2})));
        assert_eq!(call(&Find, dir.path(), json!({"pattern": "*", "limit": 3})).await.details, None);
    }

    #[tokio::test]
    async fn errors_name_what_is_wrong() {
        let dir = tree(&["file"]);
        let fail = |given| failure(&Find, dir.path(), given);
        assert!(fail(json!({"pattern": "[", "path": "."})).await.contains("no valid glob"));
        assert_eq!(fail(json!({"pattern": "*", "path": "file"})).await, "file is a file, not a folder.");
        assert_eq!(fail(json!({"pattern": "*", "path": "zzz"})).await, "zzz does not exist.");
    }

    #[tokio::test]
    async fn a_cancel_ends_the_walk() {
        let dir = tree(&["1"]);
        let cx = context(dir.path());
        cx.cancel.cancel();
        let output = Find.run(checked(&Find, json!({"pattern": "*"})), cx).await;
        assert!(text_of(&output.content).contains("aborted"));
    }
}
