//! A recording in a file becomes text.

use super::audio::{Chunk, SAMPLE_RATE, duration};
use super::audio_file::{self, AudioFileError};
use super::chunker::Chunker;
use super::transcriber::{Ask, SpeechError, Transcriber, Transcript, Word};
use super::vad::{FRAME, Vad};
use std::path::Path;
use std::time::{Duration, Instant};

/// A file up to this long is decoded in one piece, a longer one by chunks.
pub const ONE_PIECE: usize = 30 * SAMPLE_RATE;

/// What came of a file.
pub struct Transcribed {
    /// Text and words; their times count from the file's beginning.
    pub transcript: Transcript,
    /// The file's length.
    pub length: Duration,
    /// Time that it took, reading included.
    pub wall: Duration,
}

/// Why nothing came of it. The texts follow the file's name.
#[derive(Debug, thiserror::Error)]
pub enum TranscribeError {
    /// The file.
    #[error(transparent)]
    File(#[from] AudioFileError),
    /// The model.
    #[error("could not be turned into text: {0}")]
    Speech(#[from] SpeechError),
}

/// Turns a file into text. Of a long file no more than half a minute is in memory at a time.
///
/// # Errors
/// The file can't be read, or the model fails.
pub fn transcribe(
    path: &Path,
    model: &mut dyn Transcriber,
    ask: &Ask,
) -> Result<Transcribed, TranscribeError> {
    let before = Instant::now();
    let mut pieces = Pieces::default();
    let mut all = Transcript::default();
    let mut failed = None;
    let read = audio_file::read(path, |block| {
        let decoded =
            pieces.take(block).into_iter().try_for_each(|chunk| decode(&chunk, model, ask, &mut all));
        failed = decoded.err();
        failed.is_none()
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    read?;
    let length = duration(pieces.taken);
    if let Some(chunk) = pieces.finish() {
        decode(&chunk, model, ask, &mut all)?;
    }
    Ok(Transcribed { transcript: all, length, wall: before.elapsed() })
}

fn decode(
    chunk: &Chunk,
    model: &mut dyn Transcriber,
    ask: &Ask,
    all: &mut Transcript,
) -> Result<(), SpeechError> {
    let one = model.transcribe(&chunk.samples, ask)?;
    let start = duration(chunk.start).as_secs_f32();
    if !one.text.is_empty() {
        if !all.text.is_empty() {
            all.text.push(' ');
        }
        all.text.push_str(&one.text);
    }
    all.words.extend(one.words.into_iter().map(|word| Word {
        start: word.start + start,
        end: word.end + start,
        ..word
    }));
    all.language = all.language.take().or(one.language);
    Ok(())
}

/// A stream of samples as the pieces that are decoded: one while it is short, chunks as soon as it is known to be long.
#[derive(Default)]
struct Pieces {
    /// Samples that no chunk was made of: all of them while the file may be short.
    waiting: Vec<f32>,
    cutter: Option<(Vad, Chunker)>,
    taken: usize,
}

impl Pieces {
    fn take(&mut self, block: &[f32]) -> Vec<Chunk> {
        self.taken += block.len();
        self.waiting.extend_from_slice(block);
        if self.cutter.is_none() {
            if self.taken <= ONE_PIECE {
                return Vec::new();
            }
            self.cutter = Some((Vad::default(), Chunker::default()));
        }
        let mut chunks = Vec::new();
        if let Some((vad, chunker)) = &mut self.cutter {
            let frames = self.waiting.chunks_exact(FRAME);
            let rest = frames.remainder().to_vec();
            for frame in frames {
                let is_speech = vad.judge(frame);
                chunks.extend(chunker.take(frame, is_speech));
            }
            self.waiting = rest;
        }
        chunks
    }

    fn finish(self) -> Option<Chunk> {
        match self.cutter {
            Some((mut vad, chunker)) => {
                let is_speech = !self.waiting.is_empty() && vad.judge(&self.waiting);
                chunker.finish(&self.waiting, is_speech)
            }
            None if self.waiting.is_empty() => None,
            None => Some(Chunk { number: 0, start: 0, samples: self.waiting.into() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictation::transcriber::ModelInfo;
    use crate::proto::voice::Precision;

    /// Says how many samples it got, as a word at the beginning.
    struct Counter(ModelInfo);

    impl Transcriber for Counter {
        fn transcribe(&mut self, samples: &[f32], ask: &Ask) -> Result<Transcript, SpeechError> {
            ask.cancel.check()?;
            let text = samples.len().to_string();
            let word = Word { text: text.clone(), start: 0.5, end: 0.75 };
            Ok(Transcript { text, words: vec![word], language: None })
        }

        fn info(&self) -> &ModelInfo {
            &self.0
        }
    }

    fn counter() -> Counter {
        Counter(ModelInfo { kind: "whisper", precision: Precision::F32, bytes: 0 })
    }

    #[test]
    fn half_a_minute_is_one_piece_however_it_comes() {
        for block in [1_000, 1_600, ONE_PIECE] {
            let mut pieces = Pieces::default();
            for part in vec![0.0; ONE_PIECE].chunks(block) {
                assert!(pieces.take(part).is_empty());
            }
            assert_eq!(pieces.finish().unwrap().samples.len(), ONE_PIECE);
        }
        assert!(Pieces::default().finish().is_none());
    }

    #[test]
    fn longer_ones_are_cut_and_silence_gives_nothing() {
        let mut pieces = Pieces::default();
        assert!(pieces.take(&vec![0.0; 10 * ONE_PIECE + 7]).is_empty());
        assert!(pieces.waiting.len() < FRAME, "memory is bounded");
        assert!(pieces.finish().is_none());
    }

    #[test]
    fn times_count_from_the_files_beginning_and_texts_are_joined() {
        let mut all = Transcript::default();
        for (number, start) in [(0, 0), (1, 32_000)] {
            let chunk = Chunk { number, start, samples: vec![0.0; 5].into() };
            decode(&chunk, &mut counter(), &Ask::default(), &mut all).unwrap();
        }
        assert_eq!(all.text, "5 5");
        let times: Vec<_> = all.words.iter().map(|word| (word.start, word.end)).collect();
        assert_eq!(times, [(0.5, 0.75), (2.5, 2.75)]);
    }

    #[test]
    fn a_file_goes_through_and_a_missing_one_is_told() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/speech/dictation.wav");
        let done = transcribe(&path, &mut counter(), &Ask::default()).ok().unwrap();
        assert_eq!(done.transcript.text, super::super::audio::samples(done.length).to_string());
        let ask = Ask::default();
        ask.cancel.cancel();
        assert!(matches!(
            transcribe(&path, &mut counter(), &ask),
            Err(TranscribeError::Speech(SpeechError::Cancelled))
        ));
        assert!(matches!(
            transcribe(Path::new("/not/there.wav"), &mut counter(), &Ask::default()),
            Err(TranscribeError::File(_))
        ));
    }
}
