//! Source text: files that were read or written, and commands of several lines.

use super::{Panel, clip, line_count, shown_of, tail};
use crate::text::clean;
use crate::text::highlight::{self, Highlighter};
use crate::text::wrap::Run;
use crate::theme::role::Role;
use std::borrow::Cow;

/// Lines that are shown of a file that was written.
const SHOWN: usize = 3;

/// Adds a whole text in its colours.
pub fn whole(panel: &mut Panel<'_>, text: &str, mut highlighter: Highlighter) {
    let text = text.trim_end_matches(['\n', '\r']);
    let (mut start, mut left, mut is_whole) = (0, line_count(text), true);
    for line in text.split('\n').take(left) {
        if panel.is_full() {
            break;
        }
        // A carriage return within a line is a line break to us.
        for part in clean::for_terminal(shown_of(panel, line)).trim_end_matches('\n').split('\n') {
            // A line that is cut here is too long for colours as well.
            let parts = highlighter.line(part);
            is_whole &= panel.push_line(highlight::runs(part, &parts, |role| panel.style(role)), start);
        }
        start += line.len() + 1;
        left -= 1;
    }
    panel.rest(start, left, is_whole);
}

/// Adds the end of a text, on which someone writes. `lines`: how many it has in all.
pub fn end(panel: &mut Panel<'_>, text: &str, lines: usize) {
    let text = text.trim_end_matches(['\n', '\r']);
    if text.is_empty() {
        return;
    }
    let known = line_count(text);
    let lines = lines.max(known);
    let shown = if lines == SHOWN + 1 && known >= lines { lines } else { SHOWN.min(known) };
    if lines > shown {
        panel.note(0, &crate::text::formats::counted((lines - shown) as u64, "earlier line"));
    }
    let mut start = tail(text, shown);
    for line in text.get(start..).unwrap_or_default().split('\n') {
        let clean = clean::for_terminal(clip(line));
        // A carriage return within a line is a line break to us, and here there is one row for it.
        let first: Cow<'_, str> = match clean.split_once('\n') {
            Some((first, _)) => Cow::Owned(first.to_owned()),
            None => clean,
        };
        let run = Run::new(first, panel.style(Role::ToolOutput), 0);
        let mut row = panel.cut_line(vec![run]);
        row.start = start;
        panel.push(row);
        start += line.len() + 1;
    }
}
