//! The engine of this program.

use super::{Engine, Tell};
use crate::proto::voice::{VoiceCommand, VoiceEvent, VoiceFailure, VoiceSettings};
use std::io;

/// Starts it.
///
/// # Errors
/// The system gives no thread.
pub fn start(_settings: VoiceSettings, tell: Tell) -> io::Result<Box<dyn Engine>> {
    Ok(Box::new(Absent(tell)))
}

/// Stands in where no speech engine is built in.
struct Absent(Tell);

impl Engine for Absent {
    fn send(&self, command: VoiceCommand) {
        let text = "No speech engine is part of this build, so nothing was recorded.".to_owned();
        match command {
            VoiceCommand::Record(recording) | VoiceCommand::Retry(recording) => {
                let failure = VoiceFailure::NoMicrophone;
                (self.0)(VoiceEvent::Failed { recording, failure, text, can_retry: false });
            }
            VoiceCommand::Status | VoiceCommand::SetUp | VoiceCommand::Fetch(_) => {
                (self.0)(VoiceEvent::Notice(text));
            }
            _ => {}
        }
    }
}
