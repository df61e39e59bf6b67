//! The user's editor on what is being written.

use super::super::{leave, mynah, open, serve};
use super::{process_in, wait_ended};
use crate::flows::{processes_of, wait_until};
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::server::{ModelServer, Step};
use mynah::testkit::terminal::keys::KeyAction;
use rustix::process::Signal;
use std::os::unix::fs::PermissionsExt;

/// The program with this script as the editor; it gets the file as its first argument.
fn with_editor(home: &Home, server: &ModelServer, script: &str) -> Program {
    let path = home.write("editor.sh", &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    mynah(home, server).envs([("EDITOR", path.to_str().unwrap()), ("TMPDIR", home.user().to_str().unwrap())])
}

/// The key comes up when the editor has the terminal, and no longer tells so.
fn go_there(pty: &mut Pty) {
    pty.key("ctrl+g", KeyAction::Press);
}

/// No text of the user's stays behind.
fn assert_no_files(home: &Home) {
    let left: Vec<_> =
        std::fs::read_dir(home.user()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".md")), "{left:?}");
}

#[test]
fn a_text_goes_there_and_back() {
    let home = Home::new();
    let server = serve(vec![Step::text("Well written.")]);
    // It has the terminal as the shell had it: lines, echo, no modes of ours.
    let script = "stty -a > line.txt; echo in the editor; read answer; echo \"edited: $answer\" >> \"$1\"";
    let mut pty = open(with_editor(&home, &server, script));
    pty.type_text("first line");
    pty.wait_for("first line");
    go_there(&mut pty);
    pty.wait_for("in the editor");
    assert_eq!(pty.look(|terminal| terminal.modes().leftovers()), Vec::<String>::new());
    pty.type_text("from there\n");
    pty.wait_for("edited: from there");
    pty.wait_until("our screen", |terminal| terminal.modes().is_alternate());
    super::assert_whole(&mut pty);
    let line = std::fs::read_to_string(home.project().join("line.txt")).unwrap();
    assert!(line.contains(" icanon") && line.contains(" echo ") && line.contains("\nisig"), "{line}");
    pty.press("enter");
    pty.wait_for("Well written.");
    let body = server.requests()[0].body.to_string();
    assert!(body.contains("first line") && body.contains("edited: from there"), "{body}");
    assert_no_files(&home);
    leave(&mut pty);
}

#[test]
fn an_editor_that_fails_costs_nothing() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = open(with_editor(&home, &server, "echo ruined > \"$1\"; exit 3"));
    pty.type_text("worth keeping");
    pty.wait_for("worth keeping");
    go_there(&mut pty);
    pty.wait_for("ended with");
    pty.wait_for("worth keeping");
    assert!(!pty.text().contains("ruined"));
    assert_no_files(&home);
    super::and_drawn(&mut pty, |pty| pty.press("ctrl+u"));
    leave(&mut pty);
}

#[test]
fn an_editor_that_is_not_there() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = open(mynah(&home, &server).envs([("EDITOR", "no-such-editor-anywhere")]));
    pty.type_text("worth keeping");
    pty.wait_for("worth keeping");
    go_there(&mut pty);
    pty.wait_for("no-such-editor-anywhere");
    pty.wait_until("our screen with the text", |terminal| {
        terminal.modes().is_alternate() && terminal.text().contains("worth keeping")
    });
    super::and_drawn(&mut pty, |pty| pty.press("ctrl+u"));
    leave(&mut pty);
}

/// Bytes that are no text, and text that would steer the terminal.
#[test]
fn what_an_editor_writes_is_foreign_text() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty =
        open(with_editor(&home, &server, "printf 'good \\033]0;title\\007 and \\033[3J more' > \"$1\""));
    go_there(&mut pty);
    pty.wait_until("the text", |terminal| {
        terminal.modes().is_alternate() && terminal.text().contains("more")
    });
    assert_eq!(pty.look(|terminal| terminal.modes().title.clone()).as_deref(), Some("mynah · project"));
    assert!(!pty.output().windows(4).any(|bytes| bytes == b"\x1b[3J"));
    super::and_drawn(&mut pty, |pty| pty.press("ctrl+u"));
    leave(&mut pty);
}

/// Ctrl+C in the editor goes to all that the shell started; it is the editor's.
#[test]
fn ctrl_c_in_the_editor_is_the_editors() {
    let home = Home::new();
    let server = serve(vec![Step::text("Still here.")]);
    let script = "trap 'echo caught by the editor' INT; echo in the editor; until test \"$x\" = done; do read x; done; echo ' and more' >> \"$1\"";
    let mut pty = open(with_editor(&home, &server, script));
    pty.type_text("text");
    pty.wait_for("text");
    go_there(&mut pty);
    pty.wait_for("in the editor");
    pty.press("ctrl+c");
    pty.wait_for("caught by the editor");
    pty.type_text("done\n");
    pty.wait_until("our screen", |terminal| {
        terminal.modes().is_alternate() && terminal.text().contains("and more")
    });
    pty.press("enter");
    pty.wait_for("Still here.");
    leave(&mut pty);
}

/// An editor that ctrl+c ends does not take the program with it.
#[test]
fn ctrl_c_that_ends_the_editor_ends_nothing_else() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = open(with_editor(&home, &server, "echo in the editor; read x"));
    pty.type_text("worth keeping");
    pty.wait_for("worth keeping");
    go_there(&mut pty);
    pty.wait_for("in the editor");
    pty.press("ctrl+c");
    pty.wait_for("ended with");
    pty.wait_for("worth keeping");
    super::and_drawn(&mut pty, |pty| pty.press("ctrl+u"));
    leave(&mut pty);
}

#[test]
fn a_signal_while_the_editor_runs() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let home = Home::new();
        let server = serve(vec![]);
        let script = "echo $$ > editor.pid; echo in the editor; exec sleep 600";
        let mut pty = open(with_editor(&home, &server, script));
        pty.type_text("text");
        pty.wait_for("text");
        go_there(&mut pty);
        pty.wait_for("in the editor");
        let editor = process_in(&home.project().join("editor.pid"));
        pty.signal(signal);
        let exit = pty.wait_exit();
        assert_eq!((exit.code, exit.signal), (code, None), "{}", pty.text());
        assert_eq!(pty.leftovers(), Vec::<String>::new());
        wait_ended(editor);
        assert_no_files(&home);
        wait_until("the end of all processes", || processes_of(&home).is_empty());
    }
}

#[test]
fn the_window_is_closed_while_the_editor_runs() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty =
        open(with_editor(&home, &server, "echo $$ > editor.pid; echo in the editor; exec sleep 600"));
    go_there(&mut pty);
    pty.wait_for("in the editor");
    let editor = process_in(&home.project().join("editor.pid"));
    pty.hang_up();
    assert_eq!(pty.wait_exit().code, 129);
    wait_ended(editor);
}

/// The turn goes on while the user writes.
#[test]
fn a_turn_goes_on_behind_the_editor() {
    let home = Home::new();
    home.write("a.txt", "alpha\n");
    let (step, gate) =
        Step::text("Looking.").call("read", serde_json::json!({"path": "a.txt"})).gate_after(1);
    let server = serve(vec![step, Step::text("It says alpha.")]);
    let mut pty = open(with_editor(&home, &server, "echo in the editor; read x; echo written > \"$1\""));
    super::super::ask(&mut pty, "look");
    pty.wait_for("Looking");
    go_there(&mut pty);
    pty.wait_for("in the editor");
    gate.open();
    assert!(server.wait_for_requests(2, crate::flows::DEADLINE));
    assert!(!pty.text().contains("alpha"), "{}", pty.text());
    pty.type_text("\n");
    pty.wait_for("It says alpha.");
    pty.wait_for("written");
    super::assert_whole(&mut pty);
    super::and_drawn(&mut pty, |pty| pty.press("ctrl+u"));
    leave(&mut pty);
}
