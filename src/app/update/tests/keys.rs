//! Which part of the screen gets a key, and the gestures.

use crate::app::effect::Effect;
use crate::app::headless::Exit;
use crate::app::msg::{Done, Msg};
use crate::app::stage::{Stage, key_event, opened, released, reply, running, sent, shell, view};
use crate::app::update::keys::page;
use crate::config::action::{Action, Context};
use crate::proto::ask::PermissionMode;
use crate::proto::command::{CancelReason, Command, TicketOutcome};
use crate::proto::event::AgentEvent;
use crate::proto::ids::{TicketId, TurnId};
use crate::proto::model::ModelRef;
use crate::term::input::Input;

fn stop() -> Vec<Effect> {
    sent(Command::Cancel { reason: CancelReason::Stop })
}

/// A session with a reply, so that there is a row to focus.
fn talked() -> Stage {
    let mut stage = Stage::started();
    let mut opened = opened(view());
    opened.history = vec![reply("Hello.")];
    stage.opened(opened);
    stage.draw();
    stage
}

#[test]
fn esc_closes_what_is_topmost_else_stops() {
    let mut help = Stage::running();
    help.key("f1");
    assert_eq!(help.keys(&["esc"]), []);
    assert!(help.state.layers.is_empty());
    assert_eq!(help.keys(&["esc"]), stop());

    let mut completing = Stage::running();
    completing.type_text("/mo");
    assert!(completing.state.composer.completer().popup().is_some());
    assert_eq!(completing.keys(&["esc"]), []);
    assert!(completing.state.composer.completer().popup().is_none());
    assert_eq!(completing.written(), "/mo");
    assert_eq!(completing.keys(&["esc"]), stop());

    let mut focused = talked();
    focused.change(|view, now| view.running = Some(running(now)));
    focused.key("ctrl+up");
    assert!(focused.state.pane.focused().is_some());
    assert_eq!(focused.keys(&["esc"]), []);
    assert_eq!(focused.state.pane.focused(), None);
    assert_eq!(focused.keys(&["esc"]), stop());

    let mut searching = Stage::running();
    searching.key("ctrl+r");
    assert_eq!(searching.keys(&["esc"]), []);
    assert_eq!(searching.keys(&["esc"]), stop());

    let mut shelling = Stage::open();
    shelling.change(|view, now| view.shell = Some(shell(now)));
    assert_eq!(shelling.keys(&["esc"]), sent(Command::CancelShell));

    let mut idle = Stage::open();
    idle.type_text("kept");
    assert_eq!(idle.keys(&["esc"]), []);
    assert_eq!(idle.written(), "kept");
}

#[test]
fn interrupt_clears_else_stops_else_quits_when_pressed_twice() {
    let mut stage = Stage::running();
    stage.type_text("a thought");
    assert_eq!(stage.keys(&["ctrl+c"]), []);
    assert_eq!(stage.written(), "");
    assert_eq!(stage.keys(&["ctrl+c"]), stop());

    let mut twice = Stage::open();
    assert_eq!(twice.keys(&["ctrl+c"]), []);
    assert_eq!(twice.toast(), "Press ctrl+c again to quit.");
    twice.wait(1_900);
    assert_eq!(twice.keys(&["ctrl+c"]), [Effect::Quit(Exit::Success)]);

    let mut late = Stage::open();
    late.key("ctrl+c");
    late.wait(2_000);
    assert_eq!(late.keys(&["ctrl+c"]), []);
    late.wait(1_000);
    assert_eq!(late.keys(&["ctrl+c"]), [Effect::Quit(Exit::Success)]);

    // Whoever writes between the two presses does not want to quit.
    let mut between = Stage::open();
    between.key("ctrl+c");
    between.type_text("a");
    assert_eq!(between.keys(&["ctrl+c", "ctrl+c"]), []);
    assert_eq!(between.keys(&["ctrl+c"]), [Effect::Quit(Exit::Success)]);

    let mut shelling = Stage::open();
    shelling.change(|view, now| view.shell = Some(shell(now)));
    assert_eq!(shelling.keys(&["ctrl+c"]), sent(Command::CancelShell));

    let mut layered = Stage::open();
    layered.key("f1");
    assert_eq!(layered.keys(&["ctrl+c"]), []);
    assert!(layered.state.layers.is_empty());
}

#[test]
fn quitting_by_key_needs_an_empty_composer() {
    let mut stage = Stage::open();
    stage.type_text("ab");
    stage.key("home");
    assert_eq!(stage.keys(&["ctrl+d"]), []);
    assert_eq!(stage.written(), "b");
    stage.key("ctrl+d");
    assert_eq!(stage.keys(&["ctrl+d"]), [Effect::Quit(Exit::Success)]);
}

#[test]
fn models_thinking_and_modes_go_round() {
    let mut stage = Stage::open();
    let model = |id: &str| sent(Command::SetModel(ModelRef::new("anthropic", id)));
    assert_eq!(stage.keys(&["alt+p"]), model("claude-sonnet-5"));
    stage.change(|view, _| view.model = ModelRef::new("anthropic", "claude-sonnet-5"));
    assert_eq!(stage.keys(&["alt+p"]), model("claude-opus-5-5"));
    stage.change(|view, _| view.model = ModelRef::new("local", "qwen4-coder-30b"));
    assert_eq!(stage.keys(&["alt+p"]), []);
    assert_eq!(stage.toast(), "There is no other model to go to.");

    // A model that no list has offers no levels.
    stage.change(|view, _| view.model = ModelRef::new("local", "unheard-of"));
    assert_eq!(stage.keys(&["alt+t"]), []);
    assert!(stage.toast().contains("does not think"));
    stage.change(|view, _| view.model = ModelRef::new("anthropic", "claude-opus-5-5"));
    assert_eq!(stage.keys(&["alt+t"]), sent(Command::NextThinking));
    let modes = [(PermissionMode::Ask, PermissionMode::Edits), (PermissionMode::Yolo, PermissionMode::Ask)];
    for (from, to) in modes {
        stage.change(|view, _| view.mode = from);
        assert_eq!(stage.keys(&["shift+tab"]), sent(Command::SetMode(to)));
    }

    // Before a session is open there is nothing to change.
    assert_eq!(Stage::started().keys(&["alt+p", "alt+t", "shift+tab"]), []);
}

#[test]
fn what_lists_offer_is_performed() {
    for action in Action::ALL.iter().copied().filter(|action| action.contexts().contains(&Context::Global)) {
        let mut stage = talked();
        // The composer has the editor's key.
        let is_of_the_page = page(&mut stage.state, action, stage.now).is_some();
        assert!(is_of_the_page || action == Action::Editor, "{action}");
    }
}

#[test]
fn a_released_key_does_nothing() {
    let mut stage = Stage::running();
    stage.type_text("ab");
    for name in ["a", "esc", "enter", "ctrl+c", "alt+t", "f1", "ctrl+d"] {
        let outcome = stage.tell(Msg::Input(Input::Key(released(name))));
        assert_eq!((outcome.effects, outcome.changed), (Vec::new(), false), "{name}");
    }
    assert_eq!(stage.written(), "ab");
}

#[test]
fn keys_of_the_program_work_over_lists() {
    for (name, effect) in [("ctrl+z", Effect::Suspend), ("ctrl+l", Effect::Repaint)] {
        let mut stage = Stage::open();
        stage.key("alt+m");
        assert_eq!(stage.keys(&[name]), [effect]);
        assert_eq!(stage.state.layers.len(), 1);
    }
}

#[test]
fn typing_leaves_the_focused_row() {
    let mut stage = talked();
    stage.key("ctrl+up");
    // `c` copies there.
    assert_eq!(stage.keys(&["c"]), [Effect::Copy("Hello.".to_owned())]);
    stage.type_text("x");
    assert_eq!((stage.state.pane.focused(), stage.written().as_str()), (None, "x"));
}

#[test]
fn passing_notices_pass() {
    let mut stage = Stage::open();
    stage.key("ctrl+c");
    assert!(stage.screen().contains("again to quit"));
    let next = stage.state.scene.next_deadline;
    stage.wait(5_999);
    assert!(stage.screen().contains("again to quit"));
    stage.wait(1);
    assert!(!stage.screen().contains("again to quit"));
    assert_ne!(next, stage.state.scene.next_deadline);
}

#[test]
fn a_folder_is_asked_for_once() {
    let mut stage = Stage::open();
    assert_eq!(stage.type_text("see @src/"), [Effect::List(String::new())]);
    assert_eq!(stage.type_text("m"), []);
    let entries = ["src/main.rs".to_owned(), "src/mod.rs".to_owned()].into();
    stage.done(Done::Listing { folder: String::new(), entries });
    assert!(stage.state.composer.completer().popup().is_some());
    assert_eq!(stage.type_text("a"), []);
    // Files may have changed.
    let outcome = TicketOutcome::Completed;
    let effects = stage.event(AgentEvent::TurnFinished { turn: TurnId(1), ticket: TicketId(1), outcome });
    assert_eq!(effects, [Effect::FindBranch, Effect::List(String::new())]);
    assert_eq!(stage.type_text("i"), []);
}

#[test]
fn the_mouse_is_given_back_and_taken() {
    let mut stage = Stage::open();
    assert_eq!(stage.keys(&["alt+s"]), [Effect::Mouse(false)]);
    assert_eq!(stage.keys(&["alt+s"]), [Effect::Mouse(true)]);
}

#[test]
fn the_focus_of_the_window_asks_for_the_branch() {
    let mut stage = Stage::open();
    let outcome = stage.tell(Msg::Input(Input::Focus(true)));
    assert_eq!((outcome.effects, outcome.changed), (vec![Effect::FindBranch], false));
    assert_eq!(stage.tell(Msg::Input(Input::Focus(false))).effects, []);
}

#[test]
fn names_of_keys_are_events() {
    use crossterm::event::{KeyCode, KeyModifiers};
    let event = key_event("ctrl+shift+up");
    assert_eq!((event.code, event.modifiers), (KeyCode::Up, KeyModifiers::CONTROL | KeyModifiers::SHIFT));
}
