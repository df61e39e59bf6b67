//! A WAV file as a microphone.

use super::error::CaptureError;
use super::intake::Intake;
use super::ring::ring;
use super::source::{Outlet, Source};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Sound that is given at once, in real time.
const BLOCK: Duration = Duration::from_millis(20);

/// Plays a file into a recording.
pub struct WavSource {
    path: PathBuf,
    pace: Pace,
}

/// How fast a file is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As a microphone: in real time, and with silence after the file's end until it is closed.
    RealTime,
    /// All of it at once; then the source ends.
    AtOnce,
}

impl WavSource {
    /// This file.
    pub const fn new(path: PathBuf, pace: Pace) -> Self {
        Self { path, pace }
    }
}

impl Source for WavSource {
    fn run(&mut self, outlet: &Outlet) -> Result<(), CaptureError> {
        let bytes = std::fs::read(&self.path).map_err(|error| CaptureError::File(error.to_string()))?;
        let wav = Wav::read(&bytes)?;
        let name = self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        if self.pace == Pace::AtOnce {
            let (writer, samples) = ring(wav.samples.len());
            Intake::new(writer, wav.channels).take(&wav.samples);
            outlet.opened(&name, wav.rate, samples);
            return Ok(());
        }
        let mut intake = Intake::new(outlet.open(&name, wav.rate), wav.channels);
        let begin = Instant::now();
        let silence = [0.0_f32; 64];
        let (mut given, mut rest) = (0_u64, wav.samples.as_slice());
        while !outlet.is_closed() {
            let due = begin.elapsed().as_micros() as u64 * u64::from(wav.rate) / 1_000_000;
            let frames = usize::try_from(due.saturating_sub(given)).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at((frames * usize::from(wav.channels)).min(rest.len()));
            intake.take(now);
            rest = later;
            let mut missing = frames * usize::from(wav.channels) - now.len();
            while missing > 0 {
                let some = missing.min(silence.len());
                intake.take(silence.get(..some).unwrap_or(&silence));
                missing -= some;
            }
            given = due;
            outlet.wait(Some(BLOCK))?;
        }
        Ok(())
    }
}

/// The sound of a WAV file.
#[derive(Clone, PartialEq)]
pub struct Wav {
    /// Samples of a channel in a second.
    pub rate: u32,
    /// At least one.
    pub channels: u16,
    /// Interleaved, from -1 to 1.
    pub samples: Vec<f32>,
}

impl Wav {
    /// Reads integer samples of 8, 16, 24 or 32 bits, and floating-point ones of 32. What is cut off is taken as far as it
    /// goes.
    ///
    /// # Errors
    /// It is something else.
    pub fn read(bytes: &[u8]) -> Result<Self, CaptureError> {
        let no_wav = || CaptureError::File("it is no WAV file".to_owned());
        if bytes.get(..4) != Some(b"RIFF") || bytes.get(8..12) != Some(b"WAVE") {
            return Err(no_wav());
        }
        let mut rest = bytes.get(12..).unwrap_or_default();
        let mut format = None;
        while let (Some(name), Some(length)) = (rest.get(..4), number::<4>(rest, 4)) {
            let body = rest.get(8..).unwrap_or_default();
            let length = usize::try_from(length).map_err(|_too_long| no_wav())?;
            let content = body.get(..length).unwrap_or(body);
            match name {
                b"fmt " => format = Some(Format::read(content).ok_or_else(no_wav)?),
                b"data" => return format.ok_or_else(no_wav)?.samples(content),
                _ => {}
            }
            // A part of odd length is followed by a byte that does not count.
            rest = body.get(length.saturating_add(length % 2)..).unwrap_or_default();
        }
        Err(no_wav())
    }
}

struct Format {
    is_float: bool,
    channels: u16,
    rate: u32,
    bits: u16,
}

impl Format {
    fn read(content: &[u8]) -> Option<Self> {
        let mut kind = number::<2>(content, 0)?;
        if kind == 0xFFFE {
            // The kind of an extended format is the beginning of its identifier.
            kind = number::<2>(content, 24)?;
        }
        let channels = u16::try_from(number::<2>(content, 2)?).ok()?;
        let is_float = match kind {
            1 => false,
            3 => true,
            _ => return None,
        };
        let bits = u16::try_from(number::<2>(content, 14)?).ok()?;
        (channels > 0).then_some(Self { is_float, channels, rate: number::<4>(content, 4)?, bits })
    }

    fn samples(&self, content: &[u8]) -> Result<Wav, CaptureError> {
        let samples = match (self.is_float, self.bits) {
            (false, 8) => content.iter().map(|byte| (f32::from(*byte) - 128.0) / 128.0).collect(),
            (false, 16) => each(content, |bytes: [u8; 2]| f32::from(i16::from_le_bytes(bytes)) / 32_768.0),
            (false, 24) => each(content, |[low, middle, high]: [u8; 3]| {
                i32::from_le_bytes([0, low, middle, high]) as f32 / 2_147_483_648.0
            }),
            (false, 32) => each(content, |bytes: [u8; 4]| i32::from_le_bytes(bytes) as f32 / 2_147_483_648.0),
            (true, 32) => each(content, f32::from_le_bytes),
            (_, bits) => return Err(CaptureError::File(format!("its samples of {bits} bits are unknown"))),
        };
        Ok(Wav { rate: self.rate, channels: self.channels, samples })
    }
}

/// A little-endian number of this many bytes.
fn number<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<u32> {
    let part = bytes.get(at..at + BYTES)?;
    Some(part.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

fn each<const BYTES: usize>(bytes: &[u8], sample: impl Fn([u8; BYTES]) -> f32) -> Vec<f32> {
    bytes.as_chunks::<BYTES>().0.iter().map(|bytes| sample(*bytes)).collect()
}

#[cfg(test)]
pub(in crate::dictation) mod tests {
    use super::super::source::{Note, start};
    use super::*;
    use std::path::Path;
    use std::sync::mpsc;

    /// Samples of a fixture, which are 16 kHz and mono.
    pub(in crate::dictation) fn fixture(name: &str) -> Vec<f32> {
        let wav = Wav::read(&std::fs::read(fixture_path(name)).unwrap()).unwrap();
        assert_eq!((wav.rate, wav.channels), (16_000, 1));
        wav.samples
    }

    pub(in crate::dictation) fn fixture_path(name: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/speech");
        folder.join(name)
    }

    pub(in crate::dictation) fn wav(kind: u16, channels: u16, rate: u32, bits: u16, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"RIFF\0\0\0\0WAVELIST\x03\0\0\0abc\0fmt \x10\0\0\0".to_vec();
        bytes.extend(kind.to_le_bytes());
        bytes.extend(channels.to_le_bytes());
        bytes.extend(rate.to_le_bytes());
        bytes.extend([0; 6]);
        bytes.extend(bits.to_le_bytes());
        bytes.extend(b"data");
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn kinds_of_samples() {
        let half = 0.5_f32.to_le_bytes();
        let cases: [(u16, u16, &[u8]); 5] = [
            (1, 8, &[192, 0]),
            (1, 16, &[0, 0x40, 0, 0x80]),
            (1, 24, &[0, 0, 0x40, 0, 0, 0x80]),
            (1, 32, &[0, 0, 0, 0x40, 0, 0, 0, 0x80]),
            (3, 32, &[half[0], half[1], half[2], half[3], 0, 0, 0x80, 0xBF]),
        ];
        for (kind, bits, data) in cases {
            let read = Wav::read(&wav(kind, 2, 44_100, bits, data)).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((read.rate, read.channels), (44_100, 2));
            assert_eq!(read.samples, [0.5, -1.0], "{kind} {bits}");
        }
    }

    #[test]
    fn what_is_no_wav_is_an_error() {
        let good = wav(1, 1, 16_000, 16, &[1, 2, 3, 4]);
        for length in 0..good.len() - 4 {
            assert!(Wav::read(&good[..length]).is_err(), "{length}");
        }
        assert_eq!(Wav::read(&good[..good.len() - 1]).ok().unwrap().samples.len(), 1, "cut off");
        for bad in [wav(1, 0, 16_000, 16, &[]), wav(2, 1, 16_000, 4, &[]), wav(1, 1, 16_000, 12, &[])] {
            assert!(matches!(Wav::read(&bad), Err(CaptureError::File(_))));
        }
    }

    #[test]
    fn all_at_once_and_then_the_end() {
        let (sender, notes) = mpsc::channel();
        let source = WavSource::new(fixture_path("dictation.wav"), Pace::AtOnce);
        let _tap = start(Box::new(source), move |note| sender.send(note).unwrap()).unwrap();
        let Note::Opened { name, rate, mut samples } = notes.recv().unwrap() else { panic!() };
        assert_eq!((name.as_str(), rate), ("dictation.wav", 16_000));
        assert!(matches!(notes.recv().unwrap(), Note::Ended(Ok(()))));
        let mut all = Vec::new();
        samples.read(&mut all);
        assert_eq!(all, fixture("dictation.wav"));
        assert_eq!(samples.lost(), 0);
    }

    #[test]
    fn in_real_time_as_long_as_it_is_wanted() {
        let (sender, notes) = mpsc::channel();
        let source = WavSource::new(fixture_path("dictation.wav"), Pace::RealTime);
        let tap = start(Box::new(source), move |note| sender.send(note).unwrap()).unwrap();
        let Note::Opened { mut samples, .. } = notes.recv().unwrap() else { panic!() };
        let mut all = Vec::new();
        while all.len() < 800 {
            samples.read(&mut all);
            std::thread::yield_now();
        }
        drop(tap);
        assert!(notes.recv().is_err(), "asked to close, it tells nothing more");
        assert_eq!(all, fixture("dictation.wav")[..all.len()]);
    }

    #[test]
    fn a_missing_file() {
        let (sender, notes) = mpsc::channel();
        let source = WavSource::new(fixture_path("no such file"), Pace::AtOnce);
        let _tap = start(Box::new(source), move |note| sender.send(note).unwrap()).unwrap();
        assert!(matches!(notes.recv().unwrap(), Note::Ended(Err(CaptureError::File(_)))));
    }
}
