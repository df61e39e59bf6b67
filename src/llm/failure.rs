//! Failures in words for people: what happened, what was kept, what to do next. Never raw JSON, never a key.

use super::Model;
use super::classify::classify;
use super::compat::host_of;
use super::complaint::complains_of_input;
use super::decode::DecodeError;
use super::endpoint::Endpoint;
use super::error::{ErrorClass, LlmError};
use super::provider_error::ProviderError;
use super::retry_after::{self, Headers};
use jiff::Timestamp;
use std::time::Duration;

/// The longest text of a provider that is shown, in characters.
const DETAIL_LIMIT: usize = 300;

/// Who failed at what.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Where the request went.
    pub endpoint: &'a Endpoint,
    /// Which model was asked.
    pub model: &'a Model,
}

impl Context<'_> {
    /// A response whose status is no success.
    pub fn from_response(&self, status: u16, headers: &impl Headers, body: &str, now: Timestamp) -> LlmError {
        let reported = ProviderError::from_body(body);
        let mut class = classify(&self.endpoint.provider, Some(status), &reported);
        // The header wins over the table: the provider knows best whether the failure passes.
        match headers.header("x-should-retry") {
            Some("true") if class == ErrorClass::Invalid => class = ErrorClass::Server,
            Some("false") if class == ErrorClass::RateLimit => class = ErrorClass::Quota,
            Some("false") if class == ErrorClass::Server => class = ErrorClass::Invalid,
            _ => {}
        }
        let retry_after = if class.is_retryable() { retry_after::asked(headers, now) } else { None };
        LlmError {
            complains_of_input: complains_of_input(status, body),
            ..self.error(class, Some(status), &reported.message, retry_after)
        }
    }

    /// What a decoder found in a stream.
    pub fn from_decoder(&self, error: DecodeError) -> LlmError {
        match error {
            DecodeError::Reported(reported) => {
                let class = classify(&self.endpoint.provider, None, &reported);
                self.error(class, reported.status, &reported.message, None)
            }
            DecodeError::Refused(reason) => self.error(ErrorClass::Refusal, None, &reason, None),
            DecodeError::Malformed => self.stream("holds something that is not the protocol"),
            DecodeError::CutOff => self.stream("ended before it was whole"),
        }
    }

    /// The stream is broken: `what` completes "The answer of the provider …".
    pub fn stream(&self, what: &str) -> LlmError {
        let name = self.name();
        self.plain(ErrorClass::Stream, format!("The answer of {name} {what}. What came so far is kept."))
    }

    /// The connection broke while the answer came: `cause` says how.
    pub fn broken_off(&self, cause: &str) -> LlmError {
        let head = format!("The connection to {} broke off", self.name());
        self.plain(ErrorClass::Network, self.sentence(&head, cause, "What came so far is kept."))
    }

    /// The connection could not be made: `cause` says why.
    pub fn network(&self, cause: &str) -> LlmError {
        let head =
            format!("The connection to {} at {} failed", self.name(), address_of(&self.endpoint.base_url));
        self.plain(ErrorClass::Network, self.sentence(&head, cause, "Check the network and the base URL."))
    }

    /// Nothing was heard for the longest time that is waited for.
    pub fn idle(&self, waited: Duration) -> LlmError {
        let (name, seconds) = (self.name(), waited.as_secs_f64().ceil());
        self.plain(
            ErrorClass::Network,
            format!(
                "{name} said nothing for {seconds} s, so the connection was closed. What came so far is kept."
            ),
        )
    }

    /// The request was answered by something that is no model API.
    pub fn no_api(&self, what: &str) -> LlmError {
        let host = address_of(&self.endpoint.base_url);
        self.plain(ErrorClass::Invalid, format!("{host} {what}. Check the base URL of {}.", self.name()))
    }

    /// The request cannot be sent as it is.
    pub fn unsendable(&self, why: &str) -> LlmError {
        self.plain(ErrorClass::Invalid, format!("The request to {} cannot be sent: {why}.", self.name()))
    }

    fn plain(&self, class: ErrorClass, message: String) -> LlmError {
        LlmError { class, message, retry_after: None, status: None, complains_of_input: false }
    }

    fn error(
        &self,
        class: ErrorClass,
        status: Option<u16>,
        detail: &str,
        retry_after: Option<Duration>,
    ) -> LlmError {
        let message = self.words(class, status, detail);
        LlmError { class, message, retry_after, status, complains_of_input: false }
    }

    fn words(&self, class: ErrorClass, status: Option<u16>, detail: &str) -> String {
        let name = self.name();
        let model = &self.model.reference.id;
        let number = status.map(|status| format!(" ({status})")).unwrap_or_default();
        match class {
            ErrorClass::Auth => {
                let provider = &self.endpoint.provider;
                let variable = self.endpoint.key_variable.as_deref();
                if self.endpoint.key.is_some() {
                    let variable = variable.map_or_else(String::new, |name| format!("{name}, or "));
                    let tail = format!("Check {variable}the key under [{provider}] in auth.toml.");
                    self.sentence(&format!("{name} refuses the key{number}"), detail, &tail)
                } else {
                    let tail = match variable {
                        Some(name) => format!("Set {name}, or write a key under [{provider}] in auth.toml."),
                        None => format!("Write a key under [{provider}] in auth.toml."),
                    };
                    self.sentence(&format!("{name} wants a key{number}, and none is set"), detail, &tail)
                }
            }
            ErrorClass::UnknownModel => self.sentence(
                &format!("{name} does not know {model} at this address{number}"),
                detail,
                "Choose another model, or check the base URL.",
            ),
            ErrorClass::RateLimit => self.sentence(
                &format!("{name} got too many requests{number}"),
                detail,
                "This passes by itself.",
            ),
            ErrorClass::Quota => self.sentence(
                &format!("The quota or balance at {name} is used up{number}"),
                detail,
                "Check the plan, or choose another model.",
            ),
            ErrorClass::Server => self.sentence(
                &format!("{name} has a problem{number}"),
                detail,
                "This usually passes by itself.",
            ),
            ErrorClass::Network => self.sentence(
                &format!("{name} lost a connection{number}"),
                detail,
                "This usually passes by itself.",
            ),
            ErrorClass::Stream => self.sentence(
                &format!("The answer of {name} broke off{number}"),
                detail,
                "What came so far is kept.",
            ),
            ErrorClass::Overflow => self.sentence(
                &format!("The conversation does not fit the window of {model}{number}"),
                detail,
                "It is kept. Choose a model with a larger window, or start a new session.",
            ),
            ErrorClass::Refusal => self.sentence(
                &format!("{name} declines to answer{number}"),
                detail,
                "What came so far is kept. Say it differently, or choose another model.",
            ),
            ErrorClass::Invalid => self.sentence(
                &format!("{name} rejects the request{number}"),
                detail,
                "Repeating it will not help.",
            ),
        }
    }

    fn name(&self) -> &str {
        if self.endpoint.provider_name.is_empty() {
            &self.endpoint.provider
        } else {
            &self.endpoint.provider_name
        }
    }

    fn sentence(&self, head: &str, detail: &str, tail: &str) -> String {
        match self.presentable(detail) {
            Some(detail) => format!("{head}: {detail}. {tail}"),
            None => format!("{head}. {tail}"),
        }
    }

    /// A provider's text as it can be shown: one line, cut, no control characters, no key. `None` when nothing of it
    /// says something to people.
    fn presentable(&self, detail: &str) -> Option<String> {
        let mut text = plain_line(detail);
        if let Some(key) = &self.endpoint.key
            && !key.reveal().is_empty()
        {
            text = without_key(&text, key.reveal());
        }
        if text.starts_with(['{', '[', '<']) {
            return None;
        }
        if let Some((cut, _)) = text.char_indices().nth(DETAIL_LIMIT) {
            text.truncate(cut);
            text.push('…');
        }
        let text = text.trim_end_matches(['.', ' ', ':']);
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// The text with the key taken out wherever it stands as a word. Keys of local servers are often one letter: inside
/// other words it is no key.
fn without_key(text: &str, key: &str) -> String {
    let is_part_of_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut parts = text.split(key);
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let inside = is_part_of_word(clean.chars().next_back()) || is_part_of_word(part.chars().next());
        clean.push_str(if inside && key.chars().count() < SHORTEST_SECRET { key } else { "…" });
        clean.push_str(part);
    }
    clean
}

/// A text this long is a secret wherever it stands.
const SHORTEST_SECRET: usize = 8;

/// The host, and the port if it is not the usual one: of two servers on a machine the text must name the right one.
fn address_of(base_url: &str) -> String {
    let host = host_of(base_url);
    match reqwest::Url::parse(base_url).ok().and_then(|url| url.port()) {
        Some(port) => format!("{host}:{port}"),
        None => host,
    }
}

/// One line without control and direction characters, which could move the cursor or hide text.
fn plain_line(text: &str) -> String {
    let visible: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .filter(|c| !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::fixtures::{endpoint, model};
    use crate::llm::{Dialect, endpoint::Secret};
    use std::collections::BTreeMap;

    fn respond(key: Option<&str>, status: u16, headers: &[(&'static str, &str)], body: &str) -> LlmError {
        let mut endpoint = endpoint("https://api.example.org/v1");
        endpoint.key = key.map(Secret::new);
        let model = model(Dialect::OpenAiCompletions);
        let headers: BTreeMap<&str, &str> = headers.iter().copied().collect();
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        Context { endpoint: &endpoint, model: &model }.from_response(status, &headers, body, now)
    }

    #[test]
    fn keys_vanish_and_words_that_hold_their_letters_stay() {
        let table = [
            ("unexpected x here", "x", "unexpected … here"),
            ("key=x, next", "x", "key=…, next"),
            ("none of it: none", "none", "… of it: …"),
            ("prefixsk-123456789suffix", "sk-123456789", "prefix…suffix"),
        ];
        for (text, key, clean) in table {
            assert_eq!(without_key(text, key), clean, "{text}");
        }
    }

    #[test]
    fn an_address_names_an_unusual_port_and_no_password() {
        for (url, address) in [
            ("http://user:pass@127.0.0.1:8080/v1", "127.0.0.1:8080"),
            ("https://api.example.org:443/v1", "api.example.org"),
            ("http://[::1]:9/v1", "[::1]:9"),
        ] {
            assert_eq!(address_of(url), address);
        }
    }

    #[test]
    fn messages_for_people() {
        let cases = [
            (
                respond(Some("sk-1"), 401, &[], r#"{"error":{"message":"Incorrect key: sk-1."}}"#),
                "Example refuses the key (401): Incorrect key: …. Check EXAMPLE_API_KEY, or the key under [example] in auth.toml.",
            ),
            (
                respond(None, 401, &[], "{}"),
                "Example wants a key (401), and none is set. Set EXAMPLE_API_KEY, or write a key under [example] in auth.toml.",
            ),
            (
                respond(None, 404, &[], "404 page not found"),
                "Example does not know test-model at this address (404): 404 page not found. Choose another model, or check the base URL.",
            ),
            (
                respond(None, 500, &[], r#"{"unexpected":["shape"]}"#),
                "Example has a problem (500). This usually passes by itself.",
            ),
            (
                respond(None, 502, &[], "<html>bad gateway</html>"),
                "Example has a problem (502). This usually passes by itself.",
            ),
            (
                respond(None, 400, &[], r#"{"message":"a\u001b[31m\nb\u202ec"}"#),
                "Example rejects the request (400): a [31m bc. Repeating it will not help.",
            ),
        ];
        for (error, expected) in cases {
            assert_eq!(error.message, expected);
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let body = "é".repeat(1000);
        let message = respond(None, 400, &[], &body).message;
        assert!(message.contains(&format!("{}…", "é".repeat(DETAIL_LIMIT))));
        assert!(!message.contains(&"é".repeat(DETAIL_LIMIT + 1)));
    }

    #[test]
    fn a_wait_is_taken_over_for_failures_that_pass() {
        let asked = |status, body| respond(None, status, &[("retry-after", "7")], body).retry_after;
        assert_eq!(asked(429, "slow"), Some(Duration::from_secs(7)));
        assert_eq!(asked(503, "busy"), Some(Duration::from_secs(7)));
        assert_eq!(asked(429, "insufficient_quota"), None);
        assert_eq!(asked(400, "bad"), None);
    }

    #[test]
    fn the_provider_says_whether_it_passes() {
        let class = |status, should| respond(None, status, &[("x-should-retry", should)], "x").class;
        assert_eq!(class(400, "true"), ErrorClass::Server);
        assert_eq!(class(429, "false"), ErrorClass::Quota);
        assert_eq!(class(500, "false"), ErrorClass::Invalid);
        assert_eq!(class(500, "true"), ErrorClass::Server);
    }
}
