//! Greedy decoding of connectionist temporal classification (Graves et al. 2006).

use super::tdt::{Emission, largest};
use crate::dictation::nn::Linear;
use crate::dictation::weights::{ModelError, Weights};
use candle_core::{Result, Tensor};

/// The head with its weights.
pub struct CtcHead {
    scores: Linear,
    blank: u32,
}

impl CtcHead {
    /// For frames of this size.
    ///
    /// # Errors
    /// A weight is missing or has another shape.
    pub fn new(
        weights: &dyn Weights,
        frame: usize,
        vocabulary: usize,
        blank: u32,
    ) -> std::result::Result<Self, ModelError> {
        Ok(Self { scores: weights.linear("ctc_head", frame, vocabulary)?, blank })
    }

    /// Scores of all pieces: `(frames, hidden)` to `(frames, vocabulary)`.
    ///
    /// # Errors
    /// The shape does not fit.
    pub fn scores(&self, frames: &Tensor) -> Result<Tensor> {
        self.scores.forward(frames)
    }

    /// Decodes `(frames, hidden)`.
    ///
    /// # Errors
    /// The shape does not fit.
    pub fn decode(&self, frames: &Tensor) -> Result<Vec<Emission>> {
        let best = self.scores(frames)?.to_vec2()?;
        Ok(collapse(best.iter().map(|scores| u32::try_from(largest(scores)).unwrap_or(u32::MAX)), self.blank))
    }
}

/// A run of the same piece is that piece once; blanks are between pieces.
fn collapse(best: impl Iterator<Item = u32>, blank: u32) -> Vec<Emission> {
    let mut heard: Vec<Emission> = Vec::new();
    let mut before = blank;
    for (frame, token) in best.enumerate() {
        match heard.last_mut().filter(|_| token == before) {
            Some(last) if token != blank => last.duration += 1,
            _ if token != blank => heard.push(Emission { token, frame, duration: 1 }),
            _ => {}
        }
        before = token;
    }
    heard
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_collapse_and_blanks_part_them() {
        let heard = collapse([9, 1, 1, 9, 1, 2, 2, 2, 9, 9].into_iter(), 9);
        let heard: Vec<_> =
            heard.iter().map(|emission| (emission.token, emission.frame, emission.duration)).collect();
        assert_eq!(heard, [(1, 1, 2), (1, 4, 1), (2, 5, 3)]);
        assert_eq!(collapse([9, 9].into_iter(), 9), []);
    }
}
