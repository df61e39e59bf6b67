//! What the request checks of all dialects share.

use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

/// What is wrong with a request: each finding names the place and the rule.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<String>);

impl Findings {
    pub fn add(&mut self, place: impl Display, what: impl Display) {
        self.0.push(format!("{place}: {what}"));
    }

    /// Adds the finding when the rule does not hold.
    pub fn expect(&mut self, holds: bool, place: impl Display, what: impl Display) {
        if !holds {
            self.add(place, what);
        }
    }

    pub fn into_vec(self) -> Vec<String> {
        self.0
    }
}

/// A request and what was sent before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    pub headers: &'a BTreeMap<String, String>,
    pub body: &'a Value,
    /// Ids this server gave out, with the thinking they must be replayed with.
    pub ties: &'a HashMap<String, String>,
}

/// The elements of an array; nothing for any other value.
pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The text of a string; empty for any other value.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A text that holds more than white space.
pub(super) fn says_something(value: &Value) -> bool {
    !text(value).trim().is_empty()
}

/// Letters, digits, `_` and `-`, at least one, at most `most` of them.
pub(super) fn is_name(value: &Value, most: usize) -> bool {
    let name = text(value);
    !name.is_empty()
        && name.len() <= most
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// The JSON text of an object.
pub(super) fn is_object_text(value: &Value) -> bool {
    serde_json::from_str::<Value>(text(value)).is_ok_and(|value| value.is_object())
}

/// What every dialect asks of a request.
pub(super) fn common(seen: Seen<'_>, found: &mut Findings) {
    let json = seen.headers.get("content-type").is_some_and(|kind| kind.starts_with("application/json"));
    found.expect(json, "content-type", "must be application/json");
    found.expect(seen.body.is_object(), "body", "must be a JSON object");
    found.expect(says_something(&seen.body["model"]), "model", "is missing");
    found.expect(seen.body["stream"] == true, "stream", "must be true: only streams are served");
}

/// Declarations of tools: name, object schema, no name twice. `schema` names the field of the schema.
pub(super) fn tools<'a>(
    tools: impl Iterator<Item = (String, &'a Value)>,
    schema: &str,
    most: usize,
    found: &mut Findings,
) {
    let mut names = Vec::new();
    for (place, tool) in tools {
        let name = &tool["name"];
        found.expect(is_name(name, most), format_args!("{place}.name"), "must be letters, digits, _ or -");
        found.expect(!names.contains(&name), format_args!("{place}.name"), "is declared twice");
        found.expect(
            tool[schema]["type"] == "object",
            format_args!("{place}.{schema}"),
            "must be an object schema",
        );
        names.push(name);
    }
}
