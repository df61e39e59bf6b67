//! What providers send when something goes wrong: many shapes, one form.

use serde_json::Value;

/// An error as the provider reported it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderError {
    /// The provider's words for the kind of error (`type`, `code`, `status`), most general first.
    pub codes: Vec<String>,
    /// The provider's text; empty when there is none.
    pub message: String,
    /// An HTTP status that the error names itself: gateways forward one inside a stream.
    pub status: Option<u16>,
}

impl ProviderError {
    /// An error of this kind with this text.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { codes: vec![code.into()], message: message.into(), status: None }
    }

    /// Reads the body of a failed response. Text that is no JSON is taken as it is; a web page says nothing.
    pub fn from_body(body: &str) -> Self {
        let body = body.trim();
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::from_json(&value),
            Err(_) if body.starts_with('<') => Self::default(),
            Err(_) => Self { message: body.to_owned(), ..Self::default() },
        }
    }

    /// Reads an error object, or what wraps one.
    pub fn from_json(value: &Value) -> Self {
        match value {
            Value::String(text) => Self { message: text.clone(), ..Self::default() },
            // Google's compatible endpoint wraps the object in an array; validators list several findings.
            Value::Array(items) => items.first().map(Self::from_json).unwrap_or_default(),
            Value::Object(object) => {
                let mut error = Self::default();
                for key in ["type", "code", "status"] {
                    error.take_code(object.get(key));
                }
                if let Some(inner) = object.get("error").filter(|inner| !inner.is_null()) {
                    return error.wrapping(Self::from_json(inner));
                }
                let text = ["message", "detail", "error_description", "msg", "errors"]
                    .into_iter()
                    .find_map(|key| object.get(key).filter(|text| !text.is_null()));
                if let Some(text) = text {
                    error.message = Self::from_json(text).message;
                }
                // OpenRouter says "Provider returned error" and hides the cause here.
                match object.get("metadata").and_then(|metadata| metadata.get("raw")) {
                    Some(Value::String(raw)) => error.wrapping(Self::from_body(raw)),
                    Some(raw @ Value::Object(_)) => error.wrapping(Self::from_json(raw)),
                    _ => error,
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::default(),
        }
    }

    fn wrapping(mut self, inner: Self) -> Self {
        self.codes.extend(inner.codes);
        self.status = inner.status.or(self.status);
        if !inner.message.is_empty() {
            self.message = inner.message;
        }
        self
    }

    fn take_code(&mut self, code: Option<&Value>) {
        match code {
            Some(Value::String(code)) if code != "error" => self.codes.push(code.clone()),
            Some(Value::Number(number)) => {
                let status = number.as_u64().and_then(|number| u16::try_from(number).ok());
                self.status = status.filter(|status| (400..600).contains(status)).or(self.status);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_many_providers() {
        let cases: &[(&str, &[&str], &str, Option<u16>)] = &[
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                &["overloaded_error"],
                "Overloaded",
                None,
            ),
            (
                r#"{"error":{"message":"Bad key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
                &["invalid_request_error", "invalid_api_key"],
                "Bad key",
                None,
            ),
            (
                r#"{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}","provider_name":"X"}}}"#,
                &["rate_limit_error"],
                "slow down",
                Some(429),
            ),
            (
                r#"{"error":{"code":502,"message":"Provider returned error","metadata":{"raw":"upstream said no"}}}"#,
                &[],
                "upstream said no",
                Some(502),
            ),
            (
                r#"[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]"#,
                &["INVALID_ARGUMENT"],
                "m",
                Some(400),
            ),
            (r#"{"error":"model 'x' not found"}"#, &[], "model 'x' not found", None),
            (r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#, &[], "field required", None),
            (r#"{"object":"error","message":"too long","code":40001}"#, &[], "too long", None),
            (
                r#"{"type":"error","code":"server_error","message":"Sorry","param":null}"#,
                &["server_error"],
                "Sorry",
                None,
            ),
            ("Bad Gateway", &[], "Bad Gateway", None),
            ("<html><body>nginx</body></html>", &[], "", None),
            ("", &[], "", None),
            ("{}", &[], "", None),
        ];
        for (body, codes, message, status) in cases {
            let expected = ProviderError {
                codes: codes.iter().map(|code| (*code).to_owned()).collect(),
                message: (*message).to_owned(),
                status: *status,
            };
            assert_eq!(ProviderError::from_body(body), expected, "{body}");
        }
    }
}
