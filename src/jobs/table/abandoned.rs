//! Jobs of sessions that nobody opens any more.

use super::folders::{self, Found, Owner};
use super::stop::kill_keeper;
use crate::jobs::GRACE;
use crate::jobs::keeper::record::JobRecord;
use crate::jobs::mark::Marked;
use crate::jobs::tree::Tree;
use crate::proto::ids::SessionId;
use crate::proto::message::Millis;
use rustix::process::Signal;
use std::path::Path;
use tokio::time::Instant;

/// Jobs that nobody has for so long are stopped, and their folders removed.
pub(super) const ABANDONED_AFTER: Millis = 24 * 60 * 60 * 1000;

/// What was cleaned up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Sessions whose jobs were removed.
    pub sessions: usize,
    /// Jobs that ran.
    pub stopped: usize,
}

/// Cleans up after sessions that were left a day ago, or longer. A session that is open in a program that runs is never
/// touched, nor is `ours`. A session whose program died is noted as left when it is first seen: nobody knows when that was.
pub async fn clean_abandoned(root: &Path, ours: &SessionId, now: Millis) -> Cleaned {
    let mut cleaned = Cleaned::default();
    let ours = folders::of_session(root, ours);
    for session in folders::inner(root).into_iter().filter(|session| *session != ours) {
        let owner = match Owner::take(&session) {
            Ok(Some(owner)) => owner,
            Ok(None) => continue,
            Err(error) => {
                tracing::warn!(%error, "a folder of jobs can't be used");
                continue;
            }
        };
        if let Some(stopped) = clean(&session, owner, now).await {
            cleaned.sessions += 1;
            cleaned.stopped += stopped;
        }
    }
    cleaned
}

/// How many jobs of this session were stopped; `None` if it was left alone. Nobody can take it over meanwhile.
async fn clean(session: &Path, mut owner: Owner, now: Millis) -> Option<usize> {
    match owner.left_at() {
        Some(left_at) if now.saturating_sub(left_at) >= ABANDONED_AFTER => {}
        Some(_) => return None,
        None => {
            if let Err(error) = owner.leave(now) {
                tracing::warn!(%error, "it could not be noted that jobs were left");
            }
            return None;
        }
    }
    let mut records = Vec::new();
    for folder in folders::inner(session) {
        match folders::look(&folder) {
            Found::Job { record, .. } | Found::Unborn(record) => records.push(*record),
            Found::Broken(_) => {}
            // A program that knows it has to clean it up.
            Found::Later(_) => return None,
        }
    }
    let stopped = stop_all(&records).await;
    folders::remove(session);
    Some(stopped)
}

async fn stop_all(records: &[JobRecord]) -> usize {
    let running = || records.iter().filter_map(|record| record.running.as_ref());
    let stopped = running().filter(|running| running.keeper.is_alive() && running.shell.is_alive()).count();
    // Keepers first: what they would write down has no place any more.
    records.iter().for_each(kill_keeper);
    let shells = running().map(|running| running.shell).filter(|shell| shell.is_alive());
    let groups = shells.filter_map(|shell| shell.pid()).collect();
    let since = records.iter().map(JobRecord::since).min().unwrap_or(0);
    let marked = Marked::any_of(records.iter().map(JobRecord::marked));
    let mut tree = Tree::since(since, groups, marked);
    if tree.is_alive() {
        tree.signal(Signal::TERM);
        tree.end(Instant::now() + GRACE).await;
    }
    stopped
}
