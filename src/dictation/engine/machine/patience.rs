//! Time: when somebody is given up, when the open chunk is looked at, and what is waited for.

use super::super::ear::EarAsk;
use super::super::recording::{Hearing, Recording};
use super::{LOADING_PATIENCE, Machine, Model, Output, PARTIAL_EVERY, PATIENCE, Partial};
use crate::dictation::audio;
use crate::proto::voice::{VoiceEvent, VoiceFailure, Wait};
use std::time::Duration;

/// A chunk may take this many times its length to decode.
const SLOWEST: u32 = 5;

impl Machine {
    /// When `Input::Clock` is wanted next.
    #[must_use]
    pub fn wake_at(&self) -> Option<Duration> {
        let recording = self.current.as_ref()?;
        let partial = self.may_peek(recording).then_some(recording.peeked + PARTIAL_EVERY);
        [recording.deadline, partial].into_iter().flatten().min()
    }

    pub(super) fn may_peek(&self, recording: &Recording) -> bool {
        self.wants_partial
            && self.model == Model::Ready
            && self.in_flight.is_none()
            && self.partial == Partial::Idle
            && recording.hearing == Hearing::Listening
            && recording.open > Duration::ZERO
    }

    pub(super) fn clock(&mut self, now: Duration) {
        let Some(recording) = &self.current else { return };
        if recording.deadline.is_some_and(|deadline| deadline <= now) {
            self.time_out();
            return;
        }
        if self.may_peek(recording) && recording.peeked + PARTIAL_EVERY <= now {
            let id = recording.id;
            if let Some(recording) = &mut self.current {
                recording.peeked = now;
            }
            self.outputs.push(Output::Ear(EarAsk::Peek(id)));
        }
    }

    pub(super) fn time_out(&mut self) {
        let Some(recording) = &mut self.current else { return };
        let id = recording.id;
        if recording.hearing == Hearing::Ended {
            let what = match self.model {
                Model::Ready => "The speech model did not answer in time",
                _ => "The speech model did not come in time",
            };
            recording.failure.get_or_insert((VoiceFailure::Timeout, format!("{what}.")));
            recording.give_up();
            if self.in_flight.is_some_and(|(of, _)| of == id) {
                self.outputs.push(Output::Abandon);
            }
        } else {
            // The ear said nothing for too long, not even silence.
            recording.hearing = Hearing::Ended;
            let text = "The microphone gave nothing more.".to_owned();
            if recording.pieces.is_empty() {
                recording.failure.get_or_insert((VoiceFailure::MicrophoneLost, text));
            } else {
                recording.note = Some(text);
            }
            self.outputs.push(Output::Ear(EarAsk::Cancel(id)));
        }
    }

    pub(super) fn tell_wait(&mut self) {
        let Some(recording) = &self.current else { return };
        let on = match (&self.model, recording.hearing) {
            (_, Hearing::Opening) => Some(Wait::Microphone),
            (Model::Consent, _) => Some(Wait::Consent),
            (Model::Fetching, _) => Some(Wait::Fetching),
            (Model::Loading | Model::Away, _) => {
                // Whole tenths: what the eye can follow.
                let tenths = recording.queued().as_millis() / 100;
                Some(Wait::Loading {
                    queued: Duration::from_millis(u64::try_from(tenths).unwrap_or(0) * 100),
                })
            }
            (Model::Ready, Hearing::Stopping | Hearing::Ended) => Some(Wait::Decoding),
            _ => None,
        };
        let (id, told) = (recording.id, &recording.told_wait);
        if *told == on {
            return;
        }
        if let Some(recording) = &mut self.current {
            recording.told_wait.clone_from(&on);
        }
        self.tell(VoiceEvent::Waits { recording: id, on });
    }

    /// Sets the time at which patience ends, counted from now.
    pub(super) fn arm(&mut self, now: Duration) {
        let in_flight = self.in_flight;
        let model = &self.model;
        let Some(recording) = &mut self.current else { return };
        let limit = match (model, recording.hearing) {
            // However long the user thinks about it.
            (Model::Consent, Hearing::Ended) => None,
            (Model::Away | Model::Fetching | Model::Loading, Hearing::Ended) => Some(LOADING_PATIENCE),
            (_, Hearing::Ended) => {
                let chunk = in_flight.and_then(|(_, number)| recording.pieces.get(&number));
                let length = chunk.and_then(|piece| piece.chunk.as_ref());
                let length = length.map_or(Duration::ZERO, |chunk| audio::duration(chunk.samples.len()));
                Some(PATIENCE.max(length * SLOWEST))
            }
            _ => Some(PATIENCE),
        };
        recording.deadline = limit.map(|limit| now + limit);
    }
}
