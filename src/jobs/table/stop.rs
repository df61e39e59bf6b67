//! Stopping one job.

use super::follow::{Message, end_tree};
use super::state::Shared;
use super::{JobTable, NoSuchJob};
use crate::jobs::GRACE;
use crate::jobs::keeper::control::{self, Ask};
use crate::jobs::keeper::process_end::ProcessEnd;
use crate::jobs::keeper::record::JobRecord;
use crate::proto::ids::JobId;
use crate::proto::job::StoppedBy;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;

/// A keeper has ended its job within this time, or is no good any more.
const PATIENCE: Duration = GRACE.saturating_add(Duration::from_secs(2));

impl JobTable {
    /// Stops a job and all that it started: TERM, and KILL after two seconds. Returns at once; the end comes as an event.
    /// Does no harm to one that has ended, but ends what it has left behind.
    pub fn stop(&self, id: &JobId, by: StoppedBy) -> Result<(), NoSuchJob> {
        self.existing(id)?;
        stop(&self.shared, &self.messages, id, by);
        Ok(())
    }
}

/// Stops a job. Must be called on a runtime.
pub fn stop(shared: &Arc<Shared>, messages: &UnboundedSender<Message>, id: &JobId, by: StoppedBy) {
    let job = shared.with(|state| {
        let job = state.job_mut(id)?;
        let is_new = job.stopping(by);
        Some((job.view.folder.clone(), job.record.clone(), job.ended.subscribe(), is_new))
    });
    let Some((folder, record, mut ended, is_new)) = job else { return };
    if is_new {
        // The task ends only with the table.
        let _told = messages.send(Message::Stopping(id.clone()));
    }
    let asked = control::send(&folder, &Ask::Stop(by));
    if *ended.borrow() {
        if asked.is_err() {
            tokio::spawn(async move { end_tree(&record).await });
        }
        return;
    }
    if !is_new {
        return;
    }
    tokio::spawn(async move {
        let patience = if asked.is_ok() { PATIENCE } else { Duration::ZERO };
        if timeout(patience, ended.wait_for(|ended| *ended)).await.is_err() {
            kill_keeper(&record);
        }
    });
}

/// A keeper that does not listen is ended; then its job is ended as one without a keeper.
pub fn kill_keeper(record: &JobRecord) {
    let Some(running) = &record.running else { return };
    match ProcessEnd::of(running.keeper) {
        Ok(keeper) => keeper.kill(),
        Err(error) => tracing::warn!(%error, "the keeper of a job could not be ended"),
    }
}
