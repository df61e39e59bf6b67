//! Selecting in the transcript with the mouse, as far as what reaches the clipboard. Over a connection, so that the
//! terminal is asked to copy and the test sees what it is asked.

use super::{ask, leave, mynah, open, serve};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mynah::testkit::home::Home;
use mynah::testkit::pty::Pty;
use mynah::testkit::server::{ModelServer, Step};
use mynah::testkit::terminal::keys::MouseAction;

fn remote(home: &Home, server: &ModelServer) -> Pty {
    open(mynah(home, server).envs([("SSH_TTY", "/dev/pts/9")]))
}

/// The cell in which a text begins; the last of several.
fn cell(pty: &Pty, text: &str) -> (u16, u16) {
    let screen = pty.text();
    let found = screen.lines().zip(0..).filter_map(|(line, y)| {
        let (before, _) = line.split_once(text)?;
        Some((u16::try_from(before.chars().count()).ok()?, y))
    });
    found.last().unwrap_or_else(|| panic!("{text:?} in\n{screen}"))
}

fn drag(pty: &mut Pty, from: (u16, u16), to: (u16, u16)) {
    pty.mouse(MouseAction::Press, from.0, from.1);
    pty.mouse(MouseAction::Drag, to.0, to.1);
    pty.mouse(MouseAction::Release, to.0, to.1);
}

/// Waits until the terminal was asked to copy so many times, and tells what the last time.
fn copied(pty: &Pty, number: usize) -> String {
    let mut last = None;
    pty.wait_output(&format!("copy {number}"), |output| {
        let output = String::from_utf8_lossy(output);
        // Up to the end of the sequence: it may still be on its way.
        let copies = output.split("\x1b]52;").skip(1).filter_map(|rest| Some(rest.split_once(';')?.1));
        let mut copies = copies.filter_map(|rest| Some(rest.get(..rest.find(['\x07', '\x1b'])?)?.to_owned()));
        last = copies.nth(number - 1);
        last.is_some()
    });
    let last = last.expect("it was waited for");
    String::from_utf8(STANDARD.decode(last).expect("base64")).expect("text")
}

#[test]
fn text_that_streams_is_dragged_over_and_copied() {
    let home = Home::new();
    let text = "The first part of it.\n\nA second paragraph, and a third\n\n";
    let long: String = (0..60).map(|line| format!("More of it, line {line}.\n\n")).collect();
    let (step, gate) = Step::text(format!("{text}{long}The end.")).pieces(text.len()).gate_after(1);
    let server = serve(vec![step]);
    let mut pty = remote(&home, &server);
    ask(&mut pty, "tell me");
    pty.wait_for("and a third");
    let (from, to) = (cell(&pty, "first"), cell(&pty, "paragraph"));
    pty.mouse(MouseAction::Press, from.0, from.1);
    pty.mouse(MouseAction::Drag, to.0, to.1);
    // The rest comes while the button is held: neither the view nor what is marked moves.
    gate.open();
    // It tells of more below, or, when the answer is whole by then, of a new one.
    pty.wait_until("that there is more", |terminal| {
        let text = terminal.text();
        text.contains("↓ below") || text.contains("↓ 1 new")
    });
    assert_eq!(cell(&pty, "first"), from, "{}", pty.text());
    pty.mouse(MouseAction::Drag, to.0 + 8, to.1);
    pty.mouse(MouseAction::Release, to.0 + 8, to.1);
    assert_eq!(copied(&pty, 1), "first part of it.\n\nA second paragraph");
    pty.wait_for("The end.");
    pty.wait_for("∎ ");
    leave(&mut pty);
}

#[test]
fn a_double_click_on_a_wrapped_address_copies_it_whole() {
    let home = Home::new();
    let address = format!("https://example.org/{}?page=2", "a-long-path/".repeat(12));
    let server = serve(vec![Step::text(format!("Look at {address}. It is `src/main.rs:12`."))]);
    let mut pty = remote(&home, &server);
    ask(&mut pty, "where");
    pty.wait_for("∎ ");
    let (x, y) = cell(&pty, "page=2");
    assert!(cell(&pty, "https://").1 < y, "it is wrapped");
    pty.click(x, y);
    pty.click(x, y);
    // The first click copies the address that it stands on, the second one what it selects.
    assert_eq!(copied(&pty, 2), address);
    let (x, y) = cell(&pty, "main.rs");
    pty.click(x, y);
    pty.click(x, y);
    assert_eq!(copied(&pty, 3), "src/main.rs:12");
    pty.click(x, y);
    assert_eq!(copied(&pty, 4), format!("Look at {address}. It is src/main.rs:12."));
    leave(&mut pty);
}

#[test]
fn the_transcript_scrolls_under_a_pointer_held_at_its_edge() {
    let home = Home::new();
    let lines: String = (0..80).map(|line| format!("Line {line}.\n\n")).collect();
    let server = serve(vec![Step::text(lines)]);
    let mut pty = remote(&home, &server);
    ask(&mut pty, "count");
    pty.wait_for("∎ ");
    let (x, y) = cell(&pty, "Line 79.");
    pty.mouse(MouseAction::Press, x + 6, y);
    pty.mouse(MouseAction::Drag, x, 0);
    // Nothing is sent any more: time alone scrolls.
    pty.wait_for("Line 55.");
    pty.mouse(MouseAction::Drag, x, 4);
    let (_, y) = cell(&pty, "below");
    assert!(y > 10);
    pty.wait_quiet(std::time::Duration::from_millis(300));
    // Without the scrollbar at the edge.
    let row = |y| pty.look(|terminal| terminal.row(y).trim_matches([' ', '▕', '▐', '●']).to_owned());
    let first = if row(4).is_empty() { row(5) } else { row(4) };
    pty.mouse(MouseAction::Release, x, 4);
    let text = copied(&pty, 1);
    assert!(text.trim_start().starts_with(&first), "{first:?} {text:?}");
    assert!(text.ends_with("\nLine 79"), "{text:?}");
    assert!(text.lines().count() > 40);
    leave(&mut pty);
}

#[test]
fn the_right_button_copies_what_is_selected_else_pastes() {
    let home = Home::new();
    let server = serve(vec![Step::text("Some words here.")]);
    let mut pty = remote(&home, &server);
    ask(&mut pty, "say");
    pty.wait_for("∎ ");
    let (x, y) = cell(&pty, "words");
    drag(&mut pty, (x, y), (x + 4, y));
    assert_eq!(copied(&pty, 1), "words");
    // Also for the middle button; and it is not called copied, as nobody has said so.
    pty.wait_output("both places", |output| output.windows(8).any(|bytes| bytes == b"\x1b]52;cp;"));
    pty.wait_for("Sent to the terminal's clipboard (OSC 52, not confirmed).");
    let right = format!("\x1b[<2;{};{}M\x1b[<2;{};{}m", x + 1, y + 1, x + 1, y + 1);
    pty.send(right.as_bytes());
    assert_eq!(copied(&pty, 2), "words");
    pty.press("esc");
    pty.send(right.as_bytes());
    // Over a connection only the terminal can paste, and that is said.
    pty.wait_for("Not pasted");
    leave(&mut pty);
}
