//! What the ear tells.

use super::super::ear::{EarAsk, Heard};
use super::super::recording::Hearing;
use super::{LONGEST_QUEUE, Machine, Model, Output, Partial};
use crate::proto::voice::{ChunkState, VoiceEvent};
use std::time::Duration;

impl Machine {
    pub(super) fn heard(&mut self, heard: Heard, now: Duration) -> bool {
        if let Heard::Notice(text) = heard {
            self.tell(VoiceEvent::Notice(text));
            return true;
        }
        let Some(recording) = heard.recording().and_then(|id| self.of(id)) else { return false };
        let id = recording.id;
        if recording.hearing == Hearing::Ended {
            return false;
        }
        match heard {
            Heard::Began { microphone, latency, .. } => {
                if !recording.begin(now) {
                    return false;
                }
                self.tell(VoiceEvent::Listening { recording: id, microphone, latency });
            }
            Heard::Level { recorded, level, clipped, .. } => {
                recording.recorded = recorded;
                self.tell(VoiceEvent::Level { recording: id, recorded, level, clipped });
            }
            Heard::Filling { number, length, .. } => {
                if recording.pieces.contains_key(&number) {
                    return false;
                }
                recording.open = length;
                self.tell(VoiceEvent::Chunk { recording: id, number, state: ChunkState::Filling(length) });
            }
            Heard::Chunk { chunk, .. } => {
                let number = chunk.number;
                if !recording.add(chunk) {
                    return false;
                }
                if self.partial == Partial::Running {
                    self.outputs.push(Output::AbandonPartial);
                }
                self.tell(VoiceEvent::Chunk { recording: id, number, state: ChunkState::Queued });
            }
            Heard::Open { number, samples, .. } => {
                let is_open = !recording.pieces.contains_key(&number);
                let is_free = self.in_flight.is_none() && self.partial == Partial::Idle;
                if !is_open || !is_free || self.model != Model::Ready || samples.is_empty() {
                    // No fault of anybody: things went on between.
                    return true;
                }
                self.partial = Partial::Running;
                self.outputs.push(Output::DecodePartial { recording: id, number, samples });
            }
            Heard::Warning { warning, .. } => self.tell(VoiceEvent::Warning { recording: id, warning }),
            Heard::StoppedItself { why, .. } => {
                recording.ends_itself = true;
                recording.hearing = Hearing::Stopping;
                self.tell(VoiceEvent::StoppedItself { recording: id, why });
            }
            Heard::Ended(_) => recording.hearing = Hearing::Ended,
            Heard::Failed { failure, text, .. } => {
                recording.hearing = Hearing::Ended;
                if recording.pieces.is_empty() {
                    recording.failure = Some((failure, text));
                } else {
                    // What was heard before counts more than what was not.
                    recording.note = Some(text);
                }
            }
            Heard::Notice(_) => {}
        }
        true
    }

    /// Ends the listening by ourselves: what was heard is kept.
    pub(super) fn stop_ear(&mut self) {
        let Some(recording) = &mut self.current else { return };
        if matches!(recording.hearing, Hearing::Opening | Hearing::Listening) {
            recording.before_stop = recording.hearing;
            recording.hearing = Hearing::Stopping;
            let stop = EarAsk::Stop { recording: recording.id, may_resume: Duration::ZERO };
            self.outputs.push(Output::Ear(stop));
        }
    }

    pub(super) fn limit_queue(&mut self) {
        let is_ready = self.model == Model::Ready;
        let Some(recording) = &mut self.current else { return };
        if !is_ready && recording.hearing == Hearing::Listening && recording.queued() >= LONGEST_QUEUE {
            recording.ends_itself = true;
            let id = recording.id;
            let why = "The speech model is not ready yet, and five minutes wait for it already.".to_owned();
            self.stop_ear();
            self.tell(VoiceEvent::StoppedItself { recording: id, why });
        }
    }
}
