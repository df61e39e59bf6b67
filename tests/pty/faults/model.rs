//! A model server that fails, is gone, or was never there.

use super::super::{ask, bare, leave, mynah, open, serve};
use crate::flows::{CHAT, KEY};
use mynah::testkit::home::Home;
use mynah::testkit::pty::Program;
use mynah::testkit::server::Step;

/// Nobody listens on this port: it was free a moment ago.
fn nobody(home: &Home) -> Program {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    bare(home)
        .envs([("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1").as_str()), ("OPENAI_API_KEY", KEY)])
        .args(["--model", CHAT.model])
}

#[test]
fn the_server_goes_away_in_the_middle_of_a_turn() {
    let home = Home::new();
    let (step, gate) = Step::text("It begins well and then").gate_after(1);
    let server = serve(vec![step]);
    let mut pty = open(mynah(&home, &server).args(["--set", "retry.base_seconds=50"]));
    ask(&mut pty, "tell me");
    pty.wait_for("It begin");
    drop(server);
    pty.wait_for("Retrying in");
    pty.wait_for("attempt ");
    // Whoever does not want to wait ends it, and can go on.
    pty.press("esc");
    pty.wait_for("Stopped after");
    pty.wait_gone("Retrying in");
    pty.wait_for("It begin");
    drop(gate);
    leave(&mut pty);
}

#[test]
fn an_interrupt_ends_the_wait_too() {
    let home = Home::new();
    let server = serve(vec![Step::status(529), Step::text("Now it works.")]);
    let mut pty = open(mynah(&home, &server).args(["--set", "retry.base_seconds=50"]));
    ask(&mut pty, "tell me");
    pty.wait_for("Retrying in");
    pty.press("ctrl+c");
    pty.wait_for("Stopped after");
    ask(&mut pty, "again");
    pty.wait_for("Now it works.");
    leave(&mut pty);
}

#[test]
fn a_failure_that_passes_is_forgotten() {
    let home = Home::new();
    let server = serve(vec![Step::cut(2), Step::status(503), Step::text("At last.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "tell me");
    pty.wait_for("At last.");
    pty.wait_for("∎ ");
    assert!(!pty.text().contains("Retrying"), "{}", pty.text());
    super::assert_whole(&mut pty);
    leave(&mut pty);
}

#[test]
fn nobody_listens() {
    let home = Home::new();
    let mut pty = open(nobody(&home).args(["--set", "retry.base_seconds=0"]));
    ask(&mut pty, "tell me");
    pty.wait_for("Failed after");
    pty.wait_for("127.0.0.1");
    pty.wait_for("Ask anything");
    // It is the prompt's failure, not the session's.
    let server = serve(vec![Step::text("Here.")]);
    drop(server);
    leave(&mut pty);
}

#[test]
fn nobody_listens_and_nobody_wants_to_wait() {
    let home = Home::new();
    let mut pty = open(nobody(&home).args(["--set", "retry.base_seconds=50"]));
    ask(&mut pty, "tell me");
    pty.wait_for("Retrying in");
    pty.press("esc");
    pty.wait_for("Stopped after");
    leave(&mut pty);
}

/// Silence is no failure; what the user wrote meanwhile and the key that stops work.
#[test]
fn a_server_that_says_nothing() {
    let home = Home::new();
    let server = serve(vec![Step::hang(0), Step::text("I was far away.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "tell me");
    assert!(server.wait_for_requests(1, crate::flows::DEADLINE));
    pty.type_text("are you there");
    pty.wait_for("are you there");
    pty.press("esc");
    pty.wait_for("Stopped after");
    pty.press("enter");
    pty.wait_for("I was far away.");
    leave(&mut pty);
}

#[test]
fn a_key_that_is_wrong_is_said_and_nothing_of_it_is_shown() {
    let home = Home::new();
    let server = serve(vec![Step::status(401).message(format!("Incorrect API key provided: {KEY}"))]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "tell me");
    pty.wait_for("Failed after");
    assert!(!String::from_utf8_lossy(&pty.output()).contains(KEY), "{}", pty.text());
    leave(&mut pty);
}
