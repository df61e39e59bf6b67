//! Recordings in files (WAV, FLAC, MP3, OGG, M4A) as 16 kHz mono, a block at a time.

use super::resample::Resampler;
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use symphonia::core::audio::GenericAudioBufferRef;
use symphonia::core::codecs::audio::AudioDecoderOptions;
use symphonia::core::errors::Error;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, TrackType};
use symphonia::core::io::{MediaSourceStream, MediaSourceStreamOptions};
use symphonia::core::meta::MetadataOptions;

/// Why a recording can't be read. The texts follow the file's name.
#[derive(Debug, thiserror::Error)]
pub enum AudioFileError {
    /// The file can't be opened or read.
    #[error("can't be read: {0}")]
    File(String),
    /// It holds no sound in a form that we know.
    #[error("is no recording that Mynah can read (WAV, FLAC, MP3, OGG, M4A): {0}")]
    Kind(String),
    /// It is damaged from some point on.
    #[error("is damaged: {0}")]
    Damaged(String),
    /// Whoever takes the samples wants no more.
    #[error("was not read to its end")]
    Stopped,
}

impl AudioFileError {
    fn of(error: Error) -> Self {
        match error {
            Error::IoError(error) => Self::File(error.to_string()),
            Error::DecodeError(why) => Self::Damaged(why.to_owned()),
            Error::Unsupported(why) => Self::Kind(why.to_owned()),
            other => Self::Kind(other.to_string()),
        }
    }
}

/// Reads a recording through and gives its samples at 16 kHz, mono, from -1 to 1, block by block; no more than a block
/// is in memory. Channels are mixed. `take` ends it early by giving false.
///
/// # Errors
/// Why it can't be read; what came before was given.
pub fn read(path: &Path, mut take: impl FnMut(&[f32]) -> bool) -> Result<(), AudioFileError> {
    let file = File::open(path).map_err(|error| AudioFileError::File(plain(&error)))?;
    let stream = MediaSourceStream::new(Box::new(file), MediaSourceStreamOptions::default());
    let mut hint = Hint::new();
    if let Some(ending) = path.extension().and_then(|ending| ending.to_str()) {
        hint.with_extension(ending);
    }
    let probe = symphonia::default::get_probe();
    let mut format = probe
        .probe(&hint, stream, FormatOptions::default(), MetadataOptions::default())
        .map_err(|error| match error {
            Error::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
                AudioFileError::Kind("it ends before anything is known about it".to_owned())
            }
            other => AudioFileError::of(other),
        })?;
    let none = || AudioFileError::Kind("it has no sound track".to_owned());
    let track = format.default_track(TrackType::Audio).ok_or_else(none)?;
    let id = track.id;
    let codec = track.codec_params.as_ref().and_then(|codec| codec.audio()).ok_or_else(none)?;
    let mut decoder = symphonia::default::get_codecs()
        .make_audio_decoder(codec, &AudioDecoderOptions::default())
        .map_err(AudioFileError::of)?;
    let (mut resampler, mut mono, mut output) = (None, Vec::new(), Vec::new());
    let mut faults = 0_u32;
    loop {
        let packet = match format.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => break,
            // Some formats have no other end.
            Err(Error::IoError(error)) if error.kind() == ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(AudioFileError::of(error)),
        };
        if packet.track_id != id {
            continue;
        }
        let buffer = match decoder.decode(&packet) {
            Ok(buffer) => buffer,
            // A broken packet costs its few milliseconds; many in a row are no recording any more.
            Err(Error::DecodeError(_)) if faults < 100 => {
                faults += 1;
                continue;
            }
            Err(error) => return Err(AudioFileError::of(error)),
        };
        faults = 0;
        let rate = buffer.spec().rate();
        mix(&buffer, &mut mono);
        let resampler = match &mut resampler {
            Some(resampler) => resampler,
            none => {
                none.insert(Resampler::new(rate).map_err(|error| AudioFileError::Kind(error.to_string()))?)
            }
        };
        output.clear();
        resampler.take(&mono, &mut output);
        if !output.is_empty() && !take(&output) {
            return Err(AudioFileError::Stopped);
        }
    }
    output.clear();
    if let Some(resampler) = &mut resampler {
        resampler.finish(&mut output);
    }
    if output.is_empty() || take(&output) { Ok(()) } else { Err(AudioFileError::Stopped) }
}

/// The mean of all channels.
fn mix(buffer: &GenericAudioBufferRef<'_>, mono: &mut Vec<f32>) {
    let channels = buffer.spec().channels().count().max(1);
    let mut all: Vec<f32> = Vec::new();
    buffer.copy_to_vec_interleaved(&mut all);
    mono.clear();
    if channels == 1 {
        // Bit for bit as it is.
        mono.append(&mut all);
        return;
    }
    #[expect(clippy::cast_precision_loss, reason = "a handful of channels")]
    let share = 1.0 / channels as f32;
    mono.extend(all.chunks_exact(channels).map(|frame| frame.iter().sum::<f32>() * share));
}

fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(words, _)| words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A WAV file of 16-bit samples.
    fn wav(rate: u32, channels: u16, samples: &[i16]) -> Vec<u8> {
        let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        let length = u32::try_from(bytes.len()).unwrap();
        let mut file = b"RIFF".to_vec();
        file.extend((36 + length).to_le_bytes());
        file.extend(b"WAVEfmt ");
        file.extend(16_u32.to_le_bytes());
        file.extend(1_u16.to_le_bytes());
        file.extend(channels.to_le_bytes());
        file.extend(rate.to_le_bytes());
        file.extend((rate * u32::from(channels) * 2).to_le_bytes());
        file.extend((channels * 2).to_le_bytes());
        file.extend(16_u16.to_le_bytes());
        file.extend(b"data");
        file.extend(length.to_le_bytes());
        file.extend(bytes);
        file
    }

    fn all(bytes: &[u8]) -> Result<Vec<f32>, AudioFileError> {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("sound.wav");
        std::fs::write(&path, bytes).unwrap();
        let mut samples = Vec::new();
        read(&path, |block| {
            samples.extend_from_slice(block);
            true
        })?;
        Ok(samples)
    }

    #[test]
    fn sixteen_kilohertz_mono_comes_bit_for_bit() {
        let samples: Vec<i16> =
            (0..20_000_i32).map(|number| (number * 37 % 30_000 - 15_000) as i16).collect();
        let expected: Vec<f32> = samples.iter().map(|sample| f32::from(*sample) / 32_768.0).collect();
        assert!(all(&wav(16_000, 1, &samples)).unwrap() == expected);
    }

    #[test]
    fn channels_are_mixed_and_rates_changed() {
        let stereo: Vec<i16> =
            (0..96_000).map(|number| if number % 2 == 0 { 8_000 } else { -8_000 }).collect();
        let mono = all(&wav(48_000, 2, &stereo)).unwrap();
        assert_eq!(mono.len(), 16_000);
        assert!(mono.iter().all(|sample| sample.abs() < 1e-4));
    }

    #[test]
    fn what_is_no_recording_says_so() {
        assert!(matches!(all(b""), Err(AudioFileError::Kind(_))));
        assert!(matches!(
            all(b"just a text, long enough to look at, and at it again"),
            Err(AudioFileError::Kind(_) | AudioFileError::File(_))
        ));
        let error = read(Path::new("/not/there.wav"), |_| true).unwrap_err();
        assert_eq!(error.to_string(), "can't be read: No such file or directory");
    }

    #[test]
    fn a_cut_file_gives_what_there_is() {
        let mut bytes = wav(16_000, 1, &[100; 16_000]);
        bytes.truncate(44 + 16_000);
        assert_eq!(all(&bytes).unwrap().len(), 8_000);
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.wav");
        std::fs::write(&path, wav(16_000, 1, &[1; 16_000])).unwrap();
        assert!(matches!(read(&path, |_| false), Err(AudioFileError::Stopped)));
    }
}
