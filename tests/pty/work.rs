//! The main job on the screen: prompts, answers, questions for permission, stopping, waiting rows, sessions.

use super::{LIT, QUIET, answer, ask, bare, leave, mynah, open, serve};
use crate::flows::session_files;
use mynah::testkit::home::Home;
use mynah::testkit::server::Step;
use serde_json::json;
use std::fs;
use std::time::Duration;

#[test]
fn without_a_model_the_demo_answers() {
    let home = Home::new();
    let mut pty = open(bare(&home).args(["--offline"]));
    pty.wait_for("demo");
    ask(&mut pty, "show me around");
    // It reads for itself, then asks before it runs anything.
    answer(&mut pty, "Create mynah-tour.md?", "1");
    answer(&mut pty, "Change mynah-tour.md?", "1");
    pty.wait_for("That was the tour.");
    pty.wait_for("∎ ");
    leave(&mut pty);
    assert!(pty.text().contains("mynah --resume"), "{}", pty.text());
}

#[test]
fn an_answer_is_seen_while_it_comes() {
    let home = Home::new();
    let (step, gate) = Step::text("The first part and then the rest.").pieces(15).gate_after(1);
    let server = serve(vec![step]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "tell me");
    pty.wait_for("The first part");
    pty.wait_for("Writing reply");
    assert!(!pty.text().contains("the rest"));
    // Whoever types now is heard.
    pty.type_text("while it runs");
    pty.wait_for("while it runs");
    pty.press("ctrl+c");
    gate.open();
    pty.wait_for("and then the rest.");
    pty.wait_for("∎ ");
    leave(&mut pty);
    let text = pty.text();
    assert!(text.contains("and then the rest.") && text.contains("mynah --resume "), "{text}");
}

#[test]
fn a_command_runs_when_it_was_allowed_by_key() {
    let home = Home::new();
    let server = serve(vec![
        Step::text("I'll look.").call("bash", json!({"command": "echo made > made.txt && echo it is done"})),
        Step::text("Made."),
    ]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "make it");
    pty.wait_for("Run this command?");
    assert!(!home.project().join("made.txt").exists());
    // For as long as the user thinks it does nothing.
    pty.wait_quiet(Duration::from_millis(500));
    let activity = pty.activity_within(Duration::from_secs(2));
    assert_eq!((activity.bytes, activity.wake_ups), (0, 0), "{activity:?}");
    answer(&mut pty, "Run this command?", "y");
    pty.wait_for("Made.");
    pty.wait_for("it is done");
    assert!(home.project().join("made.txt").exists());
    leave(&mut pty);
}

#[test]
fn a_command_that_was_refused_does_not_run() {
    let home = Home::new();
    let server = serve(vec![
        Step::text("").call("bash", json!({"command": "echo made > made.txt"})),
        Step::text("Then I won't."),
    ]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "make it");
    answer(&mut pty, "Run this command?", "m");
    pty.type_text("not in this folder");
    pty.press("enter");
    pty.wait_for("Then I won't.");
    pty.wait_for("not allowed");
    assert!(!home.project().join("made.txt").exists());
    let requests = server.requests();
    assert!(requests[1].body.to_string().contains("not in this folder"));
    leave(&mut pty);
}

#[test]
fn an_edit_shows_its_difference_before_and_after() {
    let home = Home::new();
    home.write("a.txt", "alpha\nbeta\ngamma\n");
    let edit = json!({"path": "a.txt", "edits": [{"oldText": "beta", "newText": "BETA"}]});
    let server = serve(vec![
        Step::text("").call("read", json!({"path": "a.txt"})),
        Step::text("").call("edit", edit),
        Step::text("Changed."),
    ]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "shout");
    pty.wait_for("2 - beta");
    pty.wait_for("2 + BETA");
    answer(&mut pty, "Change a.txt?", "1");
    pty.wait_for("Changed.");
    pty.wait_for("2 + BETA");
    assert_eq!(fs::read_to_string(home.project().join("a.txt")).unwrap(), "alpha\nBETA\ngamma\n");
    leave(&mut pty);
}

#[test]
fn a_stream_is_stopped() {
    let home = Home::new();
    let (step, _gate) = Step::text("Much more than this will not come.").pieces(9).gate_after(1);
    let server = serve(vec![step, Step::text("Here I am.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "go on and on");
    pty.wait_for("Much more");
    pty.press("esc");
    pty.wait_for("Stopped after");
    assert!(pty.text().contains("Much more"));
    ask(&mut pty, "are you there");
    pty.wait_for("Here I am.");
    leave(&mut pty);
}

#[test]
fn a_command_is_stopped() {
    let home = Home::new();
    let server = serve(vec![
        Step::text("").call("bash", json!({"command": "echo begun; sleep 600; echo never > never.txt"})),
        Step::text("Stopped, then."),
    ]);
    let mut pty = open(mynah(&home, &server).args(["--yolo"]));
    ask(&mut pty, "wait long");
    pty.wait_for("begun");
    pty.press("esc");
    pty.wait_for("Stopped after");
    pty.wait_gone("Running bash");
    ask(&mut pty, "and now");
    pty.wait_for("Stopped, then.");
    leave(&mut pty);
}

#[test]
fn what_is_said_meanwhile_steers_or_waits() {
    let home = Home::new();
    let (step, gate) = Step::text("Looking.").call("read", json!({"path": "a.txt"})).pieces(4).gate_after(1);
    home.write("a.txt", "alpha\n");
    let server = serve(vec![step, Step::text("Steered."), Step::text("Queued.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "look at a.txt");
    pty.wait_for("Look");
    ask(&mut pty, "but quietly");
    pty.wait_for("Ask anything");
    pty.type_text("and then the rest");
    pty.press("alt+enter");
    pty.wait_for("Ask anything");
    pty.wait_for("but quietly");
    pty.wait_for("and then the rest");
    // The last one is taken back, changed and sent again.
    pty.press("alt+up");
    pty.wait_gone("Ask anything");
    pty.type_text(" of it");
    pty.press("alt+enter");
    pty.wait_for("Ask anything");
    gate.open();
    pty.wait_for("Steered.");
    pty.wait_for("Queued.");
    let bodies: Vec<String> = server.requests().iter().map(|request| request.body.to_string()).collect();
    assert!(!bodies[0].contains("quietly") && bodies[1].contains("but quietly"), "{bodies:?}");
    assert!(!bodies[1].contains("and then") && bodies[2].contains("and then the rest of it"), "{bodies:?}");
    leave(&mut pty);
}

#[test]
fn a_resize_storm_ends_in_a_whole_screen() {
    let home = Home::new();
    let (step, gate) =
        Step::text("A line that is long enough to wrap where it is narrow, and more of it, and the end.")
            .gate_after(4);
    let server = serve(vec![step]);
    let mut pty = open(mynah(&home, &server).size(100, 30));
    ask(&mut pty, "tell me");
    pty.wait_for("A line that");
    for round in 0..40_u16 {
        pty.resize(30 + round * 7 % 90, 6 + round * 5 % 40);
    }
    pty.resize(60, 20);
    gate.open();
    pty.wait_for("and the end.");
    pty.wait_for("∎ ");
    pty.wait_quiet(LIT);
    let before = pty.text();
    // What is on the screen is what a fresh drawing of it is.
    pty.press("ctrl+l");
    pty.wait_quiet(QUIET);
    assert_eq!(pty.text(), before);
    leave(&mut pty);
}

#[test]
fn a_session_is_resumed_in_the_picker() {
    let home = Home::new();
    let server = serve(vec![Step::text("Blue it is."), Step::text("Still blue.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "remember that it is blue");
    pty.wait_for("Blue it is.");
    leave(&mut pty);
    drop(pty);
    let mut pty = open(mynah(&home, &server));
    pty.type_text("/resume");
    pty.press("enter");
    pty.wait_for("remember that it is blue");
    pty.press("enter");
    pty.wait_for("Blue it is.");
    ask(&mut pty, "which one");
    pty.wait_for("Still blue.");
    assert!(server.requests()[1].body.to_string().contains("remember that it is blue"));
    leave(&mut pty);
}

#[test]
fn a_shell_line_runs_and_is_told_with_the_next_prompt() {
    let home = Home::new();
    let server = serve(vec![Step::text("I see.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "!echo six times $((6 * 7))");
    pty.wait_for("six times 42");
    ask(&mut pty, "!!echo only for me");
    pty.wait_for("only for me");
    pty.wait_for("Ask anything");
    ask(&mut pty, "what was it");
    pty.wait_for("I see.");
    let body = server.requests()[0].body.to_string();
    assert!(body.contains("six times 42") && !body.contains("only for me"), "{body}");
    leave(&mut pty);
}

#[test]
fn at_rest_it_does_nothing() {
    let home = Home::new();
    let server = serve(vec![Step::text("Done.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "be quick");
    pty.wait_for("∎ ");
    pty.wait_quiet(LIT);
    let activity = pty.activity_within(Duration::from_secs(2));
    assert_eq!((activity.bytes, activity.wake_ups), (0, 0), "{activity:?}");
    leave(&mut pty);
}

#[test]
fn what_was_said_until_the_end_is_kept() {
    let home = Home::new();
    let (step, _gate) = Step::text("Much more than this will not come.").pieces(9).gate_after(1);
    let server = serve(vec![step]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "go on and on");
    pty.wait_for("Much more");
    pty.press("ctrl+d");
    assert_eq!(pty.wait_exit().code, 0);
    assert_eq!(pty.leftovers(), Vec::<String>::new());
    let files = session_files(&home);
    let log = fs::read_to_string(&files[0]).unwrap();
    assert!(log.contains("Much more") && log.contains("\"aborted\""), "{log}");
}
