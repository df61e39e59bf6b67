//! The engine of this program.

use super::{Engine, Tell};
use crate::config::env::Env;
use crate::config::places::Places;
use crate::dictation::engine::{Dictation, Setup};
use crate::proto::voice::{VoiceCommand, VoiceSettings};
use std::io;

/// Starts it.
///
/// # Errors
/// The system gives no thread.
pub fn start(settings: VoiceSettings, tell: Tell) -> io::Result<Box<dyn Engine>> {
    let env = Env::of_process();
    let setup = Setup { places: Places::from_env(&env), env, settings };
    Ok(Box::new(Dictation::start(setup, tell)?))
}

impl Engine for Dictation {
    fn send(&self, command: VoiceCommand) {
        Self::send(self, command);
    }
}
