//! Parts that the encoder and the decoder have in common.

use crate::dictation::nn::{Activation, Linear};
use crate::dictation::weights::{ModelError, Weights};
use candle_core::{Result, Tensor};

/// Added to a variance before its root is taken.
const EPSILON: f32 = 1e-5;

/// Every row less its mean, over its standard deviation, scaled and shifted.
pub struct Norm {
    weight: Tensor,
    bias: Tensor,
}

impl Norm {
    /// Reads `NAME.weight` and `NAME.bias`.
    ///
    /// # Errors
    /// One is missing, or has another shape.
    pub fn load(weights: &dyn Weights, name: &str, channels: usize) -> std::result::Result<Self, ModelError> {
        let part = |part: &str| weights.tensor(&format!("{name}.{part}"), &[channels]);
        Ok(Self { weight: part("weight")?, bias: part("bias")? })
    }

    /// Maps `(rows, channels)` to the same shape.
    ///
    /// # Errors
    /// The shapes do not fit.
    pub fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        candle_nn::ops::layer_norm(rows, &self.weight, &self.bias, EPSILON)
    }
}

/// The feed-forward half of a layer, with its norm.
pub struct FeedForward {
    norm: Norm,
    widen: Linear,
    narrow: Linear,
}

impl FeedForward {
    /// Reads that of the layer of this name.
    ///
    /// # Errors
    /// A tensor is missing, or has another shape.
    pub fn load(
        weights: &dyn Weights,
        layer: &str,
        channels: usize,
        inner: usize,
    ) -> std::result::Result<Self, ModelError> {
        Ok(Self {
            norm: Norm::load(weights, &format!("{layer}.final_layer_norm"), channels)?,
            widen: weights.linear(&format!("{layer}.fc1"), channels, inner)?,
            narrow: weights.linear(&format!("{layer}.fc2"), inner, channels)?,
        })
    }

    /// Maps `(rows, channels)` to the same shape, what went in being added.
    ///
    /// # Errors
    /// The shapes do not fit.
    pub fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        let inner = self.widen.forward_then(&self.norm.forward(rows)?, Activation::Gelu)?;
        rows + self.narrow.forward(&inner)?
    }
}

/// The four products of an attention, with its norm.
pub struct Projections {
    /// Before all of them.
    pub norm: Norm,
    /// What is asked.
    pub query: Linear,
    /// Where it is found.
    pub key: Linear,
    /// What is found.
    pub value: Linear,
    /// What becomes of it.
    pub out: Linear,
}

impl Projections {
    /// Reads those of `NAME.q_proj` and so on, with the norm `NAME_layer_norm`.
    ///
    /// # Errors
    /// A tensor is missing, or has another shape.
    pub fn load(weights: &dyn Weights, name: &str, channels: usize) -> std::result::Result<Self, ModelError> {
        let linear = |part: &str| weights.linear(&format!("{name}.{part}_proj"), channels, channels);
        Ok(Self {
            norm: Norm::load(weights, &format!("{name}_layer_norm"), channels)?,
            query: linear("q")?,
            key: linear("k")?,
            value: linear("v")?,
            out: linear("out")?,
        })
    }
}
