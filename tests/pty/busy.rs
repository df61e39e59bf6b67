//! How much the program does: at rest nothing, for a key what it changes, for a stream what can be seen of it. Only what
//! no machine is too slow for is tested: bytes, wake-ups, memory. Times are figures of `tests/bench/scale.rs`.

use super::long_session::opened;
use super::{ask, leave, mynah, open, serve};
use crate::flows::DEADLINE;
use mynah::testkit::home::Home;
use mynah::testkit::pty::Pty;
use mynah::testkit::server::Step;
use mynah::testkit::terminal::keys::MouseAction;
use std::time::Duration;

/// Memory that is the program's own, in KiB: the pages of its file are not.
fn own_memory(pty: &Pty) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pty.process())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn assert_rests(pty: &Pty) {
    // Longer than what is written waits to be kept.
    pty.wait_quiet(Duration::from_secs(1));
    let activity = pty.activity_within(Duration::from_secs(1));
    assert_eq!((activity.bytes, activity.wake_ups), (0, 0), "{activity:?}");
}

/// See also the benches `live`, for a session of 100,000 messages, and `growth`, for the time of a key.
#[test]
fn in_a_long_session_rest_is_rest_and_a_key_draws_its_cell() {
    let home = Home::new();
    let server = serve(vec![]);
    let mut pty = opened(&home, &server, |program| program);
    assert_rests(&pty);
    // Somewhere in the middle, with a mark and the prompt over it.
    for _ in 0..40 {
        pty.press("pageup");
    }
    pty.wait_for("↓ below");
    assert_rests(&pty);
    pty.type_text("a");
    pty.wait_gone("Ask anything");
    for letter in ["b", "c", "d"] {
        let before = pty.output().len();
        pty.type_text(letter);
        pty.wait_until(letter, |terminal| {
            let row = terminal.cursor().y;
            terminal.row(row).trim_end_matches(['│', ' ']).ends_with(letter)
        });
        pty.wait_quiet(super::QUIET);
        let bytes = pty.output().len() - before;
        assert!(bytes <= 32, "{bytes} bytes for a letter");
    }
    // All was seen once, and is laid out again at will.
    pty.press("ctrl+u");
    for key in ["home", "end"] {
        pty.press(key);
        pty.wait_quiet(super::QUIET);
    }
    assert_rests(&pty);
    // Twice what it takes.
    let memory = own_memory(&pty);
    assert!(memory < 14 * 1024, "{memory} KiB");
    leave(&mut pty);
}

/// See also the benches `stream`, for what a token costs late in a long answer, and `live`, for keys meanwhile.
#[test]
fn a_stream_costs_what_is_seen_of_it_also_under_a_held_button() {
    let home = Home::new();
    let words = "some words of it, ".repeat(20);
    let lines: String = (0..400).map(|line| format!("{line} {words}\n\n")).collect();
    // Some thousand pieces a second.
    let step = Step::text(lines).pieces(2).drip(Duration::from_micros(100));
    let server = serve(vec![step]);
    let mut pty = open(mynah(&home, &server).size(100, 40));
    ask(&mut pty, "talk");
    pty.wait_for("1 some words");
    let second = Duration::from_secs(1);
    let frames = |from: usize, pty: &Pty| {
        let output = pty.output();
        String::from_utf8_lossy(&output[from..]).matches("\x1b[?2026h").count()
    };
    let from = pty.output().len();
    let seen = pty.activity_within(second);
    // 31 for the text; the phase line steps in between.
    let drawn = frames(from, &pty);
    assert!(drawn <= 60, "{drawn} frames in a second");
    let a_screen = 100 * 40;
    assert!(seen.bytes < 31 * a_screen, "{seen:?}");
    // What is below the window is not drawn, only what tells of it.
    pty.mouse(MouseAction::Press, 10, 5);
    pty.mouse(MouseAction::Drag, 20, 8);
    pty.wait_for("↓ below");
    let held = pty.activity_within(second);
    assert!(held.bytes < 60 * 150, "{held:?}");
    pty.mouse(MouseAction::Release, 20, 8);
    pty.press("esc");
    pty.press("esc");
    pty.wait_for("Stopped after");
    leave(&mut pty);
}

#[test]
fn no_key_is_lost_while_all_is_busy() {
    let home = Home::new();
    // As fast as it can be sent.
    let text: String =
        (0..3000).map(|line| format!("Line {line} of a long answer, with *marks*.\n\n")).collect();
    let server = serve(vec![Step::text(text).pieces(40), Step::text("Heard.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "talk");
    pty.wait_for("of a long answer");
    let words: Vec<String> = (0..150).map(|number| format!("word{number:03}")).collect();
    for word in &words {
        pty.type_text(word);
        pty.type_text(" ");
    }
    pty.press("alt+enter");
    assert!(server.wait_for_requests(2, DEADLINE), "it was not sent");
    pty.wait_for("Heard.");
    let body = server.requests()[1].body.to_string();
    assert!(body.contains(words.join(" ").as_str()), "{}", pty.text());
    leave(&mut pty);
}
