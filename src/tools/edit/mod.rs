//! `edit`: exact replacements in one file.
//!
//! Invariant: every byte outside the matched places is written back as it was, whatever its encoding and line ends.

mod nearest;
mod replace;
mod view;

use super::arguments::{self, Arguments};
use super::registry::embedded_spec;
use super::{Tool, ToolCx, atomic, blocking, diff, paths};
use crate::llm::BoxFuture;
use crate::proto::ask::{AskPreview, Subject};
use crate::proto::tool::{ToolOutput, ToolSpec};
use replace::Edit as Replacement;
use serde_json::Value;
use std::path::Path;
use std::sync::LazyLock;

static SPEC: LazyLock<ToolSpec> =
    LazyLock::new(|| embedded_spec(include_str!("../../../assets/tools/edit.json")));

/// Bytes of a file that can be edited: it is held in memory several times.
const MOST_BYTES: u64 = 64 << 20;

/// The tool `edit`.
pub struct Edit;

impl Tool for Edit {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn summary(&self) -> &'static str {
        "Change files by exact replacement, several places at once"
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
            let (old, new) = edited(&arguments, &target).ok()?;
            diff::preview(path(&arguments), Some(&old), &new)
        })
    }

    fn run(&self, arguments: Arguments, cx: ToolCx) -> BoxFuture<'static, ToolOutput> {
        Box::pin(async move {
            let target = paths::resolve(path(&arguments), &cx.cwd);
            let file = target.clone();
            blocking::writing(&cx, &target, move || edit(&arguments, &file).unwrap_or_else(ToolOutput::error))
                .await
        })
    }
}

fn path(arguments: &Arguments) -> &str {
    arguments::text(arguments, "path").unwrap_or_default()
}

fn edit(arguments: &Arguments, target: &Path) -> Result<ToolOutput, String> {
    let given = path(arguments);
    let name = paths::shown(given.trim_end());
    let (old, new) = edited(arguments, target)?;
    atomic::replace(target, &new).map_err(|error| format!("{name}: {error}"))?;
    let blocks = replacements(arguments).len();
    let output = ToolOutput::text(format!("Successfully replaced {blocks} block(s) in {name}."));
    Ok(match diff::details(given, &old, &new) {
        Some(details) => output.with_details(details),
        None => output,
    })
}

/// The file as it is and as it would be.
fn edited(arguments: &Arguments, target: &Path) -> Result<(Vec<u8>, Vec<u8>), String> {
    let given = path(arguments);
    let name = paths::shown(given.trim_end());
    let edits = replacements(arguments);
    if edits.is_empty() {
        return Err("`edits` is empty: there is nothing to replace.".to_owned());
    }
    let failed = |error| paths::failed(given, target, &error);
    let metadata = target.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(format!("{name} is not a regular file and can't be edited."));
    }
    if metadata.len() > MOST_BYTES {
        return Err(format!(
            "{name} is too large to be edited with this tool. Use bash, for example with sed."
        ));
    }
    let old = std::fs::read(target).map_err(failed)?;
    let new = replace::apply(&old, &edits).map_err(|problem| problem.explain(&name, &old, &edits))?;
    Ok((old, new))
}

fn replacements(arguments: &Arguments) -> Vec<Replacement> {
    let edits = arguments.get("edits").and_then(Value::as_array).into_iter().flatten();
    let field =
        |edit: &Value, name: &str| edit.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    edits.map(|edit| Replacement { old: field(edit, "oldText"), new: field(edit, "newText") }).collect()
}

#[cfg(test)]
mod tests;
