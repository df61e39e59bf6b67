//! Features to what was heard: two convolutions and a stack of layers in which all frames see each other.

use super::config::Config;
use super::layers::{FeedForward, Norm, Projections};
use super::vector::softmax_in_place;
use crate::dictation::log_mel::whisper::Features;
use crate::dictation::nn::{Activation, Linear};
use crate::dictation::transcriber::{Cancel, SpeechError};
use crate::dictation::weights::{ModelError, Weights};
use candle_core::{Device, Result, Tensor};

/// Inputs of a convolution that meet in one of its outputs.
const TAPS: usize = 3;
/// Rows whose scores are held at once: all of them would be 180 MB in the large models.
const BLOCK: usize = 256;

/// The encoder.
pub struct Encoder {
    convolutions: [Linear; 2],
    positions: Tensor,
    layers: Vec<Layer>,
    norm: Norm,
}

struct Layer {
    attention: Projections,
    feed_forward: FeedForward,
    heads: usize,
}

impl Encoder {
    /// Reads it.
    ///
    /// # Errors
    /// A tensor is missing, or has another shape than the configuration says.
    pub fn load(weights: &dyn Weights, config: &Config) -> std::result::Result<Self, ModelError> {
        let channels = config.d_model;
        let layer = |number: usize| {
            let name = format!("model.encoder.layers.{number}");
            Ok(Layer {
                attention: Projections::load(weights, &format!("{name}.self_attn"), channels)?,
                feed_forward: FeedForward::load(weights, &name, channels, config.encoder_ffn_dim)?,
                heads: config.encoder_attention_heads,
            })
        };
        Ok(Self {
            convolutions: [
                convolution(weights, "model.encoder.conv1", config.num_mel_bins, channels)?,
                convolution(weights, "model.encoder.conv2", channels, channels)?,
            ],
            positions: weights
                .tensor("model.encoder.embed_positions.weight", &[config.max_source_positions, channels])?,
            layers: (0..config.encoder_layers).map(layer).collect::<std::result::Result<_, ModelError>>()?,
            norm: Norm::load(weights, "model.encoder.layer_norm", channels)?,
        })
    }

    /// Makes `(frames / 2, channels)` of features, at most as many as the model has positions.
    ///
    /// # Errors
    /// [`SpeechError::Cancelled`], or the shapes do not fit.
    pub fn forward(&self, features: &Features, cancel: &Cancel) -> std::result::Result<Tensor, SpeechError> {
        let [first, second] = &self.convolutions;
        let rows =
            first.forward_then(&neighbours(&features.values, features.frames, 1)?, Activation::Gelu)?;
        let values = rows.flatten_all()?.to_vec1()?;
        let rows = second.forward_then(&neighbours(&values, features.frames, 2)?, Activation::Gelu)?;
        let mut rows = (&rows + self.positions.narrow(0, 0, rows.dim(0)?)?)?;
        for layer in &self.layers {
            cancel.check()?;
            rows = layer.forward(&rows)?;
        }
        Ok(self.norm.forward(&rows)?)
    }
}

impl Layer {
    fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        let parts = &self.attention;
        let normed = parts.norm.forward(rows)?;
        let heads = |linear: &Linear| self.heads_first(&linear.forward(&normed)?);
        let (queries, keys, values) = (heads(&parts.query)?, heads(&parts.key)?, heads(&parts.value)?);
        let found = attend(&queries, &keys, &values)?;
        let rows = (rows + parts.out.forward(&found)?)?;
        self.feed_forward.forward(&rows)
    }

    /// `(frames, channels)` as `(heads, frames, channels of a head)`, without moving anything.
    fn heads_first(&self, rows: &Tensor) -> Result<Tensor> {
        let (frames, channels) = rows.dims2()?;
        rows.reshape((frames, self.heads, channels / self.heads))?.transpose(0, 1)
    }
}

/// Every frame sees all: `softmax(q kᵀ / √size) v`, a block of rows at a time; gives `(frames, channels)`.
fn attend(queries: &Tensor, keys: &Tensor, values: &Tensor) -> Result<Tensor> {
    let (heads, frames, size) = queries.dims3()?;
    let keys = keys.transpose(1, 2)?;
    let scale = 1.0 / (size as f32).sqrt();
    let blocks: Vec<Tensor> = (0..frames)
        .step_by(BLOCK)
        .map(|start| {
            let rows = BLOCK.min(frames - start);
            let scores = queries.narrow(1, start, rows)?.matmul(&keys)?;
            softmax_in_place(&scores, scale)?;
            scores.matmul(values)?.transpose(0, 1)?.reshape((rows, heads * size))
        })
        .collect::<Result<_>>()?;
    Tensor::cat(&blocks, 0)
}

/// Reads a convolution of [`TAPS`] as the product that [`neighbours`] makes of it.
fn convolution(
    weights: &dyn Weights,
    name: &str,
    inputs: usize,
    outputs: usize,
) -> std::result::Result<Linear, ModelError> {
    let weight = weights.tensor(&format!("{name}.weight"), &[outputs, inputs, TAPS])?;
    let bias = weights.tensor(&format!("{name}.bias"), &[outputs])?;
    let weight = weight.permute((0, 2, 1))?.reshape((outputs, TAPS * inputs))?;
    Ok(Linear::new(&weight, Some(bias))?)
}

/// Each `stride`th frame with the one before and the one behind it, zeros outside:
/// `(frames, channels)` to `(frames / stride, TAPS * channels)`, rounded up.
fn neighbours(values: &[f32], frames: usize, stride: usize) -> Result<Tensor> {
    let channels = values.len() / frames.max(1);
    let outputs = frames.div_ceil(stride);
    let mut rows = Vec::with_capacity(outputs * TAPS * channels);
    for frame in (0..frames).step_by(stride) {
        let start = frame.saturating_sub(1) * channels;
        let end = values.len().min((frame + 2) * channels);
        if frame == 0 {
            rows.resize(channels, 0.0);
        }
        rows.extend_from_slice(values.get(start..end).unwrap_or_default());
        rows.resize((frame / stride + 1) * TAPS * channels, 0.0);
    }
    Tensor::from_vec(rows, (outputs, TAPS * channels), &Device::Cpu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictation::log_mel::whisper::LogMel;
    use crate::dictation::whisper::fixtures::{self, difference};

    #[test]
    fn neighbours_are_zero_outside() {
        let rows = |frames, stride| {
            let values: Vec<f32> = (1..=frames * 2).map(|n| n as f32).collect();
            neighbours(&values, frames, stride).unwrap().to_vec2::<f32>().unwrap()
        };
        assert_eq!(rows(2, 1), [[0.0, 0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0, 0.0, 0.0]]);
        assert_eq!(rows(3, 2), [[0.0, 0.0, 1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 6.0, 0.0, 0.0]]);
        assert_eq!(rows(4, 2), [[0.0, 0.0, 1.0, 2.0, 3.0, 4.0], [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]);
    }

    #[test]
    fn matches_the_reference() {
        let encoder = Encoder::load(&fixtures::weights(), &fixtures::config()).unwrap();
        let features = LogMel::new(80).features(&fixtures::samples("speech.wav"), 100);
        let ours = encoder.forward(&features, &Cancel::default()).unwrap();
        assert!(difference(&ours, &fixtures::expected()["encoder_out"]) < 1e-5);
    }

    #[test]
    fn ends_when_it_is_cancelled() {
        let encoder = Encoder::load(&fixtures::weights(), &fixtures::config()).unwrap();
        let cancel = Cancel::default();
        cancel.cancel();
        let features = LogMel::new(80).features(&[], 100);
        assert!(matches!(encoder.forward(&features, &cancel), Err(SpeechError::Cancelled)));
    }

    #[test]
    fn blocks_make_no_difference() {
        let values: Vec<f32> = (0..600 * 8).map(|n| (n as f32 * 0.37).sin()).collect();
        let all = Tensor::from_vec(values, (600, 2, 4), &Device::Cpu).unwrap().transpose(0, 1).unwrap();
        let ours = attend(&all, &all, &all).unwrap();
        let scores = (all.matmul(&all.transpose(1, 2).unwrap()).unwrap() / 2.0).unwrap();
        let plain = candle_nn::ops::softmax(&scores, 2).unwrap().matmul(&all.contiguous().unwrap()).unwrap();
        let plain = plain.transpose(0, 1).unwrap().reshape((600, 8)).unwrap();
        assert!(difference(&ours, &plain) < 1e-5);
    }
}
