//! A slow line: the terminal takes nothing for a while.

use super::super::{ask, leave, mynah, open, serve};
use super::assert_whole;
use crate::flows::{DEADLINE, session_files, wait_until};
use mynah::testkit::home::Home;
use mynah::testkit::pty::Pty;
use mynah::testkit::server::Step;
use serde_json::json;
use std::time::Duration;

/// Memory that the program has, in KiB.
fn memory(pty: &Pty) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pty.process())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The turn does not wait for the terminal, frames that nobody sees are not kept, and the last one is whole.
#[test]
fn a_terminal_that_takes_nothing_for_a_while() {
    let home = Home::new();
    home.write("a.txt", "alpha\n");
    let (first, gate) = Step::text("I'll look. ".repeat(2000))
        .call("read", json!({"path": "a.txt"}))
        .pieces(40)
        .gate_after(1);
    // Screen after screen of new text: more than the line holds.
    let said = "of what is said while nobody listens ".repeat(4);
    let long = (0..2000).map(|line| format!("Line {line} {said}\n\n")).collect::<String>();
    let server = serve(vec![
        first,
        Step::text(long)
            .call("bash", json!({"command": "echo ran > ran.txt; seq 1 20000"}))
            .pieces(8000)
            .drip(Duration::from_millis(30)),
        Step::text("And that is the end of it."),
    ]);
    let mut pty = open(mynah(&home, &server).args(["--yolo"]).size(200, 60));
    ask(&mut pty, "talk a lot");
    pty.wait_for("I'll look.");
    let before = memory(&pty);
    pty.stall();
    gate.open();
    assert!(server.wait_for_requests(3, DEADLINE), "the turn stood still");
    assert!(home.project().join("ran.txt").exists());
    // Whoever types is heard, even if nothing shows it.
    pty.type_text("typed blind");
    let grown = memory(&pty).saturating_sub(before);
    assert!(grown < 200 * 1024, "{grown} KiB more");
    // All is over before the line comes back: the last frame is one that waited.
    wait_until("the end of the turn", || {
        let text = std::fs::read_to_string(&session_files(&home)[0]).unwrap_or_default();
        text.contains("And that is the end of it.")
    });
    pty.go_on();
    pty.wait_for("And that is the end of it.");
    pty.wait_for("typed blind");
    pty.wait_for("∎ ");
    assert_whole(&mut pty);
    super::and_drawn(&mut pty, |pty| pty.press("ctrl+u"));
    leave(&mut pty);
}

/// The program is left while the line hangs, and the line comes back in time: the terminal is given back in whole.
#[test]
fn left_while_it_hangs() {
    let home = Home::new();
    let server = serve(vec![Step::text("Said.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "say it");
    pty.wait_for("∎ ");
    pty.stall();
    pty.press("ctrl+d");
    pty.go_on();
    let exit = pty.wait_exit();
    assert_eq!((exit.code, pty.leftovers()), (0, Vec::new()));
}
