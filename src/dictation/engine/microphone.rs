//! The microphone's recorder as the engine's ear.

use super::ear::{Ear, EarAsk, Heard};
use super::parts::HeardFn;
use crate::dictation::recorder::{self, Order, Recorder, Rules, Told};
use crate::proto::voice::{VoiceFailure, VoiceSettings};

/// A recorder, or why there is none.
enum Microphone {
    Here(Recorder),
    Absent(HeardFn, String),
}

/// Makes the ear of this system. It opens nothing before the first recording.
pub fn ear(heard: HeardFn, settings: &VoiceSettings) -> Box<dyn Ear> {
    let tell = heard.clone();
    let recorder = Recorder::of_this_system(Rules::from(settings), move |told| heard(of(told)));
    Box::new(match recorder {
        Ok(recorder) => Microphone::Here(recorder),
        Err(error) => {
            Microphone::Absent(tell, format!("Nothing can be recorded: {error}. Try again in a moment."))
        }
    })
}

impl Ear for Microphone {
    fn ask(&mut self, ask: EarAsk) {
        match (self, ask) {
            (Self::Here(recorder), ask) => recorder.order(order(ask)),
            (Self::Absent(tell, text), EarAsk::Record(recording)) => {
                tell(Heard::Failed { recording, failure: VoiceFailure::Internal, text: text.clone() });
            }
            (Self::Absent(..), _) => {}
        }
    }
}

fn order(ask: EarAsk) -> Order {
    match ask {
        EarAsk::Record(recording) => Order::Record(recording),
        EarAsk::Stop { recording, may_resume } => Order::Stop { recording, may_resume },
        EarAsk::Resume(recording) => Order::Resume(recording),
        EarAsk::Cancel(recording) => Order::Cancel(recording),
        EarAsk::Peek(recording) => Order::Peek(recording),
        EarAsk::Configure(settings) => Order::Configure(Rules::from(&*settings)),
    }
}

fn of(recorder::Heard { recording, told }: recorder::Heard) -> Heard {
    match told {
        Told::Listening { microphone, latency } => Heard::Began { recording, microphone, latency },
        Told::Level { recorded, level, clipped } => Heard::Level { recording, recorded, level, clipped },
        Told::Filling { number, length } => Heard::Filling { recording, number, length },
        Told::Chunk(chunk) => Heard::Chunk { recording, chunk },
        Told::Open(chunk) => Heard::Open { recording, number: chunk.number, samples: chunk.samples },
        Told::Warning(warning) => Heard::Warning { recording, warning },
        Told::Notice(text) => Heard::Notice(text),
        Told::StoppedItself(why) => Heard::StoppedItself { recording, why },
        Told::Finished { .. } => Heard::Ended(recording),
        Told::Failed { failure, text } => Heard::Failed { recording, failure, text },
    }
}
