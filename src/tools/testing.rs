//! A context for tests of tools.

use super::{Arguments, FileLocks, Progress, Tool, ToolCx, ToolLimits, Withheld, arguments};
use crate::jobs::Jobs;
use crate::jobs::table::testing::jobs_in;
use crate::proto::ids::CallId;
use crate::proto::message::text_of;
use crate::proto::tool::ToolOutput;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A context in this folder, with the settings' defaults.
pub fn context(cwd: &Path) -> ToolCx {
    ToolCx {
        call: CallId::new("call"),
        cwd: cwd.to_owned(),
        cancel: CancellationToken::new(),
        detach: CancellationToken::new(),
        progress: Progress::none(),
        jobs: Jobs::new(),
        table: jobs_in(cwd).0,
        output_dir: cwd.join(".output"),
        limits: ToolLimits {
            bash_timeout: Some(std::time::Duration::from_secs(120)),
            shell_path: None,
            shell_prefix: None,
            secret_env: Vec::new(),
            resize_images: true,
        },
        images: true,
        files: Arc::new(FileLocks::default()),
        withheld: Withheld::none(),
    }
}

/// Checked arguments of a tool.
pub fn checked(tool: &dyn Tool, given: Value) -> Arguments {
    let Value::Object(given) = given else { panic!("arguments are an object") };
    arguments::check(&tool.spec().parameters, given).unwrap()
}

/// Runs a call in this folder.
pub async fn call(tool: &dyn Tool, cwd: &Path, given: Value) -> ToolOutput {
    tool.run(checked(tool, given), context(cwd)).await
}

/// Runs a call that must succeed; its text.
pub async fn text(tool: &dyn Tool, cwd: &Path, given: Value) -> String {
    let output = call(tool, cwd, given).await;
    assert!(!output.is_error, "{}", text_of(&output.content));
    text_of(&output.content)
}

/// Runs a call that must fail; its text.
pub async fn failure(tool: &dyn Tool, cwd: &Path, given: Value) -> String {
    let output = call(tool, cwd, given).await;
    assert!(output.is_error, "{}", text_of(&output.content));
    text_of(&output.content)
}
