//! Pastes that are far too large.

use super::super::{leave, mynah, open, serve};
use crate::flows::DEADLINE;
use mynah::testkit::home::Home;
use mynah::testkit::pty::Pty;
use mynah::testkit::server::{ModelServer, Step};
use mynah::testkit::terminal::answers::Profile;
use std::time::{Duration, Instant};

const SIZE: usize = 5 * 1024 * 1024;
/// From the last byte of a paste to what it looks like on the screen.
const STALL: Duration = Duration::from_secs(5);

fn text() -> String {
    let mut text = String::with_capacity(SIZE + 100);
    let mut line = 0;
    while text.len() < SIZE {
        line += 1;
        text.push_str(&format!("{line} a line of a log that somebody thought was worth a look\n"));
    }
    text + "the very end"
}

fn pasted(pty: &mut Pty, text: &str) {
    pty.type_text("see: ");
    pty.wait_for("see:");
    pty.paste(text);
    let sent = Instant::now();
    pty.wait_for("[paste #1 ");
    assert!(sent.elapsed() < STALL, "the paste was shown after {:?}", sent.elapsed());
    pty.type_text(" right");
    pty.wait_for(" right");
    assert!(!pty.text().contains("#2"), "{}", pty.text());
}

fn is_sent_whole(pty: &mut Pty, server: &ModelServer, text: &str) {
    pty.press("enter");
    assert!(server.wait_for_requests(1, DEADLINE));
    pty.wait_for("That is a lot.");
    let body = &server.requests()[0].body;
    let messages = body["messages"].as_array().unwrap();
    let content = &messages.last().unwrap()["content"];
    let said = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap();
    assert!(said == format!("see: {text} right"), "{} bytes were sent of {}", said.len(), text.len());
}

#[test]
fn a_huge_paste_is_one_chip_and_is_sent_whole() {
    let (home, server, text) = (Home::new(), serve(vec![Step::text("That is a lot.")]), text());
    let mut pty = open(mynah(&home, &server));
    pasted(&mut pty, &text);
    is_sent_whole(&mut pty, &server, &text);
    leave(&mut pty);
}

/// The terminal says that it can't mark pastes, so the paste comes as keys: as fast, and nothing of it sends.
#[test]
fn a_huge_paste_that_nobody_marks_is_one_chip_too() {
    let (home, server, text) = (Home::new(), serve(vec![Step::text("That is a lot.")]), text());
    let mut pty = open(mynah(&home, &server).profile(Profile::Mute));
    pty.type_text("see: ");
    pty.wait_for("see:");
    pty.send(text.replace('\n', "\r").as_bytes());
    let sent = Instant::now();
    pty.wait_for("[paste #1 ");
    assert!(sent.elapsed() < STALL, "the paste was shown after {:?}", sent.elapsed());
    pty.type_text(" right");
    pty.wait_for(" right");
    is_sent_whole(&mut pty, &server, &text);
    leave(&mut pty);
}
