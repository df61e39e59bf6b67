//! What marks mean, without a shell.

use crate::jobs::steps::clock::{Answer, Ended, Mark, StepClock, Turn};
use crate::jobs::steps::plan;
use crate::proto::chain::StepState::{
    self, Aborted, Failed, Handled, Ok as Went, Running, Skipped, TimedOut, Waiting,
};

fn clock(command: &str) -> StepClock {
    StepClock::new(plan(command).unwrap_or_else(|why| panic!("{command}: {why:?}")))
}

fn mark(status: i32, line: usize, command: &str) -> Mark {
    Mark { status, line, command: command.to_owned() }
}

fn states(clock: &StepClock) -> Vec<StepState> {
    clock.chain().unwrap().steps.iter().map(|step| step.state).collect()
}

const NEW: Turn = Turn { is_new: true, answer: Answer::GoOn };
const SAME: Turn = Turn { is_new: false, answer: Answer::GoOn };
const LAST: Turn = Turn { is_new: true, answer: Answer::NoMore };

#[test]
fn statuses_say_which_step_begins() {
    let mut clock = clock("a && b || c; d");
    assert_eq!(states(&clock), [Waiting; 4]);
    assert_eq!(clock.mark(&mark(0, 1, "a"), 0), NEW);
    assert_eq!(clock.mark(&mark(0, 1, "b"), 100), NEW);
    assert_eq!(states(&clock), [Went, Running, Waiting, Waiting]);
    assert_eq!(clock.mark(&mark(1, 1, "c"), 150), NEW);
    assert_eq!(states(&clock), [Went, Handled, Running, Waiting]);
    assert_eq!(clock.mark(&mark(0, 1, "d"), 400), LAST);
    clock.end(Ended::Status(3), 500);
    assert_eq!(states(&clock), [Went, Handled, Went, Failed]);
    let steps = clock.chain().unwrap().steps;
    let told: Vec<_> = steps.iter().map(|step| (step.started_ms, step.took_ms, step.exit)).collect();
    let ran = |started, took, exit| (Some(started), Some(took), Some(exit));
    assert_eq!(told, [ran(0, 100, 0), ran(100, 50, 1), ran(150, 250, 0), ran(400, 100, 3)]);
}

/// A command; its marks; how it ends; the states then.
type Case = (&'static str, &'static [(i32, usize, &'static str)], Ended, &'static [StepState]);

#[test]
fn ends() {
    use Ended::Status;
    let table: &[Case] = &[
        ("a && b && c; d", &[(0, 1, "a"), (2, 1, "d")], Status(0), &[Failed, Skipped, Skipped, Went]),
        ("a && b && c", &[(0, 1, "a")], Status(2), &[Failed, Skipped, Skipped]),
        ("a || b; c", &[(0, 1, "a"), (0, 1, "c")], Status(0), &[Went, Skipped, Went]),
        ("a && b || c", &[(0, 1, "a"), (4, 1, "c")], Status(0), &[Handled, Skipped, Went]),
        ("a; b; c", &[(0, 1, "a"), (0, 1, "b")], Ended::TimedOut, &[Went, TimedOut, Skipped]),
        ("a; b; c", &[(0, 1, "a"), (0, 1, "b")], Ended::Aborted, &[Went, Aborted, Skipped]),
        // The shell gives up.
        ("set -e; a; b", &[(0, 1, "set -e"), (0, 1, "a")], Status(7), &[Went, Failed, Skipped]),
        ("a; b; c", &[(0, 1, "a"), (0, 1, "b")], Status(137), &[Went, Failed, Skipped]),
        // An error ends the line.
        ("a; b\nc; d", &[(0, 1, "a"), (1, 2, "c"), (0, 2, "d")], Status(0), &[Failed, Skipped, Went, Went]),
        // Parts of pipelines, whose statuses mean nothing, and of groups.
        (
            "a | X=1 b |& c && d",
            &[(0, 1, "a"), (1, 1, "X=1 b"), (0, 1, "c"), (0, 1, "d")],
            Status(0),
            &[Went, Went],
        ),
        ("{ a && b; } || c; d", &[(0, 1, "a"), (1, 1, "c"), (0, 1, "d")], Status(0), &[Handled, Went, Went]),
        ("{ a && b; } || c; d", &[(0, 1, "a"), (0, 1, "b"), (0, 1, "d")], Status(0), &[Went, Skipped, Went]),
        // A subshell at the begin is told of by nothing.
        ("(a; b) && c; d", &[(3, 1, "d")], Status(0), &[Failed, Skipped, Went]),
        // Versions that count lines from 0.
        ("a; b\nc", &[(0, 0, "a"), (0, 0, "b"), (0, 1, "c")], Status(0), &[Went, Went, Went]),
    ];
    for (command, marks, how, expected) in table {
        let mut clock = clock(command);
        for (at, (status, line, command)) in marks.iter().enumerate() {
            clock.mark(&mark(*status, *line, command), at as u64);
        }
        clock.end(*how, 99);
        assert_eq!(states(&clock), *expected, "{command}");
    }
}

#[test]
fn a_step_of_several_marks_begins_once() {
    let mut clock = clock("a | b && { c; d; } && e");
    let turns = [(0, "a", NEW), (0, "b", SAME), (0, "c", NEW), (0, "d", SAME), (0, "e", LAST)];
    for (status, command, turn) in turns {
        assert_eq!(clock.mark(&mark(status, 1, command), 0), turn, "{command}");
    }
}

#[test]
fn what_was_not_expected_ends_the_timing() {
    let lost = Turn { is_new: true, answer: Answer::NoMore };
    for marks in [
        &[(0, 1, "a"), (0, 1, "x")][..],
        &[(0, 1, "x")],
        &[(0, 5, "a")],
        &[(0, 1, "a"), (0, 2, "b")],
        &[(0, 1, "a"), (0, 1, "b"), (0, 1, "c")],
        &[(0, 1, "a"), (0, 1, "b"), (i32::MIN, usize::MAX, "")],
        &[(i32::MIN, usize::MAX, "")],
    ] {
        let mut clock = clock("a | b; d; e");
        let mut turn = None;
        for (status, line, command) in marks {
            turn = Some(clock.mark(&mark(*status, *line, command), 0));
        }
        assert_eq!((turn, clock.chain()), (Some(lost), None), "{marks:?}");
        assert_eq!(clock.mark(&mark(0, 1, "d"), 0), Turn { is_new: false, answer: Answer::NoMore });
        clock.end(Ended::Status(0), 9);
        assert_eq!(clock.saved(), None);
    }
}

#[test]
fn marks_that_never_came_are_noticed() {
    // It can't have ended well before its last step.
    let mut early = clock("a; b; c");
    early.mark(&mark(0, 1, "a"), 0);
    early.end(Ended::Status(0), 9);
    assert_eq!(early.chain(), None);
    // No mark at all, whatever the end.
    for how in [Ended::Status(0), Ended::Status(2), Ended::TimedOut] {
        let mut never = clock("a; b; c");
        assert!(never.chain().is_some());
        never.end(how, 9);
        assert_eq!(never.chain(), None, "{how:?}");
    }
}

#[test]
fn a_cd_is_a_step_only_if_it_fails() {
    let mut went = clock("cd web && a && b");
    went.mark(&mark(0, 1, "cd web"), 0);
    went.text("x");
    went.mark(&mark(0, 1, "a"), 5);
    went.text("y");
    let chain = went.saved().unwrap();
    assert_eq!((chain.location.as_deref(), states(&went)), (Some("web"), vec![Running, Waiting]));
    assert_eq!(chain.steps[0].output, "y");
    let mut failed = clock("cd web && a && b");
    failed.mark(&mark(0, 1, "cd web"), 0);
    failed.text("none");
    failed.end(Ended::Status(1), 5);
    let chain = failed.saved().unwrap();
    assert_eq!((chain.location, states(&failed)), (None, vec![Failed, Skipped, Skipped]));
    assert_eq!(chain.steps[0].output, "none");
}

#[test]
fn text_belongs_to_the_step_that_runs() {
    let mut clock = clock("a; b");
    clock.text("before\n");
    clock.mark(&mark(0, 1, "a"), 0);
    clock.text("a 1 %");
    clock.erase_line();
    clock.text("a 2 %");
    clock.mark(&mark(0, 1, "b"), 0);
    clock.text(&"b\n".repeat(3000));
    clock.end(Ended::Status(0), 1);
    let steps = clock.saved().unwrap().steps;
    assert_eq!((steps[0].output.as_str(), steps[0].lines_before), ("before\na 2 %", 0));
    assert_eq!((steps[1].output.len(), steps[1].lines_before), (2048, 3000 - 1024));
    assert!(clock.chain().unwrap().steps.iter().all(|step| step.output.is_empty()));
}
