//! What a session is made of.

use crate::agent::context::SystemPrompt;
use crate::agent::driver::Workshop;
use crate::agent::permission::Rules;
use crate::llm::error::LlmError;
use crate::llm::retry::RetryPolicy;
use crate::llm::{Model, Provider};
use crate::proto::ask::PermissionMode;
use crate::proto::message::{Message, SystemMessage};
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::proto::usage::{Counts, Usage};
use crate::store::log::Log;
use crate::tools::Tools;
use std::path::PathBuf;
use std::sync::Arc;

/// Finds models and those who answer for them.
pub trait ModelSource: Send + Sync {
    /// The model and its provider. The error is for people.
    fn resolve(&self, model: &ModelRef) -> Result<(Arc<Model>, Arc<dyn Provider>), LlmError>;
}

/// Keeps a rule that the user allowed for this project. The error is for people.
pub type SaveGrant = Arc<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// What a session is made of.
pub struct SessionParts {
    /// The log; entries it already has are in `history`.
    pub log: Log,
    /// The conversation so far.
    pub history: Vec<Arc<Message>>,
    /// Prompt sections and tools that the log has declared.
    pub declared: Option<SystemMessage>,
    /// Model, level and name that the log has.
    pub logged: Logged,
    /// Another name; `None` keeps the log's.
    pub name: Option<String>,
    /// Tokens and price so far.
    pub usage: Usage,
    /// What happened so far.
    pub counts: Counts,
    /// Model that answers first.
    pub model: Arc<Model>,
    /// Who answers for it.
    pub provider: Arc<dyn Provider>,
    /// Finds others.
    pub models: Arc<dyn ModelSource>,
    /// Thinking level wanted; clamped to what the model offers.
    pub thinking: ThinkingLevel,
    /// Permission mode.
    pub mode: PermissionMode,
    /// Permission rules.
    pub rules: Rules,
    /// Keeps rules for later sessions.
    pub save_grant: SaveGrant,
    /// There is someone to ask. Without, what would ask is refused.
    pub interactive: bool,
    /// Tools the model gets.
    pub tools: Tools,
    /// What the model is told.
    pub system: SystemPrompt,
    /// What calls share.
    pub workshop: Workshop,
    /// Folders that permissions depend on.
    pub folders: Folders,
    /// Retry of failed requests.
    pub retry: RetryPolicy,
    /// Rounds of a turn; 0 is no limit.
    pub max_rounds: u32,
}

/// Folders that permissions depend on.
#[derive(Debug, Clone)]
pub struct Folders {
    /// Root of the project.
    pub project_root: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// Our own configuration.
    pub config: PathBuf,
}

/// What the log says about model, level and name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logged {
    /// Model of the last request or choice.
    pub model: Option<ModelRef>,
    /// Thinking level.
    pub thinking: Option<ThinkingLevel>,
    /// Name.
    pub name: Option<String>,
}
