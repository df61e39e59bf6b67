//! The log of a job as far as the screen has read it: its end, line by line.

use super::ShownJob;
use crate::proto::ids::JobId;

/// Bytes of text that are kept: what is before them is in the file.
const MOST: usize = 1024 * 1024;

/// A part that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPart {
    /// Where reading began; what was read before ends there.
    pub from: u64,
    /// Lines, each with its end.
    pub text: String,
    /// The last of them has no end yet, and will come again.
    pub is_open: bool,
    /// Where to read on.
    pub next: u64,
    /// There is more already.
    pub has_more: bool,
}

/// The log of a job that is shown.
#[derive(Clone, Debug)]
pub struct JobLog {
    /// The job, as it was known last.
    pub job: ShownJob,
    /// Lines that have an end, and the one that has none.
    text: String,
    open: String,
    /// Bytes before the text that are not shown.
    dropped: u64,
    /// Where to read on; nothing was read yet without it.
    next: Option<u64>,
    is_reading: bool,
    /// So much had been printed when it was read last.
    read_to: u64,
    /// Rises with each change.
    revision: u64,
}

impl JobLog {
    /// Nothing is read yet.
    pub const fn new(job: ShownJob) -> Self {
        Self {
            job,
            text: String::new(),
            open: String::new(),
            dropped: 0,
            next: None,
            is_reading: false,
            read_to: 0,
            revision: 0,
        }
    }

    /// Whose log it is.
    pub fn id(&self) -> &JobId {
        &self.job.view.id
    }

    /// Rises with each change.
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// The text, and how many bytes before it are not shown.
    pub fn shown(&self) -> (String, u64) {
        (format!("{}{}", self.text, self.open), self.dropped)
    }

    /// The job is another one than before, or the same.
    pub fn set_job(&mut self, job: ShownJob) {
        self.job = job;
        self.revision += 1;
    }

    /// Where to read on, if there is more and nobody reads. `None` inside: from near the end.
    pub fn wants(&mut self) -> Option<Option<u64>> {
        let is_new = self.next.is_none() || self.job.view.printed > self.read_to;
        if self.is_reading || !is_new {
            return None;
        }
        self.is_reading = true;
        self.read_to = self.job.view.printed;
        Some(self.next)
    }

    /// It could not be read.
    pub const fn failed(&mut self) {
        self.is_reading = false;
    }

    /// Takes what was read.
    pub fn take(&mut self, part: &LogPart) {
        self.is_reading = false;
        if self.next.is_none() {
            self.dropped = part.from;
        }
        self.next = Some(part.next);
        if part.has_more {
            self.read_to = part.next;
        }
        let (whole, open) = match part.text.trim_end_matches('\n').rfind('\n') {
            _ if !part.is_open => (part.text.as_str(), ""),
            Some(at) => part.text.split_at_checked(at + 1).unwrap_or((&part.text, "")),
            None => ("", part.text.as_str()),
        };
        self.text.push_str(whole);
        open.trim_end_matches('\n').clone_into(&mut self.open);
        if self.text.len() > MOST {
            let cut = self.text.floor_char_boundary(self.text.len() - MOST / 2);
            let cut = self.text.get(cut..).and_then(|rest| rest.find('\n')).map_or(cut, |at| cut + at + 1);
            self.text.drain(..cut);
            self.dropped += cut as u64;
        }
        self.revision += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::jobs::tests::job;

    fn part(from: u64, text: &str, is_open: bool, next: u64) -> LogPart {
        LogPart { from, text: text.to_owned(), is_open, next, has_more: false }
    }

    #[test]
    fn an_open_line_is_replaced_by_what_it_becomes() {
        let mut log = JobLog::new(job("a"));
        assert_eq!(log.wants(), Some(None));
        assert_eq!(log.wants(), None, "somebody reads");
        log.take(&part(0, "one\n10%\n", true, 4));
        assert_eq!(log.shown(), ("one\n10%".to_owned(), 0));
        log.take(&part(4, "100%\ntwo\n", false, 13));
        assert_eq!(log.shown(), ("one\n100%\ntwo\n".to_owned(), 0));
        assert_eq!(log.wants(), None, "nothing more was printed");
        let mut view = crate::proto::job::JobView::clone(&log.job.view);
        view.printed = 20;
        log.set_job(ShownJob { view: view.into(), ..log.job.clone() });
        assert_eq!(log.wants(), Some(Some(13)));
    }

    #[test]
    fn a_long_log_keeps_its_end() {
        let mut log = JobLog::new(job("a"));
        for number in 0..40_u64 {
            log.take(&part(number, &format!("{}\n", "x".repeat(60_000)), false, number + 1));
        }
        let (text, dropped) = log.shown();
        assert!(text.len() <= MOST + 60_001 && text.starts_with('x') && dropped > 0);
        assert_eq!(text.len() as u64 + dropped, 40 * 60_001);
    }
}
