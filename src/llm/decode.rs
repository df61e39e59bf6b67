//! What all dialects' decoders have in common: frames in, events out, errors as values.

use super::StreamEvent;
use super::provider_error::ProviderError;
use super::sse::Frame;
use serde_json::Value;
use std::borrow::Cow;

/// A dialect's decoder: a pure state machine. It ends with [`StreamEvent::Done`] or with an error; what it put into
/// `events` before an error counts.
pub trait Decoder: Send {
    /// Takes one frame in.
    fn frame(&mut self, frame: &Frame, events: &mut Vec<StreamEvent>) -> Result<(), DecodeError>;

    /// The stream is over: an error unless the dialect's last event was seen.
    fn end(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), DecodeError>;
}

/// Why a stream gives no whole answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The provider reported an error inside the stream.
    #[error("the provider reported an error: {}", .0.message)]
    Reported(ProviderError),
    /// The provider declined to answer; its reason.
    #[error("the provider declined to answer: {0}")]
    Refused(String),
    /// A frame is not the protocol.
    #[error("a frame is not the protocol")]
    Malformed,
    /// The stream ended before its last event.
    #[error("the stream ended early")]
    CutOff,
}

/// Parses a frame's data. Halves of surrogate pairs, which some servers send when a token splits a character, become
/// replacement characters: a strict parser would throw the whole answer away.
pub fn parse(data: &str) -> Result<Value, DecodeError> {
    serde_json::from_str(data).or_else(|_| match without_lone_surrogates(data) {
        Cow::Borrowed(_) => Err(DecodeError::Malformed),
        Cow::Owned(mended) => serde_json::from_str(&mended).map_err(|_error| DecodeError::Malformed),
    })
}

fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    /// The code unit of a `\uXXXX` at the start of the text.
    fn unit(text: &str) -> Option<u16> {
        u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
    }
    const ESCAPE: usize = 6;
    let mut mended = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(rest) = json.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(backslash) = rest.find('\\') else { break };
        at += backslash;
        let here = json.get(at..).unwrap_or_default();
        match unit(here) {
            Some(0xD800..=0xDBFF) => {
                let next = here.get(ESCAPE..).and_then(unit);
                if matches!(next, Some(0xDC00..=0xDFFF)) {
                    at += 2 * ESCAPE;
                    continue;
                }
            }
            Some(0xDC00..=0xDFFF) => {}
            Some(_) => {
                at += ESCAPE;
                continue;
            }
            // Another escape: skips the character after the backslash, which may be a backslash itself.
            None => {
                at += 1 + here.chars().nth(1).map_or(0, char::len_utf8);
                continue;
            }
        }
        mended.push_str(json.get(copied..at).unwrap_or_default());
        mended.push_str("\\ufffd");
        at += ESCAPE;
        copied = at;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(json.get(copied..).unwrap_or_default());
    Cow::Owned(mended)
}

/// A text field; absent, `null` and other types are `None`.
pub fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// A text field that says something.
pub fn some_text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    text(value, key).filter(|text| !text.is_empty())
}

/// A count; some servers write whole numbers with a fraction.
pub fn count(value: &Value, key: &str) -> Option<u64> {
    let number = value.get(key)?;
    number.as_u64().or_else(|| number.as_f64().map(|number| number as u64))
}

/// A field that is there and not `null`.
pub fn some<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|field| !field.is_null())
}

/// A made-up id for a call that came without one.
pub fn fresh_call_id() -> String {
    format!("call_{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lone_surrogates_do_not_lose_the_frame() {
        for (data, expected) in [
            (r#"{"a":"x\ud83d"}"#, "x\u{fffd}"),
            (r#"{"a":"\udc26y"}"#, "\u{fffd}y"),
            (r#"{"a":"\ud83d\ud83d\udc26"}"#, "\u{fffd}🐦"),
            (r#"{"a":"\ud83d\udc26\ud83d"}"#, "🐦\u{fffd}"),
            (r#"{"a":"\\\ud83dé"}"#, "\\\u{fffd}é"),
            (r#"{"a":"\\ud83d\u00e9"}"#, "\\ud83dé"),
        ] {
            assert_eq!(parse(data).unwrap(), json!({ "a": expected }), "{data}");
        }
    }

    #[test]
    fn other_damage_stays_an_error() {
        for data in ["", "{", r#"{"a":"\ud8"}"#, r#"{"a":"\ud83d"#, "hello", r"\"] {
            assert_eq!(parse(data), Err(DecodeError::Malformed), "{data}");
        }
    }
}
