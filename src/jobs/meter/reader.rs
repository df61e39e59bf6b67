//! Reads the output of one command.
//!
//! Bytes are only kept when they come; they are parsed on a look, which is due at most ten times a second. Whoever
//! feeds sets a timer for [`Reader::next_look`] and nothing else.

use super::belief::Belief;
use super::escape::Escapes;
use super::screen::Screen;
use super::shapes;
use super::tail::{Tail, Taken};
use crate::proto::meter::Meter;
use std::time::{Duration, Instant};

/// Between two looks. Displays are not drawn more often, and nobody reads faster.
const INTERVAL: Duration = Duration::from_millis(100);
/// As many lines of what came since the last look are looked at, the last ones. To try all displays on a line costs a
/// microsecond or more, and output of short lines has thousands.
const LINES: usize = 64;

/// Reads how far one command has come.
#[derive(Debug, Default)]
pub struct Reader {
    tail: Tail,
    escapes: Escapes,
    screen: Screen,
    belief: Belief,
    /// In the middle of a line whose begin is gone.
    amid_line: bool,
    /// Lines are looked at and not only drawn.
    reads_lines: bool,
    looked: Option<Instant>,
    due: Option<Instant>,
}

impl Reader {
    /// More output of the command.
    pub fn feed(&mut self, bytes: &[u8], now: Instant) {
        if !bytes.is_empty() {
            self.tail.push(bytes);
            self.wait(now);
        }
    }

    /// The command printed bytes that the caller did not keep.
    pub fn skip(&mut self, now: Instant) {
        self.tail.skip();
        self.wait(now);
    }

    /// What the command says of itself now.
    pub fn look(&mut self, now: Instant) -> Option<Meter> {
        if !self.tail.is_empty() {
            let taken = self.tail.take();
            let used = self.read(&taken, now);
            self.tail.give_back(taken.bytes, used);
        }
        self.looked = Some(now);
        self.due = None;
        self.belief.shown(now).cloned()
    }

    /// When [`Reader::look`] can give something new; never, if nothing comes.
    pub fn next_look(&self) -> Option<Instant> {
        match (self.due, self.belief.ends()) {
            (Some(due), Some(end)) => Some(due.min(end)),
            (due, end) => due.or(end),
        }
    }

    /// Memory of the output that is kept.
    #[cfg(test)]
    pub fn kept_bytes(&self) -> usize {
        self.tail.kept_bytes() + self.screen.kept_bytes()
    }

    fn wait(&mut self, now: Instant) {
        let earliest = self.looked.and_then(|looked| looked.checked_add(INTERVAL));
        self.due.get_or_insert(earliest.map_or(now, |earliest| earliest.max(now)));
    }

    /// Parses what came; tells how many of the bytes are used up. A character that is cut off waits for its end.
    fn read(&mut self, taken: &Taken, now: Instant) -> usize {
        if taken.cut {
            self.screen.clear();
            self.escapes = Escapes::default();
            self.amid_line = true;
            self.belief.other(now);
        }
        let bytes = taken.bytes.as_slice();
        let mut begin = 0;
        if self.amid_line {
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                return bytes.len();
            };
            self.amid_line = false;
            begin = end;
        }
        let bytes = bytes.get(begin..).unwrap_or_default();
        let (passed, last) = bytes.split_at(last_lines(bytes));
        self.reads_lines = false;
        self.parse(passed, now);
        self.reads_lines = true;
        let used = begin + passed.len() + self.parse(last, now);
        self.peek(now);
        used
    }

    /// Tells how many of the bytes are used up.
    fn parse(&mut self, bytes: &[u8], now: Instant) -> usize {
        let mut used = 0;
        for chunk in bytes.utf8_chunks() {
            chunk.valid().chars().for_each(|character| self.character(character, now));
            let invalid = chunk.invalid();
            used += chunk.valid().len();
            let unfinished = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if used + invalid.len() == bytes.len() && unfinished {
                break;
            }
            if !invalid.is_empty() {
                self.character(char::REPLACEMENT_CHARACTER, now);
            }
            used += invalid.len();
        }
        used
    }

    fn character(&mut self, character: char, now: Instant) {
        let Some(action) = self.escapes.next(character) else { return };
        if self.screen.leaves_line(action) {
            if self.reads_lines {
                self.line(now);
            } else {
                self.screen.was_read();
            }
        }
        self.screen.act(action);
    }

    /// A line is finished.
    fn line(&mut self, now: Instant) {
        self.screen.was_read();
        match shapes::read(&self.screen) {
            Some(reading) => self.belief.reading(reading, now),
            None if self.screen.is_blank() => {}
            None => self.belief.other(now),
        }
    }

    /// A line is being written. Most displays stay like this; of other lines the end may be missing, so they count when
    /// they are finished.
    fn peek(&mut self, now: Instant) {
        if !self.screen.is_written() {
            return;
        }
        if let Some(reading) = shapes::read(&self.screen) {
            self.screen.was_read();
            self.belief.reading(reading, now);
        }
    }
}

/// Where the last lines begin; what is before them ends with a line's end.
fn last_lines(bytes: &[u8]) -> usize {
    let ends = bytes.iter().enumerate().rev().filter(|(_, byte)| matches!(byte, b'\n' | b'\r'));
    ends.map(|(index, _)| index + 1).nth(LINES).unwrap_or(0)
}
