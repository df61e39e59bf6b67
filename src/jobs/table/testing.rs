//! A table for tests of other parts.

use super::{Hooks, JobNews, JobTable, Setup};
use crate::jobs::keeper;
use crate::proto::ids::SessionId;
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

/// A table below this folder whose keepers are this test binary, and what it tells.
pub fn jobs_in(folder: &Path) -> (Arc<JobTable>, UnboundedReceiver<JobNews>) {
    let (hooks, news) = Hooks::channel();
    let setup = Setup {
        root: folder.join(".jobs"),
        session: SessionId::new("session"),
        keeper: keeper::tests::program(),
        limit: 4,
        log_cap: 1 << 20,
    };
    (JobTable::new(setup, hooks), news)
}
