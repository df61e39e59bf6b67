//! Questions for permission.

use crate::app::effect::Effect;
use crate::app::msg::Msg;
use crate::app::stage::{Stage, command_ask, opened, reply, sent, view};
use crate::proto::ask::{AskPreview, PermissionAnswer, PermissionAsk};
use crate::proto::command::{CancelReason, Command};
use crate::proto::event::AgentEvent;
use crate::proto::ids::AskId;
use crate::term::input::Input;
use crate::ui::layers::Layer;
use crate::ui::target::Target;
use std::sync::Arc;

fn asked() -> Stage {
    let mut stage = Stage::running();
    stage.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
    stage
}

fn answer(answer: PermissionAnswer) -> Vec<Effect> {
    sent(Command::AnswerPermission { ask: AskId(1), answer })
}

#[test]
fn answers_are_told_to_the_agent() {
    let rule = || "bash(cargo test *)".to_owned();
    let table: [(&[&str], PermissionAnswer); 9] = [
        (&["y"], PermissionAnswer::Once),
        (&["1"], PermissionAnswer::Once),
        (&["enter"], PermissionAnswer::Once),
        (&["s"], PermissionAnswer::Session { rule: rule() }),
        (&["3"], PermissionAnswer::Always { rule: rule() }),
        (&["right", "a"], PermissionAnswer::Always { rule: "bash(cargo *)".to_owned() }),
        (&["n"], PermissionAnswer::No),
        (&["esc"], PermissionAnswer::No),
        (&["down", "down", "down", "enter"], PermissionAnswer::No),
    ];
    for (keys, expected) in table {
        let mut stage = asked();
        stage.wait(250);
        assert_eq!(stage.keys(keys), answer(expected), "{keys:?}");
        assert!(stage.state.layers.is_empty());
    }
    let mut with_message = asked();
    with_message.wait(250);
    with_message.key("m");
    with_message.type_text("use just");
    let message = "use just".to_owned();
    assert_eq!(with_message.keys(&["enter"]), answer(PermissionAnswer::NoWith { message }));
}

#[test]
fn whoever_types_when_it_comes_goes_on_typing() {
    let mut stage = Stage::running();
    stage.type_text("sa");
    stage.wait(200);
    stage.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
    for c in "y any 1".chars() {
        stage.wait(250);
        assert_eq!(stage.type_text(&c.to_string()), [], "{c}");
    }
    assert_eq!(stage.written(), "say any 1");
    assert_eq!(stage.state.layers.len(), 1);
    // Esc would have been for something else: it stops nothing and answers nothing.
    assert_eq!(stage.keys(&["esc"]), []);
    stage.wait(300);
    assert_eq!(stage.keys(&["y"]), answer(PermissionAnswer::Once));
    assert_eq!(stage.written(), "say any 1");
}

#[test]
fn an_old_draft_is_no_typing() {
    let mut stage = Stage::running();
    stage.type_text("a draft");
    stage.wait(1_500);
    stage.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
    stage.wait(250);
    assert_eq!(stage.keys(&["y"]), answer(PermissionAnswer::Once));
    assert_eq!(stage.written(), "a draft");
}

#[test]
fn typing_is_known_also_when_the_view_tells_of_the_question_first() {
    let mut stage = Stage::running();
    stage.type_text("sa");
    stage.change(|view, _| view.ask = Some(Arc::new(command_ask(1, "cargo test"))));
    assert_eq!(stage.type_text("y"), []);
    assert_eq!(stage.written(), "say");
    stage.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
    assert_eq!(stage.state.layers.len(), 1);
}

#[test]
fn an_old_view_does_not_ask_again() {
    let mut stage = asked();
    stage.change(|view, _| view.ask = Some(Arc::new(command_ask(1, "cargo test"))));
    stage.wait(250);
    stage.key("y");
    stage.change(|_, _| {});
    assert!(stage.state.layers.is_empty());
    stage.event(AgentEvent::PermissionResolved { ask: AskId(1) });
    stage.event(AgentEvent::PermissionAsked(command_ask(2, "make")));
    assert_eq!(stage.state.layers.len(), 1);
}

#[test]
fn a_click_that_raised_the_window_does_not_answer() {
    let mut stage = asked();
    stage.wait(1_000);
    stage.tell(Msg::Input(Input::Focus(true)));
    stage.wait(100);
    assert_eq!(stage.click(&Target::Choice(0)), []);
    assert_eq!(stage.state.layers.len(), 1);
    stage.wait(100);
    assert_eq!(stage.click(&Target::Choice(0)), answer(PermissionAnswer::Once));
}

#[test]
fn a_click_on_its_way_to_something_else_does_not_answer() {
    let mut stage = asked();
    stage.wait(200);
    assert_eq!(stage.click(&Target::Choice(0)), []);
    stage.wait(100);
    assert_eq!(stage.click(&Target::Choice(3)), answer(PermissionAnswer::No));
}

#[test]
fn a_question_covers_nothing_of_what_was_said_last() {
    let lines: String = (0..900).map(|line| format!("+    let value_{line} = {line};\n")).collect();
    let patch = format!("--- a/big.rs\n+++ b/big.rs\n@@ -1,0 +1,900 @@\n{lines}");
    let huge = AskPreview::Change { path: "big.rs".to_owned(), patch };
    for size in [(60, 20), (80, 24), (100, 30), (160, 50)] {
        for preview in [AskPreview::Command("cargo test".to_owned()), huge.clone()] {
            let mut stage = Stage::started();
            stage.state.size = size;
            let mut opened = opened(view());
            let said: String = (0..80).map(|line| format!("line {line}\n\n")).collect();
            opened.history = vec![reply(&format!("{said}What was said last."))];
            stage.opened(opened);
            assert!(stage.screen().contains("What was said last."));
            stage.event(AgentEvent::PermissionAsked(PermissionAsk {
                preview,
                ..command_ask(1, "cargo test")
            }));
            let screen = stage.screen();
            let card = stage.state.scene.hits.areas_of(&Target::Layer).next().expect("drawn");
            let last = screen.lines().position(|row| row.contains("What was said last."));
            assert!(last.is_some_and(|row| row < usize::from(card.y)), "{size:?} {card}\n{screen}");
        }
    }
}

#[test]
fn a_question_that_fell_away_is_gone() {
    let mut stage = asked();
    stage.event(AgentEvent::PermissionResolved { ask: AskId(2) });
    assert_eq!(stage.state.layers.len(), 1);
    stage.event(AgentEvent::PermissionResolved { ask: AskId(1) });
    assert!(stage.state.layers.is_empty());
    stage.type_text("y");
    assert_eq!(stage.written(), "y");
}

#[test]
fn it_waits_below_a_list_that_is_open() {
    let mut stage = Stage::running();
    stage.key("alt+m");
    stage.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
    assert!(matches!(stage.state.layers.as_slice(), [Layer::Permission(_), Layer::Models(_)]));
    assert_eq!(stage.type_text("y1"), []);
    assert_eq!(stage.keys(&["esc"]), []);
    assert!(matches!(stage.state.layers.as_slice(), [Layer::Permission(_)]));
    stage.wait(1_000);
    assert_eq!(stage.keys(&["y"]), answer(PermissionAnswer::Once));
}

#[test]
fn keys_that_hold_everywhere_hold_over_it() {
    let mut stage = asked();
    assert_eq!(stage.keys(&["ctrl+c"]), sent(Command::Cancel { reason: CancelReason::Stop }));
    assert_eq!(stage.keys(&["ctrl+l"]), [Effect::Repaint]);
    stage.key("ctrl+o");
    assert!(stage.state.pane.is_expanded());
    assert_eq!(stage.state.layers.len(), 1);
}

#[test]
fn questions_go_with_the_agent() {
    let mut stage = asked();
    stage.key("f1");
    stage.tell(Msg::AgentEnded);
    assert!(matches!(stage.state.layers.as_slice(), [Layer::Help(_)]));
}
