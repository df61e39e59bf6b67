//! Samples and chunks, as all parts of dictation speak of them.

use std::sync::Arc;
use std::time::Duration;

/// Samples in a second, of everything behind the resampler. Mono, from -1 to 1.
pub const SAMPLE_RATE: usize = 16_000;

/// How long this many samples last.
pub fn duration(samples: usize) -> Duration {
    let samples = u64::try_from(samples).unwrap_or(u64::MAX);
    Duration::from_micros(samples.saturating_mul(1_000_000) / 16_000)
}

/// Samples in this time, rounded down.
pub fn samples(time: Duration) -> usize {
    usize::try_from(time.as_micros().saturating_mul(16_000) / 1_000_000).unwrap_or(usize::MAX)
}

/// A piece of a recording that is decoded at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// From 0 on, in the order in which they were spoken.
    pub number: u32,
    /// Index of its first sample in the recording.
    pub start: usize,
    /// Its samples.
    pub samples: Arc<[f32]>,
}
