//! Weights out of thin air, for measuring models that are not here.

use super::{ModelError, Weights};
use crate::dictation::nn::Linear;
use candle_core::{Device, Tensor};

/// As many numbers as asked for, the same for the same seed and name. What comes out of a model of them means nothing, but
/// stays finite.
pub struct RandomWeights {
    /// Other numbers for each.
    pub seed: u64,
    /// Whether linear layers have biases.
    pub has_biases: bool,
}

impl Weights for RandomWeights {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        let seed = name.bytes().fold(self.seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut random = fastrand::Rng::with_seed(seed);
        let inputs: usize = shape.iter().skip(1).product();
        let (middle, spread) = match shape {
            [_] if name.contains("norm") && (name.ends_with("weight") || name.ends_with("running_var")) => {
                (1.0, 0.1)
            }
            [_] => (0.0, 0.1),
            _ => (0.0, (3.0 / inputs.max(1) as f32).sqrt()),
        };
        let values = (0..shape.iter().product()).map(|_| middle + spread * (2.0 * random.f32() - 1.0));
        let values: Vec<f32> = values.collect();
        Ok(Tensor::from_vec(values, shape, &Device::Cpu)?)
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        let weight = self.tensor(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = self.has_biases.then(|| self.tensor(&format!("{name}.bias"), &[outputs])).transpose()?;
        Ok(Linear::new(&weight, bias)?)
    }

    fn has(&self, name: &str) -> bool {
        !name.ends_with(".bias") || self.has_biases
    }
}
