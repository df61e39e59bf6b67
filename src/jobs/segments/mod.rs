//! A shell command as the commands it runs.
//!
//! Permission rules speak of single commands, so a command text is parsed and every command in it becomes a segment:
//! in pipelines, lists, subshells, substitutions, bodies of loops and functions, and the scripts of `sh -c`. Commands
//! that run another one (`env`, `timeout`, `xargs`, …) are looked into.
//!
//! Invariants:
//! - What the shell would run and what the segments say is the same, or [`Parsed::opaque`] says why that is not known.
//!   Where our grammar reads a text differently from bash, the command is opaque.
//! - No input panics, recurses without bound or parses for ever.

mod walk;
mod words;
mod wrappers;

pub use words::Word;
pub(crate) use wrappers::base_name;

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use tree_sitter::{ParseOptions, ParseState, Parser, Tree};
use walk::Walker;

/// Longer commands are not parsed.
const MAX_LENGTH: usize = 1024 * 1024;
/// Scripts within scripts.
const MAX_SCRIPTS: usize = 8;

/// A command text, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Every command that it runs, as far as can be told; of an opaque one perhaps not all.
    pub segments: Vec<Segment>,
    /// Why it can't be told what runs; ends the sentence "… because".
    pub opaque: Option<String>,
}

/// One command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Name and arguments; empty if there are only assignments or redirects.
    pub words: Vec<Word>,
    /// Variables that it sets.
    pub assignments: Vec<Assignment>,
    /// Files that the shell opens for it.
    pub redirects: Vec<Redirect>,
    /// What it runs in turn, outermost first.
    pub inner: Vec<Inner>,
    /// It only runs a script whose commands are segments of their own.
    pub is_covered: bool,
    /// Its place in the command text. Commands of an inner script have the place of the command that runs it.
    pub range: Range<usize>,
}

/// A command that another one runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inner {
    /// Variables that the outer command sets for it, as `NAME=value`.
    pub assignments: Vec<Word>,
    /// Name and arguments.
    pub words: Vec<Word>,
    /// It does what it would do alone. Not so under `sudo`, or where it is only a guess.
    pub is_faithful: bool,
}

/// A variable that gets a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Word,
    /// It goes into the environment of a command (`NAME=value command`).
    pub is_exported: bool,
}

/// A file that the shell opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// What for.
    pub kind: RedirectKind,
    /// Which.
    pub target: Word,
}

/// What a redirect does to its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// Reads it.
    Read,
    /// Creates or changes it.
    Write,
}

/// Takes a command text apart.
pub fn parse(command: &str) -> Parsed {
    let mut parsed = Parsed::default();
    parse_into(command, None, 0, &mut parsed);
    parsed
}

impl Parsed {
    fn set_opaque(&mut self, reason: impl Into<String>) {
        self.opaque.get_or_insert_with(|| reason.into());
    }
}

fn parse_into(source: &str, range: Option<Range<usize>>, depth: usize, parsed: &mut Parsed) {
    if source.len() > MAX_LENGTH || depth > MAX_SCRIPTS {
        return parsed.set_opaque("it is too long or too deep to be judged");
    }
    if source.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        parsed.set_opaque("it holds control characters");
    }
    if joins_lines(source) {
        parsed.set_opaque("a word goes on in the next line");
    }
    let Some(tree) = tree(source) else {
        return parsed.set_opaque("it takes too long to parse");
    };
    if tree.root_node().has_error() {
        parsed.set_opaque("it could not be parsed");
    }
    Walker { source, range, depth, parsed }.visit(tree.root_node(), 0);
}

/// The tree of a command text; nothing if it takes too long.
pub(super) fn tree(source: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    // Some texts make the parser try very many readings; counted, not timed, so that a verdict does not depend on load.
    let mut budget = 10_000 + source.len();
    let mut spend = |_: &ParseState| match budget.checked_sub(1) {
        Some(left) => {
            budget = left;
            ControlFlow::Continue(())
        }
        None => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut spend);
    let readable = readable(source);
    let mut text_from = |offset: usize, _| readable.as_bytes().get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut text_from, None, Some(options))
}

/// The text for the parser, byte for byte in the same places: characters that are no ASCII become others of the same
/// length below U+0100, without a meaning in the grammar.
///
/// The scanner of tree-sitter-bash 0.25 asks `isdigit` about any character, which reads far outside of the C library's
/// table and can crash the program (tree-sitter/tree-sitter-bash#337). Blanks beyond ASCII, too, are part of a word to
/// bash. The stand-ins are no ASCII either: no text becomes the end mark of a here-document by them.
fn readable(source: &str) -> Cow<'_, str> {
    if source.is_ascii() {
        return Cow::Borrowed(source);
    }
    let stand_in = |c: char| match c.len_utf8() {
        2 => "\u{aa}",
        3 => "\u{aa}x",
        _ => "\u{aa}\u{aa}",
    };
    let mut out = String::with_capacity(source.len());
    for c in source.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            out.push_str(stand_in(c));
        }
    }
    Cow::Owned(out)
}

/// A backslash at the end of a line glues two words together; our grammar sees two.
pub(super) fn joins_lines(source: &str) -> bool {
    let mut before = None;
    let mut chars = source.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' && chars.peek() == Some(&'\n') {
            chars.next();
            let after = chars.peek().copied();
            let is_inside = |c: Option<char>| c.is_some_and(|c| !c.is_whitespace() && !"|&;()".contains(c));
            if is_inside(before) && is_inside(after) {
                return true;
            }
        }
        before = Some(c);
    }
    false
}

#[cfg(test)]
mod tests;
