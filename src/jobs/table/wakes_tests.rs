//! Each rule as a story, and any order of events against a model of the agent.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeSet, HashMap};

fn id(name: &str) -> JobId {
    JobId::new(name)
}

fn ids(names: &[&str]) -> Vec<JobId> {
    names.iter().map(|name| id(name)).collect()
}

/// Plays events and compares what is to be done after each.
fn play(story: &str, steps: &[(WakeEvent, WakeEffect)]) -> Wakes {
    let mut wakes = Wakes::default();
    for (number, (event, effect)) in steps.iter().enumerate() {
        assert_eq!(wakes.on(event.clone()), *effect, "{story}: step {number}, {event:?}");
    }
    wakes
}

use WakeEffect::{Deliver, None as Nothing, Wake};
use WakeEvent::{
    Consumed, Delivered, Ended, Failed, Preempted, Restored, Round, StopGesture, Take, TurnBegan, TurnEnded,
    Unconsumed, UserSpoke, WaitBegan, WaitGaveUp,
};

#[test]
fn an_end_wakes_an_agent_at_rest_and_all_ends_go_together() {
    let mut wakes = play(
        "wake",
        &[
            (Ended(id("b")), Wake),
            (Ended(id("a")), Nothing),
            (Take, Deliver(ids(&["b", "a"]))),
            (TurnBegan, Nothing),
            (Delivered(ids(&["b", "a"])), Nothing),
            (Round, Nothing),
            (TurnEnded, Nothing),
            (UserSpoke, Nothing),
        ],
    );
    assert_eq!(wakes.take_told(), ids(&["b", "a"]));
    assert!(wakes.take_told().is_empty());
}

#[test]
fn an_end_during_a_turn_goes_into_it_or_follows_it() {
    play("round", &[(TurnBegan, Nothing), (Ended(id("a")), Nothing), (Round, Deliver(ids(&["a"])))]);
    play("turn ends", &[(TurnBegan, Nothing), (Ended(id("a")), Nothing), (TurnEnded, Wake)]);
}

#[test]
fn what_the_agent_asked_for_is_not_told_again() {
    play("read", &[(Ended(id("a")), Wake), (Consumed(id("a")), Nothing), (Take, Nothing)]);
    play("killed", &[(Consumed(id("a")), Nothing), (Ended(id("a")), Nothing), (UserSpoke, Nothing)]);
    play(
        "waited",
        &[
            (TurnBegan, Nothing),
            (WaitBegan(id("a")), Nothing),
            (Ended(id("a")), Nothing),
            (Round, Nothing),
            (Consumed(id("a")), Nothing),
            (TurnEnded, Nothing),
        ],
    );
    play(
        "the wait gave up",
        &[
            (WaitBegan(id("a")), Nothing),
            (Ended(id("a")), Nothing),
            (WaitGaveUp(id("a")), Wake),
            (Take, Deliver(ids(&["a"]))),
        ],
    );
    play(
        "the answer was lost",
        &[
            (TurnBegan, Nothing),
            (Ended(id("a")), Nothing),
            (Consumed(id("a")), Nothing),
            (StopGesture, Nothing),
            (Unconsumed(id("a")), Nothing),
            (TurnEnded, Nothing),
            (UserSpoke, Deliver(ids(&["a"]))),
        ],
    );
    play(
        "read while it was on its way, which failed",
        &[
            (Ended(id("a")), Wake),
            (Take, Deliver(ids(&["a"]))),
            (Consumed(id("a")), Nothing),
            (Failed(ids(&["a"])), Nothing),
            (UserSpoke, Nothing),
        ],
    );
}

#[test]
fn after_a_stop_nothing_is_told_before_the_user_speaks() {
    play(
        "stop",
        &[
            (TurnBegan, Nothing),
            (StopGesture, Nothing),
            (Ended(id("a")), Nothing),
            (Round, Nothing),
            (TurnEnded, Nothing),
            (Ended(id("b")), Nothing),
            (Take, Nothing),
            (UserSpoke, Deliver(ids(&["a", "b"]))),
        ],
    );
    play(
        "stop behind a wake",
        &[
            (Ended(id("a")), Wake),
            (StopGesture, Nothing),
            (Take, Nothing),
            (UserSpoke, Deliver(ids(&["a"]))),
            (Delivered(ids(&["a"])), Nothing),
            (TurnEnded, Nothing),
        ],
    );
}

#[test]
fn the_user_may_get_there_first() {
    play(
        "prompt before the wake",
        &[(Ended(id("a")), Wake), (UserSpoke, Deliver(ids(&["a"]))), (Take, Nothing)],
    );
    play(
        "pre-empted",
        &[
            (Ended(id("a")), Wake),
            (Take, Deliver(ids(&["a"]))),
            (TurnBegan, Nothing),
            (Preempted(ids(&["a"])), Nothing),
            (Round, Deliver(ids(&["a"]))),
        ],
    );
}

#[test]
fn what_failed_waits_for_an_occasion_and_asks_for_none() {
    let wakes = play(
        "failed",
        &[
            (Ended(id("a")), Wake),
            (Take, Deliver(ids(&["a"]))),
            (TurnBegan, Nothing),
            (Failed(ids(&["a"])), Nothing),
            (TurnEnded, Nothing),
        ],
    );
    assert_eq!(wakes.undelivered(), ids(&["a"]));
    let steps = [(Ended(id("b")), Wake), (Take, Deliver(ids(&["a", "b"])))];
    let mut wakes = wakes;
    for (event, effect) in steps {
        assert_eq!(wakes.on(event), effect);
    }
    assert!(wakes.undelivered().is_empty());
}

#[test]
fn ends_of_an_earlier_run_are_told_by_this_one() {
    play("restart", &[(Restored(ids(&["b", "a"])), Nothing), (UserSpoke, Deliver(ids(&["b", "a"])))]);
    play(
        "another end wakes it",
        &[(Restored(ids(&["a"])), Nothing), (Ended(id("b")), Wake), (Take, Deliver(ids(&["a", "b"])))],
    );
    let mut wakes = Wakes::new(false);
    assert_eq!(wakes.on(Restored(ids(&["a"]))), Nothing, "it may not start a turn");
    assert_eq!(wakes.on(UserSpoke), Deliver(ids(&["a"])));
}

/// What may happen at any time.
#[derive(Clone, Debug)]
enum Step {
    End(usize),
    Read(usize),
    Kill(usize),
    Wait(usize),
    /// The oldest wait ends.
    WaitOver,
    /// The last answer is lost.
    Lose,
    TurnBegins,
    Round,
    TurnEnds,
    Stop,
    Speak,
    Take,
    /// The oldest delivery has this outcome.
    Outcome(u8),
    Restart,
}

/// The agent and its owner: what it was told, how often, and what is written down.
#[derive(Default)]
struct World {
    wakes: Wakes,
    ended: Vec<JobId>,
    heard: HashMap<JobId, usize>,
    noted: BTreeSet<JobId>,
    on_the_way: Vec<Vec<JobId>>,
    waits: Vec<JobId>,
    killed: BTreeSet<JobId>,
    last_answer: Option<JobId>,
    is_held: bool,
    in_turn: bool,
}

impl World {
    fn on(&mut self, event: WakeEvent) {
        let by_the_user = event == UserSpoke;
        match self.wakes.on(event) {
            Deliver(ids) => {
                assert!(!ids.is_empty() && (by_the_user || !self.is_held), "told after a stop");
                for id in &ids {
                    assert!(self.ended.contains(id), "{id} has not ended");
                    assert!(!self.heard.contains_key(id), "{id} is told once more");
                    assert!(!self.on_the_way.concat().contains(id), "{id} is on its way");
                    assert!(!self.waits.contains(id), "a call waits for {id}");
                }
                self.on_the_way.push(ids);
            }
            Wake => assert!(!self.is_held && !self.in_turn, "a wake at the wrong time"),
            Nothing => {}
        }
    }

    fn hear(&mut self, id: &JobId) {
        *self.heard.entry(id.clone()).or_default() += 1;
    }

    fn consume(&mut self, id: JobId) {
        if !self.heard.contains_key(&id) {
            self.hear(&id);
            self.last_answer = Some(id.clone());
        }
        self.on(Consumed(id));
    }

    fn note(&mut self) {
        self.last_answer = None;
        self.noted.extend(self.wakes.take_told());
    }

    fn step(&mut self, step: Step) {
        let job = |number: usize| id(&format!("job-{number}"));
        if !matches!(step, Step::Lose) {
            self.note();
        }
        match step {
            Step::End(number) if !self.ended.contains(&job(number)) => {
                self.ended.push(job(number));
                self.on(Ended(job(number)));
            }
            // What is on its way to it can't be read before it has come.
            Step::Read(number)
                if self.ended.contains(&job(number))
                    && !self.on_the_way.concat().contains(&job(number))
                    && !self.waits.contains(&job(number)) =>
            {
                self.consume(job(number));
            }
            Step::Kill(number)
                if !self.ended.contains(&job(number))
                    && !self.waits.contains(&job(number))
                    && self.killed.insert(job(number)) =>
            {
                self.consume(job(number));
            }
            Step::Wait(number)
                if !self.ended.contains(&job(number)) && !self.killed.contains(&job(number)) =>
            {
                self.waits.push(job(number));
                self.on(WaitBegan(job(number)));
            }
            Step::WaitOver if !self.waits.is_empty() => {
                let id = self.waits.remove(0);
                if self.ended.contains(&id) { self.consume(id) } else { self.on(WaitGaveUp(id)) }
            }
            Step::Lose => {
                if let Some(id) = self.last_answer.take() {
                    self.heard.remove(&id);
                    self.killed.remove(&id);
                    self.on(Unconsumed(id));
                }
            }
            Step::TurnBegins if !self.in_turn => {
                self.in_turn = true;
                self.on(TurnBegan);
            }
            Step::Round if self.in_turn => self.on(Round),
            Step::TurnEnds if self.in_turn => {
                self.in_turn = false;
                self.on(TurnEnded);
            }
            Step::Stop => {
                self.is_held = true;
                self.on(StopGesture);
            }
            Step::Speak => {
                self.on(UserSpoke);
                self.is_held = false;
            }
            Step::Take if !self.in_turn => self.on(Take),
            Step::Outcome(outcome) if !self.on_the_way.is_empty() => {
                let ids = self.on_the_way.remove(0);
                match outcome {
                    0 => self.on(Failed(ids)),
                    1 => self.on(Preempted(ids)),
                    _ => {
                        ids.iter().for_each(|id| self.hear(id));
                        self.on(Delivered(ids));
                    }
                }
            }
            Step::Restart => {
                self.note();
                let untold = self.ended.iter().filter(|id| !self.noted.contains(id)).cloned().collect();
                // A kill of the run before is no longer known; its end is told if it had not come.
                let forgotten: Vec<JobId> =
                    self.killed.iter().filter(|id| !self.ended.contains(id)).cloned().collect();
                for id in forgotten {
                    self.killed.remove(&id);
                    self.heard.remove(&id);
                }
                self.wakes = Wakes::default();
                self.on_the_way.clear();
                self.waits.clear();
                (self.is_held, self.in_turn) = (false, false);
                self.on(Restored(untold));
            }
            _ => {}
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let job = 0_usize..4;
    let step = prop_oneof![
        3 => job.clone().prop_map(Step::End),
        1 => job.clone().prop_map(Step::Read),
        1 => job.clone().prop_map(Step::Kill),
        1 => job.prop_map(Step::Wait),
        1 => Just(Step::WaitOver),
        1 => Just(Step::Lose),
        1 => Just(Step::TurnBegins),
        1 => Just(Step::Round),
        1 => Just(Step::TurnEnds),
        1 => Just(Step::Stop),
        1 => Just(Step::Speak),
        2 => Just(Step::Take),
        3 => (0_u8..4).prop_map(Step::Outcome),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn every_end_is_heard_exactly_once(steps in steps()) {
        let mut world = World::default();
        for step in steps {
            world.step(step);
        }
        // At last everything comes to rest, and the user speaks.
        world.note();
        while !world.waits.is_empty() {
            world.step(Step::WaitOver);
        }
        for number in 0..4 {
            world.step(Step::End(number));
        }
        for step in [Step::TurnEnds, Step::Speak, Step::Outcome(2), Step::Outcome(2), Step::Outcome(2), Step::Outcome(2), Step::Speak] {
            world.step(step);
        }
        while !world.on_the_way.is_empty() {
            world.step(Step::Outcome(2));
        }
        world.note();
        for id in &world.ended {
            prop_assert_eq!(world.heard.get(id), Some(&1), "{}", id);
            prop_assert!(world.noted.contains(id), "{} is written down", id);
        }
        prop_assert!(world.wakes.pending().is_empty());
    }
}
