//! What stands under a band: steps, compactions, what other tools gave.

use super::*;
use crate::proto::chain::{CHAIN, Chain, Step, StepJoint, StepState};
use crate::proto::compaction::CompactionReason;
use crate::theme::mix::Rgb;
use crate::transcript::item::Compaction;
use ratatui::style::Color;

fn step(text: &str, joint: StepJoint, state: StepState, started: u64, took: Option<u64>) -> Step {
    let (started_ms, exit) = match state {
        StepState::Waiting | StepState::Skipped | StepState::Unknown => (None, None),
        StepState::Failed | StepState::Handled => (Some(started), Some(2)),
        StepState::Running | StepState::Ok | StepState::TimedOut | StepState::Aborted => {
            (Some(started), None)
        }
    };
    Step { text: text.to_owned(), joint, state, started_ms, took_ms: took, exit, ..Step::default() }
}

fn with_chain(mut item: Item, chain: Chain, outputs: &[&str]) -> Item {
    if let Body::Call(call) = &mut item.body {
        call.step_outputs = chain.steps.iter().map(|_| String::new()).collect();
        for (output, text) in call.step_outputs.iter_mut().zip(outputs) {
            (*text).clone_into(output);
        }
        call.chain = Some(Arc::new(chain));
    }
    item
}

/// As it is while the second of three steps runs.
fn live_chain() -> Item {
    use StepState::{Ok, Running, Waiting};
    let chain = Chain {
        location: Some("web".to_owned()),
        steps: vec![
            step("npm run lint", StepJoint::Then, Ok, 0, Some(8600)),
            step("npm test -- --watch=false \\\n  --color", StepJoint::And, Running, 8700, None),
            step("npm run build", StepJoint::And, Waiting, 0, None),
        ],
    };
    let command = "cd web && npm run lint && npm test -- --watch=false \\\n  --color && npm run build";
    let item = running("bash", json!({ "command": command, "timeout": 120 }), "", 0, 12_700);
    with_chain(item, chain, &["lint is fine\n", &numbered(9)])
}

fn failed_chain() -> (Chain, Value) {
    use StepState::{Failed, Ok, Skipped};
    let chain = Chain {
        location: None,
        steps: vec![
            Step { output: "ok\n".to_owned(), ..step("cargo fmt", StepJoint::Then, Ok, 0, Some(400)) },
            Step {
                output: TESTS.to_owned(),
                exit: Some(101),
                lines_before: 34,
                ..step("cargo test parser", StepJoint::And, Failed, 400, Some(15_100))
            },
            step("git commit", StepJoint::And, Skipped, 0, None),
        ],
    };
    (chain, json!({"command": "cargo fmt && cargo test parser && git commit"}))
}

fn failed_item(details: Value) -> Item {
    let text = format!("ok\n{TESTS}\n\nCommand exited with code 101");
    let mut item = failed("bash", failed_chain().1, &text, details.clone(), 15_500);
    // As the conversation does it.
    if let Body::Call(call) = &mut item.body {
        call.chain = Chain::of_details(Some(&details)).map(Arc::new);
    }
    item
}

/// Every state of a step.
fn all_states() -> Item {
    use StepState::{Aborted, Failed, Handled, Ok, Skipped, TimedOut, Unknown};
    let states = [Ok, Failed, Handled, TimedOut, Aborted, Skipped, Unknown];
    let steps = states.iter().enumerate().map(|(at, state)| {
        let joint = if at % 2 == 0 { StepJoint::Or } else { StepJoint::Then };
        step(&format!("step {at}"), joint, *state, 0, Some(1200 * at as u64).filter(|took| *took > 0))
    });
    let chain = Chain { location: None, steps: steps.collect() };
    with_chain(
        failed("bash", json!({"command": "x"}), "Command exited with code 2", json!({}), 9000),
        chain,
        &[],
    )
}

pub(super) fn any_chain() -> impl Strategy<Value = Item> {
    let state = prop::sample::select(vec![
        StepState::Waiting,
        StepState::Running,
        StepState::Ok,
        StepState::Failed,
        StepState::Handled,
        StepState::Skipped,
        StepState::TimedOut,
        StepState::Aborted,
        StepState::Unknown,
    ]);
    let joint = prop::sample::select(vec![StepJoint::Then, StepJoint::And, StepJoint::Or]);
    let steps = (any_text(), joint, state, 0_u64..4000, prop::option::of(0_u64..40_000))
        .prop_map(|(text, joint, state, started, took)| step(&text, joint, state, started, took));
    let chain = (prop::option::of(any_text()), prop::collection::vec(steps, 1..13));
    let outputs = prop::collection::vec(any_text(), 0..13);
    (chain, outputs, any_phase(), any::<bool>()).prop_map(
        |((location, mut steps), outputs, mut phase, is_kept)| {
            for (step, output) in steps.iter_mut().zip(&outputs).filter(|_| is_kept) {
                step.output.clone_from(output);
            }
            let chain = Chain { location, steps };
            if let CallPhase::Done { result: Given::Told(result), ended, .. } = &mut phase {
                if is_kept {
                    Arc::make_mut(result).details = Some(json!({ CHAIN: chain }));
                } else {
                    *ended = Some(ago(100));
                }
            }
            let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
            with_chain(call("bash", json!({"command": "a && b"}), phase), chain, &outputs)
        },
    )
}

fn compaction(reason: Option<CompactionReason>, summary: &str, phase: CompactionPhase) -> Item {
    let mut trail = Trail::default();
    trail.grow(summary.len().saturating_sub(30), ago(5000));
    trail.grow(summary.len().saturating_sub(10), ago(400));
    trail.grow(summary.len(), ago(40));
    item(Body::Compaction(Box::new(Compaction {
        reason,
        summary: summary.to_owned(),
        trail,
        tokens_before: 112_000,
        phase,
    })))
}

fn compacted(summary: &str, after: Option<u64>, cost: Option<f64>, took: Option<u64>) -> Item {
    let phase = CompactionPhase::Done { tokens_after: after, cost, took: took.map(Duration::from_millis) };
    compaction(Some(CompactionReason::Auto), summary, phase)
}

pub(super) fn any_compaction() -> impl Strategy<Value = Item> {
    let phase = prop_oneof![
        (0_u64..100_000).prop_map(|millis| CompactionPhase::Running { since: ago(millis) }),
        (prop::option::of(0_u64..9_000_000), prop::option::of(0.0..10.0), prop::option::of(0_u64..90_000))
            .prop_map(|(tokens_after, cost, took)| CompactionPhase::Done {
                tokens_after,
                cost,
                took: took.map(Duration::from_millis)
            }),
        (0_u64..4000)
            .prop_map(|millis| CompactionPhase::Cancelled { at: ago(millis), took: Duration::from_secs(12) }),
    ];
    (any_text(), phase).prop_map(|(text, phase)| compaction(Some(CompactionReason::Manual), &text, phase))
}

const SUMMARY: &str = "# Goal\n\nThe parser should accept *empty* input.\n\n- `lexer.rs` is done\n- a test is \
                       missing\n\n```rust\nlet a = 1;\n```\n\nNothing else breaks.";

fn hits(count: usize) -> Value {
    let hit = |n| json!({"title": format!("Page {n}"), "url": format!("https://www.example{n}.org/a"), "snippet": "It says."});
    Value::Array((1..=count).map(hit).collect())
}

/// One of each body that is not among the conversation.
fn bodies() -> Vec<Item> {
    let (chain, _) = failed_chain();
    let search = |count: usize, details: Value| {
        let text = json!({ "results": hits(count) }).to_string();
        done("web_search", json!({"query": "rust tui", "site": "docs.rs"}), &text, details, 900)
    };
    let facts = json!({"status": "open", "number": 12, "title": "A band\nof two lines", "labels": ["ui"]});
    vec![
        live_chain(),
        failed_item(json!({ CHAIN: chain })),
        all_states(),
        done("edit", json!({"path": "src/lexer.rs"}), "Done.", json!({ "patch": PATCH }), 8),
        search(8, json!({"partial": true})),
        search(4, json!({})),
        search(0, json!({"cached": true})),
        done("mcp__tracker__get_issue", json!({"id": "12"}), &facts.to_string(), json!({}), 120),
        done(
            "dump",
            json!({}),
            &json!({"a": [1, {"b": "c"}], "d": null, "e": 1, "f": 2, "g": 3, "h": 4, "i": 5,
            "j": 6, "k": 7, "l": 8, "m": 9, "n": 10, "o": 11})
            .to_string(),
            json!({}),
            3,
        ),
        compaction(Some(CompactionReason::Auto), SUMMARY, CompactionPhase::Running { since: ago(6290) }),
        compaction(
            Some(CompactionReason::Overflow),
            "",
            CompactionPhase::Cancelled { at: ago(500), took: Duration::from_secs(12) },
        ),
        compacted(SUMMARY, Some(9400), Some(0.02), Some(41_200)),
        compaction(None, "Old.", CompactionPhase::Done { tokens_after: None, cost: None, took: None }),
    ]
}

#[test]
fn what_stands_under_bands() {
    let items = bodies();
    let dark = Theme::quiet_dark();
    for width in [60, 100, 160] {
        crate::assert_screen!("entries", "bodies", &screen(&items, &dark, width, false));
    }
    crate::assert_screen!("entries", "bodies_light", &screen(&items, &Theme::quiet_light(), 100, false));
    crate::assert_screen!("entries", "bodies_terminal", &screen(&items, &Theme::terminal(), 100, false));
    crate::assert_screen!("entries", "bodies_open", &screen(&items, &dark, 100, true));
}

#[test]
fn a_chain_that_runs() {
    let all = rows(&live_chain(), 80, false);
    assert_eq!(all[0], "○ $ npm run lint && npm test -- --watch=false -… in web  2 of 3   12.7s / 2m00s");
    assert_eq!(
        all[1..],
        [
            format!("      1  npm run lint{}8.6s", " ".repeat(80 - 9 - 12 - 4 - 1)),
            format!("      2  npm test -- --watch=false --color{}4.0s", " ".repeat(80 - 9 - 33 - 4 - 1)),
            "         … 6 earlier lines · ctrl+o".to_owned(),
            "         line 7".to_owned(),
            "         line 8".to_owned(),
            "         line 9".to_owned(),
            "      3  npm run build".to_owned(),
        ]
    );
    assert!(all[0].contains(" in web  "), "{}", all[0]);
    let open = rows(&live_chain(), 80, true).join("\n");
    assert!(open.contains("lint is fine") && open.contains("line 1\n"), "{open}");
}

#[test]
fn exactly_one_hidden_line_of_a_step_is_shown() {
    let chain = |lines: usize| {
        let chain = Chain {
            location: None,
            steps: vec![
                step("a", StepJoint::Then, StepState::Ok, 0, Some(1)),
                step("b", StepJoint::And, StepState::Ok, 1, Some(1)),
            ],
        };
        let item = done("bash", json!({"command": "a && b"}), "x", json!({}), 2);
        rows(&with_chain(item, chain, &["first", &numbered(lines)]), 60, false).split_off(3)
    };
    assert_eq!(chain(0), [""; 0]);
    assert_eq!(chain(4), ["         line 1", "         line 2", "         line 3", "         line 4"]);
    assert_eq!(chain(5)[0], "         … 2 earlier lines · ctrl+o");
    assert_eq!(chain(5).len(), 4);
}

/// Older logs and other programs keep how it went, but not what each step printed.
#[test]
fn without_outputs_of_steps_the_whole_is_shown() {
    let (mut chain, arguments) = failed_chain();
    for step in &mut chain.steps {
        step.output.clear();
        step.lines_before = 0;
    }
    let text = "ok\nwrong\n\nCommand exited with code 101";
    let details = json!({ CHAIN: chain });
    let item = with_chain(failed("bash", arguments, text, details, 15_500), chain, &["lost", "lost"]);
    let all = rows(&item, 60, false);
    assert_eq!(all[4..], ["     ok", "     wrong"]);
}

#[test]
fn rails_of_chains() {
    use StepState::{Aborted, Failed, Handled, Ok, Running, Skipped, TimedOut, Unknown, Waiting};
    let rail = |states: &[StepState], item: Item| {
        let steps = states.iter().map(|state| step("x", StepJoint::And, *state, 0, Some(5)));
        let chain = Chain { location: None, steps: steps.collect() };
        let row = rows(&with_chain(item, chain, &[]), 80, false).remove(0);
        row.split("x  ").last().unwrap().trim().to_owned()
    };
    let bash = json!({"command": "x"});
    let ok = || done("bash", bash.clone(), "x", json!({}), 12);
    let bad = |end: &str| failed("bash", bash.clone(), &format!("x\n\n{end}"), json!({}), 12);
    let going = || running("bash", bash.clone(), "", 0, 4000);
    let table = [
        (&[Running, Waiting, Waiting][..], going(), "1 of 3   4.0s"),
        (&[Ok, Running, Waiting], going(), "2 of 3   4.0s"),
        (&[Waiting, Waiting], going(), "1 of 2   4.0s"),
        (&[Ok, Ok, Ok], ok(), "3 commands   ✓  12ms"),
        (&[Handled, Ok], ok(), "2 commands   ✓  12ms"),
        (&[Ok, Skipped, Ok], ok(), "2 of 3 ran   ✓  12ms"),
        (&[Ok, Failed, Skipped], bad("Command exited with code 2"), "✗ exit 2 at 2 of 3  12ms"),
        (&[Running, Waiting], bad("Command timed out after 1 seconds"), "⧗ timed out at 1 of 2  12ms"),
        (&[Ok, TimedOut], bad("Command timed out after 1 seconds"), "⧗ timed out at 2 of 2  12ms"),
        (&[Ok, Running], bad("Command aborted"), "■ stopped at 2 of 2  12ms"),
        (&[Aborted, Skipped], bad("Command aborted"), "■ stopped at 1 of 2  12ms"),
        (&[Unknown, Unknown], ok(), "✓  12ms"),
    ];
    for (states, item, expected) in table {
        assert_eq!(rail(states, item), expected, "{states:?}");
    }
}

#[test]
fn rails_of_steps() {
    let all = rows(&all_states(), 60, false);
    let rails: Vec<&str> = all[1..]
        .iter()
        .map(|row| row.trim_start().get(3..).unwrap().split_once("step ").unwrap().1.get(1..).unwrap().trim())
        .collect();
    assert_eq!(
        rails,
        ["", "exit 2  1.2s", "exit 2  2.4s", "timed out  3.6s", "stopped  4.8s", "skipped", "7.2s"]
    );
    // The title keeps the operators.
    assert!(all[0].starts_with("● $ step 0; step 1 || step 2; st…  ✗"), "{}", all[0]);
}

#[test]
fn a_folder_that_could_not_be_entered_is_what_failed() {
    let waiting = || step("make", StepJoint::And, StepState::Waiting, 0, None);
    let chain = Chain { location: Some("gone".to_owned()), steps: vec![waiting(), waiting()] };
    let text = "bash: cd: gone: No such file or directory\n\nCommand exited with code 1";
    let item = failed("bash", json!({"command": "cd gone && make && make"}), text, json!({"exitCode": 1}), 3);
    let all = rows(&with_chain(item, chain, &[]), 60, false);
    assert!(
        all[0].starts_with("● $ cd gone && make && make") && all[0].ends_with("✗ exit 1 at 1 of 3  3ms"),
        "{}",
        all[0]
    );
    assert!(all[1].starts_with("      1  cd gone") && all[1].ends_with("exit 1"), "{}", all[1]);
    assert!(all[2].ends_with("skipped"), "{}", all[2]);
    assert_eq!(all.last().map(String::as_str), Some("     bash: cd: gone: No such file or directory"));
}

#[test]
fn without_the_switch_a_chain_is_a_command() {
    let theme = Theme::quiet_dark();
    let mut look = look(&theme);
    look.display.chains = false;
    let (chain, _) = failed_chain();
    let layout =
        lay_out(&failed_item(json!({ CHAIN: chain })), &EntryCx { look: &look, width: 80, open: false });
    let drawn: Vec<String> = layout.rows.iter().map(|row| row.drawn()).collect();
    assert!(drawn[0].trim_end().ends_with("✗ exit 101  15.5s"), "{}", drawn[0]);
    assert!(!drawn.iter().any(|row| row.contains(" 1  cargo")), "{drawn:?}");
}

/// Read from a log, a chain is what it was when it ended, but for the flash.
#[test]
fn a_resumed_chain_looks_as_it_did() {
    use crate::transcript::conversation::Conversation;
    let (kept, arguments) = failed_chain();
    let details = json!({ CHAIN: kept, "exitCode": 101 });
    let text = format!("ok\n{TESTS}\n\nCommand exited with code 101");
    let message = ToolResultMessage {
        tool_call_id: CallId::new("c1"),
        tool_name: "bash".to_owned(),
        content: vec![Block::text(text)],
        details: Some(details),
        usage: None,
        is_error: true,
        duration_ms: Some(15_500),
        timestamp: 0,
    };
    let begin = |conversation: &mut Conversation| {
        let event = crate::proto::event::AgentEvent::ToolStarted {
            call: CallId::new("c1"),
            tool: "bash".to_owned(),
            arguments: object(arguments.clone()),
            limit_ms: Some(120_000),
        };
        conversation.apply(&event, ago(20_000), (0, 0));
    };
    let mut live = Conversation::new();
    begin(&mut live);
    let mut told = kept;
    for step in &mut told.steps {
        step.output.clear();
        step.lines_before = 0;
    }
    told.steps[1].state = StepState::Running;
    let steps = crate::proto::event::AgentEvent::ToolSteps { call: CallId::new("c1"), chain: Arc::new(told) };
    live.apply(&steps, ago(19_000), (0, 0));
    let delta = "more than is kept\n".repeat(500);
    let progress = crate::proto::event::AgentEvent::ToolProgress { call: CallId::new("c1"), delta };
    live.apply(&progress, ago(18_000), (0, 0));
    let finished = crate::proto::event::AgentEvent::ToolFinished {
        call: CallId::new("c1"),
        tool: "bash".to_owned(),
        output: Arc::new(crate::proto::tool::ToolOutput {
            content: message.content.clone(),
            details: message.details.clone(),
            usage: None,
            is_error: true,
        }),
        duration_ms: Some(15_500),
    };
    live.apply(&finished, ago(1000), (0, 0));
    let mut resumed = Conversation::new();
    begin(&mut resumed);
    resumed.load([Arc::new(Message::ToolResult(message))]);
    let theme = Theme::quiet_dark();
    for (width, open) in [(60, false), (100, false), (100, true)] {
        let live = screen(live.items(), &theme, width, open);
        assert_eq!(live, screen(resumed.items(), &theme, width, open), "at {width}");
        let text: String = live.content.iter().map(|cell| cell.symbol()).collect();
        assert!(text.contains("error: test failed") && !text.contains("more than is kept"), "{text}");
    }
}

fn hex(color: Option<Color>) -> String {
    color.and_then(Rgb::of).map(|rgb| rgb.to_string()).unwrap_or_default()
}

/// The ground of a step's number, at a moment.
fn chip(item: &Item, row: usize, look: &Look<'_>) -> (String, NextDeadline) {
    let cx = EntryCx { look, width: 60, open: false };
    let layout = lay_out(item, &cx);
    let mut next = NextDeadline::default();
    let moving = layout.moving.iter().find(|(at, _)| *at == row);
    let row = moving.map_or_else(|| layout.rows[row].clone(), |(_, moving)| moving.row(&cx, &mut next));
    let number = row
        .spans
        .iter()
        .find(|span| span.content.starts_with(' ') && span.content.trim().parse::<u8>().is_ok());
    (hex(number.and_then(|span| span.style.bg)), next)
}

#[test]
fn numbers_have_the_grounds_of_the_specification() {
    let theme = Theme::quiet_dark();
    let look = look(&theme);
    let item = all_states();
    let table = ["#434d3f", "#624443", "#3a393a", "#695634", "#3a393a", "#28282b", "#313133"];
    for (at, expected) in table.iter().enumerate() {
        let (ground, next) = chip(&item, at + 1, &look);
        assert_eq!((ground.as_str(), next), (*expected, NextDeadline::default()), "step {at}");
    }
    let (ground, _) = chip(&live_chain(), 7, &look);
    assert_eq!(ground, "#2d2d2f", "waiting");
}

#[test]
fn the_step_that_runs_breathes() {
    let theme = Theme::quiet_dark();
    let still = look(&theme);
    let item = live_chain();
    let at = |millis: u64, motion: bool| {
        let now = still.now + Duration::from_millis(millis);
        chip(&item, 2, &Look { now, motion, ..still })
    };
    assert_eq!(at(0, true).0, "#363d43");
    assert_eq!(at(600, true).0, "#46515a");
    assert_eq!(at(1200, true).0, "#363d43");
    // The next tint of it, on the grid of all that moves.
    let next = at(0, true).1.animation.unwrap();
    assert!(at(0, true).0 != chip(&item, 2, &Look { now: next, ..still }).0);
    assert!(next <= still.now + Duration::from_millis(160));
    // Without motion only the time changes.
    assert_eq!(at(0, false).0, at(500, false).0);
    assert_eq!(at(0, false).1.animation, None);
    assert!(at(0, false).1.figure.is_some());
}

#[test]
fn a_step_that_ended_shines_for_a_moment() {
    let theme = Theme::quiet_dark();
    let still = look(&theme);
    let steps = || {
        vec![
            step("a", StepJoint::Then, StepState::Ok, 0, Some(1000)),
            step("b", StepJoint::And, StepState::Failed, 1000, Some(200)),
        ]
    };
    let chain = Chain { location: None, steps: steps() };
    // It began 1,400 ms ago and is over: the steps ended 400 and 200 ms ago.
    let mut phase = result("bash", "x\n\nCommand exited with code 2", true, json!({}), Some(1200));
    if let CallPhase::Done { ended, .. } = &mut phase {
        *ended = Some(ago(200));
    }
    let item = with_chain(call("bash", json!({"command": "a && b"}), phase), chain.clone(), &[]);
    let later = |millis: u64, motion: bool| {
        let look = Look { now: still.now + Duration::from_millis(millis), motion, ..still };
        [1, 2].map(|row| chip(&item, row, &look))
    };
    let rest = ["#434d3f", "#624443"];
    let [first, second] = later(0, true);
    assert!(first.0 != rest[0] && second.0 != rest[1], "{first:?} {second:?}");
    assert!(first.1.animation.is_some() && first.1.figure.is_none());
    let [first, second] = later(400, true);
    assert_eq!(first, (rest[0].to_owned(), NextDeadline::default()), "gone at 800 ms, and no timer");
    assert_ne!(second.0, rest[1]);
    for (millis, motion) in [(600, true), (0, false)] {
        let now = later(millis, motion);
        assert_eq!(now, rest.map(|ground| (ground.to_owned(), NextDeadline::default())));
    }
    // From a log.
    let phase = result("bash", "x\n\nCommand exited with code 2", true, json!({}), Some(1200));
    let old = with_chain(call("bash", json!({"command": "a && b"}), phase), chain, &[]);
    let layout = lay_out(&old, &EntryCx { look: &still, width: 60, open: false });
    assert!(layout.moving.is_empty());
}

#[test]
fn a_compaction_tells_what_is_known() {
    let phase = |after, cost, took: Option<u64>| CompactionPhase::Done {
        tokens_after: after,
        cost,
        took: took.map(Duration::from_millis),
    };
    let table = [
        (
            Some(CompactionReason::Auto),
            phase(Some(9400), Some(0.02), Some(41_200)),
            "● compaction auto",
            "112k → ~9.4k   $0.020   41.2s",
        ),
        (Some(CompactionReason::Manual), phase(None, None, Some(900)), "● compaction manual", "112k   900ms"),
        (None, phase(None, None, None), "● compaction", "112k"),
        (
            Some(CompactionReason::Overflow),
            CompactionPhase::Running { since: ago(6290) },
            "● compaction overflow",
            "112k   ↓ 3 tokens   6.2s",
        ),
        (
            Some(CompactionReason::Auto),
            CompactionPhase::Cancelled { at: ago(1999), took: Duration::from_secs(12) },
            "● compaction auto",
            "■ cancelled  12.0s",
        ),
    ];
    for (reason, phase, left, rail) in table {
        let row = rows(&compaction(reason, "The summary.", phase), 70, false).remove(0);
        assert!(row.starts_with(&format!("{left}  ")) && row.ends_with(&format!("  {rail}")), "{row:?}");
    }
}

#[test]
fn one_that_was_stopped_is_gone_after_two_seconds() {
    let theme = Theme::quiet_dark();
    let look = look(&theme);
    let lay = |millis: u64| {
        let phase = CompactionPhase::Cancelled { at: ago(millis), took: Duration::from_secs(12) };
        lay_out(&compaction(None, "Lost.", phase), &EntryCx { look: &look, width: 70, open: true })
    };
    let shown = lay(1200);
    assert_eq!((shown.rows.len(), shown.next.figure), (1, Some(look.now + Duration::from_millis(800))));
    let gone = lay(2000);
    assert!(gone.rows.is_empty() && gone.moving.is_empty() && gone.next == NextDeadline::default());
    let failed = lay_out(
        &compaction(None, "", CompactionPhase::Failed),
        &EntryCx { look: &look, width: 70, open: false },
    );
    assert!(failed.rows.is_empty(), "a notice says why");
}

#[test]
fn a_summary_shows_its_begin_and_while_it_is_written_its_end() {
    let lines = |count: usize| (1..=count).map(|n| format!("- point {n}\n")).collect::<String>();
    let done =
        |count: usize, open: bool| rows(&compacted(&lines(count), None, None, None), 60, open).split_off(1);
    assert_eq!(done(4, false).len(), 4, "the note would take the row of the line");
    assert_eq!(done(15, false).len(), 4);
    assert_eq!(done(15, false)[3], "     … 12 more lines · ctrl+o");
    assert_eq!(done(15, true).len(), 15);
    let phase = CompactionPhase::Running { since: ago(100) };
    let live = rows(&compaction(None, &lines(15), phase), 60, false);
    assert_eq!(live[1..], ["     - point 14", "     - point 15▍"]);
    let phase = CompactionPhase::Running { since: ago(100) };
    assert_eq!(rows(&compaction(None, "", phase), 60, false).len(), 1);
}

#[test]
fn without_motion_a_compaction_holds_still_but_for_its_time() {
    let theme = Theme::quiet_dark();
    let still = look(&theme);
    let item = compaction(None, SUMMARY, CompactionPhase::Running { since: ago(6200) });
    let row = |millis: u64, motion: bool| {
        let look = Look { now: still.now + Duration::from_millis(millis), motion, ..still };
        let cx = EntryCx { look: &look, width: 60, open: false };
        let mut next = NextDeadline::default();
        let layout = lay_out(&item, &cx);
        let rows: Vec<Row> = layout.moving.iter().map(|(_, moving)| moving.row(&cx, &mut next)).collect();
        (rows, next)
    };
    let (first, next) = row(0, false);
    assert_eq!((first, next.animation), (row(500, false).0, None));
    let (first, next) = row(0, true);
    assert_ne!(first[0], row(500, true).0[0]);
    assert!(next.animation.is_some());
    // What is new shines, and then it does not.
    assert_eq!((row(0, true).0.len(), row(800, true).0.len()), (3, 1));
}

#[test]
fn what_other_tools_gave() {
    let under = |item: &Item, open: bool| rows(item, 70, open).split_off(1);
    let facts = json!({"status": "open", "number": 12, "labels": ["ui"]}).to_string();
    let item = done("mcp__tracker__get_issue", json!({"id": "12"}), &facts, json!({}), 12);
    assert_eq!(rows(&item, 70, false)[0].split("  ").next(), Some("● tracker · get_issue 12"));
    assert_eq!(under(&item, false), ["     status  open", "     number  12", "     labels  [\"ui\"]"]);
    let many: Map<String, Value> = (0..5).map(|n| (format!("k{n}"), json!(n))).collect();
    let item = done("x", json!({}), &Value::Object(many).to_string(), json!({}), 12);
    assert_eq!(under(&item, false).len(), 5, "one hidden line is shown");
    let item = done("x", json!({}), "[1, 2, 3, 4, 5, 6]", json!({}), 12);
    assert_eq!(under(&item, false)[3..], ["       3,", "     … 4 more lines · ctrl+o"]);
    assert_eq!(under(&item, true).len(), 8);
    // No JSON, or not all of it.
    let item = done("x", json!({}), "{not json}", json!({}), 12);
    assert_eq!(under(&item, false), ["     {not json}"]);
}

#[test]
fn hits_of_a_search() {
    let item = |count: usize, details: Value| {
        done(
            "web_search",
            json!({"query": "rust tui", "site": "docs.rs"}),
            &json!({ "results": hits(count) }).to_string(),
            details,
            12,
        )
    };
    let band = |item: &Item| rows(item, 90, false).remove(0);
    let all = rows(&item(8, json!({"partial": true})), 90, false);
    assert!(all[0].starts_with("● web_search rust tui site:docs.rs, 8 results, partial  "), "{}", all[0]);
    assert_eq!(all[1], "     1. Page 1  example1.org");
    assert_eq!(all[4..], ["     … 5 more results · ctrl+o"]);
    assert_eq!(rows(&item(4, json!({})), 90, false).len(), 5, "a fourth in place of the hint");
    assert!(band(&item(1, json!({"cached": true}))).contains(", 1 result, cached  "));
    let none = done("web_search", json!({"query": "x"}), "Nothing.", json!({"results": []}), 12);
    assert!(band(&none).starts_with("● web_search x, no results  "), "{}", band(&none));
    assert_eq!(rows(&none, 90, false).len(), 1);
    let open = rows(&item(2, json!({})), 90, true);
    assert_eq!(
        open[1..],
        [
            "     1. Page 1  example1.org",
            "        It says.",
            "     2. Page 2  example2.org",
            "        It says."
        ]
    );
    let theme = Theme::quiet_dark();
    let look = look(&theme);
    let layout = lay_out(&item(2, json!({})), &EntryCx { look: &look, width: 90, open: false });
    assert_eq!(layout.rows[1].links[0].url.as_ref(), "https://www.example1.org/a");
}

#[test]
fn other_tools_may_do_without_a_band() {
    let theme = Theme::quiet_dark();
    let mut look = look(&theme);
    look.display.other_tools = false;
    let grounds = |item: &Item| {
        let layout = lay_out(item, &EntryCx { look: &look, width: 60, open: false });
        layout
            .rows
            .iter()
            .filter(|row| row.ground.is_some() || row.spans.iter().any(|span| span.style.bg.is_some()))
            .count()
    };
    let item = done("fetch", json!({"url": "https://a.b"}), &numbered(9), json!({}), 12);
    assert_eq!(grounds(&item), 0);
    assert!(grounds(&done("bash", json!({"command": "x"}), "y", json!({}), 12)) > 0);
    let going = running("fetch", json!({"url": "https://a.b"}), "", 0, 3100);
    let layout = lay_out(&going, &EntryCx { look: &look, width: 60, open: false });
    assert!(layout.rows[0].drawn().trim_end().ends_with("3.1s"));
    assert_eq!((grounds(&going), layout.moving.len()), (0, 1));
}

#[test]
fn a_file_that_was_there_shows_what_is_new_in_it() {
    let details = json!({ "patch": PATCH });
    let item = done("write", json!({"path": "src/lexer.rs", "content": numbered(6)}), "Done.", details, 12);
    let closed = rows(&item, 70, false);
    assert!(closed[0].starts_with("● write src/lexer.rs · 6 lines · +2 −1  "), "{}", closed[0]);
    assert_eq!(closed[4], "     line 6");
    assert!(rows(&item, 70, true)[2].starts_with("     42 - "), "{:?}", rows(&item, 70, true));
}
