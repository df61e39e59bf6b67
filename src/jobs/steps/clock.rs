//! What the marks of a command mean: which step runs, how each of them ended, what it printed. Pure: the caller
//! passes in the time and carries out what is returned.
//!
//! Invariants: steps only go forward; at most one runs; a mark that can't be the next one ends the timing for good.

use super::marks::Next;
use super::output::StepOutput;
use super::split::Plan;
use crate::proto::chain::{Chain, Step, StepJoint, StepState};

/// A command of the top level is about to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The status before it.
    pub status: i32,
    /// Its line, as the shell counts.
    pub line: usize,
    /// How the shell shows it, or the begin of that.
    pub command: String,
}

/// What the shell is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on, and tell of the next command.
    GoOn,
    /// Go on, and tell nothing more.
    NoMore,
}

/// What follows from a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Another step runs now, or it was just lost which one does.
    pub is_new: bool,
    /// To be given when all that was printed before has been passed to [`StepClock::text`].
    pub answer: Answer,
}

/// How a command that ran in steps ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this status; 128 and the signal's number if a signal ended it.
    Status(i32),
    /// At its time limit.
    TimedOut,
    /// Because it was told to.
    Aborted,
}

/// Follows a command through its steps.
#[derive(Clone, Debug)]
pub struct StepClock {
    plan: Plan,
    /// One for each element.
    steps: Vec<Step>,
    /// The same.
    outputs: Vec<StepOutput>,
    /// The element that runs, or ran last.
    current: Option<usize>,
    /// Which marks can come next.
    next: Next,
    /// By how much the shell's lines are lower than ours: some versions count from 0.
    lines_off: Option<usize>,
    is_lost: bool,
}

impl StepClock {
    /// The command starts.
    pub fn new(plan: Plan) -> Self {
        let mut clock = Self {
            steps: plan.steps(),
            outputs: vec![StepOutput::default(); plan.elements.len()],
            current: None,
            next: plan.marks.first,
            lines_off: None,
            is_lost: false,
            plan,
        };
        if clock.plan.marks.begins_untold {
            clock.begin(0, 0);
        }
        clock
    }

    /// A mark came.
    pub fn mark(&mut self, mark: &Mark, now_ms: u64) -> Turn {
        if self.is_lost {
            return Turn { is_new: false, answer: Answer::NoMore };
        }
        let Some((element, next)) = self.find(mark) else {
            self.is_lost = true;
            return Turn { is_new: true, answer: Answer::NoMore };
        };
        self.next = next;
        let is_new = self.current != Some(element);
        if is_new {
            self.end_current(mark.status, now_ms, Some(element));
            self.begin(element, now_ms);
        }
        let answer = if next.is_over() { Answer::NoMore } else { Answer::GoOn };
        Turn { is_new, answer }
    }

    /// The step printed this: plain text, whichever output it went to.
    pub fn text(&mut self, text: &str) {
        if let Some(output) = self.outputs.get_mut(self.current.unwrap_or(0)) {
            output.push(text);
        }
    }

    /// The step takes its unfinished last line back.
    pub fn erase_line(&mut self) {
        if let Some(output) = self.outputs.get_mut(self.current.unwrap_or(0)) {
            output.erase_line();
        }
    }

    /// It can't be told which step runs: after a mark that nobody expected, or when one may be missing.
    pub fn lose(&mut self) {
        self.is_lost = true;
    }

    /// The element that runs or ran last; `None` before the first.
    pub const fn current(&self) -> Option<usize> {
        self.current
    }

    /// What an element printed.
    pub fn output(&self, element: usize) -> Option<&StepOutput> {
        self.outputs.get(element)
    }

    /// The end of the whole command.
    pub fn end(&mut self, how: Ended, now_ms: u64) {
        match how {
            // Only an error ends a shell before its last command: then marks are missing.
            Ended::Status(0) if self.next.ok.is_some() => self.is_lost = true,
            Ended::Status(status) => self.end_current(status, now_ms, None),
            Ended::TimedOut => self.stop_current(StepState::TimedOut, now_ms),
            Ended::Aborted => self.stop_current(StepState::Aborted, now_ms),
        }
        for step in self.steps.iter_mut().filter(|step| step.state == StepState::Waiting) {
            step.state = StepState::Skipped;
        }
    }

    /// The steps as they are, without what they printed; nothing if it was lost which of them runs, or none has begun
    /// when the command ended.
    pub fn chain(&self) -> Option<Chain> {
        let never_began =
            self.current.is_none() && self.steps.iter().all(|step| step.state == StepState::Skipped);
        if self.is_lost || never_began {
            return None;
        }
        let cd_failed = self.steps.first().is_some_and(|step| step.state.went_wrong());
        // A `cd` is where the rest runs, and no step, unless it is what failed.
        let hides_cd = self.plan.location.is_some() && !cd_failed;
        let steps = self.steps.iter().skip(usize::from(hides_cd)).cloned().collect();
        Some(Chain { location: self.plan.location.clone().filter(|_| hides_cd), steps })
    }

    /// The same with the end of what each of them printed.
    pub fn saved(&self) -> Option<Chain> {
        let mut chain = self.chain()?;
        let hidden = self.steps.len() - chain.steps.len();
        for (step, output) in chain.steps.iter_mut().zip(self.outputs.iter().skip(hidden)) {
            let (text, lines_before) = output.saved();
            text.clone_into(&mut step.output);
            step.lines_before = lines_before;
        }
        Some(chain)
    }

    /// The element that a mark belongs to, and what can come after it.
    fn find(&mut self, mark: &Mark) -> Option<(usize, Next)> {
        let expected = self.next.after(mark.status);
        // Some errors end the line, and the shell goes on with the next one.
        let behind = self.current.map_or(0, |at| at + 1);
        let later = self.plan.elements.iter().skip(behind).position(|element| element.begins_line);
        let of_elements = &self.plan.marks.of_elements;
        let on_next_line = later.and_then(|at| of_elements.get(behind + at).copied().flatten());
        let on_next_line = on_next_line.filter(|_| mark.status != 0);
        let found = [expected, on_next_line].into_iter().flatten().find_map(|at| {
            let expected = self.plan.marks.all.get(at)?;
            let offs = self.lines_off.map_or([0, 1], |off| [off, off]);
            let off =
                offs.into_iter().find(|off| expected.lines.contains(&mark.line.saturating_add(*off)))?;
            fits(expected.word.as_deref(), &mark.command).then_some((expected.element, expected.next, off))
        });
        let (element, next, off) = found?;
        self.lines_off = Some(off);
        Some((element, next))
    }

    fn begin(&mut self, element: usize, now_ms: u64) {
        for skipped in self.current.map_or(0, |at| at + 1)..element {
            if let Some(step) = self.steps.get_mut(skipped) {
                step.state = StepState::Skipped;
            }
        }
        if let Some(step) = self.steps.get_mut(element) {
            step.state = StepState::Running;
            step.started_ms = Some(now_ms);
        }
        self.current = Some(element);
    }

    fn end_current(&mut self, status: i32, now_ms: u64, next: Option<usize>) {
        let next = next.and_then(|next| self.plan.elements.get(next));
        let state = match status {
            0 => StepState::Ok,
            _ if next.is_some_and(|next| next.joint == StepJoint::Or) => StepState::Handled,
            _ => StepState::Failed,
        };
        self.stop_current(state, now_ms);
        if let Some(step) = self.current.and_then(|at| self.steps.get_mut(at)) {
            step.exit = Some(status);
        }
    }

    fn stop_current(&mut self, state: StepState, now_ms: u64) {
        if let Some(step) = self.current.and_then(|at| self.steps.get_mut(at)) {
            step.state = state;
            step.took_ms = step.started_ms.map(|started| now_ms.saturating_sub(started));
        }
    }
}

/// Whether the shell tells of the command that is expected. It shows assignments before it, and redirects behind.
fn fits(word: Option<&str>, command: &str) -> bool {
    word.is_none_or(|word| command.split_whitespace().any(|part| part == word))
}
