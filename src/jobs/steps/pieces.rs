//! The top level of a command, in the order in which it is written. Pure.
//!
//! Only the words of our grammar's tree are taken, not its shape: it binds a redirect, and a pipe behind it, to the
//! whole list before it, where bash binds them to the last command. So the tree is laid flat, and put together again
//! by bash's rules: redirects, then `|`, then `!`, then `&&` and `||`, then `;` and line ends.

use super::split::Whole;
use crate::proto::chain::StepJoint;
use std::ops::Range;
use tree_sitter::Node;

/// Lists within lists; each operator of a chain nests once.
const DEEPEST: usize = 200;

/// A pipeline between two operators of a list.
#[derive(Clone, Debug)]
pub struct Pipeline<'tree> {
    /// Its place in the text.
    pub range: Range<usize>,
    /// What joins it to the one before.
    pub joint: StepJoint,
    /// It begins a line, behind a line end that ended what was before.
    pub begins_line: bool,
    /// `!` stands before it.
    pub is_negated: bool,
    /// What the pipes join.
    pub parts: Vec<Part<'tree>>,
}

/// A command of a pipeline; none if it only has redirects.
pub type Part<'tree> = Option<Node<'tree>>;

enum Piece<'tree> {
    Command(Node<'tree>),
    Redirect,
    Pipe,
    Not,
    Joint(StepJoint),
    Comment,
}

/// The pipelines of a whole command, or of a group in it.
pub fn pipelines<'tree>(node: Node<'tree>, source: &str) -> Result<Vec<Pipeline<'tree>>, Whole> {
    let mut pieces = Vec::new();
    lay_flat(node, source, 0, &mut pieces)?;
    let mut builder = Builder { source, done: Vec::new(), open: None, joint: StepJoint::Then, end: None };
    for (piece, range) in pieces {
        builder.add(piece, range)?;
    }
    builder.close()?;
    if builder.joint == StepJoint::Then { Ok(builder.done) } else { Err(Whole::Unclear) }
}

fn lay_flat<'tree>(
    node: Node<'tree>,
    source: &str,
    depth: usize,
    into: &mut Vec<(Piece<'tree>, Range<usize>)>,
) -> Result<(), Whole> {
    if depth > DEEPEST {
        return Err(Whole::Unclear);
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        let piece = match child.kind() {
            "list" | "pipeline" | "redirected_statement" | "negated_command" => {
                lay_flat(child, source, depth + 1, into)?;
                continue;
            }
            "{" | "}" => continue,
            "&&" => Piece::Joint(StepJoint::And),
            "||" => Piece::Joint(StepJoint::Or),
            ";" | "\n" => Piece::Joint(StepJoint::Then),
            "|" | "|&" => Piece::Pipe,
            "!" => Piece::Not,
            "comment" => Piece::Comment,
            "file_redirect" | "herestring_redirect" => Piece::Redirect,
            "heredoc_redirect" | "heredoc_body" => return Err(Whole::HereDocument),
            "&" => return Err(Whole::Background),
            "command" | "declaration_command" | "unset_command" | "variable_assignments"
                if goes_over_lines(child, source) =>
            {
                return Err(Whole::Unclear);
            }
            _ if child.is_named() => Piece::Command(child),
            _ => return Err(Whole::Unclear),
        };
        into.push((piece, child.byte_range()));
    }
    Ok(())
}

/// Two words of a command with a line end between them are two commands to bash.
fn goes_over_lines(command: Node<'_>, source: &str) -> bool {
    let mut cursor = command.walk();
    let mut end = command.start_byte();
    for word in command.children(&mut cursor) {
        let gap = source.get(end..word.start_byte()).unwrap_or_default();
        if without_continuations(gap).contains('\n') {
            return true;
        }
        end = word.end_byte();
    }
    false
}

struct Builder<'source, 'tree> {
    source: &'source str,
    done: Vec<Pipeline<'tree>>,
    open: Option<Open<'tree>>,
    /// What joins the next pipeline.
    joint: StepJoint,
    /// Where the last piece ended.
    end: Option<usize>,
}

struct Open<'tree> {
    pipeline: Pipeline<'tree>,
    /// The next command is another part of it.
    wants_part: bool,
}

impl<'tree> Builder<'_, 'tree> {
    fn add(&mut self, piece: Piece<'tree>, range: Range<usize>) -> Result<(), Whole> {
        let gap = self.gap(range.start)?;
        let ends_line = gap.contains('\n');
        self.end = Some(range.end);
        match piece {
            // A comment goes to the end of its line, and the gap behind it begins with that line end.
            Piece::Comment => Ok(()),
            Piece::Joint(StepJoint::Then) => self.close(),
            Piece::Joint(joint) => {
                if self.open.is_none() || ends_line {
                    return Err(Whole::Unclear);
                }
                self.close()?;
                self.joint = joint;
                Ok(())
            }
            Piece::Pipe => match &mut self.open {
                Some(open) if !open.wants_part && !ends_line => {
                    open.wants_part = true;
                    Ok(())
                }
                _ => Err(Whole::Unclear),
            },
            Piece::Not => {
                self.begin(&range, ends_line)?;
                match &mut self.open {
                    Some(open) if open.wants_part && open.pipeline.parts.is_empty() => {
                        open.pipeline.is_negated = !open.pipeline.is_negated;
                        Ok(())
                    }
                    _ => Err(Whole::Unclear),
                }
            }
            Piece::Redirect => {
                // Behind a command it belongs to that, at a begin it is a command without words.
                if self.open.as_ref().is_some_and(|open| !open.wants_part) && !ends_line {
                    self.widen(range.end);
                    return Ok(());
                }
                self.part(None, &range, ends_line)
            }
            Piece::Command(node) => self.part(Some(node), &range, ends_line),
        }
    }

    fn part(&mut self, node: Part<'tree>, range: &Range<usize>, ends_line: bool) -> Result<(), Whole> {
        self.begin(range, ends_line)?;
        match &mut self.open {
            Some(open) if open.wants_part => {
                open.wants_part = false;
                open.pipeline.parts.push(node);
            }
            // Two commands side by side: not what bash reads.
            _ => return Err(Whole::Unclear),
        }
        self.widen(range.end);
        Ok(())
    }

    /// Begins a pipeline, if none is open or a line end has ended the one that is.
    fn begin(&mut self, range: &Range<usize>, ends_line: bool) -> Result<(), Whole> {
        if ends_line && let Some(open) = &self.open {
            if open.wants_part {
                return Err(Whole::ContinuedPipeline);
            }
            self.close()?;
        }
        if self.open.is_none() {
            let joint = std::mem::take(&mut self.joint);
            let last = self.done.last().map(|pipeline| pipeline.range.end);
            let between = last.and_then(|last| self.source.get(last..range.start)).unwrap_or_default();
            let pipeline = Pipeline {
                range: range.clone(),
                joint,
                begins_line: joint == StepJoint::Then && without_continuations(between).contains('\n'),
                is_negated: false,
                parts: Vec::new(),
            };
            self.open = Some(Open { pipeline, wants_part: true });
        }
        Ok(())
    }

    fn widen(&mut self, end: usize) {
        if let Some(open) = &mut self.open {
            open.pipeline.range.end = end;
        }
    }

    fn close(&mut self) -> Result<(), Whole> {
        if self.joint != StepJoint::Then && self.open.is_none() {
            return Err(Whole::Unclear);
        }
        match self.open.take() {
            Some(open) if open.wants_part => Err(Whole::Unclear),
            Some(open) => {
                self.done.push(open.pipeline);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// What is between the last piece and this place. If it is more than blanks, our grammar has lost something.
    fn gap(&self, start: usize) -> Result<String, Whole> {
        let Some(end) = self.end else { return Ok(String::new()) };
        let gap = without_continuations(self.source.get(end..start).ok_or(Whole::Unclear)?);
        if gap.chars().all(|c| matches!(c, ' ' | '\t' | '\n')) { Ok(gap) } else { Err(Whole::Unclear) }
    }
}

fn without_continuations(text: &str) -> String {
    text.replace("\\\n", "")
}
