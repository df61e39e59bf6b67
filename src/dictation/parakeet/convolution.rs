//! What a frame learns from its neighbours: a gate, a depthwise convolution over time, and a linear layer on each side.

use super::config::EncoderConfig;
use crate::dictation::nn::activation::sigmoid;
use crate::dictation::nn::{Activation, Linear};
use crate::dictation::weights::{ModelError, Weights};
use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

/// Added to the variances of batch normalisation; torch's value, which no file tells.
const EPSILON: f32 = 1e-5;
/// Frames that a thread takes at once; their neighbours' gates are computed twice.
const BLOCK: usize = 32;

/// The convolution module of a block.
pub struct ConvolutionModule {
    into: Linear,
    gated: GatedConvolution,
    out: Linear,
}

impl ConvolutionModule {
    /// # Errors
    /// A weight is missing or has another shape.
    pub fn new(
        weights: &dyn Weights,
        name: &str,
        config: &EncoderConfig,
    ) -> std::result::Result<Self, ModelError> {
        let hidden = config.hidden;
        Ok(Self {
            into: weights.linear(&format!("{name}.pointwise_conv1"), hidden, 2 * hidden)?,
            gated: GatedConvolution::new(weights, name, hidden, config.kernel)?,
            out: weights.linear(&format!("{name}.pointwise_conv2"), hidden, hidden)?,
        })
    }

    /// Maps `(frames, hidden)` to the same.
    ///
    /// # Errors
    /// The shape does not fit.
    pub fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        self.out.forward(&self.into.forward(rows)?.apply_op1_no_bwd(&self.gated)?)
    }
}

/// GLU, depthwise convolution, batch normalisation and SiLU at once: `(frames, 2 channels)` to `(frames, channels)`.
struct GatedConvolution {
    /// `(taps, channels)`, normalisation included.
    weight: Vec<f32>,
    /// `(channels)`, normalisation included.
    bias: Vec<f32>,
}

impl GatedConvolution {
    fn new(
        weights: &dyn Weights,
        name: &str,
        channels: usize,
        taps: usize,
    ) -> std::result::Result<Self, ModelError> {
        let vector = |part: &str| {
            Ok::<Vec<f32>, ModelError>(weights.tensor(&format!("{name}.{part}"), &[channels])?.to_vec1()?)
        };
        let weight = weights.tensor(&format!("{name}.depthwise_conv.weight"), &[channels, 1, taps])?;
        let mut weight: Vec<f32> = weight.reshape((channels, taps))?.t()?.flatten_all()?.to_vec1()?;
        let has_bias = weights.has(&format!("{name}.depthwise_conv.bias"));
        let mut bias = if has_bias { vector("depthwise_conv.bias")? } else { vec![0.0; channels] };
        let mut scale = vector("norm.weight")?;
        for (scale, variance) in scale.iter_mut().zip(vector("norm.running_var")?) {
            *scale /= (variance + EPSILON).sqrt();
        }
        for row in weight.chunks_exact_mut(channels) {
            row.iter_mut().zip(&scale).for_each(|(weight, scale)| *weight *= scale);
        }
        let shifts = vector("norm.running_mean")?.into_iter().zip(vector("norm.bias")?);
        for ((bias, scale), (mean, shift)) in bias.iter_mut().zip(&scale).zip(shifts) {
            *bias = (*bias - mean) * scale + shift;
        }
        Ok(Self { weight, bias })
    }
}

impl CustomOp1 for GatedConvolution {
    fn name(&self) -> &'static str {
        "gated-convolution"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (frames, width) = layout.shape().dims2()?;
        let channels = self.bias.len();
        let (true, Some((start, end))) = (width == 2 * channels, layout.contiguous_offsets()) else {
            candle_core::bail!("a convolution of {channels} channels got {:?}", layout.shape());
        };
        let input = &storage.as_slice::<f32>()?[start..end];
        let before = self.weight.len() / channels / 2;
        let mut output = vec![0.0; frames * channels];
        output.par_chunks_mut(BLOCK * channels).enumerate().for_each(|(block, output)| {
            let first = (block * BLOCK).saturating_sub(before);
            let last = (block * BLOCK + output.len() / channels + before).min(frames);
            let mut gated = vec![0.0; (last - first) * channels];
            let rows = input[first * width..last * width].chunks_exact(width);
            for (gated, row) in gated.chunks_exact_mut(channels).zip(rows) {
                let (values, gates) = row.split_at(channels);
                for ((slot, value), gate) in gated.iter_mut().zip(values).zip(gates) {
                    *slot = value * sigmoid(*gate);
                }
            }
            for (index, output) in output.chunks_exact_mut(channels).enumerate() {
                output.copy_from_slice(&self.bias);
                for (tap, weight) in self.weight.chunks_exact(channels).enumerate() {
                    let source = (block * BLOCK + index + tap).checked_sub(before + first);
                    let Some(row) = source.and_then(|at| gated.get(at * channels..(at + 1) * channels))
                    else {
                        continue;
                    };
                    let pairs = row.iter().zip(weight);
                    output.iter_mut().zip(pairs).for_each(|(sum, (value, weight))| *sum += value * weight);
                }
                Activation::Silu.apply(output);
            }
        });
        Ok((CpuStorage::F32(output), Shape::from((frames, channels))))
    }
}
