//! Background jobs on the screen: a row each above the prompt, and in the transcript.
//!
//! | file | what it is |
//! |---|---|
//! | [`mod@line`] | the words of a row, fitted to its room |
//! | [`band`] | the row at a moment |
//! | [`rows`] | the rows above the prompt |
//! | [`log`] | the log of a job, as far as it was read |

pub mod band;
pub mod line;
pub mod log;
pub mod rows;

use crate::proto::ids::JobId;
use crate::proto::job::{JobState, JobView};
use crate::proto::message::Millis;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A job as the screen knows it: what was told, with times on the screen's own clock.
#[derive(Clone, Debug)]
pub struct ShownJob {
    /// What was told.
    pub view: Arc<JobView>,
    /// When it started.
    pub since: Instant,
    /// When it printed last.
    pub printed_at: Instant,
    /// When it was told to end, if it was.
    pub stopping_since: Instant,
}

impl ShownJob {
    /// A job that was told of `now`, when other clocks showed `at`.
    pub fn new(view: Arc<JobView>, at: Millis, now: Instant) -> Self {
        let ago = |then: Millis| {
            let ago = Duration::from_millis(u64::try_from(at - then).unwrap_or(0));
            now.checked_sub(ago).unwrap_or(now)
        };
        let stopping = match view.state {
            JobState::Stopping { since } => since,
            JobState::Running | JobState::Ended(_) => at,
        };
        Self {
            since: ago(view.started),
            printed_at: ago(view.printed_at),
            stopping_since: ago(stopping),
            view,
        }
    }
}

/// All jobs of a session that are to be seen, in the order in which they started.
#[derive(Clone, Debug, Default)]
pub struct ShownJobs(Vec<ShownJob>);

impl ShownJobs {
    /// Takes all that there are, as they were told `now`, when the clock on the wall showed `at`. True if any is another
    /// one than before.
    pub fn take(&mut self, jobs: &[Arc<JobView>], at: Millis, now: Instant) -> bool {
        if jobs.len() == self.0.len() && jobs.iter().zip(&self.0).all(|(new, known)| *new == known.view) {
            return false;
        }
        let before = std::mem::take(&mut self.0);
        let shown = jobs.iter().map(|job| {
            let known =
                before.iter().find(|known| known.view.id == job.id && known.view.started == job.started);
            let shown = ShownJob::new(Arc::clone(job), at, now);
            // The two clocks differ by a hair each time they are compared.
            ShownJob { since: known.map_or(shown.since, |known| known.since), ..shown }
        });
        self.0 = shown.collect();
        true
    }

    /// A job by its name.
    pub fn get(&self, id: &JobId) -> Option<&ShownJob> {
        self.0.iter().find(|job| job.view.id == *id)
    }

    /// All of them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ShownJob> {
        self.0.iter()
    }

    /// Those that are to be seen: of the others the transcript tells.
    pub fn shown(&self) -> impl DoubleEndedIterator<Item = &ShownJob> {
        self.0.iter().filter(|job| !job.view.is_told)
    }

    /// Those that have not ended.
    pub fn live(&self) -> impl Iterator<Item = &ShownJob> {
        self.0.iter().filter(|job| job.view.state.is_live())
    }
}

#[cfg(test)]
mod tests;
