//! How loud a recording is, and what a speaker should know of that. Pure.

use crate::proto::voice::VoiceWarning;

/// What counts as full scale: one step of 16 bits below it, since positive samples never reach 1.
const FULL_SCALE: f32 = 32_767.0 / 32_768.0;

/// Clipped samples in a frame from which on it is too loud.
const TOO_MANY_CLIPPED: u32 = 4;

/// Frames of nothing but zeros after which the microphone counts as silent.
const SILENT_FRAMES: u32 = 15;

/// The frames at the beginning, about 3 s, in which something should be heard.
const FIRST_FRAMES: u32 = 30;

/// The level above which something is heard: about -57 dBFS.
const HEARD: f32 = 0.05;

/// About a tenth of a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Root mean square in dBFS, from 0 (-60 and less) to 1 (-6 and more).
    pub level: f32,
    /// Samples at full scale.
    pub clipped: u32,
    /// What to tell the speaker now. Each warning but [`VoiceWarning::TooLoud`] comes once.
    pub warning: Option<VoiceWarning>,
}

/// Measures a recording frame by frame.
#[derive(Debug)]
pub struct Meter {
    frame: usize,
    filled: usize,
    squares: f64,
    clipped: u32,
    is_zero: bool,
    frames: u32,
    zero_frames: u32,
    has_heard: bool,
    has_warned_of_silence: bool,
}

impl Meter {
    /// For samples at this rate, in Hz.
    pub fn new(rate: u32) -> Self {
        Self {
            frame: usize::try_from(rate / 10).unwrap_or(0).max(1),
            filled: 0,
            squares: 0.0,
            clipped: 0,
            is_zero: true,
            frames: 0,
            zero_frames: 0,
            has_heard: false,
            has_warned_of_silence: false,
        }
    }

    /// Takes samples, and gives the frames that they complete to `each`, with the number of samples of this call up to
    /// the frame's end.
    pub fn measure(&mut self, samples: &[f32], mut each: impl FnMut(usize, Frame)) {
        for (index, sample) in samples.iter().enumerate() {
            self.squares += f64::from(*sample) * f64::from(*sample);
            self.clipped += u32::from(sample.abs() >= FULL_SCALE);
            self.is_zero &= *sample == 0.0;
            self.filled += 1;
            if self.filled == self.frame {
                let frame = self.complete();
                each(index + 1, frame);
            }
        }
    }

    fn complete(&mut self) -> Frame {
        let level = level_of((self.squares / self.frame as f64).sqrt());
        let clipped = self.clipped;
        self.frames = self.frames.saturating_add(1);
        self.zero_frames = if self.is_zero { self.zero_frames.saturating_add(1) } else { 0 };
        self.has_heard |= level > HEARD;
        let warning = if clipped >= TOO_MANY_CLIPPED {
            Some(VoiceWarning::TooLoud)
        } else if self.zero_frames >= SILENT_FRAMES && !self.has_warned_of_silence {
            self.has_warned_of_silence = true;
            Some(VoiceWarning::Silent)
        } else if self.frames == FIRST_FRAMES && !self.has_heard && !self.has_warned_of_silence {
            Some(VoiceWarning::NothingHeard)
        } else {
            None
        };
        (self.filled, self.squares, self.clipped, self.is_zero) = (0, 0.0, 0, true);
        Frame { level, clipped, warning }
    }
}

fn level_of(root_mean_square: f64) -> f32 {
    let decibels = 20.0 * root_mean_square.log10();
    ((decibels + 60.0) / 54.0).clamp(0.0, 1.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(meter: &mut Meter, samples: &[f32]) -> Vec<Frame> {
        let mut frames = Vec::new();
        meter.measure(samples, |_end, frame| frames.push(frame));
        frames
    }

    fn warnings(samples: &[f32]) -> Vec<(usize, VoiceWarning)> {
        let frames = frames(&mut Meter::new(16_000), samples);
        frames.iter().enumerate().filter_map(|(index, frame)| Some((index, frame.warning?))).collect()
    }

    #[test]
    fn levels() {
        // (constant sample, level)
        for (sample, expected) in [
            (0.0, 0.0),
            (0.001, 0.0),
            (0.001_412_5, 0.055_5),
            (0.01, 0.370_4),
            (0.022_387_2, 0.5),
            (0.1, 0.740_7),
            (0.501_187, 1.0),
            (0.9, 1.0),
        ] {
            let frames = frames(&mut Meter::new(16_000), &[sample; 1_600]);
            assert_eq!(frames.len(), 1);
            assert!((frames[0].level - expected).abs() < 1e-3, "{sample}: {:?}", frames[0]);
        }
    }

    #[test]
    fn frames_do_not_depend_on_blocks() {
        let samples: Vec<f32> =
            (0..20_000).map(|index| ((index * 7919) % 1000) as f32 / 1000.0 - 0.5).collect();
        let expected = frames(&mut Meter::new(48_000), &samples);
        let mut meter = Meter::new(48_000);
        let pieces: Vec<Frame> = samples.chunks(333).flat_map(|block| frames(&mut meter, block)).collect();
        assert_eq!(pieces, expected);
        assert_eq!(expected.len(), 4);
    }

    #[test]
    fn a_silent_microphone_is_told_once_and_instead_of_nothing_heard() {
        assert_eq!(warnings(&vec![0.0; 16_000 * 10]), [(14, VoiceWarning::Silent)]);
        let mut late = vec![0.001; 1_600 * 40];
        late.extend(vec![0.0; 1_600 * 20]);
        assert_eq!(warnings(&late), [(29, VoiceWarning::NothingHeard), (54, VoiceWarning::Silent)]);
    }

    #[test]
    fn nothing_heard_in_the_first_seconds() {
        assert_eq!(warnings(&vec![0.001; 16_000 * 10]), [(29, VoiceWarning::NothingHeard)]);
        let mut spoken = vec![0.001; 16_000 * 10];
        spoken[40_000..44_000].fill(0.1);
        assert_eq!(warnings(&spoken), []);
        assert_eq!(warnings(&vec![0.001; 1_600 * 29]), []);
    }

    #[test]
    fn clipping() {
        let mut samples = vec![0.1; 1_600 * 3];
        samples[10..13].fill(1.0);
        samples[1_610..1_612].fill(-1.0);
        samples[1_620..1_622].fill(32_767.0 / 32_768.0);
        let frames = frames(&mut Meter::new(16_000), &samples);
        assert_eq!(frames.iter().map(|frame| frame.clipped).collect::<Vec<_>>(), [3, 4, 0]);
        assert_eq!(warnings(&samples), [(1, VoiceWarning::TooLoud)]);
    }
}
