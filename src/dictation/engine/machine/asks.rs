//! What the user asks: to begin, to end, to go on, to throw away, to try again.

use super::super::ear::EarAsk;
use super::super::recording::{Hearing, Recording};
use super::{Machine, Model, Output, Partial};
use crate::proto::ids::RecordingId;
use crate::proto::voice::{ChunkState, VoiceEvent};
use std::time::Duration;

impl Machine {
    pub(super) fn record(&mut self, id: RecordingId, now: Duration) -> bool {
        if self.newest.is_some_and(|newest| newest >= id) {
            return false;
        }
        if let Some(old) = self.current.as_ref().map(|recording| recording.id) {
            self.cancel(old);
        }
        self.newest = Some(id);
        self.kept = None;
        self.current = Some(Recording::new(id, now));
        self.tell(VoiceEvent::Opening { recording: id, model: self.model_name.clone(), processor: "cpu" });
        // The ear first: nothing is lost while the model comes.
        self.outputs.push(Output::Ear(EarAsk::Record(id)));
        self.ask_for_model();
        true
    }

    pub(super) fn ask_for_model(&mut self) {
        if matches!(self.model, Model::Failed(..)) {
            // A new try may find it.
            self.model = Model::Away;
        }
        self.outputs.push(Output::NeedModel);
    }

    pub(super) fn stop(&mut self, id: RecordingId, may_resume: Duration) -> bool {
        let Some(recording) = self
            .of(id)
            .filter(|recording| matches!(recording.hearing, Hearing::Opening | Hearing::Listening))
        else {
            return false;
        };
        recording.before_stop = recording.hearing;
        recording.hearing = Hearing::Stopping;
        self.outputs.push(Output::Ear(EarAsk::Stop { recording: id, may_resume }));
        true
    }

    pub(super) fn resume(&mut self, id: RecordingId) -> bool {
        let is_asked = |recording: &&mut Recording| {
            recording.hearing == Hearing::Stopping && recording.failure.is_none() && !recording.ends_itself
        };
        let Some(recording) = self.of(id).filter(is_asked) else { return false };
        recording.hearing = recording.before_stop;
        self.outputs.push(Output::Ear(EarAsk::Resume(id)));
        true
    }

    pub(super) fn cancel(&mut self, id: RecordingId) -> bool {
        let Some(recording) = self.current.take_if(|recording| recording.id == id) else {
            let is_kept = self.kept.as_ref().is_some_and(|kept| kept.id == id);
            if is_kept {
                self.kept = None;
            }
            return is_kept;
        };
        self.close(&recording);
        self.tell(VoiceEvent::Cancelled(id));
        true
    }

    /// Lets go of whatever works for a recording.
    pub(super) fn close(&mut self, recording: &Recording) {
        if recording.hearing != Hearing::Ended {
            self.outputs.push(Output::Ear(EarAsk::Cancel(recording.id)));
        }
        if self.in_flight.is_some_and(|(id, _)| id == recording.id) {
            self.outputs.push(Output::Abandon);
        }
        if self.partial == Partial::Running {
            self.outputs.push(Output::AbandonPartial);
        }
    }

    pub(super) fn retry(&mut self, id: RecordingId) -> bool {
        if self.current.is_some() {
            return false;
        }
        let Some(mut recording) = self.kept.take_if(|kept| kept.id == id) else { return false };
        for number in recording.try_again() {
            self.tell(VoiceEvent::Chunk { recording: id, number, state: ChunkState::Queued });
        }
        self.current = Some(recording);
        self.ask_for_model();
        true
    }
}
