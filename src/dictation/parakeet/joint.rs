//! Where a frame and the memory of what was written meet, and become scores of what comes next.

use super::config::TransducerConfig;
use crate::dictation::nn::Linear;
use crate::dictation::weights::{ModelError, Weights};
use candle_core::{Result, Tensor};

/// The joint network.
pub struct Joint {
    frames: Linear,
    head: Linear,
}

impl Joint {
    /// For frames of this size.
    ///
    /// # Errors
    /// A weight is missing or has another shape.
    pub fn new(
        weights: &dyn Weights,
        config: &TransducerConfig,
        frame: usize,
    ) -> std::result::Result<Self, ModelError> {
        let outputs = config.vocabulary + config.durations.len();
        Ok(Self {
            frames: weights.linear("encoder_projector", frame, config.joint)?,
            head: weights.linear("joint.head", config.joint, outputs)?,
        })
    }

    /// All frames of an utterance as the joint network takes them: `(frames, hidden)` to `(frames, joint)`.
    ///
    /// # Errors
    /// The shape does not fit.
    pub fn project(&self, frames: &Tensor) -> Result<Tensor> {
        self.frames.forward(frames)
    }

    /// Scores of all pieces and then of all durations, for a projected frame and what the prediction network said.
    ///
    /// # Errors
    /// The sizes do not fit.
    pub fn scores(&self, frame: &[f32], prediction: &[f32]) -> Result<Vec<f32>> {
        let row: Vec<f32> =
            frame.iter().zip(prediction).map(|(frame, said)| (frame + said).max(0.0)).collect();
        self.head.forward_rows(&row)
    }
}
