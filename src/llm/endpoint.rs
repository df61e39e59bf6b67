//! Where requests go and with which key.

use std::collections::BTreeMap;
use std::fmt;

/// A key. It has no way to be printed: `Debug` shows dots, there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key itself, for a request header and nothing else.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// How a provider wants its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyStyle {
    /// As the dialect does: `x-api-key` for Anthropic Messages, a bearer token for the others.
    #[default]
    Dialect,
    /// Always a bearer token.
    Bearer,
}

/// Where requests go and with which key. `Debug` names the headers and leaves out their values: they can be keys.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Provider id, for error texts.
    pub provider: String,
    /// How people call the provider.
    pub provider_name: String,
    /// Base URL as the dialect's documents write it.
    pub base_url: String,
    /// The key; local servers need none.
    pub key: Option<Secret>,
    /// The environment variable that the key usually stands in, for error texts.
    pub key_variable: Option<String>,
    /// How it is sent.
    pub key_style: KeyStyle,
    /// Extra headers; they win over ours.
    pub headers: BTreeMap<String, String>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("provider", &self.provider)
            .field("base_url", &self.base_url)
            .field("key", &self.key)
            .field("key_style", &self.key_style)
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}
