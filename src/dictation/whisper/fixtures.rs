//! What the tests of Whisper have in common: a tiny random model with the reference's outputs, and recordings.

use super::config::Config;
use crate::dictation::weights::SafeTensors;
use candle_core::{Device, Tensor};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Where recordings and models are.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/speech")
}

/// The random model.
pub fn folder() -> PathBuf {
    root().join("whisper-tiny-random")
}

pub fn config() -> Config {
    Config::read(&folder().join("config.json")).unwrap()
}

pub fn weights() -> SafeTensors {
    SafeTensors::open(&[folder().join("model.safetensors")]).unwrap()
}

/// Outputs of the reference.
pub fn expected() -> HashMap<String, Tensor> {
    candle_core::safetensors::load(folder().join("expected.safetensors"), &Device::Cpu).unwrap()
}

pub fn greedy_ids() -> Vec<u32> {
    let text = std::fs::read_to_string(folder().join("expected.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    serde_json::from_value(json["greedy_ids"].clone()).unwrap()
}

/// A recording of 16-bit samples, mono, at 16 kHz, with the plain header of 44 bytes.
pub fn samples(name: &str) -> Vec<f32> {
    let bytes = std::fs::read(root().join(name)).unwrap();
    let data = bytes.windows(4).position(|word| word == b"data").unwrap() + 8;
    bytes[data..].chunks_exact(2).map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]])) / 32768.0).collect()
}

/// The greatest difference between two tensors.
pub fn difference(ours: &Tensor, reference: &Tensor) -> f32 {
    assert_eq!(ours.dims(), reference.dims());
    (ours - reference).unwrap().abs().unwrap().max_all().unwrap().to_scalar().unwrap()
}
