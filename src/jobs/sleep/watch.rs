//! Which wait of a running command is told, and when to look again. Pure: the caller looks for processes and passes in the
//! time, in milliseconds from the begin of the command.
//!
//! Invariants: each sleep is counted once; while a known sleep runs the next look is at its end; where none comes, looks
//! become rare, and at last there are none.

use super::plan::{Looped, SleepPlan};
use super::processes::Sleeping;
use crate::proto::chain::{Wait, WaitKind};

/// The first look, and the shortest pause between two.
const FIRST_MS: u64 = 100;
/// The longest pause while a loop may still sleep again.
const RAREST_MS: u64 = 2_000;
/// A sleep that stands alone is no longer waited for after this time without one.
const GIVE_UP_MS: u64 = 60_000;
/// After the end of a sleep the next one of a loop is there.
const AFTER_MS: u64 = 40;
/// Shorter sleeps are not worth telling.
const SHORTEST_MS: u64 = 500;

/// Follows the sleeps of one command.
#[derive(Clone, Debug)]
pub struct Watch {
    plan: SleepPlan,
    /// Sleeps that were seen.
    seen: usize,
    /// The one that runs.
    current: Option<Current>,
    /// The first sleep of the loop, and the first one of its newest pass, by their begins.
    loop_begun_ms: Option<u64>,
    pass_begun_ms: u64,
    /// How long the pass before took.
    last_pass_ms: Option<u64>,
    pause_ms: u64,
    quiet_since_ms: u64,
    next_ms: Option<u64>,
    told: Option<Wait>,
}

#[derive(Clone, Copy, Debug)]
struct Current {
    id: (i32, u64),
    until_ms: Option<u64>,
}

impl Watch {
    /// The command begins.
    pub const fn new(plan: SleepPlan) -> Self {
        Self {
            plan,
            seen: 0,
            current: None,
            loop_begun_ms: None,
            pass_begun_ms: 0,
            last_pass_ms: None,
            pause_ms: FIRST_MS,
            quiet_since_ms: 0,
            next_ms: Some(FIRST_MS),
            told: None,
        }
    }

    /// When to look; never, if nothing can come any more.
    pub const fn next_ms(&self) -> Option<u64> {
        self.next_ms
    }

    /// What the command waits for.
    pub const fn wait(&self) -> Option<Wait> {
        self.told
    }

    /// Takes what sleeps now. What it waits for, if that is not what was told before.
    pub fn look(&mut self, sleeping: &[Sleeping], now_ms: u64) -> Option<Option<Wait>> {
        let same = self.current.filter(|current| sleeping.iter().any(|process| process.id == current.id));
        let told = match (same, sleeping.iter().min_by_key(|process| process.age)) {
            (Some(current), _) => {
                self.next_ms = Some(match current.until_ms {
                    Some(until) => (until + AFTER_MS).max(now_ms + FIRST_MS),
                    None => now_ms + RAREST_MS,
                });
                // It should have ended: nobody knows how much longer it takes.
                self.told.filter(|_| current.until_ms.is_some_and(|until| until > now_ms))
            }
            (None, Some(newest)) => self.begin(newest, now_ms),
            (None, None) => {
                self.nothing(now_ms);
                None
            }
        };
        (told != self.told).then(|| {
            self.told = told;
            told
        })
    }

    fn nothing(&mut self, now_ms: u64) {
        if self.current.take().is_some() {
            (self.quiet_since_ms, self.pause_ms) = (now_ms, FIRST_MS);
        }
        let is_over = self.plan.looped.is_none()
            && (self.seen >= self.plan.leading + self.plan.single
                || now_ms.saturating_sub(self.quiet_since_ms) >= GIVE_UP_MS);
        self.next_ms = (!is_over).then(|| now_ms + self.pause_ms);
        self.pause_ms = (self.pause_ms * 2).min(RAREST_MS);
    }

    fn begin(&mut self, process: &Sleeping, now_ms: u64) -> Option<Wait> {
        let begun_ms = now_ms.saturating_sub(millis(process.age));
        let lasts_ms = process.lasts.map(millis);
        self.seen += 1;
        self.pause_ms = FIRST_MS;
        self.quiet_since_ms = now_ms;
        let until_ms = lasts_ms.map(|lasts| begun_ms.saturating_add(lasts));
        self.current = Some(Current { id: process.id, until_ms });
        self.next_ms =
            Some(until_ms.map_or(now_ms + RAREST_MS, |until| (until + AFTER_MS).max(now_ms + AFTER_MS)));
        let lasts_ms = lasts_ms?;
        let wait = match self.plan.looped.filter(|_| self.seen > self.plan.leading) {
            Some(looped) => self.in_loop(looped, begun_ms, lasts_ms),
            None => self.alone(begun_ms, lasts_ms),
        };
        Some(wait).filter(|wait| wait.lasts_ms >= SHORTEST_MS)
    }

    fn alone(&self, begun_ms: u64, lasts_ms: u64) -> Wait {
        if self.seen > self.plan.leading {
            return Wait { begun_ms, lasts_ms, kind: WaitKind::Sleep };
        }
        // The sleeps of the begin are one wait, from the first to the last.
        let total = millis(self.plan.leading_total);
        let first = self.told.map_or(begun_ms, |told| told.begun_ms);
        let begun_ms = if self.seen == 1 { begun_ms } else { first };
        Wait { begun_ms, lasts_ms: total.max(lasts_ms), kind: WaitKind::Sleep }
    }

    fn in_loop(&mut self, looped: Looped, begun_ms: u64, lasts_ms: u64) -> Wait {
        let place = self.seen - self.plan.leading - 1;
        let sleeps = looped.sleeps.max(1);
        let (pass, within) = (place / sleeps, place % sleeps);
        let first = *self.loop_begun_ms.get_or_insert(begun_ms);
        if within == 0 {
            if pass > 0 {
                self.last_pass_ms = Some(begun_ms.saturating_sub(self.pass_begun_ms));
            }
            self.pass_begun_ms = begun_ms;
        }
        let number = u32::try_from(pass + 1).unwrap_or(u32::MAX);
        let Some(of) = looped.passes else {
            return Wait { begun_ms, lasts_ms, kind: WaitKind::Check { number } };
        };
        if number > of {
            // Behind the loop.
            return Wait { begun_ms, lasts_ms, kind: WaitKind::Sleep };
        }
        // A pass takes as long as the last one; the first is taken for this sleep alone.
        let pass_ms = match self.last_pass_ms {
            Some(last) if !looped.only_sleeps || sleeps > 1 => last,
            _ => lasts_ms.saturating_mul(sleeps as u64),
        };
        let rest_of_pass = lasts_ms.max(pass_ms.saturating_sub(begun_ms.saturating_sub(self.pass_begun_ms)));
        let rest = rest_of_pass.saturating_add(pass_ms.saturating_mul(u64::from(of - number)));
        Wait {
            begun_ms: first,
            lasts_ms: begun_ms.saturating_sub(first).saturating_add(rest),
            kind: WaitKind::Loop { pass: number, of, is_exact: looped.only_sleeps },
        }
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
