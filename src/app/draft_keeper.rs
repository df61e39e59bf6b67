//! Keeps what is being written, on a thread of its own: the loop never waits for the disk. With nothing to do it sleeps.

use super::exec::Report;
use super::msg::Done;
use crate::proto::event::NoticeLevel;
use crate::proto::ids::SessionId;
use crate::proto::prompt::Draft;
use crate::store::drafts::{self, Found, Owner};
use crate::store::error::reason;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::SystemTime;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// The thread.
#[derive(Debug)]
pub struct DraftKeeper {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// Asks for drafts, from a task.
#[derive(Clone, Debug)]
pub struct DraftReader(Option<Sender<Job>>);

#[derive(Debug)]
enum Job {
    Keep(Owner, Draft),
    Remove(SessionId),
    Load(Owner, oneshot::Sender<Option<Found>>),
    /// Tasks may still hold a way to ask, so that no channel closes by itself.
    End,
}

impl DraftKeeper {
    /// Starts it. What it can't keep is told once.
    pub fn start(state: PathBuf, reports: UnboundedSender<Report>) -> Self {
        let (jobs, todo) = channel();
        let work = move || work(&state, &todo, &reports);
        let thread = std::thread::Builder::new().name("drafts".to_owned()).spawn(work);
        let thread = thread.map_err(|error| tracing::warn!("no draft will be kept: {error}")).ok();
        Self { jobs: thread.is_some().then_some(jobs), thread }
    }

    /// Keeps a draft, or removes the one there is.
    pub fn keep(&self, owner: Owner, draft: Option<Draft>) {
        let job = match draft {
            Some(draft) => Job::Keep(owner, draft),
            None => Job::Remove(owner.session),
        };
        self.give(job);
    }

    /// Removes the draft of a session.
    pub fn remove(&self, session: SessionId) {
        self.give(Job::Remove(session));
    }

    /// To look for drafts from a task.
    pub fn reader(&self) -> DraftReader {
        DraftReader(self.jobs.clone())
    }

    /// Ends it when everything is kept.
    pub fn end(&mut self) {
        self.give(Job::End);
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that keeps drafts has panicked");
        }
    }

    fn give(&self, job: Job) {
        if let Some(jobs) = &self.jobs
            && jobs.send(job).is_err()
        {
            tracing::error!("the thread that keeps drafts has ended");
        }
    }
}

impl DraftReader {
    /// The draft with which a session begins. Whatever was to be kept before is on disk by then.
    pub async fn load(&self, owner: Owner) -> Option<Found> {
        let (answer, answered) = oneshot::channel();
        self.0.as_ref()?.send(Job::Load(owner, answer)).ok()?;
        answered.await.ok().flatten()
    }
}

fn work(state: &std::path::Path, todo: &Receiver<Job>, reports: &UnboundedSender<Report>) {
    let mut is_told = false;
    let mut is_cleaned = false;
    let mut next = None;
    while let Some(job) = next.take().or_else(|| todo.recv().ok()) {
        let outcome = match job {
            Job::Load(owner, answer) => {
                // Nobody waits for it once the program ends.
                let _ended = answer.send(drafts::load(state, &owner));
                if !is_cleaned {
                    is_cleaned = true;
                    drafts::clean(state, SystemTime::now());
                }
                Ok(())
            }
            Job::End => return,
            Job::Remove(session) => drafts::remove(state, &session),
            Job::Keep(owner, draft) => {
                next = todo.try_recv().ok();
                match &next {
                    // A newer one of the same session is on its way already.
                    Some(Job::Keep(newer, _)) if newer.session == owner.session => Ok(()),
                    _ => drafts::save(state, &owner, &draft),
                }
            }
        };
        if let Err(error) = outcome {
            tell(&error, &mut is_told, reports);
        }
    }
}

fn tell(error: &io::Error, is_told: &mut bool, reports: &UnboundedSender<Report>) {
    tracing::warn!("a draft can't be kept: {error}");
    if !std::mem::replace(is_told, true) {
        let text = format!("What you write here can't be kept for after a crash: {}.", reason(error));
        // Nobody listens once the program ends.
        let _ended = reports.send(Report::Done(Done::Toast(NoticeLevel::Warning, text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::prompt::DraftPart;
    use tokio::sync::mpsc::unbounded_channel;

    fn owner(state: &std::path::Path) -> Owner {
        Owner { session: SessionId::new("one"), log: state.join("one.jsonl"), folder: "/p".into() }
    }

    fn draft(text: &str) -> Draft {
        Draft { before: vec![DraftPart::Text(text.to_owned())], after: Vec::new() }
    }

    #[tokio::test]
    async fn the_newest_is_kept_and_read_in_order() {
        let state = tempfile::tempdir().expect("state");
        let (reports, _reported) = unbounded_channel();
        let mut keeper = DraftKeeper::start(state.path().to_owned(), reports);
        let owner = owner(state.path());
        for number in 0..100 {
            keeper.keep(owner.clone(), Some(draft(&number.to_string())));
        }
        let found = keeper.reader().load(owner.clone()).await;
        assert_eq!(found, Some(Found { draft: draft("99"), from: None }));
        keeper.keep(owner.clone(), None);
        assert_eq!(keeper.reader().load(owner.clone()).await, None);
        keeper.keep(owner.clone(), Some(draft("at the end")));
        keeper.end();
        assert!(drafts::load(state.path(), &owner).is_some(), "the end waits for what is to be kept");
    }

    #[test]
    fn a_disk_that_takes_nothing_is_told_once() {
        let state = tempfile::tempdir().expect("state");
        // A file where the folder should be.
        std::fs::write(drafts::folder(state.path()), "").expect("written");
        let (reports, mut reported) = unbounded_channel();
        let mut keeper = DraftKeeper::start(state.path().to_owned(), reports);
        for number in 0..3 {
            keeper.keep(owner(state.path()), Some(draft(&number.to_string())));
            keeper.remove(SessionId::new("other"));
        }
        keeper.end();
        assert!(matches!(reported.try_recv(), Ok(Report::Done(Done::Toast(NoticeLevel::Warning, _)))));
        assert!(reported.try_recv().is_err());
    }
}
