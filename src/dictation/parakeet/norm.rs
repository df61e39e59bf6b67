//! Layer normalisation.

use crate::dictation::weights::{ModelError, Weights};
use candle_core::{Result, Tensor};

/// Added to variances; NeMo's value, which no file tells.
const EPSILON: f32 = 1e-5;

/// Every frame to mean 0 and deviation 1, then scaled and shifted.
pub struct LayerNorm {
    weight: Tensor,
    bias: Tensor,
}

impl LayerNorm {
    /// # Errors
    /// A weight is missing or has another shape.
    pub fn new(weights: &dyn Weights, name: &str, size: usize) -> std::result::Result<Self, ModelError> {
        Ok(Self {
            weight: weights.tensor(&format!("{name}.weight"), &[size])?,
            bias: weights.tensor(&format!("{name}.bias"), &[size])?,
        })
    }

    /// # Errors
    /// The shape does not fit.
    pub fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        candle_nn::ops::layer_norm(rows, &self.weight, &self.bias, EPSILON)
    }
}
