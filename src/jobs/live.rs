//! What a front end sees of a running command: new text only, at most 30 times a second, bounded. Pure.

use crate::proto::chain::{Chain, Wait};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// What is new of a running command.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveNews {
    /// More text. A carriage return in it means that the current line begins anew.
    Output(String),
    /// What it waits for, if that ends at a known time.
    Wait(Option<Wait>),
    /// Its steps. Text that comes belongs to the one that runs.
    Steps(Arc<Chain>),
}

/// Time between two deltas.
const INTERVAL: Duration = Duration::from_millis(34);

/// Bytes of one delta: a flood is shown by its end.
const MOST: usize = 16 * 1024;

/// Stands where a flood was too fast to be shown.
const SKIPPED: &str = "\n[output skipped]\n";

/// Collects new text until it is due.
#[derive(Debug, Default)]
pub struct Live {
    pending: String,
    skipped: bool,
    due: Option<Instant>,
    /// A part of the current line is with the listener.
    line_sent: bool,
}

impl Live {
    /// Takes new text.
    pub fn push(&mut self, text: &str, now: Instant) {
        self.due.get_or_insert(now + INTERVAL);
        self.pending.push_str(text);
        if self.pending.len() > 2 * MOST {
            let cut = self.pending.ceil_char_boundary(self.pending.len() - MOST);
            self.pending.drain(..cut);
            self.skipped = true;
        }
    }

    /// The current line begins anew.
    pub fn erase_line(&mut self, now: Instant) {
        if let Some(at) = self.pending.rfind('\n') {
            self.pending.truncate(at + 1);
        } else {
            self.pending.clear();
            if self.line_sent && !self.skipped {
                self.due.get_or_insert(now + INTERVAL);
                self.pending.push('\r');
            }
        }
    }

    /// When [`Self::take`] should be called; never, while nothing is new.
    pub const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// What is new. A carriage return in it means that the current line begins anew.
    pub fn take(&mut self) -> String {
        self.due = None;
        let mut delta = std::mem::take(&mut self.pending);
        if std::mem::take(&mut self.skipped) {
            delta.insert_str(0, SKIPPED);
        }
        if let Some(last) = delta.chars().next_back() {
            self.line_sent = last != '\n';
        }
        delta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_due_one_interval_after_it_came() {
        let start = Instant::now();
        let mut live = Live::default();
        assert_eq!(live.due(), None);
        live.push("a", start);
        live.push("b", start + Duration::from_millis(20));
        assert_eq!(live.due(), Some(start + INTERVAL));
        assert_eq!(live.take(), "ab");
        assert_eq!(live.due(), None);
    }

    #[test]
    fn a_line_the_listener_has_is_taken_back_by_a_carriage_return() {
        let now = Instant::now();
        let mut live = Live::default();
        live.push("10%", now);
        live.erase_line(now);
        live.push("20%", now);
        assert_eq!(live.take(), "20%", "never sent, so nothing to take back");
        live.erase_line(now);
        live.push("30%", now);
        live.erase_line(now);
        live.push("40%\n", now);
        assert_eq!(live.take(), "\r40%\n");
        live.erase_line(now);
        live.push("next", now);
        assert_eq!(live.take(), "next");
    }

    #[test]
    fn a_flood_is_cut_and_says_so() {
        let now = Instant::now();
        let mut live = Live::default();
        for _ in 0..100 {
            live.push(&"y\n".repeat(1000), now);
        }
        let delta = live.take();
        assert!(delta.starts_with(SKIPPED));
        assert!(delta.len() <= 2 * MOST + SKIPPED.len());
    }
}
