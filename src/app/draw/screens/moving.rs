//! What moves on a screen asks for the frames that show it, and for no others; what is kept of it is what would be drawn
//! anew.

use super::*;
use crate::app::msg::{Done, Msg, Reloaded};
use crate::config::display::ThinkingStyle;
use crate::proto::chain::{Chain, Step, StepJoint, StepState, Wait, WaitKind};
use crate::proto::compaction::{CompactionOutcome, CompactionReason};
use crate::ui::motion::GRID;
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

const RETRY: &str = "a retry";
const COMPACTION: &str = "a compaction";

type Scene = (&'static str, fn() -> Stage);

const SCENES: [Scene; 11] = [
    ("a call with a limit", filling),
    ("a call without one", sweeping),
    ("a chain", chained),
    ("a wait", sleeping),
    ("a call that is written", writing),
    ("thinking", thought),
    ("a reply", replying),
    (COMPACTION, compacting),
    ("a call that ended", ended),
    (RETRY, retrying),
    ("the end of a turn", over),
];

fn deadline(stage: &Stage) -> Option<Instant> {
    let next = stage.state.scene.next_deadline;
    next.animation.into_iter().chain(next.figure).min()
}

fn cells(stage: &mut Stage) -> Buffer {
    stage.draw().0
}

/// Rows that differ, as texts.
fn differing(before: &Buffer, after: &Buffer) -> Vec<String> {
    let rows = |buffer: &Buffer| -> Vec<Vec<ratatui::buffer::Cell>> {
        buffer.content.chunks(usize::from(buffer.area.width)).map(<[_]>::to_vec).collect()
    };
    let text = |row: &[ratatui::buffer::Cell]| row.iter().map(|cell| cell.symbol()).collect::<String>();
    let pairs = rows(before).into_iter().zip(rows(after));
    pairs
        .filter(|(before, after)| before != after)
        .map(|(before, after)| format!("{}\n{}", text(&before), text(&after)))
        .collect()
}

/// Each frame that is asked for shows something else, and before it nothing would but for one step: what changes within a
/// step of the grid is shown at its end, so that many rows cost one frame.
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
            stage.now = (next - GRID).max(stage.now);
            let differ = differing(&drawn, &cells(&mut stage));
            // While a retry counts down a step of the spinner may come with the next figure.
            let is_early = !differ.is_empty() && what != RETRY;
            assert!(!is_early, "{way}: it changed before it was asked for: {differ:?}");
            stage.now = next;
            let after = cells(&mut stage);
            // What is new of a summary fades in fewer steps than it asks for.
            assert!(after != drawn || what == COMPACTION, "{way}: nothing changed");
            drawn = after;
            frames += 1;
        }
        assert!(frames <= 4 * 25, "{what}: {frames}");
    }
}

/// Some of everything that is laid out and kept, and of what moves.
fn everything() -> Stage {
    let mut stage = conversation();
    stage.prompt(&"a prompt of many lines\n".repeat(30));
    stage.change(|view, now| view.running = Some(running(now)));
    let chain = bash("7", "make part-0 && make part-1", Some(60));
    let other = call("8", "web_search", json!({"query": "words"}));
    let runs = bash("9", "make part-0 && make part-1", Some(60));
    let content = [thinking_block("It was thought."), Block::text(REPLY)];
    let calls = [&chain, &other, &runs].map(|call| Block::ToolCall(call.clone()));
    stage.says("more", content.into_iter().chain(calls).collect());
    let details = json!({"chain": *steps(&[StepState::Ok, StepState::Failed]), "exitCode": 1});
    stage.runs(&chain, &"many lines\n".repeat(40), details, true, 1800);
    stage.runs(
        &other,
        "{\"hits\": [{\"title\": \"a\", \"url\": \"https://b\"}], \"more\": [1, 2, 3]}",
        json!({}),
        false,
        90,
    );
    stage.event(AgentEvent::CompactionStarted { reason: CompactionReason::Manual, tokens_before: 112_000 });
    stage.event(AgentEvent::CompactionFinished {
        outcome: CompactionOutcome::Done {
            entry: EntryId::new("sum"),
            tokens_after: Some(9400),
            cost: None,
            duration_ms: 41_000,
        },
    });
    stage.starts(&runs);
    stage.event(AgentEvent::ToolSteps {
        call: runs.id.clone(),
        chain: steps(&[StepState::Running, StepState::Waiting]),
    });
    stage.event(AgentEvent::ToolProgress { call: runs.id, delta: "out\n".repeat(20) });
    stage.begins("now");
    stage.streams(
        "now",
        0,
        &thinking_block("It is **thought** now.\n\n- one\n- two\n\n```rust\nlet a = 1;\n```\n"),
    );
    stage
}

/// What a user can switch.
#[derive(Clone, Copy, Debug)]
enum Switch {
    Glyphs,
    Motion,
    OtherTools,
    Chains,
    Folded,
    Thinking(ThinkingStyle),
    Theme(u8),
    Key(bool),
    Mouse,
    Size(u16, u16),
    Press(&'static str),
    Wait(u64),
    Think,
}

fn switch() -> impl Strategy<Value = Switch> {
    let styles = [ThinkingStyle::Tail, ThinkingStyle::Collapsed, ThinkingStyle::Full];
    let keys = ["ctrl+o", "ctrl+t", "pageup", "pageup", "pagedown", "ctrl+up", "ctrl+up", "enter", "esc"];
    prop_oneof![
        1 => Just(Switch::Glyphs),
        1 => Just(Switch::Motion),
        1 => Just(Switch::OtherTools),
        1 => Just(Switch::Chains),
        1 => Just(Switch::Folded),
        1 => prop::sample::select(styles.to_vec()).prop_map(Switch::Thinking),
        1 => (0..4_u8).prop_map(Switch::Theme),
        1 => any::<bool>().prop_map(Switch::Key),
        1 => Just(Switch::Mouse),
        1 => (20..140_u16, 12..60_u16).prop_map(|(columns, rows)| Switch::Size(columns, rows)),
        4 => prop::sample::select(keys.to_vec()).prop_map(Switch::Press),
        1 => (0..900_u64).prop_map(Switch::Wait),
        1 => Just(Switch::Think),
    ]
}

fn take(stage: &mut Stage, switch: Switch) {
    let state = &mut stage.state;
    match switch {
        Switch::Glyphs => state.glyphs = !state.glyphs,
        Switch::Motion => state.motion = !state.motion,
        Switch::OtherTools => state.display.other_tools = !state.display.other_tools,
        Switch::Chains => state.display.chains = !state.display.chains,
        Switch::Folded => state.display.folded = !state.display.folded,
        Switch::Thinking(style) => state.display.thinking = style,
        Switch::Theme(0) => state.theme = Theme::quiet_dark(),
        Switch::Theme(1) => state.theme = Theme::quiet_light(),
        Switch::Theme(2) => state.theme = Theme::contrast_dark(),
        Switch::Theme(_) => state.theme = Theme::terminal(),
        Switch::Key(is_another) => {
            let keys = if is_another { "[global]\nexpand_rows = [\"f9\"]\n" } else { "" };
            let keymap = crate::config::keymap::Keymap::defaults();
            let keymap = keymap.patched(keys, std::path::Path::new("keymap.toml")).0;
            let (themes, mistakes) = (state.themes.clone(), Vec::new());
            let reloaded =
                Reloaded { asked: false, loaded: None, keymap: Some(keymap), theme: None, themes, mistakes };
            stage.done(Done::Reloaded(Box::new(reloaded)));
        }
        Switch::Mouse => state.mouse = !state.mouse,
        Switch::Size(columns, rows) => {
            stage.tell(Msg::Input(crate::term::input::Input::Resize { columns, rows }));
        }
        Switch::Press(key) => {
            stage.key(key);
        }
        Switch::Wait(millis) => stage.wait(millis),
        Switch::Think => {
            let delta = "and **more** of it\n\n".to_owned();
            stage.entry("now", EntryPatch::Append { index: 0, delta, usage: Usage::default() });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever is switched: nothing is shown as it was before that.
    #[test]
    fn what_is_kept_is_what_would_be_laid_out_anew(switches in prop::collection::vec(switch(), 1..24)) {
        let mut stage = everything();
        for switch in switches {
            take(&mut stage, switch);
            // What was asked for since the last frame is settled by one.
            cells(&mut stage);
            let kept = cells(&mut stage);
            stage.state.pane.forget_layouts();
            prop_assert!(cells(&mut stage) == kept, "{switch:?}");
        }
    }

    /// Whatever was told, and in whatever order: once all of it is over, nothing asks for a frame.
    #[test]
    fn what_is_over_asks_for_no_frames(
        events in prop::collection::vec(told(), 1..40),
        folded in any::<bool>(),
    ) {
        let mut stage = first_rounds();
        stage.state.display.folded = folded;
        for event in events {
            stage.event(event);
            stage.wait(60);
            cells(&mut stage);
        }
        for entry in ["a", "b"] {
            let whole = Message::Assistant(said(vec![Block::text("Over.")], StopReason::Stop));
            stage.entry(entry, EntryPatch::Finish(Arc::new(whole)));
        }
        stage.event(AgentEvent::CompactionFinished { outcome: CompactionOutcome::Cancelled });
        stage.event(AgentEvent::RetryFinished { success: true, attempt: 1, error: None });
        let (turn, ticket) = (TurnId(1), TicketId(1));
        stage.event(AgentEvent::TurnFinished { turn, ticket, outcome: TicketOutcome::Completed });
        stage.event(AgentEvent::Settled { aborted: false });
        stage.change(|view, _| view.running = None);
        for _ in 0..3 {
            cells(&mut stage);
            stage.wait(3_600_000);
        }
        cells(&mut stage);
        prop_assert_eq!(stage.state.scene.next_deadline, NextDeadline::default());
    }
}

/// What an agent tells of two messages, two calls and a compaction, in any order.
fn told() -> impl Strategy<Value = AgentEvent> {
    let id = || prop::sample::select(vec!["a", "b"]);
    let block = prop::sample::select(vec![
        Block::text("said"),
        thinking_block("thought"),
        Block::ToolCall(bash("a", "make", None)),
        Block::ToolCall(call("b", "web_search", json!({"query": "x"}))),
    ]);
    let state = prop::sample::select(vec![StepState::Waiting, StepState::Running, StepState::Failed]);
    let entry = |id: &str, patch| AgentEvent::Entry { id: EntryId::new(id), patch };
    let waits = [
        None,
        Some(Wait { kind: WaitKind::Sleep, begun_ms: 0, lasts_ms: 9000 }),
        Some(Wait { kind: WaitKind::Check { number: 3 }, begun_ms: 10, lasts_ms: 500 }),
    ];
    let outcomes = vec![
        CompactionOutcome::Cancelled,
        CompactionOutcome::Failed { error: "No model answered.".to_owned() },
        CompactionOutcome::Done { entry: EntryId::new("s"), tokens_after: None, cost: None, duration_ms: 5 },
    ];
    prop_oneof![
        Just(AgentEvent::RoundStarted { round: 1 }),
        id().prop_map(move |id| {
            let empty = Message::Assistant(said(Vec::new(), StopReason::Pending));
            entry(id, EntryPatch::Start(Arc::new(empty)))
        }),
        (id(), 0..2_usize, block.clone())
            .prop_map(move |(id, index, block)| entry(id, EntryPatch::Open { index, block })),
        (id(), 0..2_usize, "[a-z{\": ]{0,20}").prop_map(move |(id, index, delta)| {
            entry(id, EntryPatch::Append { index, delta, usage: Usage::default() })
        }),
        (id(), 0..2_usize, block).prop_map(move |(id, index, block)| {
            entry(id, EntryPatch::Close { index, block, usage: Usage::default() })
        }),
        (id(), prop::option::of(1000..9000_u64)).prop_map(|(id, limit_ms)| {
            let (call, tool) = (CallId::new(id), "bash".to_owned());
            AgentEvent::ToolStarted { call, tool, arguments: Map::new(), limit_ms }
        }),
        (id(), ".{0,20}").prop_map(|(id, delta)| AgentEvent::ToolProgress { call: CallId::new(id), delta }),
        (id(), prop::collection::vec(state, 1..4))
            .prop_map(|(id, states)| AgentEvent::ToolSteps { call: CallId::new(id), chain: steps(&states) }),
        (id(), prop::sample::select(waits.to_vec()))
            .prop_map(|(id, wait)| AgentEvent::ToolWait { call: CallId::new(id), wait }),
        (id(), any::<bool>()).prop_map(|(id, is_error)| AgentEvent::ToolFinished {
            call: CallId::new(id),
            tool: "bash".to_owned(),
            output: Arc::new(ToolOutput { is_error, ..ToolOutput::text("x") }),
            duration_ms: Some(5),
        }),
        Just(AgentEvent::CompactionStarted { reason: CompactionReason::Auto, tokens_before: 9 }),
        Just(AgentEvent::CompactionProgress { delta: "# Goal".to_owned() }),
        prop::sample::select(outcomes).prop_map(|outcome| AgentEvent::CompactionFinished { outcome }),
    ]
}

/// Thinking that is shown whole is drawn by its stream while it goes on. It looks as it does afterwards.
#[test]
fn thinking_looks_the_same_while_it_streams_and_afterwards() {
    let text = "It is **thought** of *this*.\n\n- one\n- two of `them`\n\n> a quote\n\n```rust\nlet a = 1;\n```\n\nThe last words.";
    let words = ["It is thought of this.", "two of them", "a quote", "let a", "The last words."];
    let mut stage = stage();
    stage.state.display.thinking = ThinkingStyle::Full;
    stage.state.show_thinking(true);
    stage.change(|view, now| view.running = Some(running(now)));
    stage.begins("one");
    stage.entry("one", EntryPatch::Open { index: 0, block: thinking_block("") });
    for c in text.chars() {
        let delta = c.to_string();
        stage.entry("one", EntryPatch::Append { index: 0, delta, usage: Usage::default() });
        cells(&mut stage);
    }
    stage.wait(5000);
    let rows = |stage: &mut Stage| {
        words.map(|words| {
            let (_, y) = stage.cell(words);
            let buffer = cells(stage);
            // The mark stands beside the label afterwards.
            (2..buffer.area.width).map(|x| buffer[(x, y)].clone()).collect::<Vec<_>>()
        })
    };
    let live = rows(&mut stage);
    stage.entry("one", EntryPatch::Close { index: 0, block: thinking_block(text), usage: Usage::default() });
    assert!(stage.screen().contains("Thought for"));
    assert!(rows(&mut stage) == live);
}
