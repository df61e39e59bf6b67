//! Undo and redo in steps as people think of them: a word typed, a run of deletions, a paste.

use super::buffer::Pos;
use std::time::{Duration, Instant};

/// A pause longer than this ends a step.
const PAUSE: Duration = Duration::from_millis(500);
/// More steps are not kept.
const MOST_STEPS: usize = 1000;

/// One change of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Where.
    pub at: Pos,
    /// What stood there.
    pub removed: String,
    /// What stands there now.
    pub inserted: String,
}

/// The caret and the other end of the selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caret {
    /// Where text goes in.
    pub pos: Pos,
    /// The other end of the selection.
    pub anchor: Option<Pos>,
}

/// What kind of edit it is: only the same kind joins the step before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditKind {
    /// Typing.
    Type,
    /// Deleting to the left.
    DeleteBack,
    /// Deleting to the right.
    DeleteForward,
    /// Showing an earlier prompt in place of everything: however many are shown in a row, it is one step.
    Recall,
    /// Always a step of its own.
    Single,
}

#[derive(Clone, Debug)]
struct Step {
    edits: Vec<Edit>,
    before: Caret,
    after: Caret,
}

/// What was done and undone.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    done: Vec<Step>,
    undone: Vec<Step>,
    open: Option<(EditKind, Instant)>,
}

impl Undo {
    /// Takes note of an edit that was made.
    pub fn record(&mut self, edit: Edit, kind: EditKind, before: Caret, after: Caret, now: Instant) {
        self.undone.clear();
        let is_recalling = self.open.is_some_and(|(open, _)| open == EditKind::Recall);
        if kind == EditKind::Recall
            && is_recalling
            && let Some(step) = self.done.last_mut()
            && let Some(last) = step.edits.last_mut()
        {
            last.inserted = edit.inserted;
            step.after = after;
            return;
        }
        let joins = kind != EditKind::Single
            && self.open.is_some_and(|(open, at)| open == kind && now.saturating_duration_since(at) < PAUSE);
        self.open = Some((kind, now));
        if joins
            && let Some(step) = self.done.last_mut()
            && let Some(last) = step.edits.last_mut()
            && !begins_word(&edit, last)
        {
            step.after = after;
            if edit.removed.is_empty() && last.at.after(&last.inserted) == edit.at {
                last.inserted.push_str(&edit.inserted);
            } else {
                step.edits.push(edit);
            }
            return;
        }
        if self.done.len() == MOST_STEPS {
            self.done.remove(0);
        }
        self.done.push(Step { edits: vec![edit], before, after });
    }

    /// Ends the step: the next edit begins one of its own.
    pub const fn close(&mut self) {
        self.open = None;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The edits that take the last step back, in order, and where the caret stood before it.
    pub fn undo(&mut self) -> Option<(Vec<Edit>, Caret)> {
        self.close();
        let step = self.done.pop()?;
        let back = step.edits.iter().rev().map(|edit| Edit {
            at: edit.at,
            removed: edit.inserted.clone(),
            inserted: edit.removed.clone(),
        });
        let answer = (back.collect(), step.before);
        self.undone.push(step);
        Some(answer)
    }

    /// The edits of the step undone last, and where the caret stood after it.
    pub fn redo(&mut self) -> Option<(Vec<Edit>, Caret)> {
        self.close();
        let step = self.undone.pop()?;
        let answer = (step.edits.clone(), step.after);
        self.done.push(step);
        Some(answer)
    }
}

/// A word ends with the white space behind it.
fn begins_word(edit: &Edit, last: &Edit) -> bool {
    last.inserted.ends_with(char::is_whitespace)
        && !edit.inserted.starts_with(char::is_whitespace)
        && !edit.inserted.is_empty()
}
