//! Keys in a row at the keyboard.

use crate::app::effect::Effect;
use crate::app::msg::Msg;
use crate::app::stage::{Stage, command_ask, opened, reply, view};
use crate::config::keymap::Keymap;
use crate::proto::event::AgentEvent;
use crate::term::input::Input;
use crossterm::event::{MouseButton, MouseEventKind};
use std::path::Path;

fn with_keys(text: &str) -> Stage {
    let mut stage = Stage::open();
    let (keymap, warnings) = Keymap::defaults().patched(text, Path::new("keymap.toml"));
    assert_eq!(warnings, []);
    stage.state.keymap = keymap;
    stage
}

#[test]
fn a_chord_does_what_it_is_bound_to_and_types_nothing() {
    let mut stage = with_keys("[global]\nrepaint = [\"ctrl+x l\", \"ctrl+l\"]\n");
    stage.type_text("kept");
    assert_eq!(stage.keys(&["ctrl+x", "l"]), [Effect::Repaint]);
    assert_eq!(stage.keys(&["ctrl+x", "ctrl+e"]), [Effect::Edit("kept".to_owned())]);
    assert_eq!((stage.written().as_str(), stage.state.chord.len()), ("kept", 0));
    stage.type_text("l");
    assert_eq!(stage.written(), "keptl", "afterwards letters are letters");
}

#[test]
fn what_may_follow_is_shown_and_esc_ends_it() {
    let mut stage = Stage::open();
    stage.key("ctrl+x");
    assert!(
        stage.screen().contains("ctrl+x · ctrl+e write in the external editor · esc ends it"),
        "{}",
        stage.screen()
    );
    // No timer ends it.
    stage.wait(600_000);
    assert!(stage.screen().contains("ctrl+e write in"));
    assert_eq!(stage.keys(&["esc"]), []);
    assert!(!stage.screen().contains("ctrl+e write in"));
    assert_eq!(stage.toast(), "", "nothing went wrong");
    assert_eq!(stage.keys(&["ctrl+e"]), [], "the end of the line, as always");
    let mut running = Stage::running();
    assert_eq!(running.keys(&["ctrl+x", "esc"]), [], "it stops nothing else");
}

#[test]
fn a_key_that_does_not_go_on_with_it_is_told_and_swallowed() {
    let mut stage = Stage::open();
    assert_eq!(stage.keys(&["ctrl+x", "k"]), []);
    assert_eq!((stage.toast(), stage.written().as_str()), ("ctrl+x k does nothing", ""));
    assert_eq!(stage.keys(&["ctrl+x", "ctrl+d"]), [], "quits only by itself");
    assert_eq!(stage.keys(&["ctrl+x", "f1"]), []);
    assert!(stage.state.layers.is_empty());
    stage.type_text("k");
    assert_eq!(stage.written(), "k");
}

#[test]
fn over_lists_cards_and_rows_chords_are_found_from_the_inside_out() {
    let keys = "[global]\nhelp = \"ctrl+x h\"\n[list]\nlist_path = \"ctrl+x p\"\n[transcript]\ncopy_row = \"ctrl+x c\"\n\
                [card]\ndeny = \"g n\"\n";
    let mut stage = with_keys(keys);
    stage.key("alt+m");
    assert_eq!(stage.keys(&["ctrl+x", "k"]), []);
    assert_eq!((stage.toast(), stage.state.layers.len()), ("ctrl+x k does nothing", 1));
    stage.key("ctrl+x");
    let shown = stage.screen();
    assert!(
        shown.contains("p show paths") && shown.contains("ctrl+e write") && shown.contains("h help"),
        "{shown}"
    );
    stage.key("esc");
    assert_eq!(stage.state.layers.len(), 1, "only the chord is ended");
    stage.key("esc");

    let mut opened = opened(view());
    opened.history = vec![reply("Hello.")];
    stage.opened(opened);
    stage.draw();
    stage.key("ctrl+up");
    assert_eq!(stage.keys(&["ctrl+x", "c"]), [Effect::Copy("Hello.".to_owned())]);
    assert_eq!(stage.keys(&["ctrl+x", "ctrl+e"]), [Effect::Edit(String::new())], "one of the prompt");

    stage.event(AgentEvent::PermissionAsked(command_ask(1, "ls")));
    stage.wait(5_000);
    assert!(
        matches!(&stage.keys(&["g", "n"])[..], [Effect::Send(_)]),
        "where nothing is typed a letter may begin one"
    );
    assert!(stage.state.layers.is_empty());
}

#[test]
fn a_click_or_a_paste_ends_it() {
    let mut stage = Stage::open();
    stage.draw();
    stage.key("ctrl+x");
    stage.mouse(MouseEventKind::Down(MouseButton::Left), 0, 0);
    assert!(stage.state.chord.is_empty());
    stage.key("ctrl+x");
    stage.tell(Msg::Input(Input::Paste("pasted".to_owned())));
    assert_eq!((stage.state.chord.len(), stage.written().as_str()), (0, "pasted"));
}
