//! One key that is held to talk, or tapped to begin and tapped to end.
//!
//! Responsibilities: what presses, repeats and releases of the key mean for a recording, and when something is due
//! without a key. Not: which key it is, and what a recording is.
//!
//! Where the terminal tells releases, a press that is let go soon was a tap, and a later release ends the recording.
//! Elsewhere a held key is known by its repeats alone: the first one comes late, at a time that the system sets, the
//! others follow quickly. So a press waits for a repeat for as long as slow settings take; none means a tap. Once
//! repeats come, their rhythm is learned, and some of them missing means that the key was let go. That may be a mistake
//! of a busy line: a repeat that comes soon after it takes the stop back.
//!
//! Invariants
//! - No recording begins while the key of the former one may still be held.
//! - A start is followed by exactly one stop that is not taken back, unless the recording ends by itself.
//! - It looks at no clock: every moment is given, and [`HoldKey::due`] says when to come back.

use std::time::{Duration, Instant};

/// A press that is let go before this was a tap.
pub const HELD: Duration = Duration::from_millis(350);
/// Systems repeat a held key for the first time within this.
const FIRST_REPEAT: Duration = Duration::from_millis(1_000);
/// The same, as most systems are set: a press so soon after the tap that ended a recording is a repeat of it.
const USUAL_FIRST_REPEAT: Duration = Duration::from_millis(660);
/// Repeats that are missing for so long mean a release, however quick they are.
const LEAST_GAP: Duration = Duration::from_millis(180);
/// So many repeats missing mean a release.
const MISSED: u32 = 4;
/// A repeat that comes so soon after a stop takes it back.
const MAY_RESUME: Duration = Duration::from_millis(300);
/// A recording that began by a tap this short a time ago may have been a held key whose repeats came late.
const YOUNG: Duration = Duration::from_millis(1_500);
/// No system repeats a key for the first time so soon: a press this short a time after another belongs to one that is
/// held already.
const NO_FIRST_REPEAT: Duration = Duration::from_millis(200);

/// What the terminal tells of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// It went down; where repeats are not told apart, also that it is still held.
    Press,
    /// It is still held.
    Repeat,
    /// It was let go.
    Release,
}

/// What follows for the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// Nothing.
    Nothing,
    /// It begins.
    Start,
    /// It ends.
    Stop {
        /// For how long that may be taken back.
        may_resume: Duration,
    },
    /// The end is taken back.
    Resume,
}

/// The key.
#[derive(Clone, Debug, Default)]
pub struct HoldKey {
    tells_releases: bool,
    /// The time between repeats, once seen.
    rhythm: Option<Duration>,
    /// The time from a press to its first repeat, once seen.
    first_repeat: Option<Duration>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing is recorded, and the key is up.
    #[default]
    Idle,
    /// It records and the key is down; the terminal will tell when it is let go.
    Down { since: Instant },
    /// It records. A repeat may follow by `until`.
    Waiting { since: Instant, until: Instant },
    /// It records, and repeats come; without another one the key was let go by `until`.
    Repeating { last: Instant, until: Instant },
    /// It records, and the key is up.
    Tapped { since: Instant },
    /// The recording has ended. A press up to `resumes` takes that back; up to `ignores` it is a repeat of the press that
    /// ended it.
    Ended { last: Instant, resumes: Option<Instant>, ignores: Instant },
}

impl HoldKey {
    /// Whether the terminal tells when keys are let go, as far as it has said.
    pub const fn set_tells_releases(&mut self, tells: bool) {
        self.tells_releases = tells;
    }

    /// It is held, as its repeats say.
    pub const fn is_repeating(&self) -> bool {
        matches!(self.phase, Phase::Repeating { .. })
    }

    /// What the key does to the recording.
    pub fn stroke(&mut self, stroke: Stroke, now: Instant) -> Follows {
        match stroke {
            Stroke::Press => self.press(now),
            // Who tells repeats tells releases, too.
            Stroke::Repeat => {
                self.tells_releases = true;
                Follows::Nothing
            }
            Stroke::Release => self.release(now),
        }
    }

    /// Begins or ends a recording by a key of which neither repeats nor releases count.
    pub fn tap(&mut self, now: Instant) -> Follows {
        match self.phase {
            Phase::Idle | Phase::Ended { .. } => {
                self.phase = Phase::Tapped { since: now };
                Follows::Start
            }
            _ => {
                self.phase = Phase::Idle;
                Follows::Stop { may_resume: Duration::ZERO }
            }
        }
    }

    /// When [`Self::pass`] has something to do; never while the key rests.
    pub const fn due(&self) -> Option<Instant> {
        match self.phase {
            Phase::Waiting { until, .. } | Phase::Repeating { until, .. } => Some(until),
            _ => None,
        }
    }

    /// Time has passed.
    pub fn pass(&mut self, now: Instant) -> Follows {
        match self.phase {
            // Nothing came: it was a tap.
            Phase::Waiting { since, until } if until <= now => {
                self.phase = Phase::Tapped { since };
                Follows::Nothing
            }
            Phase::Repeating { last, until } if until <= now => {
                let resumes = now + MAY_RESUME;
                self.phase = Phase::Ended { last, resumes: Some(resumes), ignores: resumes };
                Follows::Stop { may_resume: MAY_RESUME }
            }
            _ => Follows::Nothing,
        }
    }

    /// The recording has ended without the key, or was thrown away. The key may still be down.
    pub fn ended(&mut self, now: Instant) {
        let last = match self.phase {
            Phase::Idle | Phase::Tapped { .. } | Phase::Down { .. } => {
                self.phase = Phase::Idle;
                return;
            }
            // What is recorded anew must not be taken for the former recording.
            Phase::Ended { last, ignores, .. } => {
                self.phase = Phase::Ended { last, resumes: None, ignores };
                return;
            }
            Phase::Waiting { since, .. } => since,
            Phase::Repeating { last, .. } => last,
        };
        self.phase = Phase::Ended { last, resumes: None, ignores: self.after_press(last).max(now) };
    }

    /// The release may be told to somebody else from now on: the terminal has lost the focus.
    pub fn lost(&mut self, now: Instant) -> Follows {
        match self.phase {
            Phase::Down { .. } => self.let_go(now),
            _ => Follows::Nothing,
        }
    }

    fn press(&mut self, now: Instant) -> Follows {
        match self.phase {
            Phase::Idle => self.start(now),
            Phase::Down { since } if now.saturating_duration_since(since) <= FIRST_REPEAT => {
                // No release came between: the terminal does not tell them after all, and this is a repeat.
                self.tells_releases = false;
                self.repeated(since, now)
            }
            Phase::Down { .. } => {
                self.tells_releases = false;
                self.stop(now, None)
            }
            Phase::Waiting { since, .. } => self.repeated(since, now),
            Phase::Repeating { last, .. } => {
                self.learn(now.saturating_duration_since(last));
                self.repeat(now);
                Follows::Nothing
            }
            Phase::Tapped { since } => {
                let is_young = now.saturating_duration_since(since) <= YOUNG && !self.tells_releases;
                self.stop(now, is_young.then_some(now + NO_FIRST_REPEAT))
            }
            Phase::Ended { last, resumes: Some(resumes), .. } if now <= resumes => {
                // Slower than was thought.
                self.learn(now.saturating_duration_since(last));
                self.repeat(now);
                Follows::Resume
            }
            Phase::Ended { resumes, ignores, .. } if now <= ignores => {
                // It is still held.
                self.phase = Phase::Ended { last: now, resumes, ignores: (now + self.gap()).max(ignores) };
                Follows::Nothing
            }
            Phase::Ended { .. } => self.start(now),
        }
    }

    fn start(&mut self, now: Instant) -> Follows {
        self.phase = if self.tells_releases {
            Phase::Down { since: now }
        } else {
            Phase::Waiting { since: now, until: now + FIRST_REPEAT }
        };
        Follows::Start
    }

    fn stop(&mut self, now: Instant, resumes: Option<Instant>) -> Follows {
        let may_resume = resumes.map_or(Duration::ZERO, |until| until.saturating_duration_since(now));
        self.phase = if self.tells_releases {
            Phase::Idle
        } else {
            Phase::Ended { last: now, resumes, ignores: self.after_press(now) }
        };
        Follows::Stop { may_resume }
    }

    /// Until then a press is a repeat of one at `press`.
    fn after_press(&self, press: Instant) -> Instant {
        press + self.first_repeat.map_or(USUAL_FIRST_REPEAT, |first| first + first / 2)
    }

    /// The first repeat of a press has come.
    fn repeated(&mut self, since: Instant, now: Instant) -> Follows {
        let first = now.saturating_duration_since(since);
        if first > NO_FIRST_REPEAT {
            self.first_repeat = Some(first);
        }
        self.repeat(now);
        Follows::Nothing
    }

    fn repeat(&mut self, now: Instant) {
        self.phase = Phase::Repeating { last: now, until: now + self.gap() };
    }

    /// Without a repeat for so long the key was let go. Before a rhythm is known, the slow first repeat is all there is to
    /// go by.
    fn gap(&self) -> Duration {
        let unknown = || self.first_repeat.unwrap_or(USUAL_FIRST_REPEAT).min(USUAL_FIRST_REPEAT);
        self.rhythm.map_or_else(unknown, |rhythm| rhythm * MISSED).clamp(LEAST_GAP, FIRST_REPEAT)
    }

    /// Slower repeats count at once, quicker ones little by little: on a busy line they come in bursts.
    fn learn(&mut self, between: Duration) {
        let between = between.min(FIRST_REPEAT / MISSED);
        self.rhythm = Some(match self.rhythm {
            Some(known) if between < known => (known * 3 + between) / 4,
            Some(_) | None => between,
        });
    }

    fn release(&mut self, now: Instant) -> Follows {
        self.tells_releases = true;
        match self.phase {
            Phase::Down { .. } | Phase::Waiting { .. } | Phase::Repeating { .. } => self.let_go(now),
            Phase::Ended { .. } => {
                self.phase = Phase::Idle;
                Follows::Nothing
            }
            Phase::Idle | Phase::Tapped { .. } => Follows::Nothing,
        }
    }

    fn let_go(&mut self, now: Instant) -> Follows {
        match self.phase {
            Phase::Down { since } | Phase::Waiting { since, .. }
                if now.saturating_duration_since(since) < HELD =>
            {
                self.phase = Phase::Tapped { since };
                Follows::Nothing
            }
            _ => {
                self.phase = Phase::Idle;
                Follows::Stop { may_resume: Duration::ZERO }
            }
        }
    }
}

#[cfg(test)]
#[path = "hold_key_tests.rs"]
mod tests;
