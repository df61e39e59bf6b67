//! A prompt as the history keeps it.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A prompt that was sent once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptRecord {
    /// As it was shown: large pastes stand in it as their labels.
    pub text: String,
    /// The folder in which it was sent.
    pub folder: PathBuf,
    /// The pastes behind the labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pastes: Vec<PasteRecord>,
}

/// A large paste of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasteRecord {
    /// What stands for it, as in `[paste #1 +123 lines]`.
    pub label: String,
    /// The whole text.
    pub text: String,
}

/// What is being written, cut at the caret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draft {
    /// What stands before the caret.
    pub before: Vec<DraftPart>,
    /// What stands behind it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<DraftPart>,
}

/// A piece of what is being written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftPart {
    /// Text.
    Text(String),
    /// A large paste that is shown as its label.
    Paste(PasteRecord),
    /// A file that is mentioned, by its path.
    File(String),
}
