//! Sentences: why something failed or was not allowed.

use super::{MOST_ROWS, Panel};
use crate::text::clean;
use crate::text::wrap::{self, Break, Run};
use crate::theme::role::Role;

/// Rows that are shown of a closed row.
const SHOWN: usize = 6;

/// Bytes that are looked at of a closed row.
const MOST: usize = 16 * 1024;

/// Adds a text, wrapped by word.
pub fn draw(panel: &mut Panel<'_>, text: &str, role: Role) {
    if text.trim().is_empty() {
        return;
    }
    let most = if panel.cx.open { MOST_ROWS } else { SHOWN };
    let seen =
        if panel.cx.open { text } else { text.get(..text.floor_char_boundary(MOST)).unwrap_or_default() };
    let seen = clean::for_terminal(seen.trim_end());
    let (style, room) = (panel.style(role), panel.room());
    let mut rows = Vec::new();
    let mut lines = seen.split('\n').peekable();
    let mut start = 0;
    // One more than is shown, to know whether anything is hidden.
    while rows.len() <= most + 1
        && let Some(line) = lines.next()
    {
        let runs = super::linked(vec![Run::new(line, style, start)]);
        rows.extend(wrap::first_rows(&runs, room, Break::Words, most + 2 - rows.len()));
        start += line.len() + 1;
    }
    let is_cut = rows.len() > most + 1;
    if is_cut {
        rows.truncate(most);
    }
    let hidden = lines.count();
    for row in rows {
        panel.push(row);
    }
    if is_cut {
        let text = match hidden {
            0 => "more".to_owned(),
            lines => crate::text::formats::counted(lines as u64, "more line"),
        };
        panel.note(start, &text);
    }
}
