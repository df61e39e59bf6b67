//! Dictation in the real program, with Whisper tiny.en: from the key to the text, the screen while something is decoded,
//! and what it costs while someone speaks and afterwards.

use super::{GOALS, SENTENCE, fixture, memory};
use crate::figures::{median, millis, tell};
use mynah::testkit::home::Home;
use mynah::testkit::pty::{Program, Pty};
use mynah::testkit::terminal::keys::KeyAction;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The terminal is looked at for so long while someone speaks.
const WINDOW: Duration = Duration::from_secs(4);
/// Keys that are typed while something is decoded.
const KEYS: usize = 200;

/// The program, opened, with a microphone that is this command line. `None` without a model with real weights.
fn dictating(home: &Home, command: &str) -> Option<Pty> {
    let Some(folder) = std::env::var_os("MYNAH_TEST_WHISPER") else {
        println!("dictation skipped: MYNAH_TEST_WHISPER names no folder");
        return None;
    };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    let settings = [
        format!("voice.source={command}"),
        format!("voice.model={}", folder.display()),
        "voice.threads=2".to_owned(),
    ];
    let pty = Program::new(env!("CARGO_BIN_EXE_mynah"))
        .envs(home.variables())
        .folder(home.project())
        .args(["--offline"])
        .args(settings.iter().flat_map(|setting| ["--set", setting.as_str()]))
        .start();
    pty.wait_until("an open session", |terminal| {
        terminal.text().contains("Ask anything") && !terminal.text().contains("starting…")
    });
    Some(pty)
}

/// The samples of the sentence as a file, so often.
fn spoken(home: &Home, times: usize) -> PathBuf {
    let wav = std::fs::read(fixture()).expect("a recording");
    let samples = wav.get(44..).unwrap_or_default().repeat(times);
    let file = home.project().join("spoken.raw");
    std::fs::write(&file, samples).expect("a file");
    file
}

/// A microphone that plays the sentence at the speed of speech, and then silence, for as long as somebody listens.
fn in_real_time(home: &Home) -> String {
    let file = spoken(home, 1);
    let script = home.project().join("microphone.sh");
    let text = format!(
        "exec 3<'{}'\nwhile head -c 3200 <&3 | cat - /dev/zero | head -c 3200; do sleep 0.1; done\n",
        file.display()
    );
    std::fs::write(&script, text).expect("a script");
    format!("sh {}", script.display())
}

fn is_dictating(pty: &Pty) -> bool {
    let text = pty.text();
    text.contains("── ●") || text.contains("── ○")
}

fn clear(pty: &mut Pty) {
    pty.press("ctrl+c");
    pty.wait_for("Ask anything");
}

/// From the key that is let go to the text. The model decodes for `decoding` seconds of that.
pub fn stop_to_text(decoding: f64) {
    let home = Home::new();
    let Some(mut pty) = dictating(&home, &in_real_time(&home)) else { return };
    let times = (0..4).map(|round| {
        pty.key("ctrl+space", KeyAction::Press);
        pty.wait_until("the end of the sentence", |terminal| terminal.text().contains("0:04"));
        let stopped = Instant::now();
        pty.key("ctrl+space", KeyAction::Release);
        pty.wait_for(SENTENCE);
        let took = millis(stopped.elapsed());
        clear(&mut pty);
        // The first time the model is loaded meanwhile.
        (round, took)
    });
    let times: Vec<f64> = times.filter(|(round, _)| *round > 0).map(|(_, took)| took).collect();
    GOALS.judge("stop_to_text", median(times), decoding * 1000.0 + 150.0, "ms");
}

/// How long the screen takes to answer a key while minutes of speech are decoded on both processors.
pub fn keys_while_decoding() {
    let home = Home::new();
    let Some(mut pty) = dictating(&home, &format!("cat {}", spoken(&home, 120).display())) else { return };
    pty.press("ctrl+space");
    pty.wait_until("the end of the recording", |terminal| terminal.text().contains("── ○"));
    let mut times = Vec::new();
    for _ in 0..KEYS {
        if !is_dictating(&pty) {
            break;
        }
        let before = pty.look(|terminal| terminal.text().matches('x').count());
        let begun = Instant::now();
        pty.type_text("x");
        pty.wait_until("a key", |terminal| terminal.text().matches('x').count() > before);
        times.push(millis(begun.elapsed()));
        let _pause = pty.activity_within(Duration::from_millis(10));
    }
    times.sort_by(f64::total_cmp);
    tell("keys_while_decoding", times.len() as f64, "keys");
    assert!(times.len() > 50, "it was decoded for too short a time to be measured");
    let at = times.len() * 95 / 100;
    GOALS.judge("keys_while_decoding_p95", times.get(at).copied().unwrap_or(f64::MAX), 16.0, "ms");
}

/// What someone who speaks costs before anything is decoded: in the middle of a sentence without an end.
pub fn while_speaking() {
    let home = Home::new();
    let Some(mut pty) = dictating(&home, &in_real_time(&home)) else { return };
    pty.press("ctrl+space");
    pty.wait_until("silence", |terminal| terminal.text().contains("0:06"));
    let window = pty.activity_within(WINDOW);
    GOALS.judge("recording_cpu", millis(window.cpu) / 10.0 / WINDOW.as_secs_f64(), 3.0, "% of a core");
    pty.press("esc");
}

/// Memory before the first dictation and after the model was let go.
pub fn memory_after_unload() {
    let home = Home::new();
    let Some(mut pty) = dictating(&home, &format!("cat {}", spoken(&home, 8).display())) else { return };
    let before = resident(&pty);
    pty.press("ctrl+space");
    pty.wait_for(SENTENCE);
    pty.wait_until("the end of dictation", |terminal| !terminal.text().contains("── ○"));
    let loaded = resident(&pty);
    clear(&mut pty);
    pty.type_text("/voice unload");
    pty.press("enter");
    let mut after = resident(&pty);
    // It is let go on another thread.
    for _ in 0..50 {
        let _pause = pty.activity_within(Duration::from_millis(100));
        after = after.min(resident(&pty));
        if after < before + 30.0 {
            break;
        }
    }
    tell("memory_before", before, "MB");
    tell("memory_with_model", loaded, "MB");
    GOALS.judge("memory_kept_after_unload", after - before, 30.0, "MB");
}

/// Resident memory of the program, in megabytes.
fn resident(pty: &Pty) -> f64 {
    memory(&pty.process().to_string(), "VmRSS:")
}
