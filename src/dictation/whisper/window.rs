//! Where sound that is longer than a window is cut, and what is no sound at all.

use crate::dictation::audio::SAMPLE_RATE;
use std::ops::Range;

/// Samples whose loudness is taken together: 100 ms.
const BREATH: usize = SAMPLE_RATE / 10;
/// Samples from one to the next.
const STEP: usize = SAMPLE_RATE / 100;
/// Mean square of the loudest breath below which nobody can have spoken: -74 dBFS.
const SILENCE: f32 = 4e-8;

/// Ranges of samples, in order and without gaps, none longer than `longest`: cut at the quietest place of the last fifth
/// of what fits, and where two are left, somewhere between the halves and what fits, so that the last one is not tiny.
pub fn cuts(samples: &[f32], longest: usize) -> Vec<Range<usize>> {
    let longest = longest.max(1);
    let mut ranges = Vec::new();
    let mut start = 0;
    while samples.len() - start > longest {
        let rest = samples.len() - start;
        let earliest = if rest <= 2 * longest { rest / 2 } else { longest * 4 / 5 };
        let end = quietest(samples, start + earliest.min(longest - 1), start + longest);
        ranges.push(start..end);
        start = end;
    }
    if start < samples.len() {
        ranges.push(start..samples.len());
    }
    ranges
}

/// The middle of the quietest 100 ms between two places; after the first one, and not after the second.
pub fn quietest(samples: &[f32], from: usize, to: usize) -> usize {
    let loudness = |start: &usize| mean_square(samples.get(*start..*start + BREATH).unwrap_or_default());
    let starts = (from..to.saturating_sub(BREATH)).step_by(STEP);
    let best = starts.min_by(|a, b| loudness(a).total_cmp(&loudness(b)));
    best.map_or(to, |start| start + BREATH / 2)
}

/// Nobody can have spoken.
pub fn is_silent(samples: &[f32]) -> bool {
    samples.chunks(BREATH).all(|breath| mean_square(breath) < SILENCE)
}

fn mean_square(samples: &[f32]) -> f32 {
    samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cuts_in_the_pause() {
        let mut samples = vec![0.5; 100_000];
        samples[52_000..55_000].fill(0.0);
        let ranges = cuts(&samples, 60_000);
        assert_eq!(ranges.len(), 2);
        assert!((52_000..55_000).contains(&ranges[0].end), "{ranges:?}");
    }

    #[test]
    fn silence_is_told_from_a_whisper() {
        assert!(is_silent(&[]) && is_silent(&[0.0; 9000]) && is_silent(&[1e-4; 9000]));
        let mut samples = vec![0.0; 9000];
        samples[4000..6000].fill(0.001);
        assert!(!is_silent(&samples));
    }

    proptest! {
        #[test]
        fn no_sample_is_lost_or_doubled(length in 0_usize..40_000, longest in 1_usize..9_000) {
            let samples: Vec<f32> = (0..length).map(|n| (n as f32 * 0.01).sin()).collect();
            let ranges = cuts(&samples, longest);
            let mut next = 0;
            for range in &ranges {
                prop_assert_eq!(range.start, next);
                prop_assert!(!range.is_empty() && range.len() <= longest);
                next = range.end;
            }
            prop_assert_eq!(next, length);
        }
    }
}
