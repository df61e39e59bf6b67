//! Words that are secrets by their look: known beginnings of keys, JSON web tokens, passwords inside of addresses, long
//! random looking texts.

use super::{MARKER, random};
use regex::Regex;
use std::sync::LazyLock;

/// Beginnings of keys, wherever they stand: no word of a language and no name in code holds them.
const ANYWHERE: &str = r"ghp_|gho_|ghs_|ghu_|ghr_|github_pat_|glpat-|gl(?:dt|rt|cbt|ptt|ft|soat)-|xox[abeoprs]-|xapp-|sk-ant-|sk-proj-|sk_live_|sk_test_|rk_live_|rk_test_|pk_live_|AIza|dop_v1_|doo_v1_|dor_v1_|pypi-|hf_|npm_|shp(?:at|ss|ca|pa)_|lin_api_|dckr_pat_|hvs\.|sbp_|whsec_|rubygems_|sntrys_|figd_|gsk_|AGE-SECRET-KEY-|ya29\.|PMAK-|sq0[a-z]{3}-|SG\.|NRAK-|ATATT|EAAC|tfp_|pplx-|xai-|r8_|ntn_|key-|AKIA|ASIA|ABIA|ACCA|amzn\.mws\.|age1";

/// Six beginnings that the rules of the source name: longer than 20 characters with them, in any case of letters.
const STARTS: &str = r"sk-|sk_|ghp_|github_pat_|xoxb-|xoxp-";

/// Before a beginning: no letter or digit; or an escape that is written out, or a part of a web address.
const BEFORE: &str = r"(^|[^A-Za-z0-9]|\\[nrt]|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4})";

/// What keys are made of.
const BODY: &str = r"[A-Za-z0-9_\-.+/=~%]";

struct Rule {
    pattern: Option<Regex>,
    /// What stands for a find; `${1}` is what was before it.
    by: String,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let rule = |pattern: String, by: &str| Rule { pattern: Regex::new(&pattern).ok(), by: by.to_owned() };
    let kept = format!("${{1}}{MARKER}");
    vec![
        // A password or a key in front of a host.
        rule(r"([A-Za-z][A-Za-z0-9+.\-]*://)[^\s/@]*:\S*@".to_owned(), &kept),
        rule(r"([A-Za-z][A-Za-z0-9+.\-]*://)[A-Za-z0-9_\-.~%]{16,}@".to_owned(), &kept),
        rule(format!(r"(?i)()(?:{ANYWHERE}){BODY}*[0-9]{BODY}*"), ""),
        rule(format!(r"(?i){BEFORE}(?:{STARTS}){BODY}{{16,}}"), &kept),
        // Three parts with two dots, the first of which begins as encoded JSON does.
        rule(format!(r"(){JWT}"), &kept),
        // The value of a query that is called by a label.
        rule(
            r"(?i)([?&;](?:[a-z_\-]*(?:token|secret|key|passw(?:or)?d|pwd|auth|sig|signature|credential|code))=)[^\s&#]+"
                .to_owned(),
            &kept,
        ),
    ]
});

const JWT: &str = r"eyJ[A-Za-z0-9_\-]{6,}\.[A-Za-z0-9_\-]{6,}(?:\.[A-Za-z0-9_\-]*)?";

/// At least so many characters of a key, its beginning included.
const SHORTEST_KEY: usize = 16;

/// A word with two dots is a web token from this length on.
const SHORTEST_JWT: usize = 80;

/// The line without words that look like secrets.
pub fn redact(line: &str) -> String {
    let mut text = line.to_owned();
    for rule in RULES.iter() {
        let Some(pattern) = &rule.pattern else { continue };
        let replaced = if rule.by.is_empty() {
            pattern.replace_all(&text, |found: &regex::Captures<'_>| {
                let whole = found.get(0).map_or("", |found| found.as_str());
                if is_known_key(whole) { MARKER.to_owned() } else { whole.to_owned() }
            })
        } else {
            pattern.replace_all(&text, rule.by.as_str())
        };
        if let std::borrow::Cow::Owned(replaced) = replaced {
            text = replaced;
        }
    }
    random_words(&three_parts(&text))
}

fn is_known_key(found: &str) -> bool {
    found.len() >= SHORTEST_KEY && found.chars().filter(char::is_ascii_digit).count() >= 2
}

/// Long words with exactly two dots go.
fn three_parts(line: &str) -> String {
    let is_token = |word: &str| word.chars().count() > SHORTEST_JWT && word.matches('.').count() == 2;
    replaced(line, |c| !c.is_whitespace(), is_token)
}

fn random_words(line: &str) -> String {
    let line = replaced(line, |c| c.is_ascii_alphanumeric() || "+/=_-".contains(c), random::is_key);
    // Also where slashes and dashes join it with words.
    replaced(&line, |c| c.is_ascii_alphanumeric(), random::is_key)
}

/// The line with every run of such characters that passes the test replaced.
fn replaced(line: &str, is_part: impl Fn(char) -> bool, test: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(line.len());
    let mut run = String::new();
    for c in line.chars().map(Some).chain([None]) {
        match c {
            Some(c) if is_part(c) => run.push(c),
            other => {
                out.push_str(if test(&run) { MARKER } else { &run });
                run.clear();
                out.extend(other);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_compile() {
        assert!(RULES.iter().all(|rule| rule.pattern.is_some()));
    }

    #[test]
    fn words_that_go_and_words_that_stay() {
        let digits = "a1b2c3d4e5f6g7h8i9j0";
        for (line, expected) in [
            (format!("use (ghp_{digits})"), "use ([redacted])".to_owned()),
            (format!(r"a\nghp_{digits}"), r"a\n[redacted]".to_owned()),
            (format!("SK-{digits}, then"), "[redacted], then".to_owned()),
            (
                "see postgres://me:hun/ter2@db:5432/x".to_owned(),
                "see postgres://[redacted]db:5432/x".to_owned(),
            ),
            ("get /x?token=abc&y=1".to_owned(), "get /x?token=[redacted]&y=1".to_owned()),
        ] {
            assert_eq!(redact(&line), expected);
        }
        for line in [
            "risk-averse-people-in-the-office-42",
            "npm_lifecycle_event and npm_config_registry",
            "https://example.org:8080/a/b.html",
            "git@github.com:a/b.git",
            "std::collections::HashMap",
            "monkey-patching-of-modules-2",
        ] {
            assert_eq!(redact(line), line);
        }
    }
}
