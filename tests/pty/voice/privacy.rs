//! What was said is in the prompt and nowhere else.

use super::{canary, is_over, model, spoken};
use crate::flows::all_files;
use crate::pty::{ask, leave, mynah, open, serve};
use mynah::testkit::home::Home;
use mynah::testkit::server::Step;

/// A run with the fullest log, a session that is kept, and a sentence that is said, thrown away and never sent.
#[test]
fn neither_words_nor_sound_are_kept_anywhere() {
    let home = Home::new();
    let server = serve(vec![Step::text("I have read it.")]);
    let (model, text) = model();
    let canary = canary(text);
    let sound = spoken(&home);
    let samples = std::fs::read(&sound).unwrap();
    let temporary = home.project().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let source = format!("voice.source=cat {}", sound.display());
    let model = format!("voice.model={}", model.display());
    let program = mynah(&home, &server)
        .args(["--set", "log.level=trace", "--set", source.as_str(), "--set", model.as_str()])
        .envs([("TMPDIR", temporary.as_path())]);
    let mut pty = open(program);
    pty.press("ctrl+space");
    pty.wait_for(canary);
    is_over(&pty);
    // What stands in the prompt is the user's own, and kept as such: it is not wanted.
    pty.press("ctrl+_");
    pty.wait_gone(canary);
    ask(&mut pty, "read it");
    pty.wait_for("I have read it.");
    pty.wait_for("∎ ");
    leave(&mut pty);

    let some_sound = &samples[samples.len() / 2..samples.len() / 2 + 64];
    let floats: Vec<u8> = some_sound
        .chunks_exact(2)
        .flat_map(|pair| (f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32_768.0).to_le_bytes())
        .collect();
    let mut seen = 0;
    for folder in [home.mynah(), home.user(), home.project()] {
        for file in all_files(folder).into_iter().filter(|file| *file != sound) {
            let bytes = std::fs::read(&file).unwrap();
            seen += 1;
            for secret in [canary.as_bytes(), some_sound, &floats] {
                let is_there = bytes.windows(secret.len()).any(|part| part == secret);
                assert!(!is_there, "what was said is in {}", file.display());
            }
        }
    }
    let log = all_files(home.mynah())
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .collect::<String>();
    assert!(seen > 1 && log.contains("speech decoded"), "there is a log, and it tells of dictation:\n{log}");
}
