//! Which ends of jobs the agent is still to hear of, and on which way it does. Pure.
//!
//! Responsibilities: it is told what happens, and answers what to do now. Not: writing messages, and starting turns.
//! Invariants
//! - Every end is heard once: by the answer to a call that asked, within a running turn, along with the user's prompt, or
//!   by a turn of its own. All that wait go together.
//! - After a stop gesture nothing is told before the user speaks.
//! - What could not be told waits again, but starts no further turn by itself: an endpoint that fails must not be asked
//!   for ever.

use crate::proto::ids::JobId;
use std::collections::BTreeMap;

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WakeEvent {
    /// A job has ended, by itself or because the user or somebody else stopped it.
    Ended(JobId),
    /// These had ended when the session was resumed, and nobody had told the agent. They go along with the next turn.
    Restored(Vec<JobId>),
    /// The agent learns of the end by the answer to a call: it reads the log of a job that has ended, has waited for the
    /// end, or stops the job itself.
    Consumed(JobId),
    /// That answer never reached it.
    Unconsumed(JobId),
    /// A call of the agent waits for the end: it needs not be told otherwise.
    WaitBegan(JobId),
    /// That call has ended without having seen the end. One that has seen it is [`WakeEvent::Consumed`].
    WaitGaveUp(JobId),
    /// A turn begins.
    TurnBegan,
    /// The running turn is about to ask the model again.
    Round,
    /// The turn is over, however that came.
    TurnEnded,
    /// The user stopped the agent.
    StopGesture,
    /// The user's prompt is about to be sent.
    UserSpoke,
    /// The turn that [`WakeEffect::Wake`] asked for is about to begin: its message is written now.
    Take,
    /// What [`WakeEffect::Deliver`] named is in the conversation.
    Delivered(Vec<JobId>),
    /// It could not be told.
    Failed(Vec<JobId>),
    /// Something else came first, and it is not in the conversation.
    Preempted(Vec<JobId>),
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WakeEffect {
    /// Nothing.
    None,
    /// Start a turn, with [`WakeEvent::Take`] at its begin.
    Wake,
    /// Tell these ends now: as the message of the turn after [`WakeEvent::Take`], along with the prompt after
    /// [`WakeEvent::UserSpoke`], within the turn after [`WakeEvent::Round`]. Then tell how that went.
    Deliver(Vec<JobId>),
}

/// The ends of the jobs of a session.
#[derive(Clone, Debug)]
pub struct Wakes {
    ends: BTreeMap<JobId, End>,
    /// In the order in which jobs ended.
    order: Vec<JobId>,
    /// An end may start a turn.
    may_wake: bool,
    in_turn: bool,
    /// The user stopped the agent and has not spoken since.
    is_held: bool,
    /// A turn was asked for and has not begun.
    is_asked: bool,
}

/// What is known of an end.
#[derive(Clone, Debug, Default)]
struct End {
    has_come: bool,
    /// On its way to the agent.
    is_taken: bool,
    is_delivered: bool,
    is_consumed: bool,
    has_failed: bool,
    /// It came in an earlier run: it starts no turn by itself, for the user has not asked for anything yet.
    is_old: bool,
    /// It was given out by [`Wakes::take_told`].
    is_noted: bool,
    waits: usize,
}

impl End {
    const fn is_heard(&self) -> bool {
        self.is_delivered || self.is_consumed
    }

    const fn is_pending(&self) -> bool {
        self.has_come && !self.is_heard() && !self.is_taken && self.waits == 0
    }
}

impl Default for Wakes {
    fn default() -> Self {
        Self::new(true)
    }
}

impl Wakes {
    /// No jobs yet. Without `may_wake` ends go along with the next prompt or turn.
    pub const fn new(may_wake: bool) -> Self {
        Self {
            ends: BTreeMap::new(),
            order: Vec::new(),
            may_wake,
            in_turn: false,
            is_held: false,
            is_asked: false,
        }
    }

    /// Takes what has happened.
    pub fn on(&mut self, event: WakeEvent) -> WakeEffect {
        match event {
            WakeEvent::Ended(id) => self.come(id),
            WakeEvent::Restored(ids) => {
                for id in ids {
                    self.end(id.clone()).is_old = true;
                    self.come(id);
                }
            }
            WakeEvent::Consumed(id) => {
                let end = self.end(id);
                end.is_consumed = true;
                end.waits = end.waits.saturating_sub(1);
            }
            WakeEvent::Unconsumed(id) => self.end(id).is_consumed = false,
            WakeEvent::WaitBegan(id) => self.end(id).waits += 1,
            WakeEvent::WaitGaveUp(id) => {
                let end = self.end(id);
                end.waits = end.waits.saturating_sub(1);
            }
            WakeEvent::TurnBegan => {
                self.in_turn = true;
                self.is_asked = false;
            }
            WakeEvent::TurnEnded => {
                self.in_turn = false;
                self.is_asked = false;
            }
            WakeEvent::StopGesture => self.is_held = true,
            WakeEvent::Round | WakeEvent::Take => {
                self.is_asked = false;
                return if self.is_held { WakeEffect::None } else { self.deliver() };
            }
            WakeEvent::UserSpoke => {
                self.is_held = false;
                self.is_asked = false;
                return self.deliver();
            }
            WakeEvent::Delivered(ids) => self.settle(ids, |end| end.is_delivered = true),
            WakeEvent::Failed(ids) => self.settle(ids, |end| end.has_failed = true),
            WakeEvent::Preempted(ids) => self.settle(ids, |_| {}),
        }
        self.wake()
    }

    /// Ends that wait to be told, in order.
    pub fn pending(&self) -> Vec<JobId> {
        self.which(End::is_pending)
    }

    /// The agent has heard of this end.
    pub fn is_heard(&self, id: &JobId) -> bool {
        self.ends.get(id).is_some_and(|end| end.has_come && end.is_heard())
    }

    /// Ends that could not be told, and wait for the next occasion.
    pub fn undelivered(&self) -> Vec<JobId> {
        self.which(|end| end.has_failed && end.is_pending())
    }

    /// Ends that the agent has heard of since the last call: to be written down, so that no later run tells them again.
    /// To be called when the answers of calls are in the conversation.
    pub fn take_told(&mut self) -> Vec<JobId> {
        let told = self.which(|end| end.has_come && end.is_heard() && !end.is_noted);
        for id in &told {
            self.end(id.clone()).is_noted = true;
        }
        told
    }

    fn end(&mut self, id: JobId) -> &mut End {
        self.ends.entry(id).or_default()
    }

    fn come(&mut self, id: JobId) {
        if !std::mem::replace(&mut self.end(id.clone()).has_come, true) {
            self.order.push(id);
        }
    }

    fn settle(&mut self, ids: Vec<JobId>, change: impl Fn(&mut End)) {
        for id in ids {
            let end = self.end(id);
            end.is_taken = false;
            change(end);
        }
    }

    fn which(&self, is_meant: impl Fn(&End) -> bool) -> Vec<JobId> {
        self.order.iter().filter(|id| self.ends.get(id).is_some_and(&is_meant)).cloned().collect()
    }

    fn deliver(&mut self) -> WakeEffect {
        let pending = self.pending();
        if pending.is_empty() {
            return WakeEffect::None;
        }
        for id in &pending {
            let end = self.end(id.clone());
            (end.is_taken, end.has_failed) = (true, false);
        }
        WakeEffect::Deliver(pending)
    }

    fn wake(&mut self) -> WakeEffect {
        let is_free = self.may_wake && !self.in_turn && !self.is_held && !self.is_asked;
        if is_free && self.ends.values().any(|end| end.is_pending() && !end.has_failed && !end.is_old) {
            self.is_asked = true;
            return WakeEffect::Wake;
        }
        WakeEffect::None
    }
}

#[cfg(test)]
#[path = "wakes_tests.rs"]
mod tests;
