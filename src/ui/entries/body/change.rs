//! What an edit changed.

use super::{MOST_ROWS, Panel};
use crate::text::diff::{self, Kind, Line};

/// Lines that are shown of a closed row.
const SHOWN: usize = 20;

/// Adds a difference to a panel. `path` tells the language.
pub fn draw(panel: &mut Panel<'_>, patch: &str, path: &str) {
    let mut lines = diff::parse(patch);
    // The band names the file, and that a change is not at the top of it the numbers tell.
    lines.retain(|line| line.kind != Kind::File);
    if lines.first().is_some_and(|line| line.kind == Kind::Gap && line.text == "…") {
        lines.remove(0);
    }
    let most = match panel.cx.open {
        true => MOST_ROWS,
        // A row that says that one line is hidden would stand where that line could.
        false if lines.len() == SHOWN + 1 => SHOWN + 1,
        false => SHOWN,
    };
    let shown: &[Line] = lines.get(..most.min(lines.len())).unwrap_or_default();
    let mut rows = diff::rows(shown, path, panel.cx.look.theme, panel.room());
    rows.truncate(most);
    let last = rows.last().map_or(0, |row| row.start + 1);
    for row in rows {
        panel.push(row);
    }
    panel.more(last, lines.len() - last.min(lines.len()));
}
