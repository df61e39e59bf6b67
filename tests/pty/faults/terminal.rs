//! Terminals that are tiny, huge, mute, late or none at all.

use super::super::{QUIET, answer, ask, leave, mynah, open, serve};
use super::{and_drawn, assert_whole};
use crate::flows::{self, run};
use mynah::testkit::home::Home;
use mynah::testkit::server::{ModelServer, Step};
use mynah::testkit::terminal::answers::Profile;
use serde_json::json;

#[test]
fn one_cell_is_enough_to_work_in() {
    let home = Home::new();
    let server = serve(vec![
        Step::text("Small, but it came."),
        Step::text("").call("bash", json!({"command": "echo x"})),
    ]);
    let mut pty = mynah(&home, &server).size(1, 1).start();
    pty.wait_until("the first frame", |terminal| {
        terminal.modes().is_alternate() && !terminal.text().is_empty()
    });
    pty.type_text("hello");
    pty.press("enter");
    assert!(server.wait_for_requests(1, flows::DEADLINE));
    pty.wait_quiet(QUIET);
    // A question comes up where nobody can see it, and is still there when there is room.
    pty.type_text("ask");
    pty.press("enter");
    assert!(server.wait_for_requests(2, flows::DEADLINE));
    pty.wait_quiet(QUIET);
    pty.resize(100, 30);
    pty.wait_for("Small, but it came.");
    answer(&mut pty, "Run this command?", "n");
    pty.wait_gone("Run this command?");
    assert_whole(&mut pty);
    leave(&mut pty);
}

#[test]
fn every_narrow_and_low_size_draws() {
    let home = Home::new();
    let server = serve(vec![Step::text(
        "# A heading\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn main() {}\n```\n",
    )]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "show me");
    pty.wait_for("∎ ");
    for (columns, rows) in
        [(1, 30), (100, 1), (2, 2), (3, 40), (40, 3), (7, 7), (1, 1), (12, 5), (500, 2), (2, 200)]
    {
        and_drawn(&mut pty, |pty| pty.resize(columns, rows));
        assert_whole(&mut pty);
    }
    pty.resize(100, 30);
    pty.wait_for("A heading");
    leave(&mut pty);
}

#[test]
fn a_huge_screen_works() {
    let home = Home::new();
    let server = serve(vec![Step::text("Far apart.")]);
    let mut pty = open(mynah(&home, &server).size(500, 200));
    ask(&mut pty, "is there room");
    pty.wait_for("Far apart.");
    pty.wait_for("∎ ");
    assert_whole(&mut pty);
    leave(&mut pty);
}

#[test]
fn a_terminal_that_answers_nothing_works() {
    let home = Home::new();
    let server = serve(vec![Step::text("Heard you.")]);
    let mut pty = open(mynah(&home, &server).profile(Profile::Mute));
    assert_eq!(
        pty.look(|terminal| terminal.modes().keyboard_flags()),
        0,
        "it has not said that it knows them"
    );
    pty.type_text("one line");
    pty.press("ctrl+j");
    pty.type_text("and another");
    pty.wait_for("and another");
    // What follows a line end at once would be taken for the rest of a paste.
    pty.wait_quiet(QUIET);
    // Enter with shift is Enter there: it sends.
    pty.press("shift+enter");
    pty.wait_for("Heard you.");
    assert!(server.requests()[0].body.to_string().contains("one line\\nand another"));
    leave(&mut pty);
}

/// What a slow line brings after we gave up waiting still counts: it is no text, and the keyboard is told apart then.
#[test]
fn answers_that_come_late_are_heard() {
    let home = Home::new();
    let server = serve(vec![Step::text("Two lines, I see.")]);
    let mut pty = open(mynah(&home, &server).profile(Profile::Mute));
    pty.send(b"\x1b[?0u\x1b]11;rgb:ff");
    pty.send(b"ff/ffff/ffff\x1b\\\x1bP>|kitty(0.42.1)\x1b\\\x1b[?2026;2$y\x1b[?2004;2$y\x1b[?62;52;c");
    pty.wait_until("the keyboard flags", |terminal| terminal.modes().keyboard_flags() != 0);
    pty.type_text("one");
    pty.press("shift+enter");
    pty.type_text("two");
    pty.wait_for("two");
    pty.press("enter");
    pty.wait_for("Two lines, I see.");
    assert!(server.requests()[0].body.to_string().contains("one\\ntwo"), "{}", server.requests()[0].body);
    leave(&mut pty);
}

#[test]
fn a_dumb_terminal_gets_a_message_and_nothing_else() {
    let home = Home::new();
    let server = serve(vec![]);
    let pty = mynah(&home, &server).profile(Profile::Dumb).start();
    let exit = pty.wait_exit();
    assert_eq!((exit.code, exit.signal), (1, None));
    let output = String::from_utf8(pty.output()).unwrap();
    assert!(output.contains("TERM=dumb") && output.contains("mynah -p"), "{output}");
    assert!(!output.contains('\x1b'), "{output:?}");
    assert_eq!(pty.leftovers(), Vec::<String>::new());
}

#[test]
fn without_a_terminal_a_task_is_wanted() {
    let home = Home::new();
    let server = ModelServer::start(vec![Step::text("Done without a screen.")]);
    let ended = run(&mut flows::mynah(&home));
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
    assert!(ended.stderr.contains("no terminal") && ended.stderr.contains("mynah -p"), "{ended:?}");
    // With a task it needs none.
    let mut command = flows::mynah(&home);
    command.env("OPENAI_BASE_URL", server.openai_base_url()).env("OPENAI_API_KEY", flows::KEY);
    let ended = run(command.args(["--model", flows::CHAT.model, "do it"]));
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "Done without a screen.\n"), "{ended:?}");
    assert!(!ended.stdout.contains('\x1b') && !ended.stderr.contains('\x1b'), "{ended:?}");
}

/// The terminal is ours only in part: keys come from it, but what is printed goes elsewhere.
#[test]
fn a_piped_output_gets_no_screen() {
    let home = Home::new();
    let server = serve(vec![]);
    let script = format!("{} | cat; echo done", env!("CARGO_BIN_EXE_mynah"));
    let program = mynah::testkit::pty::Program::new("sh").args(["-c", &script]);
    let pty = program.envs(home.variables()).folder(home.project()).start();
    pty.wait_for("done");
    assert!(pty.text().contains("There is no terminal to draw on."), "{}", pty.text());
    assert!(!pty.output().contains(&0x1b));
    drop(server);
}

#[test]
fn what_is_typed_before_the_first_frame_is_not_lost() {
    let home = Home::new();
    let server = serve(vec![Step::text("So early.")]);
    let mut pty = mynah(&home, &server).start();
    pty.send(b"up before the sun");
    pty.wait_until("the text in the composer", |terminal| {
        terminal.modes().is_alternate() && terminal.text().contains("up before the sun")
    });
    pty.press("enter");
    pty.wait_for("So early.");
    assert!(server.requests()[0].body.to_string().contains("\"up before the sun\""));
    leave(&mut pty);
}

#[test]
fn a_resize_storm_while_a_question_and_a_list_are_open() {
    let home = Home::new();
    let command =
        json!({"command": "echo one two three four five six seven eight nine ten && echo and so on"});
    let server = serve(vec![Step::text("I'd run this.").call("bash", command)]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "run something");
    pty.wait_for("Run this command?");
    pty.press("alt+m");
    pty.wait_for("Models");
    for round in 0..60_u16 {
        pty.resize(1 + round * 7 % 120, 1 + round * 5 % 45);
    }
    and_drawn(&mut pty, |pty| pty.resize(90, 28));
    assert_whole(&mut pty);
    pty.press("esc");
    pty.wait_for("Run this command?");
    assert_whole(&mut pty);
    pty.press("n");
    pty.wait_for("Stopped after");
    leave(&mut pty);
}
