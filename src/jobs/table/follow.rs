//! The task that tells of everything that happens to jobs: their logs grow, they end.
//!
//! A change is told at once; then the task looks away for [`INTERVAL`], while the system gathers what changes further. So a
//! flood costs ten looks a second, and a session at rest none.

use super::JobEvent;
use super::state::{Seen, Shared};
use super::watch::Watch;
use crate::jobs::GRACE;
use crate::jobs::keeper::process_end::ProcessEnd;
use crate::jobs::keeper::record::{ExitRecord, JobRecord, now};
use crate::jobs::log::files;
use crate::jobs::tree::Tree;
use crate::proto::ids::JobId;
use crate::proto::job::JobEnding;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// News of a job that prints all the time come no more often.
const INTERVAL: Duration = Duration::from_millis(100);

/// Bytes of new output that are looked at.
const NEWEST: u64 = 16 * 1024;

/// What the task is told.
#[derive(Debug)]
pub enum Message {
    /// There is one more job, watched over by this keeper.
    Added(JobId, Keeper),
    /// A job is being stopped.
    Stopping(JobId),
    /// The keeper of a job has ended.
    KeeperGone(JobId),
    /// The end of a job has been written down.
    Settled(JobId),
}

/// The keeper of a job.
#[derive(Debug)]
pub enum Keeper {
    /// Ours to reap.
    Child(Box<Child>),
    /// That of an earlier run.
    Other(ProcessEnd),
}

impl Keeper {
    async fn wait(self) {
        match self {
            Self::Child(mut child) => {
                if let Err(error) = child.wait().await {
                    tracing::warn!(%error, "the end of a keeper could not be observed");
                }
            }
            Self::Other(end) => end.wait().await,
        }
    }
}

/// Follows jobs until the table is gone.
pub async fn run(
    shared: Arc<Shared>,
    mut inbox: mpsc::UnboundedReceiver<Message>,
    outbox: mpsc::WeakUnboundedSender<Message>,
) {
    let mut follower = Follower { shared, outbox, watch: None, looks_again_at: None };
    loop {
        let looks_again_at = follower.looks_again_at;
        tokio::select! {
            biased;
            message = inbox.recv() => match message {
                Some(message) => follower.told(message).await,
                None => return,
            },
            () = at(looks_again_at) => follower.looks_again_at = None,
            changed = follower.changed(), if looks_again_at.is_none() => {
                follower.look_at(changed).await;
                follower.looks_again_at = Some(Instant::now() + INTERVAL);
            }
        }
    }
}

struct Follower {
    shared: Arc<Shared>,
    outbox: mpsc::WeakUnboundedSender<Message>,
    /// From the first job on.
    watch: Option<Watch>,
    looks_again_at: Option<Instant>,
}

impl Follower {
    async fn told(&mut self, message: Message) {
        match message {
            Message::Added(id, keeper) => self.added(id, keeper).await,
            Message::Stopping(id) => {
                let view = self.shared.with(|state| state.job(&id).map(|job| Arc::clone(&job.view)));
                if let Some(view) = view.filter(|view| view.state.is_live()) {
                    self.shared.tell(JobEvent::Changed(view));
                }
            }
            Message::KeeperGone(id) => {
                self.look_at(BTreeSet::from([id.clone()])).await;
                self.settle(id);
            }
            Message::Settled(id) => self.look_at(BTreeSet::from([id])).await,
        }
    }

    async fn added(&mut self, id: JobId, keeper: Keeper) {
        let Some(view) = self.shared.with(|state| state.job(&id).map(|job| Arc::clone(&job.view))) else {
            return;
        };
        self.shared.tell(JobEvent::Started(Arc::clone(&view)));
        self.begin_to_watch(&id, &view.folder);
        let (gone, outbox) = (id.clone(), self.outbox.clone());
        tokio::spawn(async move {
            keeper.wait().await;
            if let Some(outbox) = outbox.upgrade() {
                // The task has ended: then nobody wants to know.
                let _ended = outbox.send(Message::KeeperGone(gone));
            }
        });
        // What was printed before.
        self.look_at(BTreeSet::from([id])).await;
    }

    fn begin_to_watch(&mut self, id: &JobId, folder: &Path) {
        if self.watch.is_none() {
            self.watch = Watch::new().inspect_err(not_watched).ok();
        }
        if let Some(Err(error)) = self.watch.as_mut().map(|watch| watch.add(id, folder)) {
            not_watched(&error);
        }
    }

    async fn changed(&self) -> BTreeSet<JobId> {
        match &self.watch {
            Some(watch) => watch.changed().await,
            None => std::future::pending().await,
        }
    }

    /// Tells what is new in the folders of these jobs.
    async fn look_at(&mut self, ids: BTreeSet<JobId>) {
        let places: Vec<(JobId, PathBuf, u64)> = self.shared.with(|state| {
            let live = ids.iter().filter_map(|id| state.job(id)).filter(|job| job.view.state.is_live());
            live.map(|job| (job.view.id.clone(), job.view.folder.clone(), job.view.printed)).collect()
        });
        let looks = tokio::task::spawn_blocking(|| {
            places.into_iter().map(|(id, folder, from)| look(id, &folder, from)).collect::<Vec<_>>()
        });
        for seen in looks.await.unwrap_or_default() {
            if self.shared.take(&seen)
                && let Some(watch) = &mut self.watch
            {
                watch.remove(&seen.id);
            }
        }
    }

    /// The keeper is gone. If it did not say how its job ended, the job is ended, and nobody will ever know.
    fn settle(&self, id: JobId) {
        let left = self.shared.with(|state| {
            let job = state.job(&id).filter(|job| job.view.state.is_live())?;
            let how = job.stopped_by.map_or(JobEnding::Unknown, JobEnding::Stopped);
            Some((job.view.folder.clone(), job.record.clone(), how))
        });
        let Some((folder, record, how)) = left else { return };
        let outbox = self.outbox.clone();
        tokio::spawn(async move {
            end_tree(&record).await;
            let problem = Some("The process that watched over it was ended.".to_owned());
            let exit = ExitRecord { how, ended_at: now(), lost_bytes: 0, problem };
            if let Err(error) = exit.write(&folder) {
                tracing::warn!(%error, "the end of a job could not be written down");
            }
            if let Some(outbox) = outbox.upgrade() {
                let _ended = outbox.send(Message::Settled(id));
            }
        });
    }
}

/// Ends what runs of a job without a keeper.
pub async fn end_tree(record: &JobRecord) {
    let shell = record.running.as_ref().map(|running| running.shell);
    let group = shell.filter(|shell| shell.is_alive()).and_then(|shell| shell.pid());
    let mut tree = Tree::since(record.since(), group.into_iter().collect(), record.marked());
    tree.signal(Signal::TERM);
    tree.end(Instant::now() + GRACE).await;
}

fn not_watched(error: &std::io::Error) {
    tracing::warn!(%error, "the log of a job can't be watched: only its end is told");
}

/// Looks into the folder of a job whose output is known up to `from`.
fn look(id: JobId, folder: &Path, from: u64) -> Seen {
    // First the end: nothing is printed after it.
    let exit = ExitRecord::read(folder).unwrap_or_else(|error| {
        tracing::warn!(%error, "the end of a job can't be read");
        Some(ExitRecord { how: JobEnding::Unknown, ended_at: now(), lost_bytes: 0, problem: None })
    });
    let end = files::extent(folder).end.max(from);
    let newest_from = from.max(end.saturating_sub(NEWEST));
    let (newest_from, newest) = read_on(folder, newest_from, end);
    Seen { id, end, newest, newest_from, exit }
}

/// The bytes up to `end`; only those behind a gap, if there is one.
fn read_on(folder: &Path, from: u64, end: u64) -> (u64, Vec<u8>) {
    let (mut begins, mut bytes) = (from, Vec::new());
    let mut buffer = vec![0; usize::try_from(end.saturating_sub(from)).unwrap_or(0)];
    let mut at = from;
    while at < end
        && let Ok((found, length)) = files::read(folder, at, &mut buffer)
        && length > 0
    {
        if found > at {
            bytes.clear();
            begins = found;
        }
        bytes.extend_from_slice(buffer.get(..length).unwrap_or_default());
        at = found + length as u64;
    }
    // More may have come meanwhile: it is told the next time.
    bytes.truncate(usize::try_from(end.saturating_sub(begins)).unwrap_or(0));
    (begins, bytes)
}

/// Resolves at that time, or never.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
