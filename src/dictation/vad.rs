//! Tells speech from noise, for pieces of 16 ms.
//!
//! A small network (earshot) gives a probability; a threshold makes it a yes or no. One that is lower where speech goes
//! on than where it begins was tried: it takes the steady noise after a word for more of it.

/// Samples at 16 kHz that are judged at once.
pub const FRAME: usize = 256;

/// So probable is speech at least. Lower, a tenth of white noise at 5 dB passes for speech; higher, soft beginnings are
/// lost.
const SPEECH: f32 = 0.65;

/// Judges one recording, frame by frame.
#[derive(Default)]
pub struct Vad {
    detector: Box<earshot::Detector>,
}

impl Vad {
    /// True if there is speech in the next frame of the recording. A frame that is shorter, as only the last may be, is
    /// judged as if silence followed.
    pub fn judge(&mut self, frame: &[f32]) -> bool {
        let mut whole = [0.0; FRAME];
        for (to, from) in whole.iter_mut().zip(frame) {
            *to = if from.is_nan() { 0.0 } else { from.clamp(-1.0, 1.0) };
        }
        self.detector.predict_f32(&whole) >= SPEECH
    }
}

#[cfg(test)]
mod tests;
