//! Eight frames of features become one: strided convolutions over time and frequency, then a linear layer.
//!
//! FastConformer's form (Rekesh et al. 2023): only the first convolution mixes, the others are depthwise and followed by
//! pointwise ones. Channels come last here, so that pointwise convolutions are matrix products.

use super::config::EncoderConfig;
use crate::dictation::nn::Linear;
use crate::dictation::weights::{ModelError, Weights};
use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

/// The whole of it.
pub struct Subsampling {
    first: Convolution,
    stages: Vec<(Convolution, Linear)>,
    out: Linear,
}

impl Subsampling {
    /// # Errors
    /// A weight is missing or has another shape.
    pub fn new(weights: &dyn Weights, config: &EncoderConfig) -> std::result::Result<Self, ModelError> {
        let channels = config.subsampling_channels;
        let name = |layer: usize| format!("encoder.subsampling.layers.{layer}");
        let first = Convolution::new(weights, &name(0), config, Inputs::One)?;
        let mut frequencies = first.outputs(config.mels);
        let mut stages = Vec::new();
        for stage in 1..config.stages().unwrap_or(1) {
            let convolution = Convolution::new(weights, &name(3 * stage - 1), config, Inputs::Depthwise)?;
            frequencies = convolution.outputs(frequencies);
            stages.push((convolution, weights.linear(&name(3 * stage), channels, channels)?));
        }
        let out = weights.linear("encoder.subsampling.linear", channels * frequencies, config.hidden)?;
        Ok(Self { first, stages, out })
    }

    /// Maps features `(frames, mels)` to `(fewer frames, hidden)`.
    ///
    /// # Errors
    /// The shape does not fit.
    pub fn forward(&self, features: &Tensor) -> Result<Tensor> {
        let mut hidden = features.unsqueeze(2)?.apply_op1_no_bwd(&self.first)?.relu()?;
        for (depthwise, pointwise) in &self.stages {
            let rows = hidden.apply_op1_no_bwd(depthwise)?;
            let (frames, frequencies, channels) = rows.dims3()?;
            let rows = rows.reshape((frames * frequencies, channels))?;
            hidden = pointwise.forward(&rows)?.relu()?.reshape((frames, frequencies, ()))?;
        }
        let (frames, frequencies, channels) = hidden.dims3()?;
        let rows = hidden.transpose(1, 2)?.contiguous()?.reshape((frames, channels * frequencies))?;
        self.out.forward(&rows)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inputs {
    /// One channel, seen by every output.
    One,
    /// As many channels as outputs, each seen by its own.
    Depthwise,
}

/// A square kernel with a stride over `(time, frequency, channels)`, silence around.
struct Convolution {
    inputs: Inputs,
    side: usize,
    stride: usize,
    /// `(side, side, channels)`
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Convolution {
    fn new(
        weights: &dyn Weights,
        name: &str,
        config: &EncoderConfig,
        inputs: Inputs,
    ) -> std::result::Result<Self, ModelError> {
        let (channels, side) = (config.subsampling_channels, config.subsampling_kernel);
        let weight = weights.tensor(&format!("{name}.weight"), &[channels, 1, side, side])?;
        let weight = weight.reshape((channels, side * side))?.t()?.flatten_all()?.to_vec1()?;
        let bias = weights.tensor(&format!("{name}.bias"), &[channels])?.to_vec1()?;
        Ok(Self { inputs, side, stride: config.subsampling_stride, weight, bias })
    }

    fn outputs(&self, inputs: usize) -> usize {
        inputs.saturating_sub(1) / self.stride + 1
    }

    /// Where a tap of an output looks.
    fn source(&self, output: usize, tap: usize, inputs: usize) -> Option<usize> {
        (output * self.stride + tap).checked_sub(self.side / 2).filter(|source| *source < inputs)
    }
}

impl CustomOp1 for Convolution {
    fn name(&self) -> &'static str {
        "strided-convolution"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (time, frequencies, depth) = layout.shape().dims3()?;
        let channels = self.bias.len();
        let fits = depth == if self.inputs == Inputs::One { 1 } else { channels };
        let (true, Some((start, end))) = (fits && time * frequencies > 0, layout.contiguous_offsets()) else {
            candle_core::bail!("a convolution of {channels} channels got {:?}", layout.shape());
        };
        let input = &storage.as_slice::<f32>()?[start..end];
        let (rows, columns) = (self.outputs(time), self.outputs(frequencies));
        let mut output = vec![0.0; rows * columns * channels];
        output.par_chunks_mut(columns * channels).enumerate().for_each(|(row, output)| {
            for (column, cell) in output.chunks_exact_mut(channels).enumerate() {
                cell.copy_from_slice(&self.bias);
                for (tap, weight) in self.weight.chunks_exact(channels).enumerate() {
                    let (Some(t), Some(f)) = (
                        self.source(row, tap / self.side, time),
                        self.source(column, tap % self.side, frequencies),
                    ) else {
                        continue;
                    };
                    let at = (t * frequencies + f) * depth;
                    match self.inputs {
                        Inputs::One => {
                            let value = input[at];
                            cell.iter_mut().zip(weight).for_each(|(sum, weight)| *sum += value * weight);
                        }
                        Inputs::Depthwise => {
                            let values = &input[at..at + channels];
                            let pairs = values.iter().zip(weight);
                            cell.iter_mut()
                                .zip(pairs)
                                .for_each(|(sum, (value, weight))| *sum += value * weight);
                        }
                    }
                }
            }
        });
        Ok((CpuStorage::F32(output), Shape::from((rows, columns, channels))))
    }
}
