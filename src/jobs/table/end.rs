//! The end of a session.

use super::JobTable;
use super::stop::kill_keeper;
use crate::jobs::GRACE;
use crate::jobs::keeper::control::{self, Ask};
use crate::jobs::keeper::record::{JobRecord, now};
use crate::jobs::mark::Marked;
use crate::jobs::tree::Tree;
use crate::proto::ids::JobId;
use crate::proto::job::StoppedBy;
use rustix::process::Signal;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

/// Time for keepers to write down how their jobs have ended, after all of these have.
const PATIENCE: Duration = Duration::from_millis(800);

/// One that is stopped.
struct Ending {
    folder: PathBuf,
    record: JobRecord,
    ended: watch::Receiver<bool>,
    is_live: bool,
}

impl JobTable {
    /// Ends all jobs but those that are kept, and what jobs that have ended have left behind; takes about three seconds at
    /// most. No job starts afterwards. Those that are kept are the next run's.
    pub async fn end(&self, keep: &[JobId]) {
        let endings: Vec<Ending> = self.shared.with(|state| {
            state.is_closing = true;
            let others = state.jobs().filter(|job| !keep.contains(&job.view.id));
            others
                .map(|job| Ending {
                    folder: job.view.folder.clone(),
                    record: job.record.clone(),
                    ended: job.ended.subscribe(),
                    is_live: job.view.state.is_live(),
                })
                .collect()
        });
        if !endings.is_empty() {
            end_all(endings).await;
        }
        self.shared.with(|state| {
            if let Some(Err(error)) = state.owner.as_mut().map(|owner| owner.leave(now())) {
                tracing::warn!(%error, "it could not be noted that jobs were left");
            }
            // The lock goes with it.
            state.owner = None;
        });
    }
}

/// All at once: if each keeper searched for what belongs to its job, many of them would search for long.
async fn end_all(mut endings: Vec<Ending>) {
    for ending in &endings {
        let by = StoppedBy::End;
        // The keeper of a job that has ended is there only if something still writes: that is for it to end.
        let ask = if ending.is_live { Ask::IsBeingStopped(by) } else { Ask::Stop(by) };
        // One that does not listen is ended all the same.
        let _told = control::send(&ending.folder, &ask);
    }
    let shells =
        endings.iter().filter_map(|ending| ending.record.running.as_ref()).map(|running| running.shell);
    let groups = shells.filter(|shell| shell.is_alive()).filter_map(|shell| shell.pid()).collect();
    let since = endings.iter().map(|ending| ending.record.since()).min().unwrap_or(0);
    let marked = Marked::any_of(endings.iter().map(|ending| ending.record.marked()));
    let mut tree = Tree::since(since, groups, marked);
    tree.signal(Signal::TERM);
    // A little more than the others have.
    let all = timeout(GRACE + PATIENCE, tree.end(Instant::now() + GRACE)).await;
    if all.is_err() {
        tracing::warn!("background jobs did not end when killed");
    }
    let deadline = Instant::now() + PATIENCE;
    for ending in endings.iter_mut().filter(|ending| ending.is_live) {
        if timeout_at(deadline, ending.ended.wait_for(|ended| *ended)).await.is_err() {
            kill_keeper(&ending.record);
        }
    }
}
