//! Permission: what a call touches, the mode, what the user is asked and answers.

use super::ids::{AskId, CallId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// How much runs without asking. The mode shown is the mode enforced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionMode {
    /// Reading runs; edits and shell commands ask.
    #[default]
    Ask,
    /// Edits inside the project run; shell commands ask.
    Edits,
    /// Nothing asks; deny rules still hold.
    Yolo,
}

impl PermissionMode {
    /// All modes, in the order in which a key cycles them.
    pub const ALL: [Self; 3] = [Self::Ask, Self::Edits, Self::Yolo];

    /// The mode's word in flags, settings and on screen.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Edits => "edits",
            Self::Yolo => "yolo",
        }
    }
}

impl fmt::Display for PermissionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for PermissionMode {
    type Err = UnknownPermissionMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| UnknownPermissionMode(text.to_owned()))
    }
}

/// A word that is no permission mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no permission mode (ask, edits, yolo)")]
pub struct UnknownPermissionMode(pub String);

/// What one call touches, as far as its arguments tell. A call may have several; the strictest verdict wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Reads this file or folder (absolute).
    Read(PathBuf),
    /// Creates or changes this file (absolute).
    Write(PathBuf),
    /// Runs this shell command in this folder.
    Shell {
        /// The command text.
        command: String,
        /// Where it starts.
        cwd: PathBuf,
    },
    /// Anything else: judged by the tool's name alone.
    Other,
}

/// A call that waits for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionAsk {
    /// Answer with this id.
    pub id: AskId,
    /// The call.
    pub call: CallId,
    /// Tool name.
    pub tool: String,
    /// What is asked, in one line: the path or the command.
    pub summary: String,
    /// Why it asks: the rule or the mode.
    pub reason: String,
    /// Rules that would allow it from now on, narrowest first.
    pub suggestions: Vec<String>,
    /// What the call would do, whole.
    #[serde(default)]
    pub preview: AskPreview,
}

/// What a call would do, as far as that can be told before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskPreview {
    /// It runs this shell command, which may have many lines.
    Command(String),
    /// It changes a file.
    Change {
        /// The file, as the call names it.
        path: String,
        /// The change as a unified patch, made from the file as it is now.
        patch: String,
    },
    /// Nothing is known beyond the summary.
    #[default]
    None,
}

/// The user's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PermissionAnswer {
    /// This call only.
    Once,
    /// This call, and what the rule covers until the session ends.
    Session {
        /// A rule in the grammar of the settings.
        rule: String,
    },
    /// This call, and what the rule covers in this project from now on.
    Always {
        /// A rule in the grammar of the settings.
        rule: String,
    },
    /// Not this call; the turn ends.
    No,
    /// Not this call; the model reads why and goes on.
    NoWith {
        /// For the model.
        message: String,
    },
}
