//! What a search found, or a folder holds.

use super::super::facts;
use super::{Panel, line_count, shown_of};
use crate::text::clean;
use crate::text::wrap::Run;
use crate::theme::role::Role;

/// Adds a whole listing. `is_search`: its lines name a file and a line.
pub fn whole(panel: &mut Panel<'_>, text: &str, is_search: bool) {
    let text = text.trim_end_matches(['\n', '\r']);
    let (mut start, mut left, mut is_whole) = (0, line_count(text), true);
    for whole in text.split('\n').take(left) {
        if panel.is_full() {
            break;
        }
        let line = clean::for_terminal(shown_of(panel, whole));
        let line = line.trim_end_matches('\n').replace('\n', " ");
        let line = line.as_str();
        let runs = match facts::found(line).filter(|_| is_search) {
            Some((file, number, found, is_match)) => {
                let mark = if is_match { ':' } else { '-' };
                let role = if is_match { Role::ToolOutput } else { Role::Muted };
                vec![
                    Run::new(file, panel.style(Role::Accent), 0),
                    Run::new(format!("{mark}{number}{mark} "), panel.style(Role::Dim), file.len()),
                    Run::new(found, panel.style(role), line.len() - found.len()),
                ]
            }
            None => {
                let role = if line.ends_with('/') { Role::Accent } else { Role::ToolOutput };
                vec![Run::new(line, panel.style(role), 0)]
            }
        };
        is_whole &= panel.push_line(runs, start);
        start += whole.len() + 1;
        left -= 1;
    }
    panel.rest(start, left, is_whole);
}

/// Lines that are shown of a closed row of a tool that is not known here.
const SHOWN: usize = 4;

/// Adds the beginning of a result of a tool that is not known here.
pub fn beginning(panel: &mut Panel<'_>, text: &str) {
    let text = text.trim_end_matches(['\n', '\r']);
    let lines = line_count(text);
    let shown = if lines == SHOWN + 1 { lines } else { SHOWN.min(lines) };
    let clipped: Vec<&str> = text.split('\n').take(shown).map(super::clip).collect();
    let base = panel.style(Role::ToolOutput);
    let styled = crate::text::ansi::lines(&clipped.join("\n"), panel.cx.look.theme, base, panel.ground);
    let mut start = 0;
    for (runs, line) in styled.into_iter().zip(text.split('\n').take(shown)) {
        let mut row = panel.cut_line(runs);
        row.start = start;
        panel.push(row);
        start += line.len() + 1;
    }
    panel.more(start, lines - shown);
}
