//! What moves on a screen asks for the frames that show it, and for no others; what is kept of it is what would be drawn
//! anew.

use super::*;
use crate::app::msg::{Done, Msg, Reloaded};
use crate::config::display::ThinkingStyle;
use crate::proto::chain::{Chain, Step, StepJoint, StepState, Wait, WaitKind};
use crate::proto::compaction::{CompactionOutcome, CompactionReason};
use crate::ui::scene::NextDeadline;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use std::time::Instant;

fn bash(id: &str, command: &str, timeout: Option<u64>) -> ToolCall {
    let arguments = match timeout {
        Some(timeout) => json!({"command": command, "timeout": timeout}),
        None => json!({"command": command}),
    };
    call(id, "bash", arguments)
}

fn steps(states: &[StepState]) -> Arc<Chain> {
    let step = |(at, state): (usize, &StepState)| Step {
        text: format!("make part-{at}"),
        joint: if at == 0 { StepJoint::Then } else { StepJoint::And },
        state: *state,
        started_ms: Some(at as u64 * 900),
        took_ms: state.has_run().then_some(900),
        ..Step::default()
    };
    Arc::new(Chain { location: None, steps: states.iter().enumerate().map(step).collect() })
}

/// A call that has begun, at the end of a talk.
fn begun(call: &ToolCall) -> Stage {
    let mut stage = first_rounds();
    stage.says("two", vec![Block::ToolCall(call.clone())]);
    stage.starts(call);
    stage.wait(700);
    stage
}

fn filling() -> Stage {
    begun(&bash("9", "cargo test", Some(20)))
}

fn sweeping() -> Stage {
    begun(&call("9", "web_search", json!({"query": "words"})))
}

fn chained() -> Stage {
    let call = bash("9", "make part-0 && make part-1 && make part-2", Some(60));
    let mut stage = begun(&call);
    let chain = steps(&[StepState::Ok, StepState::Running, StepState::Waiting]);
    stage.event(AgentEvent::ToolSteps { call: call.id.clone(), chain });
    stage.event(AgentEvent::ToolProgress { call: call.id, delta: "one\ntwo\n".to_owned() });
    stage
}

fn sleeping() -> Stage {
    let call = bash("9", "sleep 20", Some(60));
    let mut stage = begun(&call);
    let wait = Wait { kind: WaitKind::Sleep, begun_ms: 300, lasts_ms: 20_000 };
    stage.event(AgentEvent::ToolWait { call: call.id, wait: Some(wait) });
    stage
}

fn writing() -> Stage {
    let mut stage = first_rounds();
    stage.begins("two");
    let content = "some words in a line\n".repeat(20);
    let call = call("9", "write", json!({"path": "notes.md", "content": content}));
    stage.streams("two", 0, &Block::ToolCall(call));
    stage.entry(
        "two",
        EntryPatch::Append { index: 0, delta: "\n and what is new".to_owned(), usage: Usage::default() },
    );
    stage
}

fn thought() -> Stage {
    let mut stage = thinking();
    let delta = " and what is new of it".to_owned();
    stage.entry("two", EntryPatch::Append { index: 0, delta, usage: Usage::default() });
    stage
}

fn replying() -> Stage {
    let mut stage = first_rounds();
    stage.begins("two");
    stage.streams("two", 0, &Block::text(REPLY));
    stage
}

fn compacting() -> Stage {
    let mut stage = first_rounds();
    stage.event(AgentEvent::CompactionStarted { reason: CompactionReason::Auto, tokens_before: 112_000 });
    stage.wait(900);
    stage.event(AgentEvent::CompactionProgress { delta: "# Goal\n\nThe parser accepts".to_owned() });
    stage
}

fn ended() -> Stage {
    let mut stage = first_rounds();
    let test = bash("9", "cargo test", Some(20));
    stage.says("two", vec![Block::ToolCall(test.clone())]);
    stage.runs(&test, "error\n\nCommand exited with code 1", json!({"exitCode": 1}), true, 2100);
    stage
}

fn retrying() -> Stage {
    let mut stage = first_rounds();
    let error = "Overloaded.".to_owned();
    stage.event(AgentEvent::RetryScheduled { attempt: 1, max_attempts: 5, delay_ms: 8000, error });
    stage
}

fn over() -> Stage {
    let mut stage = first_rounds();
    stage.says("two", vec![Block::text(REPLY)]);
    stage.event(AgentEvent::TurnFinished {
        turn: TurnId(1),
        ticket: TicketId(1),
        outcome: TicketOutcome::Completed,
    });
    stage.change(|view, _| view.running = None);
    stage
}

type Scene = (&'static str, fn() -> Stage);

const SCENES: [Scene; 11] = [
    ("a call with a limit", filling),
    ("a call without one", sweeping),
    ("a chain", chained),
    ("a wait", sleeping),
    ("a call that is written", writing),
    ("thinking", thought),
    ("a reply", replying),
    ("a compaction", compacting),
    ("a call that ended", ended),
    ("a retry", retrying),
    ("the end of a turn", over),
];

fn deadline(stage: &Stage) -> Option<Instant> {
    let next = stage.state.scene.next_deadline;
    next.animation.into_iter().chain(next.figure).min()
}

fn cells(stage: &mut Stage) -> Buffer {
    stage.draw().0
}

/// Each frame that is asked for shows something else, and between two of them nothing would.
#[test]
fn no_frame_shows_what_is_shown_already() {
    let ways = [(true, false), (false, false), (true, true)];
    for ((what, scene), (motion, folded)) in SCENES.into_iter().flat_map(|scene| ways.map(|way| (scene, way)))
    {
        let mut stage = scene();
        stage.state.motion = motion;
        stage.state.display.folded = folded;
        // What was asked for since the last frame is settled by one.
        cells(&mut stage);
        let mut drawn = cells(&mut stage);
        let end = stage.now + Duration::from_secs(4);
        let mut frames = 0;
        while let Some(next) = deadline(&stage).filter(|next| *next < end) {
            let way = format!("{what}, motion {motion}, folded {folded}, {:?} before its end", end - next);
            assert!(next > stage.now, "{way}: at once again");
            stage.now = next - Duration::from_millis(1).min(next - stage.now);
            assert!(cells(&mut stage) == drawn, "{way}: it changed before it was asked for");
            stage.now = next;
            let after = cells(&mut stage);
            assert!(after != drawn, "{way}: nothing changed");
            drawn = after;
            frames += 1;
        }
        assert!(frames <= 4 * 25, "{what}: {frames}");
    }
}
