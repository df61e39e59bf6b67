//! Which marks the shell can send for a command, and which of them can follow each. Pure.
//!
//! Bash tells of the simple commands, `[[ ]]` and `(( ))` of its top level and of the groups there, each before it
//! runs, and of those parts of a pipeline that are simple commands. It tells nothing of subshells, nor of what runs
//! in one. So a step must begin with something that is told, unless it is the first: that one begins with the
//! command.

use super::pieces::{Part, Pipeline, pipelines};
use super::split::Whole;
use crate::proto::chain::StepJoint;
use std::ops::RangeInclusive;
use tree_sitter::Node;

/// Marks of one command: more are no chain that anybody reads.
const MOST: usize = 120;
/// Groups within groups.
const DEEPEST: usize = 8;

/// A mark that can come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Which step it belongs to.
    pub element: usize,
    /// The first word of the command, if that is plain.
    pub word: Option<String>,
    /// The lines of the command, from 1.
    pub lines: RangeInclusive<usize>,
    /// What can follow it.
    pub next: Next,
}

/// Which mark comes next, by the status of the command before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// After 0; none if nothing else runs then.
    pub ok: Option<usize>,
    /// After any other.
    pub failed: Option<usize>,
}

impl Next {
    /// The same mark after every status.
    pub const fn always(mark: Option<usize>) -> Self {
        Self { ok: mark, failed: mark }
    }

    /// The mark that comes after this status.
    pub const fn after(self, status: i32) -> Option<usize> {
        if status == 0 { self.ok } else { self.failed }
    }

    /// None will come.
    pub const fn is_over(self) -> bool {
        self.ok.is_none() && self.failed.is_none()
    }
}

/// All marks that a command can send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks {
    /// In no order that means anything.
    pub all: Vec<Expected>,
    /// Which one is the first.
    pub first: Next,
    /// The first step begins with the command, without a mark.
    pub begins_untold: bool,
    /// The mark with which each step begins.
    pub of_elements: Vec<Option<usize>>,
}

/// What the shell tells of a part of a pipeline.
enum Told<'tree> {
    /// One mark; the word, if it is plain.
    Once(Option<String>),
    /// What is in the group.
    Group(Node<'tree>),
    /// Nothing.
    Nothing,
}

impl Marks {
    /// Finds them.
    pub fn of(pipelines: &[Pipeline<'_>], source: &str) -> Result<Self, Whole> {
        let mut finder = Finder { source, all: Vec::new(), element: 0, depth: 0 };
        let mut of_elements = vec![None; pipelines.len()];
        let mut first = Next::always(None);
        let mut begins_untold = false;
        for (at, pipeline) in pipelines.iter().enumerate().rev() {
            finder.element = at;
            let begin =
                finder.pipeline(pipeline, next_of(at, pipelines, &of_elements, Next::always(None)))?;
            if let Begin::Told(mark) = begin
                && let Some(of_element) = of_elements.get_mut(at)
            {
                *of_element = Some(mark);
            }
            match begin {
                Begin::Untold(_) if at > 0 => return Err(Whole::Compound),
                Begin::Untold(next) => (first, begins_untold) = (next, true),
                Begin::Told(mark) => first = Next::always(Some(mark)),
            }
        }
        Ok(Self { all: finder.all, first, begins_untold, of_elements })
    }
}

/// What comes behind one pipeline of a list, when all later ones have been looked at.
fn next_of(at: usize, list: &[Pipeline<'_>], begins: &[Option<usize>], behind: Next) -> Next {
    let find = |skipped: StepJoint| {
        let later = list.iter().zip(begins).skip(at + 1);
        later.filter(|(pipeline, _)| pipeline.joint != skipped).map(|(_, begin)| *begin).next()
    };
    Next {
        ok: find(StepJoint::Or).unwrap_or(behind.ok),
        failed: find(StepJoint::And).unwrap_or(behind.failed),
    }
}

enum Begin {
    /// With this mark.
    Told(usize),
    /// Without one; what can come after it began.
    Untold(Next),
}

struct Finder<'source> {
    source: &'source str,
    all: Vec<Expected>,
    element: usize,
    depth: usize,
}

impl Finder<'_> {
    /// The marks of a pipeline, and how it begins.
    fn pipeline(&mut self, pipeline: &Pipeline<'_>, behind: Next) -> Result<Begin, Whole> {
        if let [part] = pipeline.parts.as_slice()
            && let Told::Group(group) = self.told(*part, true)?
        {
            // What `!` makes of its status is not what decides within it.
            return if pipeline.is_negated { Err(Whole::Compound) } else { self.group(group, behind) };
        }
        let is_alone = pipeline.parts.len() == 1;
        let mut begin = Begin::Untold(behind);
        for part in pipeline.parts.iter().rev() {
            let next = match begin {
                // The parts of a pipeline are started one after another, whatever becomes of each.
                Begin::Told(mark) => Next::always(Some(mark)),
                Begin::Untold(next) => next,
            };
            begin = match self.told(*part, is_alone)? {
                Told::Once(word) => Begin::Told(self.expect(word, self.lines(*part, pipeline), next)?),
                Told::Group(_) | Told::Nothing => Begin::Untold(next),
            };
        }
        Ok(begin)
    }

    fn group(&mut self, group: Node<'_>, behind: Next) -> Result<Begin, Whole> {
        if self.depth >= DEEPEST {
            return Err(Whole::Unclear);
        }
        self.depth += 1;
        let list = pipelines(group, self.source)?;
        let mut begins = vec![None; list.len()];
        for (at, pipeline) in list.iter().enumerate().rev() {
            let Begin::Told(mark) = self.pipeline(pipeline, next_of(at, &list, &begins, behind))? else {
                return Err(Whole::Compound);
            };
            if let Some(begin) = begins.get_mut(at) {
                *begin = Some(mark);
            }
        }
        self.depth -= 1;
        begins.first().copied().flatten().map(Begin::Told).ok_or(Whole::Unclear)
    }

    fn told<'tree>(&self, part: Part<'tree>, is_alone: bool) -> Result<Told<'tree>, Whole> {
        let Some(node) = part else { return Ok(Told::Once(None)) };
        let text = self.source.get(node.byte_range()).unwrap_or_default();
        let as_shell = if is_alone { Told::Once(None) } else { Told::Nothing };
        Ok(match node.kind() {
            "command" => Told::Once(self.first_word(node)),
            "variable_assignment" | "variable_assignments" | "declaration_command" | "unset_command" => {
                Told::Once(None)
            }
            // `[` is a simple command, the other ones are told only where no subshell runs them.
            "test_command" if !text.starts_with("[[") && !text.starts_with("((") => Told::Once(None),
            "test_command" => as_shell,
            "compound_statement" if text.starts_with("((") => as_shell,
            "compound_statement" => Told::Group(node),
            "subshell" => Told::Nothing,
            "while_statement"
            | "for_statement"
            | "c_style_for_statement"
            | "if_statement"
            | "case_statement"
                if !is_alone =>
            {
                Told::Nothing
            }
            _ => return Err(Whole::Compound),
        })
    }

    /// The name of a command, if it is written plainly.
    fn first_word(&self, node: Node<'_>) -> Option<String> {
        let name = node.child_by_field_name("name")?;
        let word = self.source.get(name.byte_range()).unwrap_or_default();
        let is_plain = !word.is_empty()
            && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '+'));
        is_plain.then(|| word.to_owned())
    }

    fn lines(&self, part: Part<'_>, pipeline: &Pipeline<'_>) -> RangeInclusive<usize> {
        let range = part.map_or_else(|| pipeline.range.clone(), |node| node.byte_range());
        let ends_before = |end: usize| self.source.get(..end).map_or(0, |text| text.matches('\n').count());
        ends_before(range.start) + 1..=ends_before(range.end) + 1
    }

    fn expect(
        &mut self,
        word: Option<String>,
        lines: RangeInclusive<usize>,
        next: Next,
    ) -> Result<usize, Whole> {
        if self.all.len() >= MOST {
            return Err(Whole::TooMany);
        }
        self.all.push(Expected { element: self.element, word, lines, next });
        Ok(self.all.len() - 1)
    }
}
