//! Which steps a command has. Pure.
//!
//! A step is a pipeline between `&&`, `||`, `;` or line ends at the top of the command. Only plain ones are taken: simple
//! commands, tests, assignments. Whatever else there is, and whatever could notice that we look, makes the command one
//! step: a wrong guess in this direction costs a display, one in the other would change what runs.

use crate::proto::chain::StepJoint;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;
use tree_sitter::{Node, Parser};

/// Fewer steps tell nothing, more are no longer read.
const FEWEST: usize = 2;
const MOST: usize = 12;
/// Longer commands are not looked at.
const LONGEST: usize = 64 * 1024;

/// What would notice the trap, the pipes, or the start-up file, or is not what it seems.
static NOTICED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\$\{?_\b|\$_|/proc/|/dev/fd|\b(alias|unalias|eval|trap|shopt|enable|declare|typeset|compgen|complete|set|local|exit|exec|return|coproc|suspend|logout|disown|caller|history|fc|bind|builtin|command|BASH_\w+|BASHOPTS|SHELLOPTS|LINENO|PIPESTATUS|FUNCNAME|DEBUG|environ|strace|gdb|ulimit|umask|_)\b|<<[^<]",
    )
    .ok()
});

/// Why a command is one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// It has a single step, or none.
    Single,
    /// It has more steps than anybody reads.
    TooMany,
    /// It is too long, or our grammar does not understand it.
    Unclear,
    /// It holds a loop, a condition, a function, a group: steps within steps.
    Compound,
    /// Something of it runs in the background.
    Background,
    /// It could notice that it is watched.
    Noticed,
}

/// A command as steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The folder that a leading `cd` goes to, and its element.
    pub location: Option<String>,
    /// What runs, in the order in which it is written; a leading `cd` among them.
    pub elements: Vec<Element>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// As written.
    pub text: String,
    /// What joins it to the one before.
    pub joint: StepJoint,
    /// The simple commands of which bash tells before it runs the step, each by its first word; nothing of a word that
    /// is not plain.
    pub told: Vec<Option<String>>,
}

/// Splits a command.
pub fn plan(command: &str) -> Result<Plan, Whole> {
    if command.len() > LONGEST || command.contains('\0') || command.contains('\r') {
        return Err(Whole::Unclear);
    }
    if NOTICED.as_ref().is_none_or(|noticed| noticed.is_match(command)) {
        return Err(Whole::Noticed);
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).map_err(|_| Whole::Unclear)?;
    let tree = parser.parse(command, None).ok_or(Whole::Unclear)?;
    let root = tree.root_node();
    if root.has_error() {
        return Err(Whole::Unclear);
    }
    let mut elements = Vec::new();
    let mut cursor = root.walk();
    for child in root.children(&mut cursor) {
        match child.kind() {
            "comment" | ";" | "\n" => {}
            "&" => return Err(Whole::Background),
            _ => list(child, StepJoint::Then, command, &mut elements)?,
        }
    }
    // Between two statements stands something that ends the first: else our grammar has misread it.
    let location = elements.first().and_then(|first: &Element| location(&first.text));
    let steps = elements.len() - usize::from(location.is_some() && elements.len() > 1);
    let location = location.filter(|_| elements.len() > 1);
    match steps {
        0 | 1 if elements.len() < FEWEST => Err(Whole::Single),
        0 | 1 => Err(Whole::Single),
        steps if steps > MOST => Err(Whole::TooMany),
        _ => Ok(Plan { location, elements }),
    }
}

/// Adds the steps of a list, `a && b || c`.
fn list(node: Node<'_>, joint: StepJoint, source: &str, into: &mut Vec<Element>) -> Result<(), Whole> {
    if node.kind() != "list" {
        into.push(element(node, joint, source)?);
        return Ok(());
    }
    let mut next = joint;
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "&&" => next = StepJoint::And,
            "||" => next = StepJoint::Or,
            "comment" | "\n" => {}
            "&" => return Err(Whole::Background),
            ";" => next = StepJoint::Then,
            _ => list(child, next, source, into)?,
        }
    }
    Ok(())
}

fn element(node: Node<'_>, joint: StepJoint, source: &str) -> Result<Element, Whole> {
    let mut told = Vec::new();
    told_of(node, true, source, &mut told)?;
    if told.is_empty() {
        return Err(Whole::Compound);
    }
    Ok(Element { text: text(node.byte_range(), source).trim().to_owned(), joint, told })
}

/// Of which simple commands bash tells before it runs this.
fn told_of(
    node: Node<'_>,
    is_alone: bool,
    source: &str,
    told: &mut Vec<Option<String>>,
) -> Result<(), Whole> {
    match node.kind() {
        "command" => told.push(first_word(node, source)),
        "variable_assignment" | "variable_assignments" => told.push(None),
        "declaration_command" | "unset_command" => told.push(None),
        "test_command" if is_alone => told.push(None),
        "negated_command" => {
            let inner = node.named_child(0).ok_or(Whole::Unclear)?;
            told_of(inner, is_alone, source, told)?;
        }
        "redirected_statement" => {
            let body = node.child_by_field_name("body").ok_or(Whole::Compound)?;
            // What is redirected as a whole may be a list, by a reading that bash does not share.
            if body.kind() == "list" {
                return Err(Whole::Unclear);
            }
            told_of(body, is_alone, source, told)?;
        }
        "pipeline" => {
            let mut cursor = node.walk();
            for part in node.children(&mut cursor) {
                match part.kind() {
                    "|" | "|&" => {}
                    "comment" => return Err(Whole::Unclear),
                    // A pipeline goes on in the next line.
                    "\n" => return Err(Whole::Compound),
                    _ => told_of(part, false, source, told)?,
                }
            }
            if text(node.byte_range(), source).contains('\n') {
                return Err(Whole::Compound);
            }
        }
        _ => return Err(Whole::Compound),
    }
    Ok(())
}

/// The name of a command, if it is written plainly.
fn first_word(node: Node<'_>, source: &str) -> Option<String> {
    let name = node.child_by_field_name("name")?;
    let word = text(name.byte_range(), source);
    let is_plain = !word.is_empty()
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '+'));
    // Words of the shell's own are not told as they stand.
    (is_plain && word != "time").then(|| word.to_owned())
}

fn text(range: Range<usize>, source: &str) -> &str {
    source.get(range).unwrap_or_default()
}

/// The folder of a plain `cd`.
fn location(step: &str) -> Option<String> {
    let folder = step.strip_prefix("cd ")?.trim();
    let inner = match folder.as_bytes() {
        [b'"', .., b'"'] | [b'\'', .., b'\''] => folder.get(1..folder.len() - 1)?,
        _ => folder,
    };
    let is_quoted = inner.len() != folder.len();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '+' | '~' | '@' | ',');
    let is_plain = !inner.is_empty()
        && !inner.starts_with('-')
        && inner.chars().all(|c| plain(c) || (is_quoted && c == ' '));
    is_plain.then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use StepJoint::{And, Or, Then};

    fn steps(command: &str) -> Vec<(StepJoint, String, usize)> {
        let plan = plan(command).unwrap_or_else(|why| panic!("{command}: {why:?}"));
        plan.elements.into_iter().map(|step| (step.joint, step.text, step.told.len())).collect()
    }

    #[test]
    fn lists_become_steps() {
        let step = |joint, text: &str, told| (joint, text.to_owned(), told);
        let table = [
            ("a && b", vec![step(Then, "a", 1), step(And, "b", 1)]),
            (
                "a; b || c && d",
                vec![step(Then, "a", 1), step(Then, "b", 1), step(Or, "c", 1), step(And, "d", 1)],
            ),
            ("a\nb # why\n# nothing\nc;", vec![step(Then, "a", 1), step(Then, "b", 1), step(Then, "c", 1)]),
            ("a | b |& c && d", vec![step(Then, "a | b |& c", 3), step(And, "d", 1)]),
            (
                "x=1 y=2 && [[ $x == 1 ]]; ! z",
                vec![step(Then, "x=1 y=2", 1), step(And, "[[ $x == 1 ]]", 1), step(Then, "! z", 1)],
            ),
            (
                "echo \"a && b; c\" 'd || e' && f > out 2>&1 < in",
                vec![step(Then, "echo \"a && b; c\" 'd || e'", 1), step(And, "f > out 2>&1 < in", 1)],
            ),
            (
                "a $(b; c) `d && e` && f <<< x",
                vec![step(Then, "a $(b; c) `d && e`", 1), step(And, "f <<< x", 1)],
            ),
            ("a \\\n  --flag && b", vec![step(Then, "a \\\n  --flag", 1), step(And, "b", 1)]),
        ];
        for (command, expected) in table {
            assert_eq!(steps(command), expected, "{command}");
        }
    }

    #[test]
    fn a_leading_cd_is_the_location() {
        for (command, folder) in [
            ("cd web && npm test && npm run lint", Some("web")),
            ("cd '/a b/c'; make; make install", Some("/a b/c")),
            ("cd \"$x\" && a && b", None),
            ("a && cd web && b", None),
        ] {
            assert_eq!(plan(command).unwrap().location.as_deref(), folder, "{command}");
        }
        assert_eq!(plan("cd web && npm test"), Err(Whole::Single));
    }

    #[test]
    fn what_is_one_step() {
        let many = vec!["a"; 13].join(" && ");
        for (command, why) in [
            ("", Whole::Single),
            ("# only words", Whole::Single),
            ("a", Whole::Single),
            ("a | b", Whole::Single),
            (many.as_str(), Whole::TooMany),
            ("a &", Whole::Background),
            ("a & b", Whole::Background),
            ("a && b &", Whole::Background),
            ("(a; b) && c", Whole::Compound),
            ("{ a; b; } && c", Whole::Compound),
            ("if a; then b; fi; c", Whole::Compound),
            ("for i in 1 2; do a; done && b", Whole::Compound),
            ("f() { a; }; f", Whole::Compound),
            ("a | while read x; do b; done; c", Whole::Compound),
            ("cat <<X\na && b\nX\nc", Whole::Noticed),
            ("set -e; a; b", Whole::Noticed),
            ("trap 'a' EXIT; b", Whole::Noticed),
            ("a; echo $_", Whole::Noticed),
            ("a; echo ${_}", Whole::Noticed),
            ("a; ls /proc/self/fd", Whole::Noticed),
            ("a; echo $LINENO", Whole::Noticed),
            ("a; echo ${PIPESTATUS[0]}", Whole::Noticed),
            ("exec a; b", Whole::Noticed),
            ("a && 'b", Whole::Unclear),
        ] {
            assert_eq!(plan(command), Err(why), "{command}");
        }
    }
}
