//! Which readings are shown, and for how long.
//!
//! - A display that can be nothing else is believed at once. Its full share ends a step of the command and not the
//!   command, so it fills nothing.
//! - A bare percentage could be anything, such as the coverage of tests. It is believed from one look to the next only
//!   when it rose, and until it falls.
//! - Other output ends a display after a while, and facts without a share end by themselves.
//!
//! Pure: time comes from the caller, who is told when the answer changes by itself.

use super::figures::Reading;
use crate::proto::meter::Meter;
use std::time::{Duration, Instant};

/// Programs draw their display several times a second between other lines; after this it is over.
const LASTS: Duration = Duration::from_secs(3);

/// What is believed now.
#[derive(Debug, Default)]
pub struct Belief {
    shown: Option<Shown>,
    bare: Option<Bare>,
}

#[derive(Debug)]
struct Shown {
    meter: Meter,
    trusted: bool,
    read: Instant,
    /// When other output began to follow.
    other_since: Option<Instant>,
}

/// The last bare percentage.
#[derive(Clone, Copy, Debug)]
struct Bare {
    share: f64,
    read: Instant,
    climbs: bool,
}

impl Belief {
    /// A line says how far the command has come.
    pub fn reading(&mut self, reading: Reading, now: Instant) {
        self.expire(now);
        if !reading.trusted && !self.climbs(&reading.meter, now) {
            if self.shown.as_ref().is_some_and(|shown| !shown.trusted) {
                self.shown = None;
            }
            self.other(now);
            return;
        }
        let Reading { mut meter, trusted } = reading;
        if meter.share.is_some_and(|share| share >= 1.0) {
            meter.share = None;
            meter.left = None;
        }
        self.shown = (!meter.is_empty()).then_some(Shown { meter, trusted, read: now, other_since: None });
    }

    /// A line says something else.
    pub fn other(&mut self, now: Instant) {
        if let Some(shown) = &mut self.shown {
            shown.other_since.get_or_insert(now);
        }
    }

    /// What to show.
    pub fn shown(&mut self, now: Instant) -> Option<&Meter> {
        self.expire(now);
        self.shown.as_ref().map(|shown| &shown.meter)
    }

    /// When that changes without more output.
    pub fn ends(&self) -> Option<Instant> {
        self.shown.as_ref().and_then(Shown::ends)
    }

    fn expire(&mut self, now: Instant) {
        if self.ends().is_some_and(|end| end <= now) {
            self.shown = None;
        }
    }

    /// Whether a bare percentage is on its way up. A table printed in one go is no movement, so only what an earlier
    /// look saw counts.
    fn climbs(&mut self, meter: &Meter, now: Instant) -> bool {
        let Some(share) = meter.share else { return false };
        let climbs = self.bare.is_some_and(|last| match share.total_cmp(&last.share) {
            std::cmp::Ordering::Greater => last.climbs || last.read < now,
            std::cmp::Ordering::Equal => last.climbs,
            std::cmp::Ordering::Less => false,
        });
        self.bare = Some(Bare { share, read: now, climbs });
        climbs
    }
}

impl Shown {
    fn ends(&self) -> Option<Instant> {
        let by_itself = self.meter.share.is_none().then_some(self.read);
        let begin = match (by_itself, self.other_since) {
            (Some(read), Some(other)) => read.min(other),
            (read, other) => read.or(other)?,
        };
        begin.checked_add(LASTS)
    }
}
