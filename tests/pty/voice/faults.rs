//! What goes wrong before and while something is recorded, and how a recording is left.

use super::{
    clock, dictating, is_dictating, is_over, leave, open, random_model, recording_from, speaks, spoken,
};
use crate::flows::{processes_of, wait_until};
use mynah::testkit::home::Home;
use mynah::testkit::pty::Pty;
use mynah::testkit::terminal::answers::Profile;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Quick for a person, with room for a busy machine.
const SOON: Duration = Duration::from_secs(2);

fn wait_dictating(pty: &Pty, seconds: u32) {
    pty.wait_until("a recording", |terminal| clock(terminal).is_some_and(|now| now >= seconds));
}

/// A recording that is thrown away: nothing is written, and no program goes on.
fn cancels(home: &Home, pty: &mut Pty) {
    pty.press("esc");
    pty.wait_for("cancelled");
    is_over(pty);
    assert!(pty.text().contains("Ask anything"), "{}", pty.text());
    wait_until("the end of the recording program", || processes_of(home).len() == 1);
}

/// A command line that says the same again and again, as time goes by.
fn repeating(home: &Home, samples: &[i16]) -> String {
    let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let file = home.project().join("again.raw");
    std::fs::write(&file, bytes).unwrap();
    format!("sh -c 'while :; do cat {}; sleep 0.1; done'", file.display())
}

/// A model that never comes into memory: a pipe that nobody writes to.
fn stuck_model(home: &Home) -> PathBuf {
    let path = home.project().join("stuck.nemo");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[test]
fn zeros_and_clipping_are_told_while_one_speaks() {
    for (samples, warning) in
        [(vec![0; 1_600], "the microphone gives no sound"), (vec![i16::MAX; 1_600], "too loud")]
    {
        let home = Home::new();
        let mut pty = open(dictating(&home, &repeating(&home, &samples), &random_model()));
        pty.press("ctrl+space");
        pty.wait_for(warning);
        cancels(&home, &mut pty);
        leave(&mut pty);
    }
}

#[test]
fn a_source_that_gives_nothing_is_given_up() {
    let home = Home::new();
    let mut pty = open(dictating(&home, "sleep 600", &random_model()));
    pty.press("ctrl+space");
    pty.wait_for("opening the microphone");
    pty.wait_for("nothing came for too long");
    wait_until("the end of the recording program", || processes_of(&home).len() == 1);
    leave(&mut pty);
}

#[test]
fn what_was_said_before_a_source_died_is_kept() {
    let home = Home::new();
    let line = format!("sh -c 'cat {}; sleep 1; echo the wire is cut >&2; exit 3'", spoken(&home).display());
    let mut pty = open(dictating(&home, &line, &random_model()));
    pty.press("ctrl+space");
    pty.wait_for("the wire is cut");
    pty.wait_for("uOO");
    pty.press("ctrl+c");
    leave(&mut pty);
}

/// Without any configuration of ALSA there is no device, whatever this machine has.
#[test]
#[cfg(target_os = "linux")]
fn without_a_device_the_screen_stays_whole() {
    let home = Home::new();
    let nothing = home.write("alsa.conf", "");
    let program = dictating(&home, "device", &random_model());
    let mut pty = open(program.envs([("ALSA_CONFIG_PATH", nothing)]));
    pty.press("ctrl+space");
    pty.wait_for("no microphone");
    pty.type_text("/voice mic\n");
    pty.wait_for("microphone");
    pty.wait_quiet(Duration::from_millis(300));
    assert!(!String::from_utf8_lossy(&pty.output()).contains("ALSA lib"));
    pty.press("esc");
    pty.wait_for("Ask anything");
    leave(&mut pty);
}

#[test]
fn esc_throws_away_at_every_stage() {
    for profile in [Profile::Kitty, Profile::Xterm] {
        let home = Home::new();
        let mut pty = open(dictating(&home, "sleep 600", &stuck_model(&home)).profile(profile));
        pty.press("ctrl+space");
        pty.wait_for("opening the microphone");
        cancels(&home, &mut pty);
        leave(&mut pty);

        let home = Home::new();
        let mut pty = open(dictating(&home, &speaks(&home), &stuck_model(&home)).profile(profile));
        pty.press("ctrl+space");
        wait_dictating(&pty, 4);
        pty.wait_for("queued");
        cancels(&home, &mut pty);
        // The key of a recording that was thrown away may still be held for all that is known.
        pty.activity_within(Duration::from_millis(800));
        pty.press("ctrl+space");
        wait_dictating(&pty, 4);
        pty.press("ctrl+space");
        pty.wait_for("loading the speech model");
        cancels(&home, &mut pty);
        leave(&mut pty);
    }
}

#[test]
fn leaving_ends_what_is_recorded_and_what_is_loaded() {
    for is_loading in [false, true] {
        let home = Home::new();
        let mut pty = open(dictating(&home, &speaks(&home), &stuck_model(&home)));
        pty.press("ctrl+space");
        wait_dictating(&pty, 1);
        if is_loading {
            pty.press("ctrl+space");
            pty.wait_for("loading the speech model");
        }
        let before = Instant::now();
        pty.press("ctrl+d");
        let exit = pty.wait_exit();
        let took = before.elapsed();
        assert_eq!((exit.code, exit.signal), (0, None), "{}", pty.text());
        assert!(took < SOON, "{took:?}");
        assert_eq!(pty.leftovers(), Vec::<String>::new());
        wait_until("the end of all processes", || processes_of(&home).is_empty());
    }
}

/// As when its window is closed.
#[test]
fn a_terminal_that_goes_takes_the_recording_program_along() {
    let home = Home::new();
    let mut pty = open(dictating(&home, &speaks(&home), &stuck_model(&home)));
    pty.press("ctrl+space");
    wait_dictating(&pty, 1);
    pty.hang_up();
    wait_until("the end of all processes", || processes_of(&home).is_empty());
}

#[test]
fn twenty_presses_in_a_second_end_in_peace() {
    for profile in [Profile::Kitty, Profile::Xterm] {
        let home = Home::new();
        let mut pty = open(dictating(&home, &speaks(&home), &random_model()).profile(profile));
        for _ in 0..20 {
            pty.press("ctrl+space");
            pty.activity_within(Duration::from_millis(50));
        }
        // Whatever they have come to, writing goes on, and nothing is sent.
        pty.wait_until("dictation in some state", |terminal| {
            is_dictating(terminal) || terminal.text().contains("uOO")
        });
        pty.press("esc");
        is_over(&pty);
        wait_until("the end of the recording program", || processes_of(&home).len() == 1);
        pty.type_text("by hand");
        pty.wait_for("by hand");
        pty.press("ctrl+c");
        leave(&mut pty);
    }
}

#[test]
fn a_model_that_is_none_costs_no_text_written_by_hand() {
    let home = Home::new();
    let wrong = home.write("model/config.json", r#"{"model_type": "bert"}"#);
    std::fs::write(wrong.with_file_name("model.safetensors"), "no numbers").unwrap();
    let line = format!("cat {}", spoken(&home).display());
    let mut pty = open(dictating(&home, &line, wrong.parent().unwrap()));
    pty.type_text("by hand");
    pty.wait_for("by hand");
    pty.press("ctrl+space");
    pty.wait_for("the speech model can't be used");
    pty.wait_for("another kind of model");
    is_over(&pty);
    pty.wait_for("by hand");
    pty.press("ctrl+c");
    leave(&mut pty);
}

#[test]
fn a_model_that_came_half_is_told() {
    let home = Home::new();
    let folder = home.project().join("half");
    std::fs::create_dir(&folder).unwrap();
    for entry in std::fs::read_dir(random_model()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let is_model = path.file_name().is_some_and(|name| name == "model.safetensors");
        let kept = if is_model { &bytes[..bytes.len() / 2] } else { &bytes };
        std::fs::write(folder.join(path.file_name().unwrap()), kept).unwrap();
    }
    let mut pty = open(dictating(&home, &format!("cat {}", spoken(&home).display()), &folder));
    pty.press("ctrl+space");
    pty.wait_for("the speech model can't be used");
    is_over(&pty);
    leave(&mut pty);
}

#[test]
fn without_a_model_and_offline_the_key_says_so() {
    let home = Home::new();
    let line = format!("cat {}", spoken(&home).display());
    let program = recording_from(&home, &line).args(["--set", "voice.model=whisper-tiny"]);
    let mut pty = open(program);
    pty.press("ctrl+space");
    pty.wait_for("no speech model");
    pty.wait_for("offline");
    is_over(&pty);
    leave(&mut pty);
}
