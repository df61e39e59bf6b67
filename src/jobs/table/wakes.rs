//! Which ends of jobs the agent is still to hear of, and when it may. Pure.
//!
//! Invariants
//! - Each end is heard once: with the answer to a call that asked for it, at the next round of a turn, with the user's
//!   next prompt, or by a turn of its own.
//! - After the user's stop nothing is told before the user speaks.
//! - What was taken and could not be told comes back in its place.

use crate::proto::ids::JobId;
use std::collections::BTreeSet;

/// The ends that wait.
#[derive(Clone, Debug, Default)]
pub struct Wakes {
    /// In the order of the ends.
    waiting: Vec<JobId>,
    /// Heard, or on their way.
    heard: BTreeSet<JobId>,
    /// Set by a stop gesture.
    is_held: bool,
}

impl Wakes {
    /// A job has ended.
    pub fn ended(&mut self, id: JobId) {
        if !self.heard.contains(&id) && !self.waiting.contains(&id) {
            self.waiting.push(id);
        }
    }

    /// The agent has heard of the end, or will with the answer to its call. False: it had heard before.
    pub fn heard(&mut self, id: &JobId) -> bool {
        self.waiting.retain(|waiting| waiting != id);
        self.heard.insert(id.clone())
    }

    /// The user stopped the agent.
    pub const fn stopped(&mut self) {
        self.is_held = true;
    }

    /// The user speaks: what waits goes along with that.
    pub const fn user_spoke(&mut self) {
        self.is_held = false;
    }

    /// All that may be told now, in one. It counts as heard.
    pub fn take(&mut self) -> Vec<JobId> {
        if self.is_held {
            return Vec::new();
        }
        let taken = std::mem::take(&mut self.waiting);
        self.heard.extend(taken.iter().cloned());
        taken
    }

    /// What was taken could not be told.
    pub fn give_back(&mut self, ids: Vec<JobId>) {
        for id in &ids {
            self.heard.remove(id);
        }
        let later = std::mem::replace(&mut self.waiting, ids);
        for id in later {
            self.ended(id);
        }
    }

    /// Something waits, and may be told now.
    pub const fn is_due(&self) -> bool {
        !self.is_held && !self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(number: u8) -> JobId {
        JobId::new(format!("job-{number}"))
    }

    #[test]
    fn an_end_is_told_once_and_together_with_others() {
        let mut wakes = Wakes::default();
        wakes.ended(id(1));
        wakes.ended(id(2));
        wakes.ended(id(1));
        assert_eq!(wakes.take(), [id(1), id(2)]);
        wakes.ended(id(1));
        assert_eq!(wakes.take(), []);
    }

    #[test]
    fn who_asked_is_not_told_again() {
        let mut wakes = Wakes::default();
        wakes.ended(id(1));
        assert!(wakes.heard(&id(1)));
        // It waits for the end of this one.
        assert!(wakes.heard(&id(2)));
        wakes.ended(id(2));
        assert!(!wakes.is_due() && wakes.take().is_empty());
        assert!(!wakes.heard(&id(2)));
    }

    #[test]
    fn after_a_stop_the_user_speaks_first() {
        let mut wakes = Wakes::default();
        wakes.stopped();
        wakes.ended(id(1));
        assert!(!wakes.is_due() && wakes.take().is_empty());
        wakes.user_spoke();
        assert_eq!(wakes.take(), [id(1)]);
    }

    #[test]
    fn what_could_not_be_told_comes_back_in_its_place() {
        let mut wakes = Wakes::default();
        wakes.ended(id(1));
        let taken = wakes.take();
        wakes.ended(id(2));
        wakes.give_back(taken);
        assert_eq!(wakes.take(), [id(1), id(2)]);
    }

    #[derive(Clone, Debug)]
    enum Happens {
        Ends(u8),
        IsAskedFor(u8),
        Stop,
        UserSpeaks,
        Told,
        NotTold,
        /// Another run of the program begins with what the folders say: what was not heard has ended.
        Restart,
    }

    fn happens() -> impl Strategy<Value = Happens> {
        prop_oneof![
            4 => (0_u8..6).prop_map(Happens::Ends),
            2 => (0_u8..6).prop_map(Happens::IsAskedFor),
            1 => Just(Happens::Stop),
            1 => Just(Happens::UserSpeaks),
            3 => Just(Happens::Told),
            1 => Just(Happens::NotTold),
            1 => Just(Happens::Restart),
        ]
    }

    proptest! {
        #[test]
        fn each_end_is_heard_exactly_once(story in prop::collection::vec(happens(), 0..60)) {
            let mut wakes = Wakes::default();
            let mut ended = BTreeSet::new();
            let mut heard: Vec<JobId> = Vec::new();
            let mut is_held = false;
            for step in story {
                match step {
                    Happens::Ends(number) => {
                        if ended.insert(id(number)) {
                            wakes.ended(id(number));
                        }
                    }
                    Happens::IsAskedFor(number) => {
                        // Only of a job that has ended does an answer tell the end.
                        if ended.contains(&id(number)) && wakes.heard(&id(number)) {
                            heard.push(id(number));
                        }
                    }
                    Happens::Stop => {
                        wakes.stopped();
                        is_held = true;
                    }
                    Happens::UserSpeaks => {
                        wakes.user_spoke();
                        is_held = false;
                    }
                    Happens::Told => {
                        let taken = wakes.take();
                        prop_assert!(!is_held || taken.is_empty(), "nothing after a stop");
                        heard.extend(taken);
                    }
                    Happens::NotTold => {
                        let taken = wakes.take();
                        wakes.give_back(taken);
                    }
                    Happens::Restart => {
                        wakes = Wakes::default();
                        is_held = false;
                        for id in ended.iter().filter(|id| !heard.contains(id)) {
                            wakes.ended(id.clone());
                        }
                    }
                }
            }
            wakes.user_spoke();
            heard.extend(wakes.take());
            heard.sort();
            let ended: Vec<JobId> = ended.into_iter().collect();
            prop_assert_eq!(heard, ended);
        }
    }
}
