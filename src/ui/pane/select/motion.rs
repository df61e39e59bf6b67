//! Where keys bring the end of a selection: characters, words, lines and rows, over the ends of items.

use crate::text::row::Row;
use crate::text::row_text::RowTexts;
use crate::text::words;
use crate::transcript::anchor::TextPoint;
use crate::ui::pane::place::Frame;

/// Where a key brings the end of a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// A character back.
    Left,
    /// A character on.
    Right,
    /// The row above.
    Up,
    /// The row below.
    Down,
    /// A word back.
    WordLeft,
    /// A word on.
    WordRight,
    /// The start of the line, as it was written.
    LineStart,
    /// Its end.
    LineEnd,
}

/// A place moved by a key, and the column that keys up and down keep to.
pub(super) fn moved(
    frame: &mut Frame<'_>,
    from: TextPoint,
    motion: Motion,
    column: Option<usize>,
) -> (TextPoint, Option<usize>) {
    let TextPoint { item, offset } = from;
    let within = |frame: &mut Frame<'_>, by: &dyn Fn(&str) -> usize| {
        let offset = frame.read(item, |_, texts| by(texts.text())).unwrap_or_default();
        TextPoint { item, offset }
    };
    let to = match motion {
        Motion::Up => return vertical(frame, from, column, true),
        Motion::Down => return vertical(frame, from, column, false),
        Motion::Left => within(frame, &|text| {
            words::grapheme_before(text, offset).map_or(offset, |grapheme| grapheme.start)
        }),
        Motion::Right => {
            within(frame, &|text| words::grapheme_after(text, offset).map_or(offset, |grapheme| grapheme.end))
        }
        Motion::WordLeft => within(frame, &|text| words::left(text, offset)),
        Motion::WordRight => within(frame, &|text| words::right(text, offset)),
        Motion::LineStart => return (within(frame, &|text| words::line(text, offset).start), None),
        Motion::LineEnd => return (within(frame, &|text| words::line(text, offset).end), None),
    };
    if to != from {
        return (to, None);
    }
    // At the end of an item the next one begins.
    let beyond = match motion {
        Motion::Left | Motion::WordLeft => (0..item).rev().find_map(|above| {
            let length = frame.read(above, |_, texts| texts.text().len()).filter(|length| *length > 0)?;
            Some(TextPoint { item: above, offset: length })
        }),
        _ => (item + 1..frame.conversation.len()).find_map(|below| {
            frame.read(below, |_, texts| texts.text().len()).filter(|length| *length > 0)?;
            Some(TextPoint { item: below, offset: 0 })
        }),
    };
    (beyond.unwrap_or(from), None)
}

/// A row up or down, in the same column as far as there is text.
fn vertical(
    frame: &mut Frame<'_>,
    from: TextPoint,
    column: Option<usize>,
    is_up: bool,
) -> (TextPoint, Option<usize>) {
    let indent = usize::from(frame.indent(from.item));
    let here = frame.read(from.item, |rows, texts| {
        let row = texts.row_at(from.offset);
        let before = texts.columns(rows, row, &(texts.row(row).start..from.offset)).end;
        let gutter = rows.get(row).map_or(0, |row| usize::from(row.gutter));
        (row, before.max(gutter) + indent)
    });
    let Some((row, own)) = here else { return (from, column) };
    let column = column.unwrap_or(own);
    let find = |frame: &mut Frame<'_>, item: usize, from: Option<usize>| {
        let indent = usize::from(frame.indent(item));
        let offset = frame.read(item, |rows, texts| {
            let row = next_text(rows, texts, from, is_up)?;
            Some(texts.offset_at(rows, row, column.saturating_sub(indent)))
        });
        offset.flatten().map(|offset| TextPoint { item, offset })
    };
    let within = find(frame, from.item, Some(row));
    let to = within.or_else(|| {
        if is_up {
            (0..from.item).rev().find_map(|item| find(frame, item, None))
        } else {
            (from.item + 1..frame.conversation.len()).find_map(|item| find(frame, item, None))
        }
    });
    let edge = || {
        let length = frame.read(from.item, |_, texts| texts.text().len()).unwrap_or_default();
        TextPoint { offset: if is_up { 0 } else { length }, ..from }
    };
    (to.unwrap_or_else(edge), Some(column))
}

/// The next row of text above or below a row; from the last or first one on.
fn next_text(rows: &[Row], texts: &RowTexts, from: Option<usize>, is_up: bool) -> Option<usize> {
    if texts.text().is_empty() {
        return None;
    }
    let is_text = |row: &usize| rows.get(*row).is_some_and(|row| !row.is_decoration);
    if is_up {
        (0..from.unwrap_or(rows.len())).rev().find(is_text)
    } else {
        (from.map_or(0, |from| from + 1)..rows.len()).find(is_text)
    }
}
