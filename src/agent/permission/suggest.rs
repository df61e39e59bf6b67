//! Rules to offer with a question, and what a refused model reads.

use super::paths::{Access, Located, PathPattern, Places, escaped};
use super::rule::RuleList;
use crate::jobs::segments::{Segment, Word, base_name};

/// Commands with subcommands, and how many words name what they do.
const SUBCOMMANDS: [&str; 34] = [
    "git",
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "deno",
    "npx",
    "go",
    "docker",
    "podman",
    "kubectl",
    "helm",
    "gh",
    "pip",
    "pip3",
    "uv",
    "poetry",
    "make",
    "just",
    "task",
    "mix",
    "bundle",
    "rails",
    "dotnet",
    "gradle",
    "mvn",
    "terraform",
    "systemctl",
    "apt",
    "brew",
    "rustup",
    "nix",
    "jj",
];

/// Commands whose arguments decide what they do: only the very same call is offered.
const EXACT_ONLY: [&str; 46] = [
    "rm",
    "rmdir",
    "mv",
    "cp",
    "dd",
    "chmod",
    "chown",
    "chgrp",
    "kill",
    "pkill",
    "killall",
    "ln",
    "tee",
    "install",
    "truncate",
    "shred",
    "mkfs",
    "mount",
    "umount",
    "curl",
    "wget",
    "ssh",
    "scp",
    "rsync",
    "nc",
    "bash",
    "sh",
    "dash",
    "zsh",
    "fish",
    "python",
    "python3",
    "node",
    "perl",
    "ruby",
    "php",
    "osascript",
    "env",
    "xargs",
    "eval",
    "source",
    ".",
    "crontab",
    "at",
    "reboot",
    "shutdown",
];

/// Command and subcommand of which only the very same call is offered.
const EXACT_ONLY_PAIRS: [(&str, &str); 8] = [
    ("git", "push"),
    ("git", "reset"),
    ("git", "clean"),
    ("git", "config"),
    ("git", "rm"),
    ("npm", "publish"),
    ("cargo", "publish"),
    ("gh", "api"),
];

/// More of a call is not shown to people in a notice.
const HEADLINE_CHARS: usize = 120;

/// Longer texts are not offered: nobody reads them on a card.
const MAX_TEXT: usize = 200;

/// Rules that would allow a segment: the command without its arguments, or the very same call.
pub(super) fn for_segment(segment: &Segment) -> Option<String> {
    // The command inside wrappers, if the wrappers change nothing about it.
    let words =
        match segment.inner.iter().rev().find(|inner| inner.is_faithful && inner.assignments.is_empty()) {
            Some(inner) if segment.assignments.is_empty() => inner.words.as_slice(),
            Some(_) | None => segment.words.as_slice(),
        };
    let (first, arguments) = words.split_first()?;
    let name = base_name(first.known()?);
    let second = arguments.first().and_then(Word::known).unwrap_or_default();
    let is_subcommand = second.starts_with(|c: char| c.is_ascii_alphabetic());
    let has_inner_assignments = segment.inner.iter().any(|inner| !inner.assignments.is_empty());
    if !segment.assignments.is_empty() || has_inner_assignments {
        return None;
    }
    if EXACT_ONLY.contains(&name)
        || EXACT_ONLY_PAIRS.contains(&(name, second))
        || segment.inner.iter().any(|inner| !inner.is_faithful)
    {
        let words: Option<Vec<&str>> = segment.words.iter().map(Word::known).collect();
        return rule(&words?, false);
    }
    match (SUBCOMMANDS.contains(&name), is_subcommand) {
        (true, true) if second == "run" => {
            let script = arguments.get(1).and_then(Word::known).filter(|script| !script.starts_with('-'));
            match script {
                Some(script) => rule(&[first.known()?, second, script], true),
                None => rule(&[first.known()?, second], true),
            }
        }
        (true, true) => rule(&[first.known()?, second], true),
        (true, false) => {
            let words: Option<Vec<&str>> = words.iter().map(Word::known).collect();
            rule(&words?, false)
        }
        (false, _) => rule(&[first.known()?], true),
    }
}

/// A rule for exactly this command text, if it is fit to be shown.
pub(super) fn for_text(command: &str) -> Option<String> {
    let command = command.trim();
    let is_fit = command.len() <= MAX_TEXT && !command.chars().any(|c| c.is_control() || c == '*');
    is_fit.then(|| format!("bash({command})")).filter(|_| !command.ends_with(":*"))
}

fn rule(words: &[&str], is_prefix: bool) -> Option<String> {
    let text: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let text = text.join(" ");
    if text.len() > MAX_TEXT || text.chars().any(char::is_control) {
        return None;
    }
    Some(if is_prefix { format!("bash({text}:*)") } else { format!("bash({text})") })
}

/// A word so that the shell, and a rule, read just it.
fn quoted(word: &str) -> String {
    let is_plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_-./:@%+=,".contains(c));
    match word {
        "" => "''".to_owned(),
        _ if !word.starts_with('=') && is_plain(word.strip_prefix("~/").unwrap_or(word)) => word.to_owned(),
        _ => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// Rules that would allow a path: the path itself, then its folder.
pub(super) fn for_path(access: Access, located: &Located, places: &Places<'_>) -> Vec<String> {
    let folder = located.lexical.parent().filter(|folder| !places.is_project_root(folder));
    let folder =
        folder.filter(|_| places.is_in_project(located)).and_then(|folder| pattern(&places.shown(folder)));
    let folder =
        folder.map(|folder| format!("{folder}/**")).and_then(|text| working(access, text, located, places));
    for_exact_path(access, located, places).into_iter().chain(folder).collect()
}

/// The rule for just this path.
pub(super) fn for_exact_path(access: Access, located: &Located, places: &Places<'_>) -> Option<String> {
    pattern(&places.shown(&located.lexical)).and_then(|text| working(access, text, located, places))
}

/// The rule, if it allows the path: none does where a link leads to another place.
fn working(access: Access, text: String, located: &Located, places: &Places<'_>) -> Option<String> {
    let pattern = PathPattern::parse(RuleList::Allow, &text).ok()?;
    located.all(|path| pattern.allows(path, places)).then(|| format!("{}({text})", access.rule_name()))
}

fn pattern(shown: &str) -> Option<String> {
    let is_fit = shown.len() <= MAX_TEXT && !shown.chars().any(char::is_control) && !shown.ends_with(' ');
    is_fit.then(|| escaped(shown))
}

/// What a model reads when a call is refused because nobody can be asked: what happened, why, and how the user can
/// allow it.
pub fn refusal(tool: &str, headline: &str, reason: &str, suggestions: &[String]) -> String {
    let allow = allowing(suggestions);
    format!(
        "This {tool} call was refused and did not run: {headline}\n{reason} Nobody can be asked in this run. The user \
         can allow it by starting Mynah with {allow}. Do not try to get the same effect in another way; go on without \
         it, or say what you need."
    )
}

/// What a person reads then, on one line.
pub fn refusal_notice(tool: &str, headline: &str, reason: &str, suggestions: &[String]) -> String {
    let what = match headline.char_indices().nth(HEADLINE_CHARS) {
        Some((cut, _)) => format!("{}…", headline.get(..cut).unwrap_or_default()),
        None => headline.to_owned(),
    };
    format!("{tool} did not run: {what}. {reason} Allow it with {}.", allowing(suggestions))
}

fn allowing(suggestions: &[String]) -> String {
    match suggestions.first() {
        Some(rule) => format!("`--allow {}` or `--yolo`", shell_quoted(rule)),
        None => "`--yolo`".to_owned(),
    }
}

fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
