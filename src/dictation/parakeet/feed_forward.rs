//! Two linear layers with SiLU between them.

use super::config::EncoderConfig;
use crate::dictation::nn::Linear;
use crate::dictation::nn::activation::Activation;
use crate::dictation::weights::{ModelError, Weights};
use candle_core::{Result, Tensor};

/// Half of it is added to a frame, before and after the block's other modules.
pub struct FeedForward {
    up: Linear,
    down: Linear,
}

impl FeedForward {
    /// # Errors
    /// A weight is missing or has another shape.
    pub fn new(
        weights: &dyn Weights,
        name: &str,
        config: &EncoderConfig,
    ) -> std::result::Result<Self, ModelError> {
        Ok(Self {
            up: weights.linear(&format!("{name}.linear1"), config.hidden, config.intermediate)?,
            down: weights.linear(&format!("{name}.linear2"), config.intermediate, config.hidden)?,
        })
    }

    /// Maps `(frames, hidden)` to the same.
    ///
    /// # Errors
    /// The shape does not fit.
    pub fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        self.down.forward(&self.up.forward_then(rows, Activation::Silu)?)
    }
}
