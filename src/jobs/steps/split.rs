//! Which steps a command has. Pure.
//!
//! A step is a pipeline between `&&`, `||`, `;` or line ends at the top of the command. Whatever could notice that we
//! look, and whatever can't be followed, makes the command one step: a wrong guess in this direction costs a display,
//! one in the other would change what runs.

use super::marks::Marks;
use super::notice;
use super::pieces::pipelines;
use crate::jobs::segments;
use crate::proto::chain::{Step, StepJoint};
use std::ops::Range;

/// Fewer steps tell nothing, more are no longer read.
const FEWEST: usize = 2;
const MOST: usize = 12;
/// Longer commands are not looked at.
const LONGEST: usize = 64 * 1024;

/// Why a command is one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Whole {
    /// It has a single step, or none.
    #[error("it has a single step")]
    Single,
    /// It has more steps than anybody reads.
    #[error("it has too many steps")]
    TooMany,
    /// It is very long.
    #[error("it is too long")]
    TooLong,
    /// Our grammar does not understand it, or not as bash does.
    #[error("it is not clear what runs")]
    Unclear,
    /// It holds a here-document.
    #[error("it holds a here-document")]
    HereDocument,
    /// Something of it runs in the background.
    #[error("something of it runs in the background")]
    Background,
    /// It holds a loop, a condition, a function, or a subshell that is not its begin: no marks tell when those begin.
    #[error("it holds steps within steps")]
    Compound,
    /// One of its pipelines goes on in the next line.
    #[error("a pipeline goes on in the next line")]
    ContinuedPipeline,
    /// It reads what the timing could change.
    #[error("it could notice that it is timed")]
    Notices,
    /// It ends, replaces or changes the shell, or what its words mean.
    #[error("it changes the shell")]
    ChangesShell,
}

/// A command as steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The folder that a leading `cd` goes to, and its element.
    pub location: Option<String>,
    /// What runs, in the order in which it is written; a leading `cd` among them.
    pub elements: Vec<Element>,
    pub(super) marks: Marks,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// As written.
    pub text: String,
    /// Its place in the command.
    pub range: Range<usize>,
    /// What joins it to the one before.
    pub joint: StepJoint,
    /// It begins a line: where the shell goes on after an error that ends the line before.
    pub begins_line: bool,
}

/// Splits a command.
pub fn plan(command: &str) -> Result<Plan, Whole> {
    if command.len() > LONGEST {
        return Err(Whole::TooLong);
    }
    let is_odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    if command.chars().any(is_odd) || segments::joins_lines(command) {
        return Err(Whole::Unclear);
    }
    if let Some(why) = notice::of_text(command) {
        return Err(why);
    }
    let tree = segments::tree(command).ok_or(Whole::Unclear)?;
    let root = tree.root_node();
    if root.has_error() {
        return Err(Whole::Unclear);
    }
    notice::of_commands(root, command)?;
    let pipelines = pipelines(root, command)?;
    let elements: Vec<Element> = pipelines
        .iter()
        .map(|pipeline| Element {
            text: command.get(pipeline.range.clone()).unwrap_or_default().to_owned(),
            range: pipeline.range.clone(),
            joint: pipeline.joint,
            begins_line: pipeline.begins_line,
        })
        .collect();
    let location = elements.first().and_then(|first| location(&first.text));
    let steps = elements.len() - usize::from(location.is_some());
    if steps < FEWEST {
        return Err(Whole::Single);
    }
    if steps > MOST {
        return Err(Whole::TooMany);
    }
    let marks = Marks::of(&pipelines, command)?;
    Ok(Plan { location, elements, marks })
}

impl Plan {
    /// The steps before anything of them ran.
    pub(super) fn steps(&self) -> Vec<Step> {
        let step =
            |element: &Element| Step { text: element.text.clone(), joint: element.joint, ..Step::default() };
        self.elements.iter().map(step).collect()
    }
}

/// The folder of a plain `cd`.
fn location(step: &str) -> Option<String> {
    let folder = step.strip_prefix("cd ")?.trim();
    let quoted = ['"', '\''].into_iter().find_map(|quote| folder.strip_prefix(quote)?.strip_suffix(quote));
    let inner = quoted.unwrap_or(folder);
    let is_plain =
        |c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '+' | '~' | '@' | ',');
    let all_plain = inner.chars().all(|c| is_plain(c) || (quoted.is_some() && c == ' '));
    (all_plain && !inner.is_empty() && !inner.starts_with('-')).then(|| inner.to_owned())
}
