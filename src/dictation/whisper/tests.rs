//! Whole models: the tiny random one, and real weights where there are some.

use super::fixtures::{self, samples};
use super::{Files, Whisper};
use crate::dictation::transcriber::{Ask, SpeechError, Transcriber, Transcript};
use crate::dictation::weights::ModelError;
use candle_core::quantized::{GgmlDType, QTensor, gguf_file};
use candle_core::{Device, Tensor};
use std::fs::File;
use std::path::{Path, PathBuf};

/// What `dictation.wav` says.
const SENTENCE: &str = "Please open the file and rename the function.";
/// Names the folder of a real tiny.en.
const FOLDER: &str = "MYNAH_TEST_WHISPER";

fn load(path: &Path) -> Whisper {
    let files = Files::find(path).unwrap().unwrap();
    let weights = files.weights().unwrap();
    files.model(weights.as_ref()).unwrap()
}

fn real() -> Option<Whisper> {
    let Some(folder) = std::env::var_os(FOLDER) else {
        println!("skipped: {FOLDER} names no folder with a real tiny.en");
        return None;
    };
    Some(load(&PathBuf::from(folder)))
}

fn text(model: &mut Whisper, samples: &[f32]) -> Transcript {
    let transcript = model.transcribe(samples, &Ask::default()).unwrap_or_else(|error| panic!("{error}"));
    let length = samples.len() as f32 / 16_000.0;
    let mut last = 0.0;
    for word in &transcript.words {
        assert!(word.start >= last && word.end >= word.start && word.end <= length + 1e-3);
        last = word.start;
    }
    transcript
}

fn noise(seconds: f32) -> Vec<f32> {
    let mut chance = fastrand::Rng::with_seed(1);
    (0..(seconds * 16_000.0) as usize).map(|_| (chance.f32() - 0.5) * 0.2).collect()
}

/// A copy of the random model, for a test to change.
fn copy(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        std::fs::copy(fixtures::folder().join(name), folder.path().join(name)).unwrap();
    }
    folder
}

#[test]
fn any_sound_gives_bounded_text_and_the_same_each_time() {
    let mut model = load(&fixtures::folder());
    assert!(model.transcribe(&[], &Ask::default()).unwrap_or_default().text.is_empty());
    assert!(text(&mut model, &[0.0; 16_000]).words.is_empty());
    for length in [1, 10, 159, 161, 8_000, 16_000, 16_001, 40_000] {
        let sound = noise(3.0)[..length].to_vec();
        let (first, again) = (text(&mut model, &sound), text(&mut model, &sound));
        assert!(first == again, "{length}");
        assert!(first.text.chars().count() < 40 * (length / 4_000 + 1), "{length}");
        assert_eq!(first.language, None);
    }
}

#[test]
fn the_language_is_taken_or_heard() {
    let folder = copy(&["config.json", "tokenizer.json", "model.safetensors"]);
    std::fs::write(folder.path().join("generation_config.json"), r#"{"is_multilingual": true}"#).unwrap();
    let mut model = load(folder.path());
    let mut language = |language: Option<&str>| {
        let ask = Ask { language: language.map(str::to_owned), ..Ask::default() };
        model.transcribe(&noise(0.5), &ask).unwrap_or_default().language
    };
    assert_eq!(language(Some("de")).as_deref(), Some("de"));
    assert_eq!(language(Some("en-GB")).as_deref(), Some("en"));
    assert!(language(None).is_some());
    assert_eq!(language(Some("tlh")), language(None));
}

#[test]
fn ends_when_it_is_cancelled() {
    let mut model = load(&fixtures::folder());
    let ask = Ask::default();
    ask.cancel.cancel();
    assert!(matches!(model.transcribe(&noise(0.5), &ask), Err(SpeechError::Cancelled)));
}

#[test]
fn the_same_from_gguf() {
    let numbers =
        candle_core::safetensors::load(fixtures::folder().join("model.safetensors"), &Device::Cpu).unwrap();
    let mut expected = load(&fixtures::folder());
    let sound = samples("speech.wav");
    let expected = text(&mut expected, &sound);
    for kind in [GgmlDType::F32, GgmlDType::Q8_0] {
        let folder = copy(&["config.json", "tokenizer.json", "generation_config.json"]);
        let file = folder.path().join("model.gguf");
        let quantised = |tensor: &Tensor| {
            let kind = if tensor.rank() == 2 { kind } else { GgmlDType::F32 };
            QTensor::quantize(tensor, kind).unwrap()
        };
        let tensors: Vec<(&str, QTensor)> =
            numbers.iter().map(|(name, tensor)| (name.as_str(), quantised(tensor))).collect();
        let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
        gguf_file::write(&mut File::create(&file).unwrap(), &[], &tensors).unwrap();
        for path in [folder.path(), &file] {
            let ours = text(&mut load(path), &sound);
            assert!(kind != GgmlDType::F32 || ours == expected);
        }
        let weights = Files::find(folder.path()).unwrap().unwrap().weights().unwrap();
        let table = weights.tensor("model.decoder.embed_tokens.weight", &[120, 32]).unwrap();
        assert!(fixtures::difference(&table, &numbers["model.decoder.embed_tokens.weight"]) < 0.01);
    }
}

#[test]
fn weights_in_parts() {
    let folder = copy(&["config.json", "tokenizer.json"]);
    std::fs::copy(fixtures::folder().join("model.safetensors"), folder.path().join("part.safetensors"))
        .unwrap();
    let index = folder.path().join("model.safetensors.index.json");
    std::fs::write(&index, r#"{"weight_map": {"a": "part.safetensors", "b": "part.safetensors"}}"#).unwrap();
    load(folder.path());
    std::fs::write(&index, r#"{"weight_map": {"a": "lost.safetensors"}}"#).unwrap();
    assert!(
        matches!(Files::find(folder.path()), Err(ModelError::File { file, .. }) if file.ends_with("lost.safetensors"))
    );
}

#[test]
fn other_models_are_none_and_broken_ones_say_why() {
    let folder = copy(&["config.json"]);
    let found = || Files::find(folder.path());
    assert!(matches!(found(), Err(ModelError::File { file, .. }) if file.ends_with("tokenizer.json")));
    std::fs::copy(fixtures::folder().join("tokenizer.json"), folder.path().join("tokenizer.json")).unwrap();
    assert!(matches!(found(), Err(ModelError::File { file, .. }) if file.ends_with("model.safetensors")));
    std::fs::write(folder.path().join("config.json"), r#"{"model_type": "parakeet_tdt"}"#).unwrap();
    assert!(found().unwrap().is_none());
    std::fs::remove_file(folder.path().join("config.json")).unwrap();
    assert!(found().unwrap().is_none());
    std::fs::write(folder.path().join("model.gguf"), "GGUF").unwrap();
    assert!(matches!(found(), Err(ModelError::File { file, .. }) if file.ends_with("config.json")));
    let ggml = folder.path().join("ggml-tiny.bin");
    std::fs::write(&ggml, b"lmgg\0\0").unwrap();
    assert!(matches!(Files::find(&ggml), Err(ModelError::Kind { why, .. }) if why.contains("whisper.cpp")));
    assert!(Files::find(&folder.path().join("none")).unwrap().is_none());
}

#[test]
fn real_weights_write_the_sentence() {
    let Some(mut model) = real() else { return };
    let sound = samples("dictation.wav");
    let transcript = text(&mut model, &sound);
    assert_eq!(transcript.text, SENTENCE);
    let words: Vec<&str> = transcript.words.iter().map(|word| word.text.as_str()).collect();
    assert_eq!(words.join(" "), SENTENCE);
    // The recording's last word ends in its last second, and its first one begins in the first.
    assert!(transcript.words[0].start < 0.5 && transcript.words[7].end > 2.0);
    assert!(transcript.words.windows(2).all(|pair| pair[1].start > pair[0].start));
}

#[test]
#[ignore = "minutes without optimisation: cargo test --release -- --ignored real_weights"]
fn real_weights_write_the_same_of_long_windows() {
    let Some(mut model) = real() else { return };
    let sound = samples("dictation.wav");
    // A full window gives the same words as one that is cut behind the speech.
    let mut whole = sound.clone();
    whole.resize(30 * 16_000, 0.0);
    assert_eq!(text(&mut model, &whole).text, SENTENCE);

    // Longer than a window: nothing is lost at the cuts.
    let mut long = Vec::new();
    while long.len() < 34 * 16_000 {
        long.extend_from_slice(&sound);
        long.resize(long.len() + 8_000, 0.0);
    }
    let times = long.len() / (sound.len() + 8_000);
    assert_eq!(text(&mut model, &long).text.matches("rename the function").count(), times);
}

#[test]
#[ignore = "minutes without optimisation: cargo test --release -- --ignored real_weights"]
fn real_weights_write_nothing_of_silence_and_little_of_noise() {
    let Some(mut model) = real() else { return };
    assert!(text(&mut model, &vec![0.0; 5 * 16_000]).text.is_empty());
    let hiss: Vec<f32> = noise(5.0).iter().map(|sample| sample * 0.02).collect();
    for sound in [hiss, noise(5.0), noise(0.3)] {
        let transcript = text(&mut model, &sound);
        assert!(transcript.words.len() < 20, "{} words", transcript.words.len());
    }
}
