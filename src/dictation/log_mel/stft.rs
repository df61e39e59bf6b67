//! Power spectra of overlapping windows: the short-time Fourier transform without its phases.

use realfft::{RealFftPlanner, RealToComplex};
use std::sync::Arc;

/// What lies before the first and behind the last sample: frames are centred, so half a window reaches over each end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Silence.
    Zero,
    /// The samples once more, backwards, without the first or last itself.
    Reflect,
}

/// A transform of one size.
pub struct Stft {
    fft: Arc<dyn RealToComplex<f32>>,
    /// As long as the transform, zero outside the middle.
    window: Vec<f32>,
    hop: usize,
    edge: Edge,
}

impl Stft {
    /// A transform of `size` samples, each frame `hop` samples after the one before. The window is at most `size` long and
    /// is put in the middle.
    pub fn new(size: usize, window: &[f32], hop: usize, edge: Edge) -> Self {
        let before = size.saturating_sub(window.len()) / 2;
        let mut padded = vec![0.0; size];
        for (slot, value) in padded.iter_mut().skip(before).zip(window) {
            *slot = *value;
        }
        let fft = RealFftPlanner::new().plan_fft_forward(size);
        Self { fft, window: padded, hop: hop.max(1), edge }
    }

    /// Values in a spectrum.
    pub fn bins(&self) -> usize {
        self.window.len() / 2 + 1
    }

    /// Frames of so many samples: one for each hop that is begun, the last centred at or before the end.
    pub fn frames(&self, samples: usize) -> usize {
        samples / self.hop + 1
    }

    /// Gives the power spectra of the first `frames` frames, in order, each [`Self::bins`] long. Frames behind the samples
    /// are silence.
    pub fn power(&self, samples: &[f32], frames: usize, mut each: impl FnMut(usize, &[f32])) {
        let half = self.window.len() / 2;
        let mut input = self.fft.make_input_vec();
        let mut spectrum = self.fft.make_output_vec();
        let mut scratch = self.fft.make_scratch_vec();
        let mut power = vec![0.0; self.bins()];
        for frame in 0..frames {
            let first = (frame * self.hop).checked_sub(half);
            let inside = first.and_then(|first| samples.get(first..first + self.window.len()));
            if let Some(inside) = inside {
                for ((slot, sample), weight) in input.iter_mut().zip(inside).zip(&self.window) {
                    *slot = sample * weight;
                }
            } else {
                for (index, (slot, weight)) in input.iter_mut().zip(&self.window).enumerate() {
                    *slot = self.edge.sample(samples, frame * self.hop + index, half) * weight;
                }
            }
            // The only error is a buffer of a wrong length, and these are the planner's own.
            if self.fft.process_with_scratch(&mut input, &mut spectrum, &mut scratch).is_err() {
                spectrum.fill(Default::default());
            }
            for (slot, value) in power.iter_mut().zip(&spectrum) {
                *slot = value.norm_sqr();
            }
            each(frame, &power);
        }
    }
}

impl Edge {
    /// The sample at `index - half`.
    fn sample(self, samples: &[f32], index: usize, half: usize) -> f32 {
        let position = match (index.checked_sub(half), self) {
            (Some(position), _) => position,
            (None, Self::Reflect) => half - index,
            (None, Self::Zero) => return 0.0,
        };
        let position = match (position.checked_sub(samples.len()), self) {
            (Some(behind), Self::Reflect) => samples.len().checked_sub(behind + 2),
            _ => Some(position),
        };
        position.and_then(|position| samples.get(position)).copied().unwrap_or(0.0)
    }
}

/// Hann's window. A symmetric one begins and ends with zero; a periodic one lacks that last zero, so that copies of it
/// add up to a constant.
pub fn hann(length: usize, is_symmetric: bool) -> Vec<f32> {
    let period = if is_symmetric { length.saturating_sub(1) } else { length }.max(1);
    (0..length)
        .map(|index| (0.5 - 0.5 * (std::f64::consts::TAU * index as f64 / period as f64).cos()) as f32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, without any shortcut.
    fn slowly(samples: &[f64], size: usize, bin: usize) -> f64 {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for (index, sample) in samples.iter().enumerate() {
            let angle = std::f64::consts::TAU * (bin * index) as f64 / size as f64;
            real += sample * angle.cos();
            imaginary -= sample * angle.sin();
        }
        real * real + imaginary * imaginary
    }

    #[test]
    fn frames_are_centred_and_padded_as_asked() {
        let samples: Vec<f32> = (1_u8..=9).map(f32::from).collect();
        for (edge, first) in [
            (Edge::Zero, [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0]),
            (Edge::Reflect, [5.0, 4.0, 3.0, 2.0, 1.0, 2.0, 3.0, 4.0]),
        ] {
            let stft = Stft::new(8, &[1.0; 8], 4, edge);
            assert_eq!(stft.frames(samples.len()), 3);
            let mut seen = Vec::new();
            stft.power(&samples, 3, |_, power| seen.push(power.to_vec()));
            for (bin, power) in seen[0].iter().enumerate() {
                let expected = slowly(&first, 8, bin);
                assert!((f64::from(*power) - expected).abs() < 1e-3, "{edge:?} {bin}: {power} {expected}");
            }
        }
        let reflected = [5.0, 6.0, 7.0, 8.0, 9.0, 8.0, 7.0, 6.0];
        let stft = Stft::new(8, &[1.0; 8], 4, Edge::Reflect);
        let mut last = Vec::new();
        stft.power(&samples, 3, |_, power| last = power.to_vec());
        for (bin, power) in last.iter().enumerate() {
            assert!((f64::from(*power) - slowly(&reflected, 8, bin)).abs() < 1e-3, "{bin}");
        }
    }

    #[test]
    fn a_short_window_is_in_the_middle() {
        let stft = Stft::new(8, &[1.0, 2.0, 3.0, 4.0], 4, Edge::Zero);
        assert_eq!(stft.window, [0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0]);
    }

    #[test]
    fn nothing_and_very_little_are_silence() {
        for samples in [&[][..], &[0.5], &[0.5, 0.25]] {
            for edge in [Edge::Zero, Edge::Reflect] {
                let mut frames = 0;
                Stft::new(16, &hann(10, true), 4, edge).power(samples, 3, |_, power| {
                    frames += 1;
                    assert!(power.iter().all(|value| value.is_finite()));
                });
                assert_eq!(frames, 3);
            }
        }
    }

    #[test]
    fn windows_of_hann() {
        assert_eq!(hann(5, true), [0.0, 0.5, 1.0, 0.5, 0.0]);
        assert_eq!(hann(4, false), [0.0, 0.5, 1.0, 0.5]);
        assert_eq!(hann(1, true), [0.0]);
        assert_eq!(hann(0, true), [0.0; 0]);
    }
}
