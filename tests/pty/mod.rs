//! The full-screen program as a person uses it: keys go in, the screen is read.

mod bands;
mod busy;
mod composer;
mod edges;
mod faults;
mod jobs;
mod leaving;
mod long_session;
mod manners;
mod redraw;
mod scroll;
mod search;
mod select;
mod steps;
mod voice;
mod work;

use crate::flows::{CHAT, KEY};
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::server::{ModelServer, Step};
use std::time::Duration;

/// Silence after which nothing more is on its way.
const QUIET: Duration = Duration::from_millis(150);

/// The same after the end of a turn: its mark is lit for a moment, and for shorter than this without a change.
const LIT: Duration = Duration::from_millis(800);

/// The program in the project of that home, with this server as its model.
fn mynah(home: &Home, server: &ModelServer) -> Program {
    bare(home).envs([("OPENAI_BASE_URL", server.openai_base_url().as_str()), ("OPENAI_API_KEY", KEY)]).args([
        "--model",
        CHAT.model,
        "--set",
        "retry.base_seconds=0",
    ])
}

/// The program in the project of that home; no model is known to it.
fn bare(home: &Home) -> Program {
    Program::new(env!("CARGO_BIN_EXE_mynah")).envs(home.variables()).folder(home.project())
}

/// The same, started, and waited for until it takes keys and its session is open.
fn open(program: Program) -> Pty {
    let pty = program.start();
    pty.wait_until("an open session", |terminal| {
        let text = terminal.text();
        text.contains("Ask anything") && !text.contains("starting…")
    });
    pty
}

/// Types a prompt and sends it.
fn ask(pty: &mut Pty, prompt: &str) {
    pty.type_text(prompt);
    pty.wait_for(prompt);
    pty.press("enter");
}

/// Answers a question with a key, as soon as a person could.
fn answer(pty: &mut Pty, question: &str, key: &str) {
    pty.wait_for(question);
    // What is pressed in the moment in which it appears is not taken for an answer. Nothing moves while it waits.
    pty.wait_quiet(Duration::from_millis(300));
    pty.press(key);
}

/// Leaves the program, and makes sure that the terminal is as it was.
fn leave(pty: &mut Pty) {
    pty.wait_for("Ask anything");
    pty.press("ctrl+d");
    let exit = pty.wait_exit();
    assert_eq!((exit.code, exit.signal), (0, None), "{}", pty.text());
    assert_eq!(pty.leftovers(), Vec::<String>::new());
}

/// A server with these answers.
fn serve(steps: Vec<Step>) -> ModelServer {
    ModelServer::start(steps)
}
