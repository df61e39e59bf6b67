//! The sheet over the screen: opened, read, copied from and closed with keys and with the mouse.

use crate::app::effect::Effect;
use crate::app::msg::Done;
use crate::app::stage::{Stage, command_ask};
use crate::proto::chain::{Chain, Step, StepState};
use crate::proto::event::AgentEvent;
use crate::proto::ids::{CallId, TicketId, TurnId};
use crate::proto::tool::ToolOutput;
use crate::term::clipboard::{Copied, Multiplexer};
use crate::ui::layers::Layer;
use crate::ui::layers::sheet::SheetPart;
use crate::ui::target::Target;
use crossterm::event::{MouseButton, MouseEventKind};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

const PRESS: MouseEventKind = MouseEventKind::Down(MouseButton::Left);
const DRAG: MouseEventKind = MouseEventKind::Drag(MouseButton::Left);
const RELEASE: MouseEventKind = MouseEventKind::Up(MouseButton::Left);

const PATCH: &str = "--- src/a.rs\n+++ src/a.rs\n@@ -8,3 +8,4 @@\n fn main() {\n-    let one = 1;\n+    let one = 10;\n+    let two = 2;\n }\n";

impl Stage {
    fn started_call(&mut self, tool: &str, arguments: Value) -> CallId {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let call = CallId::new(format!("call-{}", self.state.conversation.len()));
        let started = AgentEvent::ToolStarted {
            call: call.clone(),
            tool: tool.to_owned(),
            arguments,
            limit_ms: (tool == "bash").then_some(120_000),
        };
        self.event(started);
        call
    }

    fn ended_call(&mut self, tool: &str, arguments: Value, output: ToolOutput) {
        let call = self.started_call(tool, arguments);
        self.wait(4_100);
        let finished = AgentEvent::ToolFinished {
            call,
            tool: tool.to_owned(),
            output: Arc::new(output),
            duration_ms: Some(4_100),
        };
        self.event(finished);
    }

    /// Clicks the head of the row that shows this.
    fn click_on(&mut self, text: &str) -> Vec<Effect> {
        let (x, y) = self.cell(text);
        self.press_and_release(x, y)
    }

    fn press_and_release(&mut self, x: u16, y: u16) -> Vec<Effect> {
        let mut effects = self.mouse(PRESS, x, y).effects;
        effects.extend(self.mouse(RELEASE, x, y).effects);
        effects
    }

    fn has_sheet(&self) -> bool {
        self.state.layers.iter().any(|layer| matches!(layer, Layer::Sheet(_)))
    }

    fn grown(&mut self, call: &CallId, text: &str) {
        self.event(AgentEvent::ToolProgress { call: call.clone(), delta: text.to_owned() });
    }
}

fn begun() -> Stage {
    let mut stage = Stage::running();
    stage.event(AgentEvent::TurnStarted { turn: TurnId(1), ticket: TicketId(1) });
    stage
}

/// A command with so many lines of output, in its sheet.
fn opened(lines: usize) -> Stage {
    let mut stage = begun();
    let text: String = (1..=lines).map(|line| format!("output {line}\n")).collect();
    stage.ended_call("bash", json!({"command": "cargo test"}), ToolOutput::text(text));
    stage.click_on("cargo test");
    stage.draw();
    assert!(stage.has_sheet());
    stage
}

fn copy(text: &str) -> Vec<Effect> {
    vec![Effect::Copy(text.to_owned())]
}

#[test]
fn a_click_or_enter_opens_it_and_keys_close_it() {
    for key in ["esc", "q", "ctrl+c"] {
        let mut stage = opened(3);
        let screen = stage.screen();
        assert!(screen.contains("copy command   copy output"), "{screen}");
        assert!(screen.contains("in ~/src/tool · timeout 120s · started 14:02:06"), "{screen}");
        assert!(screen.contains("3 lines"), "{screen}");
        assert_eq!(stage.keys(&[key]), [], "{key}");
        assert!(!stage.has_sheet(), "{key}");
        // What runs goes on: the key was for the sheet alone.
        stage.keys(&["ctrl+up", "enter"]);
        assert!(stage.has_sheet());
    }
    // In place it opens as ever.
    let mut stage = opened(3);
    stage.keys(&["esc", "ctrl+up", "space"]);
    assert!(!stage.has_sheet());
}

#[test]
fn the_close_mark_is_three_columns_wide() {
    for dx in 0..3 {
        let mut stage = opened(3);
        let x = stage.state.size.0 - 3 + dx;
        stage.wait(1000);
        stage.press_and_release(x, 0);
        assert!(!stage.has_sheet(), "{dx}");
    }
    let mut stage = opened(3);
    stage.wait(1000);
    stage.press_and_release(stage.state.size.0 - 4, 0);
    assert!(stage.has_sheet());
}

#[test]
fn the_second_press_of_a_double_click_does_nothing_in_it() {
    let mut stage = begun();
    // Wherever the row was, the sheet has a word there, and two presses would copy it.
    for _ in 0..12 {
        stage.ended_call("read", json!({"path": "a.rs"}), ToolOutput::text("x"));
    }
    let text = "word ".repeat(20) + "\n";
    stage.ended_call("bash", json!({"command": "true"}), ToolOutput::text(text.repeat(60)));
    let (x, y) = stage.cell("true");
    assert!(y > 8, "below the head");
    stage.press_and_release(x, y);
    stage.draw();
    stage.wait(100);
    assert_eq!(stage.press_and_release(x, y), []);
    assert!(stage.has_sheet());
}

#[test]
fn scrolling_follows_the_end_until_one_leaves_it() {
    let mut stage = opened(200);
    let range = |stage: &mut Stage| {
        let screen = stage.screen();
        let line = screen.lines().find(|line| line.contains(" of 200")).expect("the rule").to_owned();
        let right = line.rsplit_once("─ ").map(|(_, right)| right.to_owned());
        let cut = line.trim_end_matches(" ─").rsplit("─ ").next().map(str::to_owned);
        cut.or(right).unwrap_or_default()
    };
    let table: [(&[&str], &str); 12] = [
        (&[], "176–200 of 200 · following"),
        (&["up"], "175–199 of 200"),
        (&["j"], "176–200 of 200 · following"),
        (&["home"], "1–25 of 200"),
        (&["pagedown"], "25–49 of 200"),
        (&["space"], "49–73 of 200"),
        (&["b"], "25–49 of 200"),
        (&["g"], "1–25 of 200"),
        (&["k"], "1–25 of 200"),
        (&["shift+g"], "176–200 of 200 · following"),
        (&["f"], "176–200 of 200"),
        (&["g", "f"], "176–200 of 200 · following"),
    ];
    for (keys, expected) in table {
        stage.keys(keys);
        assert_eq!(range(&mut stage), expected, "{keys:?}");
    }
    stage.mouse(MouseEventKind::ScrollUp, 10, 10);
    assert!(!range(&mut stage).contains("following"));
}

#[test]
fn what_runs_stays_live_in_it() {
    let mut stage = begun();
    let call = stage.started_call("bash", json!({"command": "make"}));
    stage.click_on("make");
    assert!(stage.screen().contains("Nothing yet."));
    assert_eq!(stage.keys(&["o"]), []);
    assert!(stage.screen().contains("Nothing to copy yet."));
    let text: String = (1..=100).map(|line| format!("step {line}\n")).collect();
    stage.grown(&call, &text);
    let screen = stage.screen();
    assert!(screen.contains("step 100") && screen.contains("following"), "{screen}");
    // Who reads above is not moved.
    stage.keys(&["home"]);
    let before = stage.screen();
    assert!(before.contains("step 1\n"), "{before}");
    stage.grown(&call, "one more\n");
    assert!(stage.screen().contains("1–25 of 101"));
    // Between two frames a copy has all of it.
    stage.grown(&call, "and more  \n");
    assert_eq!(stage.keys(&["o"]), copy(&format!("{text}one more\nand more")));
    // It ends where it began to be read.
    stage.wait(4_000);
    assert!(!stage.screen().contains("Nothing to copy yet."));
}

#[test]
fn copies_are_what_was_written() {
    let body = "tab\there  \n\u{4f60}\u{597d} wide\n\n   indented\u{a0}\n";
    let mut stage = begun();
    let command = "printf 'a\\tb' &&\n  echo done  ";
    let long = "x".repeat(300);
    stage.ended_call("bash", json!({"command": command}), ToolOutput::text(format!("{body}{long}\n")));
    stage.click_on("printf");
    stage.draw();
    assert_eq!(stage.keys(&["c"]), copy("printf 'a\\tb' &&\n  echo done"));
    let whole = format!("tab\there\n\u{4f60}\u{597d} wide\n\n   indented\u{a0}\n{long}");
    assert_eq!(stage.keys(&["o"]), copy(&whole));
    // The button says so in its place, for a moment.
    let (x, y) = stage.cell("copy output");
    assert_eq!(stage.press_and_release(x, y), copy(&whole));
    stage.done(Done::Copied(Copied::Confirmed));
    let title = |stage: &mut Stage| stage.screen().lines().next().unwrap_or_default().to_owned();
    let said = title(&mut stage);
    assert!(said.contains("copy command      ✓ copied    ✕"), "{said}");
    stage.wait(1_499);
    assert_eq!(title(&mut stage), said);
    stage.wait(1);
    assert!(title(&mut stage).contains("copy command   copy output    ✕"));
    // What is not confirmed is not called a copy, and a failure is told.
    stage.keys(&["c"]);
    stage.done(Done::Copied(Copied::Sent(Multiplexer::None)));
    assert!(title(&mut stage).contains("✓ sent   copy output"));
    stage.keys(&["c"]);
    stage.done(Done::Copied(Copied::Failed("no clipboard".to_owned())));
    assert!(stage.screen().contains("Not copied: no clipboard"));
    stage.wait(4_000);
    assert!(stage.screen().contains("esc close"));
}

#[test]
fn five_thousand_lines_are_copied_whole() {
    let mut stage = begun();
    let text: String = (0..5000).map(|line| format!("{line}\tvalue\n")).collect();
    stage.ended_call("bash", json!({"command": "seq"}), ToolOutput::text(text.clone()));
    stage.click_on("seq");
    stage.draw();
    assert_eq!(stage.keys(&["o"]), copy(text.trim_end()));
}

#[test]
fn a_drag_takes_the_text_without_its_wraps() {
    let mut stage = begun();
    let long = format!("begin {} end", "word ".repeat(40));
    stage.ended_call("bash", json!({"command": "cat"}), ToolOutput::text(format!("{long}\nnext line\n")));
    stage.click_on("cat");
    stage.wait(1000);
    let (x, y) = stage.cell("begin");
    stage.mouse(PRESS, x, y);
    let (to_x, to_y) = stage.cell("next line");
    stage.mouse(DRAG, to_x + 3, to_y);
    stage.draw();
    let released = stage.mouse(RELEASE, to_x + 3, to_y).effects;
    assert_eq!(released, [Effect::CopySelection(format!("{long}\nnext"))]);
    // A double press takes a word, a third one the line.
    stage.wait(1000);
    let (x, y) = stage.cell("next");
    assert_eq!(stage.press_and_release(x, y), []);
    assert_eq!(stage.press_and_release(x, y), [Effect::CopySelection("next".to_owned())]);
    assert_eq!(stage.press_and_release(x, y), [Effect::CopySelection("next line".to_owned())]);
    // The first Esc takes the selection away.
    stage.key("esc");
    assert!(stage.has_sheet());
}

#[test]
fn a_drag_beyond_an_edge_scrolls_on_while_it_is_held() {
    let mut stage = opened(200);
    stage.wait(1000);
    stage.key("home");
    stage.draw();
    let (x, y) = stage.cell("output 3");
    stage.mouse(PRESS, x, y);
    let below = stage.state.size.1 - 1;
    stage.mouse(DRAG, x + 8, below);
    let first = |stage: &mut Stage| {
        let screen = stage.screen();
        let line = screen.lines().find(|line| line.contains(" of 200")).expect("the rule").to_owned();
        let range =
            line.split_once("–").map(|(before, _)| before.rsplit(' ').next().unwrap_or("").to_owned());
        range.and_then(|first| first.parse::<usize>().ok()).expect("a number")
    };
    // No other event comes: the frames do it, and ask for the next one.
    let mut before = first(&mut stage);
    for _ in 0..5 {
        stage.wait(50);
        let now = first(&mut stage);
        assert_eq!(now, before + 1);
        assert_eq!(first(&mut stage), now, "not with each frame");
        before = now;
    }
    let released = stage.mouse(RELEASE, x + 8, below).effects;
    let last = before + 24;
    let text: String = (3..=last).map(|line| format!("output {line}\n")).collect();
    let [Effect::CopySelection(copied)] = &released[..] else { panic!("{released:?}") };
    assert!(text.starts_with(copied.as_str()) && copied.lines().count() >= last - 3, "{copied}");
    stage.wait(500);
    assert_eq!(first(&mut stage), before, "it was let go");
    // At the end there is nothing more to ask for.
    stage.key("shift+g");
    let (x, y) = stage.cell("output 190");
    stage.mouse(PRESS, x, y);
    stage.mouse(DRAG, x, below);
    stage.draw();
    stage.wait(100);
    stage.draw();
    let next = stage.state.scene.next_deadline;
    assert_eq!(next, crate::ui::scene::NextDeadline::default());
}

#[test]
fn the_page_under_it_is_not_drawn() {
    let mut stage = opened(3);
    assert_eq!(stage.state.scene.hits.areas_of(&Target::Transcript).count(), 0);
    stage.key("esc");
    stage.draw();
    assert_ne!(stage.state.scene.hits.areas_of(&Target::Transcript).count(), 0);
}

#[test]
fn each_side_of_a_change_is_searched_and_selected() {
    let mut stage = begun();
    stage.state.size = (140, 30);
    let output = ToolOutput::text("Successfully replaced.").with_details(json!({ "patch": PATCH }));
    stage.ended_call("edit", json!({"path": "src/a.rs"}), output);
    stage.click_on("edit");
    stage.draw();
    stage.wait(1000);
    // What is gone is found, and what stayed on both sides.
    for (text, count) in [("one = 1;", "1/1"), ("two", "1/1"), ("fn main", "1/2")] {
        stage.key("/");
        stage.type_text(text);
        let screen = stage.screen();
        assert!(screen.contains(count), "{text}\n{screen}");
        stage.key("esc");
    }
    let (x, y) = stage.cell("let one = 1;");
    let right = stage.cell("let one = 10;").0;
    stage.mouse(PRESS, x, y);
    // The pointer goes over to the other side, the selection does not.
    stage.mouse(DRAG, right + 20, y);
    stage.draw();
    let released = stage.mouse(RELEASE, right + 20, y).effects;
    assert_eq!(released, [Effect::CopySelection("let one = 1;".to_owned())]);
    stage.wait(1000);
    stage.mouse(PRESS, right, y);
    let released = stage.mouse(RELEASE, right + 6, y).effects;
    assert_eq!(released, [Effect::CopySelection("let one".to_owned())]);
    // Unified there is one text, in which nothing is selected yet.
    stage.keys(&["d", "/"]);
    stage.type_text("fn main");
    assert!(stage.screen().contains("1/1"));
}

#[test]
fn the_bar_is_taken_by_its_thumb_or_its_track() {
    let mut stage = opened(400);
    stage.wait(1000);
    stage.key("home");
    stage.draw();
    let bar = |stage: &Stage| {
        stage.state.scene.hits.areas_of(&Target::Sheet(SheetPart::Scrollbar)).next().expect("a bar")
    };
    let area = bar(&stage);
    // A press on the track takes the thumb's middle.
    stage.mouse(PRESS, area.x, area.bottom() - 1);
    assert!(stage.screen().contains("376–400 of 400 · following"));
    stage.mouse(DRAG, 3, area.y);
    assert!(stage.screen().contains("1–25 of 400"));
    stage.mouse(RELEASE, 3, area.y);
    stage.mouse(DRAG, 3, area.bottom());
    assert!(stage.screen().contains("1–25 of 400"), "it was let go");
}

#[test]
fn the_search_finds_walks_and_ends_before_the_sheet_does() {
    let mut stage = opened(200);
    stage.key("/");
    stage.type_text("output 15");
    let screen = stage.screen();
    assert!(screen.contains("1/11"), "{screen}");
    assert!(screen.contains("\n output 15\n") || screen.contains("output 15 "), "{screen}");
    stage.key("enter");
    for (key, expected) in
        [("n", "2/11"), ("n", "3/11"), ("shift+n", "2/11"), ("shift+n", "1/11"), ("shift+n", "11/11")]
    {
        stage.key(key);
        let screen = stage.screen();
        assert!(screen.contains(&format!("match {expected}")), "{key} {expected}\n{screen}");
    }
    assert!(stage.screen().contains("output 159"));
    stage.key("esc");
    assert!(stage.has_sheet() && !stage.screen().contains("match"));
    // Letters that mean something are typed while one types.
    stage.key("/");
    stage.type_text("qocf");
    assert!(stage.has_sheet() && stage.screen().contains("none"));
    stage.keys(&["esc", "esc"]);
    assert!(!stage.has_sheet());
}

#[test]
fn a_search_goes_on_in_what_comes() {
    let mut stage = begun();
    let call = stage.started_call("bash", json!({"command": "make"}));
    stage.grown(&call, "error one\nfine\n");
    stage.click_on("make");
    stage.draw();
    stage.key("/");
    stage.type_text("error");
    assert!(stage.screen().contains("1/1"));
    stage.grown(&call, "error two\n");
    assert!(stage.screen().contains("1/2"));
}

fn chain(states: &[(StepState, &str)]) -> Arc<Chain> {
    let steps = states.iter().enumerate().map(|(at, (state, output))| Step {
        text: format!("task {}", at + 1),
        state: *state,
        exit: (*state == StepState::Failed).then_some(101),
        took_ms: (*state != StepState::Waiting).then_some(1_500),
        output: (*output).to_owned(),
        ..Step::default()
    });
    Arc::new(Chain { location: None, steps: steps.collect() })
}

/// A command of three steps of which the second failed.
fn stepped() -> Stage {
    let mut stage = begun();
    let call = stage.started_call("bash", json!({"command": "task 1 && task 2 && task 3"}));
    let chain = chain(&[
        (StepState::Ok, "first out\n"),
        (StepState::Failed, "second out\n"),
        (StepState::Skipped, ""),
    ]);
    stage.event(AgentEvent::ToolSteps { call, chain });
    stage.click_on("task 1");
    stage.draw();
    stage
}

#[test]
fn steps_are_picked_by_number_arrows_and_clicks() {
    let mut stage = stepped();
    let screen = stage.screen();
    assert!(screen.contains("bash · 3 commands"), "{screen}");
    assert!(screen.contains("output of 2 · task 2"), "{screen}");
    assert!(screen.contains("exit 101  1.5s"), "{screen}");
    let table =
        [("1", 1), ("tab", 2), ("right", 3), ("tab", 1), ("left", 3), ("shift+tab", 2), ("9", 2), ("3", 3)];
    for (key, step) in table {
        stage.key(key);
        let screen = stage.screen();
        assert!(screen.contains(&format!("output of {step} · task {step}")), "{key}\n{screen}");
    }
    stage.key("1");
    stage.draw();
    assert_eq!(stage.keys(&["o"]), copy("first out"));
    stage.click(&Target::Sheet(SheetPart::Step(1)));
    stage.draw();
    assert_eq!(stage.keys(&["o"]), copy("second out"));
}

#[test]
fn a_step_looks_in_it_as_it_does_in_its_row() {
    let mut stage = begun();
    let call = stage.started_call("bash", json!({"command": "task 1 && task 2 && task 3"}));
    let mut steps =
        Chain::clone(&chain(&[(StepState::Ok, "out\n"), (StepState::Running, ""), (StepState::Waiting, "")]));
    steps.steps[1].started_ms = Some(1_500);
    steps.steps[1].took_ms = None;
    stage.event(AgentEvent::ToolSteps { call: call.clone(), chain: Arc::new(steps) });
    stage.click_on("task 1");
    stage.wait(4_200);
    // The number of what runs breathes, its time runs, and the band fills.
    let ground = |stage: &mut Stage| {
        let (_, y) = stage.cell(" 2  task 2");
        stage.draw().0[(2, y)].bg
    };
    let before = ground(&mut stage);
    assert!(stage.screen().contains("2.7s"), "{}", stage.screen());
    assert!(stage.state.scene.next_deadline != crate::ui::scene::NextDeadline::default());
    stage.wait(400);
    assert_ne!(ground(&mut stage), before);
    // What was stopped is called what its row calls it.
    let output = ToolOutput { is_error: true, ..ToolOutput::text("out\n\nCommand aborted") };
    let (tool, output) = ("bash".to_owned(), Arc::new(output));
    stage.event(AgentEvent::ToolFinished { call, tool, output, duration_ms: Some(4_600) });
    let screen = stage.screen();
    assert_eq!((screen.matches("stopped").count(), screen.matches("aborted").count()), (2, 0), "{screen}");
    assert!(screen.contains("skipped"), "{screen}");
}

#[test]
fn what_goes_from_the_begin_of_a_step_moves_nobody() {
    let mut stage = begun();
    let call = stage.started_call("bash", json!({"command": "task 1 && task 2"}));
    let steps = chain(&[(StepState::Running, ""), (StepState::Waiting, "")]);
    stage.event(AgentEvent::ToolSteps { call: call.clone(), chain: steps });
    let lines =
        |from: usize, to: usize| -> String { (from..to).map(|line| format!("line {line:05}\n")).collect() };
    // 5,900 lines of 11 bytes are all that is kept.
    stage.grown(&call, &lines(0, 5_900));
    stage.click_on("task 1");
    stage.draw();
    stage.keys(&["pageup", "pageup"]);
    let first = |stage: &mut Stage| {
        let screen = stage.screen();
        let line = screen.lines().find(|line| line.contains("line 0")).expect("a line");
        line.trim().split("  ").next().map(str::to_owned)
    };
    let before = first(&mut stage);
    stage.grown(&call, &lines(5_900, 6_100));
    assert!(!stage.screen().contains("following"));
    assert_eq!(first(&mut stage), before);
}

#[test]
fn a_question_hides_it_and_it_comes_back() {
    let mut stage = opened(30);
    stage.event(AgentEvent::PermissionAsked(command_ask(1, "rm -rf build")));
    stage.wait(300);
    let screen = stage.screen();
    assert!(screen.contains("rm -rf build") && !screen.contains("copy output"), "{screen}");
    stage.key("y");
    assert!(stage.screen().contains("copy output"));
    assert!(stage.has_sheet());
}

#[test]
fn it_closes_when_its_row_is_gone() {
    let mut stage = opened(3);
    stage.state.conversation.clear();
    stage.draw();
    assert!(!stage.has_sheet());
}

#[test]
fn rows_before_and_after_are_a_key_away() {
    let mut stage = begun();
    for name in ["one", "two", "three"] {
        stage.ended_call("bash", json!({"command": format!("echo {name}")}), ToolOutput::text(name));
    }
    stage.click_on("echo two");
    for (key, expected) in [("shift+j", "three"), ("shift+k", "two"), ("alt+up", "one"), ("alt+down", "two")]
    {
        stage.key(key);
        assert!(stage.screen().contains(&format!("$ echo {expected}")), "{key}");
    }
    stage.keys(&["shift+k", "shift+k"]);
    assert!(stage.screen().contains("There is no row above that opens."));
}

#[test]
fn a_change_stands_side_by_side_where_there_is_room() {
    let mut stage = begun();
    let output = ToolOutput::text("Successfully replaced.").with_details(json!({ "patch": PATCH }));
    stage.ended_call("edit", json!({"path": "src/a.rs"}), output);
    stage.click_on("edit");
    assert!(!stage.screen().contains('│'));
    stage.key("d");
    assert!(stage.screen().contains('│'));
    stage.keys(&["d"]);
    assert!(!stage.screen().contains('│'));
    stage.keys(&["esc"]);
    stage.state.size = (140, 30);
    stage.wait(1000);
    stage.click_on("edit");
    let screen = stage.screen();
    assert!(screen.contains("let one = 1;") && screen.contains('│'), "{screen}");
    assert!(screen.contains("~/src/tool/src/a.rs"));
    assert_eq!(stage.keys(&["c"]), copy("src/a.rs"));
    assert_eq!(stage.keys(&["o"]), copy(PATCH));
}

#[test]
fn arguments_of_a_tool_that_is_not_known_stand_in_the_head() {
    let mut stage = begun();
    let arguments = json!({"place": "Berlin", "days": 3});
    stage.ended_call("weather", arguments.clone(), ToolOutput::text("rain"));
    stage.click_on("weather");
    let screen = stage.screen();
    assert!(screen.contains("place  Berlin") && screen.contains("days   3"), "{screen}");
    let Effect::Copy(text) = stage.keys(&["c"]).remove(0) else { panic!("a copy") };
    assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(arguments));
}

#[test]
fn the_file_with_all_of_the_output_can_be_copied_by_its_path() {
    let mut stage = begun();
    let details = json!({"fullOutputPath": "/tmp/out.log"});
    stage.ended_call("bash", json!({"command": "yes"}), ToolOutput::text("y\n").with_details(details));
    stage.click_on("yes");
    assert!(stage.screen().contains("all of it in /tmp/out.log"));
    assert_eq!(stage.keys(&["p"]), copy("/tmp/out.log"));
    let mut stage = opened(3);
    assert_eq!(stage.keys(&["p"]), []);
}

/// The text that is read keeps its place when the window gets another width.
#[test]
fn another_width_keeps_the_place() {
    let mut stage = begun();
    let text: String = (1..=200).map(|line| format!("{line} {}\n", "some words here ".repeat(8))).collect();
    stage.ended_call("bash", json!({"command": "cat log"}), ToolOutput::text(text));
    stage.click_on("cat log");
    stage.key("home");
    for _ in 0..10 {
        stage.draw();
        stage.key("pagedown");
    }
    let first = |stage: &mut Stage| {
        let screen = stage.screen();
        let rule = screen.lines().position(|line| line.contains(" of ")).expect("the rule");
        screen.lines().nth(rule + 1).unwrap_or_default().trim().chars().take(12).collect::<String>()
    };
    let before = first(&mut stage);
    for width in [180, 70, 100] {
        stage.state.size.0 = width;
        let now = first(&mut stage);
        let line = |text: &str| text.split(' ').next().and_then(|number| number.parse::<usize>().ok());
        if let (Some(before), Some(now)) = (line(&before), line(&now)) {
            assert!(before.abs_diff(now) <= 1, "{before} {now}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Every size is drawn, and nothing that can be clicked lies outside.
    #[test]
    fn any_size_is_drawn(
        width in 1_u16..200,
        height in 1_u16..60,
        which in 0_usize..3,
        keys in proptest::collection::vec(0_usize..12, 0..8),
    ) {
        let mut stage = match which {
            0 => opened(120),
            1 => stepped(),
            _ => {
                let mut stage = begun();
                let output = ToolOutput::text("Successfully replaced.").with_details(json!({ "patch": PATCH }));
                stage.ended_call("edit", json!({"path": "src/a.rs"}), output);
                stage.click_on("edit");
                stage
            }
        };
        stage.state.size = (width, height);
        stage.draw();
        let names = ["up", "down", "pageup", "space", "g", "shift+g", "f", "d", "/", "1", "tab", "enter"];
        for key in keys {
            stage.key(names[key]);
            stage.draw();
        }
        for part in [SheetPart::Close, SheetPart::Body, SheetPart::Scrollbar, SheetPart::Button(0), SheetPart::Step(0)] {
            for area in stage.state.scene.hits.areas_of(&Target::Sheet(part)) {
                prop_assert!(area.right() <= width && area.bottom() <= height, "{part:?} {area:?}");
            }
        }
        for (x, y) in [(0, 0), (width - 1, height - 1), (width / 2, height / 2)] {
            stage.mouse(PRESS, x, y);
            stage.mouse(DRAG, x.saturating_sub(3), y.saturating_sub(2));
            stage.mouse(RELEASE, x, y);
            stage.draw();
        }
    }
}
