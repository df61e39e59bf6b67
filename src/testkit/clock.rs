//! A clock that stands still until a test moves it. Policies take the time as an argument; this is where a test takes
//! it from.

use std::time::{Duration, Instant};

/// The time of a test.
#[derive(Debug, Clone, Copy)]
pub struct FakeClock(Instant);

impl FakeClock {
    /// A clock at some time.
    #[expect(clippy::new_without_default, reason = "every clock begins at another time")]
    pub fn new() -> Self {
        Self(Instant::now())
    }

    /// The time.
    pub const fn now(&self) -> Instant {
        self.0
    }

    /// Lets this much time pass.
    pub fn pass(&mut self, time: Duration) {
        self.0 += time;
    }
}
