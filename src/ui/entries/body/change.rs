//! What an edit changed.

use super::super::outcome::Outcome;
use super::{MOST_ROWS, Panel, shown_of};
use crate::text::clean;
use crate::text::diff::{self, Kind, Line};

/// Lines that are shown of a closed row.
const SHOWN: usize = 20;

/// What changed, by what the tool told of it. Older logs hold only numbered lines, no patch.
pub fn lines(outcome: &Outcome<'_>) -> Vec<Line> {
    match (outcome.fact("patch"), outcome.fact("diff")) {
        (Some(patch), _) => diff::parse(patch),
        (None, Some(diff)) => diff.lines().filter_map(numbered).collect(),
        (None, None) => Vec::new(),
    }
}

/// `+12 text`, `-12 text`, ` 12 text`, or dots where lines are left out.
fn numbered(line: &str) -> Option<Line> {
    let mut chars = line.chars();
    let kind = match chars.next()? {
        '+' => Kind::Added,
        '-' => Kind::Removed,
        _ => Kind::Context,
    };
    let rest = chars.as_str().trim_start_matches(' ');
    let (number, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let number = number.parse().ok();
    let (kind, text) = if number.is_none() { (Kind::Gap, "…") } else { (kind, text) };
    Some(Line { kind, number, text: clean::for_terminal(text).into_owned(), emphasis: Vec::new() })
}

/// Adds a difference to a panel. `path` tells the language.
pub fn draw(panel: &mut Panel<'_>, mut lines: Vec<Line>, path: &str) {
    // The band names the file, and that a change is not at the top of it the numbers tell.
    lines.retain(|line| line.kind != Kind::File);
    if lines.first().is_some_and(|line| line.kind == Kind::Gap && line.text == "…") {
        lines.remove(0);
    }
    for line in &mut lines {
        // A minified file is one line.
        let shown = shown_of(panel, &line.text).len();
        line.text.truncate(shown);
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
