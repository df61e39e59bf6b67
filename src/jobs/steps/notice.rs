//! What could notice that a command is timed, or changes the shell so that its steps can't be followed. Pure.
//!
//! Only the shell itself has the trap: what other programs do, also another bash, is of no interest. Where it can't be
//! told which command a word names, the answer is yes.

use super::split::Whole;
use regex::Regex;
use std::sync::LazyLock;
use tree_sitter::Node;

/// Nodes that are looked at, at most.
const MOST: usize = 100_000;

/// Wherever these stand, in quotes too: words that no other text has, so that little is lost.
static READS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        \$\{?[\#!]?_(?:\W|$)                                 # the last argument
        | (?:^|[\s\[(])_(?:\W|$)                             # and by its name
        | \$\{!                                              # a variable whose name is not known here
        | \b(?:BASH_(?:ENV|COMMAND|LINENO|SOURCE|ARGC|ARGV|ARGV0|XTRACEFD|SUBSHELL|EXECUTION_STRING)|BASHOPTS
            |SHELLOPTS|LINENO|PIPESTATUS|FUNCNAME|FUNCNEST|POSIXLY_CORRECT)\b
        | /proc(?:/(?:self|thread-self)\b|/?[^/\w]|/[^a-z]|/?$) # a process
        | /dev/fd\b
        | \b(?:alias|unalias|eval|trap|shopt|declare|typeset|compgen|compopt|coproc)\b
        ",
    )
    .ok()
});

/// By name: what ends, replaces or changes the shell.
const CHANGING: &[&str] = &[
    "exit", "exec", "return", "local", "builtin", "enable", "ulimit", "suspend", "logout", "set", "bind",
    "fc", "trap", "alias", "unalias", "eval", ".", "source", "shopt", "coproc",
];

/// Files that are often read into the shell before a command, and only set variables and functions. Another file could
/// set a trap for the shell's end, which sees a `BASH_COMMAND` of ours, or list all variables.
const READ_IN: &[&str] = &["activate", "env", ".env", "nvm.sh"];

/// What tells of the shell's own state, or measures what includes our answer.
const LISTING: &[&str] =
    &["time", "env", "printenv", "caller", "history", "declare", "typeset", "compgen", "complete", "compopt"];

/// Words of the shell's grammar: no command has such a name, so our grammar has misread something.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    "function", "coproc", "in", "{", "}", "!", "[[", "]]",
];

/// Why the text alone makes a command one step.
pub fn of_text(source: &str) -> Option<Whole> {
    READS.as_ref().is_none_or(|pattern| pattern.is_match(source)).then_some(Whole::Notices)
}

/// Why one of its commands does, those in groups, subshells and substitutions too.
pub fn of_commands(root: Node<'_>, source: &str) -> Result<(), Whole> {
    let mut open = vec![(root, false)];
    let mut left = MOST;
    while let Some((node, is_inner)) = open.pop() {
        left = left.checked_sub(1).ok_or(Whole::Unclear)?;
        let text = source.get(node.byte_range()).ok_or(Whole::Unclear)?;
        match node.kind() {
            "command" => command(node, text, source, is_inner)?,
            "declaration_command" => declaration(text)?,
            "heredoc_redirect" => return Err(Whole::HereDocument),
            "function_definition" => return Err(Whole::Compound),
            _ => {}
        }
        let mut cursor = node.walk();
        let is_inner =
            is_inner || matches!(node.kind(), "subshell" | "command_substitution" | "process_substitution");
        open.extend(node.children(&mut cursor).map(|child| (child, is_inner)));
    }
    Ok(())
}

/// `export` and `readonly` that do something; bare, or with `-p`, they list.
fn declaration(text: &str) -> Result<(), Whole> {
    let mut words = text.split_ascii_whitespace();
    let is_known = matches!(words.next(), Some("export" | "readonly"));
    let names_one = words.any(|word| !word.starts_with('-'));
    if is_known && names_one && !text.contains(" -p") { Ok(()) } else { Err(Whole::Notices) }
}

fn command(node: Node<'_>, text: &str, source: &str, is_inner: bool) -> Result<(), Whole> {
    let Some(name) = node.child_by_field_name("name") else { return Ok(()) };
    let mut cursor = node.walk();
    let arguments = node.children_by_field_name("argument", &mut cursor);
    let mut words = std::iter::once(name).chain(arguments).map(|word| {
        let text = source.get(word.byte_range()).unwrap_or_default();
        literal(text).ok_or(text)
    });
    loop {
        let word = match words.next() {
            Some(Ok(word)) => word,
            // A path is no command of the shell's own, whatever the rest of it.
            Some(Err(written)) if written.contains('/') => return Ok(()),
            Some(Err(_)) => return Err(Whole::Unclear),
            None => return Ok(()),
        };
        match word.as_str() {
            // What follows is a command in turn.
            "command" => {}
            option if option.starts_with('-') => {}
            "set" if is_plain_set(text) => return Ok(()),
            "env" if runs_another(&mut words) => return Ok(()),
            "." | "source" if words.next().is_some_and(|file| is_read_in(&file)) => return Ok(()),
            // In a subshell these are of that alone.
            "exit" | "exec" if is_inner => return Ok(()),
            word if CHANGING.contains(&word) => return Err(Whole::ChangesShell),
            word if LISTING.contains(&word) => return Err(Whole::Notices),
            word if RESERVED.contains(&word) => return Err(Whole::Compound),
            _ => return Ok(()),
        }
    }
}

fn is_read_in(file: &Result<String, &str>) -> bool {
    let file = file.as_deref().unwrap_or_else(|written| written).trim_end_matches('"');
    READ_IN.contains(&file.rsplit('/').next().unwrap_or_default())
}

/// `env` with a command does not list the environment.
fn runs_another<'text>(words: impl Iterator<Item = Result<String, &'text str>>) -> bool {
    words
        .map(|word| word.unwrap_or_else(str::to_owned))
        .any(|word| !word.starts_with('-') && !word.contains('='))
}

/// A word without its quotes; nothing if the shell puts something in.
fn literal(word: &str) -> Option<String> {
    let is_literal = !word.contains(['$', '`', '*', '?', '[', '~', '{', '<', '>']);
    is_literal.then(|| word.chars().filter(|c| !matches!(c, '\'' | '"' | '\\' | '\n')).collect())
}

/// It only says when the shell gives up, which shows in the statuses.
fn is_plain_set(text: &str) -> bool {
    let mut words = text.split([' ', '\t']).filter(|word| !word.is_empty());
    if words.next() != Some("set") {
        return false;
    }
    let mut is_option = false;
    let mut count = 0;
    for word in words {
        count += 1;
        if std::mem::take(&mut is_option) {
            if word != "pipefail" {
                return false;
            }
            continue;
        }
        let Some(letters) = word.strip_prefix(['-', '+']) else { return false };
        if letters.is_empty() || !letters.bytes().all(|letter| matches!(letter, b'e' | b'u' | b'o')) {
            return false;
        }
        is_option = letters.contains('o');
        if letters.matches('o').count() > 1 {
            return false;
        }
    }
    count > 0 && !is_option
}
