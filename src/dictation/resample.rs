//! From a microphone's rate to 16 kHz, while it is recorded.
//!
//! A windowed sinc for each of the places that an output sample can have between two input samples (there are few: 1 for
//! 48 kHz, 160 for 44.1 kHz). The filter looks as far ahead as behind, so nothing is delayed: sample `k` of the output
//! is the sound at the time `k / 16000`. What is given does not depend on how the input was cut into blocks.
//!
//! Invariant: `history` holds the input from index `first - reach` of the recording on, where samples before the
//! beginning are zeros.

use super::audio::SAMPLE_RATE;

/// Crossings of zero of the sinc on each side of its middle.
const CROSSINGS: f64 = 24.0;

/// Where the filter's slope is centred, as a share of half the lower rate: the slope ends about at that half.
const CUTOFF: f64 = 0.93;

/// Shape of the Kaiser window: about 80 dB of what does not belong are taken away.
const BETA: f64 = 8.0;

/// Input that is not needed any more is dropped in pieces of at least this many samples.
const FORGET_AT: usize = 4_096;

/// Input rates beyond this are not sound.
const HIGHEST_RATE: u32 = 768_000;

/// Turns mono samples at any rate into mono samples at 16 kHz.
pub struct Resampler {
    /// `None` if nothing is to be done.
    filter: Option<Filter>,
    taken: u64,
    given: u64,
    rate: u32,
    is_finished: bool,
}

struct Filter {
    /// Input samples between two outputs, as a fraction: `step / places`.
    step: u64,
    places: u64,
    /// Samples that the filter reaches to each side.
    reach: usize,
    /// For each place, the `2 * reach` weights of input samples `index - reach + 1 ..= index + reach`.
    weights: Vec<f32>,
    history: Vec<f32>,
    /// Index in the recording of the input sample at `history[reach]`.
    first: u64,
}

/// A rate that no microphone has.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("sound at {0} Hz can't be used")]
pub struct BadRate(pub u32);

impl Resampler {
    /// For input at this rate.
    ///
    /// # Errors
    /// It is zero, or above 768 kHz.
    pub fn new(rate: u32) -> Result<Self, BadRate> {
        if rate == 0 || rate > HIGHEST_RATE {
            return Err(BadRate(rate));
        }
        let is_same = usize::try_from(rate) == Ok(SAMPLE_RATE);
        let filter = if is_same { None } else { Some(Filter::new(u64::from(rate))) };
        Ok(Self { filter, taken: 0, given: 0, rate, is_finished: false })
    }

    /// Takes input and appends the output that it completes.
    pub fn take(&mut self, input: &[f32], output: &mut Vec<f32>) {
        let before = output.len();
        self.taken += input.len() as u64;
        match &mut self.filter {
            None => output.extend_from_slice(input),
            Some(filter) => {
                filter.history.extend_from_slice(input);
                filter.run(self.given, u64::MAX, output);
            }
        }
        self.given += (output.len() - before) as u64;
    }

    /// Appends the rest: afterwards as much sound has been given as was taken, the last sample rounded up. Once.
    pub fn finish(&mut self, output: &mut Vec<f32>) {
        let Some(filter) = &mut self.filter else { return };
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        let total = (self.taken * SAMPLE_RATE as u64).div_ceil(u64::from(self.rate));
        filter.history.resize(filter.history.len() + 2 * filter.reach, 0.0);
        let before = output.len();
        filter.run(self.given, total, output);
        self.given += (output.len() - before) as u64;
    }
}

impl Filter {
    fn new(rate: u64) -> Self {
        let common = greatest_common_divisor(rate, SAMPLE_RATE as u64);
        let (step, places) = (rate / common, SAMPLE_RATE as u64 / common);
        // Half the lower of the two rates is the highest pitch that both have.
        let cutoff = CUTOFF * (SAMPLE_RATE as f64 / rate as f64).min(1.0);
        let width = CROSSINGS / cutoff;
        let reach = width.ceil() as usize;
        let mut weights = Vec::with_capacity(places as usize * 2 * reach);
        for place in 0..places {
            let offset = place as f64 / places as f64;
            let row: Vec<f64> = (0..2 * reach)
                .map(|tap| {
                    let distance = tap as f64 - (reach - 1) as f64 - offset;
                    sinc(distance * cutoff) * kaiser(distance / width)
                })
                .collect();
            // A constant stays what it is, at every place.
            let sum: f64 = row.iter().sum();
            weights.extend(row.iter().map(|weight| (weight / sum) as f32));
        }
        Self { step, places, reach, weights, history: vec![0.0; reach], first: 0 }
    }

    /// Appends the outputs from `next` to `end` that the history allows.
    fn run(&mut self, next: u64, end: u64, output: &mut Vec<f32>) {
        let taps = 2 * self.reach;
        let mut number = next;
        while number < end {
            let at = number * self.step;
            let (index, place) = (at / self.places, (at % self.places) as usize);
            // The first tap is input sample `index - reach + 1`.
            let start = (index - self.first) as usize + 1;
            let Some(inputs) = self.history.get(start..start + taps) else { break };
            let Some(weights) = self.weights.get(place * taps..(place + 1) * taps) else { break };
            let sample: f32 = inputs.iter().zip(weights).map(|(input, weight)| input * weight).sum();
            // The ripple beside a clipped sample must not leave the scale.
            output.push(sample.clamp(-1.0, 1.0));
            number += 1;
        }
        self.forget(number * self.step / self.places);
    }

    /// Drops what no output from this input index on reaches; not at every call, since that moves the rest.
    fn forget(&mut self, index: u64) {
        let done = ((index - self.first) as usize).min(self.history.len().saturating_sub(2 * self.reach));
        if done >= FORGET_AT {
            self.history.drain(..done);
            self.first += done as u64;
        }
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn sinc(x: f64) -> f64 {
    let x = x * std::f64::consts::PI;
    if x.abs() < 1e-9 { 1.0 } else { x.sin() / x }
}

/// The window from -1 to 1, zero outside.
fn kaiser(x: f64) -> f64 {
    let inside = 1.0 - x * x;
    if inside <= 0.0 { 0.0 } else { bessel(BETA * inside.sqrt()) / bessel(BETA) }
}

/// The modified Bessel function of the first kind and order 0, by its series.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for number in 1..60 {
        let factor = x / (2.0 * f64::from(number));
        term *= factor * factor;
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sine(rate: u32, pitch: f64, samples: usize) -> Vec<f32> {
        let step = 2.0 * std::f64::consts::PI * pitch / f64::from(rate);
        (0..samples).map(|index| (0.5 * (step * index as f64).sin()) as f32).collect()
    }

    fn all(rate: u32, input: &[f32], block: usize) -> Vec<f32> {
        let mut resampler = Resampler::new(rate).unwrap();
        let mut output = Vec::new();
        for piece in input.chunks(block) {
            resampler.take(piece, &mut output);
        }
        resampler.finish(&mut output);
        resampler.finish(&mut output);
        output
    }

    #[test]
    fn a_sine_stays_what_it_is_and_where_it_is() {
        for rate in [8_000, 11_025, 22_050, 32_000, 44_100, 48_000, 96_000, 192_000, 44_101] {
            let pitch = if rate < 16_000 { 1_000.0 } else { 3_000.0 };
            let output = all(rate, &sine(rate, pitch, rate as usize), 1_024);
            assert_eq!(output.len(), 16_000, "{rate}");
            let expected = sine(16_000, pitch, 16_000);
            let worst = (200..15_800).map(|at| (output[at] - expected[at]).abs()).fold(0.0, f32::max);
            assert!(worst < 2e-4, "{rate}: {worst}");
        }
    }

    #[test]
    fn what_16_khz_cannot_hold_is_gone() {
        for (rate, pitch) in [(48_000, 9_000.0), (44_100, 10_000.0), (48_000, 15_000.0), (96_000, 30_000.0)] {
            let output = all(rate, &sine(rate, pitch, rate as usize), 4_096);
            let loudest =
                output[200..15_800].iter().fold(0.0_f32, |loudest, sample| loudest.max(sample.abs()));
            assert!(loudest < 1e-3, "{rate} {pitch}: {loudest}");
        }
    }

    #[test]
    fn the_right_rate_passes_bit_for_bit() {
        let input: Vec<f32> = (-500..500_i16).map(|sample| f32::from(sample * 60) / 32_768.0).collect();
        assert_eq!(all(16_000, &input, 77), input);
    }

    #[test]
    fn a_constant_stays_constant_and_clipping_stays_within_scale() {
        let output = all(44_100, &vec![0.25; 44_100], 512);
        assert!(output[100..15_900].iter().all(|sample| (sample - 0.25).abs() < 1e-5));
        let square: Vec<f32> =
            (0..48_000).map(|index| if index / 50 % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert!(all(48_000, &square, 512).iter().all(|sample| sample.abs() <= 1.0));
    }

    #[test]
    fn impossible_rates() {
        for rate in [0, 768_001, u32::MAX] {
            assert_eq!(Resampler::new(rate).err(), Some(BadRate(rate)));
        }
    }

    #[test]
    fn memory_does_not_grow() {
        let mut resampler = Resampler::new(44_100).unwrap();
        let (block, mut output) = (vec![0.1; 4_410], Vec::new());
        for _tenth in 0..600 {
            resampler.take(&block, &mut output);
        }
        assert!(resampler.filter.unwrap().history.capacity() < 40_000);
        assert!((959_900..=960_000).contains(&output.len()), "{}", output.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        /// Blocks of any size give the same bits as one block, and the length is exact.
        #[test]
        fn blocks_do_not_matter(
            rate in prop::sample::select(vec![8_000_u32, 16_000, 22_050, 44_100, 48_000, 96_000, 47_999]),
            blocks in prop::collection::vec(0_usize..3_000, 0..12),
        ) {
            let input = sine(rate, 700.0, blocks.iter().sum());
            let mut resampler = Resampler::new(rate).unwrap();
            let (mut output, mut rest) = (Vec::new(), input.as_slice());
            for block in blocks {
                let (now, later) = rest.split_at(block);
                resampler.take(now, &mut output);
                rest = later;
            }
            resampler.finish(&mut output);
            prop_assert_eq!(output.len(), (input.len() * 16_000).div_ceil(rate as usize));
            prop_assert_eq!(output, all(rate, &input, usize::MAX));
        }
    }
}
