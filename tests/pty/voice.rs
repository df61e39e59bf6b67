//! Dictation on the real program, where there is nothing to hear with.

use super::{QUIET, bare, leave, open};
use mynah::testkit::home::Home;
use mynah::testkit::pty::Program;
use mynah::testkit::terminal::answers::Profile;

/// A program that records from a command line.
fn recording_from(home: &Home, command: &str) -> Program {
    let source = format!("voice.source={command}");
    bare(home).args(["--offline", "--set", source.as_str()])
}

#[test]
fn without_sound_the_key_says_why_and_writing_goes_on() {
    for profile in [Profile::Kitty, Profile::Mute] {
        let home = Home::new();
        let mut pty = open(recording_from(&home, "/nowhere/recorder").profile(profile));
        pty.press("ctrl+space");
        pty.wait_for("no microphone");
        pty.type_text("written by hand");
        pty.wait_for("written by hand");
        // The row goes by itself.
        pty.wait_gone("no microphone");
        pty.press("ctrl+c");
        leave(&mut pty);
    }
}

#[test]
fn the_key_is_inert_in_a_dialog() {
    let home = Home::new();
    let mut pty = open(recording_from(&home, "/nowhere/recorder"));
    pty.press("f1");
    pty.wait_for("Everywhere");
    pty.press("ctrl+space");
    pty.wait_quiet(QUIET);
    assert!(pty.text().contains("Everywhere") && !pty.text().contains("no microphone"), "{}", pty.text());
    pty.press("esc");
    pty.wait_gone("Everywhere");
    leave(&mut pty);
}
