//! Whether a failed response speaks of the request's size or shape. Only the provider's error object is read: words in a
//! page or in a plain text mean nothing.

use serde_json::Value;

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
