//! The log of a job as plain text: a part of it from some place on, its end, or the lines that match.
//!
//! It is read in pieces, so that a large log takes no memory. Lines are cut, and progress bars reduced to what their last
//! carriage return wrote.

use crate::jobs::keeper::log;
use crate::jobs::plain_text::{PlainText, TextSink};
use regex::Regex;
use std::collections::VecDeque;
use std::io;
use std::path::Path;

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;
/// Bytes of a line; what is longer is cut.
const LONGEST_LINE: usize = 2_000;
/// Bytes of the end of a log in which its last lines are looked for.
const END: u64 = 512 * 1024;

/// What is wanted of a log.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// From this byte on; `None` is the end.
    pub offset: Option<u64>,
    /// Only lines that match.
    pub pattern: Option<Regex>,
    /// Lines at most.
    pub lines: usize,
    /// Bytes of text at most.
    pub bytes: usize,
}

/// A part of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The text, with a line end behind each line.
    pub text: String,
    /// Lines in it.
    pub lines: usize,
    /// The byte where to read on: the begin of the last line, if that has no end yet.
    pub next: u64,
    /// The last line has no end yet: it comes once more.
    pub is_open: bool,
    /// The first byte that is still kept, and the one behind the last.
    pub extent: (u64, u64),
    /// There are lines before it that match, too.
    pub has_earlier: bool,
    /// There are lines behind it that match, too.
    pub has_later: bool,
}

/// Reads a part of a log.
pub fn page(folder: &Path, wanted: &Wanted) -> io::Result<Page> {
    let extent = log::extent(folder);
    let is_wanted = |line: &str| wanted.pattern.as_ref().is_none_or(|pattern| pattern.is_match(line));
    let mut page = Page { extent, next: extent.1, ..Page::default() };
    match wanted.offset {
        Some(offset) => {
            let from = offset.max(extent.0);
            page.has_earlier = from > extent.0;
            page.next = from;
            each_line(folder, from, |line, end, is_open| {
                if is_wanted(line) {
                    if page.lines >= wanted.lines || page.text.len() + line.len() > wanted.bytes {
                        page.has_later = true;
                        return false;
                    }
                    page.lines += 1;
                    page.text.push_str(line);
                    page.text.push('\n');
                    page.is_open = is_open;
                }
                page.next = end;
                true
            })?;
        }
        None => {
            // Lines that match may be anywhere; the last lines are near the end.
            let from = match wanted.pattern {
                Some(_) => extent.0,
                None => extent.1.saturating_sub(END).max(extent.0),
            };
            page.has_earlier = from > extent.0;
            let mut last: VecDeque<String> = VecDeque::new();
            let mut bytes = 0;
            each_line(folder, from, |line, _, _| {
                if is_wanted(line) {
                    bytes += line.len() + 1;
                    last.push_back(line.to_owned());
                    while last.len() > wanted.lines || bytes > wanted.bytes {
                        let Some(first) = last.pop_front() else { break };
                        bytes -= first.len() + 1;
                        page.has_earlier = true;
                    }
                }
                true
            })?;
            page.lines = last.len();
            for line in last {
                page.text.push_str(&line);
                page.text.push('\n');
            }
        }
    }
    Ok(page)
}

/// The last lines of a log.
pub fn last_lines(folder: &Path, lines: usize, bytes: usize) -> io::Result<String> {
    page(folder, &Wanted { offset: None, pattern: None, lines, bytes }).map(|page| page.text)
}

/// The newest line of some output that is not blank, cut to so many characters.
pub fn latest_line(output: &[u8], characters: usize) -> Option<String> {
    let lines = output.split(|byte| *byte == b'\n').rev();
    let text = lines.map(plain).find(|line| !line.trim().is_empty())?;
    Some(text.trim().chars().take(characters).collect())
}

/// Gives each line from an offset on as plain text, with the offset where to read on, until `take` wants no more. The last
/// one may have no end yet.
fn each_line(folder: &Path, from: u64, mut take: impl FnMut(&str, u64, bool) -> bool) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    // The begin of a line whose end has not come, and how much of it was left out.
    let mut line: Vec<u8> = Vec::new();
    let (mut at, mut line_begins) = (from, from);
    loop {
        let (begins, length) = log::read(folder, at, &mut buffer)?;
        if length == 0 {
            break;
        }
        if begins > at {
            // A part between is gone.
            line.clear();
            line_begins = begins;
        }
        let mut rest = buffer.get(..length).unwrap_or_default();
        let mut offset = begins;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (head, tail) = rest.split_at_checked(end + 1).unwrap_or((rest, &[]));
            offset += head.len() as u64;
            extend(&mut line, head.get(..end).unwrap_or_default());
            if !take(&plain(&line), offset, false) {
                return Ok(());
            }
            line.clear();
            line_begins = offset;
            rest = tail;
        }
        extend(&mut line, rest);
        at = begins + length as u64;
    }
    if !line.is_empty() {
        take(&plain(&line), line_begins, true);
    }
    Ok(())
}

/// Adds to a line. Of a progress bar the last states are of interest, of any other line its begin: both are kept, and
/// what is between them goes.
fn extend(line: &mut Vec<u8>, more: &[u8]) {
    line.extend_from_slice(more);
    if line.len() > 16 * LONGEST_LINE {
        let from = line.iter().rposition(|byte| *byte == b'\r').unwrap_or(0);
        line.drain(..from);
        line.truncate(8 * LONGEST_LINE);
    }
}

/// One line as plain text.
fn plain(line: &[u8]) -> String {
    let mut text = PlainText::default();
    let mut sink = Line::default();
    text.push(line, &mut sink);
    text.finish(&mut sink);
    let mut text = sink.0;
    if text.len() > LONGEST_LINE {
        text.truncate(text.floor_char_boundary(LONGEST_LINE));
        text.push('…');
    }
    text
}

#[derive(Default)]
struct Line(String);

impl TextSink for Line {
    fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn erase_line(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::keeper::log::LogWriter;

    fn logged(bytes: &[u8], cap: u64) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        LogWriter::create(folder.path(), cap).unwrap().write(bytes);
        folder
    }

    fn wanted(offset: Option<u64>, pattern: Option<&str>, lines: usize, bytes: usize) -> Wanted {
        Wanted { offset, pattern: pattern.map(|pattern| Regex::new(pattern).unwrap()), lines, bytes }
    }

    fn numbers(count: u32) -> String {
        (0..count).map(|number| format!("line {number}\n")).collect()
    }

    #[test]
    fn the_end_and_the_begin_and_on_from_there() {
        let folder = logged(numbers(1_000).as_bytes(), 1 << 20);
        let end = page(folder.path(), &wanted(None, None, 3, 1_000)).unwrap();
        assert_eq!(end.text, "line 997\nline 998\nline 999\n");
        assert!(end.has_earlier && !end.has_later);
        assert_eq!(end.next, end.extent.1);
        let first = page(folder.path(), &wanted(Some(0), None, 2, 1_000)).unwrap();
        assert_eq!((first.text.as_str(), first.next), ("line 0\nline 1\n", 14));
        assert!(!first.has_earlier && first.has_later);
        let second = page(folder.path(), &wanted(Some(first.next), None, 2, 1_000)).unwrap();
        assert_eq!(second.text, "line 2\nline 3\n");
        let narrow = page(folder.path(), &wanted(Some(0), None, 100, 20)).unwrap();
        assert_eq!(narrow.text, "line 0\nline 1\n");
        let behind = page(folder.path(), &wanted(Some(end.next), None, 100, 1_000)).unwrap();
        assert_eq!((behind.text.as_str(), behind.next, behind.has_later), ("", end.next, false));
    }

    #[test]
    fn lines_that_match() {
        let folder = logged(numbers(5_000).as_bytes(), 1 << 20);
        let last = page(folder.path(), &wanted(None, Some("9$"), 2, 1_000)).unwrap();
        assert_eq!(last.text, "line 4989\nline 4999\n");
        let first = page(folder.path(), &wanted(Some(0), Some("77$"), 2, 1_000)).unwrap();
        assert_eq!(first.text, "line 77\nline 177\n");
        let next = page(folder.path(), &wanted(Some(first.next), Some("77$"), 1, 1_000)).unwrap();
        assert_eq!(next.text, "line 277\n");
    }

    #[test]
    fn what_is_no_longer_kept_is_left_out() {
        let folder = logged(numbers(10_000).as_bytes(), 4_096);
        let first = page(folder.path(), &wanted(Some(0), None, 3, 1_000)).unwrap();
        assert!(first.extent.0 > 0 && first.extent.1 - first.extent.0 <= 4_096);
        assert!(first.next > first.extent.0 && !first.has_earlier);
        let last = page(folder.path(), &wanted(None, None, 1, 1_000)).unwrap();
        assert_eq!(last.text, "line 9999\n");
    }

    #[test]
    fn bars_escapes_and_binary_become_plain_lines() {
        let folder = logged(b"10%\r20%\r30%\n\x1b[31mred\x1b[0m \x07\xff\n\xe2\x80\xaeevil\nno end", 1 << 20);
        let all = page(folder.path(), &wanted(Some(0), None, 10, 1_000)).unwrap();
        assert_eq!((all.lines, all.is_open, all.next), (4, true, all.extent.1 - 6));
        let lines: Vec<&str> = all.text.lines().collect();
        assert_eq!((lines[0], lines[3]), ("30%", "no end"));
        assert!(lines[1].starts_with("red") && !all.text.contains('\u{1b}'));
        assert_eq!(latest_line(b"first\n10%\r20%\n\n  \n", 100).as_deref(), Some("20%"));
        assert_eq!(latest_line(b"\n \n", 100), None);
        assert_eq!(latest_line("日本語".as_bytes(), 2).as_deref(), Some("日本"));
    }

    #[test]
    fn a_line_without_an_end_takes_no_memory() {
        let mut bytes = vec![b'x'; 3 << 20];
        bytes.extend(b"\nlast\n");
        let folder = logged(&bytes, 64 << 20);
        let all = page(folder.path(), &wanted(Some(0), None, 10, 10_000)).unwrap();
        assert_eq!(all.lines, 2);
        assert!(all.text.len() < 2_100 && all.text.ends_with("…\nlast\n"), "{}", all.text.len());
    }
}
