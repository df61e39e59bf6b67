//! How far background jobs are: what their own displays say, and what they sleep for. Pure: the caller passes in output, the
//! time, and how sleeping processes are found.
//!
//! Invariant: [`Progress::next_look`] says when something can be new by itself; a job that is at rest is never looked at.

use super::meter::Reader;
use super::sleep::processes::Sleeping;
use super::sleep::{self, Watch};
use crate::proto::ids::JobId;
use crate::proto::job::JobView;
use crate::proto::meter::Meter;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is known of the jobs that run.
#[derive(Debug, Default)]
pub struct Progress {
    jobs: BTreeMap<JobId, Known>,
}

#[derive(Debug)]
struct Known {
    reader: Reader,
    meter: Option<Meter>,
    sleeps: Option<Sleeps>,
}

#[derive(Debug)]
struct Sleeps {
    watch: Watch,
    shell: i32,
    begun: Instant,
}

impl Sleeps {
    fn next_look(&self) -> Option<Instant> {
        self.begun.checked_add(Duration::from_millis(self.watch.next_ms()?))
    }
}

impl Progress {
    /// A job runs, since so long; `shell` is its process, if that is known.
    pub fn started(&mut self, view: &JobView, shell: Option<i32>, runs: Duration, now: Instant) {
        let plan = sleep::plan(&view.command);
        let sleeps = plan.zip(shell).map(|(plan, shell)| {
            let begun = now.checked_sub(runs).unwrap_or(now);
            Sleeps { watch: Watch::new(plan), shell, begun }
        });
        self.jobs.insert(view.id.clone(), Known { reader: Reader::default(), meter: None, sleeps });
    }

    /// A job has printed this, after so many bytes that nobody has kept.
    pub fn output(&mut self, id: &JobId, bytes: &[u8], skipped: u64, now: Instant) {
        let Some(known) = self.jobs.get_mut(id) else { return };
        if skipped > 0 {
            known.reader.skip(now);
        }
        known.reader.feed(bytes, now);
    }

    /// A job has ended.
    pub fn ended(&mut self, id: &JobId) {
        self.jobs.remove(id);
    }

    /// When to look; never, if nothing can be new.
    pub fn next_look(&self) -> Option<Instant> {
        let sleeps = self.jobs.values().filter_map(|known| known.sleeps.as_ref()?.next_look());
        self.jobs.values().filter_map(|known| known.reader.next_look()).chain(sleeps).min()
    }

    /// Looks at all that it is time for.
    pub fn look(&mut self, now: Instant, sleeping: impl Fn(i32) -> Vec<Sleeping>) {
        for known in self.jobs.values_mut() {
            if known.reader.next_look().is_some_and(|due| due <= now) {
                known.meter = known.reader.look(now);
            }
            if let Some(sleeps) = &mut known.sleeps
                && sleeps.next_look().is_some_and(|due| due <= now)
            {
                let runs = now.saturating_duration_since(sleeps.begun).as_millis();
                let found = sleeping(sleeps.shell);
                // What is told is asked for by `fill`.
                let _changed = sleeps.watch.look(&found, u64::try_from(runs).unwrap_or(u64::MAX));
            }
        }
    }

    /// Adds what is known to the view of a job.
    pub fn fill(&self, view: &mut Arc<JobView>) {
        let Some(known) = self.jobs.get(&view.id) else { return };
        let wait = known.sleeps.as_ref().and_then(|sleeps| sleeps.watch.wait());
        if known.meter.is_some() || wait.is_some() {
            let view = Arc::make_mut(view);
            view.meter.clone_from(&known.meter);
            view.wait = wait;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::chain::{Wait, WaitKind};

    fn view(command: &str) -> Arc<JobView> {
        Arc::new(JobView { command: command.to_owned(), ..JobView::sample("a") })
    }

    fn filled(progress: &Progress, view: &Arc<JobView>) -> (Option<f64>, Option<Wait>) {
        let mut view = Arc::clone(view);
        progress.fill(&mut view);
        (view.meter.as_ref().and_then(|meter| meter.share), view.wait)
    }

    #[test]
    fn a_display_is_read_and_a_quiet_job_is_left_alone() {
        let (mut progress, start) = (Progress::default(), Instant::now());
        let job = view("make");
        progress.started(&job, Some(1), Duration::ZERO, start);
        assert_eq!(progress.next_look(), None);
        progress.output(&job.id, b"[ 45%] Building C object a.o\r\n", 0, start);
        let due = progress.next_look().unwrap();
        progress.look(due, |_| panic!("it does not sleep"));
        assert_eq!(filled(&progress, &job), (Some(0.45), None));
        progress.ended(&job.id);
        assert_eq!((progress.next_look(), filled(&progress, &job)), (None, (None, None)));
    }

    #[test]
    fn a_sleep_is_looked_for_from_the_start_of_the_job() {
        let (mut progress, start) = (Progress::default(), Instant::now());
        let job = view("sleep 30");
        // Taken over from an earlier run.
        progress.started(&job, Some(7), Duration::from_secs(5), start + Duration::from_secs(5));
        let now = start + Duration::from_secs(5);
        assert!(progress.next_look().is_some_and(|due| due <= now));
        let process =
            Sleeping { id: (7, 1), age: Duration::from_secs(5), lasts: Some(Duration::from_secs(30)) };
        progress.look(now, |shell| if shell == 7 { vec![process] } else { Vec::new() });
        let wait = Wait { begun_ms: 0, lasts_ms: 30_000, kind: WaitKind::Sleep };
        assert_eq!(filled(&progress, &job), (None, Some(wait)));
        assert_eq!(progress.next_look(), Some(start + Duration::from_millis(30_040)));
    }
}
