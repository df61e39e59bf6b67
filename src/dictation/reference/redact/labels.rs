//! Labels: words that tell that a secret comes next, on the same line or below.

use super::random;
use regex::{Regex, RegexSet, RegexSetBuilder};
use std::sync::LazyLock;

/// How strongly a label speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Whatever follows goes: `password`.
    Sure,
    /// What follows goes if it looks like a literal: `token`, which code has as a name all the time.
    Likely,
    /// What follows goes if it looks random: `key`.
    Weak,
}

/// What the labels of a line mean.
pub struct Found {
    /// The line goes.
    pub takes_line: bool,
    /// The value stands below.
    pub below: Option<Label>,
}

/// A line with one of these goes, whatever else it says. Compared in lower case.
const LINE_MARKS: &[&str] = &[
    "authorization:",
    "api_key",
    "api-key",
    "apikey",
    "password=",
    "password:",
    "secret=",
    "secret:",
    "access_token",
    "refresh_token",
    "private key-----",
    "cookie:",
    "passwd=",
    "passwd:",
    "passphrase=",
    "passphrase:",
    "token=",
    "client_secret",
    "private-lines:",
    "accountkey=",
    "sharedaccesskey",
    "identitytoken",
];

const SURE: &str = r"passw(?:or)?d|passphrase|passcode|api[ _-]?keys?|access[ _-]?(?:key|token)|refresh[ _-]?token|client[ _-]?secret|secret[ _-]?(?:access[ _-]?)?key|private[ _-]?key|passwort|kennwort|contraseña|mot de passe";
const LIKELY: &str = r"secret|token|pwd|pass|credentials?|authorization|auth|cookie|bearer|connection[ _-]?string|otp|pin code|recovery[ _-]?codes?";
const WEAK: &str = r"key|session[ _-]?id|sid|signature|sig|salt|seed|nonce|hash|id|code";

/// Between a label and its value: closing quotes and marks, then a separator.
const JOINT: &str = r#"["'`*_)\]}]*\s*(?::=|=>|->|==|=|:|\|)[>|]?\s*"#;

/// `password: value`, `"password": "value"`, `DB_PASSWORD = value`, `password is value`, `-p value`.
static SURE_LINE: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        format!(r"(?:{SURE}){JOINT}\S"),
        format!(r#"(?:{SURE})["'`*_)\]]*\s+(?:is|was|are|lautet|ist)\s*:?\s+\S"#),
        r"(?:^|[^a-z0-9])(?:bearer|basic|digest)\s+[a-z0-9+/=_.~-]*[0-9+/=_.~-][a-z0-9+/=_.~-]{7,}"
            .to_owned(),
        r"(?:^|[^a-z0-9])(?:bearer|basic)\s+[a-z0-9+/=_.~-]{20,}".to_owned(),
        r"(?:^|\s)(?:-u|--user|--password|--passwd|--token|--secret|--api-key)[ =]+\S*[:0-9]\S*".to_owned(),
        r"(?:set-)?cookie2?\s*:".to_owned(),
        r"(?:^|[^a-z0-9])x-[a-z-]*(?:key|token|secret|auth)[a-z-]*\s*[:=]".to_owned(),
        r"[a-z0-9]_(?:pass|pwd|secret|token|key|credentials?|auth)\s*=[^=\s>]".to_owned(),
        r"(?:^|[^a-z0-9])(?:pg|mysql_|redis|db|smtp|ssh)_?(?:pass|pwd)\w*\s*=\s*\S".to_owned(),
        r"(?:^|[^a-z0-9])identified\s+by\s+\S".to_owned(),
        r"(?:^|[^a-z0-9])machine\s+\S+\s+login\s+\S+".to_owned(),
    ])
});

static LIKELY_VALUE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"(?i)(?:{LIKELY}){JOINT}(.+)$")).ok());
static WEAK_VALUE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"(?i)(?:{WEAK}){JOINT}(.+)$")).ok());
static ANY_VALUE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"[A-Za-z0-9]["'`*)\]]*\s*(?::=|=>|=|:)\s*(.+)$"#).ok());

/// A label at the end of a line, with a separator or as the whole of a short line.
static BELOW: LazyLock<[Option<Regex>; 3]> = LazyLock::new(|| {
    [SURE, LIKELY, WEAK].map(|label| {
        Regex::new(&format!(
            r#"(?i)(?:^|[^a-z0-9])(?:[a-z0-9]+[_-])*(?:{label})["'`*_)\]]*\s*(?:(?::=|=>|->|=|:|\||\bis\b)[^a-z0-9]*|[^a-z0-9]*)$"#
        ))
        .ok()
    })
});

#[expect(clippy::expect_used, reason = "the patterns are constants, all compiled by the tests")]
fn set(patterns: &[String]) -> RegexSet {
    RegexSetBuilder::new(patterns).case_insensitive(true).build().expect("constant patterns")
}

/// A line of at most so many characters can be a label as a whole.
const SHORT: usize = 60;

/// Reads the labels of a line.
pub fn find(line: &str) -> Found {
    let lower = line.to_lowercase();
    let takes_line = LINE_MARKS.iter().any(|mark| lower.contains(mark))
        || SURE_LINE.is_match(line)
        || any_rest(&LIKELY_VALUE, line, is_literal)
        || any_rest(&WEAK_VALUE, line, |rest| is_first_word(rest, random::is_value_of_key))
        || any_rest(&ANY_VALUE, line, |rest| is_first_word(rest, random::is_value));
    Found { takes_line, below: below(line) }
}

/// The values behind every place where the pattern fits, not only the first one.
fn any_rest(pattern: &LazyLock<Option<Regex>>, line: &str, test: impl Fn(&str) -> bool) -> bool {
    let Some(pattern) = pattern.as_ref() else { return false };
    let mut at = 0;
    while let Some(captures) = line.get(at..).and_then(|rest| pattern.captures(rest)) {
        let Some(value) = captures.get(1) else { return false };
        if test(value.as_str()) {
            return true;
        }
        // Values are never empty, and stand behind their label.
        at += value.start();
    }
    false
}

fn below(line: &str) -> Option<Label> {
    let is_short = line.trim().chars().count() <= SHORT;
    let has_separator = line
        .trim_end_matches(|c: char| c.is_whitespace() || "\"'`*_>|\\([{".contains(c))
        .ends_with([':', '=']);
    let labels = [Label::Sure, Label::Likely, Label::Weak];
    let found = labels.into_iter().zip(BELOW.iter());
    // A long line that merely ends with a name tells of a value only where the name has no other meaning.
    let mut found = found.filter(|(label, _)| is_short || has_separator || *label == Label::Sure);
    found
        .find(|(_, pattern)| pattern.as_ref().is_some_and(|pattern| pattern.is_match(line)))
        .map(|(label, _)| label)
}

/// Nothing stands here that could be a value: a blank line, a border of code or of a table.
pub fn is_between(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("```") || line.starts_with("~~~") || !line.chars().any(char::is_alphanumeric)
}

/// The line below a label is its value.
pub fn is_value_below(label: Label, line: &str) -> bool {
    let is_random = is_first_word(line, random::is_value_of_key);
    match label {
        Label::Sure => true,
        Label::Likely => is_random || (line.split_whitespace().count() <= 3 && is_literal(line)),
        Label::Weak => is_random,
    }
}

fn is_first_word(rest: &str, test: impl Fn(&str) -> bool) -> bool {
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || "\"'`<([{*".contains(c));
    let word = rest.split(|c: char| !(c.is_ascii_alphanumeric() || "+/=_-".contains(c))).next();
    word.is_some_and(test)
}

/// Types and values that code has behind a name that is also a label.
const CODE_WORDS: &[&str] = &[
    "string",
    "boolean",
    "number",
    "integer",
    "undefined",
    "required",
    "optional",
    "default",
    "self",
    "none",
    "null",
    "true",
    "false",
    "await",
    "async",
    "return",
    "process",
    "function",
    "unknown",
    "missing",
    "invalid",
    "expired",
];

/// Looks like a value that somebody wrote down, and not like code that makes one.
fn is_literal(rest: &str) -> bool {
    let rest = rest.trim();
    if let Some(quote) = rest.chars().next().filter(|c| "\"'`".contains(*c)) {
        let inside: String = rest.chars().skip(1).take_while(|c| *c != quote).collect();
        let is_word_like = inside.chars().all(|c| c.is_ascii_lowercase() || "_.- ".contains(c));
        return inside.chars().count() >= 6
            && !inside.contains(['{', '$'])
            && (!is_word_like || inside.len() >= 12);
    }
    let word = rest.split_whitespace().next().unwrap_or_default();
    let word = word.trim_matches(|c: char| "*_,;.!?<>()[]".contains(c));
    let count = word.chars().count();
    let is_code = word.contains("::") || word.contains(['(', '<', '{', '&', '[', '|']) || word.contains("()");
    let has_digit = word.chars().any(|c| c.is_ascii_digit());
    let has_letter = word.chars().any(char::is_alphabetic);
    if is_code {
        return is_first_word(rest, random::is_value_of_key);
    }
    if has_digit && has_letter {
        return count >= 6;
    }
    if word.chars().all(|c| c.is_ascii_digit()) {
        return count >= 6;
    }
    if word.chars().any(|c| "!@#$%^+~=".contains(c)) {
        return count >= 6 && has_letter;
    }
    // One word of small letters alone on the rest of the line.
    let is_alone = rest.split_whitespace().count() == 1 && !rest.ends_with([',', ';', ')', '{', '.']);
    let is_small = word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    is_alone && is_small && count >= 8 && !CODE_WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_compile() {
        assert!(SURE_LINE.len() > 5);
        assert!([&LIKELY_VALUE, &WEAK_VALUE, &ANY_VALUE].iter().all(|pattern| pattern.is_some()));
        assert!(BELOW.iter().all(Option::is_some));
    }

    #[test]
    fn labels_take_their_line() {
        for line in [
            "password = hunter2",
            r#""password": "hunter2","#,
            "The password is hunter2.",
            "Authorization: Basic abc",
            "token: 9f8a7b6c",
            "token => correcthorse",
            "curl -u me:hunter2 https://example.org",
            "export DB_PASS=hunter2",
            "let other = \"Zk3vQ9xT1bLm8RwYp2\";",
            "signing key: 0123456789abcdef",
        ] {
            assert!(find(line).takes_line, "{line}");
        }
        for line in [
            "fn token(&mut self) -> Token {",
            "    token: Token,",
            "let token = self.next_token();",
            "match token { Token::Text(text) => text,",
            "key: &str,",
            "key = \"voice.cleanup\"",
            "pub tokens: u64,",
            "The tests pass: all 240 of them.",
            "let id = EntryId::new(text);",
            "Basic editing works, bearer tokens do not.",
        ] {
            assert!(!find(line).takes_line, "{line}");
        }
    }

    #[test]
    fn values_below_their_label() {
        let below = |label, line| find(label).below.is_some_and(|label| is_value_below(label, line));
        for (label, line) in [
            ("Password:", "hunter2"),
            ("## API key", "whatever it is"),
            ("**token**:", "9f8a7b6c"),
            ("key =", "  '0123456789abcdef'"),
        ] {
            assert!(below(label, line), "{label} {line}");
        }
        for (label, line) in [
            ("fn token(", "&mut self,"),
            ("let token =", "self.next();"),
            ("a key", "is pressed"),
            ("let id =", "EntryId::new(text);"),
        ] {
            assert!(!below(label, line), "{label} {line}");
        }
    }
}
