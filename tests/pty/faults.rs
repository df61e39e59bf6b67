//! What goes wrong around the full-screen program: the terminal, its line, foreign text, signals, the model, the disk.

mod editor;
mod foreign_text;
mod line;
mod model;
mod paste;
mod signals;
mod stop;
mod terminal;
mod world;

use crate::flows::wait_until;
use mynah::testkit::pty::Pty;
use rustix::process::{Pid, test_kill_process};
use std::path::Path;

/// Does something that must be drawn, and waits until it is: being quiet says nothing before the program has begun.
pub fn and_drawn(pty: &mut Pty, act: impl FnOnce(&mut Pty)) {
    let before = pty.output().len();
    act(pty);
    wait_until("a drawing", || pty.output().len() > before);
    pty.wait_quiet(super::QUIET);
}

/// What is on the screen is what a fresh drawing of it is, once the end of a turn has been lit.
pub fn assert_whole(pty: &mut Pty) {
    pty.wait_quiet(super::LIT);
    let before = pty.text();
    and_drawn(pty, |pty| pty.press("ctrl+l"));
    assert_eq!(pty.text(), before, "the screen was not what it should be");
}

/// The process whose number stands in this file.
pub fn process_in(file: &Path) -> Pid {
    let text = std::fs::read_to_string(file).unwrap();
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

/// Waits until this process is no more. A zombie that waits for its parent is no more, too.
fn wait_ended(process: Pid) {
    wait_until("the end of the command", || {
        let state =
            std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
        test_kill_process(process).is_err() || state.contains(") Z ")
    });
}
