//! A session file as lines, whatever is in it: no line is too long, and none is read twice.

use std::io::{self, BufRead, Read};

/// A longer line is not taken into memory: one such result must not keep a session from opening.
pub const MAX_LINE_BYTES: u64 = 64 * 1024 * 1024;

/// One line. Lines of blanks only are passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawLine<'a> {
    /// Counts from 1, as editors do.
    pub number: u64,
    /// Where it begins in the file.
    pub offset: u64,
    /// How long it is in the file, newline included.
    pub length: u64,
    /// Its bytes without the newline; only the beginning when `cut`.
    pub bytes: &'a [u8],
    /// It is longer than the limit.
    pub cut: bool,
}

/// Reads lines one at a time into the same buffer.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    limit: u64,
    buffer: Vec<u8>,
    number: u64,
    offset: u64,
    terminated: bool,
}

impl<R: BufRead> Lines<R> {
    /// Lines of this source, which begins at the start of a line.
    pub const fn new(source: R) -> Self {
        Self::with_limit(source, MAX_LINE_BYTES)
    }

    const fn with_limit(source: R, limit: u64) -> Self {
        Self { source, limit, buffer: Vec::new(), number: 0, offset: 0, terminated: true }
    }

    /// The last line that was read ended in a newline; so does an empty file.
    pub const fn terminated(&self) -> bool {
        self.terminated
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// Of the source.
    pub fn next_line(&mut self) -> io::Result<Option<RawLine<'_>>> {
        loop {
            self.buffer.clear();
            let offset = self.offset;
            // One more than the limit for the newline.
            let mut length =
                self.source.by_ref().take(self.limit + 1).read_until(b'\n', &mut self.buffer)? as u64;
            if length == 0 {
                return Ok(None);
            }
            self.terminated = self.buffer.last() == Some(&b'\n');
            let cut = !self.terminated && length > self.limit;
            if cut {
                let (skipped, newline) = skip_line(&mut self.source)?;
                length += skipped;
                self.terminated = newline;
            }
            self.offset += length;
            self.number += 1;
            if !cut && self.buffer.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let bytes = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
            return Ok(Some(RawLine { number: self.number, offset, length, bytes, cut }));
        }
    }
}

/// Skips the rest of a line: how many bytes, and whether a newline ended it.
fn skip_line(source: &mut impl BufRead) -> io::Result<(u64, bool)> {
    let mut skipped = 0;
    loop {
        let available = source.fill_buf()?;
        if available.is_empty() {
            return Ok((skipped, false));
        }
        let newline = available.iter().position(|byte| *byte == b'\n');
        let used = newline.map_or(available.len(), |at| at + 1);
        source.consume(used);
        skipped += used as u64;
        if newline.is_some() {
            return Ok((skipped, true));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Read = (u64, u64, u64, String, bool);

    fn read(text: &[u8], limit: u64) -> (Vec<Read>, bool) {
        let mut lines = Lines::with_limit(text, limit);
        let mut out = Vec::new();
        while let Some(line) = lines.next_line().expect("memory can be read") {
            let text = String::from_utf8_lossy(line.bytes).into_owned();
            out.push((line.number, line.offset, line.length, text, line.cut));
        }
        (out, lines.terminated())
    }

    #[test]
    fn lines_know_where_they_are() {
        let (lines, terminated) = read(b"ab\n\n  \nc", 100);
        assert_eq!(lines, [(1, 0, 3, "ab".to_owned(), false), (4, 7, 1, "c".to_owned(), false)]);
        assert!(!terminated);
        assert!(read(b"", 100).1);
    }

    #[test]
    fn a_line_above_the_limit_is_cut_and_the_next_one_is_whole() {
        let (lines, terminated) = read(b"1234\n12345\n1\n", 4);
        assert_eq!(
            lines,
            [
                (1, 0, 5, "1234".to_owned(), false),
                (2, 5, 6, "12345".to_owned(), true),
                (3, 11, 2, "1".to_owned(), false),
            ]
        );
        assert!(terminated);
        assert!(!read(b"123456789", 4).1);
    }
}
