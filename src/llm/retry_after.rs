//! How long a provider asks to wait, out of its response headers.

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use std::time::Duration;

/// Response headers by lower-case name.
pub trait Headers {
    /// A header's value, if it is text.
    fn header(&self, name: &'static str) -> Option<&str>;
}

impl Headers for reqwest::header::HeaderMap {
    fn header(&self, name: &'static str) -> Option<&str> {
        self.get(name)?.to_str().ok()
    }
}

/// The wait that the headers ask for, most exact one first. `None` when they ask for none, or in a way that is not
/// understood.
pub fn asked(headers: &impl Headers, now: Timestamp) -> Option<Duration> {
    let value = |name| headers.header(name).map(str::trim);
    if let Some(wait) = value("retry-after-ms").and_then(number).and_then(|ms| duration(ms / 1000.0)) {
        return Some(wait);
    }
    if let Some(wait) = value("retry-after").and_then(|text| seconds_or_date(text, now)) {
        return Some(wait);
    }
    if let Some(wait) = value("x-ratelimit-reset-after").and_then(number).and_then(duration) {
        return Some(wait);
    }
    value("x-ratelimit-reset").and_then(|text| seconds_or_date(text, now))
}

/// Seconds from now, seconds or milliseconds since the epoch, or a date.
fn seconds_or_date(text: &str, now: Timestamp) -> Option<Duration> {
    match number(text) {
        Some(number) if number >= 1e11 => until(Timestamp::from_millisecond(whole(number)?).ok()?, now),
        Some(number) if number >= 1e9 => until(Timestamp::from_second(whole(number)?).ok()?, now),
        Some(number) => duration(number),
        None => {
            let date = DateTimeParser::new().parse_timestamp(text).or_else(|_| text.parse::<Timestamp>());
            until(date.ok()?, now)
        }
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}
fn whole(number: f64) -> Option<i64> {
    (number < 1e15).then_some(number as i64)
}

fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

/// A moment that has passed already asks for no wait.
fn until(moment: Timestamp, now: Timestamp) -> Option<Duration> {
    Some(Duration::try_from(moment.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    impl Headers for BTreeMap<&str, &str> {
        fn header(&self, name: &'static str) -> Option<&str> {
            self.get(name).copied()
        }
    }

    fn now() -> Timestamp {
        "2026-10-21T07:28:00Z".parse().unwrap()
    }

    #[test]
    fn forms_of_a_wait() {
        let epoch = now().as_second();
        let (in_seconds, in_milliseconds) = ((epoch + 9).to_string(), ((epoch + 9) * 1000).to_string());
        for (name, value, expected) in [
            ("retry-after-ms", "1500", Some(1.5)),
            ("retry-after", "20", Some(20.0)),
            ("retry-after", " 0.5 ", Some(0.5)),
            ("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT", Some(30.0)),
            ("retry-after", "Wed, 21 Oct 2026 07:27:00 GMT", Some(0.0)),
            ("retry-after", "soon", None),
            ("retry-after", "-5", None),
            ("retry-after", "NaN", None),
            ("x-ratelimit-reset-after", "3", Some(3.0)),
            ("x-ratelimit-reset", "12", Some(12.0)),
            ("x-ratelimit-reset", &in_seconds, Some(9.0)),
            ("x-ratelimit-reset", &in_milliseconds, Some(9.0)),
            ("x-ratelimit-reset", "2026-10-21T07:29:00Z", Some(60.0)),
            ("x-other", "5", None),
        ] {
            let headers = BTreeMap::from([(name, value)]);
            assert_eq!(asked(&headers, now()), expected.map(Duration::from_secs_f64), "{name}: {value}");
        }
    }

    #[test]
    fn the_most_exact_header_wins() {
        let headers =
            BTreeMap::from([("retry-after", "2"), ("retry-after-ms", "1200"), ("x-ratelimit-reset", "50")]);
        assert_eq!(asked(&headers, now()), Some(Duration::from_millis(1200)));
    }
}
