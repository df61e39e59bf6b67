//! What lies over, in and beside the transcript at once: search, selection, row focus, chords, questions, the scrollbar.

use super::search::{long, user};
use crate::app::effect::Effect;
use crate::app::msg::Msg;
use crate::app::stage::{Stage, command_ask, opened, reply, running, sent, view};
use crate::proto::command::{CancelReason, Command};
use crate::proto::event::AgentEvent;
use crate::term::input::Input;
use crate::ui::layers::Layer;
use crate::ui::target::Target;
use crossterm::event::{MouseButton, MouseEventKind};

const PRESS: MouseEventKind = MouseEventKind::Down(MouseButton::Left);
const DRAG: MouseEventKind = MouseEventKind::Drag(MouseButton::Left);
const RELEASE: MouseEventKind = MouseEventKind::Up(MouseButton::Left);

/// Selects so many cells from a text on, and leaves the button down.
fn select(stage: &mut Stage, text: &str, cells: u16) -> (u16, u16) {
    let (x, y) = stage.cell(text);
    stage.mouse(PRESS, x, y);
    stage.mouse(DRAG, x + cells, y);
    stage.draw();
    (x + cells, y)
}

/// The thumb of the scrollbar.
fn thumb(stage: &mut Stage) -> (u16, u16) {
    stage.draw();
    let bar = stage.state.scene.hits.areas_of(&Target::Scrollbar).next().expect("drawn");
    let row = stage.screen().lines().position(|row| row.ends_with('▐')).expect("a thumb");
    (bar.x, u16::try_from(row).expect("a row"))
}

fn is_searched(stage: &Stage) -> bool {
    stage.state.pane.searched().is_some()
}

#[test]
fn a_match_is_accepted_before_any_frame_has_shown_it() {
    let mut stage = long();
    stage.key("f3");
    stage.type_text("turn 1 line 7");
    stage.key("enter");
    assert!(is_searched(&stage) && stage.state.layers.is_empty());
    stage.draw();
    let at = stage.state.pane.current_match().expect("found");
    assert_eq!(stage.state.pane.focused(), Some(at.item));
    assert!(stage.screen().contains("turn 1 line 7"), "{}", stage.screen());
    stage.key("esc");

    // The next key, too, means what it will mean.
    stage.key("f3");
    stage.type_text("line 7");
    stage.keys(&["enter", "n"]);
    assert_eq!(stage.written(), "");
    stage.draw();
    assert!(is_searched(&stage) && stage.state.pane.current_match().is_some());
    assert_eq!(stage.state.pane.focused(), stage.state.pane.current_match().map(|at| at.item));
    stage.keys(&["esc", "esc"]);

    // Without a match all is as before.
    stage.key("f3");
    stage.type_text("nowhere");
    stage.key("enter");
    stage.draw();
    assert!(!is_searched(&stage) && stage.state.pane.focused().is_none());
}

#[test]
fn nothing_that_is_pressed_in_the_bar_touches_the_prompt() {
    let mut stage = long();
    stage.type_text("hello there");
    stage.key("f3");
    stage.type_text("line");
    let keys = [
        "alt+enter",
        "ctrl+enter",
        "alt+q",
        "ctrl+j",
        "alt+up",
        "alt+y",
        "ctrl+_",
        "alt+/",
        "ctrl+r",
        "tab",
        "shift+left",
        "alt+shift+a",
        "ctrl+]",
        "alt+e",
        "ctrl+g",
    ];
    for key in keys {
        assert_eq!(stage.keys(&[key]), [], "{key}");
        assert_eq!(stage.written(), "hello there", "{key}");
        assert!(
            stage.state.composer.selected().is_none() && stage.state.composer.jumping().is_none(),
            "{key}"
        );
    }
    assert!(matches!(stage.state.layers.as_slice(), [Layer::Search(_)]));
    assert_eq!(stage.keys(&["ctrl+v"]), [Effect::Paste], "what is on the clipboard can be looked for");
    stage.tell(Msg::Input(Input::Paste(" 3".to_owned())));
    assert!(stage.screen().contains("line 3"));
    assert_eq!(stage.written(), "hello there");
}

#[test]
fn esc_goes_from_the_top_down() {
    let mut stage = long();
    stage.change(|view, now| view.running = Some(running(now)));
    let (x, y) = select(&mut stage, "line 27", 3);
    stage.mouse(RELEASE, x, y);
    stage.key("f3");
    stage.type_text("line 2");
    stage.draw();
    stage.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
    stage.wait(5_000);
    // The bar, then the question, then the turn; what is selected stays until nothing else is left.
    assert_eq!(stage.keys(&["esc"]), []);
    assert!(!is_searched(&stage) && matches!(stage.state.layers.as_slice(), [Layer::Permission(_)]));
    let answered = stage.keys(&["esc"]);
    assert!(matches!(&answered[..], [Effect::Send(_)]) && stage.state.layers.is_empty(), "{answered:?}");
    assert!(stage.state.pane.has_selection());
    assert_eq!(stage.keys(&["esc"]), sent(Command::Cancel { reason: CancelReason::Stop }));
    stage.change(|view, _| view.running = None);
    assert_eq!(stage.keys(&["esc"]), []);
    assert!(!stage.state.pane.has_selection());
}

#[test]
fn a_question_that_comes_within_a_chord_is_not_answered_by_its_last_key() {
    let mut stage = long();
    stage.key("ctrl+x");
    stage.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
    stage.wait(5_000);
    assert_eq!(stage.keys(&["y"]), []);
    assert_eq!(stage.toast(), "ctrl+x y does nothing");
    assert!(matches!(stage.state.layers.as_slice(), [Layer::Permission(_)]));
    // The same with the key that ends a chord.
    stage.key("ctrl+x");
    assert_eq!(stage.keys(&["esc"]), []);
    assert!(matches!(stage.state.layers.as_slice(), [Layer::Permission(_)]));
    assert!(matches!(&stage.keys(&["y"])[..], [Effect::Send(_)]));
}

#[test]
fn a_thumb_whose_release_is_lost_is_let_go() {
    type Lose = fn(&mut Stage);
    let lost: [(&str, Lose); 4] = [
        ("the focus", |stage| drop(stage.tell(Msg::Input(Input::Focus(false))))),
        ("the mouse", |stage| drop(stage.keys(&["alt+s", "alt+s"]))),
        ("another press", |_| {}),
        ("a move without a button", |stage| {
            let outcome = stage.mouse(MouseEventKind::Moved, 4, 4);
            assert!(outcome.changed, "the thumb looks held no longer");
        }),
    ];
    for (what, lose) in lost {
        let mut stage = long();
        stage.key("pageup");
        let (x, y) = thumb(&mut stage);
        stage.mouse(PRESS, x, y);
        lose(&mut stage);
        let top = stage.state.pane.shown()[0];
        let (x, y) = select(&mut stage, "turn 3", 3);
        let copied = stage.mouse(RELEASE, x, y).effects;
        assert_eq!(copied, [Effect::CopySelection("turn".to_owned())], "{what}");
        assert_eq!(stage.state.pane.shown()[0], top, "{what}");
    }
}

#[test]
fn a_drag_stays_with_the_text_or_the_thumb_it_began_on() {
    let mut stage = long();
    // From the text over the heading: no prompt is gone to.
    let (_, y) = stage.cell("line 27");
    assert_eq!(stage.state.scene.hits.areas_of(&Target::Heading).count(), 1);
    stage.mouse(PRESS, 2, y);
    stage.mouse(DRAG, 5, 0);
    stage.draw();
    stage.mouse(DRAG, 2, y - 1);
    stage.draw();
    let copied = stage.mouse(RELEASE, 5, 0).effects;
    assert!(matches!(&copied[..], [Effect::CopySelection(_)]), "{copied:?}");
    assert!(stage.screen().contains("line 20"), "{}", stage.screen());

    // From the thumb over the text: nothing is selected, and what was is no more.
    let (x, y) = thumb(&mut stage);
    stage.mouse(PRESS, x, y);
    assert!(!stage.state.pane.has_selection());
    stage.mouse(DRAG, 10, y.saturating_sub(4));
    stage.draw();
    assert_eq!(stage.mouse(RELEASE, 10, y.saturating_sub(4)).effects, []);
    assert!(!stage.state.pane.has_selection() && !stage.state.pane.is_following());
}

#[test]
fn a_question_while_the_thumb_is_held_takes_the_keys_and_not_the_drag() {
    let mut stage = long();
    let (x, y) = thumb(&mut stage);
    stage.mouse(PRESS, x, y);
    stage.event(AgentEvent::PermissionAsked(command_ask(1, "cargo test")));
    stage.wait(5_000);
    stage.draw();
    stage.mouse(DRAG, x, 0);
    stage.draw();
    assert!(stage.screen().contains("prompt 0"), "{}", stage.screen());
    // Where the button comes up nothing is pressed.
    let (x, y) = stage.cell("Run this command?");
    assert_eq!(stage.mouse(RELEASE, x, y).effects, []);
    assert!(matches!(stage.state.layers.as_slice(), [Layer::Permission(_)]));
}

#[test]
fn what_is_selected_is_copied_by_key_without_a_focused_row() {
    let mut stage = long();
    let (x, y) = select(&mut stage, "line 27", 3);
    stage.mouse(RELEASE, x, y);
    let copied = [Effect::CopySelection("line".to_owned())];
    assert_eq!(stage.keys(&["alt+w"]), copied);
    // A selection of the prompt comes first.
    stage.state.composer.replace_all("written", stage.now);
    stage.key("alt+shift+a");
    assert_eq!(stage.keys(&["alt+w"]), [Effect::Copy("written".to_owned())]);
}

#[test]
fn another_session_leaves_neither_focus_nor_selection_and_searches_anew() {
    let mut stage = long();
    let (x, y) = select(&mut stage, "line 27", 3);
    stage.mouse(RELEASE, x, y);
    stage.key("f3");
    stage.type_text("line 27");
    stage.draw();
    stage.key("enter");
    stage.draw();
    assert!(stage.state.pane.focused().is_some());
    let mut other = opened(view());
    other.history = vec![user("hello"), reply("One line 27 here.")];
    stage.opened(other);
    stage.draw();
    stage.draw();
    assert!(!stage.state.pane.has_selection() && stage.state.pane.focused().is_none());
    assert_eq!(stage.state.pane.search_status().total, 1);
    stage.key("f3");
    stage.draw();
    assert!(stage.state.pane.current_match().is_some());
}

#[test]
fn writing_in_whatever_way_ends_the_search() {
    for paste in [false, true] {
        let mut stage = long();
        stage.key("f3");
        stage.type_text("line 27");
        stage.draw();
        stage.key("enter");
        match paste {
            true => drop(stage.tell(Msg::Input(Input::Paste("x".to_owned())))),
            false => drop(stage.type_text("x")),
        }
        assert_eq!((stage.written().as_str(), is_searched(&stage)), ("x", false), "pasted: {paste}");
        assert_eq!(stage.state.pane.focused(), None);
    }
}
