//! The speech engine as the full-screen program has it: started by the first thing that needs it, ended with the program.
//!
//! | file | what it is |
//! |---|---|
//! | [`speech`] | the engine itself |
//! | [`clean_up`] | correcting a text: consent, reference, model |
//! | [`refine`] | the model that corrects, behind the providers of sessions |

pub mod clean_up;
pub mod refine;
pub mod speech;

use crate::proto::voice::{VoiceCommand, VoiceEvent, VoiceFailure, VoiceSettings};
use std::io;

/// Gets what the engine tells, on whatever thread; it must not wait.
pub type Tell = Box<dyn Fn(VoiceEvent) + Send + Sync>;

/// What dictates. Dropping it ends it, in bounded time.
pub trait Engine: Send {
    /// Asks for something. Never waits.
    fn send(&self, command: VoiceCommand);
}

/// Starts an engine with these settings.
///
/// # Errors
/// The system does not give what it takes.
pub type Start = fn(VoiceSettings, Tell) -> io::Result<Box<dyn Engine>>;

/// Starts the engine when it is needed, and passes on what it is asked.
pub struct VoiceDesk {
    start: Start,
    engine: Option<Box<dyn Engine>>,
}

impl VoiceDesk {
    /// Nothing is started, and no device touched.
    pub const fn new(start: Start) -> Self {
        Self { start, engine: None }
    }

    /// Asks the engine. `settings` hold for one that is started by this.
    pub fn send(
        &mut self,
        command: VoiceCommand,
        settings: &VoiceSettings,
        tell: impl Fn(VoiceEvent) + Clone + Send + Sync + 'static,
    ) {
        if self.engine.is_none() {
            if !needs_engine(&command) {
                return;
            }
            match (self.start)(settings.clone(), Box::new(tell.clone())) {
                Ok(engine) => self.engine = Some(engine),
                Err(error) => {
                    tell(not_started(&command, &error));
                    return;
                }
            }
        }
        if let Some(engine) = &self.engine {
            engine.send(command);
        }
    }

    /// Ends the engine.
    pub fn end(&mut self) {
        self.engine = None;
    }
}

/// What only changes or ends something has nothing to change or end in an engine that does not run.
const fn needs_engine(command: &VoiceCommand) -> bool {
    match command {
        VoiceCommand::Record(_)
        | VoiceCommand::Retry(_)
        | VoiceCommand::Fetch(_)
        | VoiceCommand::Status
        | VoiceCommand::SetUp => true,
        VoiceCommand::Stop { .. }
        | VoiceCommand::Resume(_)
        | VoiceCommand::Cancel(_)
        | VoiceCommand::StopFetching
        | VoiceCommand::Unload
        | VoiceCommand::Configure(_) => false,
    }
}

fn not_started(command: &VoiceCommand, error: &io::Error) -> VoiceEvent {
    let text = format!("Dictation can't start: {error}. Nothing was recorded; try again in a moment.");
    match command {
        VoiceCommand::Record(recording) | VoiceCommand::Retry(recording) => VoiceEvent::Failed {
            recording: *recording,
            failure: VoiceFailure::Internal,
            text,
            can_retry: false,
        },
        _ => VoiceEvent::Notice(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load::Loaded;
    use crate::proto::ids::RecordingId;
    use std::sync::{Arc, Mutex};

    /// Tells each command back as a notice, and its end.
    struct Echo(Tell);

    impl Engine for Echo {
        fn send(&self, command: VoiceCommand) {
            (self.0)(VoiceEvent::Notice(format!("{command:?}")));
        }
    }

    impl Drop for Echo {
        fn drop(&mut self) {
            (self.0)(VoiceEvent::Notice("ended".to_owned()));
        }
    }

    fn told_by(start: Start, commands: Vec<VoiceCommand>) -> Vec<VoiceEvent> {
        let told: Arc<Mutex<Vec<VoiceEvent>>> = Arc::default();
        let mut desk = VoiceDesk::new(start);
        let settings = Loaded::defaults().settings.voice.engine;
        for command in commands {
            let told = told.clone();
            desk.send(command, &settings, move |event| told.lock().unwrap().push(event));
        }
        desk.end();
        told.lock().unwrap().clone()
    }

    #[test]
    fn the_first_key_starts_it_and_nothing_before() {
        let start: Start = |settings, tell| {
            tell(VoiceEvent::Notice(format!("started for {}", settings.language)));
            Ok(Box::new(Echo(tell)))
        };
        let settings = Loaded::defaults().settings.voice.engine;
        let commands = vec![
            VoiceCommand::Configure(Box::new(settings)),
            VoiceCommand::Unload,
            VoiceCommand::StopFetching,
            VoiceCommand::Cancel(RecordingId(1)),
            VoiceCommand::Record(RecordingId(2)),
            VoiceCommand::Unload,
        ];
        let told = told_by(start, commands);
        let wanted = ["started for auto", "Record(RecordingId(2))", "Unload", "ended"];
        assert_eq!(told, wanted.map(|text| VoiceEvent::Notice(text.to_owned())));
        assert_eq!(told_by(start, vec![VoiceCommand::Unload]), []);
    }

    #[test]
    fn one_that_does_not_start_fails_the_recording() {
        let start: Start = |_, _| Err(io::Error::other("no threads"));
        let told = told_by(start, vec![VoiceCommand::Record(RecordingId(1)), VoiceCommand::Status]);
        assert!(
            matches!(&told[0], VoiceEvent::Failed { recording: RecordingId(1), can_retry: false, text, .. }
                if text.contains("no threads")),
            "{told:?}"
        );
        assert!(matches!(&told[1], VoiceEvent::Notice(_)), "{told:?}");
    }
}
