//! Two sides on one line, over grounds that differ from cell to cell.

use super::ground::Grounds;
use super::seg::Seg;
use crate::text::width;
use crate::theme::Theme;
use crate::theme::role::Role;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use unicode_segmentation::UnicodeSegmentation;

/// Blank columns between both sides at least, and behind the right one.
const BETWEEN: usize = 2;
const BEHIND: usize = 1;

/// Columns that words take.
pub fn columns(segs: &[Seg]) -> usize {
    segs.iter().map(|seg| width::of(&seg.text)).sum()
}

/// Cuts words to so many columns; `…` stands for what is gone.
pub fn cut(segs: Vec<Seg>, room: usize) -> Vec<Seg> {
    if columns(&segs) <= room {
        return segs;
    }
    if room == 0 {
        return Vec::new();
    }
    let mut left = room - 1;
    let mut kept = Vec::new();
    for mut seg in segs {
        let columns = width::of(&seg.text);
        if columns <= left {
            left -= columns;
            kept.push(seg);
            continue;
        }
        seg.text = width::take(&seg.text, left).to_owned();
        kept.push(seg);
        break;
    }
    kept.push(Seg::new(Role::Muted, "…"));
    kept
}

/// Both sides in at most `room` columns: the rail is kept whole and ends one column before the edge, and the left side is
/// cut to make room. Where not even the rail fits, it is cut.
pub fn set(left: Vec<Seg>, rail: Vec<Seg>, room: usize) -> Vec<Seg> {
    let rail = cut(rail, room.saturating_sub(BEHIND));
    let rail_columns = columns(&rail);
    if rail_columns == 0 {
        return cut(left, room);
    }
    let mut line = cut(left, room.saturating_sub(rail_columns + BETWEEN + BEHIND));
    let gap = room.saturating_sub(columns(&line) + rail_columns + BEHIND);
    line.push(Seg::new(Role::Muted, " ".repeat(gap)));
    line.extend(rail);
    line
}

/// Words as spans from column `from` on, each colour lifted off the ground it stands on. Cells that look the same are one
/// span.
pub fn paint(segs: &[Seg], from: u16, grounds: &Grounds, theme: &Theme) -> Vec<Span<'static>> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut column = from;
    for seg in segs.iter().filter(|seg| !seg.text.is_empty()) {
        if !grounds.differ() {
            spans.push(Span::styled(seg.text.clone(), style(seg, grounds.at(column), theme)));
            continue;
        }
        let mut run = String::new();
        let mut ground = grounds.at(column);
        let mut close = |run: &mut String, ground: Color| {
            if !run.is_empty() {
                spans.push(Span::styled(std::mem::take(run), style(seg, ground, theme).bg(ground)));
            }
        };
        for grapheme in seg.text.graphemes(true) {
            // Both halves of a wide character have the ground of the first.
            let here = grounds.at(column);
            if here != ground {
                close(&mut run, ground);
                ground = here;
            }
            run.push_str(grapheme);
            column = column.saturating_add(u16::try_from(width::of_grapheme(grapheme)).unwrap_or(0));
        }
        close(&mut run, ground);
    }
    spans
}

fn style(seg: &Seg, ground: Color, theme: &Theme) -> Style {
    // Blanks have no colour to lift, and a colour of their own would cost bytes.
    if seg.text.bytes().all(|byte| byte == b' ') {
        return Style::new();
    }
    let style = theme.style_on(seg.role, ground);
    if seg.bold { style.add_modifier(Modifier::BOLD) } else { style }
}
