//! What is left on the terminal when the program ends, however that comes.

use super::{ask, leave, mynah, open, serve};
use mynah::testkit::home::Home;
use mynah::testkit::server::Step;
use rustix::process::Signal;
use serde_json::json;

#[test]
fn what_a_window_over_the_page_showed_goes_with_the_screen() {
    for alternate in ["true", "false"] {
        let home = Home::new();
        let server = serve(vec![Step::text("All is said.")]);
        let mut pty = open(mynah(&home, &server).args(["--set", &format!("screen.alternate={alternate}")]));
        ask(&mut pty, "say it");
        pty.wait_for("∎ ");
        pty.press("alt+m");
        pty.wait_for("Models");
        pty.signal(Signal::TERM);
        assert_eq!(pty.wait_exit().code, 143);
        assert_eq!(pty.leftovers(), Vec::<String>::new());
        let text = pty.text();
        let left: Vec<&str> = text.lines().filter(|row| !row.trim().is_empty()).collect();
        assert!(
            matches!(left.as_slice(), ["All is said.", go_on] if go_on.contains("mynah --resume ")),
            "{alternate}:\n{text}"
        );
    }
}

/// The settings have no place to write: there is no cursor on their screen.
#[test]
fn a_cursor_that_was_hidden_is_shown_again() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = open(mynah(&home, &server));
    pty.press("f2");
    pty.wait_until("no cursor", |terminal| terminal.caret().is_none());
    pty.signal(Signal::TERM);
    assert_eq!(pty.wait_exit().code, 143);
    assert_eq!(pty.leftovers(), Vec::<String>::new());
    assert!(pty.look(|terminal| terminal.caret().is_some()));
}

/// Progress in the window's frame (OSC 9) is a notice for some terminals and text for others; the scrollback is the user's.
#[test]
fn nothing_is_sent_that_others_take_for_a_notice_or_that_wipes_the_scrollback() {
    let home = Home::new();
    let server = serve(vec![
        Step::text("I look.").call("bash", json!({"command": "seq 1 200"})),
        Step::status(500),
        Step::text("It is done.\n\n".repeat(40)),
    ]);
    let mut pty = open(mynah(&home, &server).args(["--yolo"]));
    ask(&mut pty, "look");
    pty.wait_for("∎ ");
    for key in ["pageup", "ctrl+l", "f1", "esc", "ctrl+o", "end"] {
        pty.press(key);
    }
    pty.resize(70, 20);
    pty.wait_for("Ask anything");
    leave(&mut pty);
    let output = String::from_utf8_lossy(&pty.output()).into_owned();
    for bad in ["\u{1b}]9;", "\u{1b}]777;", "\u{1b}]99;", "\u{1b}[3J", "\u{1b}c", "\u{7}"] {
        assert!(!output.contains(bad), "{bad:?} is in {output:?}");
    }
}
