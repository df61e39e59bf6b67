//! The end of a session.

use super::Session;
use crate::agent::driver::News;
use crate::proto::command::{CancelReason, TicketOutcome};
use crate::proto::ids::TicketId;
use tokio::sync::mpsc;

impl Session {
    pub(super) async fn end(
        &mut self,
        news: &mut mpsc::UnboundedReceiver<News>,
        saves: &mut mpsc::UnboundedReceiver<Result<(), String>>,
    ) -> Result<(), String> {
        self.cancel(CancelReason::Teardown);
        // Running calls hand over what they have, so that it is kept; the turn machine's timer bounds the wait.
        while self.running.is_some()
            && let Some(news) = news.recv().await
        {
            self.news(news);
        }
        self.parts.workshop.jobs.shutdown().await;
        // Barriers under way hold the log's file, and with it its lock; and a failure that one of them took is told by
        // nobody else.
        self.saving.close();
        self.saving.wait().await;
        while let Ok(saved) = saves.try_recv() {
            self.saved(saved);
        }
        let saved = self.save_at_the_end().await;
        let tickets: Vec<TicketId> = self.waiters.keys().copied().collect();
        for ticket in tickets {
            self.resolve(ticket, TicketOutcome::Cancelled);
        }
        self.publish();
        self.outbox.close();
        saved
    }
}
