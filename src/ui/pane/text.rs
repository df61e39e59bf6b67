//! From cells to places in the text of items, and back: what selection and search stand on.

use super::place::Frame;
use crate::text::row::{Joint, Row};
use crate::text::row_text::RowTexts;
use crate::transcript::anchor::TextPoint;
use crate::transcript::scroll::{Rows, Slice};
use ratatui::layout::{Position, Rect};
use std::ops::Range;

/// Where the slices of a frame stand, from the top of `area`.
pub(super) fn placed(slices: &[Slice], area: Rect) -> impl Iterator<Item = (Slice, Rect)> {
    slices.iter().scan(area.y, move |y, slice| {
        let rows = u16::try_from(slice.rows).unwrap_or(u16::MAX).min(area.bottom().saturating_sub(*y));
        let place = Rect { y: *y, height: rows, ..area };
        *y += rows;
        Some((*slice, place))
    })
}

/// A cell of the window as a place in an item's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub item: usize,
    /// Nothing for the blank row above the item.
    pub row: Option<usize>,
    pub column: usize,
}

/// Which row and column of which item a cell belongs to. A cell above or below the window counts as the nearest within,
/// one below all items as one of the last row.
pub(super) fn spot_at(frame: &mut Frame<'_>, slices: &[Slice], area: Rect, at: Position) -> Option<Spot> {
    let y = at.y.clamp(area.y, area.bottom().saturating_sub(1).max(area.y));
    let (slice, place) = placed(slices, area).filter(|(_, place)| place.y <= y && place.height > 0).last()?;
    let gap = usize::from(frame.placed(slice.entry).gap);
    let indent = frame.indent(slice.entry);
    let row = (slice.first + usize::from(y - place.y)).min(slice.first + slice.rows - 1);
    let column = usize::from(at.x.saturating_sub(area.x).saturating_sub(indent));
    Some(Spot { item: slice.entry, row: row.checked_sub(gap), column })
}

/// Cells in the window of an item's rows: of each row the columns that `columns` names.
fn cells(
    frame: &mut Frame<'_>,
    slices: &[Slice],
    area: Rect,
    item: usize,
    columns: impl Fn(&[Row], &RowTexts, usize) -> Option<Range<usize>>,
) -> Vec<Rect> {
    let Some((slice, place)) = placed(slices, area).find(|(slice, _)| slice.entry == item) else {
        return Vec::new();
    };
    let gap = usize::from(frame.placed(item).gap);
    let indent = frame.indent(item);
    let cells = frame.read(item, |rows, texts| {
        let shown = (slice.first..slice.first + usize::from(place.height)).zip(place.y..);
        let cells = shown.filter_map(|(row, y)| {
            let columns = columns(rows, texts, row.checked_sub(gap)?)?;
            let column = |column: usize| {
                u16::try_from(column).unwrap_or(u16::MAX).saturating_add(indent).min(place.width)
            };
            let (from, to) = (column(columns.start), column(columns.end));
            (from < to).then(|| Rect { x: place.x + from, y, width: to - from, height: 1 })
        });
        cells.collect()
    });
    cells.unwrap_or_default()
}

/// The cells in the window that show some bytes of an item's text, a rectangle a row.
pub(super) fn cells_of(
    frame: &mut Frame<'_>,
    slices: &[Slice],
    area: Rect,
    item: usize,
    bytes: &Range<usize>,
) -> Vec<Rect> {
    cells(frame, slices, area, item, |rows, texts, row| Some(texts.columns(rows, row, bytes)))
}

/// The cells behind the lines of an item that are selected with their line end, where there is room for one.
pub(super) fn line_ends_of(
    frame: &mut Frame<'_>,
    slices: &[Slice],
    area: Rect,
    item: usize,
    bytes: &Range<usize>,
) -> Vec<Rect> {
    cells(frame, slices, area, item, |rows, texts, row| {
        let drawn = rows.get(row).filter(|row| !row.is_decoration)?;
        let end = texts.row(row).end;
        let below = rows.iter().skip(row + 1).find(|row| !row.is_decoration);
        let is_line_end = below.is_none_or(|below| below.joint == Joint::Line);
        // Behind the last line stands the gap to the next item.
        let is_selected =
            bytes.start <= end && if below.is_none() { bytes.end == usize::MAX } else { end < bytes.end };
        let column = texts.columns(rows, row, &texts.row(row)).end.max(usize::from(drawn.gutter));
        (is_line_end && is_selected).then_some(column..column + 1)
    })
}

/// The row of an item, its blank row included, in which a byte of its text stands.
pub(super) fn row_of(frame: &mut Frame<'_>, point: TextPoint) -> usize {
    let gap = usize::from(frame.placed(point.item).gap);
    let row = frame.read(point.item, |_, texts| texts.row_at(point.offset)).unwrap_or_default();
    (row + gap).min(frame.count(point.item).saturating_sub(1))
}
