//! Cuts a recording into chunks that are decoded one after another while the user still speaks. Pure.
//!
//! A chunk is complete half a second after the last speech in it. It is cut at the quietest window of that pause, and
//! what follows the cut begins the next chunk: chunks tile the recording, so that no quiet word between them is lost.
//! Only of a long pause is the beginning dropped: a second before speech is kept. Speech without a pause is cut after
//! 12 s at the quietest window of its last seconds.
//!
//! Invariants: `samples` begin at index `start` of the recording, and are `loudness.len()` whole frames; without speech
//! they are at most [`LEAD`] frames, with speech fewer than [`LONGEST`].

use super::audio::{Chunk, duration};
use super::vad::FRAME;
use std::time::Duration;

/// Frames without speech after which speech has ended: half a second.
pub const PAUSE: usize = 8_000_usize.div_ceil(FRAME);

/// Frames of a pause that are kept before speech: a second, rounded down.
pub const LEAD: usize = 16_000 / FRAME;

/// Frames of the longest chunk: 12 s.
pub const LONGEST: usize = 192_000 / FRAME;

/// Where speech is cut that has no pause, this many of the last frames are looked at: 3 s.
pub const LOOK_BACK: usize = 48_000 / FRAME;

/// Collects a recording and gives its chunks.
#[derive(Default)]
pub struct Chunker {
    /// The open chunk.
    samples: Vec<f32>,
    /// Sum of squares of each frame.
    loudness: Vec<f32>,
    /// Where the open chunk begins in the recording.
    start: usize,
    /// Number of the open chunk.
    number: u32,
    /// Frame after the last speech of the open chunk; zero without speech.
    speech_end: usize,
    /// Frames with speech in the open chunk, for each of them, so that a cut leaves the right rest.
    speech: Vec<bool>,
}

impl Chunker {
    /// Takes the next frame of [`FRAME`] samples; gives a chunk if one is complete.
    pub fn take(&mut self, frame: &[f32], is_speech: bool) -> Option<Chunk> {
        self.samples.extend_from_slice(frame);
        self.loudness.push(frame.iter().map(|sample| sample * sample).sum());
        self.speech.push(is_speech);
        let frames = self.loudness.len();
        if is_speech {
            self.speech_end = frames;
        }
        if self.speech_end == 0 {
            let late = frames.saturating_sub(LEAD);
            self.remove(late);
            return None;
        }
        if frames - self.speech_end >= PAUSE {
            return Some(self.cut(self.quietest(self.speech_end)));
        }
        if frames >= LONGEST {
            return Some(self.cut(self.quietest(frames.saturating_sub(LOOK_BACK).max(1))));
        }
        None
    }

    /// The recording ends with these samples, fewer than a frame: what is open becomes the last chunk if there is speech
    /// in it.
    pub fn finish(mut self, rest: &[f32], is_speech: bool) -> Option<Chunk> {
        if self.speech_end == 0 && !is_speech {
            return None;
        }
        self.samples.extend_from_slice(rest);
        Some(Chunk { number: self.number, start: self.start, samples: self.samples.into() })
    }

    /// Number and length of the open chunk, if there is speech in it.
    pub fn filling(&self) -> Option<(u32, Duration)> {
        (self.speech_end > 0).then(|| (self.number, duration(self.samples.len())))
    }

    /// A copy of the open chunk as it is now, if there is speech in it.
    pub fn open(&self) -> Option<Chunk> {
        (self.speech_end > 0).then(|| Chunk {
            number: self.number,
            start: self.start,
            samples: self.samples.as_slice().into(),
        })
    }

    /// The quietest frame from this one on; the earliest of equals.
    fn quietest(&self, from: usize) -> usize {
        let frames = self.loudness.iter().enumerate().skip(from);
        frames.min_by(|a, b| a.1.total_cmp(b.1)).map_or(from, |(frame, _loudness)| frame)
    }

    /// Everything before this frame is a chunk; the rest is open.
    fn cut(&mut self, frame: usize) -> Chunk {
        let samples = self.samples.get(..frame * FRAME).unwrap_or(&self.samples).into();
        let chunk = Chunk { number: self.number, start: self.start, samples };
        self.number += 1;
        self.remove(frame);
        chunk
    }

    fn remove(&mut self, frames: usize) {
        if frames == 0 {
            return;
        }
        self.samples.drain(..(frames * FRAME).min(self.samples.len()));
        self.loudness.drain(..frames.min(self.loudness.len()));
        self.speech.drain(..frames.min(self.speech.len()));
        self.start += frames * FRAME;
        self.speech_end = self.speech.iter().rposition(|is_speech| *is_speech).map_or(0, |last| last + 1);
    }
}

#[cfg(test)]
mod tests;
