//! How fast text arrives within one request. Everything is a function of the arrivals and of the time asked about, so
//! that drawing changes nothing.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// What counts as just now.
const WINDOW: Duration = Duration::from_secs(1);
/// How slowly the smoothed rate follows.
const SMOOTHING: f64 = 0.5;
/// Tokens per second at which the wave runs at its own speed.
const NOMINAL_RATE: f64 = 34.0;

/// The stream of one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    arrivals: VecDeque<Arrival>,
    last: Option<Instant>,
    opened: Instant,
    /// Milliseconds that the wave has moved, and tokens per second, both at `at`.
    wave: f64,
    rate: f64,
    at: Instant,
    chars_per_token: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Arrival {
    at: Instant,
    tokens: f64,
    silence: Duration,
}

impl Flow {
    /// A stream that is open from now on, of which nothing has arrived.
    pub const fn new(now: Instant, chars_per_token: f64) -> Self {
        Self {
            arrivals: VecDeque::new(),
            last: None,
            wave: 0.0,
            rate: 0.0,
            opened: now,
            at: now,
            chars_per_token,
        }
    }

    /// So many characters arrived.
    pub fn push(&mut self, chars: usize, now: Instant) {
        if chars == 0 {
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let tokens = chars as f64 / self.chars_per_token;
        (self.wave, self.rate) = self.moved(now);
        self.at = self.at.max(now);
        self.rate += tokens / SMOOTHING;
        // Before the first text the stream was silent since it was opened: a provider may send all of it at its end.
        let silence = now.saturating_duration_since(self.last.unwrap_or(self.opened));
        self.last = Some(now);
        while self.arrivals.front().is_some_and(|old| now.saturating_duration_since(old.at) > 2 * WINDOW) {
            self.arrivals.pop_front();
        }
        self.arrivals.push_back(Arrival { at: now, tokens, silence });
    }

    /// When the last text arrived.
    pub const fn last(&self) -> Option<Instant> {
        self.last
    }

    /// Tokens per second of the last second. Text that came at once after a silence counts as if it had come evenly over
    /// that silence, else every burst would look like a fast model. `None` when nothing came.
    pub fn tokens_per_second(&self, now: Instant) -> Option<f64> {
        let mut sum = 0.0;
        for arrival in self.arrivals.iter().rev() {
            let age = now.saturating_duration_since(arrival.at);
            if age >= WINDOW {
                break;
            }
            let inside = (WINDOW - age).as_secs_f64();
            let share = (inside / arrival.silence.as_secs_f64().max(f64::EPSILON)).min(1.0);
            sum += arrival.tokens * share;
        }
        (sum > 0.0).then_some(sum)
    }

    /// How far the wave has moved, in milliseconds of its own clock: it runs with the stream and stops with it.
    pub fn wave(&self, now: Instant) -> f64 {
        self.moved(now).0
    }

    /// How far it will move from now on if nothing more arrives.
    pub fn wave_left(&self, now: Instant) -> f64 {
        self.moved(now).1 * SMOOTHING * 1000.0 / NOMINAL_RATE
    }

    fn moved(&self, now: Instant) -> (f64, f64) {
        let seconds = now.saturating_duration_since(self.at).as_secs_f64();
        let left = (-seconds / SMOOTHING).exp();
        let way = self.rate * SMOOTHING * (1.0 - left) * 1000.0 / NOMINAL_RATE;
        (self.wave + way, self.rate * left)
    }
}

/// A figure that follows its target in small steps, so that people can see it grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    shown: u64,
    target: u64,
    at: Instant,
}

const STEP: Duration = Duration::from_millis(50);

impl Counter {
    /// Nothing yet.
    pub const fn new(now: Instant) -> Self {
        Self { shown: 0, target: 0, at: now }
    }

    /// The target is now this.
    pub fn aim(&mut self, target: u64, now: Instant) {
        let steps = self.steps(now);
        self.shown = eased(self.shown, self.target, steps);
        // What is left of a step is kept, else frequent targets would hold the figure back for ever.
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        self.at = STEP.checked_mul(steps).and_then(|gone| self.at.checked_add(gone)).unwrap_or(now);
        self.target = target;
    }

    /// What to show.
    pub fn shown(&self, now: Instant, motion: bool) -> u64 {
        if motion { eased(self.shown, self.target, self.steps(now)) } else { self.target }
    }

    fn steps(&self, now: Instant) -> u64 {
        let millis = now.saturating_duration_since(self.at).as_millis() / STEP.as_millis();
        u64::try_from(millis).unwrap_or(u64::MAX)
    }
}

fn eased(mut shown: u64, target: u64, mut steps: u64) -> u64 {
    if target <= shown {
        return target;
    }
    // The far part goes at an even pace and needs no loop.
    let gap = target - shown;
    if gap >= 50 {
        let far = ((gap - 50) / 13 + 1).min(steps);
        shown += far * 13;
        steps -= far;
    }
    while steps > 0 && shown < target {
        let gap = target - shown;
        shown += match gap {
            0..18 => 1,
            18..50 => (gap * 15 / 100).max(2),
            50.. => 13,
        };
        steps -= 1;
    }
    shown.min(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_steady_stream_has_its_rate() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut flow = Flow::new(start, 4.0);
        assert_eq!(flow.tokens_per_second(start), None);
        for step in 0..40 {
            flow.push(20, at(step * 50));
        }
        let tps = flow.tokens_per_second(at(1950)).unwrap();
        assert!((95.0..105.0).contains(&tps), "{tps}");
        assert_eq!(flow.tokens_per_second(at(3000)), None);
    }

    #[test]
    fn a_burst_after_silence_is_no_fast_model() {
        let start = Instant::now();
        let mut flow = Flow::new(start, 4.0);
        flow.push(4, start);
        flow.push(400, start + Duration::from_secs(4));
        let tps = flow.tokens_per_second(start + Duration::from_secs(4)).unwrap();
        assert!((24.9..25.1).contains(&tps), "{tps}");
        // The same where nothing came before it.
        let mut flow = Flow::new(start, 4.0);
        flow.push(400, start + Duration::from_secs(4));
        let tps = flow.tokens_per_second(start + Duration::from_secs(4)).unwrap();
        assert!((24.9..25.1).contains(&tps), "{tps}");
    }

    #[test]
    fn tokens_are_counted_by_the_models_own_measure() {
        let start = Instant::now();
        let mut flow = Flow::new(start, 2.5);
        flow.push(100, start);
        assert_eq!(flow.tokens_per_second(start), Some(40.0));
    }

    #[test]
    fn the_wave_runs_with_the_stream_and_stops_with_it() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut flow = Flow::new(start, 4.0);
        assert_eq!(flow.wave(at(5000)), 0.0);
        // 34 tokens a second.
        for step in 0..90 {
            flow.push(136, at(step * 1000));
        }
        let before = flow.wave(at(89_000));
        for step in 90..100 {
            flow.push(136, at(step * 1000));
        }
        let moved = flow.wave(at(99_000)) - before;
        assert!((9_500.0..10_500.0).contains(&moved), "{moved}");
        assert!((flow.wave(at(300_000)) - flow.wave(at(200_000))).abs() < 0.01);
        let left = flow.wave_left(at(99_000));
        assert!((flow.wave(at(300_000)) - flow.wave(at(99_000)) - left).abs() < 0.01);
    }

    #[test]
    fn the_counter_takes_bounded_steps() {
        let start = Instant::now();
        let mut counter = Counter::new(start);
        counter.aim(100, start);
        let shown: Vec<_> = (0..8).map(|step| counter.shown(start + STEP * step, true)).collect();
        assert_eq!(shown, [0, 13, 26, 39, 52, 59, 65, 70]);
        assert_eq!(counter.shown(start, false), 100);
        assert_eq!(counter.shown(start + STEP * 1000, true), 100);
    }

    proptest! {
        #[test]
        fn the_fast_way_is_the_slow_way(target in 0_u64..3000, steps in 0_u64..400) {
            let mut slow = 0;
            for _ in 0..steps {
                slow = eased(slow, target, 1);
            }
            prop_assert_eq!(eased(0, target, steps), slow);
        }
    }
}
