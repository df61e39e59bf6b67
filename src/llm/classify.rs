//! Which class a failure belongs to. Typed evidence first (the provider's code, the HTTP status), text last, because a
//! number or a word inside an unrelated message would be a false hit. The tables are the whole policy.

use super::error::ErrorClass;
use super::provider_error::ProviderError;
use crate::proto::message::StopReason;
use crate::proto::usage::Usage;
use regex::{RegexSet, RegexSetBuilder};
use std::sync::LazyLock;

/// Codes that say all by themselves.
const CODES: &[(&str, ErrorClass)] = &[
    ("authentication_error", ErrorClass::Auth),
    ("invalid_api_key", ErrorClass::Auth),
    ("permission_error", ErrorClass::Auth),
    ("UNAUTHENTICATED", ErrorClass::Auth),
    ("PERMISSION_DENIED", ErrorClass::Auth),
    ("model_not_found", ErrorClass::UnknownModel),
    ("not_found_error", ErrorClass::UnknownModel),
    ("insufficient_quota", ErrorClass::Quota),
    ("billing_error", ErrorClass::Quota),
    ("billing_hard_limit_reached", ErrorClass::Quota),
    ("GoUsageLimitError", ErrorClass::Quota),
    ("FreeUsageLimitError", ErrorClass::Quota),
    ("usage_limit_reached", ErrorClass::Quota),
    ("context_length_exceeded", ErrorClass::Overflow),
    ("model_context_window_exceeded", ErrorClass::Overflow),
    ("exceed_context_size_error", ErrorClass::Overflow),
    ("request_too_large", ErrorClass::Overflow),
    ("content_filter", ErrorClass::Refusal),
    ("content_policy_violation", ErrorClass::Refusal),
    ("rate_limit_error", ErrorClass::RateLimit),
    ("rate_limit_exceeded", ErrorClass::RateLimit),
    ("RESOURCE_EXHAUSTED", ErrorClass::RateLimit),
    ("overloaded_error", ErrorClass::Server),
    ("api_error", ErrorClass::Server),
    ("server_error", ErrorClass::Server),
    ("internal_server_error", ErrorClass::Server),
    ("service_unavailable", ErrorClass::Server),
    ("timeout_error", ErrorClass::Server),
    ("UNAVAILABLE", ErrorClass::Server),
    ("INTERNAL", ErrorClass::Server),
    ("network_error", ErrorClass::Network),
];

/// Texts that look like an overflow and are none.
const NO_OVERFLOW: &[&str] =
    &[r"^(throttling error|service unavailable):", r"rate.?limit", r"too many requests"];

/// Texts of a conversation that does not fit.
const OVERFLOW: &[&str] = &[
    r"prompt is too long",
    r"request_too_large",
    r"input is too long for requested model",
    r"exceeds the context window",
    r"exceeds (the )?(model'?s )?maximum context length",
    r"input token count.*exceeds the maximum",
    r"maximum prompt length is [\d,]+",
    r"reduce the length of the messages",
    r"maximum context length is [\d,]+ tokens",
    r"exceeds (the )?maximum allowed input length of [\d,]+ tokens",
    r"input \([\d,]+ tokens\) is longer than the model'?s context length",
    r"exceeds the limit of [\d,]+",
    r"exceeds the available context size",
    r"greater than the context length",
    r"context window exceeds limit",
    r"exceeded model token limit",
    r"too large for model with [\d,]+ maximum context length",
    r"prompt has [\d,]+ tokens, but the configured context size is [\d,]+ tokens",
    r"model_context_window_exceeded",
    r"prompt too long",
    r"exceeded (max )?context length",
    r"range of input length should be",
    r"context[_ ]length[_ ]exceeded",
    r"too many tokens",
    r"token limit exceeded",
];

/// Texts of failures that do not pass by themselves, whatever else they say.
const QUOTA: &[&str] = &[
    r"GoUsageLimitError",
    r"FreeUsageLimitError",
    r"monthly usage limit reached",
    r"available balance",
    r"insufficient.?(quota|balance|credit)",
    r"out of budget",
    r"quota exceeded",
    r"exceeded your current quota",
    r"\bbilling\b",
];

const UNKNOWN_MODEL: &[&str] = &[
    r"\bmodel\b.{0,80}\b(does not exist|not found|is not available|is not supported)\b",
    r"\b(unknown|no such|invalid) model\b",
    r"not a valid model id",
];

const REFUSAL: &[&str] = &[r"\bmoderation\b", r"flagged (as|for|by)", r"content (policy|management policy)"];

/// Texts of failures that pass by themselves, for errors without a status. Status numbers count only where the text
/// says that they are one.
const PASSING: &[(&str, ErrorClass)] = &[
    (r"rate.?limit|too many (concurrent )?requests|throttl|concurrency.?limit", ErrorClass::RateLimit),
    (r"resource.?exhausted", ErrorClass::RateLimit),
    (r"(^|\b(http|status|code|error)[ :=/(]*(code)?[ :=(]*)429\b", ErrorClass::RateLimit),
    (r"overloaded", ErrorClass::Server),
    (r"(^|\b(http|status|code|error)[ :=/(]*(code)?[ :=(]*)(500|502|503|504|524)\b", ErrorClass::Server),
    (r"service.?unavailable|server.?error|internal.?error|provider.?returned.?error", ErrorClass::Server),
    (
        r"retry delay|you can retry your request|try your request again|please retry your request",
        ErrorClass::Server,
    ),
    (
        r"network.?error|connection.?(error|refused|lost|reset)|other side closed|fetch failed",
        ErrorClass::Network,
    ),
    (r"getaddrinfo|ENOTFOUND|EAI_AGAIN|upstream.?connect|reset before headers", ErrorClass::Network),
    (
        r"socket hang up|socket connection was closed|\btimed? ?out\b|\btimeout\b|\bterminated\b",
        ErrorClass::Network,
    ),
    (r"websocket.?(closed|error)|ended without|stream ended before", ErrorClass::Stream),
    (r"http2 request did not get a response", ErrorClass::Network),
];

static NO_OVERFLOW_SET: LazyLock<RegexSet> = LazyLock::new(|| set(NO_OVERFLOW.iter().copied()));
static OVERFLOW_SET: LazyLock<RegexSet> = LazyLock::new(|| set(OVERFLOW.iter().copied()));
static QUOTA_SET: LazyLock<RegexSet> = LazyLock::new(|| set(QUOTA.iter().copied()));
static UNKNOWN_MODEL_SET: LazyLock<RegexSet> = LazyLock::new(|| set(UNKNOWN_MODEL.iter().copied()));
static REFUSAL_SET: LazyLock<RegexSet> = LazyLock::new(|| set(REFUSAL.iter().copied()));
static PASSING_SET: LazyLock<RegexSet> = LazyLock::new(|| set(PASSING.iter().map(|(pattern, _)| *pattern)));

#[expect(clippy::expect_used, reason = "the patterns are constants, all compiled by the tests")]
fn set<'a>(patterns: impl Iterator<Item = &'a str>) -> RegexSet {
    RegexSetBuilder::new(patterns).case_insensitive(true).build().expect("constant patterns")
}

/// The class of a failed response: `status` is that of HTTP, `None` for an error inside a stream.
pub fn classify(provider: &str, status: Option<u16>, error: &ProviderError) -> ErrorClass {
    let status = status.or(error.status);
    let text = error.message.as_str();
    let code = |wanted: ErrorClass| {
        error.codes.iter().any(|code| {
            CODES.iter().any(|(known, class)| code.eq_ignore_ascii_case(known) && *class == wanted)
        })
    };
    if code(ErrorClass::Quota) || (!matches!(status, Some(401 | 404 | 500..)) && QUOTA_SET.is_match(text)) {
        return ErrorClass::Quota;
    }
    if code(ErrorClass::Overflow) || is_overflow(provider, status, text) {
        return ErrorClass::Overflow;
    }
    if code(ErrorClass::Refusal) || (matches!(status, Some(400 | 403)) && REFUSAL_SET.is_match(text)) {
        return ErrorClass::Refusal;
    }
    // The last code is the most specific one: OpenAI says `invalid_request_error` and then `invalid_api_key`.
    let by_code = error
        .codes
        .iter()
        .rev()
        .find_map(|code| CODES.iter().find(|(known, _)| code.eq_ignore_ascii_case(known)));
    if let Some((_, class)) = by_code {
        return *class;
    }
    status.map_or_else(|| by_text(text), |status| by_status(status, text))
}

fn is_overflow(provider: &str, status: Option<u16>, text: &str) -> bool {
    match status {
        Some(413) => true,
        Some(401 | 402 | 403 | 404 | 429) => false,
        // Cerebras answers a prompt that is too long without a body.
        Some(400) if text.is_empty() => provider == "cerebras",
        _ => OVERFLOW_SET.is_match(text) && !NO_OVERFLOW_SET.is_match(text),
    }
}

fn by_status(status: u16, text: &str) -> ErrorClass {
    match status {
        401 | 403 => ErrorClass::Auth,
        402 => ErrorClass::Quota,
        404 => ErrorClass::UnknownModel,
        429 => ErrorClass::RateLimit,
        408 | 409 | 425 | 500.. => ErrorClass::Server,
        _ if UNKNOWN_MODEL_SET.is_match(text) => ErrorClass::UnknownModel,
        _ => ErrorClass::Invalid,
    }
}

fn by_text(text: &str) -> ErrorClass {
    if UNKNOWN_MODEL_SET.is_match(text) {
        return ErrorClass::UnknownModel;
    }
    let first = PASSING_SET.matches(text).iter().next();
    first.and_then(|index| PASSING.get(index)).map_or(ErrorClass::Invalid, |(_, class)| *class)
}

/// The provider cut the conversation without saying so: a normal stop whose prompt exceeds the window, or a stop for
/// lack of room with nothing said and the window full. `window` is in tokens; 0 is unknown.
pub fn is_silent_overflow(usage: &Usage, stop: StopReason, window: u64) -> bool {
    let prompt = usage.input.saturating_add(usage.cache_read);
    match stop {
        StopReason::Stop => window > 0 && prompt > window,
        StopReason::Length => {
            window > 0 && usage.output == 0 && prompt.saturating_mul(100) >= window.saturating_mul(99)
        }
        StopReason::Pending
        | StopReason::ToolUse
        | StopReason::Error
        | StopReason::Aborted
        | StopReason::Other => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(status: Option<u16>, message: &str) -> ErrorClass {
        classify("p", status, &ProviderError { message: message.to_owned(), ..ProviderError::default() })
    }

    fn code(status: Option<u16>, code: &str, message: &str) -> ErrorClass {
        classify("p", status, &ProviderError::new(code, message))
    }

    #[test]
    fn overflow_texts_of_all_providers() {
        for message in [
            "prompt is too long: 213462 tokens > 200000 maximum",
            "request_too_large: Request exceeds the maximum size",
            "Input is too long for requested model.",
            "Your input exceeds the context window of this model.",
            "This request exceeds the model's maximum context length of 131072 tokens",
            "Requested tokens exceeds maximum context length (8192)",
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)",
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
            "Please reduce the length of the messages or completion.",
            "This endpoint's maximum context length is 163840 tokens. However, you requested about 200000",
            "Input exceeds the maximum allowed input length of 262144 tokens",
            "The input (280000 tokens) is longer than the model's context length (262144 tokens).",
            "prompt token count of 140001 exceeds the limit of 128000",
            "the request exceeds the available context size. try increasing the context size",
            "tokens to keep from the initial prompt is greater than the context length",
            "invalid params, context window exceeds limit",
            "Invalid request: Your request exceeded model token limit: 262144",
            "Prompt contains 40000 tokens; too large for model with 32768 maximum context length",
            "prompt has 9000 tokens, but the configured context size is 8192 tokens",
            "model_context_window_exceeded",
            "prompt too long; exceeded max context length by 4 tokens",
            "Range of input length should be [1, 129024]",
            "context_length_exceeded",
            "Too many tokens",
            "Token limit exceeded",
        ] {
            assert_eq!(text(Some(400), message), ErrorClass::Overflow, "{message}");
            assert_eq!(text(None, message), ErrorClass::Overflow, "{message}");
        }
        assert_eq!(text(Some(413), ""), ErrorClass::Overflow);
        assert_eq!(text(Some(500), "the request exceeds the available context size"), ErrorClass::Overflow);
        assert_eq!(classify("cerebras", Some(400), &ProviderError::default()), ErrorClass::Overflow);
    }

    #[test]
    fn what_only_looks_like_an_overflow() {
        for (status, message, class) in [
            (
                None,
                "Throttling error: Too many tokens, please wait before trying again.",
                ErrorClass::RateLimit,
            ),
            (None, "Service unavailable: too many tokens in flight", ErrorClass::Server),
            (Some(429), "Too many tokens per minute", ErrorClass::RateLimit),
            (Some(400), "Rate limit: too many tokens", ErrorClass::Invalid),
            (Some(400), "", ErrorClass::Invalid),
            (Some(400), "max_tokens exceeds the limit for this plan", ErrorClass::Invalid),
        ] {
            assert_eq!(text(status, message), class, "{message}");
        }
    }

    #[test]
    fn codes_win_over_texts() {
        for (status, kind, message, class) in [
            (Some(429), "insufficient_quota", "You exceeded your current quota", ErrorClass::Quota),
            (Some(429), "rate_limit_exceeded", "Limit 30000, requested 40000", ErrorClass::RateLimit),
            (None, "overloaded_error", "Overloaded", ErrorClass::Server),
            (None, "rate_limit_error", "anything", ErrorClass::RateLimit),
            (Some(400), "context_length_exceeded", "too big", ErrorClass::Overflow),
            (Some(400), "invalid_request_error", "prompt is too long: 5 tokens", ErrorClass::Overflow),
            (Some(400), "invalid_request_error", "messages.1: bad role", ErrorClass::Invalid),
            (Some(404), "not_found_error", "model: x", ErrorClass::UnknownModel),
            (Some(400), "model_not_found", "", ErrorClass::UnknownModel),
            (Some(401), "authentication_error", "", ErrorClass::Auth),
            (None, "content_filter", "", ErrorClass::Refusal),
            (None, "server_error", "An error occurred", ErrorClass::Server),
        ] {
            assert_eq!(code(status, kind, message), class, "{kind}: {message}");
        }
    }

    #[test]
    fn statuses() {
        for (status, class) in [
            (400, ErrorClass::Invalid),
            (401, ErrorClass::Auth),
            (402, ErrorClass::Quota),
            (403, ErrorClass::Auth),
            (404, ErrorClass::UnknownModel),
            (408, ErrorClass::Server),
            (409, ErrorClass::Server),
            (422, ErrorClass::Invalid),
            (429, ErrorClass::RateLimit),
            (500, ErrorClass::Server),
            (503, ErrorClass::Server),
            (524, ErrorClass::Server),
            (529, ErrorClass::Server),
        ] {
            assert_eq!(text(Some(status), "x"), class, "{status}");
        }
        assert_eq!(text(Some(400), "The model `x-9` does not exist"), ErrorClass::UnknownModel);
        assert_eq!(text(Some(403), "Input was flagged for violence"), ErrorClass::Refusal);
    }

    #[test]
    fn a_used_up_quota_is_never_a_passing_failure() {
        for message in [
            "GoUsageLimitError",
            "FreeUsageLimitError: wait",
            "Monthly usage limit reached",
            "Your available balance is too low",
            "insufficient_quota",
            "out of budget",
            "Quota exceeded, rate limit",
            "Please check your plan and billing details",
        ] {
            assert_eq!(text(Some(429), message), ErrorClass::Quota, "{message}");
            assert_eq!(text(None, message), ErrorClass::Quota, "{message}");
        }
    }

    #[test]
    fn passing_failures_by_text() {
        for (message, class) in [
            ("The engine is currently overloaded", ErrorClass::Server),
            ("rate-limit hit", ErrorClass::RateLimit),
            ("Too many requests", ErrorClass::RateLimit),
            ("Too many concurrent requests", ErrorClass::RateLimit),
            ("ThrottlingException", ErrorClass::RateLimit),
            ("concurrency limit", ErrorClass::RateLimit),
            ("ResourceExhausted", ErrorClass::RateLimit),
            ("429 status code", ErrorClass::RateLimit),
            ("HTTP 500", ErrorClass::Server),
            ("status code: 502", ErrorClass::Server),
            ("Error 503", ErrorClass::Server),
            ("524 a timeout occurred", ErrorClass::Server),
            ("Service Unavailable", ErrorClass::Server),
            ("Internal error", ErrorClass::Server),
            ("Provider returned error", ErrorClass::Server),
            ("You can retry your request", ErrorClass::Server),
            ("network_error", ErrorClass::Network),
            ("connection refused", ErrorClass::Network),
            ("getaddrinfo ENOTFOUND", ErrorClass::Network),
            ("upstream connect error", ErrorClass::Network),
            ("request timed out", ErrorClass::Network),
            ("terminated", ErrorClass::Network),
            ("WebSocket closed", ErrorClass::Stream),
            ("stream ended before message_stop", ErrorClass::Stream),
        ] {
            assert_eq!(text(None, message), class, "{message}");
        }
    }

    #[test]
    fn near_misses_are_no_hits() {
        for message in [
            "tool returned 500 lines",
            "port 5003 is closed",
            "the file has 502 entries",
            "code 50213 is unknown",
            "undetermined outcome",
            "timeouts_config is not allowed",
            "field `terminated_at` is required",
        ] {
            assert_eq!(text(None, message), ErrorClass::Invalid, "{message}");
        }
    }

    #[test]
    fn silent_overflow() {
        let usage = |input, output, cache_read| Usage { input, output, cache_read, ..Usage::default() };
        for (usage, stop, window, expected) in [
            (usage(600, 5, 500), StopReason::Stop, 1_000, true),
            (usage(500, 5, 500), StopReason::Stop, 1_000, false),
            (usage(490, 0, 500), StopReason::Length, 1_000, true),
            (usage(489, 0, 500), StopReason::Length, 1_000, false),
            (usage(990, 1, 0), StopReason::Length, 1_000, false),
            (usage(2_000, 5, 0), StopReason::ToolUse, 1_000, false),
            (usage(2_000, 5, 0), StopReason::Stop, 0, false),
            (usage(0, 0, 0), StopReason::Length, 0, false),
        ] {
            assert_eq!(is_silent_overflow(&usage, stop, window), expected, "{usage:?} {stop:?}");
        }
    }
}
