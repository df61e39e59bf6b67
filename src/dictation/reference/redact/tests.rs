//! The corpus: no secret in what is sent, whatever stands around it; and code without secrets stays.

use super::super::{Agent, Excerpt};
use super::*;
use proptest::prelude::*;
use std::sync::LazyLock;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/redaction/secrets.txt");

/// A text, and the parts of it that must not be sent.
struct Case {
    text: String,
    secrets: Vec<String>,
}

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let corpus = std::fs::read_to_string(CORPUS).unwrap();
    corpus.lines().filter(|line| !line.starts_with("# ")).map(case).collect()
});

fn case(line: &str) -> Case {
    let line = line.replace('¦', "").replace('↵', "\n");
    let mut text = String::new();
    let mut secrets = Vec::new();
    for (number, part) in line.split(['⟦', '⟧']).enumerate() {
        text.push_str(part);
        if number % 2 == 1 {
            secrets.push(part.to_owned());
        }
    }
    Case { text, secrets }
}

/// The secrets that a text still holds.
fn leaks<'a>(case: &'a Case, sent: &str) -> Vec<&'a str> {
    case.secrets.iter().map(String::as_str).filter(|secret| sent.contains(secret)).collect()
}

#[test]
fn every_secret_of_the_corpus_goes() {
    assert!(CASES.len() >= 80, "{}", CASES.len());
    let kept: Vec<_> = CASES.iter().filter(|case| !leaks(case, &redact(&case.text)).is_empty()).collect();
    let kept: Vec<_> = kept.iter().map(|case| &case.text).collect();
    assert!(kept.is_empty(), "{kept:#?}");
}

#[test]
fn every_secret_goes_behind_and_before_every_punctuation_mark() {
    let mut kept = Vec::new();
    for case in CASES.iter() {
        for before in "\"'`([{<=:;,./\\|*_-~!?@#$%^&+> \t".chars() {
            for after in
                ["", "\"", "')", "`.", ",", ";", ":", "!", "*", "_", "-", "/", "\\n", "&", "|", "…", " "]
            {
                let text = format!("see{before}{}{after}", case.text);
                if !leaks(case, &redact(&text)).is_empty() {
                    kept.push(text);
                }
            }
        }
    }
    assert!(
        kept.is_empty(),
        "{} {:#?}",
        kept.len(),
        kept.iter().step_by(1 + kept.len() / 40).collect::<Vec<_>>()
    );
}

#[test]
fn what_nobody_sees_hides_nothing() {
    for text in
        ["ghp_0123456789\u{200b}abcdefghijABCD", "pass\u{ad}word: hunter2", "pass\u{2060}word:\r\nhunter2"]
    {
        let sent = redact(text);
        assert!(!sent.contains("hunter2") && !sent.contains("abcdef"), "{sent}");
    }
}

/// Of our own sources nearly every line stays.
#[test]
fn code_without_secrets_stays() {
    let (mut all, mut stayed, mut lost) = (0_u32, 0_u32, Vec::new());
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    // Where keys and tokens are spoken of most.
    let mut folders = vec![sources.join("llm"), sources.join("agent"), sources.join("config")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // This very module speaks of nothing but secrets.
            if path.is_dir() && !path.ends_with("redact") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let redacted = redact(&text);
                let pairs = text.lines().zip(redacted.lines());
                for (line, after) in pairs.filter(|(line, _)| !line.trim().is_empty()) {
                    all += 1;
                    stayed += u32::from(line == after);
                    if line != after {
                        lost.push(line.to_owned());
                    }
                }
            }
        }
    }
    let share = f64::from(stayed) / f64::from(all);
    println!("{share} of {all}");
    let lost: Vec<_> = lost.iter().step_by(1 + lost.len() / 60).collect();
    assert!(all > 1_000 && share >= 0.98, "{share} of {all}; {lost:#?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_secret_is_sent(
        number in 0_usize..10_000,
        before in "([A-Za-z0-9 ,.:;()'\"\n_-]{0,60}\n?){0,60}",
        after in "([A-Za-z0-9 ,.:;()'\"\n_-]{0,60}\n?){0,60}",
        glue in "[\\[\\](){}<>\"'`.,;:!?|/*~@#$%^&=+ \n\t-]{1,3}",
        end in "[\\[\\](){}<>\"'`.,;:!?|/*~@#$%^&=+ \n\t-]{1,3}",
        limit in 0_usize..13_000,
    ) {
        let case = &CASES[number % CASES.len()];
        let text = format!("{before}{glue}{}{end}{after}", case.text);
        if let Some(excerpt) = Excerpt::of(Agent::Mynah, &text, limit) {
            prop_assert!(excerpt.text().chars().count() <= limit.clamp(500, 12_000));
            let leaks = leaks(case, excerpt.text());
            prop_assert!(leaks.is_empty(), "{:?} in {:?}", leaks, excerpt.text());
        }
    }
}
