//! Log-mel features as Whisper was trained on them.
//!
//! Frames of 25 ms every 10 ms, centred on multiples of the hop, with the signal mirrored at both ends; power; mel
//! bands on Slaney's scale with Slaney's norm; decimal logarithm; nothing lower than 8 below the loudest value; and
//! `(x + 4) / 4`.

use crate::dictation::audio::SAMPLE_RATE;
use realfft::num_complex::Complex;
use realfft::{RealFftPlanner, RealToComplex};
use std::f64::consts::PI;
use std::sync::Arc;

/// Samples of a frame.
const FRAME: usize = 400;
/// Samples from one frame to the next.
pub const HOP: usize = 160;
/// Frequencies of a frame: 0 to 8 kHz, 40 Hz apart.
const BINS: usize = FRAME / 2 + 1;
/// Powers are not taken for less, so that silence has a logarithm.
const FLOOR: f64 = 1e-10;
/// Decades below the loudest value that are kept.
const RANGE: f64 = 8.0;

/// Makes features. Works in F64: the quiet bands are 8 decades below the loud ones, where F32 would be noise.
pub struct LogMel {
    transform: Arc<dyn RealToComplex<f64>>,
    window: Vec<f64>,
    bands: Vec<Band>,
}

/// One mel band: the first frequency that counts, and the weights from there on.
struct Band {
    first: usize,
    weights: Vec<f64>,
}

/// Features of a piece of sound.
#[derive(Clone, PartialEq)]
pub struct Features {
    /// `(frames, bands)`, a row for each frame.
    pub values: Vec<f32>,
    /// Rows.
    pub frames: usize,
}

impl LogMel {
    /// Makes ready for this many mel bands: 80, or 128 since large-v3.
    pub fn new(bands: usize) -> Self {
        let window = (0..FRAME).map(|n| 0.5 - 0.5 * (2.0 * PI * n as f64 / FRAME as f64).cos()).collect();
        let transform = RealFftPlanner::new().plan_fft_forward(FRAME);
        Self { transform, window, bands: mel_bands(bands) }
    }

    /// Features of samples at 16 kHz, followed by as much silence as `frames` frames of 10 ms need. Samples beyond
    /// that are dropped.
    ///
    /// All frames are worked out up to the one that hears no sample any more; the rest is the same constant. So the
    /// features of a cut window are the first rows of those of the full one.
    pub fn features(&self, samples: &[f32], frames: usize) -> Features {
        let samples = samples.get(..frames * HOP).unwrap_or(samples);
        let bands = self.bands.len();
        // The last frame that hears a sample, or its mirror image at the end, has its first sample before the end.
        let heard = ((samples.len() + FRAME / 2).div_ceil(HOP)).min(frames);
        let mut logs = vec![FLOOR.log10(); frames * bands];
        let mut frame = self.transform.make_input_vec();
        let mut spectrum = self.transform.make_output_vec();
        let mut scratch = self.transform.make_scratch_vec();
        let mut power = vec![0.0; BINS];
        for (number, row) in logs.chunks_exact_mut(bands.max(1)).take(heard).enumerate() {
            self.fill(&mut frame, samples, number, frames * HOP);
            // Only wrong lengths make it fail, and these come from the transform itself.
            if self.transform.process_with_scratch(&mut frame, &mut spectrum, &mut scratch).is_err() {
                continue;
            }
            for (power, value) in power.iter_mut().zip(&spectrum) {
                *power = Complex::norm_sqr(value);
            }
            for (value, band) in row.iter_mut().zip(&self.bands) {
                let powers = power.iter().skip(band.first);
                let sum: f64 = powers.zip(&band.weights).map(|(power, weight)| power * weight).sum();
                *value = sum.max(FLOOR).log10();
            }
        }
        let lowest = logs.iter().copied().fold(f64::MIN, f64::max) - RANGE;
        let values = logs.iter().map(|log| ((log.max(lowest) + 4.0) / 4.0) as f32).collect();
        Features { values, frames }
    }

    /// Writes the windowed samples of a frame. Behind the samples is silence up to `length`, where the signal is
    /// mirrored, as it is at its beginning.
    fn fill(&self, frame: &mut [f64], samples: &[f32], number: usize, length: usize) {
        let begin = number * HOP;
        for (n, (value, window)) in frame.iter_mut().zip(&self.window).enumerate() {
            let at = mirrored((begin + n).cast_signed() - (FRAME / 2).cast_signed(), length);
            let sample = samples.get(at).copied().unwrap_or_default();
            *value = f64::from(sample) * window;
        }
    }
}

/// An index into a signal of this length that goes on mirrored at both ends, the sample at the end not doubled.
fn mirrored(at: isize, length: usize) -> usize {
    let last = length.cast_signed() - 1;
    let at = if at > last { 2 * last - at } else { at };
    at.unsigned_abs()
}

/// Triangles on the mel scale from 0 to 8 kHz, each of area 2 over its width in hertz.
fn mel_bands(count: usize) -> Vec<Band> {
    let top = to_mel(SAMPLE_RATE as f64 / 2.0);
    let edge = |number: usize| to_hertz(top * number as f64 / (count + 1) as f64);
    let hertz_per_bin = SAMPLE_RATE as f64 / FRAME as f64;
    (0..count)
        .map(|number| {
            let (low, middle, high) = (edge(number), edge(number + 1), edge(number + 2));
            let weight = |bin: usize| {
                let hertz = bin as f64 * hertz_per_bin;
                let slope = ((hertz - low) / (middle - low)).min((high - hertz) / (high - middle));
                slope.max(0.0) * 2.0 / (high - low)
            };
            let first = (0..BINS).find(|bin| weight(*bin) > 0.0).unwrap_or(BINS);
            Band { first, weights: (first..BINS).map(weight).take_while(|weight| *weight > 0.0).collect() }
        })
        .collect()
}

/// Slaney's mel scale is linear up to here,
const BREAK_HERTZ: f64 = 1000.0;
/// which is this many mel,
const BREAK_MEL: f64 = 15.0;
/// and takes this many mel from there for a factor of 6.4.
const MEL_PER_FACTOR: f64 = 27.0;

fn to_mel(hertz: f64) -> f64 {
    if hertz < BREAK_HERTZ {
        hertz * BREAK_MEL / BREAK_HERTZ
    } else {
        BREAK_MEL + (hertz / BREAK_HERTZ).ln() * MEL_PER_FACTOR / 6.4_f64.ln()
    }
}

fn to_hertz(mel: f64) -> f64 {
    if mel < BREAK_MEL {
        mel * BREAK_HERTZ / BREAK_MEL
    } else {
        BREAK_HERTZ * ((mel - BREAK_MEL) * 6.4_f64.ln() / MEL_PER_FACTOR).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictation::whisper::fixtures;

    /// Greatest difference between rows of ours and columns of the reference, which is `(bands, columns)`.
    fn difference(ours: &Features, first_frame: usize, reference: &[Vec<f32>]) -> f32 {
        let bands = reference.len();
        let mut worst = 0.0_f32;
        for (band, row) in reference.iter().enumerate() {
            for (frame, expected) in row.iter().enumerate() {
                worst = worst.max((ours.values[(first_frame + frame) * bands + band] - expected).abs());
            }
        }
        worst
    }

    #[test]
    fn matches_the_reference() {
        let samples = fixtures::samples("speech.wav");
        let expected = fixtures::expected();
        let matrix = |name: &str| expected[name].to_vec2::<f32>().unwrap();
        // The reference works in F32, whose noise is this large in the quietest bands.
        let noise = 5e-5;
        let (narrow, wide) = (LogMel::new(80), LogMel::new(128));
        let whole = narrow.features(&samples, 3000);
        assert_eq!(whole.values.len(), 3000 * 80);
        assert!(difference(&whole, 0, &matrix("mel80_30s_first_150")) < noise);
        assert!(difference(&wide.features(&samples, 3000), 0, &matrix("mel128_30s_first_150")) < noise);
        let last: Vec<Vec<f32>> = expected["mel80_30s_last"]
            .to_vec1::<f32>()
            .unwrap()
            .into_iter()
            .map(|value| vec![value])
            .collect();
        assert!(difference(&whole, 2999, &last) < 1e-5);
        let second = narrow.features(&samples, 100);
        assert!(difference(&second, 0, &matrix("mel80_1s")) < noise);
    }

    #[test]
    fn a_cut_window_is_the_beginning_of_the_full_one() {
        let samples = fixtures::samples("dictation.wav");
        let mel = LogMel::new(80);
        let (full, cut) = (mel.features(&samples, 3000), mel.features(&samples, samples.len() / HOP + 50));
        assert!(full.values[..cut.values.len()] == cut.values[..]);
    }

    #[test]
    fn few_samples_and_none() {
        let mel = LogMel::new(80);
        assert!(mel.features(&[], 0).values.is_empty());
        let silence = mel.features(&[], 10);
        assert!(silence.values.iter().all(|value| (*value - -1.5).abs() < 1e-6));
        assert_eq!(mel.features(&[0.5; 10], 4).values.len(), 4 * 80);
    }

    #[test]
    fn the_mel_scale_turns_back() {
        for hertz in [0.0, 40.0, 999.0, 1000.0, 1001.0, 7999.0] {
            assert!((to_hertz(to_mel(hertz)) - hertz).abs() < 1e-9);
        }
    }
}
