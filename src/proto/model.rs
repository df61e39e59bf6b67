//! Which model answers, and how hard it thinks.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Names a model: the provider that serves it and the provider's own id for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelRef {
    /// Provider id, e.g. `anthropic`.
    pub provider: String,
    /// Model id as the provider knows it; may hold slashes and colons.
    pub id: String,
}

impl ModelRef {
    /// Names a model.
    pub fn new(provider: impl Into<String>, id: impl Into<String>) -> Self {
        Self { provider: provider.into(), id: id.into() }
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.id)
    }
}

/// How much a model may think before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    /// No thinking.
    Off,
    /// As little as the model offers.
    Minimal,
    /// A little.
    Low,
    /// The default.
    #[default]
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// Everything the model has.
    Max,
}

impl ThinkingLevel {
    /// All levels, lowest first.
    pub const ALL: [Self; 7] =
        [Self::Off, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The level's word in flags, settings and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl fmt::Display for ThinkingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ThinkingLevel {
    type Err = UnknownThinkingLevel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str() == text)
            .ok_or_else(|| UnknownThinkingLevel(text.to_owned()))
    }
}

/// A word that is no thinking level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no thinking level (off, minimal, low, medium, high, xhigh, max)")]
pub struct UnknownThinkingLevel(pub String);
