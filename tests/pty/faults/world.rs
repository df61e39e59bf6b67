//! The disk, other programs, and bugs of our own.

use super::super::{ask, leave, mynah, open, serve};
use crate::flows::{KEY, said, session_files};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use mynah::app::msg::Msg;
use mynah::app::start::Surroundings;
use mynah::app::state::{AppState, Beginning};
use mynah::app::terminal::Terminal;
use mynah::app::update::update;
use mynah::app::{effect, panic};
use mynah::config::env::Env;
use mynah::config::keymap::Keymap;
use mynah::term::guard;
use mynah::term::input::Input;
use mynah::testkit::home::Home;
use mynah::testkit::pty::Program;
use mynah::testkit::server::Step;
use mynah::theme::Theme;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// The folder of sessions can't be made: nothing can be kept, and that is said rather than found out later.
#[test]
fn no_session_can_be_written() {
    let home = Home::new();
    // Before the first run nobody knows where sessions go; they are found where one was written.
    let sessions = {
        let server = serve(vec![Step::text("First.")]);
        let mut pty = open(mynah(&home, &server));
        ask(&mut pty, "begin");
        pty.wait_for("First.");
        leave(&mut pty);
        session_files(&home)[0].parent().unwrap().to_owned()
    };
    fs::remove_dir_all(&sessions).unwrap();
    fs::write(&sessions, "in the way").unwrap();
    let server = serve(vec![Step::text("Kept nowhere."), Step::text("Kept now.")]);
    let mut pty = open(mynah(&home, &server));
    ask(&mut pty, "try it");
    pty.wait_for("could not be written");
    pty.wait_for("Kept nowhere.");
    // Once there is room, what was kept in memory is written with the next entry.
    fs::remove_file(&sessions).unwrap();
    ask(&mut pty, "and again");
    pty.wait_for("Kept now.");
    pty.wait_for("Ask anything");
    leave(&mut pty);
    assert_eq!(said(&home), ["try it", "and again"]);
}

/// Nothing to work with at all: the reason is on the screen, what was typed is not lost, and one can leave.
#[test]
fn nothing_can_be_opened() {
    let home = Home::new();
    let mut pty = super::super::bare(&home).args(["--model", "nowhere/none"]).start();
    pty.wait_for("no session");
    assert_eq!(pty.text().matches("No model matches").count(), 1, "{}", pty.text());
    ask(&mut pty, "worth keeping");
    pty.wait_for("No session could be opened");
    pty.wait_for("worth keeping");
    super::and_drawn(&mut pty, |pty| pty.press("shift+tab"));
    super::and_drawn(&mut pty, |pty| pty.press("ctrl+u"));
    ask(&mut pty, "/new");
    pty.wait_until("the reason again", |terminal| terminal.text().matches("No model matches").count() == 2);
    leave(&mut pty);
}

/// The disk is full in the middle of a session.
#[test]
fn a_session_that_can_no_longer_be_written() {
    let home = Home::new();
    let server = serve(vec![Step::text("word ".repeat(4000)), Step::text("It goes on.")]);
    // Writes beyond some KiB fail, as they do on a full disk.
    let script = format!(
        "trap '' XFSZ; ulimit -f 16; exec {} --model openai/any --set retry.base_seconds=0",
        env!("CARGO_BIN_EXE_mynah")
    );
    let mut pty = Program::new("sh")
        .args(["-c", &script])
        .envs(home.variables())
        .envs([("OPENAI_BASE_URL", server.openai_base_url().as_str()), ("OPENAI_API_KEY", KEY)])
        .folder(home.project())
        .start();
    pty.wait_for("Ask anything");
    ask(&mut pty, "talk");
    pty.wait_for("word word");
    pty.wait_for("could not be written");
    pty.wait_for("Ask anything");
    pty.press("ctrl+d");
    let exit = pty.wait_exit();
    assert_eq!(exit.code, 1, "{}", pty.text());
    assert_eq!(pty.leftovers(), Vec::<String>::new());
    assert_eq!(said(&home), ["talk"]);
}

#[test]
fn two_of_us_on_one_session() {
    let home = Home::new();
    let server = serve(vec![Step::text("Mine."), Step::text("Yours.")]);
    let mut first = open(mynah(&home, &server));
    ask(&mut first, "who has it");
    first.wait_for("Mine.");
    let mut second = open(mynah(&home, &server).args(["--continue"]));
    second.wait_for("another");
    assert!(!second.text().contains("who has it"), "{}", second.text());
    // A new session stands in for it.
    ask(&mut second, "and I");
    second.wait_for("Yours.");
    assert!(!server.requests()[1].body.to_string().contains("who has it"));
    leave(&mut second);
    leave(&mut first);
    assert_eq!(session_files(&home).len(), 2);
}

/// The same in the list of sessions: what is open stays open.
#[test]
fn a_session_of_somebody_else_is_not_taken() {
    let home = Home::new();
    let server = serve(vec![Step::text("Mine."), Step::text("Yours."), Step::text("Still yours.")]);
    let mut first = open(mynah(&home, &server));
    ask(&mut first, "who has it");
    first.wait_for("Mine.");
    let mut second = open(mynah(&home, &server));
    ask(&mut second, "and I");
    second.wait_for("Yours.");
    ask(&mut second, "/resume");
    second.wait_for("who has it");
    second.type_text("who has");
    second.wait_for("who has");
    second.press("enter");
    second.wait_for("another");
    second.wait_for("Yours.");
    ask(&mut second, "again");
    second.wait_for("Still yours.");
    leave(&mut second);
    leave(&mut first);
}

/// What libraries and children print while the program has the terminal goes to its log; what is printed afterwards is
/// the shell's again.
#[test]
fn prints_of_others_stay_off_the_screen() {
    let home = Home::new();
    let state = home.mynah().join("state");
    fs::create_dir_all(&state).unwrap();
    let pty = Program::new(std::env::current_exe().unwrap())
        .args(["--exact", "pty::faults::world::prints_meanwhile", "--ignored", "--nocapture"])
        .envs(home.variables())
        .envs([(STATE, state.to_str().unwrap())])
        .start();
    assert_eq!(pty.wait_exit().code, 0);
    let output = String::from_utf8_lossy(&pty.output()).into_owned();
    let log = fs::read_to_string(state.join("prints")).unwrap();
    for text in ["from a library", "from its complaint", "from a child"] {
        assert!(log.contains(text) && !output.contains(text), "{text}: {log:?} {output:?}");
    }
    assert!(output.contains("a frame") && output.contains("afterwards"), "{output:?}");
    assert_eq!(pty.leftovers(), Vec::<String>::new());
}

#[test]
#[ignore = "prints on a terminal: the test above runs it in a process of its own"]
#[allow(clippy::print_stdout, clippy::print_stderr, reason = "to be caught")]
fn prints_meanwhile() {
    let Some(state) = std::env::var_os(STATE) else { return };
    let file = fs::File::create(Path::new(&state).join("prints")).unwrap();
    let around = Surroundings::find(Env::of_process(), None, &[]).unwrap();
    let screen = &around.loaded.settings.screen;
    let (mut terminal, facts) = Terminal::open(&around.env, screen, Some(file), |_heard| {}).unwrap();
    println!("from a library");
    eprintln!("from its complaint");
    assert!(std::process::Command::new("echo").arg("from a child").status().unwrap().success());
    terminal.show(facts.size, |buffer| {
        buffer.set_string(0, 0, "a frame", ratatui::style::Style::new());
        (None, Vec::new())
    });
    assert!(terminal.close(""));
    println!("afterwards");
}

/// Names the state folder to the test that panics.
const STATE: &str = "MYNAH_TEST_PANIC_STATE";

/// A bug in drawing: the terminal is given back before anything is said about it.
#[test]
fn a_panic_in_drawing() {
    let home = Home::new();
    let state = home.mynah().join("state");
    let name = "pty::faults::world::panics_while_it_draws";
    let pty = Program::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .envs(home.variables())
        .envs([(STATE, state.to_str().unwrap())])
        .start();
    let exit = pty.wait_exit();
    assert_ne!(exit.code, 0);
    assert_eq!(pty.leftovers(), Vec::<String>::new());
    pty.wait_for("A bug in Mynah stopped what it was doing.");
    assert!(!pty.text().contains("a frame that can't be"), "{}", pty.text());
    let details = fs::read_to_string(state.join("log/crash.log")).unwrap();
    assert!(details.contains("a frame that can't be") && details.contains("world.rs"), "{details}");
    // It had the terminal at all.
    assert!(pty.output().windows(8).any(|bytes| bytes == b"\x1b[?1049h"));
}

#[test]
#[ignore = "panics on a terminal: the test above runs it in a process of its own"]
fn panics_while_it_draws() {
    let Some(state) = std::env::var_os(STATE) else { return };
    panic::install(Path::new(&state));
    guard::chain_panic_hook();
    let around = Surroundings::find(Env::of_process(), None, &[]).unwrap();
    let opened = Terminal::open(&around.env, &around.loaded.settings.screen, None, |_heard| {});
    let (mut terminal, facts) = opened.unwrap();
    terminal.show(facts.size, |_buffer| (None, Vec::new()));
    terminal.show(facts.size, |_buffer| panic!("a frame that can't be"));
}

fn state(home: &Home) -> AppState {
    let around = Surroundings::find(Env::of(home.variables()), Some(home.project()), &[]).unwrap();
    AppState::new(Beginning {
        loaded: around.loaded,
        cwd: home.project().to_owned(),
        home: home.user().to_owned(),
        term_program: None,
        no_session: false,
        pick_session: false,
        themes: Vec::new(),
        theme: Theme::quiet_dark(),
        page_known: true,
        keymap: Keymap::defaults(),
        notices: Vec::new(),
        prompts: Vec::new(),
        size: (80, 24),
        now: Instant::now(),
    })
}

/// The agent has died of a bug. Nothing in the world can make it, so it is told as the loop would tell it.
#[test]
fn the_agent_dies() {
    let home = Home::new();
    let mut state = state(&home);
    let key = |code, modifiers| Msg::Input(Input::Key(KeyEvent::new(code, modifiers)));
    let tell = |state: &mut AppState, msg| update(state, msg, Instant::now());
    for letter in "worth keeping".chars() {
        tell(&mut state, key(KeyCode::Char(letter), KeyModifiers::NONE));
    }
    assert!(tell(&mut state, Msg::AgentEnded).changed);
    assert!(state.session.dead && !state.is_running());
    let screen = shown(&mut state);
    assert!(screen.contains("The agent has stopped by a mistake of its own."), "{screen}");
    assert!(screen.contains("worth keeping"), "{screen}");
    // Sending is refused in words, and costs nothing.
    let outcome = tell(&mut state, key(KeyCode::Enter, KeyModifiers::NONE));
    assert!(
        !outcome.effects.iter().any(|effect| matches!(effect, effect::Effect::Submit(..))),
        "{outcome:?}"
    );
    let screen = shown(&mut state);
    assert!(
        screen.contains("worth keeping") && screen.contains("/resume opens the session again"),
        "{screen}"
    );
    // Another session can be opened, and the program left.
    tell(&mut state, key(KeyCode::Char('u'), KeyModifiers::CONTROL));
    for letter in "/resume".chars() {
        tell(&mut state, key(KeyCode::Char(letter), KeyModifiers::NONE));
    }
    tell(&mut state, key(KeyCode::Esc, KeyModifiers::NONE));
    let outcome = tell(&mut state, key(KeyCode::Enter, KeyModifiers::NONE));
    assert!(outcome.effects.contains(&effect::Effect::ListSessions), "{outcome:?}");
    tell(&mut state, key(KeyCode::Esc, KeyModifiers::NONE));
    let outcome = tell(&mut state, key(KeyCode::Char('d'), KeyModifiers::CONTROL));
    assert!(outcome.effects.iter().any(|effect| matches!(effect, effect::Effect::Quit(_))), "{outcome:?}");
}

fn shown(state: &mut AppState) -> String {
    let mut buffer = ratatui::buffer::Buffer::empty(ratatui::layout::Rect::new(0, 0, 80, 24));
    mynah::app::draw::draw(state, Instant::now(), &mut buffer);
    let rows = buffer.content.chunks(80).map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>());
    rows.collect::<Vec<_>>().join("\n")
}

/// A folder that goes away under us.
#[test]
fn the_project_is_deleted() {
    let home = Home::new();
    let server = serve(vec![
        Step::text("").call("bash", json!({"command": "pwd"})),
        Step::text("").call("read", json!({"path": "a.txt"})),
        Step::text("It is gone."),
    ]);
    let mut pty = open(mynah(&home, &server).args(["--yolo"]));
    fs::remove_dir_all(home.project()).unwrap();
    ask(&mut pty, "look around");
    pty.wait_for("It is gone.");
    pty.type_text("@a");
    pty.wait_for("@a");
    super::and_drawn(&mut pty, |pty| pty.press("ctrl+u"));
    leave(&mut pty);
}
