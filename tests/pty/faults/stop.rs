//! Ctrl+Z: the shell gets the terminal as it was, and the program takes it again when it goes on.

use super::super::{QUIET, mynah, serve};
use crate::flows::{DEADLINE, KEY};
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::server::{ModelServer, Step};
use mynah::testkit::terminal::keys::KeyAction;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// The program as a job of a shell: stopped, it leaves the terminal to the shell, which goes on with it at a line end.
fn job(home: &Home, server: &ModelServer) -> Program {
    let script = format!(
        "set -m; {} --model openai/any --yolo; echo \"in the shell $?\"; read x; echo going on; fg; echo \"ended $?\"",
        env!("CARGO_BIN_EXE_mynah")
    );
    Program::new("sh")
        .args(["-c", &script])
        .envs(home.variables())
        .envs([("OPENAI_BASE_URL", server.openai_base_url().as_str()), ("OPENAI_API_KEY", KEY)])
        .folder(home.project())
}

fn back_and_on(pty: &mut Pty) {
    pty.key("ctrl+z", KeyAction::Press);
    pty.wait_for("in the shell");
    assert_eq!(pty.leftovers(), Vec::<String>::new());
    pty.type_text("\n");
    pty.wait_until("our screen", |terminal| terminal.modes().is_alternate());
}

#[test]
fn it_stops_and_goes_on() {
    let home = Home::new();
    let server = serve(vec![Step::text("Here I am.")]);
    let mut pty = job(&home, &server).start();
    pty.wait_for("Ask anything");
    pty.wait_for("openai/any");
    pty.type_text("half a prom");
    pty.wait_for("half a prom");
    back_and_on(&mut pty);
    pty.wait_for("half a prom");
    super::assert_whole(&mut pty);
    pty.type_text("pt");
    pty.press("enter");
    pty.wait_for("Here I am.");
    pty.wait_for("Ask anything");
    pty.press("ctrl+d");
    pty.wait_for("ended 0");
    assert_eq!(pty.leftovers(), Vec::<String>::new());
    assert!(server.requests()[0].body.to_string().contains("half a prompt"));
}

/// The window got another size meanwhile.
#[test]
fn a_size_that_changed_meanwhile_is_noticed() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = job(&home, &server).start();
    pty.wait_for("Ask anything");
    pty.wait_for("openai/any");
    pty.key("ctrl+z", KeyAction::Press);
    pty.wait_for("in the shell");
    pty.resize(70, 20);
    pty.type_text("\n");
    pty.wait_until("our screen in its new size", |terminal| {
        terminal.modes().is_alternate() && (0..20).any(|row| terminal.row(row).chars().count() == 70)
    });
    super::assert_whole(&mut pty);
    pty.press("ctrl+d");
    pty.wait_for("ended 0");
}

/// A turn stands still while the program is stopped, and goes on with it.
#[test]
fn in_the_middle_of_a_turn() {
    let home = Home::new();
    let (step, gate) =
        Step::text("One moment.").call("bash", json!({"command": "echo made > made.txt"})).gate_after(1);
    let server = serve(vec![step, Step::text("It is made.")]);
    let mut pty = job(&home, &server).start();
    pty.wait_for("Ask anything");
    pty.wait_for("openai/any");
    pty.type_text("make it");
    pty.press("enter");
    pty.wait_for("One mome");
    pty.key("ctrl+z", KeyAction::Press);
    pty.wait_for("in the shell");
    gate.open();
    assert_eq!(server.requests().len(), 1);
    pty.type_text("\n");
    assert!(server.wait_for_requests(2, DEADLINE));
    pty.wait_for("It is made.");
    pty.wait_for("∎ ");
    assert!(home.project().join("made.txt").exists());
    super::assert_whole(&mut pty);
    pty.press("ctrl+d");
    pty.wait_for("ended 0");
}

/// Without a shell that could continue it, it does not stop for ever.
#[test]
fn where_nobody_can_continue_it_it_stays() {
    let home = Home::new();
    let server = serve(vec![Step::text("Still here.")]);
    let mut pty = super::super::open(mynah(&home, &server));
    super::and_drawn(&mut pty, |pty| pty.press("ctrl+z"));
    pty.wait_until("our screen", |terminal| {
        terminal.modes().is_alternate() && terminal.text().contains("Ask anything")
    });
    super::super::ask(&mut pty, "are you there");
    pty.wait_for("Still here.");
    super::super::leave(&mut pty);
}

/// Stopped from outside, without a chance to give the terminal back, and continued.
#[test]
fn stopped_from_outside() {
    let home = Home::new();
    let server = serve(vec![Step::text("As if nothing had been.")]);
    let mut pty = super::super::open(mynah(&home, &server));
    pty.signal(Signal::STOP);
    pty.type_text("typed while it stood still");
    pty.resize(80, 25);
    kill_process(Pid::from_raw(pty.process().cast_signed()).unwrap(), Signal::CONT).unwrap();
    pty.wait_for("typed while it stood still");
    pty.wait_quiet(QUIET);
    super::assert_whole(&mut pty);
    pty.press("enter");
    pty.wait_for("As if nothing had been.");
    super::super::leave(&mut pty);
}
