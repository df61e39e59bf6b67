//! From the key to the text.

use super::{SENTENCE, clock, dictating, is_over, leave, model, open, speaks, spoken};
use mynah::testkit::home::Home;
use mynah::testkit::pty::Pty;
use mynah::testkit::terminal::answers::Profile;
use mynah::testkit::terminal::keys::KeyAction;
use std::time::Duration;

/// How a person works the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Held; the terminal tells when it is let go.
    Held,
    /// Tapped twice, where no release is told.
    Tapped,
    /// Held, where the system's repeats are all that is told.
    Repeated,
}

impl Way {
    pub(super) const fn profile(self) -> Profile {
        match self {
            Self::Held => Profile::Kitty,
            Self::Tapped | Self::Repeated => Profile::Xterm,
        }
    }

    /// Records from now on for as long as `until` says `false`.
    pub(super) fn record(self, pty: &mut Pty, until: impl Fn(&Pty) -> bool) {
        let wait = |pty: &mut Pty, repeats: bool| {
            for round in 0.. {
                if until(pty) {
                    return;
                }
                assert!(round < 1_500, "what was waited for while recording did not come:\n{}", pty.text());
                // The rhythm of a keyboard.
                pty.activity_within(Duration::from_millis(30));
                if repeats && round > 12 {
                    pty.send(b"\0");
                }
            }
        };
        match self {
            Self::Held => {
                pty.key("ctrl+space", KeyAction::Press);
                assert!(pty.output().windows(3).any(|bytes| bytes == b"\x1b[>"), "keyboard flags are set");
                wait(pty, false);
                pty.key("ctrl+space", KeyAction::Release);
            }
            Self::Tapped => {
                pty.send(b"\0");
                wait(pty, false);
                pty.send(b"\0");
            }
            Self::Repeated => {
                pty.send(b"\0");
                wait(pty, true);
            }
        }
    }
}

/// The text stands in the prompt and was not sent; taken back, it is gone. Then the program ends as ever.
pub(super) fn is_written(pty: &mut Pty, text: &str) {
    pty.wait_for(text);
    is_over(pty);
    let screen = pty.text();
    let row = screen.lines().find(|row| row.contains(text)).unwrap_or_default();
    assert!(text != SENTENCE || row.trim() == text, "{screen}");
    pty.press("ctrl+_");
    pty.wait_gone(text);
    leave(pty);
}

fn dictates(way: Way) {
    let home = Home::new();
    let (model, text) = model();
    let mut pty = open(dictating(&home, &speaks(&home), &model).profile(way.profile()));
    way.record(&mut pty, |pty| pty.look(clock).is_some_and(|seconds| seconds >= 4));
    is_written(&mut pty, text);
}

#[test]
fn a_key_that_is_held() {
    dictates(Way::Held);
}

#[test]
fn a_key_that_is_tapped() {
    dictates(Way::Tapped);
}

#[test]
fn a_held_key_known_by_its_repeats() {
    dictates(Way::Repeated);
}

/// A microphone that gives all it has and ends: what it gave becomes text, without a key.
#[test]
fn a_source_that_ends_ends_the_recording() {
    let home = Home::new();
    let (model, text) = model();
    let file = spoken(&home);
    let mut pty = open(dictating(&home, &format!("cat {}", file.display()), &model));
    pty.press("ctrl+space");
    is_written(&mut pty, text);
}

/// Text goes where the caret is, and what is written while it is on its way stays.
#[test]
fn it_is_put_between_what_is_written() {
    let home = Home::new();
    let (model, text) = model();
    let mut pty = open(dictating(&home, &format!("cat {}", spoken(&home).display()), &model));
    pty.type_text("before after");
    pty.wait_for("before after");
    for _ in 0.."after".len() {
        pty.press("left");
    }
    pty.press("ctrl+space");
    pty.wait_for(&format!("before {text}"));
    pty.wait_for("after");
    is_over(&pty);
    pty.press("ctrl+_");
    pty.wait_for("before after");
    pty.press("ctrl+c");
    leave(&mut pty);
}
