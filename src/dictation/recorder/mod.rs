//! The thread between a source of sound and a speech model: it hears, measures, resamples, and cuts into chunks.
//!
//! The thread is a shell around `desk`, which decides, and `take`, which is one recording; both are pure. It sleeps
//! while nothing is recorded and no pre-roll is kept, and looks at the queue of samples some forty times a second
//! otherwise. It keeps the open chunk only: chunks that are told belong to whoever is told.

mod desk;
mod take;

use super::audio::Chunk;
use super::capture::{self, CaptureError, Note, Source, Tap};
use crate::proto::ids::RecordingId;
use crate::proto::voice::{SoundSource, VoiceFailure, VoiceSettings, VoiceWarning};
use desk::{Desk, Open};
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What a recorder goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Where sound comes from.
    pub source: SoundSource,
    /// The microphone by its name; empty for the default.
    pub microphone: String,
    /// A recording stops by itself at this length.
    pub longest: Duration,
    /// What was heard before the key counts, this far back; zero closes the microphone between recordings.
    pub pre_roll: Duration,
}

impl From<&VoiceSettings> for Rules {
    fn from(settings: &VoiceSettings) -> Self {
        Self {
            source: settings.source.clone(),
            microphone: settings.microphone.clone(),
            longest: settings.longest,
            pre_roll: settings.pre_roll,
        }
    }
}

/// What a recorder is asked. Orders about a recording that does not run change nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Begins a recording at once. One that runs is finished.
    Record(RecordingId),
    /// Ends a recording; what is said in the next 120 ms still counts.
    Stop {
        /// Which.
        recording: RecordingId,
        /// It can be taken back for this long, and is finished no sooner.
        may_resume: Duration,
    },
    /// Takes a stop back: the recording goes on without a gap.
    Resume(RecordingId),
    /// Throws a recording away. Nothing more is told of it.
    Cancel(RecordingId),
    /// Asks for the open chunk as it is now: [`Told::Open`], or nothing if nothing is said in it.
    Peek(RecordingId),
    /// Other rules, from the next recording on.
    Configure(Rules),
}

/// What a recorder tells, and of which recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    /// The recording.
    pub recording: RecordingId,
    /// What.
    pub told: Told,
}

/// What happens in a recording. Each but the last two of a recording may be followed by others.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// The first sound came.
    Listening {
        /// The microphone.
        microphone: String,
        /// Since the recording was asked for.
        latency: Duration,
    },
    /// A tenth of a second was recorded.
    Level {
        /// The recording's length so far.
        recorded: Duration,
        /// From 0 (-60 dBFS and less) to 1 (-6 dBFS and more).
        level: f32,
        /// Samples at full scale.
        clipped: u32,
    },
    /// A chunk is being spoken.
    Filling {
        /// From 0 on.
        number: u32,
        /// Its length so far.
        length: Duration,
    },
    /// A chunk is complete. They come in order.
    Chunk(Chunk),
    /// The open chunk, as it was asked for.
    Open(Chunk),
    /// Something the speaker should know.
    Warning(VoiceWarning),
    /// Something to say once.
    Notice(String),
    /// It ends without being asked, and why, for people. The rest follows.
    StoppedItself(String),
    /// All chunks were told: it is over.
    Finished {
        /// Its length.
        recorded: Duration,
    },
    /// It has failed before any sound came: it is over.
    Failed {
        /// In which way.
        failure: VoiceFailure,
        /// What happened and what to do, for people.
        text: String,
    },
}

/// Makes the source that the rules name.
pub type Choose = Box<dyn FnMut(&Rules) -> Result<Box<dyn Source>, CaptureError> + Send>;

/// A recorder. Dropped, it closes its source and forgets what runs.
pub struct Recorder {
    inputs: Sender<Input>,
    thread: Option<JoinHandle<()>>,
}

enum Input {
    Order(Order),
    Note(u64, Note),
    End,
}

impl Recorder {
    /// Starts the thread. It opens nothing before the first order, and tells everything from its own thread.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(rules: Rules, choose: Choose, tell: impl FnMut(Heard) + Send + 'static) -> io::Result<Self> {
        let (inputs, received) = mpsc::channel();
        let opener = Opener { choose, inputs: inputs.clone() };
        let desk = Desk::new(opener, rules);
        let thread =
            thread::Builder::new().name("recorder".to_owned()).spawn(move || run(desk, &received, tell))?;
        Ok(Self { inputs, thread: Some(thread) })
    }

    /// The same, with the sources of this system.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn of_this_system(rules: Rules, tell: impl FnMut(Heard) + Send + 'static) -> io::Result<Self> {
        let choose = |rules: &Rules| capture::choose(&rules.source, &rules.microphone);
        Self::start(rules, Box::new(choose), tell)
    }

    /// Gives an order. They are followed one after another.
    pub fn order(&self, order: Order) {
        // Without its thread it has panicked, which the program reports itself.
        drop(self.inputs.send(Input::Order(order)));
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        drop(self.inputs.send(Input::End));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn run(mut desk: Desk<Tap, Opener>, received: &Receiver<Input>, mut tell: impl FnMut(Heard)) {
    loop {
        let input = match desk.pause(Instant::now()) {
            None => received.recv().map_err(|_all_gone| RecvTimeoutError::Disconnected),
            Some(pause) => received.recv_timeout(pause),
        };
        let now = Instant::now();
        match input {
            Ok(Input::Order(order)) => desk.order(order, now, &mut tell),
            Ok(Input::Note(number, note)) => desk.note(number, note, now, &mut tell),
            Err(RecvTimeoutError::Timeout) => desk.tick(now, &mut tell),
            Ok(Input::End) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

struct Opener {
    choose: Choose,
    inputs: Sender<Input>,
}

impl Open<Tap> for Opener {
    fn open(&mut self, rules: &Rules, number: u64) -> Result<Tap, CaptureError> {
        let source = (self.choose)(rules)?;
        let inputs = self.inputs.clone();
        // Nobody listens any more once the recorder is dropped.
        let tell = move |note| drop(inputs.send(Input::Note(number, note)));
        capture::start(source, tell).map_err(|error| CaptureError::System {
            name: rules.microphone.clone(),
            detail: error.to_string(),
        })
    }
}

#[cfg(test)]
mod tests;
