//! Background jobs in the conversation: when the agent hears of their ends.

use super::Session;
use super::record::now_millis;
use super::turn::Opening;
use crate::jobs::table::{JobNews, report};
use crate::proto::event::NoticeLevel;
use crate::proto::ids::{JobId, TicketId};
use crate::proto::job::{self, JOB_MESSAGE};
use crate::proto::message::{Block, CustomMessage, Message};
use std::sync::Arc;

impl Session {
    pub(super) fn job_news(&mut self, news: JobNews) {
        if let JobNews::Ended(id) = news {
            self.parts.workshop.table.has_ended(id);
            self.start_next();
        }
    }

    /// Stops a job for the user. Its end is told to the agent as any other.
    pub(super) fn stop_job(&self, id: &JobId) {
        if let Err(error) = self.parts.workshop.table.stop(id) {
            self.notice(NoticeLevel::Error, error.to_string());
        }
    }

    /// A turn for the ends of jobs, if there are any that may be told now.
    pub(super) fn wake(&mut self) {
        if self.parts.workshop.table.is_due() {
            // No prompt has this ticket, so nobody waits for it.
            self.wakes += 1;
            let ticket = TicketId(u64::MAX - self.wakes);
            self.begin(ticket, Opening::Jobs);
        }
    }

    /// Puts the ends of jobs into the conversation. False: there are none to tell.
    pub(super) fn record_jobs(&mut self) -> bool {
        let table = Arc::clone(&self.parts.workshop.table);
        let ended = table.take_due();
        let reports: Vec<_> = ended.iter().filter_map(|id| table.report(id)).collect();
        if reports.is_empty() {
            return false;
        }
        let id = self.parts.log.fresh_id();
        let message = CustomMessage {
            custom_type: JOB_MESSAGE.to_owned(),
            content: vec![Block::text(report::text(&reports))],
            display: true,
            details: Some(job::details_of(&reports)),
            timestamp: now_millis(),
        };
        let message = Arc::new(Message::Custom(message));
        self.record(id.clone(), message.clone());
        self.announce(&id, &message);
        table.told(&ended);
        true
    }
}
