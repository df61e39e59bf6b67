//! The features of NeMo's models: pre-emphasis, log of mel energies, each band normalised over the utterance.

use super::mel::MelBands;
use super::stft::{Edge, Stft, hann};
use candle_core::{Device, Result, Tensor};

/// Sizes, as a model's files tell them.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontEndConfig {
    /// Samples in a second.
    pub rate: usize,
    /// Mel bands.
    pub mels: usize,
    /// Samples of a transform.
    pub transform: usize,
    /// Samples of a window.
    pub window: usize,
    /// Samples from a frame to the next.
    pub hop: usize,
    /// How much of the sample before is taken from each, against the loudness of low tones.
    pub preemphasis: f32,
}

impl Default for FrontEndConfig {
    fn default() -> Self {
        Self { rate: 16_000, mels: 80, transform: 512, window: 400, hop: 160, preemphasis: 0.97 }
    }
}

/// Added to energies before the logarithm, so that silence is finite.
const GUARD: f32 = 1.0 / 16_777_216.0;
/// Added to standard deviations, for the same reason.
const LEAST_DEVIATION: f32 = 1e-5;

/// Waveforms to features.
pub struct FrontEnd {
    config: FrontEndConfig,
    stft: Stft,
    bands: MelBands,
}

impl FrontEnd {
    /// With these sizes.
    pub fn new(config: FrontEndConfig) -> Self {
        let window = hann(config.window, true);
        let stft = Stft::new(config.transform, &window, config.hop, Edge::Zero);
        let bands = MelBands::new(config.mels, config.transform, config.rate);
        Self { config, stft, bands }
    }

    /// Its sizes.
    pub fn config(&self) -> &FrontEndConfig {
        &self.config
    }

    /// The features of samples: `(frames, mels)`, a frame for each whole hop. Less than a hop gives none.
    ///
    /// NeMo has one frame more, of zeros, which every layer then has to mask; leaving it out gives the same numbers.
    ///
    /// # Errors
    /// Out of memory.
    pub fn features(&self, samples: &[f32]) -> Result<Tensor> {
        let mels = self.bands.len();
        let frames = samples.len() / self.config.hop.max(1);
        let mut emphasised = Vec::with_capacity(samples.len());
        let mut before = 0.0;
        for sample in samples {
            emphasised.push(sample - self.config.preemphasis * before);
            before = *sample;
        }
        let mut features = Vec::with_capacity(frames * mels);
        self.stft.power(&emphasised, frames, |_, power| {
            features.extend(self.bands.energies(power).map(|energy| (energy + GUARD).ln()));
        });
        normalise(&mut features, mels, frames);
        Tensor::from_vec(features, (frames, mels), &Device::Cpu)
    }
}

/// Mean 0 and deviation 1 for each band.
fn normalise(features: &mut [f32], mels: usize, frames: usize) {
    let count = frames.max(1) as f64;
    let mut means = vec![0.0_f64; mels];
    for frame in features.chunks_exact(mels.max(1)) {
        for (mean, value) in means.iter_mut().zip(frame) {
            *mean += f64::from(*value) / count;
        }
    }
    let mut variances = vec![0.0_f64; mels];
    let others = (count - 1.0).max(1.0);
    for frame in features.chunks_exact(mels.max(1)) {
        for ((variance, mean), value) in variances.iter_mut().zip(&means).zip(frame) {
            *variance += (f64::from(*value) - mean).powi(2) / others;
        }
    }
    for frame in features.chunks_exact_mut(mels.max(1)) {
        for ((value, mean), variance) in frame.iter_mut().zip(&means).zip(&variances) {
            *value = (*value - *mean as f32) / (variance.sqrt() as f32 + LEAST_DEVIATION);
        }
    }
}
