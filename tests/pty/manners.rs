//! What people who know other such programs expect.

use super::{ask, leave, mynah, open, serve};
use mynah::testkit::home::Home;
use mynah::testkit::server::Step;
use serde_json::json;
use std::fs;

#[test]
fn what_is_taken_back_is_no_failure() {
    let home = Home::new();
    let (step, gate) = Step::text("Looking at it.").pieces(4).gate_after(1);
    let server = serve(vec![step]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "look");
    pty.wait_for("Look");
    pty.type_text("and then the rest");
    pty.press("alt+enter");
    pty.wait_for("after the turn");
    pty.press("alt+up");
    pty.wait_gone("after the turn");
    pty.press("ctrl+c");
    gate.open();
    pty.wait_for("∎ ");
    assert!(!pty.text().contains("did not run"), "{}", pty.text());
    leave(&mut pty);
}

#[test]
fn a_retry_says_why() {
    let home = Home::new();
    let server = serve(vec![Step::status(500), Step::text("Now it works.")]);
    let mut pty = open(mynah(&home, &server).args(["--set", "retry.base_seconds=600"]));
    ask(&mut pty, "look");
    pty.wait_for("Retrying in");
    pty.wait_for("(500)");
    pty.press("esc");
    pty.wait_gone("(500)");
    leave(&mut pty);
}

#[test]
fn a_setting_of_the_screen_holds_at_once() {
    let home = Home::new();
    let server = serve(vec![Step::text("Done.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "!true");
    pty.wait_for("✓");
    ask(&mut pty, "/set screen.glyphs false");
    pty.wait_gone("✓");
    ask(&mut pty, "/set agent.max_rounds 7");
    pty.wait_for("from the next session on");
    ask(&mut pty, "/set agent.max_rounds");
    pty.wait_for("agent.max_rounds is 7");
    leave(&mut pty);
}

#[test]
fn a_folder_is_gone_into_with_the_same_key() {
    let home = Home::new();
    fs::create_dir_all(home.project().join("docs")).unwrap();
    home.write("docs/guide.md", "");
    let server = serve(vec![]);
    let mut pty = open(mynah(&home, &server));
    pty.type_text("@doc");
    pty.wait_for("docs/guide.md");
    pty.press("tab");
    pty.wait_for("@docs/");
    pty.press("tab");
    pty.wait_for("@docs/guide.md");
    pty.press("ctrl+c");
    leave(&mut pty);
}

#[test]
fn a_focused_row_says_what_can_be_done_with_it() {
    let home = Home::new();
    let server = serve(vec![Step::text("Done.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "look");
    pty.wait_for("∎ ");
    pty.press("ctrl+up");
    pty.wait_for("enter opens");
    pty.press("esc");
    pty.wait_gone("enter opens");
    leave(&mut pty);
}

#[test]
fn a_model_that_no_list_has_can_be_named() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = open(mynah(&home, &server));
    // Before the session is open the list fills by itself.
    ask(&mut pty, "/model any");
    pty.wait_for("Models");
    pty.wait_for("● openai/any");
    pty.press("esc");
    ask(&mut pty, "/model openai/my-own-tune");
    pty.wait_for("my-own-tune off");
    leave(&mut pty);
}

#[test]
fn a_file_is_shown_once_while_one_is_asked() {
    let home = Home::new();
    let server =
        serve(vec![Step::text("").call("write", json!({"path": "a.txt", "content": "only line\n"}))]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "write it");
    pty.wait_for("Create a.txt?");
    assert_eq!(pty.text().matches("only line").count(), 1, "{}", pty.text());
    // Before the first response there are no tokens to stand behind a bar.
    pty.press("esc");
    leave(&mut pty);
}

#[test]
fn two_presses_quit_only_when_nothing_was_written_between() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = open(mynah(&home, &server));
    pty.press("ctrl+c");
    pty.wait_for("again to quit");
    pty.type_text("but first");
    pty.wait_for("but first");
    pty.press("ctrl+c");
    pty.wait_gone("but first");
    pty.press("ctrl+c");
    pty.type_text("still here");
    pty.wait_for("still here");
    pty.press("ctrl+c");
    leave(&mut pty);
}

#[test]
fn the_shells_own_screen_can_be_drawn_on() {
    let home = Home::new();
    let server = serve(vec![Step::text("Here.")]);
    let mut pty = open(mynah(&home, &server).args(["--set", "screen.alternate=false"]));
    ask(&mut pty, "where");
    pty.wait_for("∎ ");
    assert!(!pty.look(|terminal| terminal.modes().is_alternate()));
    leave(&mut pty);
    // Our last frame is gone, the last words stand there.
    let text = pty.text();
    assert!(text.contains("mynah --resume ") && !text.contains("Ask anything"), "{text}");
}
