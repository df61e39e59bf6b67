//! Every part against the reference.

use super::super::config::Config;
use super::super::model::Head;
use super::super::tdt::{Emission, Transducer};
use super::*;
use crate::dictation::log_mel::mel::MelBands;
use crate::dictation::log_mel::stft::hann;
use crate::dictation::nn::Linear;
use crate::dictation::transcriber::Cancel;
use crate::dictation::weights::Weights;

const FEATURES: f32 = 2e-4;
const OTHERS: f32 = 5e-5;

/// The first rows of the reference, as many as ours: the rest is padding, which is not defined.
fn check(what: &str, ours: &Tensor, reference: &Tensor, tolerance: f32) {
    let reference = reference.narrow(0, 0, ours.dim(0).unwrap()).unwrap();
    assert_eq!(ours.dims(), reference.dims(), "{what}");
    let difference = (ours - reference).unwrap().abs().unwrap().flatten_all().unwrap().max(0).unwrap();
    let difference: f32 = difference.to_scalar().unwrap();
    assert!(difference <= tolerance, "{what}: {difference}");
}

fn transducer(model: &Parakeet) -> &Transducer {
    match &model.head {
        Head::Transducer(transducer) => transducer,
        Head::Ctc(_) => panic!("a transducer"),
    }
}

#[test]
fn windows_bands_and_features() {
    let (expected, json) = expected("parakeet-tdt-tiny");
    let window = hann(400, true);
    check("window", &Tensor::new(window, &Device::Cpu).unwrap(), &expected["window"], 1e-6);
    let bands = MelBands::new(128, 512, 16_000).rows(257);
    check("bands", &Tensor::new(bands, &Device::Cpu).unwrap(), &expected["mel_filters"], 1e-6);
    let features = tdt().front_end.features(&speech()).unwrap();
    assert_eq!(features.dim(0).unwrap() as u64, json["valid_feature_frames"].as_u64().unwrap());
    check("features", &features, &expected["features"], FEATURES);
    let (expected, _) = super::expected("parakeet-ctc-tiny");
    check("80 bands", &ctc().front_end.features(&speech()).unwrap(), &expected["features"], FEATURES);
}

#[test]
fn the_encoder_in_pieces() {
    let (expected, json) = expected("parakeet-tdt-tiny");
    let mut model = tdt();
    let valid = json["valid_feature_frames"].as_u64().unwrap() as usize;
    let features = expected["features"].narrow(0, 0, valid).unwrap();
    let encoder = &mut model.encoder;
    let rows = encoder.subsampling.forward(&features).unwrap();
    assert_eq!(rows.dim(0).unwrap() as u64, json["valid_encoder_frames"].as_u64().unwrap());
    check("subsampling", &rows, &expected["subsampling_out"], OTHERS);
    check("positions", &encoder.positions.rows(36).unwrap(), &expected["pos_emb"], OTHERS);
    let block = &mut encoder.blocks[0];
    let first = block.feed_forward1.forward(&block.norm_feed_forward1.forward(&rows).unwrap()).unwrap();
    check("feed-forward 1", &first, &expected["layer0.ff1"], OTHERS);
    let rows = (rows + (first * 0.5).unwrap()).unwrap();
    let normed = block.norm_attention.forward(&rows).unwrap();
    check("norm", &normed, &expected["layer0.norm_self_att"], OTHERS);
    let attention = block.attention.forward(&normed, &mut encoder.positions).unwrap();
    check("attention", &attention, &expected["layer0.attn"], OTHERS);
    let rows = (rows + attention).unwrap();
    let convolution = block.convolution.forward(&block.norm_convolution.forward(&rows).unwrap()).unwrap();
    check("convolution", &convolution, &expected["layer0.conv"], OTHERS);
    let rows = (rows + convolution).unwrap();
    let second = block.feed_forward2.forward(&block.norm_feed_forward2.forward(&rows).unwrap()).unwrap();
    check("feed-forward 2", &second, &expected["layer0.ff2"], OTHERS);
    let rows = (rows + (second * 0.5).unwrap()).unwrap();
    check("block", &block.norm_out.forward(&rows).unwrap(), &expected["layer0.out"], OTHERS);
    let frames = encoder.forward(&features, &Cancel::default()).unwrap();
    check("encoder", &frames, &expected["encoder_out"], OTHERS);
    let projected = transducer(&model).joint.project(&frames).unwrap();
    check("projected", &projected, &expected["projected"], OTHERS);
}

#[test]
fn the_transducer_in_pieces() {
    let (expected, json) = expected("parakeet-tdt-tiny");
    let model = tdt();
    let transducer = transducer(&model);
    let numbers = |name: &str| -> Vec<u32> { serde_json::from_value(json[name].clone()).unwrap() };
    let mut state = transducer.prediction.start();
    let said: Vec<Vec<f32>> = numbers("decoder_input_ids")
        .into_iter()
        .map(|token| transducer.prediction.step(&mut state, token).unwrap())
        .collect();
    check("prediction", &Tensor::new(said.clone(), &Device::Cpu).unwrap(), &expected["decoder_out"], OTHERS);
    let (hidden, cells) = state.parts();
    for (name, ours) in [("lstm_h", hidden), ("lstm_c", cells)] {
        check(
            name,
            &Tensor::new(ours, &Device::Cpu).unwrap(),
            &expected[name].flatten_all().unwrap(),
            OTHERS,
        );
    }
    let frames: Vec<Vec<f32>> = expected["projected"].to_vec2().unwrap();
    for (index, frame) in numbers("joint_frames").into_iter().enumerate() {
        let scores = said.iter().map(|said| transducer.joint.scores(&frames[frame as usize], said).unwrap());
        let scores: Vec<Vec<f32>> = scores.collect();
        let reference = expected["joint_logits"].get(index).unwrap();
        check("scores", &Tensor::new(scores, &Device::Cpu).unwrap(), &reference, OTHERS);
    }
}

#[test]
fn pieces_frames_and_durations_are_the_references() {
    let (_, json) = expected("parakeet-tdt-tiny");
    let heard = tdt().emissions(&speech(), &Ask::default()).unwrap();
    let list = |name: &str| -> Vec<usize> { serde_json::from_value(json[name].clone()).unwrap() };
    let ours = |part: fn(&Emission) -> usize| -> Vec<usize> { heard.iter().map(part).collect() };
    assert_eq!(ours(|emission| emission.token as usize), list("tokens"));
    assert_eq!(ours(|emission| emission.frame), list("token_start_frames"));
    assert_eq!(ours(|emission| emission.duration), list("token_durations"));
}

/// The tiny model with another bias of the joint network's head.
struct Biased {
    weights: SafeTensors,
    blank: (usize, f32),
    stay: (usize, f32),
}

impl Weights for Biased {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        self.weights.tensor(name, shape)
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        if name != "joint.head" {
            return self.weights.linear(name, inputs, outputs);
        }
        let mut bias: Vec<f32> = self.tensor("joint.head.bias", &[outputs])?.to_vec1()?;
        for (index, delta) in [self.blank, self.stay] {
            bias[index] += delta;
        }
        let weight = self.tensor("joint.head.weight", &[outputs, inputs])?;
        Ok(Linear::new(&weight, Some(Tensor::new(bias, &Device::Cpu)?))?)
    }

    fn has(&self, name: &str) -> bool {
        self.weights.has(name)
    }
}

#[test]
fn a_model_that_runs_wild_is_moved_on() {
    let (_, json) = expected("parakeet-tdt-tiny");
    let path = folder("parakeet-tdt-tiny");
    let files = Files::find(&path).unwrap().unwrap();
    let delta = |name: &str| json["guard_bias_delta"][name].as_f64().unwrap() as f32;
    let weights = Biased {
        weights: SafeTensors::open(&[path.join("model.safetensors")]).unwrap(),
        blank: (60, delta("blank")),
        stay: (61, delta("duration_0")),
    };
    let heard = files.model(&weights).unwrap().emissions(&speech(), &Ask::default()).unwrap();
    let tokens: Vec<u32> = heard.iter().map(|emission| emission.token).collect();
    let expected: Vec<u32> = serde_json::from_value(json["guard_tokens"].clone()).unwrap();
    assert_eq!(tokens, expected);
}

#[test]
fn ctc_with_biases_and_scaled_input() {
    let (expected, json) = expected("parakeet-ctc-tiny");
    let mut model = ctc();
    let features = model.front_end.features(&speech()).unwrap();
    let frames = model.encoder.forward(&features, &Cancel::default()).unwrap();
    assert_eq!(frames.dim(0).unwrap() as u64, json["valid_encoder_frames"].as_u64().unwrap());
    let Head::Ctc(head) = &model.head else { panic!("a CTC head") };
    // What differs between the two is mostly the features: they are allowed four times as much.
    check("scores", &head.scores(&frames).unwrap(), &expected["logits"], FEATURES);
    let features = expected["features"].narrow(0, 0, features.dim(0).unwrap()).unwrap();
    let frames = model.encoder.forward(&features, &Cancel::default()).unwrap();
    check("scores of the same features", &head.scores(&frames).unwrap(), &expected["logits"], OTHERS);
    let list = |name: &str| -> Vec<u32> { serde_json::from_value(json[name].clone()).unwrap() };
    let best = head.scores(&frames).unwrap().argmax(1).unwrap().to_vec1::<u32>().unwrap();
    assert_eq!(best, list("argmax"));
    let tokens: Vec<u32> = head.decode(&frames).unwrap().iter().map(|emission| emission.token).collect();
    assert_eq!(tokens, list("ctc_collapsed"));
    let words: Vec<String> = tokens.iter().map(ToString::to_string).collect();
    assert_eq!(transcribe(&mut model, &speech()).text, words.join(" "));
    assert_eq!(model.info().kind, "parakeet-ctc");
}

#[test]
fn settings_that_can_not_be_are_refused() {
    let read = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(folder("parakeet-tdt-tiny").join(name)).unwrap()).unwrap()
    };
    let change = |path: &str, value: Value| {
        let mut model = read("config.json");
        *model.pointer_mut(path).unwrap() = value;
        Config::from_huggingface(&model, Some(&read("preprocessor_config.json")))
    };
    assert!(change("/vocab_size", 61.into()).is_ok());
    for (path, value) in [
        ("/model_type", "parakeet_new".into()),
        ("/blank_token_id", 61.into()),
        ("/durations", Value::Null),
        ("/encoder_config/num_attention_heads", 0.into()),
        ("/encoder_config/num_attention_heads", 5.into()),
        ("/encoder_config/conv_kernel_size", 8.into()),
        ("/encoder_config/subsampling_factor", 6.into()),
        ("/encoder_config/subsampling_conv_stride", 0.into()),
        ("/encoder_config/num_mel_bins", 80.into()),
    ] {
        assert!(change(path, value).is_err(), "{path}");
    }
    let mut features = read("preprocessor_config.json");
    features["sampling_rate"] = 8000.into();
    assert!(Config::from_huggingface(&read("config.json"), Some(&features)).is_err());
    let nested = serde_json::json!({ "feature_extractor": read("preprocessor_config.json") });
    let rnnt = {
        let mut model = read("config.json");
        model["model_type"] = "parakeet_rnnt".into();
        Config::from_huggingface(&model, Some(&nested)).unwrap()
    };
    assert_eq!(rnnt.kind(), "parakeet-rnnt");
    assert_eq!(rnnt.frame_seconds(), 0.08);
}
