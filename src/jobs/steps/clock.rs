//! What the marks of a command mean: which step runs, how each of them ended. Pure: the caller passes in the time.

use super::split::Plan;
use crate::proto::chain::{Chain, Step, StepJoint, StepState};

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
    /// The element that runs.
    current: Option<usize>,
    /// Marks of it that are still to come.
    to_come: usize,
    is_lost: bool,
}

impl StepClock {
    /// Nothing has begun.
    pub fn new(plan: Plan) -> Self {
        let steps = plan.elements.iter().map(|element| Step {
            text: element.text.clone(),
            joint: element.joint,
            ..Step::default()
        });
        Self { steps: steps.collect(), plan, current: None, to_come: 0, is_lost: false }
    }

    /// A mark came: the status before it, and the simple command that is about to run. True if something is different.
    pub fn mark(&mut self, status: i32, command: &str, now_ms: u64) -> bool {
        if self.is_lost {
            return false;
        }
        if self.to_come > 0 {
            self.to_come -= 1;
            let at = self.current.unwrap_or_default();
            let told = self.plan.elements.get(at).map(|element| element.told.as_slice()).unwrap_or_default();
            let expected = told.len().checked_sub(self.to_come + 1).and_then(|at| told.get(at));
            return self.lose_unless(expected.is_some_and(|word| fits(word.as_deref(), command)));
        }
        let next = match self.current {
            None => Some(0),
            Some(at) => self.after(at, status),
        };
        let Some(next) = next else { return self.lose_unless(false) };
        let element = self.plan.elements.get(next);
        let first = element.and_then(|element| element.told.first());
        if !first.is_some_and(|word| fits(word.as_deref(), command)) {
            return self.lose_unless(false);
        }
        self.to_come = element.map_or(0, |element| element.told.len().saturating_sub(1));
        self.end_current(status, now_ms, Some(next));
        for skipped in self.current.map_or(0, |at| at + 1)..next {
            self.set(skipped, StepState::Skipped);
        }
        if let Some(step) = self.steps.get_mut(next) {
            step.state = StepState::Running;
            step.started_ms = Some(now_ms);
        }
        self.current = Some(next);
        true
    }

    /// The step in which what is printed now belongs; `None` before the first.
    pub const fn current(&self) -> Option<usize> {
        self.current
    }

    /// The end of the whole command.
    pub fn end(&mut self, how: Ended, now_ms: u64) {
        match how {
            Ended::Status(status) => self.end_current(status, now_ms, None),
            Ended::TimedOut => self.stop_current(StepState::TimedOut, now_ms),
            Ended::Aborted => self.stop_current(StepState::Aborted, now_ms),
        }
        for step in self.steps.iter_mut().filter(|step| step.state == StepState::Waiting) {
            step.state = StepState::Skipped;
        }
    }

    /// What a step printed last, and how many lines before that are not kept.
    pub fn keep_output(&mut self, element: usize, output: String, lines_before: u64) {
        if let Some(step) = self.steps.get_mut(element) {
            step.output = output;
            step.lines_before = lines_before;
        }
    }

    /// The steps as they are; nothing if it was lost which of them runs.
    pub fn chain(&self) -> Option<Chain> {
        if self.is_lost {
            return None;
        }
        let cd_failed = self.steps.first().is_some_and(|step| step.state.went_wrong());
        // A `cd` is where the rest runs, and no step, unless it is what failed.
        let hides_cd = self.plan.location.is_some() && !cd_failed;
        let steps = self.steps.iter().skip(usize::from(hides_cd)).cloned();
        Some(Chain { location: self.plan.location.clone().filter(|_| hides_cd), steps: steps.collect() })
    }

    /// The element that runs after this one ended with a status.
    fn after(&self, at: usize, status: i32) -> Option<usize> {
        let later = self.plan.elements.iter().enumerate().skip(at + 1);
        later
            .filter(|(_, element)| match element.joint {
                StepJoint::Then => true,
                StepJoint::And => status == 0,
                StepJoint::Or => status != 0,
            })
            .map(|(at, _)| at)
            .next()
    }

    fn end_current(&mut self, status: i32, now_ms: u64, next: Option<usize>) {
        let is_taken_over = next
            .and_then(|next| self.plan.elements.get(next))
            .is_some_and(|element| element.joint == StepJoint::Or);
        let state = match status {
            0 => StepState::Ok,
            _ if is_taken_over => StepState::Handled,
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

    fn set(&mut self, at: usize, state: StepState) {
        if let Some(step) = self.steps.get_mut(at) {
            step.state = state;
        }
    }

    /// Whether it was just lost which step runs.
    const fn lose_unless(&mut self, holds: bool) -> bool {
        self.is_lost |= !holds;
        !holds
    }
}

/// Whether bash tells of the command that is expected. It shows assignments before it.
fn fits(word: Option<&str>, command: &str) -> bool {
    word.is_none_or(|word| command.split_whitespace().any(|part| part == word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::steps::plan;
    use StepState::{Failed, Handled, Ok as Went, Running, Skipped, Waiting};
    use proptest::prelude::*;

    fn clock(command: &str) -> StepClock {
        StepClock::new(plan(command).unwrap())
    }

    fn states(clock: &StepClock) -> Vec<StepState> {
        clock.chain().unwrap().steps.iter().map(|step| step.state).collect()
    }

    #[test]
    fn statuses_say_which_step_begins() {
        let mut clock = clock("a && b || c; d");
        assert_eq!(states(&clock), [Waiting; 4]);
        assert!(clock.mark(0, "a", 0));
        assert!(clock.mark(0, "b", 100));
        assert_eq!(states(&clock), [Went, Running, Waiting, Waiting]);
        assert!(clock.mark(1, "c", 150));
        assert_eq!(states(&clock), [Went, Handled, Running, Waiting]);
        assert!(clock.mark(0, "d", 400));
        clock.end(Ended::Status(3), 500);
        assert_eq!(states(&clock), [Went, Handled, Went, Failed]);
        let steps = clock.chain().unwrap().steps;
        let times: Vec<_> =
            steps.iter().map(|step| (step.started_ms.unwrap(), step.took_ms.unwrap())).collect();
        assert_eq!(times, [(0, 100), (100, 50), (150, 250), (400, 100)]);
        let exits: Vec<_> = steps.iter().map(|step| step.exit.unwrap()).collect();
        assert_eq!(exits, [0, 1, 0, 3]);
    }

    #[test]
    fn a_failed_step_skips_what_hangs_on_it() {
        let mut clock = clock("a && b && c; d");
        clock.mark(0, "a", 0);
        clock.mark(2, "d", 10);
        assert_eq!(states(&clock), [Failed, Skipped, Skipped, Running]);
        let mut clock = StepClock::new(plan("a && b && c").unwrap());
        clock.mark(0, "a", 0);
        clock.end(Ended::Status(2), 10);
        assert_eq!(states(&clock), [Failed, Skipped, Skipped]);
        let mut clock = StepClock::new(plan("a || b; c").unwrap());
        clock.mark(0, "a", 0);
        clock.mark(0, "c", 10);
        clock.end(Ended::Status(0), 20);
        assert_eq!(states(&clock), [Went, Skipped, Went]);
    }

    #[test]
    fn a_pipeline_is_told_of_part_by_part() {
        let mut clock = clock("a | X=1 b | c && d");
        assert!(clock.mark(0, "a", 0));
        assert!(!clock.mark(0, "X=1 b", 1));
        assert!(!clock.mark(0, "c", 2));
        assert!(clock.mark(0, "d", 30));
        assert_eq!(states(&clock), [Went, Running]);
    }

    #[test]
    fn what_was_not_expected_ends_the_timing() {
        for marks in [vec!["a", "x"], vec!["x"], vec!["a", "b", "c"], vec!["a", "b", "d", "d"]] {
            let mut clock = clock("a | b; d");
            for mark in &marks {
                clock.mark(0, mark, 0);
            }
            assert_eq!(clock.chain(), None, "{marks:?}");
            clock.mark(0, "d", 0);
            clock.end(Ended::Status(0), 9);
            assert_eq!(clock.chain(), None);
        }
    }

    #[test]
    fn a_cd_is_a_step_only_if_it_fails() {
        let mut clock = clock("cd web && a && b");
        clock.mark(0, "cd web", 0);
        clock.mark(0, "a", 5);
        let chain = clock.chain().unwrap();
        assert_eq!((chain.location.as_deref(), states(&clock)), (Some("web"), vec![Running, Waiting]));
        let mut clock = StepClock::new(plan("cd web && a && b").unwrap());
        clock.mark(0, "cd web", 0);
        clock.end(Ended::Status(1), 5);
        let chain = clock.chain().unwrap();
        assert_eq!((chain.location, states(&clock)), (None, vec![Failed, Skipped, Skipped]));
    }

    #[test]
    fn a_limit_and_a_stop_are_of_the_step_that_runs() {
        for (how, state) in [(Ended::TimedOut, StepState::TimedOut), (Ended::Aborted, StepState::Aborted)] {
            let mut clock = clock("a; b; c");
            clock.mark(0, "a", 0);
            clock.mark(0, "b", 10);
            clock.end(how, 30);
            assert_eq!(states(&clock), [Went, state, Skipped]);
        }
    }

    proptest! {
        /// Against the rules of the shell, written down once more.
        #[test]
        fn any_chain_is_followed(
            steps in prop::collection::vec((0_usize..3, 0_i32..3), 2..12),
        ) {
            let text: String = steps.iter().enumerate().map(|(at, (joint, _))| {
                let joint = if at == 0 { "" } else { ["; ", " && ", " || "][*joint] };
                format!("{joint}s{at}")
            }).collect();
            let mut clock = clock(&text);
            let (mut status, mut expected) = (0, Vec::new());
            for (at, (joint, exit)) in steps.iter().enumerate() {
                let runs = at == 0 || match joint { 0 => true, 1 => status == 0, _ => status != 0 };
                if runs {
                    let begins = clock.mark(status, &format!("s{at}"), at as u64);
                    prop_assert!(begins);
                    status = *exit;
                }
                expected.push(runs.then_some(*exit));
            }
            clock.end(Ended::Status(status), 99);
            let chain = clock.chain().unwrap();
            let exits: Vec<_> = chain.steps.iter().map(|step| step.exit).collect();
            prop_assert_eq!(exits, expected);
            for step in &chain.steps {
                prop_assert_eq!(step.state == Skipped, step.exit.is_none());
            }
        }
    }
}
