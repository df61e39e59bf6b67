//! The search in the transcript, key by key.

use crate::app::msg::Msg;
use crate::app::stage::{Stage, command_ask, opened, reply, running, sent, view};
use crate::proto::command::{CancelReason, Command};
use crate::proto::event::AgentEvent;
use crate::proto::ids::CallId;
use crate::proto::message::{Block, Message, UserMessage};
use crate::proto::tool::ToolOutput;
use crate::term::input::Input;
use crate::ui::layers::Layer;
use crate::ui::target::Target;
use crossterm::event::MouseEventKind;
use serde_json::{Map, Value};
use std::sync::Arc;

pub fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::User(UserMessage { content: vec![Block::text(text)], timestamp: 0 }))
}

/// Prompts with replies of thirty lines, on the screen.
pub fn long() -> Stage {
    let mut stage = Stage::started();
    let mut opened = opened(view());
    for turn in 0..4 {
        let lines: String = (0..30).map(|line| format!("turn {turn} line {line}\n\n")).collect();
        opened.history.extend([user(&format!("prompt {turn}")), reply(&lines)]);
    }
    stage.opened(opened);
    stage.draw();
    stage
}

/// The row of the screen in which the bar is.
fn bar(stage: &mut Stage) -> String {
    let screen = stage.screen();
    screen.lines().find(|row| row.starts_with(" search ")).unwrap_or_default().to_owned()
}

fn is_on(stage: &Stage) -> bool {
    stage.state.pane.searched().is_some()
}

#[test]
fn typing_finds_at_once_and_keys_walk() {
    let mut stage = long();
    for key in ["f3", "ctrl+f"] {
        assert_eq!(stage.keys(&[key]), []);
        assert!(matches!(stage.state.layers.as_slice(), [Layer::Search(_)]), "{key}");
        stage.key("esc");
        assert!(stage.state.layers.is_empty() && !is_on(&stage));
    }
    stage.key("f3");
    stage.type_text("TURN 2 line");
    assert!(bar(&mut stage).contains("none"), "{}", bar(&mut stage));
    stage.keys(&["ctrl+u"]);
    stage.type_text("turn 2 line");
    // From the end the last one before it is the first.
    stage.draw();
    assert!(bar(&mut stage).contains("30/30"), "{}", bar(&mut stage));
    assert!(stage.screen().contains("turn 2 line 29"));
    stage.keys(&["up", "shift+f3", "shift+enter"]);
    assert!(bar(&mut stage).contains("27/30"), "{}", bar(&mut stage));
    stage.keys(&["down", "f3", "f3"]);
    assert!(bar(&mut stage).contains("30/30"));
    assert_eq!(stage.toast(), "");
    stage.key("down");
    assert!(bar(&mut stage).contains("1/30"));
    assert_eq!(stage.toast(), "The search goes on from the beginning.");
    assert_eq!(stage.written(), "");
}

#[test]
fn a_match_that_is_accepted_has_the_row_focus() {
    let mut stage = long();
    stage.key("f3");
    stage.type_text("line 7");
    stage.draw();
    stage.key("enter");
    assert!(stage.state.layers.is_empty() && is_on(&stage));
    let focused = stage.state.pane.focused();
    assert!(focused.is_some());
    let screen = stage.screen();
    assert!(screen.contains("match 4/4 · n next"), "{screen}");
    stage.key("n");
    // That it went round is told there first.
    stage.wait(7_000);
    assert!(stage.screen().contains("match 1/4"));
    assert_ne!(stage.state.pane.focused(), focused);
    stage.keys(&["shift+n", "shift+f3"]);
    stage.wait(7_000);
    assert!(stage.screen().contains("match 3/4"));
    // The search is edited again, and goes on from what is read.
    stage.key("/");
    assert!(bar(&mut stage).contains("line 7"));
    stage.keys(&["backspace"]);
    stage.type_text("8");
    assert!(bar(&mut stage).contains("3/4") && bar(&mut stage).contains("line 8"), "{}", bar(&mut stage));
    // Esc ends the search and leaves the view.
    let place = stage.state.pane.shown().to_vec();
    stage.key("esc");
    stage.draw();
    assert!(!is_on(&stage));
    assert_eq!(stage.state.pane.shown()[0], place[0]);
}

#[test]
fn esc_ends_the_search_before_anything_else() {
    let mut stage = long();
    stage.change(|view, now| view.running = Some(running(now)));
    stage.key("f3");
    stage.type_text("line 7");
    stage.draw();
    stage.key("enter");
    assert_eq!(stage.keys(&["esc"]), []);
    assert!(!is_on(&stage) && stage.state.pane.focused().is_some());
    assert_eq!(stage.keys(&["esc"]), []);
    assert_eq!(stage.state.pane.focused(), None);
    assert_eq!(stage.keys(&["esc"]), sent(Command::Cancel { reason: CancelReason::Stop }));
    // Whoever writes is done with it.
    stage.key("f3");
    stage.type_text("line 7");
    stage.draw();
    stage.key("enter");
    stage.type_text("x");
    assert!(!is_on(&stage));
    assert_eq!(stage.written(), "x");
}

#[test]
fn regular_expressions_are_switched_on_and_mistakes_told() {
    let mut stage = long();
    stage.key("f3");
    stage.type_text("line 2[89]$");
    assert!(bar(&mut stage).contains("none"));
    stage.key("alt+r");
    stage.draw();
    assert!(bar(&mut stage).contains("7/8"), "{}", bar(&mut stage));
    stage.type_text("(");
    assert!(bar(&mut stage).contains("unclosed group"), "{}", bar(&mut stage));
    stage.keys(&["enter"]);
    assert!(stage.state.layers.is_empty() && !is_on(&stage));
}

/// A call whose output is longer than a closed row shows.
fn with_call() -> Stage {
    let mut stage = long();
    let (call, tool) = (CallId::new("c1"), "bash".to_owned());
    let Value::Object(arguments) = serde_json::json!({"command": "make"}) else { return stage };
    stage.event(AgentEvent::ToolStarted {
        call: call.clone(),
        tool: tool.clone(),
        arguments,
        limit_ms: None,
    });
    let output: String = (0..40).map(|line| format!("out {line}\n")).collect();
    let output = Arc::new(ToolOutput::text(output.as_str()));
    stage.event(AgentEvent::ToolFinished { call, tool, output, duration_ms: Some(1) });
    stage.draw();
    stage
}

#[test]
fn what_hides_a_match_opens_for_it_and_folds_again() {
    let mut stage = with_call();
    assert!(!stage.screen().contains("out 3\n") && stage.screen().contains("out 39"));
    stage.key("f3");
    stage.type_text("out 3");
    stage.draw();
    // The end is followed, so the first one from the top of the window is the first of all.
    assert!(bar(&mut stage).contains("1/11"), "{}", bar(&mut stage));
    assert!(
        stage.screen().lines().any(|row| row.trim_end_matches(['▐', '▕', '━', ' ']).ends_with("out 3")),
        "{}",
        stage.screen()
    );
    stage.keys(&["ctrl+u"]);
    stage.type_text("turn 3 line 2");
    stage.draw();
    stage.state.pane.to_end();
    let screen = stage.screen();
    assert!(screen.contains("36 earlier lines"), "{screen}");
    // What was opened for the match that is read stays when the search ends.
    stage.keys(&["ctrl+u"]);
    stage.type_text("out 7");
    stage.draw();
    stage.key("esc");
    assert!(stage.screen().contains("out 7"));
}

#[test]
fn what_comes_meanwhile_is_found() {
    let mut stage = long();
    stage.key("f3");
    stage.type_text("needle");
    assert!(bar(&mut stage).contains("none"));
    let (call, tool) = (CallId::new("c1"), "bash".to_owned());
    stage.event(AgentEvent::ToolStarted { call: call.clone(), tool, arguments: Map::new(), limit_ms: None });
    stage.event(AgentEvent::ToolProgress { call, delta: "a needle\n".to_owned() });
    stage.draw();
    assert!(bar(&mut stage).contains(" 1 "), "{}", bar(&mut stage));
    stage.key("down");
    assert!(bar(&mut stage).contains("1/1"));
}

#[test]
fn a_question_comes_below_the_bar() {
    let mut stage = long();
    stage.key("f3");
    stage.type_text("line ");
    stage.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
    stage.wait(5_000);
    stage.type_text("y");
    assert!(matches!(stage.state.layers.as_slice(), [Layer::Permission(_), Layer::Search(_)]));
    let screen = stage.screen();
    assert!(screen.contains("Run this command?") && screen.contains("line y"), "{screen}");
    assert_eq!(stage.keys(&["esc"]), []);
    assert!(matches!(stage.state.layers.as_slice(), [Layer::Permission(_)]));
}

#[test]
fn the_transcript_is_read_under_the_bar() {
    let mut stage = long();
    stage.key("f3");
    stage.tell(Msg::Input(Input::Paste("line 3\n".to_owned())));
    stage.draw();
    assert!(bar(&mut stage).contains("line 3"));
    let before = stage.state.pane.shown()[0];
    for _ in 0..3 {
        stage.mouse(MouseEventKind::ScrollUp, 5, 5);
    }
    stage.keys(&["pageup"]);
    stage.draw();
    assert!(stage.state.pane.shown()[0] != before && is_on(&stage));
    // Keys of the prompt do nothing to it.
    stage.keys(&["ctrl+_", "tab", "alt+enter", "ctrl+enter", "ctrl+g"]);
    assert_eq!(stage.written(), "");
    assert!(matches!(stage.state.layers.as_slice(), [Layer::Search(_)]));
}

#[test]
fn the_heading_and_the_bar_take_clicks() {
    let mut stage = long();
    assert!(stage.screen().starts_with("❯ prompt 3"));
    assert_eq!(stage.click(&Target::Heading), []);
    let screen = stage.screen();
    assert!(screen.starts_with("❯ prompt 3") && !screen.contains("line 29"), "{screen}");
    assert_eq!(stage.state.scene.hits.areas_of(&Target::Heading).next(), None);
    // A click above the thumb turns a page.
    let before = stage.state.pane.shown()[0].entry;
    assert_eq!(stage.click(&Target::Scrollbar), []);
    stage.draw();
    assert!(stage.state.pane.shown()[0].entry < before);
}

#[test]
fn in_a_row_the_way_out_is_told_at_every_width_and_no_hint_is_cut() {
    let mut stage = long();
    let told = |stage: &mut Stage, out: &str| {
        for columns in [60, 80, 100, 200] {
            stage.state.size = (columns, 24);
            stage.state.toast = None;
            let screen = stage.screen();
            let row = screen.lines().find(|row| row.contains(out)).expect(&screen);
            assert!(!row.contains('…'), "{columns}: {row}");
            assert!(columns < 200 || row.matches('·').count() >= 3, "{row}");
        }
    };
    stage.key("ctrl+up");
    told(&mut stage, "esc back to writing");
    stage.key("shift+right");
    told(&mut stage, "esc clears");
    stage.keys(&["esc", "esc", "f3"]);
    stage.draw();
    stage.type_text("turn 2");
    stage.draw();
    stage.key("enter");
    stage.draw();
    told(&mut stage, "esc ends the search");
}
