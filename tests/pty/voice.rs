//! Dictation on the real program: a key, sound, a model, and text in the prompt.
//!
//! | file | what it is about |
//! |---|---|
//! | `clean_up` | a text that a model corrects |
//! | `chain` | from the key to the text, in all ways to press it, with a program as the microphone |
//! | `microphone` | the same through the system's audio |
//! | `faults` | what goes wrong before and while something is recorded |
//! | `models` | models that are fetched, broken, or none |
//! | `privacy` | where nothing that was said may be found |
//!
//! Without `MYNAH_TEST_WHISPER` (a folder with Whisper tiny.en) a model with random weights stands for a real one: all is
//! the same but the words.

mod chain;
mod clean_up;
mod faults;
#[cfg(target_os = "linux")]
mod microphone;
mod models;
mod privacy;

use super::{QUIET, bare, leave, open};
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::terminal::Terminal;
use mynah::testkit::terminal::answers::Profile;
use std::path::{Path, PathBuf};

/// A folder with recordings and small models.
const SPEECH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/speech");

/// What `dictation.wav` says.
const SENTENCE: &str = "Please open the file and rename the function.";

/// A program that records from a command line.
fn recording_from(home: &Home, command: &str) -> Program {
    let source = format!("voice.source={command}");
    bare(home).args(["--offline", "--set", source.as_str()])
}

/// The same, and decodes with this model.
fn dictating(home: &Home, command: &str, model: &Path) -> Program {
    let model = format!("voice.model={}", model.display());
    recording_from(home, command).args(["--set", model.as_str(), "--set", "voice.language=auto"])
}

/// A small model whose weights are random numbers.
fn random_model() -> PathBuf {
    Path::new(SPEECH).join("whisper-tiny-random")
}

/// The model with real weights that there is here, if any.
fn real_model() -> Option<PathBuf> {
    let folder = std::env::var_os("MYNAH_TEST_WHISPER").filter(|folder| !folder.is_empty())?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    assert!(folder.is_dir(), "MYNAH_TEST_WHISPER names no folder: {}", folder.display());
    Some(folder)
}

/// A model, and the beginning of what it makes of `dictation.wav`.
fn model() -> (PathBuf, &'static str) {
    real_model().map_or_else(
        || {
            eprintln!("MYNAH_TEST_WHISPER is not set: random weights instead of Whisper tiny.en");
            (random_model(), "uOO")
        },
        |model| (model, SENTENCE),
    )
}

/// The samples of `dictation.wav` as a file of their own, as recording programs write them.
fn spoken(home: &Home) -> PathBuf {
    let wav = std::fs::read(Path::new(SPEECH).join("dictation.wav")).unwrap();
    let header = 44;
    assert_eq!(&wav[36..40], b"data");
    let file = home.project().join("spoken.raw");
    std::fs::write(&file, &wav[header..]).unwrap();
    file
}

/// A microphone's command line: the sentence comes at once, then silence as time goes by.
fn speaks(home: &Home) -> String {
    let file = spoken(home);
    format!("sh -c 'cat {}; while :; do head -c 3200 /dev/zero; sleep 0.1; done'", file.display())
}

/// The seconds on the clock of the recording that runs; `None` if there is no recording.
fn clock(terminal: &Terminal) -> Option<u32> {
    let text = terminal.text();
    let row = text.lines().find(|row| row.contains("── ●"))?;
    let clock = row.split_once('●')?.1.split_whitespace().next()?;
    let (minutes, seconds) = clock.split_once(':')?;
    Some(minutes.parse::<u32>().ok()? * 60 + seconds.parse::<u32>().ok()?)
}

/// Something is recorded, or its text is on its way.
fn is_dictating(terminal: &Terminal) -> bool {
    let text = terminal.text();
    text.contains("── ●") || text.contains("── ○")
}

/// The text is there, or there will be none.
fn is_over(pty: &Pty) {
    pty.wait_until("the end of dictation", |terminal| !is_dictating(terminal));
}

/// Of what a model heard so much that no chance has it in a file: of random weights some letters more.
fn canary(heard: &'static str) -> &'static str {
    if heard == SENTENCE { heard } else { "uOOuuu uOOuuu" }
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

#[test]
fn without_sound_the_key_says_why_and_writing_goes_on() {
    for profile in [Profile::Kitty, Profile::Mute] {
        let home = Home::new();
        let mut pty = open(dictating(&home, "/nowhere/recorder", &random_model()).profile(profile));
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
