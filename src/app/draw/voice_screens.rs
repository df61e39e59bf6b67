//! Whole screens with dictation on them. They are looked at when they change.

use crate::app::msg::Msg;
use crate::app::stage::{Stage, key_event, released};
use crate::assert_screen;
use crate::proto::ids::RecordingId;
use crate::proto::voice::{
    ChunkState, Microphone, ModelOffer, ModelRow, ModelState, VoiceEvent, VoiceStatus, Wait,
};
use crate::term::input::Input;
use std::path::PathBuf;
use std::time::Duration;

const SIZES: [(u16, u16); 3] = [(60, 20), (100, 30), (160, 50)];
const RECORDING: RecordingId = RecordingId(1);

fn at_every_size(case: &str, make: impl Fn() -> Stage) {
    for size in SIZES {
        let mut stage = make();
        stage.state.size = size;
        let (buffer, caret) = stage.draw();
        assert_screen!("voice", case, &buffer, caret);
    }
}

fn tell(stage: &mut Stage, event: VoiceEvent) {
    stage.tell(Msg::Voice(Box::new(event)));
}

/// Somebody has spoken for seven seconds.
fn speaking(mut stage: Stage) -> Stage {
    stage.tell(Msg::Input(Input::Key(key_event("ctrl+space"))));
    stage.wait(90);
    stage.tell(Msg::Input(Input::Key(released("ctrl+space"))));
    let recording = RECORDING;
    let model = "parakeet 0.6b-v3".to_owned();
    tell(&mut stage, VoiceEvent::Opening { recording, model, processor: "cpu" });
    let microphone = "Built-in microphone".to_owned();
    tell(&mut stage, VoiceEvent::Listening { recording, microphone, latency: Duration::from_millis(70) });
    for step in 0..70_u16 {
        let level = f32::from(step % 10) / 10.0;
        let recorded = Duration::from_millis(100) * u32::from(step);
        stage.wait(100);
        tell(&mut stage, VoiceEvent::Level { recording, recorded, level, clipped: 0 });
    }
    let states = [ChunkState::Done, ChunkState::Decoding, ChunkState::Filling(Duration::from_secs(2))];
    for (number, state) in (0..).zip(states) {
        tell(&mut stage, VoiceEvent::Chunk { recording, number, state });
    }
    stage
}

/// A prompt of more rows than are shown.
fn with_a_long_prompt(mut stage: Stage) -> Stage {
    let lines: Vec<String> = (1..=30).map(|number| format!("line {number} of a long prompt")).collect();
    stage.state.composer.replace_all(&lines.join("\n"), stage.now);
    stage
}

#[test]
fn recordings() {
    at_every_size("recording", || speaking(Stage::open()));
    at_every_size("recording_above_more", || with_a_long_prompt(speaking(Stage::open())));
    at_every_size("recording_while_working", || speaking(Stage::running()));
    at_every_size("recording_queued", || {
        let mut stage = speaking(Stage::open());
        let on = Some(Wait::Loading { queued: Duration::from_millis(4_200) });
        tell(&mut stage, VoiceEvent::Waits { recording: RECORDING, on });
        stage
    });
}

fn status() -> VoiceStatus {
    let model = |name: &str, title: &str, languages: &str, bytes, is_here, skipped: Option<&str>| ModelRow {
        name: name.to_owned(),
        title: title.to_owned(),
        languages: languages.to_owned(),
        is_here,
        bytes,
        skipped: skipped.map(str::to_owned),
    };
    let memory = Some("needs 2 GB of free memory");
    VoiceStatus {
        microphones: vec![
            Microphone { name: "Built-in microphone".to_owned(), is_default: true },
            Microphone { name: "Headset".to_owned(), is_default: false },
        ],
        no_microphones: None,
        models: vec![
            model("parakeet-v3", "Parakeet TDT 0.6B v3", "25 languages", 2_508_000_000, false, memory),
            model("parakeet-110m", "Parakeet TDT-CTC 110M", "English", 459_000_000, false, None),
            model("whisper-tiny", "Whisper tiny", "99 languages", 151_000_000, true, None),
        ],
        chosen: "whisper-tiny".to_owned(),
        why: "the others are not here".to_owned(),
        state: ModelState::Unloaded,
        free_memory: 1_500_000_000,
        cache: (PathBuf::from("/home/ada/.cache/mynah/speech"), 9_000_000_000),
    }
}

#[test]
fn lists() {
    for (case, line) in [
        ("menu", "/voice"),
        ("microphones", "/voice mic"),
        ("models", "/voice model"),
        ("status", "/voice status"),
    ] {
        at_every_size(case, || {
            let mut stage = Stage::open();
            stage.line(line);
            tell(&mut stage, VoiceEvent::Status(Box::new(status())));
            stage
        });
    }
}

#[test]
fn the_question_before_a_download() {
    at_every_size("offer", || {
        let mut stage = speaking(Stage::open());
        let offer = ModelOffer {
            name: "parakeet-v3".to_owned(),
            title: "Parakeet TDT 0.6B v3".to_owned(),
            from: "huggingface.co/nvidia/parakeet-tdt-0.6b-v3".to_owned(),
            bytes: 2_508_000_000,
            licence: "CC-BY-4.0".to_owned(),
            languages: "25 languages".to_owned(),
            memory: 800_000_000,
            why: None,
        };
        tell(&mut stage, VoiceEvent::Waits { recording: RECORDING, on: Some(Wait::Consent) });
        tell(&mut stage, VoiceEvent::Offer(Box::new(offer)));
        stage
    });
}
