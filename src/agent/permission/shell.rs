//! Judging a shell command: every command in it, the files it names, the files it is redirected to.

use super::paths::{Access, Located, is_key_name};
use super::rule::{CommandPattern, Pattern, Rule};
use super::{Judge, Verdict, asked, denied, suggest};
use crate::jobs::segments::{self, Parsed, Redirect, RedirectKind, Segment, Word, base_name};
use std::path::{Path, PathBuf};

/// Environment variables that change how a program talks, not what it does.
const HARMLESS_VARIABLES: [&str; 22] = [
    "CI",
    "CARGO_TERM_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LINES",
    "NODE_ENV",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
    "VERBOSE",
];

/// Commands that change nothing by themselves. They need no rule beside one that is allowed.
const NEUTRAL: [&str; 9] = ["true", "false", ":", "exit", "break", "continue", "return", "test", "wait"];

/// Commands that change the files they are given.
const WRITERS: [&str; 20] = [
    "tee", "cp", "mv", "rm", "rmdir", "touch", "truncate", "dd", "install", "ln", "sed", "rsync", "patch",
    "chmod", "chown", "mkdir", "shred", "unlink", "scp", "tar",
];

/// Commands that read names, not contents: a folder of keys above is no matter.
const NAMES_ONLY: [&str; 11] =
    ["ls", "cd", "pushd", "find", "du", "df", "stat", "tree", "test", "realpath", "mkdir"];

/// Files that are no files.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"];

/// No path is longer.
const MAX_PATH: usize = 4096;

impl Judge<'_> {
    pub(super) fn shell(&self, command: &str, cwd: &Path) -> Verdict {
        let parsed = segments::parse(command);
        let folders = self.folders(&parsed, cwd);
        let raw = if parsed.opaque.is_some() { raw_words(command) } else { Vec::new() };
        let files = self.files(&parsed, &raw, &folders);
        if let Some(verdict) = self.caught(&self.rules.deny, command, &parsed, &raw, &files, denied) {
            return verdict;
        }
        if self.is_yolo() {
            return Verdict::Allow;
        }
        if let Some(verdict) = self.caught(&self.rules.ask, command, &parsed, &raw, &files, asked) {
            return verdict;
        }
        if self.is_spelled_out(command, &parsed) {
            return Verdict::Allow;
        }
        let mut asks: Vec<Verdict> = files.iter().filter_map(|file| self.protected_file(file)).collect();
        if !self.rules.allow.iter().any(|rule| rule.is_for("bash")) {
            asks.extend([self.segments(command, &parsed, &folders), self.redirects(&parsed, &folders)]);
        }
        asks.retain(|verdict| !verdict.is_allow());
        asks.dedup();
        let one_rule_is_enough =
            matches!(asks.as_slice(), [Verdict::Ask { suggestions, .. }] if suggestions.len() == 1);
        match asks.into_iter().fold(Verdict::Allow, Verdict::and) {
            Verdict::Ask { reason, mut suggestions } if !one_rule_is_enough => {
                // Only the whole text is.
                suggestions.splice(0..0, suggest::for_text(command));
                Verdict::Ask { reason, suggestions }
            }
            verdict => verdict,
        }
    }

    fn command_patterns(&self) -> impl Iterator<Item = &CommandPattern> {
        self.rules.allow.iter().filter(|rule| rule.names("bash")).filter_map(|rule| match &rule.pattern {
            Pattern::Command(pattern) => Some(pattern),
            Pattern::Any | Pattern::Path(_) => None,
        })
    }

    /// A rule allows just this command, by its text or word by word: nothing in it needs a further question.
    fn is_spelled_out(&self, command: &str, parsed: &Parsed) -> bool {
        let alone = match (parsed.segments.as_slice(), &parsed.opaque) {
            ([segment], None) if segment.redirects.is_empty() => Some(written(segment)),
            _ => None,
        };
        self.command_patterns().any(|pattern| {
            pattern.is_text(command) || alone.as_ref().is_some_and(|words| pattern.is_exactly(words))
        })
    }

    /// The first rule that catches the command, one in it, or a file of it.
    fn caught(
        &self,
        rules: &[Rule],
        command: &str,
        parsed: &Parsed,
        raw: &[String],
        files: &[File],
        verdict: fn(&Rule, &str) -> Verdict,
    ) -> Option<Verdict> {
        for rule in rules {
            if let Pattern::Command(pattern) = &rule.pattern {
                if !rule.names("bash") {
                    continue;
                }
                let segment =
                    parsed.segments.iter().find(|segment| forms(segment).any(|form| pattern.catches(&form)));
                if let Some(segment) = segment {
                    return Some(verdict(rule, command.get(segment.range.clone()).unwrap_or(command)));
                }
                if pattern.is_text(command) || pattern.is_within(raw) {
                    return Some(verdict(rule, command.trim()));
                }
            } else if rule.is_for("bash") {
                return Some(verdict(rule, command.trim()));
            }
        }
        files.iter().find_map(|file| {
            // That a word may be a file is a guess: rules over all files do not count for it.
            let rule = rules.iter().find(|rule| match &rule.pattern {
                Pattern::Path(pattern) => {
                    rule.concerns("", file.access)
                        && file.located.any(|path| pattern.catches(path, &self.places))
                }
                Pattern::Any => file.is_certain && rule.is_for(file.access.rule_name()),
                Pattern::Command(_) => false,
            })?;
            Some(verdict(rule, &self.places.shown(&file.located.lexical)))
        })
    }

    fn protected_file(&self, file: &File) -> Option<Verdict> {
        if let Some(verdict) = self.protected(file.access, &file.located) {
            return Some(verdict).filter(|verdict| !verdict.is_allow());
        }
        let reason = if is_key_name(&file.text) {
            format!("`{}` may name a file that holds keys.", file.text)
        } else if file.reads_below && self.places.is_above_home(&file.located) {
            format!("Reading all of `{}` would read files that may hold keys.", file.text)
        } else {
            return None;
        };
        Some(Verdict::Ask { reason, suggestions: Vec::new() })
    }

    /// Every command needs a rule.
    fn segments(&self, command: &str, parsed: &Parsed, folders: &Folders) -> Verdict {
        if let Some(why) = &parsed.opaque {
            let reason = format!("It can't be told what this command runs, because {why}.");
            return Verdict::Ask { reason, suggestions: Vec::new() };
        }
        let (mut open, mut by_rule) = (Vec::new(), 0);
        for segment in &parsed.segments {
            if self.is_segment_allowed(segment) {
                by_rule += 1;
            } else if !self.needs_no_rule(segment, folders) {
                open.push(segment);
            }
        }
        if open.is_empty() && by_rule > 0 {
            return Verdict::Allow;
        }
        // One command without a suggestion, and the others would not be enough.
        let suggestions: Option<Vec<String>> =
            open.iter().map(|segment| suggest::for_segment(segment)).collect();
        let mut suggestions = suggestions.unwrap_or_default();
        suggestions.dedup();
        let reason = match open.first().and_then(|segment| command.get(segment.range.clone())) {
            Some(text) if parsed.segments.len() > 1 => format!("No rule allows `{text}`."),
            Some(_) | None => format!("Shell commands ask in {} mode.", self.mode),
        };
        Verdict::Ask { reason, suggestions }
    }

    fn is_segment_allowed(&self, segment: &Segment) -> bool {
        let allowed = |words: &[Word]| self.command_patterns().any(|pattern| pattern.allows(words));
        let mut is_harmless = segment.assignments.iter().all(|assignment| is_harmless_name(&assignment.name));
        if allowed(&written(segment)) || (is_harmless && allowed(&segment.words)) {
            return true;
        }
        for inner in segment.inner.iter().take_while(|inner| inner.is_faithful) {
            if is_harmless && allowed(&[&inner.assignments[..], &inner.words[..]].concat()) {
                return true;
            }
            is_harmless &= inner
                .assignments
                .iter()
                .all(|word| word.text.split_once('=').is_some_and(|(name, _)| is_harmless_name(name)));
            if is_harmless && allowed(&inner.words) {
                return true;
            }
        }
        false
    }

    /// It does nothing that a rule would have to allow.
    fn needs_no_rule(&self, segment: &Segment, folders: &Folders) -> bool {
        let assignments_are_harmless = segment.assignments.iter().all(|assignment| {
            is_harmless_name(&assignment.name)
                || (!assignment.is_exported && is_plain_variable(&assignment.name))
        });
        let inner_is_harmless = segment.inner.iter().all(|inner| {
            inner.is_faithful
                && inner
                    .assignments
                    .iter()
                    .all(|word| word.text.split_once('=').is_some_and(|(name, _)| is_harmless_name(name)))
        });
        let name = segment.words.first().map(|name| name.text.as_str());
        let command_is_harmless = match name {
            None => true,
            Some(_) if segment.is_covered => inner_is_harmless,
            Some("cd") => folders.stays_in_project,
            Some(name) => NEUTRAL.contains(&name),
        };
        assignments_are_harmless && command_is_harmless
    }

    /// Files that the shell itself writes are edits.
    fn redirects(&self, parsed: &Parsed, folders: &Folders) -> Verdict {
        let redirects = parsed.segments.iter().flat_map(|segment| &segment.redirects);
        redirects.filter(|redirect| is_file(redirect)).fold(Verdict::Allow, |verdict, redirect| {
            let access = access_of(redirect.kind);
            let is_relative = !redirect.target.text.starts_with(['/', '~']);
            let verdict_here = match redirect.target.known() {
                Some(target) if !(is_relative && folders.is_unknown) => folders
                    .all
                    .iter()
                    .map(|folder| self.path(access, &self.places.locate_in(folder, Path::new(target))))
                    .fold(Verdict::Allow, Verdict::and),
                Some(_) | None if access == Access::Read => Verdict::Allow,
                Some(_) | None => Verdict::Ask {
                    reason: "It writes to a file whose place is known only when it runs.".to_owned(),
                    suggestions: Vec::new(),
                },
            };
            verdict.and(verdict_here)
        })
    }

    /// Where relative paths of the command may start: the working directory and wherever it changes to.
    fn folders(&self, parsed: &Parsed, cwd: &Path) -> Folders {
        let mut folders = Folders { all: vec![cwd.to_owned()], is_unknown: false, stays_in_project: true };
        for segment in &parsed.segments {
            for words in forms(segment) {
                let Some((name, arguments)) = words.split_first() else { continue };
                match name.text.as_str() {
                    "cd" | "pushd" => {}
                    "popd" => {
                        folders.is_unknown = true;
                        continue;
                    }
                    _ => continue,
                }
                let target = arguments.iter().find(|word| !word.text.starts_with('-') || word.text == "-");
                match target.map_or(Some("~"), Word::known) {
                    Some("-") | None => {
                        folders.is_unknown = true;
                        folders.stays_in_project = false;
                    }
                    Some(target) => {
                        let below: Vec<PathBuf> = folders
                            .all
                            .iter()
                            .map(|folder| {
                                let located = self.places.locate_in(folder, Path::new(target));
                                folders.stays_in_project &= self.places.is_in_project(&located);
                                located.resolved
                            })
                            .collect();
                        folders.all.extend(below);
                        folders.all.dedup();
                        // Each change doubles the places; nobody needs many.
                        if folders.all.len() > 16 {
                            folders.all.truncate(16);
                            folders.is_unknown = true;
                        }
                    }
                }
            }
        }
        folders
    }

    /// Every file that the command may name.
    fn files(&self, parsed: &Parsed, raw: &[String], folders: &Folders) -> Vec<File> {
        let mut files = Vec::new();
        let located = |folder: &PathBuf, text: &str| self.places.locate_in(folder, Path::new(text));
        for segment in &parsed.segments {
            let name = segment.words.first().map_or("", |name| base_name(&name.text));
            let is_writer = forms(segment)
                .any(|words| words.first().is_some_and(|name| WRITERS.contains(&base_name(&name.text))));
            let reads_below = !NAMES_ONLY.contains(&name);
            let mut add = |text: &str, access, is_certain, reads_below| {
                for folder in &folders.all {
                    let located = located(folder, text);
                    files.push(File { text: text.to_owned(), located, access, is_certain, reads_below });
                }
            };
            let values = segment.assignments.iter().map(|assignment| &assignment.value);
            for word in segment.words.iter().skip(1).chain(values) {
                for text in candidates(&word.text) {
                    add(text, Access::Read, false, reads_below);
                    if is_writer {
                        add(text, Access::Write, false, false);
                    }
                }
            }
            for redirect in segment.redirects.iter().filter(|redirect| is_file(redirect)) {
                add(&redirect.target.text, access_of(redirect.kind), true, false);
            }
        }
        for text in raw.iter().filter(|text| text.len() <= MAX_PATH) {
            files.extend(folders.all.iter().map(|folder| File {
                text: text.clone(),
                located: located(folder, text),
                access: Access::Read,
                is_certain: false,
                reads_below: false,
            }));
        }
        files
    }
}

struct Folders {
    all: Vec<PathBuf>,
    /// It may be in a folder that is none of these.
    is_unknown: bool,
    stays_in_project: bool,
}

/// A file that a command may name.
struct File {
    text: String,
    located: Located,
    access: Access,
    /// The shell opens it; else a word of the command may be its path.
    is_certain: bool,
    /// All below it may be read.
    reads_below: bool,
}

const fn access_of(kind: RedirectKind) -> Access {
    match kind {
        RedirectKind::Read => Access::Read,
        RedirectKind::Write => Access::Write,
    }
}

fn is_file(redirect: &Redirect) -> bool {
    !(redirect.target.literal && DEVICES.contains(&redirect.target.text.as_str()))
}

/// The command as written, with the variables that it sets.
fn written(segment: &Segment) -> Vec<Word> {
    let assignments = segment.assignments.iter().map(|assignment| Word {
        text: format!("{}={}", assignment.name, assignment.value.text),
        literal: assignment.value.literal,
    });
    assignments.chain(segment.words.iter().cloned()).collect()
}

/// Everything that a rule may mean: the command as written, without its variables, and what it runs.
fn forms(segment: &Segment) -> impl Iterator<Item = Vec<Word>> {
    let inner = segment.inner.iter().map(|inner| inner.words.clone());
    [written(segment), segment.words.clone()].into_iter().chain(inner).filter(|words| !words.is_empty())
}

/// Parts of a word that may be a path: all of it, and what stands behind a sign that joins an option to its value.
fn candidates(word: &str) -> impl Iterator<Item = &str> {
    let behind_sign = word.char_indices().filter(|(_, c)| matches!(c, '=' | ':' | '@' | ',')).take(8);
    let behind_sign = behind_sign.filter_map(move |(at, c)| word.get(at + c.len_utf8()..));
    let behind_option =
        word.strip_prefix('-').and_then(|rest| rest.get(1..)).filter(|_| !word.starts_with("--"));
    let whole = (!word.starts_with('-')).then_some(word);
    whole
        .into_iter()
        .chain(behind_option)
        .chain(behind_sign)
        .filter(|text| !text.is_empty() && text.len() <= MAX_PATH)
}

fn is_harmless_name(name: &str) -> bool {
    HARMLESS_VARIABLES.contains(&name)
}

/// A variable of the script itself: by custom the environment's names are in capitals, but for those of proxies and npm.
fn is_plain_variable(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !name.ends_with("_proxy")
        && !name.starts_with("npm_")
}

/// The words of a text that can't be taken apart, without quotes and signs.
fn raw_words(command: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || "_-./:@%+~,".contains(c);
    let unquoted: String = command.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    unquoted.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
