//! Tells speech from noise, for pieces of 16 ms.
//!
//! A small network (earshot) gives a probability; a threshold makes it a yes or no, a little higher where speech
//! begins than where it goes on. (A lower one for going on keeps steady noise for speech: half of all frames at 5 dB.)

/// Samples at 16 kHz that are judged at once.
pub const FRAME: usize = 256;

/// Speech begins here.
const BEGINS: f32 = 0.7;

/// Speech goes on down to here.
const GOES_ON: f32 = 0.5;

/// Judges one recording, frame by frame.
#[derive(Default)]
pub struct Vad {
    detector: Box<earshot::Detector>,
    gate: Gate,
}

impl Vad {
    /// True if there is speech in the next frame of the recording. A frame that is shorter, as only the last may be, is
    /// judged as if silence followed.
    pub fn judge(&mut self, frame: &[f32]) -> bool {
        let mut whole = [0.0; FRAME];
        for (to, from) in whole.iter_mut().zip(frame) {
            *to = if from.is_nan() { 0.0 } else { from.clamp(-1.0, 1.0) };
        }
        self.gate.judge(self.detector.predict_f32(&whole))
    }
}

/// The threshold.
#[derive(Debug, Default)]
struct Gate {
    is_open: bool,
}

impl Gate {
    fn judge(&mut self, probability: f32) -> bool {
        self.is_open = probability >= if self.is_open { GOES_ON } else { BEGINS };
        self.is_open
    }
}

#[cfg(test)]
mod tests;
