//! The end of a session: in order, or by a bug of ours.

use super::{Inbox, Session};
use crate::proto::command::{CancelReason, TicketOutcome};
use crate::proto::event::NoticeLevel;
use crate::proto::ids::{JobId, TicketId};
use std::sync::Arc;
use std::time::Duration;

/// How long the end waits for the outcome of the user's command, whose processes are gone by then.
const SHELL_PATIENCE: Duration = Duration::from_millis(200);

/// What the user reads when the session's task had a bug.
const BROKEN: &str = "The session ended because of a bug in Mynah. What was said so far is kept. Start Mynah again and \
                      continue the session.";

impl Session {
    pub(super) async fn end(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        self.cancel(CancelReason::Teardown);
        self.stop_shell();
        // Running calls hand over what they have, so that it is kept; the turn machine's timer bounds the wait.
        while self.running.is_some()
            && let Some(news) = inbox.news.recv().await
        {
            self.news(news);
        }
        let table = Arc::clone(&self.parts.workshop.table);
        let kept: Vec<JobId> = match self.keeps_jobs {
            true => table.list().iter().map(|job| job.id.clone()).collect(),
            false => Vec::new(),
        };
        tokio::join!(self.parts.workshop.jobs.shutdown(), table.end(&kept));
        while self.shell.is_some()
            && let Ok(Some(note)) = tokio::time::timeout(SHELL_PATIENCE, inbox.notes.recv()).await
        {
            self.note(note);
        }
        // Barriers under way hold the log's file, and with it its lock; and a failure that one of them took is told by
        // nobody else.
        self.saving.close();
        self.saving.wait().await;
        while let Ok(note) = inbox.notes.try_recv() {
            self.note(note);
        }
        let saved = self.save_at_the_end().await;
        self.resolve_all(&TicketOutcome::Cancelled);
        self.publish();
        self.outbox.close();
        saved
    }

    fn resolve_all(&mut self, outcome: &TicketOutcome) {
        let tickets: Vec<TicketId> = self.waiters.keys().copied().collect();
        for ticket in tickets {
            self.resolve(ticket, outcome.clone());
        }
    }
}

// Front ends would wait for ever for a session whose task is gone, and its processes would go on unseen.
impl Drop for Session {
    fn drop(&mut self) {
        if self.outbox.is_closed() {
            return;
        }
        let outcome = if std::thread::panicking() {
            self.notice(NoticeLevel::Error, BROKEN.to_owned());
            TicketOutcome::Failed { error: BROKEN.to_owned() }
        } else {
            TicketOutcome::Cancelled
        };
        self.resolve_all(&outcome);
        self.outbox.close();
        // Without a runtime the program ends, and the guard of the processes ends them.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let jobs = self.parts.workshop.jobs.clone();
            runtime.spawn(async move { jobs.shutdown().await });
        }
    }
}
