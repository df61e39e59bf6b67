//! Puts rows and lines into cells.
//!
//! Everything that draws goes through here, so that what is too wide is cut and never wraps, and grounds reach the edge.

use crate::text::row::Row;
use crate::text::width;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::Span;

/// Gives an area this ground and nothing else.
pub fn fill(buffer: &mut Buffer, area: Rect, style: Style) {
    let area = area.intersection(buffer.area);
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            let cell = &mut buffer[(x, y)];
            cell.reset();
            cell.set_style(style);
        }
    }
}

/// Makes wide characters blank of which `area` covers only a half: the other half would stay, or its ground would go.
pub fn make_room(buffer: &mut Buffer, area: Rect) {
    let area = area.intersection(buffer.area);
    for y in area.top()..area.bottom() {
        for lead in [area.left().checked_sub(1), area.right().checked_sub(1)].into_iter().flatten() {
            // What begins left of a border and ends right of it.
            let Some(cell) = buffer.cell((lead, y)).filter(|cell| width::of(cell.symbol()) > 1) else {
                continue;
            };
            let style = Style::new().bg(cell.bg);
            for x in [lead, lead + 1] {
                if let Some(cell) = buffer.cell_mut((x, y)) {
                    cell.reset();
                    cell.set_style(style);
                }
            }
        }
    }
}

/// Draws spans from the left of the first row of `area`; returns the columns used. What does not fit is left out.
pub fn spans(buffer: &mut Buffer, area: Rect, spans: &[Span<'_>]) -> u16 {
    let area = area.intersection(buffer.area);
    let mut x = area.left();
    if area.is_empty() {
        return 0;
    }
    for span in spans {
        if x >= area.right() {
            break;
        }
        let left = usize::from(area.right() - x);
        x = if span.content.chars().all(width::is_one_cell) {
            plain(buffer, (x, area.top()), &span.content, left, span.style)
        } else {
            buffer.set_stringn(x, area.top(), &span.content, left, span.style).0
        };
    }
    x - area.left()
}

/// Draws text of one column a character. Returns the column behind it.
fn plain(buffer: &mut Buffer, (x, y): (u16, u16), text: &str, columns: usize, style: Style) -> u16 {
    let start = buffer.index_of(x, y);
    let cells = buffer.content.iter_mut().skip(start).take(columns);
    let mut used: u16 = 0;
    for (cell, c) in cells.zip(text.chars()) {
        cell.set_char(c).set_style(style);
        used += 1;
    }
    x + used
}

/// Columns that spans take.
pub fn columns(spans: &[Span<'_>]) -> usize {
    spans.iter().map(|span| width::of(&span.content)).sum()
}

/// Cuts spans to so many columns; `…` stands for what is gone, in the style of `mark`.
pub fn cut(spans: Vec<Span<'static>>, room: usize, mark: Style) -> Vec<Span<'static>> {
    if columns(&spans) <= room {
        return spans;
    }
    if room == 0 {
        return Vec::new();
    }
    let mut left = room - 1;
    let mut kept = Vec::new();
    for span in spans {
        let columns = width::of(&span.content);
        if columns <= left {
            left -= columns;
            kept.push(span);
            continue;
        }
        let part = width::take(&span.content, left).to_owned();
        if !part.is_empty() {
            kept.push(Span::styled(part, span.style));
        }
        break;
    }
    kept.push(Span::styled("…", mark));
    kept
}

/// Draws one row of the transcript over the first row of `area`, its ground to the right edge.
pub fn row(buffer: &mut Buffer, area: Rect, row: &Row) {
    let area = Rect { height: area.height.min(1), ..area }.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    if let Some((from, color)) = row.ground {
        ground(
            buffer,
            Rect { x: area.x.saturating_add(from), width: area.width.saturating_sub(from), ..area },
            color,
        );
    }
    spans(buffer, area, &row.spans);
}

/// Gives cells a background and leaves their text.
pub fn ground(buffer: &mut Buffer, area: Rect, color: Color) {
    let area = area.intersection(buffer.area);
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            buffer[(x, y)].set_bg(color);
        }
    }
}

/// A left text and a right rail as one row of exactly `room` columns: the rail is kept whole and ends one column before
/// the edge, at least two columns stand between them, and the left text is cut to make room.
pub fn left_and_rail(
    left: Vec<Span<'static>>,
    rail: Vec<Span<'static>>,
    room: usize,
    mark: Style,
) -> Vec<Span<'static>> {
    let rail = cut(rail, room.saturating_sub(1), mark);
    let rail_columns = columns(&rail);
    if rail_columns == 0 {
        return cut(left, room, mark);
    }
    let mut row = cut(left, room.saturating_sub(rail_columns + 1 + 2), mark);
    let gap = room.saturating_sub(columns(&row) + rail_columns + 1);
    row.push(Span::raw(" ".repeat(gap)));
    row.extend(rail);
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ratatui::style::Modifier;

    proptest! {
        /// The short way draws what the long one does.
        #[test]
        fn it_draws_what_the_library_does(text in "[ -~·…●─░⠶日é👩‍🚀\u{301}\u{fe0f}]{0,20}", x in 0_u16..12, width in 0_u16..12) {
            let area = Rect { x, y: 0, width, height: 1 };
            let style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
            let mut ours = Buffer::empty(Rect::new(0, 0, 24, 1));
            let mut theirs = ours.clone();
            let used = spans(&mut ours, area, &[Span::styled(text.clone(), style)]);
            let end = if width == 0 { x } else { theirs.set_stringn(x, 0, &text, usize::from(width), style).0 };
            prop_assert_eq!(&ours, &theirs);
            prop_assert_eq!(used, end - x);
        }
    }
}
