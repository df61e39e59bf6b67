//! Work on files, off the async threads.

use super::ToolCx;
use crate::llm::BoxFuture;
use crate::proto::ask::AskPreview;
use crate::proto::tool::ToolOutput;
use std::path::Path;
use std::time::Duration;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;

/// How long a cancelled search or read may still take to give what it has.
const PATIENCE: Duration = Duration::from_millis(40);

/// Runs work that looks at the token often. After a cancel it has a moment to give what it has; work that hangs in
/// the file system is left behind, since it only reads.
pub async fn reading(
    cancel: CancellationToken,
    work: impl FnOnce(&CancellationToken) -> ToolOutput + Send + 'static,
) -> ToolOutput {
    let token = cancel.clone();
    let mut task = tokio::task::spawn_blocking(move || work(&token));
    let result = tokio::select! {
        biased;
        result = &mut task => result,
        () = cancel.cancelled() => match tokio::time::timeout(PATIENCE, task).await {
            Ok(result) => result,
            Err(_) => return stopped(),
        },
    };
    result.unwrap_or_else(|error| broken(&error))
}

/// Runs work that changes the file `target`, once nobody else does. Once begun it is never abandoned, so that what it
/// says is what happened.
pub async fn writing(
    cx: &ToolCx,
    target: &Path,
    work: impl FnOnce() -> ToolOutput + Send + 'static,
) -> ToolOutput {
    let _locked = tokio::select! {
        biased;
        () = cx.cancel.cancelled() => return stopped(),
        locked = cx.files.lock(target) => locked,
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| broken(&error))
}

/// Finds out what a call would change; nothing, if it can't be told.
pub fn previewing(
    work: impl FnOnce() -> Option<AskPreview> + Send + 'static,
) -> BoxFuture<'static, AskPreview> {
    Box::pin(async move {
        match tokio::task::spawn_blocking(work).await {
            Ok(preview) => preview.unwrap_or_default(),
            Err(error) => {
                tracing::error!(%error, "a preview broke");
                AskPreview::None
            }
        }
    })
}

/// The answer of a call that was stopped before it had anything.
pub fn stopped() -> ToolOutput {
    ToolOutput::error("Operation aborted")
}

fn broken(error: &JoinError) -> ToolOutput {
    tracing::error!(%error, "a tool broke");
    ToolOutput::error("The tool broke down while it ran; its result is unknown. Check before trying again.")
}
