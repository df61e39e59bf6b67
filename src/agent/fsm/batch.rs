//! The calls of one response: which may run side by side, and in which order their results are recorded.

use super::Effect;
use crate::proto::ids::CallId;
use crate::proto::message::{AssistantMessage, ToolCall};
use crate::proto::tool::NOT_RUN;
use crate::proto::tool::ToolOutput;
use std::collections::VecDeque;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Batch {
    pub(super) message: Arc<AssistantMessage>,
    /// Calls not recorded yet, in order.
    pub(super) slots: VecDeque<Slot>,
    /// The user refused: the turn ends with this batch.
    pub(super) refused: bool,
}

#[derive(Debug)]
pub(super) struct Slot {
    pub(super) call: ToolCall,
    pub(super) progress: Progress,
}

#[derive(Debug)]
pub(super) enum Progress {
    Unchecked,
    BeingChecked,
    Ready { mutating: bool },
    Running { mutating: bool },
    Done { output: Arc<ToolOutput>, duration_ms: Option<u64> },
}

impl Slot {
    /// Ends the call without a run.
    pub(super) fn answer(&mut self, output: ToolOutput, effects: &mut Vec<Effect>) {
        let output = Arc::new(output);
        effects.push(Effect::Announce { call: self.call.clone(), output: output.clone(), duration_ms: None });
        self.progress = Progress::Done { output, duration_ms: None };
    }
}

impl Batch {
    pub(super) fn is_running(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot.progress, Progress::Running { .. }))
    }

    pub(super) fn done(
        &mut self,
        call: &CallId,
        output: Arc<ToolOutput>,
        duration_ms: Option<u64>,
        effects: &mut Vec<Effect>,
    ) {
        let running = self
            .slots
            .iter_mut()
            .find(|slot| slot.call.id == *call && matches!(slot.progress, Progress::Running { .. }));
        if let Some(slot) = running {
            effects.push(Effect::Announce { call: slot.call.clone(), output: output.clone(), duration_ms });
            slot.progress = Progress::Done { output, duration_ms };
        }
    }

    /// Read-only calls run side by side; a mutating one waits for all before it and holds up all behind it.
    pub(super) fn start(&mut self, effects: &mut Vec<Effect>) {
        let mut unfinished_before = false;
        for slot in &mut self.slots {
            match slot.progress {
                Progress::Done { .. } => continue,
                Progress::Running { mutating: true } => return,
                Progress::Running { mutating: false } => {}
                Progress::Ready { mutating: true } => {
                    if !unfinished_before {
                        slot.progress = Progress::Running { mutating: true };
                        effects.push(Effect::Run { call: slot.call.clone() });
                    }
                    return;
                }
                Progress::Ready { mutating: false } => {
                    slot.progress = Progress::Running { mutating: false };
                    effects.push(Effect::Run { call: slot.call.clone() });
                }
                Progress::Unchecked | Progress::BeingChecked => return,
            }
            unfinished_before = true;
        }
    }

    /// Records results from the front, so that their order is that of the calls and a crash loses as little as it can.
    pub(super) fn record(&mut self, effects: &mut Vec<Effect>) {
        while let Some(Slot { progress: Progress::Done { output, duration_ms }, .. }) = self.slots.front() {
            let (output, duration_ms) = (output.clone(), *duration_ms);
            if let Some(slot) = self.slots.pop_front() {
                effects.push(Effect::RecordResult { call: slot.call, output, duration_ms });
            }
        }
    }

    pub(super) fn refuse_rest(&mut self, effects: &mut Vec<Effect>) {
        self.refused = true;
        for slot in &mut self.slots {
            if !matches!(slot.progress, Progress::Done { .. }) {
                slot.answer(ToolOutput::error(NOT_RUN), effects);
            }
        }
    }
}
