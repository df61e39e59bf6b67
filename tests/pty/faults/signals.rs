//! Signals and a terminal that goes away, at every moment: the terminal is given back, nothing is left running, and the
//! session goes on later.

use super::super::{ask, leave, mynah, open, serve};
use super::{process_in, wait_ended};
use crate::flows::{DEADLINE, processes_of, session_files, wait_until};
use mynah::testkit::home::Home;
use mynah::testkit::pty::Pty;
use mynah::testkit::server::Step;
use rustix::process::{Pid, Signal};
use serde_json::json;

/// Signals that systems and people stop programs with, and the exit code that shells know them by.
const STOPS: [(Signal, u32); 2] = [(Signal::TERM, 143), (Signal::HUP, 129)];

/// A command that tells its process number and would go on for long.
const LONG: &str = "echo $$ > pid.txt; sleep 600; echo never > never.txt";

/// The process of that command, once it runs.
fn long_command(home: &Home) -> Pid {
    let file = home.project().join("pid.txt");
    wait_until("the command", || std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')));
    process_in(&file)
}

fn ends_well(pty: &Pty, code: u32) {
    let exit = pty.wait_exit();
    assert_eq!((exit.code, exit.signal), (code, None), "{}", pty.text());
    assert_eq!(pty.leftovers(), Vec::<String>::new());
}

/// What was said before the end is there, and can be gone on with.
fn goes_on(home: &Home, said: &str) {
    wait_until("the end of all processes", || processes_of(home).is_empty());
    assert_eq!(session_files(home).len(), 1);
    let server = serve(vec![Step::text("Here again.")]);
    let mut pty = open(mynah(home, &server).args(["--continue"]));
    ask(&mut pty, "go on");
    pty.wait_for("Here again.");
    assert_eq!(server.violations(), Vec::<String>::new());
    assert!(server.requests()[0].body.to_string().contains(said));
    leave(&mut pty);
}

#[test]
fn at_rest() {
    for (signal, code) in STOPS {
        let (home, server) = (Home::new(), serve(vec![Step::text("All done.")]));
        let mut pty = open(mynah(&home, &server));
        ask(&mut pty, "mend the roof");
        pty.wait_for("All done.");
        pty.wait_for("∎ ");
        pty.signal(signal);
        ends_well(&pty, code);
        assert!(pty.text().contains("mynah --resume"), "{}", pty.text());
        goes_on(&home, "mend the roof");
    }
}

#[test]
fn before_anything_was_said() {
    for (signal, code) in STOPS {
        let (home, server) = (Home::new(), serve(vec![]));
        let pty = open(mynah(&home, &server));
        pty.signal(signal);
        ends_well(&pty, code);
        assert!(!pty.text().contains("--resume"), "{}", pty.text());
    }
}

#[test]
fn in_a_stream() {
    for (signal, code) in STOPS {
        let (step, _gate) = Step::text("A long answer that is never heard to its end").gate_after(2);
        let (home, server) = (Home::new(), serve(vec![step]));
        let mut pty = open(mynah(&home, &server));
        ask(&mut pty, "mend the roof");
        pty.wait_for("A long answer");
        pty.signal(signal);
        ends_well(&pty, code);
        goes_on(&home, "mend the roof");
    }
}

#[test]
fn in_a_command() {
    for (signal, code) in STOPS {
        let (home, server) =
            (Home::new(), serve(vec![Step::text("").call("bash", json!({"command": LONG}))]));
        let mut pty = open(mynah(&home, &server).args(["--yolo"]));
        ask(&mut pty, "mend the roof");
        let command = long_command(&home);
        pty.signal(signal);
        ends_well(&pty, code);
        wait_ended(command);
        goes_on(&home, "mend the roof");
    }
}

#[test]
fn in_a_shell_line_of_the_user() {
    let (home, server) = (Home::new(), serve(vec![]));
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, &format!("!{LONG}"));
    let command = long_command(&home);
    pty.signal(Signal::TERM);
    ends_well(&pty, 143);
    wait_ended(command);
}

#[test]
fn in_a_question() {
    for (signal, code) in STOPS {
        let (home, server) =
            (Home::new(), serve(vec![Step::text("").call("bash", json!({"command": "echo > made.txt"}))]));
        let mut pty = open(mynah(&home, &server));
        ask(&mut pty, "mend the roof");
        pty.wait_for("Run this command?");
        pty.signal(signal);
        ends_well(&pty, code);
        assert!(!home.project().join("made.txt").exists());
        goes_on(&home, "mend the roof");
    }
}

#[test]
fn while_a_retry_waits() {
    let (home, server) = (Home::new(), serve(vec![Step::status(429).retry_after(50)]));
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "mend the roof");
    pty.wait_for("Retrying in");
    pty.signal(Signal::TERM);
    ends_well(&pty, 143);
    goes_on(&home, "mend the roof");
}

/// The window is closed: nobody reads or writes the terminal any more.
#[test]
fn the_window_is_closed() {
    let (home, server) = (Home::new(), serve(vec![Step::text("").call("bash", json!({"command": LONG}))]));
    let mut pty = open(mynah(&home, &server).args(["--yolo"]));
    ask(&mut pty, "mend the roof");
    let command = long_command(&home);
    pty.hang_up();
    let exit = pty.wait_exit();
    assert_eq!((exit.code, exit.signal), (129, None));
    wait_ended(command);
    goes_on(&home, "mend the roof");
}

/// The same in a stream, with a terminal that has taken nothing for a while.
#[test]
fn the_window_of_a_stalled_terminal_is_closed() {
    let (step, gate) = Step::text("word ".repeat(20_000)).pieces(2000).gate_after(1);
    let (home, server) = (Home::new(), serve(vec![step]));
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "mend the roof");
    pty.wait_for("word word");
    pty.stall();
    gate.open();
    pty.hang_up();
    assert_eq!(pty.wait_exit().code, 129);
    goes_on(&home, "mend the roof");
}

/// A terminal that takes nothing does not keep the program from ending.
#[test]
fn a_stalled_terminal_does_not_hold_up_the_end() {
    let (step, gate) = Step::text("word ".repeat(20_000)).pieces(2000).gate_after(1);
    let (home, server) =
        (Home::new(), serve(vec![step, Step::text("").call("bash", json!({"command": "true"}))]));
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "mend the roof");
    pty.wait_for("word word");
    pty.stall();
    for round in 0..200 {
        // Whole screens, until the line is full.
        pty.resize(60 + round % 40, 30);
        pty.press("ctrl+l");
    }
    gate.open();
    pty.signal(Signal::TERM);
    wait_until("the end of the program", || processes_of(&home).is_empty());
    pty.go_on();
    assert_eq!(pty.wait_exit().code, 143);
    assert!(server.wait_for_requests(1, DEADLINE));
}
