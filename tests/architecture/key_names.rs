//! No text of the screen names a key: keys are what the user's keymap says, and texts ask it.

use super::layers::{Finding, is_of_tests};
use super::source;
use std::collections::BTreeSet;

/// Where texts of the screen are written.
const FOLDERS: [&str; 2] = ["ui/", "app/"];

const MODIFIERS: [&str; 5] = ["ctrl+", "alt+", "shift+", "super+", "cmd+"];
const NAMES: [&str; 9] =
    ["esc", "escape", "enter", "return", "backspace", "pageup", "pagedown", "page up", "page down"];

/// Checks all sources: (path below `src`, text).
pub fn check(sources: &[(String, String)]) -> Vec<Finding> {
    let read: Vec<_> = sources.iter().map(|(file, text)| (file.as_str(), source::read(file, text))).collect();
    let tests: BTreeSet<&str> =
        read.iter().flat_map(|(_, source)| &source.test_modules).map(String::as_str).collect();
    let mut findings = Vec::new();
    for (file, source) in &read {
        if !FOLDERS.iter().any(|folder| file.starts_with(folder)) || is_of_tests(file, &tests) {
            continue;
        }
        for (text, line, in_test) in &source.texts {
            if let Some(key) = key_in(text).filter(|_| !in_test) {
                findings.push(Finding {
                    place: format!("src/{file}:{line}"),
                    what: format!("the text {text:?} names the key `{key}`"),
                    why: "the user may have bound something else to it, and then the text is wrong"
                        .to_owned(),
                    help: "Ask the keymap: `look.key(Action::…)`, `keymap.hint(…)` or `hint(look, …)`."
                        .to_owned(),
                });
            }
        }
    }
    findings
}

/// The first key that a text names.
fn key_in(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    if let Some(modifier) = MODIFIERS.iter().find(|modifier| lower.contains(**modifier)) {
        return Some((*modifier).to_owned());
    }
    // A key is a word of its own; what stands between other signs is a name of something else.
    let mut words = lower.split([' ', ',', ';', ':', '(', ')', '.', '·', '/']);
    let is_function_key = |word: &str| {
        word.strip_prefix('f')
            .and_then(|number| number.parse::<u8>().ok())
            .is_some_and(|n| (1..=24).contains(&n))
    };
    words.find(|word| NAMES.contains(word) || is_function_key(word)).map(str::to_owned)
}

#[test]
fn keys_are_found_in_texts_and_nowhere_else() {
    let file = |text: &str| check(&[("ui/a.rs".to_owned(), text.to_owned())]).len();
    assert_eq!(file("const A: &str = \"Press esc to close\";"), 1);
    assert_eq!(file("fn a() { say(\"ctrl+x quits\"); }"), 1);
    assert_eq!(file("fn a() { say(\"F1 lists all.\"); }"), 1);
    assert_eq!(file("fn a() { say(\"Rescue the tablet, if you can\"); }"), 0);
    assert_eq!(file("// esc closes\nfn a() {}\n#[cfg(test)]\nmod tests { const A: &str = \"esc\"; }"), 0);
    assert_eq!(check(&[("term/a.rs".to_owned(), "const A: &str = \"esc\";".to_owned())]).len(), 0);
}
