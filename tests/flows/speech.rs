//! `mynah transcribe` and `mynah voice` as scripts use them.

use super::{Ended, mynah, run};
use mynah::testkit::home::Home;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const SPEECH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/speech");

fn fixture(name: &str) -> PathBuf {
    Path::new(SPEECH).join(name)
}

/// Transcribes with a small model with random weights.
fn transcribe(home: &Home, arguments: &[&Path]) -> Ended {
    let model = fixture("parakeet-tdt-tiny");
    run(mynah(home).args(["transcribe", "--json", "--model"]).arg(model).args(arguments))
}

fn lines(ended: &Ended) -> Vec<Value> {
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// 16-bit mono samples at 16 kHz as a WAV file.
fn wav(samples: &[u8]) -> Vec<u8> {
    let length = u32::try_from(samples.len()).unwrap();
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + length).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend(16_000_u32.to_le_bytes());
    bytes.extend(32_000_u32.to_le_bytes());
    bytes.extend(b"\x02\0\x10\0data");
    bytes.extend(length.to_le_bytes());
    bytes.extend(samples);
    bytes
}

#[test]
fn a_real_model_writes_the_sentence() {
    let Some(model) = std::env::var_os("MYNAH_TEST_WHISPER").filter(|folder| !folder.is_empty()) else {
        eprintln!("skipped: MYNAH_TEST_WHISPER names no folder with Whisper tiny.en");
        return;
    };
    let home = Home::new();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join(model);
    let ended = run(mynah(&home).arg("transcribe").arg("--model").arg(model).arg(fixture("dictation.wav")));
    assert_eq!(ended.stdout, "Please open the file and rename the function.\n", "{ended:?}");
    assert_eq!((ended.stderr.as_str(), ended.code), ("", 0));
}

#[test]
fn a_line_of_json_tells_words_and_times() {
    let home = Home::new();
    let ended = transcribe(&home, &[&fixture("speech.wav")]);
    let [line] = lines(&ended).try_into().unwrap();
    assert_eq!((ended.stderr.as_str(), ended.code), ("", 0));
    assert!(line["file"].as_str().unwrap().ends_with("speech.wav"));
    assert_eq!(line["duration"], 2.804);
    assert_eq!(
        (line["kind"].as_str(), line["model"].as_str()),
        (Some("parakeet-tdt"), Some("parakeet-tdt-tiny"))
    );
    assert!(line["wall"].as_f64().unwrap() > 0.0 && line["rtf"].as_f64().unwrap() > 0.0);
    let words = line["words"].as_array().unwrap();
    let texts: Vec<_> = words.iter().map(|word| word["text"].as_str().unwrap()).collect();
    assert_eq!(line["text"], texts.join(" "));
    let mut last = 0.0;
    for word in words {
        let (start, end) = (word["start"].as_f64().unwrap(), word["end"].as_f64().unwrap());
        assert!(last <= start && start <= end && end <= 2.804, "{line}");
        last = start;
    }
}

#[test]
fn a_broken_file_among_others_is_told_and_the_others_are_read() {
    let home = Home::new();
    let broken = home.write("broken.wav", "RIFF and nothing");
    let gone = home.project().join("gone.wav");
    let (first, second) = (fixture("speech.wav"), fixture("dictation.wav"));
    let ended = transcribe(&home, &[&first, &broken, &gone, &second]);
    let files: Vec<_> = lines(&ended).iter().map(|line| line["file"].as_str().unwrap().to_owned()).collect();
    assert_eq!(files, [first.display().to_string(), second.display().to_string()]);
    assert_eq!(ended.code, 1);
    assert_eq!(ended.stderr.lines().count(), 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("broken.wav") && ended.stderr.contains("gone.wav"), "{}", ended.stderr);
}

#[test]
fn a_long_file_is_read_by_chunks() {
    let home = Home::new();
    let speech = std::fs::read(fixture("speech.wav")).unwrap()[44..].to_vec();
    let mut samples = Vec::new();
    while samples.len() < 40 * 32_000 {
        samples.extend(&speech);
        samples.extend([0; 32_000]);
    }
    let file = home.project().join("long.wav");
    std::fs::write(&file, wav(&samples)).unwrap();
    let ended = transcribe(&home, &[&file]);
    let [line] = lines(&ended).try_into().unwrap();
    assert!(line["duration"].as_f64().unwrap() >= 40.0, "{line}");
    let starts: Vec<_> =
        line["words"].as_array().unwrap().iter().map(|word| word["start"].as_f64().unwrap()).collect();
    assert!(starts.is_sorted(), "{line}");
    assert!(starts.first().unwrap() < &4.0 && starts.last().unwrap() > &36.0, "{line}");
}

#[test]
fn other_formats_say_the_same() {
    let home = Home::new();
    let known = lines(&transcribe(&home, &[&fixture("speech.wav")]))[0]["text"].clone();
    for format in ["flac", "ogg", "mp3"] {
        let file = home.project().join(format!("speech.{format}"));
        let made = Command::new("sox").arg(fixture("speech.wav")).arg(&file).output();
        if !made.is_ok_and(|made| made.status.success()) {
            eprintln!("skipped: there is no sox here that writes {format}");
            continue;
        }
        let ended = transcribe(&home, &[&file]);
        let [line] = lines(&ended).try_into().unwrap_or_else(|_| panic!("{format}: {ended:?}"));
        assert!((line["duration"].as_f64().unwrap() - 2.804).abs() < 0.1, "{line}");
        if format == "flac" {
            assert_eq!(line["text"], known, "nothing is lost in {format}");
        }
    }
}

/// Without any configuration of ALSA there is no device, whatever this machine has.
#[test]
fn voice_tells_what_there_is_without_sound() {
    let home = Home::new();
    let nothing = home.write("alsa.conf", "");
    let voice = |part: &str| run(mynah(&home).args(["voice", part]).env("ALSA_CONFIG_PATH", &nothing));
    let status = voice("status");
    assert_eq!((status.stderr.as_str(), status.code), ("", 0));
    for row in ["model ", "microphone ", "language ", "memory ", "models in "] {
        assert!(status.stdout.lines().any(|line| line.starts_with(row)), "{row}: {}", status.stdout);
    }
    let models = voice("models");
    assert_eq!((models.stderr.as_str(), models.code), ("", 0));
    assert!(models.stdout.contains("parakeet-tdt-0.6b-v3") && models.stdout.contains("whisper-tiny.en"));
    let check = voice("check");
    assert_eq!((check.stdout.as_str(), check.code), ("No speech model is on this disk.\n", 0));
    if cfg!(target_os = "linux") {
        let microphones = voice("microphones");
        assert_eq!((microphones.stdout.as_str(), microphones.code), ("", 1), "{microphones:?}");
        assert!(
            !microphones.stderr.contains("ALSA lib") && microphones.stderr.lines().count() == 1,
            "{microphones:?}"
        );
    }
}

#[test]
fn a_missing_model_is_told_with_what_to_do() {
    let home = Home::new();
    let ended = run(mynah(&home).args(["transcribe", "--model", "whisper-tiny"]).arg(fixture("speech.wav")));
    assert_eq!((ended.stdout.as_str(), ended.code), ("", 1));
    assert!(ended.stderr.contains("mynah voice setup whisper-tiny"), "{}", ended.stderr);
    let ended =
        run(mynah(&home).args(["transcribe", "--model", "/nowhere/model"]).arg(fixture("speech.wav")));
    assert_eq!((ended.stdout.as_str(), ended.code), ("", 1));
    assert!(ended.stderr.contains("/nowhere/model"), "{}", ended.stderr);
}
