//! What the model does: that it comes and goes, and what it makes of chunks.

use super::super::recording::Hearing;
use super::{Machine, Model, Output, Partial};
use crate::proto::ids::RecordingId;
use crate::proto::voice::{ChunkState, VoiceEvent};

impl Machine {
    pub(super) fn model(&mut self, model: Model) -> bool {
        let was_ready = self.model == Model::Ready;
        self.model = model;
        match &self.model {
            Model::Away if was_ready && self.current.is_some() => self.outputs.push(Output::NeedModel),
            Model::Failed(failure, text) => {
                let failed = (*failure, text.clone());
                if let Some(recording) = &mut self.current {
                    recording.failure.get_or_insert(failed);
                    self.stop_ear();
                }
            }
            _ => {}
        }
        true
    }

    pub(super) fn decoded(&mut self, id: RecordingId, number: u32, result: Result<String, String>) -> bool {
        if self.in_flight != Some((id, number)) {
            return false;
        }
        self.in_flight = None;
        // The answer of one that is over frees the model; that is all.
        let Some(recording) = self.of(id) else { return true };
        let state = if result.is_ok() { ChunkState::Done } else { ChunkState::Failed };
        recording.settle(number, result);
        self.tell(VoiceEvent::Chunk { recording: id, number, state });
        true
    }

    pub(super) fn partial(&mut self, id: RecordingId, number: u32, text: Option<String>) -> bool {
        if self.partial == Partial::Idle {
            return false;
        }
        self.partial = Partial::Idle;
        let is_open = self.of(id).is_some_and(|recording| {
            recording.hearing == Hearing::Listening && !recording.pieces.contains_key(&number)
        });
        if let Some(text) = text.filter(|text| is_open && !text.is_empty()) {
            self.tell(VoiceEvent::Partial { recording: id, text });
        }
        true
    }

    pub(super) fn decode_next(&mut self) {
        if self.model != Model::Ready || self.in_flight.is_some() {
            return;
        }
        let Some(recording) = self.current.as_mut().filter(|recording| recording.failure.is_none()) else {
            return;
        };
        let Some(chunk) = recording.next_queued() else { return };
        let (id, number) = (recording.id, chunk.number);
        self.in_flight = Some((id, number));
        self.tell(VoiceEvent::Chunk { recording: id, number, state: ChunkState::Decoding });
        self.outputs.push(Output::Decode(id, chunk));
    }
}
