//! Long recordings, from a program that gives them as fast as they are taken.

use super::super::microphone;
use super::*;
use crate::proto::voice::SoundSource;
use std::path::Path;
use std::sync::mpsc::channel;

/// Chunks are cut here at the latest; what leads to the speech comes on top.
const LONGEST_CHUNK: usize = 21 * 16_000;

/// Says how loud a chunk is at its loudest, and notes how long it was.
struct Loudness {
    info: ModelInfo,
    lengths: Arc<Mutex<Vec<usize>>>,
}

impl Transcriber for Loudness {
    fn transcribe(&mut self, samples: &[f32], _: &Ask) -> Result<Transcript, SpeechError> {
        self.lengths.lock().unwrap().push(samples.len());
        let loudest = samples.iter().fold(0.0_f32, |loudest, sample| loudest.max(sample.abs()));
        Ok(Transcript { text: format!("{:.0}", loudest * 32_768.0), ..Transcript::default() })
    }

    fn info(&self) -> &ModelInfo {
        &self.info
    }
}

struct OneModel(Arc<Mutex<Vec<usize>>>);

impl Models for OneModel {
    fn pick(&self, settings: &VoiceSettings) -> Result<Picked, String> {
        FakeModels { is_here: AtomicBool::new(true), ..FakeModels::default() }.pick(settings)
    }

    fn open(
        &self,
        _: &Picked,
        _: &VoiceSettings,
        _: &Cancel,
    ) -> Result<Box<dyn Transcriber>, (VoiceFailure, String)> {
        let info = ModelInfo { kind: "whisper", precision: Precision::F32, bytes: 1 };
        Ok(Box::new(Loudness { info, lengths: Arc::clone(&self.0) }))
    }

    fn offer(&self, _: &str, _: Option<String>) -> Option<ModelOffer> {
        None
    }

    fn fetch(
        &self,
        _: &str,
        _: &VoiceSettings,
        _: &Cancel,
        _: &mut dyn FnMut(u64, u64),
    ) -> Result<(), (VoiceFailure, String)> {
        Ok(())
    }

    fn rows(&self, _: &VoiceSettings) -> Vec<ModelRow> {
        Vec::new()
    }

    fn room(&self) -> (u64, (PathBuf, u64)) {
        (0, (PathBuf::new(), 0))
    }
}

/// Records from this program until it ends: what came of it, the lengths of the chunks, and the recording's length.
fn record(line: String) -> (VoiceEvent, Vec<usize>, Duration) {
    let lengths: Arc<Mutex<Vec<usize>>> = Arc::default();
    let parts = Parts {
        ear: Box::new(microphone::ear),
        microphones: Arc::new(|| Ok(Vec::new())),
        models: Arc::new(OneModel(Arc::clone(&lengths))),
    };
    let mut settings = Loaded::defaults().settings.voice.engine;
    settings.source = SoundSource::Command(line);
    settings.longest = Duration::from_secs(7_200);
    let (sender, events) = channel();
    let engine = Dictation::with_parts(parts, settings, move |event| drop(sender.send(event))).unwrap();
    engine.send(VoiceCommand::Record(RecordingId(1)));
    let mut length = Duration::ZERO;
    let end = loop {
        match events.recv_timeout(Duration::from_secs(120)).unwrap() {
            VoiceEvent::Level { recorded, .. } => length = recorded,
            VoiceEvent::Warning { warning, .. } => {
                assert_ne!(warning, crate::proto::voice::VoiceWarning::Dropped, "nothing is lost");
            }
            end @ (VoiceEvent::Text { .. } | VoiceEvent::Nothing(_) | VoiceEvent::Failed { .. }) => {
                break end;
            }
            _ => {}
        }
    };
    drop(engine);
    let lengths = lengths.lock().unwrap().clone();
    (end, lengths, length)
}

/// A sentence again and again, each time a little louder, with pauses.
#[test]
fn twenty_minutes_of_speech_come_out_in_order() {
    let wav = include_bytes!("../../../../tests/fixtures/speech/dictation.wav");
    let sentence: Vec<i16> =
        wav[44..].chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
    let pause = [0; 16_000];
    let times = 20 * 60 * 16_000 / (sentence.len() + pause.len()) + 1;
    let mut bytes = Vec::new();
    for time in 0..times {
        let share = 0.4 + 0.6 * time as f32 / times as f32;
        let louder = sentence.iter().map(|sample| (f32::from(*sample) * share) as i16);
        bytes.extend(louder.chain(pause).flat_map(i16::to_le_bytes));
    }
    let folder = tempfile::tempdir().unwrap();
    let file: &Path = &folder.path().join("speech.raw");
    std::fs::write(file, bytes).unwrap();
    let (end, lengths, recorded) = record(format!("cat {}", file.display()));
    let VoiceEvent::Text { text, note: None, .. } = end else { panic!("{end:?}") };
    assert!(recorded >= Duration::from_secs(20 * 60), "{recorded:?}");
    let loudness: Vec<u32> = text.split(' ').map(|word| word.parse().unwrap()).collect();
    assert_eq!(loudness.len(), times, "a chunk for each sentence");
    assert!(loudness.is_sorted() && loudness.first() < loudness.last(), "{loudness:?}");
    assert!(lengths.iter().all(|length| *length <= LONGEST_CHUNK), "{lengths:?}");
}

#[test]
fn an_hour_of_silence_is_nothing() {
    let bytes = 3_600 * 32_000;
    let (end, lengths, recorded) = record(format!("head -c {bytes} /dev/zero"));
    assert_eq!(end, VoiceEvent::Nothing(RecordingId(1)));
    assert_eq!((lengths.len(), recorded.as_secs()), (0, 3_600));
}
