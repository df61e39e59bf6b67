//! The same through the system's audio: a sound server of the test's own plays a recording into the default microphone.

use super::chain::{Way, is_written};
use super::{SENTENCE, SPEECH, clock, model, open};
use mynah::testkit::home::Home;
use mynah::testkit::pty::Program;
use std::path::Path;
use std::process::Command;

/// What plays a recording into a microphone is not everywhere.
fn can_fake() -> bool {
    let is_there = |program: &str| {
        Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .output()
            .is_ok_and(|found| found.status.success())
    };
    let missing: Vec<&str> =
        ["bash", "pulseaudio", "pactl", "paplay"].into_iter().filter(|program| !is_there(program)).collect();
    if !missing.is_empty() {
        eprintln!("skipped: a microphone without a sound card takes {}", missing.join(", "));
    }
    missing.is_empty()
}

fn dictates(way: Way) {
    if !can_fake() {
        return;
    }
    let home = Home::new();
    let (model, text) = model();
    let model = format!("voice.model={}", model.display());
    let go = home.project().join("go");
    let said = home.project().join("go.said");
    let program = Program::new("bash")
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/fake_mic.sh")])
        .args([Path::new(SPEECH).join("dictation.wav")])
        .args([
            env!("CARGO_BIN_EXE_mynah"),
            "--offline",
            "--set",
            "voice.source=device",
            "--set",
            model.as_str(),
        ])
        .envs(home.variables())
        .envs([("FAKE_MIC_GO", go.as_path())])
        .folder(home.project())
        .profile(way.profile());
    let mut pty = open(program);
    let spoken_at = std::cell::Cell::new(None);
    way.record(&mut pty, |pty| {
        let Some(seconds) = pty.look(clock) else { return false };
        if seconds >= 1 && !go.exists() {
            std::fs::write(&go, "").unwrap();
        }
        if said.exists() && spoken_at.get().is_none() {
            spoken_at.set(Some(seconds));
        }
        // What has been played is on its way for a moment.
        spoken_at.get().is_some_and(|at| seconds >= at + 2)
    });
    // What random weights make of it is another thing with every moment at which it begins.
    is_written(&mut pty, if text == SENTENCE { text } else { "uuuu" });
    let screen = String::from_utf8_lossy(&pty.output()).into_owned();
    assert!(!screen.contains("ALSA lib"), "what ALSA prints is on the screen");
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
