//! What a model can call. One tool a file; [`Tools`] is the table of them.
//!
//! A tool's failure is content for the model ([`ToolOutput::error`]); nothing a tool does ends a turn.

pub mod arguments;
mod atomic;
mod bash;
mod blocking;
mod diff;
mod edit;
mod file_locks;
mod find;
mod grep;
mod image;
mod ls;
pub mod paths;
mod read;
pub mod registry;
mod shell_job;
pub mod truncate;
mod walk;
mod write;

pub use bash::{UserCommand, run_for_user};
pub use file_locks::FileLocks;
pub use registry::{Tools, UnknownTool, malformed_call};

use crate::jobs::Jobs;
use crate::jobs::table::JobTable;
use crate::llm::BoxFuture;
use crate::proto::ask::{AskPreview, Subject};
use crate::proto::chain::{Chain, Wait};
use crate::proto::ids::CallId;
use crate::proto::tool::{ToolOutput, ToolSpec};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The arguments of a call.
pub type Arguments = Map<String, Value>;

/// Something a model can call.
pub trait Tool: Send + Sync {
    /// Name, description and schema for the model.
    fn spec(&self) -> &ToolSpec;

    /// One line for the list of tools in the system prompt.
    fn summary(&self) -> &str;

    /// The call may change something outside the conversation. In doubt, yes: mutating calls of a batch run one at a
    /// time and in order, the others in parallel.
    fn is_mutating(&self, arguments: &Arguments) -> bool;

    /// What the call touches, for the permission rules. Arguments are already checked against the schema.
    fn subjects(&self, arguments: &Arguments, cwd: &Path) -> Vec<Subject>;

    /// What is asked of the user, in one line: the path, the command.
    fn headline(&self, arguments: &Arguments) -> String;

    /// What the call would do, for the question to the user. Arguments are already checked against the schema.
    fn preview(&self, arguments: &Arguments, cwd: &Path) -> BoxFuture<'static, AskPreview> {
        let (_, _) = (arguments, cwd);
        Box::pin(std::future::ready(AskPreview::None))
    }

    /// After how long the call is stopped.
    fn time_limit(&self, arguments: &Arguments, limits: &ToolLimits) -> Option<std::time::Duration> {
        let (_, _) = (arguments, limits);
        None
    }

    /// Runs the call. Ends soon after `cx.cancel` fires, with what it has.
    fn run(&self, arguments: Arguments, cx: ToolCx) -> BoxFuture<'static, ToolOutput>;
}

/// What a running call gets from its session.
#[derive(Clone)]
pub struct ToolCx {
    /// The call.
    pub call: CallId,
    /// Working directory of the session.
    pub cwd: PathBuf,
    /// Fires when the user stops the turn.
    pub cancel: CancellationToken,
    /// Fires when the user wants the command to go on in the background.
    pub detach: CancellationToken,
    /// Takes new output while the call runs.
    pub progress: Progress,
    /// Shell processes.
    pub jobs: Arc<Jobs>,
    /// Background jobs.
    pub table: Arc<JobTable>,
    /// Where whole outputs go when the model gets only a part.
    pub output_dir: PathBuf,
    /// What the settings say.
    pub limits: ToolLimits,
    /// The model takes pictures.
    pub images: bool,
    /// One writer at a time per file.
    pub files: Arc<FileLocks>,
    /// What a search of a folder may not tell.
    pub withheld: Withheld,
}

/// Files whose contents a search of their folder leaves out, because a call that named them would not run.
#[derive(Clone)]
pub struct Withheld(Arc<dyn Fn(&Path) -> bool + Send + Sync>);

impl Withheld {
    /// The files that this function says, by absolute path.
    pub fn new(is_withheld: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_withheld))
    }

    /// No files.
    pub fn none() -> Self {
        Self::new(|_| false)
    }

    /// This file is left out.
    pub fn holds(&self, path: &Path) -> bool {
        (self.0)(path)
    }
}

/// What the settings say about tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolLimits {
    /// Time limit of a shell command that sets none; `None` is no limit.
    pub bash_timeout: Option<std::time::Duration>,
    /// The shell; `None` is bash, else sh.
    pub shell_path: Option<PathBuf>,
    /// Put in front of every command, with a newline.
    pub shell_prefix: Option<String>,
    /// Names of environment variables that hold provider keys: children never get them.
    pub secret_env: Vec<String>,
    /// Shrink large pictures.
    pub resize_images: bool,
}

/// What is new of a running call.
#[derive(Clone, Debug, PartialEq)]
pub enum ProgressNews {
    /// More output. A carriage return means that the current line begins anew.
    Output(String),
    /// The steps of a shell command, all of them. Output that comes belongs to the step that runs.
    Steps(Arc<Chain>),
    /// It waits for something that ends at a known time, or no longer does.
    Wait(Option<Wait>),
}

/// Takes what is new of a running call.
#[derive(Clone)]
pub struct Progress(Arc<dyn Fn(ProgressNews) + Send + Sync>);

impl Progress {
    /// News go to this function.
    pub fn new(sink: impl Fn(ProgressNews) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }

    /// News go nowhere.
    pub fn none() -> Self {
        Self::new(|_| {})
    }

    /// Tells new output, at most 30 times a second: collect in between. A carriage return means that the current line
    /// begins anew.
    pub fn send(&self, delta: String) {
        self.tell(ProgressNews::Output(delta));
    }

    /// Tells what is new.
    pub fn tell(&self, news: ProgressNews) {
        (self.0)(news);
    }
}

#[cfg(test)]
mod testing;
