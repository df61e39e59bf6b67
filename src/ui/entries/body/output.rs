//! The end of what a command printed: it ends with what matters.

use super::{Panel, clip, line_count, linked, tail};
use crate::text::wrap::{self, Break};
use crate::text::{ansi, formats};
use crate::theme::role::Role;

/// Lines that are shown of a closed row.
const SHOWN: usize = 4;

/// Rows that one line has of a closed row, where it tells why something failed.
const ROWS_OF_LINE: usize = 3;

/// Lines before those that are read for the colours which they leave on.
const READ_BEFORE: usize = 40;

/// What a command printed, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output<'a> {
    /// The end of it.
    pub text: &'a str,
    /// Lines before that.
    pub lines_before: u64,
    /// There were more, nobody knows how many.
    pub has_more_before: bool,
    /// A file with all of it.
    pub whole_in: Option<&'a str>,
    /// It tells why something failed: a long line is not cut at the edge, where that often stands.
    pub is_wrapped: bool,
}

/// Adds it to a panel: its end, or all of it.
pub fn draw(panel: &mut Panel<'_>, output: Output<'_>) {
    draw_end(panel, output, SHOWN, super::MOST_ROWS);
}

/// Adds it to a panel: so many lines of its end, or, of an open row, at most so many rows.
pub fn draw_end(panel: &mut Panel<'_>, output: Output<'_>, most_lines: usize, most_rows: usize) {
    let text = output.text.trim_end_matches(['\n', '\r']);
    if text.is_empty() {
        return;
    }
    if panel.cx.open {
        whole(panel, text, output, most_rows);
        return;
    }
    let lines = line_count(text);
    let before = output.lines_before;
    // A row that says that one line is hidden would stand where that line could.
    let is_one_more = lines == most_lines + 1 && before == 0 && !output.has_more_before;
    let shown = if is_one_more { lines } else { lines.min(most_lines) };
    earlier(panel, before + (lines - shown) as u64, output, false);
    let from = tail(text, shown);
    // What is hidden may have switched a colour on.
    let read_from = if text.contains('\u{1b}') { tail(text, shown + READ_BEFORE) } else { from };
    let read = text.get(read_from..).unwrap_or_default();
    let clipped: Vec<&str> = read.split('\n').map(clip).collect();
    let styled =
        ansi::lines(&clipped.join("\n"), panel.cx.look.theme, panel.style(Role::ToolOutput), panel.ground);
    let skipped = styled.len().saturating_sub(shown);
    let mut start = from;
    for (runs, line) in styled.into_iter().skip(skipped).zip(text.get(from..).unwrap_or_default().split('\n'))
    {
        let rows = if output.is_wrapped { ROWS_OF_LINE } else { 1 };
        let rows = panel.cut_rows(runs, rows);
        // They begin in what was read for the colours.
        let begin = rows.first().map_or(0, |row| row.start);
        for mut row in rows {
            row.start = start + row.start.saturating_sub(begin);
            panel.push(row);
        }
        start += line.len() + 1;
    }
}

fn whole(panel: &mut Panel<'_>, text: &str, output: Output<'_>, most_rows: usize) {
    // A line of megabytes is not read from its begin: its end is what is shown.
    let most = most_rows * panel.room() * 4;
    let cut = text.ceil_char_boundary(text.len().saturating_sub(most));
    let from = tail(text, most_rows).max(cut);
    let before = text.get(..from).unwrap_or_default();
    let is_in_line = from > 0 && !before.ends_with('\n');
    let hidden = before.bytes().filter(|byte| *byte == b'\n').count();
    let read = text.get(from..).unwrap_or_default();
    let (base, room) = (panel.style(Role::ToolOutput), panel.room());
    let styled = ansi::lines(read, panel.cx.look.theme, base, panel.ground);
    let mut rows = Vec::new();
    for runs in styled {
        rows.extend(wrap::line(&linked(runs), room, Break::Graphemes));
    }
    let over = rows.len().saturating_sub(most_rows);
    let cut_lines = rows.iter().take(over).filter(|row| row.joint == crate::text::row::Joint::Line).count();
    earlier(panel, output.lines_before + (hidden + cut_lines) as u64, output, over > 0 || is_in_line);
    for mut row in rows.into_iter().skip(over) {
        row.start += from;
        panel.push(row);
    }
}

fn earlier(panel: &mut Panel<'_>, count: u64, output: Output<'_>, is_cut: bool) {
    let mut text = match (count, output.has_more_before) {
        (0, false) if !is_cut => return,
        (0, _) => "earlier output".to_owned(),
        (count, false) => formats::counted(count, "earlier line"),
        (count, true) => format!("more than {}", formats::counted(count, "earlier line")),
    };
    if let Some(path) = output.whole_in.filter(|_| panel.cx.open) {
        text.push_str(&format!(", all in {}", super::super::seg::line(path)));
    }
    panel.note(0, &text);
}
