//! The search in the transcript, as a person uses it.

use super::{ask, leave, mynah, open, serve};
use mynah::testkit::home::Home;
use mynah::testkit::server::Step;
use std::time::Duration;

#[test]
fn something_is_found_in_a_long_session() {
    let home = Home::new();
    let text = |word: &str| (0..120).map(|line| format!("{word} line {line}.\n\n")).collect::<String>();
    let server = serve(vec![Step::text(text("first")), Step::text(text("second"))]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "count");
    pty.wait_for("first line 119.");
    pty.wait_for("∎ ");
    ask(&mut pty, "once more");
    pty.wait_for("second line 119.");
    pty.wait_gone("Writing reply");
    pty.wait_quiet(super::QUIET);
    // Found while it is typed, far above what is read.
    pty.press("f3");
    pty.wait_for("what to look for");
    pty.type_text("line 7.");
    pty.wait_for("2/2");
    pty.wait_for("second line 7.");
    pty.press("enter");
    pty.wait_for("match 2/2");
    pty.press("shift+n");
    pty.wait_for("first line 7.");
    pty.press("n");
    pty.wait_for("second line 7.");
    // The same as an expression, with a mistake first.
    pty.press("/");
    pty.wait_for(" search ");
    pty.press("alt+r");
    pty.type_text("(x");
    pty.wait_for("unclosed group");
    pty.press("backspace");
    pty.press("backspace");
    pty.press("ctrl+u");
    pty.type_text("^first line 9[0-4]");
    pty.wait_for("/5");
    pty.wait_for("first line 94.");
    // At rest it does nothing.
    pty.wait_quiet(Duration::from_millis(500));
    let activity = pty.activity_within(Duration::from_secs(1));
    assert_eq!((activity.bytes, activity.wake_ups), (0, 0), "{activity:?}");
    pty.press("esc");
    pty.wait_gone(" search ");
    assert!(pty.text().contains("first line 94."), "{}", pty.text());
    // The row has the focus still.
    pty.press("esc");
    pty.wait_gone("back to writing");
    leave(&mut pty);
}
