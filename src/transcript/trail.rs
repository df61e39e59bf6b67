//! When each part of a growing text came: what is new shines for a moment.
//!
//! Invariants: marks rise in length and in time; marks older than [`GLOW`] are dropped, so that a trail stays small
//! however long its text grows; a text that became shorter begins a new trail.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How long what is new shines.
pub const GLOW: Duration = Duration::from_millis(700);

/// Marks closer than this in time are one: a stream comes in more pieces than anybody can tell apart.
const APART: Duration = Duration::from_millis(30);

/// When a text reached which length.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    /// Length in bytes before the piece, and when the piece came.
    marks: VecDeque<(usize, Instant)>,
    length: usize,
}

impl Trail {
    /// The text has this length now, in bytes.
    pub fn grow(&mut self, length: usize, now: Instant) {
        if length < self.length {
            self.marks.clear();
        }
        while self.marks.front().is_some_and(|(_, at)| now.saturating_duration_since(*at) >= GLOW) {
            self.marks.pop_front();
        }
        let is_apart = self.marks.back().is_none_or(|(_, at)| now.saturating_duration_since(*at) >= APART);
        if length > self.length && is_apart {
            self.marks.push_back((self.length, now));
        }
        self.length = length;
    }

    /// How long the byte at this place has been there; nothing once it does not shine any more.
    pub fn age(&self, at: usize, now: Instant) -> Option<Duration> {
        let behind = self.marks.partition_point(|(from, _)| *from <= at);
        let (_, came) = self.marks.get(behind.checked_sub(1)?)?;
        Some(now.saturating_duration_since(*came)).filter(|age| *age < GLOW)
    }

    /// Where the part begins that may still shine.
    pub fn shines_from(&self, now: Instant) -> Option<usize> {
        let young = self.marks.iter().find(|(_, at)| now.saturating_duration_since(*at) < GLOW);
        young.map(|(from, _)| *from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_young_and_grows_old() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut trail = Trail::default();
        trail.grow(10, at(0));
        trail.grow(20, at(500));
        let age = |trail: &Trail, byte, millis| trail.age(byte, at(millis)).map(|age| age.as_millis());
        assert_eq!(age(&trail, 5, 600), Some(600));
        assert_eq!(age(&trail, 10, 600), Some(100));
        assert_eq!(age(&trail, 19, 600), Some(100));
        assert_eq!((age(&trail, 5, 700), age(&trail, 19, 1200)), (None, None));
        assert_eq!(trail.shines_from(at(600)), Some(0));
        assert_eq!(trail.shines_from(at(800)), Some(10));
        assert_eq!(trail.shines_from(at(1200)), None);
        // Another text.
        trail.grow(4, at(1300));
        assert_eq!(age(&trail, 3, 1300), None);
        trail.grow(6, at(1400));
        assert_eq!((age(&trail, 3, 1400), age(&trail, 5, 1400)), (None, Some(0)));
    }

    #[test]
    fn a_long_stream_keeps_few_marks() {
        let start = Instant::now();
        let mut trail = Trail::default();
        for n in 0..100_000_u64 {
            trail.grow(usize::try_from(n).unwrap() + 1, start + Duration::from_millis(n));
        }
        assert!(trail.marks.len() <= 25, "{}", trail.marks.len());
    }
}
