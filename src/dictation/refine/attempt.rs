//! What an answer means: a text, another try without the reference, or a failure.

use super::{Reason, output, prompt::Style};
use serde_json::Value;
use std::time::Duration;

/// Another try needs this much of the time.
pub const LEAST_TIME: Duration = Duration::from_secs(1);

/// What came of a request.
// No `Debug`: it holds what was said.
pub enum Answer {
    /// The model was done by itself.
    Text(String),
    /// The answer ran out of room.
    CutShort,
    /// The model wanted something else than to answer, as a tool.
    NoText,
    /// The request failed.
    Failed {
        /// Why.
        reason: Reason,
        /// The provider's error object says that the request was too large or malformed ([`complains_of_input`]).
        complains_of_input: bool,
    },
}

/// What to do next.
// No `Debug`: it holds what was said.
pub enum Next {
    /// Use this.
    Use(String),
    /// Ask once more without the reference, before the same deadline.
    WithoutReference,
    /// Use the transcript.
    GiveUp(Reason),
}

/// Judges an answer. `had_reference`: the request held one, so this was the first try. `left`: time until the deadline.
pub fn judge(answer: Answer, style: Style, had_reference: bool, left: Duration) -> Next {
    match answer {
        Answer::Text(text) => match output::usable(style, &text) {
            Ok(text) => Next::Use(text),
            Err(reason) => Next::GiveUp(reason),
        },
        Answer::CutShort => Next::GiveUp(Reason::CutShort),
        Answer::NoText => Next::GiveUp(Reason::InvalidResponse),
        Answer::Failed { complains_of_input: true, .. } if had_reference && left >= LEAST_TIME => {
            Next::WithoutReference
        }
        Answer::Failed { complains_of_input: true, .. } => Next::GiveUp(Reason::TooLarge),
        Answer::Failed { reason, .. } => Next::GiveUp(reason),
    }
}

/// Words of errors that a smaller or simpler request can avoid; compared in lower case, `_` and `-` as blanks.
const COMPLAINTS: &[&str] = &[
    "context length",
    "context window",
    "maximum context",
    "too many tokens",
    "token limit",
    "payload too large",
    "request too large",
    "request entity too large",
    "input too long",
    "input is too long",
    "prompt is too long",
    "message content",
    "messages",
    "invalid json",
    "json schema",
];

/// Whether a failed response says that the request was too large or malformed: status 413; or 400 and 422 whose error
/// object speaks of it in its code, type, param or message. A body that is no JSON says nothing.
pub fn complains_of_input(status: u16, body: &str) -> bool {
    match status {
        413 => true,
        400 | 422 => serde_json::from_str(body).is_ok_and(|body: Value| error_speaks_of_input(&body)),
        _ => false,
    }
}

fn error_speaks_of_input(body: &Value) -> bool {
    // Some wrap the object in a list.
    let body = body.as_array().and_then(|items| items.first()).unwrap_or(body);
    let Some(error) = body.get("error").filter(|error| error.is_object()) else { return false };
    let fields = ["code", "type", "param", "message"].into_iter();
    let mut texts = fields.filter_map(|name| error.get(name)?.as_str());
    texts.any(|text| {
        let text = text.to_lowercase().replace(['_', '-'], " ");
        COMPLAINTS.iter().any(|complaint| text.contains(complaint))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_error_object_counts() {
        let error = |field: &str, text: &str| serde_json::json!({"error": {field: text}}).to_string();
        for (status, body, expected) in [
            (413, "<html>".to_owned(), true),
            (400, error("code", "context_length_exceeded"), true),
            (422, error("message", "Invalid JSON schema"), true),
            (400, error("param", "messages"), true),
            (400, error("type", "request_too_large"), true),
            (400, "context_length_exceeded".to_owned(), false),
            (400, "{\"detail\": \"too many tokens\"}".to_owned(), false),
            (400, "{\"error\": \"too many tokens\"}".to_owned(), false),
            (400, error("message", "no such model"), false),
            (400, error("hint", "too many tokens"), false),
            (401, error("code", "context_length_exceeded"), false),
            (429, error("message", "too many tokens"), false),
            (500, error("message", "invalid json"), false),
        ] {
            assert_eq!(complains_of_input(status, &body), expected, "{status} {body}");
        }
    }
}
