//! Background jobs in the conversation: what they show, and when the agent hears of their ends.
//!
//! An end is told once: [`crate::jobs::table::wakes`] decides when, here it is done. An end counts as told when the message
//! that tells it, or the answer to the call that asked for it, is in the conversation; it is written down when that is on
//! disk, so that neither a crash before nor one after it loses or doubles it.

use super::record::now_millis;
use super::turn::Opening;
use super::{Note, Session};
use crate::jobs::sleep::processes::sleeping;
use crate::jobs::table::wakes::{WakeEffect, WakeEvent};
use crate::jobs::table::{JobEvent, JobNews, StartError, report};
use crate::proto::event::NoticeLevel;
use crate::proto::ids::{JobId, TicketId};
use crate::proto::job::{self, JOB_MESSAGE, JobReport, JobView, StoppedBy};
use crate::proto::message::{Block, CustomMessage, Message};
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Session {
    /// Takes over the jobs that an earlier run has left. Their ends go along with what the user says next.
    pub(super) async fn restore_jobs(&mut self) {
        let table = Arc::clone(&self.parts.workshop.table);
        let restored = match table.restore().await {
            Ok(restored) => restored,
            Err(error) => {
                let why = match error {
                    StartError::Busy => "another Mynah that runs has them".to_owned(),
                    error => error.to_string(),
                };
                let told = format!("The background jobs of this session can't be taken over: {why}.");
                self.notice(NoticeLevel::Warning, told);
                return;
            }
        };
        for problem in restored.problems {
            self.notice(NoticeLevel::Warning, problem);
        }
        // As a rule there are none, and the history need not be read for them.
        let known: Vec<JobReport> = match restored.untold.is_empty() {
            true => Vec::new(),
            false => self.parts.history.iter().flat_map(|message| told_by(message)).collect(),
        };
        for id in &restored.untold {
            if let Ok(report) = table.report(id).await {
                // The conversation was saved, and that it tells of this was not.
                if known.iter().any(|known| known.id == report.id && known.end == report.end) {
                    self.job_wake(WakeEvent::Consumed(id.clone()));
                }
                self.reports.insert(id.clone(), report);
            }
        }
        for job in restored.jobs.iter().filter(|job| !job.state.is_live()) {
            if !restored.untold.contains(&job.id) {
                self.job_wake(WakeEvent::Consumed(job.id.clone()));
                self.job_wake(WakeEvent::Restored(vec![job.id.clone()]));
            }
        }
        self.job_wake(WakeEvent::Restored(restored.untold));
        self.parts.workshop.table.set_told(&self.wakes.take_told());
    }

    pub(super) fn job_news(&mut self, news: JobNews) {
        let now = Instant::now();
        match news {
            JobNews::Output { id, bytes, skipped } => self.progress.output(&id, &bytes, skipped, now),
            JobNews::Event(JobEvent::Started(view)) => {
                let runs = Duration::from_millis(u64::try_from(now_millis() - view.started).unwrap_or(0));
                self.progress.started(&view, self.parts.workshop.table.shell(&view.id), runs, now);
            }
            // Its view says it.
            JobNews::Event(JobEvent::Changed(_)) => {}
            JobNews::Event(JobEvent::Ended(view)) => {
                self.progress.ended(&view.id);
                self.report_job(&view);
            }
        }
    }

    /// Looks how far jobs are.
    pub(super) fn look_at_jobs(&mut self) {
        self.progress.look(Instant::now(), sleeping);
    }

    /// Finds out what to tell of a job that has ended.
    fn report_job(&self, view: &JobView) {
        if self.reports.contains_key(&view.id) {
            return;
        }
        let (table, notes, id) =
            (Arc::clone(&self.parts.workshop.table), self.notes.clone(), view.id.clone());
        tokio::spawn(async move {
            if let Ok(report) = table.report(&id).await {
                // The session has ended: the next run tells it.
                let _ended = notes.send(Note::JobEnded(report));
            }
        });
    }

    /// A job has ended, and it is known what to tell of it.
    pub(super) fn job_ended(&mut self, report: JobReport) {
        let id = report.id.clone();
        self.reports.insert(id.clone(), report);
        self.job_wake(WakeEvent::Ended(id));
        self.start_next();
    }

    /// Stops a job for the user. Its end is told to the agent as any other.
    pub(super) fn stop_job(&self, id: &JobId) {
        if let Err(error) = self.parts.workshop.table.stop(id, StoppedBy::User) {
            self.notice(NoticeLevel::Error, error.to_string());
        }
    }

    /// Says what happens. The ends that are to be told now, if there are any.
    pub(super) fn job_wake(&mut self, event: WakeEvent) -> Vec<JobId> {
        match self.wakes.on(event) {
            WakeEffect::None => Vec::new(),
            WakeEffect::Wake => {
                self.owes_wake = true;
                Vec::new()
            }
            WakeEffect::Deliver(ids) => ids,
        }
    }

    /// A turn for the ends of jobs, if one is owed.
    pub(super) fn wake(&mut self) {
        if !std::mem::take(&mut self.owes_wake) {
            return;
        }
        let ends = self.job_wake(WakeEvent::Take);
        if !ends.is_empty() {
            // No prompt has this ticket, so nobody waits for it.
            self.wake_turns += 1;
            let ticket = TicketId(u64::MAX - self.wake_turns);
            self.begin(ticket, Opening::Jobs(ends));
        }
    }

    /// Puts the ends of jobs into the conversation. False: there was nothing to say.
    pub(super) fn record_jobs(&mut self, ends: Vec<JobId>) -> bool {
        // What can't be said of an end now is said another time.
        let (ends, unknown): (Vec<_>, Vec<_>) =
            ends.into_iter().partition(|id| self.reports.contains_key(id));
        if !unknown.is_empty() {
            self.job_wake(WakeEvent::Failed(unknown));
        }
        let reports: Vec<JobReport> = ends.iter().filter_map(|id| self.reports.get(id)).cloned().collect();
        if reports.is_empty() {
            return false;
        }
        let id = self.parts.log.fresh_id();
        let message = CustomMessage {
            custom_type: JOB_MESSAGE.to_owned(),
            content: vec![Block::text(report::completion(&reports))],
            display: true,
            details: Some(job::details_of(&reports)),
            timestamp: now_millis(),
        };
        let message = Arc::new(Message::Custom(message));
        self.record(id.clone(), message.clone());
        self.announce(&id, &message);
        self.job_wake(WakeEvent::Delivered(ends));
        true
    }

    /// A message is in the conversation: the agent hears of the ends that it tells.
    pub(super) fn hear_of_jobs(&mut self, message: &Message) {
        if matches!(message, Message::ToolResult(_)) {
            for report in told_by(message) {
                self.job_wake(WakeEvent::Consumed(report.id));
            }
        }
    }

    /// The jobs as they are shown.
    pub(super) fn job_views(&self) -> Vec<Arc<JobView>> {
        let mut jobs = self.parts.workshop.table.list();
        let undelivered = self.wakes.undelivered();
        for job in &mut jobs {
            self.progress.fill(job);
            let is_undelivered = undelivered.contains(&job.id);
            if self.wakes.is_heard(&job.id) || is_undelivered {
                let view = Arc::make_mut(job);
                view.is_told = !is_undelivered;
                view.is_undelivered = is_undelivered;
            }
        }
        jobs
    }
}

/// The ends that a message tells.
fn told_by(message: &Message) -> Vec<JobReport> {
    match message {
        Message::Custom(custom) if custom.custom_type == JOB_MESSAGE => {
            job::reports_of(custom.details.as_ref())
        }
        Message::ToolResult(result) => job::reports_of(result.details.as_ref()),
        _ => Vec::new(),
    }
}
