//! What all dialects' requests have in common.

use super::Dialect;
use super::compat::Affinity;
use super::decode::Decoder;
use crate::proto::tool::ToolSpec;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A request in its dialect, ready to be sent, and the decoder for its answer.
pub struct Exchange {
    /// What follows the base URL.
    pub path: &'static str,
    /// Headers beside those for the key.
    pub headers: Vec<(&'static str, String)>,
    /// The JSON body.
    pub body: Vec<u8>,
    /// Reads the answer.
    pub decoder: Box<dyn Decoder>,
}

/// Headers that route the requests of one session to the machine that has its prompt cached.
pub fn affinity_headers(
    affinity: Option<Affinity>,
    dialect: Dialect,
    session_id: &str,
) -> Vec<(&'static str, String)> {
    let chat = dialect == Dialect::OpenAiCompletions;
    let names: &[&'static str] = match affinity {
        None => &[],
        Some(Affinity::OpenAi) if chat => &["session_id", "x-client-request-id", "x-session-affinity"],
        Some(Affinity::OpenAi) => &["session-id", "x-client-request-id"],
        Some(Affinity::OpenAiNoSession) if chat => &["x-client-request-id", "x-session-affinity"],
        Some(Affinity::OpenAiNoSession) => &["x-client-request-id"],
        Some(Affinity::OpenRouter) => &["x-session-id"],
        Some(Affinity::Plain) => &["x-session-affinity"],
    };
    names.iter().map(|name| (*name, session_id.to_owned())).collect()
}

/// The session's key for the provider's prompt cache: at most 64 characters.
pub fn cache_key(session_id: &str) -> String {
    session_id.chars().take(64).collect()
}

/// A tool's parameters; providers want an object schema even for tools that take nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schema<'a>(pub &'a ToolSpec);

impl Serialize for Schema<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.parameters.is_object() {
            return self.0.parameters.serialize(serializer);
        }
        let mut empty = Map::new();
        empty.insert("type".to_owned(), Value::from("object"));
        empty.insert("properties".to_owned(), Value::Object(Map::new()));
        empty.serialize(serializer)
    }
}

/// A picture as a data URL, written without a copy of its bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DataUrl<'a> {
    /// For example `image/png`.
    pub mime_type: &'a str,
    /// Base64 of the file.
    pub data: &'a str,
}

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("data:{};base64,{}", self.mime_type, self.data))
    }
}

/// An object inside a string, as OpenAI's dialects write the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArgumentText<'a>(pub &'a Map<String, Value>);

impl Serialize for ArgumentText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = serde_json::to_string(self.0).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&text)
    }
}
