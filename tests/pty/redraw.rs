//! Whatever happened to the window or to the program in it, what is on the screen is right again by itself.

use super::{LIT, QUIET, ask, leave, mynah, open, serve};
use crate::flows::{KEY, wait_until};
use mynah::proto::entry::EntryKind;
use mynah::proto::ids::SessionId;
use mynah::proto::message::{Block, Message, UserMessage};
use mynah::store::line::Header;
use mynah::store::log::Log;
use mynah::testkit::home::Home;
use mynah::testkit::pty::Program;
use mynah::testkit::server::{ModelServer, Step};
use mynah::testkit::terminal::modes::private;
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The program by way of a shell.
fn by_shell(home: &Home, server: &ModelServer, script: &str) -> Program {
    let keys = [("OPENAI_BASE_URL", server.openai_base_url()), ("OPENAI_API_KEY", KEY.to_owned())];
    let program = Program::new("sh").args(["-c", script]).envs(home.variables()).folder(home.project());
    program.envs([("MYNAH", env!("CARGO_BIN_EXE_mynah"))]).envs(keys)
}

/// Rows that can be told apart.
fn lines(count: usize) -> String {
    (0..count).map(|line| format!("Line {line:02} of the answer stands here once.\n\n")).collect()
}

#[test]
fn no_row_is_doubled_or_lost_by_a_storm_of_sizes() {
    let home = Home::new();
    let server = serve(vec![Step::text(lines(12))]);
    let mut pty = open(mynah(&home, &server).size(100, 40));
    ask(&mut pty, "tell me");
    pty.wait_for("∎ ");
    for round in 0..60_u16 {
        pty.resize(24 + round * 7 % 90, 5 + round * 5 % 40);
    }
    pty.resize(100, 40);
    pty.wait_until("each line once", |terminal| {
        let text = terminal.text();
        let once =
            |line| text.matches(&format!("Line {line:02} of the answer stands here once.")).count() == 1;
        (0..12).all(once) && text.matches("Ask anything").count() == 1
    });
    pty.wait_quiet(QUIET);
    super::faults::assert_whole(&mut pty);
    assert!(!pty.output().windows(4).any(|bytes| bytes == b"\x1b[3J"), "the scrollback is not ours");
    leave(&mut pty);
}

/// A window that is made smaller and large again, or gets another font, has its old size: what the terminal showed may be
/// gone.
#[test]
fn a_size_that_comes_back_is_drawn_anew() {
    let home = Home::new();
    let server = serve(vec![Step::text(lines(9))]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "tell me");
    pty.wait_for("∎ ");
    pty.wait_quiet(LIT);
    let before = pty.text();
    // It sees neither change by itself, only that there were some.
    pty.signal(Signal::STOP);
    pty.resize(30, 6);
    pty.resize(100, 30);
    assert_ne!(pty.text(), before, "the terminal has lost nothing");
    kill_process(Pid::from_raw(pty.process().cast_signed()).unwrap(), Signal::CONT).unwrap();
    pty.wait_until("the screen as it was", |terminal| terminal.text() == before);
    leave(&mut pty);
}

/// The signal never comes, as from some terminals and through some programs between.
#[test]
fn a_size_that_nobody_told_is_noticed_at_the_next_frame() {
    let home = Home::new();
    let server = serve(vec![]);
    let script = "exec env --block-signal=WINCH \"$MYNAH\" --model openai/any";
    let mut pty = open(by_shell(&home, &server, script));
    pty.resize(70, 20);
    pty.type_text("x");
    pty.wait_until("a screen of that size", |terminal| {
        let is_filled = (0..20).any(|row| terminal.row(row).chars().count() == 70);
        is_filled && terminal.text().contains('x') && !terminal.row(19).is_empty()
    });
    super::faults::assert_whole(&mut pty);
    pty.press("ctrl+u");
    leave(&mut pty);
}

/// Stopped without a chance to give the terminal back, the program finds it as the shell has left it.
#[test]
fn continued_after_a_stop_from_outside_it_has_its_screen_and_modes_again() {
    let home = Home::new();
    let server = serve(vec![Step::text("Here I am.")]);
    let script = "set -m; sh -c 'echo $$ > mynah.pid; exec \"$MYNAH\" --model openai/any'; \
                  printf '\\033[?2004l\\033[?1002l\\033[2J\\033[Hin the shell'; read x; fg; echo \"ended $?\"";
    let mut pty = open(by_shell(&home, &server, script));
    let process = super::faults::process_in(&home.project().join("mynah.pid"));
    kill_process(process, Signal::STOP).unwrap();
    pty.wait_for("in the shell");
    pty.send(b"\n");
    pty.wait_until("our screen and modes", |terminal| {
        let modes = terminal.modes();
        let is_on = modes.is_on(private::PASTE) && modes.is_on(private::MOUSE_DRAGS);
        is_on && terminal.text().contains("Ask anything") && !terminal.text().contains("in the shell")
    });
    super::faults::assert_whole(&mut pty);
    ask(&mut pty, "are you there");
    pty.wait_for("Here I am.");
    pty.wait_for("∎ ");
    pty.press("ctrl+d");
    pty.wait_for("ended 0");
    assert_eq!(pty.look(|terminal| terminal.modes().leftovers()), Vec::<String>::new());
}

fn write_session(file: &Path, folder: &Path, messages: usize) {
    let now = jiff::Timestamp::now();
    let mut log = Log::create(file.to_owned(), Header::new(SessionId::fresh(), folder, now)).unwrap();
    for index in 0..messages {
        let content = vec![Block::text(format!("Prompt {index}, with a few words.\n\n- one\n- two"))];
        let message = Arc::new(Message::User(UserMessage { content, timestamp: 0 }));
        log.append(log.fresh_id(), EntryKind::Message { message }, now);
    }
}

#[test]
fn a_long_session_at_rest_does_nothing() {
    let home = Home::new();
    let server = serve(vec![]);
    let file = home.project().join("long.jsonl");
    write_session(&file, home.project(), 20_000);
    let mut pty = mynah(&home, &server).args(["--session"]).args([&file]).start();
    pty.wait_for("Prompt 19999");
    pty.wait_quiet(Duration::from_millis(500));
    let at_its_end = pty.activity_within(Duration::from_secs(2));
    assert_eq!((at_its_end.bytes, at_its_end.wake_ups), (0, 0), "{at_its_end:?}");
    // And away from its end.
    super::faults::and_drawn(&mut pty, |pty| pty.press("pageup"));
    pty.wait_quiet(Duration::from_millis(500));
    let away = pty.activity_within(Duration::from_secs(2));
    assert_eq!((away.bytes, away.wake_ups), (0, 0), "{away:?}");
    leave(&mut pty);
    wait_until("the end of all processes", || crate::flows::processes_of(&home).is_empty());
}
