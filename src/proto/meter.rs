//! How far a running command has come, as it tells itself: data only. Who reads it out of output is the business of the
//! jobs.

use std::time::Duration;

/// What a progress display says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meter {
    /// The share that is done, from 0 to below 1; nothing where only facts are known.
    pub share: Option<f64>,
    /// Time left, as the command itself estimates it.
    pub left: Option<Duration>,
    /// What else it tells, in order: `12 of 40`, `118M/190M`, `6.5M/s`. Clean text.
    pub facts: Vec<String>,
}

impl Meter {
    /// It says nothing.
    pub const fn is_empty(&self) -> bool {
        self.share.is_none() && self.left.is_none() && self.facts.is_empty()
    }
}
