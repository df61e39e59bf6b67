//! Against the outputs of Hugging Face's transformers for tiny models of random weights, and the same weights once more
//! as one of NeMo's archives.

mod archive;
mod parity;

use super::*;
use crate::dictation::transcriber::{Ask, SpeechError, Transcriber, Transcript};
use crate::dictation::weights::random::RandomWeights;
use crate::dictation::weights::{ModelError, SafeTensors};
use candle_core::{Device, Tensor};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/speech").join(name)
}

fn expected(name: &str) -> (HashMap<String, Tensor>, Value) {
    let tensors =
        candle_core::safetensors::load(folder(name).join("expected.safetensors"), &Device::Cpu).unwrap();
    let json = std::fs::read_to_string(folder(name).join("expected.json")).unwrap();
    (tensors, serde_json::from_str(&json).unwrap())
}

/// 16-bit samples behind a plain header.
fn speech() -> Vec<f32> {
    let bytes = std::fs::read(folder("speech.wav")).unwrap();
    let data = bytes.windows(4).position(|word| word == b"data").unwrap() + 8;
    bytes[data..]
        .chunks_exact(2)
        .map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32768.0)
        .collect()
}

fn load(path: &Path) -> Parakeet {
    let files = Files::find(path).unwrap().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let weights = files.weights(scratch.path()).unwrap();
    files.model(weights.as_ref()).unwrap()
}

fn tdt() -> Parakeet {
    load(&folder("parakeet-tdt-tiny"))
}

/// The CTC model has no tokenizer: numbers are their own words.
fn ctc() -> Parakeet {
    let read = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(folder("parakeet-ctc-tiny").join(name)).unwrap()).unwrap()
    };
    let config =
        config::Config::from_huggingface(&read("config.json"), Some(&read("preprocessor_config.json")))
            .unwrap();
    let words: Vec<String> = (0..32).map(|number| number.to_string()).collect();
    let weights = SafeTensors::open(&[folder("parakeet-ctc-tiny").join("model.safetensors")]).unwrap();
    Parakeet::new(&config, tokenizer::Tokenizer::from_vocabulary(&words.join("\n")), &weights).unwrap()
}

fn transcribe(model: &mut Parakeet, samples: &[f32]) -> Transcript {
    model.transcribe(samples, &Ask::default()).unwrap()
}

#[test]
fn speech_becomes_the_reference_text_with_times() {
    let mut model = tdt();
    let (_, json) = expected("parakeet-tdt-tiny");
    let transcript = transcribe(&mut model, &speech());
    assert_eq!(transcript.text, json["text"].as_str().unwrap());
    assert!(transcript.words.len() > 1);
    let mut before = 0.0;
    for word in &transcript.words {
        assert!(word.start >= before && word.end >= word.start && word.end <= 44_857.0 / 16_000.0);
        before = word.start;
    }
    assert_eq!(transcript.words[0].start, 4.0 * 0.08);
    assert_eq!(model.info().kind, "parakeet-tdt");
    assert!((600_000..800_000).contains(&model.info().bytes), "{}", model.info().bytes);
    // Nothing is left of an utterance in the next one.
    assert!(transcribe(&mut model, &speech()) == transcript);
}

#[test]
fn little_or_nothing_gives_no_words() {
    for mut model in [tdt(), ctc()] {
        for samples in [0, 10, 159] {
            let transcript = transcribe(&mut model, &speech()[..samples]);
            assert!(transcript.text.is_empty() && transcript.words.is_empty());
        }
    }
}

#[test]
fn any_length_is_decoded() {
    let speech = speech();
    for mut model in [tdt(), ctc()] {
        for length in (160..1600).step_by(157).chain((16_000..speech.len()).step_by(3989)) {
            let transcript = transcribe(&mut model, &speech[..length]);
            let end = transcript.words.last().map_or(0.0, |word| word.end);
            assert!(end <= length as f32 / 16_000.0);
        }
    }
}

#[test]
fn longer_utterances_than_the_cache_holds_give_the_same_as_shorter_ones_did() {
    let mut model = tdt();
    let speech = speech();
    let first = transcribe(&mut model, &speech);
    let long: Vec<f32> = speech.iter().cycle().take(speech.len() * 8).copied().collect();
    let unaware = transcribe(&mut tdt(), &long);
    assert!(transcribe(&mut model, &long) == unaware);
    assert!(transcribe(&mut model, &speech) == first);
}

#[test]
fn a_flag_ends_it() {
    let ask = Ask::default();
    ask.cancel.cancel();
    for mut model in [tdt(), ctc()] {
        assert!(matches!(model.transcribe(&speech(), &ask), Err(SpeechError::Cancelled)));
    }
    let mut model = tdt();
    let features = model.front_end.features(&speech()).unwrap();
    assert!(matches!(model.encoder.forward(&features, &ask.cancel), Err(SpeechError::Cancelled)));
}

/// Links the files of the tiny model into a new folder, without one.
fn without(missing: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(folder("parakeet-tdt-tiny")).unwrap() {
        let file = file.unwrap();
        if file.file_name() != missing {
            std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
        }
    }
    copy
}

#[test]
fn a_missing_file_is_named() {
    for missing in ["model.safetensors", "tokenizer.json"] {
        let copy = without(missing);
        let error = Files::find(copy.path()).err().unwrap().to_string();
        assert!(error.contains(missing), "{error}");
    }
    let copy = without("config.json");
    assert!(Files::find(copy.path()).unwrap().is_none());
    assert!(Files::find(&copy.path().join("nowhere")).unwrap().is_none());
    // Its sizes are those of all models there are.
    let copy = without("preprocessor_config.json");
    assert!(Files::find(copy.path()).unwrap().is_some());
}

#[test]
fn weights_may_come_in_parts() {
    let copy = without("model.safetensors");
    std::fs::copy(folder("parakeet-tdt-tiny").join("model.safetensors"), copy.path().join("part-1")).unwrap();
    let index = copy.path().join("model.safetensors.index.json");
    std::fs::write(&index, r#"{"weight_map": {"a": "part-1", "b": "part-1"}}"#).unwrap();
    let mut model = load(copy.path());
    assert_eq!(transcribe(&mut model, &speech()).text, expected("parakeet-tdt-tiny").1["text"]);
    std::fs::write(&index, r#"{"weight_map": {"a": "part-1", "b": "part-2"}}"#).unwrap();
    assert!(Files::find(copy.path()).err().unwrap().to_string().contains("part-2"));
    std::fs::write(&index, r#"{"weight_map": {"a": "../part-1"}}"#).unwrap();
    assert!(Files::find(copy.path()).is_err());
}

#[test]
fn another_model_is_not_taken_for_a_parakeet() {
    let copy = without("config.json");
    std::fs::write(copy.path().join("config.json"), r#"{"model_type": "whisper"}"#).unwrap();
    assert!(Files::find(copy.path()).unwrap().is_none());
    std::fs::write(copy.path().join("config.json"), r#"{"model_type": "parakeet_tdt"}"#).unwrap();
    assert!(matches!(Files::find(copy.path()), Err(ModelError::Kind { .. })));
    std::fs::write(copy.path().join("config.json"), "{").unwrap();
    assert!(matches!(Files::find(copy.path()), Err(ModelError::File { .. })));
}

/// The shape of Parakeet TDT 0.6B v3.
fn full_size() -> config::Config {
    config::Config {
        front_end: crate::dictation::log_mel::parakeet::FrontEndConfig { mels: 128, ..Default::default() },
        encoder: config::EncoderConfig {
            mels: 128,
            hidden: 1024,
            layers: 24,
            heads: 8,
            intermediate: 4096,
            kernel: 9,
            subsampling: 8,
            subsampling_channels: 256,
            subsampling_kernel: 3,
            subsampling_stride: 2,
            scales_input: false,
        },
        head: config::HeadConfig::Transducer(config::TransducerConfig {
            vocabulary: 8193,
            blank: 8192,
            hidden: 640,
            layers: 2,
            joint: 640,
            durations: vec![0, 1, 2, 3, 4],
            most_symbols: 10,
        }),
    }
}

#[test]
#[ignore = "takes 2.5 GB; for measuring, in release"]
fn full_size_takes() {
    let tokenizer = tokenizer::Tokenizer::from_vocabulary("");
    let weights = RandomWeights { seed: 1, has_biases: false };
    let mut model = Parakeet::new(&full_size(), tokenizer, &weights).unwrap();
    let samples: Vec<f32> = speech().iter().cycle().take(160_000).copied().collect();
    for _ in 0..4 {
        let before = processor_seconds();
        let start = std::time::Instant::now();
        let features = model.front_end.features(&samples).unwrap();
        let front = processor_seconds();
        model.encoder.subsampling.forward(&features).unwrap();
        let subsampling = processor_seconds();
        model.encoder.forward(&features, &Default::default()).unwrap();
        let encoder = processor_seconds();
        eprintln!(
            "log-mel {:.3}, subsampling {:.3}, encoder {:.3} CPU s; {:.3} s in all",
            front - before,
            subsampling - front,
            encoder - subsampling,
            start.elapsed().as_secs_f32()
        );
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    eprintln!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
}

/// Of all threads, in user mode.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(11)?.parse::<f64>().ok());
    ticks.unwrap_or_default() / 100.0
}
