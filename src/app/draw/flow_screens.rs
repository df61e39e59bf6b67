//! Commands of several steps, waits and compactions, from what the agent tells to the screen, and after a resume.

use super::*;
use crate::app::msg::{Msg, Opened};
use crate::proto::chain::{Chain, Step, StepJoint, StepState, Wait, WaitKind};
use crate::proto::compaction::{CompactionFacts, CompactionOutcome, CompactionReason};
use crate::proto::message::{CompactionSummaryMessage, ToolResultMessage};
use crate::term::input::Input;

const COMMAND: &str = "cargo fmt && cargo test || echo red; git status";

fn step(text: &str, joint: StepJoint, state: StepState) -> Step {
    let began = !matches!(state, StepState::Waiting | StepState::Skipped);
    let is_over = began && state != StepState::Running;
    Step {
        text: text.to_owned(),
        joint,
        state,
        started_ms: began.then_some(0),
        took_ms: is_over.then_some(1_500),
        exit: is_over.then_some(i32::from(matches!(state, StepState::Failed | StepState::Handled))),
        ..Step::default()
    }
}

fn chain(states: [StepState; 4]) -> Chain {
    let [fmt, test, echo, status] = states;
    let steps = vec![
        step("cargo fmt", StepJoint::Then, fmt),
        step("cargo test", StepJoint::And, test),
        step("echo red", StepJoint::Or, echo),
        step("git status", StepJoint::Then, status),
    ];
    Chain { location: None, steps }
}

/// A command runs; nothing is known of its steps yet.
fn command() -> (Stage, ToolCall) {
    command_of(json!({"command": COMMAND, "timeout": 120}))
}

fn command_of(arguments: Value) -> (Stage, ToolCall) {
    let mut stage = stage();
    stage.prompt("Is it green?");
    stage.change(|view, now| view.running = Some(running(now)));
    let bash = call("1", "bash", arguments);
    stage.says("one", vec![Block::ToolCall(bash.clone())]);
    stage.starts(&bash);
    (stage, bash)
}

fn told(stage: &mut Stage, call: &ToolCall, states: [StepState; 4]) {
    stage.event(AgentEvent::ToolSteps { call: call.id.clone(), chain: Arc::new(chain(states)) });
}

/// The rows of the transcript that tell of the call, without their blanks and its mark.
fn rows(stage: &mut Stage) -> Vec<String> {
    let screen = stage.screen();
    let rows = screen.lines().skip_while(|row| !row.contains(" $ cargo")).take(5);
    let words = |row: &str| row.split_whitespace().collect::<Vec<_>>().join(" ");
    rows.map(|row| words(row.split_once("$ ").map_or(row, |(_, row)| row))).collect()
}

#[test]
fn steps_are_told_one_by_one() {
    use StepState::{Handled, Ok, Running, Skipped, Waiting};
    let (mut stage, bash) = command();
    let title = COMMAND;
    let moments = [
        ([Running, Waiting, Waiting, Waiting], "1 of 4", ["1 cargo fmt 1.0s", "2 cargo test", "3 echo red"]),
        ([Ok, Running, Waiting, Waiting], "2 of 4", ["1 cargo fmt 1.5s", "2 cargo test 2.0s", "3 echo red"]),
        (
            [Ok, Ok, Skipped, Running],
            "4 of 4",
            ["1 cargo fmt 1.5s", "2 cargo test 1.5s", "3 echo red skipped"],
        ),
        (
            [Ok, Handled, Running, Waiting],
            "3 of 4",
            ["1 cargo fmt 1.5s", "2 cargo test exit 1 1.5s", "3 echo red 4.0s"],
        ),
    ];
    for (second, (states, lead, lines)) in (1..).zip(moments) {
        stage.wait(1_000);
        told(&mut stage, &bash, states);
        let rows = rows(&mut stage);
        assert_eq!(rows[0], format!("{title} {lead} {second}.0s / 2m00s"));
        assert_eq!(rows[1..4], lines, "{states:?}");
        assert!(stage.screen().contains("Running bash…"));
    }
}

/// However it ended: what was last told of the steps gives way to what the result says, the phase line goes on, and a
/// session that is resumed shows the same.
#[test]
fn a_command_looks_after_a_resume_as_it_did() {
    use StepState::{Aborted, Failed, Handled, Ok, Running, Skipped, TimedOut, Waiting};
    let table = [
        ([Ok, Ok, Skipped, Ok], "", false, "3 of 4 ran ✓ 24.1s", ""),
        ([Ok, Handled, Ok, Ok], "", false, "4 commands ✓ 24.1s", "2 cargo test exit 1 1.5s"),
        (
            [Ok, Ok, Skipped, Failed],
            "Command exited with code 1",
            true,
            "✗ exit 1 at 4 of 4 24.1s",
            "4 git status exit 1 1.5s",
        ),
        (
            [Ok, TimedOut, Skipped, Skipped],
            "Command timed out after 120 seconds",
            true,
            "⧗ timed out at 2 of 4 24.1s",
            "2 cargo test timed out 1.5s",
        ),
        (
            [Ok, Aborted, Skipped, Skipped],
            "Command aborted",
            true,
            "■ stopped at 2 of 4 24.1s",
            "2 cargo test stopped 1.5s",
        ),
    ];
    for (states, text, is_error, rail, line) in table {
        let (mut live, bash) = command();
        told(&mut live, &bash, [Ok, Running, Waiting, Waiting]);
        live.wait(24_100);
        let details = json!({ "chain": chain(states) });
        let output = ToolOutput { is_error, ..ToolOutput::text(text).with_details(details.clone()) };
        live.event(AgentEvent::ToolFinished {
            call: bash.id.clone(),
            tool: bash.name.clone(),
            output: Arc::new(output),
            duration_ms: Some(24_100),
        });
        assert!(!live.screen().contains("Running bash"), "{states:?}");
        // Past the flash.
        live.wait(1_000);
        let content = vec![Block::text("Is it green?")];
        let result = ToolResultMessage {
            tool_call_id: bash.id.clone(),
            tool_name: bash.name.clone(),
            content: vec![Block::text(text)],
            details: Some(details),
            usage: None,
            is_error,
            duration_ms: Some(24_100),
            timestamp: 0,
        };
        let mut resumed = Stage::started();
        resumed.opened(Opened {
            history: vec![
                Arc::new(Message::User(UserMessage { content, timestamp: 0 })),
                Arc::new(Message::Assistant(said(vec![Block::ToolCall(bash)], StopReason::ToolUse))),
                Arc::new(Message::ToolResult(result)),
            ],
            ..opened(view())
        });
        let found = rows(&mut live);
        assert!(found[0].ends_with(rail), "{states:?}: {found:?}");
        assert!(line.is_empty() || found.iter().any(|row| row == line), "{states:?}: {found:?}");
        assert_eq!(found, rows(&mut resumed), "{states:?}");
    }
}

#[test]
fn a_wait_is_told_until_it_is_over_or_the_limit_comes_first() {
    let (mut stage, bash) = command();
    let wait = |lasts_ms, kind| Some(Wait { begun_ms: 0, lasts_ms, kind });
    let table = [
        (wait(30_000, WaitKind::Sleep), "18s left"),
        (wait(250_000, WaitKind::Sleep), "12.0s / 2m00s"),
        (wait(100_000, WaitKind::Loop { pass: 3, of: 10, is_exact: true }), "3 of 10 1m28s left"),
        (wait(100_000, WaitKind::Loop { pass: 3, of: 10, is_exact: false }), "3 of 10 ~2m left"),
        (wait(24_000, WaitKind::Check { number: 4 }), "check 4 12s left"),
        (None, "12.0s / 2m00s"),
    ];
    stage.wait(12_000);
    for (wait, rail) in table {
        stage.event(AgentEvent::ToolWait { call: bash.id.clone(), wait });
        let rows = rows(&mut stage);
        assert_eq!(rows[0], format!("{COMMAND} {rail}"), "{wait:?}");
    }
}

const SUMMARY: &str = "## Goal\n\nThe parser shall accept empty input.\n\n- the lexer does\n- `cli.rs` says otherwise\n- the changelog is not written\n";

fn compacts(reason: CompactionReason) -> Stage {
    let mut stage = first_rounds();
    stage.event(AgentEvent::CompactionStarted { reason, tokens_before: 112_000 });
    stage.wait(5_000);
    for piece in SUMMARY.split_inclusive(' ') {
        stage.event(AgentEvent::CompactionProgress { delta: piece.to_owned() });
        stage.wait(60);
    }
    stage
}

fn facts(reason: CompactionReason) -> CompactionFacts {
    CompactionFacts {
        reason: Some(reason),
        tokens_after: Some(9_400),
        cost: Some(0.02),
        duration_ms: Some(41_200),
    }
}

fn summary(facts: CompactionFacts) -> Arc<Message> {
    Arc::new(Message::CompactionSummary(CompactionSummaryMessage {
        summary: SUMMARY.to_owned(),
        tokens_before: 112_000,
        facts,
        timestamp: 0,
    }))
}

fn compacted(reason: CompactionReason, entry_first: bool) -> Stage {
    let mut stage = compacts(reason);
    let entry = |stage: &mut Stage| {
        stage.entry("sum", EntryPatch::Start(summary(facts(reason))));
        stage.entry("sum", EntryPatch::Finish(summary(facts(reason))));
    };
    if entry_first {
        entry(&mut stage);
    }
    let outcome = CompactionOutcome::Done {
        entry: EntryId::new("sum"),
        tokens_after: Some(9_400),
        cost: Some(0.02),
        duration_ms: 41_200,
    };
    stage.event(AgentEvent::CompactionFinished { outcome });
    if !entry_first {
        entry(&mut stage);
    }
    stage
}

fn cancelled() -> Stage {
    let mut stage = compacts(CompactionReason::Manual);
    stage.event(AgentEvent::CompactionFinished { outcome: CompactionOutcome::Cancelled });
    stage.wait(1_900);
    stage
}

fn failed() -> Stage {
    let mut stage = compacts(CompactionReason::Overflow);
    let error = "The summary was empty. Try /compact with another model.".to_owned();
    stage.event(AgentEvent::CompactionFinished { outcome: CompactionOutcome::Failed { error } });
    stage
}

#[test]
fn compactions() {
    show("compaction", || compacts(CompactionReason::Auto), Ground::Dark);
    show("compacted", || compacted(CompactionReason::Overflow, true), Ground::Dark);
    show("compaction_cancelled", cancelled, Ground::Dark);
    show("compaction_failed", failed, Ground::Dark);
    show("compaction", || compacts(CompactionReason::Auto), Ground::Light);
}

/// The rows of the summary, with their blanks.
fn summary_rows(stage: &mut Stage) -> Vec<String> {
    let screen = stage.screen();
    screen.lines().skip_while(|row| !row.starts_with("● compaction")).take(5).map(str::to_owned).collect()
}

#[test]
fn a_compaction_looks_after_a_resume_as_it_did() {
    for reason in [CompactionReason::Auto, CompactionReason::Manual, CompactionReason::Overflow] {
        let mut resumed = Stage::started();
        resumed.opened(Opened { history: vec![summary(facts(reason))], ..opened(view()) });
        let expected = summary_rows(&mut resumed);
        assert!(expected[0].starts_with(&format!("● compaction {}", reason.as_str())), "{expected:?}");
        assert!(expected[0].trim_end().ends_with("112k → ~9.4k   $0.020   41.2s"), "{expected:?}");
        for entry_first in [true, false] {
            assert_eq!(
                summary_rows(&mut compacted(reason, entry_first)),
                expected,
                "{reason:?} {entry_first}"
            );
        }
    }
}

/// Two seconds after it was stopped the screen is as if there had been none: no row, no gap, no focus.
#[test]
fn one_that_was_stopped_leaves_nothing() {
    let mut stage = first_rounds();
    let rows = |stage: &mut Stage| {
        let screen = stage.screen();
        screen.lines().take_while(|row| !row.starts_with("─ ")).map(str::to_owned).collect::<Vec<_>>()
    };
    stage.type_text("x");
    let before = rows(&mut stage);
    let reason = CompactionReason::Manual;
    stage.event(AgentEvent::CompactionStarted { reason, tokens_before: 112_000 });
    stage.draw();
    let item = stage.state.conversation.len() - 1;
    stage.state.pane.set_focus(Some(item));
    stage.event(AgentEvent::CompactionFinished { outcome: CompactionOutcome::Cancelled });
    let told = rows(&mut stage);
    assert!(told.iter().any(|row| row.contains("cancelled")), "{told:?}");
    assert_eq!(stage.state.pane.focused(), Some(item));
    let end = stage.state.scene.next_deadline.figure.expect("it goes by itself");
    assert!(end <= stage.now + Duration::from_secs(2));
    stage.wait(2_000);
    assert_eq!(rows(&mut stage), before);
    assert_eq!(stage.state.pane.focused(), None);
}

/// Times go on without the focus, once a second; nothing else moves, whatever asks for a frame.
#[test]
fn without_focus_only_times_change() {
    type Scene = (&'static str, fn() -> Stage);
    let scenes: [Scene; 3] = [
        ("sweep", || compacts(CompactionReason::Auto)),
        ("steps", || {
            // One with a limit would fill with each second.
            let (mut stage, bash) = command_of(json!({ "command": COMMAND }));
            told(
                &mut stage,
                &bash,
                [StepState::Ok, StepState::Running, StepState::Waiting, StepState::Waiting],
            );
            stage
        }),
        ("thinking", thinking),
    ];
    for (name, scene) in scenes {
        let mut stage = scene();
        stage.draw();
        assert!(stage.state.scene.next_deadline.animation.is_some(), "{name} moves");
        assert!(stage.tell(Msg::Input(Input::Focus(false))).changed, "{name}");
        stage.wait(40);
        let mut changes = 0;
        let (mut last, _) = stage.draw();
        for _ in 0..20 {
            assert_eq!(stage.state.scene.next_deadline.animation, None, "{name}");
            stage.wait(100);
            let (next, _) = stage.draw();
            let changed: Vec<usize> =
                (0..next.content.len()).filter(|at| next.content[*at] != last.content[*at]).collect();
            let is_figure = |at: &usize| {
                let one = |cell: &str| cell.chars().all(|c| c.is_ascii_digit() || " .:smk".contains(c));
                one(next.content[*at].symbol()) && one(last.content[*at].symbol())
            };
            let other = changed.iter().find(|at| !is_figure(at));
            assert_eq!(other.map(|at| next.content[*at].symbol()), None, "{name}");
            assert!(changed.iter().all(|at| next.content[*at].bg == last.content[*at].bg), "{name}");
            changes += usize::from(!changed.is_empty());
            last = next;
        }
        // Each time begins at its own moment.
        assert!((1..=8).contains(&changes), "{name}: {changes} in two seconds");
        assert!(stage.tell(Msg::Input(Input::Focus(true))).changed, "{name}");
        stage.draw();
        assert!(stage.state.scene.next_deadline.animation.is_some(), "{name} moves again");
    }
}
