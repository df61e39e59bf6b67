//! One recording as the machine knows it: its chunks, in order, and how it ends.

use crate::dictation::audio::{self, Chunk};
use crate::proto::ids::RecordingId;
use crate::proto::voice::{VoiceEvent, VoiceFailure, Wait};
use std::collections::BTreeMap;
use std::time::Duration;

/// How far the listening is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hearing {
    /// No sample came yet.
    Opening,
    /// Samples come.
    Listening,
    /// It was asked to end.
    Stopping,
    /// All chunks are here.
    Ended,
}

/// A chunk.
pub(super) struct Piece {
    /// Its samples, until it is text.
    pub(super) chunk: Option<Chunk>,
    state: State,
}

enum State {
    Queued,
    Decoding,
    Done(String),
    Failed(String),
}

/// A recording.
pub(super) struct Recording {
    pub(super) id: RecordingId,
    pub(super) hearing: Hearing,
    /// What [`Recording::hearing`] was when it was stopped.
    pub(super) before_stop: Hearing,
    pub(super) pieces: BTreeMap<u32, Piece>,
    /// Length of the recording.
    pub(super) recorded: Duration,
    /// Length of the chunk that is being spoken.
    pub(super) open: Duration,
    /// When the open chunk was last looked at.
    pub(super) peeked: Duration,
    pub(super) told_wait: Option<Wait>,
    pub(super) deadline: Option<Duration>,
    /// It ends without having been asked.
    pub(super) ends_itself: bool,
    /// Nothing more is decoded: it ends like this.
    pub(super) failure: Option<(VoiceFailure, String)>,
    /// What is wrong with its text.
    pub(super) note: Option<String>,
    is_retry: bool,
}

/// How a recording ends.
pub(super) enum End {
    Text { text: String, note: Option<String> },
    Nothing,
    Failed { failure: VoiceFailure, text: String, can_retry: bool },
}

impl End {
    pub(super) fn into_event(self, recording: RecordingId) -> VoiceEvent {
        match self {
            Self::Text { text, note } => VoiceEvent::Text { recording, text, note },
            Self::Nothing => VoiceEvent::Nothing(recording),
            Self::Failed { failure, text, can_retry } => {
                VoiceEvent::Failed { recording, failure, text, can_retry }
            }
        }
    }
}

impl Recording {
    pub(super) const fn new(id: RecordingId, now: Duration) -> Self {
        Self {
            id,
            hearing: Hearing::Opening,
            before_stop: Hearing::Opening,
            pieces: BTreeMap::new(),
            recorded: Duration::ZERO,
            open: Duration::ZERO,
            peeked: now,
            told_wait: None,
            deadline: None,
            ends_itself: false,
            failure: None,
            note: None,
            is_retry: false,
        }
    }

    /// The first samples came; false if they had before.
    pub(super) fn begin(&mut self, now: Duration) -> bool {
        match (self.hearing, self.before_stop) {
            (Hearing::Opening, _) => self.hearing = Hearing::Listening,
            // Stopped before anything came, and maybe resumed later.
            (Hearing::Stopping, Hearing::Opening) => self.before_stop = Hearing::Listening,
            _ => return false,
        }
        self.peeked = now;
        true
    }

    /// Takes a chunk in; false if there is one of this number.
    pub(super) fn add(&mut self, chunk: Chunk) -> bool {
        if self.pieces.contains_key(&chunk.number) {
            return false;
        }
        self.open = Duration::ZERO;
        self.pieces.insert(chunk.number, Piece { chunk: Some(chunk), state: State::Queued });
        true
    }

    /// The first chunk that nobody decodes yet; it counts as being decoded from now on.
    pub(super) fn next_queued(&mut self) -> Option<Chunk> {
        let piece = self.pieces.values_mut().find(|piece| matches!(piece.state, State::Queued))?;
        piece.state = State::Decoding;
        piece.chunk.clone()
    }

    /// A chunk is text, or can't be.
    pub(super) fn settle(&mut self, number: u32, result: Result<String, String>) {
        let Some(piece) = self.pieces.get_mut(&number) else { return };
        piece.state = match result {
            Ok(text) => {
                // Its samples are not needed again.
                piece.chunk = None;
                State::Done(text.trim().to_owned())
            }
            Err(why) => State::Failed(why),
        };
    }

    /// Nothing more is waited for.
    pub(super) fn give_up(&mut self) {
        for piece in self.pieces.values_mut() {
            if matches!(piece.state, State::Queued | State::Decoding) {
                piece.state = State::Failed("it took too long".to_owned());
            }
        }
    }

    /// How much of it is no text yet.
    pub(super) fn queued(&self) -> Duration {
        let whole = self.pieces.values().filter_map(|piece| piece.chunk.as_ref());
        whole.map(|chunk| audio::duration(chunk.samples.len())).sum::<Duration>() + self.open
    }

    /// Nothing more comes of it.
    pub(super) fn is_over(&self) -> bool {
        self.hearing == Hearing::Ended
            && (self.failure.is_some()
                || self.pieces.values().all(|piece| matches!(piece.state, State::Done(_) | State::Failed(_))))
    }

    /// How it ends.
    pub(super) fn end(&self) -> End {
        let texts: Vec<&str> = self
            .pieces
            .values()
            .filter_map(|piece| match &piece.state {
                State::Done(text) if !text.is_empty() => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let all = self.pieces.len();
        let done = self.pieces.values().filter(|piece| matches!(piece.state, State::Done(_))).count();
        let why = self.pieces.values().find_map(|piece| match &piece.state {
            State::Failed(why) => Some(why.clone()),
            _ => None,
        });
        let missing = all - done;
        if texts.is_empty() {
            return self.end_without_text(missing, why);
        }
        let lost = (missing > 0).then(|| {
            let why = self.failure.as_ref().map(|(_, text)| text.clone()).or(why);
            let why = why.unwrap_or_default();
            format!("{missing} of {all} parts could not be turned into text: {}.", why.trim_end_matches('.'))
        });
        let note = match (lost, &self.note) {
            (Some(lost), Some(note)) => Some(format!("{note} {lost}")),
            (lost, note) => lost.or_else(|| note.clone()),
        };
        End::Text { text: texts.join(" "), note }
    }

    fn end_without_text(&self, missing: usize, why: Option<String>) -> End {
        let (failure, what) = match (&self.failure, &self.note, why) {
            (Some((failure, text)), ..) => (*failure, text.clone()),
            (None, _, Some(why)) if missing > 0 => {
                let why = why.trim_end_matches('.');
                (VoiceFailure::Decoding, format!("The speech model failed: {why}."))
            }
            (None, Some(note), _) => (VoiceFailure::MicrophoneLost, note.clone()),
            _ => return End::Nothing,
        };
        let can_retry = missing > 0 && !self.is_retry;
        let text = if can_retry {
            format!("{what} What you said is kept for one more try: /voice retry.")
        } else {
            what
        };
        End::Failed { failure, text, can_retry }
    }

    /// Readies it for being kept.
    pub(super) fn clear_for_retry(&mut self) {
        self.is_retry = true;
        self.failure = None;
        self.note = None;
        self.deadline = None;
        self.told_wait = None;
    }

    /// Queues again what is no text, and tells the numbers.
    pub(super) fn try_again(&mut self) -> Vec<u32> {
        let mut numbers = Vec::new();
        for (number, piece) in &mut self.pieces {
            if piece.chunk.is_some() {
                piece.state = State::Queued;
                numbers.push(*number);
            }
        }
        numbers
    }
}
