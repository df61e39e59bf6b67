//! The terminal's screen: what it shows, and the bytes that make it show the next frame.
//!
//! Responsibilities: the least bytes for a frame, synchronised so that nobody sees half of one. Not its business: when
//! to draw, and how the bytes reach the terminal ([`super::writer`]).
//!
//! Invariants
//! - A frame that equals the one shown costs nothing, not one byte.
//! - The cursor is shown or hidden only when that changes: each "show" restarts its blinking and disturbs an input method.
//! - No link is open between frames.
//! - When a frame is painted, the cursor ends at the caret, so that an input method opens there.

use super::frame_diff::{self, paint_row};
use super::links::Links;
use super::painter::Painter;
use super::scroll_regions::{self, Found, Shift};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::ops::Range;

const SYNC_BEGIN: &[u8] = b"\x1b[?2026h";
const SYNC_END: &[u8] = b"\x1b[?2026l";
/// A frame of up to this many bytes, or within a single row, needs no synchronisation: it reaches the terminal in one piece,
/// or could be seen no more torn than letters that come one after another.
const SYNC_FROM_BYTES: usize = 64;
/// Fewer changed rows are not worth the search for ones that moved.
const SHIFT_FROM_ROWS: usize = 4;

/// So many rows below those that moved as they are may belong to them.
const GROWING_ROWS: usize = 2;

/// Stands for whatever a cell shows. No frame holds it: it is no character.
const UNKNOWN: &str = "\u{10ffff}";

/// What is to be shown.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// All cells. Its size is the terminal's.
    pub cells: Buffer,
    /// Where the cursor is shown; nothing hides it.
    pub caret: Option<Position>,
    /// Addresses behind cells.
    pub links: Links,
    /// The terminal may draw ambiguous characters two columns wide.
    pub ambiguous_wide: bool,
}

/// What the terminal shows, as far as we know.
#[derive(Debug)]
pub struct Screen {
    shown: Buffer,
    links: Links,
    ambiguous_wide: bool,
    caret_shown: Option<bool>,
    painter: Painter,
    /// Nothing on the screen is certain: the next frame begins with a clear.
    stale: bool,
    synchronised: bool,
    /// Of the rows that are shown, from the first search for a shift on; empty while they are not known.
    hashes: Vec<u64>,
}

impl Screen {
    /// A screen of which nothing is known. `synchronised` says whether the terminal may be told where a frame begins and
    /// ends; one that does not know the mode skips it.
    pub fn new(synchronised: bool, erases_in_color: bool) -> Self {
        Self {
            shown: Buffer::default(),
            links: Links::default(),
            ambiguous_wide: false,
            caret_shown: None,
            painter: Painter::new(erases_in_color),
            stale: true,
            synchronised,
            hashes: Vec::new(),
        }
    }

    /// Forgets what is shown: after another program had the terminal, or when the user asks for it.
    pub const fn invalidate(&mut self) {
        self.stale = true;
    }

    /// What the terminal shows.
    pub const fn shown(&self) -> &Buffer {
        &self.shown
    }

    /// Forgets what these rows show: something else may have drawn there, as an input method does while a word is put
    /// together. The next frame writes them in full.
    pub fn distrust(&mut self, rows: Range<u16>) {
        self.hashes.clear();
        let area = self.shown.area;
        for y in rows.start..rows.end.min(area.height) {
            for x in 0..area.width {
                if let Some(cell) = self.shown.cell_mut((x, y)) {
                    cell.set_symbol(UNKNOWN);
                }
            }
        }
    }

    /// Appends to `out` what turns the screen into this frame, and returns the buffer of the one before.
    pub fn paint(&mut self, frame: Frame, out: &mut Vec<u8>) -> Buffer {
        let Frame { cells, caret, links, ambiguous_wide } = frame;
        let mut painter = self.painter.begin(ambiguous_wide);
        let known = !self.stale && self.shown.area == cells.area && self.ambiguous_wide == ambiguous_wide;
        let changed = if known {
            self.paint_difference(&mut painter, &cells, &links)
        } else {
            painter.clear();
            self.caret_shown = None;
            self.hashes.clear();
            paint_rows(&mut painter, &cells, &links, |_| None);
            usize::MAX
        };
        painter.close_link();
        let caret = caret.filter(|caret| cells.area.contains(*caret));
        if self.caret_shown != Some(caret.is_some()) {
            painter.raw(if caret.is_some() { b"\x1b[?25h" } else { b"\x1b[?25l" });
            self.caret_shown = Some(caret.is_some());
        }
        if let Some(caret) = caret {
            painter.move_to(caret);
        }
        let synchronise = self.synchronised && changed > 1 && painter.bytes().len() >= SYNC_FROM_BYTES;
        if synchronise {
            out.extend_from_slice(SYNC_BEGIN);
        }
        out.extend_from_slice(painter.bytes());
        if synchronise {
            out.extend_from_slice(SYNC_END);
        }
        painter.forget();
        self.painter = painter;
        self.stale = false;
        self.links = links;
        self.ambiguous_wide = ambiguous_wide;
        std::mem::replace(&mut self.shown, cells)
    }

    /// With a shift of rows or without, whichever takes fewer bytes. Tells how many rows were not right already.
    fn paint_difference(&mut self, painter: &mut Painter, cells: &Buffer, links: &Links) -> usize {
        let rows = |y| Some((row(&self.shown, &self.links, y)?, row(cells, links, y)?));
        let is_wrong = |y: &u16| rows(*y).is_some_and(|(old, new)| !old.same_as(new));
        let wrong: Vec<u16> = (0..cells.area.height).filter(is_wrong).collect();
        let found = self.find_shift(&wrong, cells, links);
        let Some(Found { shift, gain }) = found else {
            self.paint_in_place(painter, &wrong, cells, links);
            return wrong.len();
        };
        let mut shifted = painter.clone();
        self.paint_shifted(&mut shifted, self.grown(shift, painter, cells, links), cells, links);
        // Where most of what is wrong only moved, painting it in place can't be shorter.
        if gain * 2 < wrong.len() {
            self.paint_in_place(painter, &wrong, cells, links);
            if painter.bytes().len() <= shifted.bytes().len() {
                return wrong.len();
            }
        }
        *painter = shifted;
        wrong.len()
    }

    /// The shift that brings most of the wrong rows to their place. A stream changes its last row and a clock most of the
    /// time: of so few rows none is looked for.
    fn find_shift(&mut self, wrong: &[u16], cells: &Buffer, links: &Links) -> Option<Found> {
        let is_worth_it = wrong.len() >= SHIFT_FROM_ROWS;
        if is_worth_it && self.hashes.len() != usize::from(cells.area.height) {
            let rows = (0..cells.area.height).filter_map(|y| row(&self.shown, &self.links, y));
            self.hashes = rows.map(|row| scroll_regions::hash_row(row.cells)).collect();
        }
        let mut hashes = self.hashes.clone();
        for y in wrong {
            if let (Some(hash), Some(row)) = (hashes.get_mut(usize::from(*y)), row(cells, links, *y)) {
                *hash = scroll_regions::hash_row(row.cells);
            }
        }
        let before = std::mem::replace(&mut self.hashes, hashes);
        if is_worth_it { scroll_regions::find(&before, &self.hashes) } else { None }
    }

    /// The row below those that moved may have moved and grown at once: the last one of a text that streams. One that
    /// stands where it stood, such as a footer, stays out of it.
    fn grown(&self, shift: Shift, painter: &Painter, cells: &Buffer, links: &Links) -> Shift {
        let Some(rows) = u16::try_from(shift.by).ok() else { return shift };
        let height = cells.area.height;
        let stays = |y: u16| match (row(&self.shown, &self.links, y), row(cells, links, y)) {
            (Some(old), Some(new)) => old.same_as(new),
            _ => true,
        };
        let grows = |bottom: &u16| (shift.bottom..*bottom).all(|y| !stays(y));
        let bottoms = (shift.bottom..=height).take(1 + GROWING_ROWS).take_while(grows);
        // Only these rows come from elsewhere by one bottom than by another.
        let from = shift.bottom.saturating_sub(rows);
        let to = shift.bottom.saturating_add(u16::try_from(GROWING_ROWS).unwrap_or(0)).min(height);
        let cost = |bottom: &u16| {
            let mut tried = painter.clone();
            let shift = Shift { bottom: *bottom, ..shift };
            for y in from..to {
                if let Some(new) = row(cells, links, y) {
                    let old = shift.origin(y).and_then(|y| row(&self.shown, &self.links, y));
                    paint_row(&mut tried, y, old, new);
                }
            }
            tried.bytes().len()
        };
        let bottom = bottoms.min_by_key(cost).unwrap_or(shift.bottom);
        Shift { bottom, ..shift }
    }

    fn paint_shifted(&self, painter: &mut Painter, shift: Shift, cells: &Buffer, links: &Links) {
        painter.scroll(shift.top, shift.bottom, shift.by, cells.area.height);
        // The terminal moves links with their rows.
        paint_rows(painter, cells, links, |y| row(&self.shown, &self.links, shift.origin(y)?));
    }

    fn paint_in_place(&self, painter: &mut Painter, wrong: &[u16], cells: &Buffer, links: &Links) {
        for y in wrong {
            if let Some(new) = row(cells, links, *y) {
                paint_row(painter, *y, row(&self.shown, &self.links, *y), new);
            }
        }
    }
}

/// Paints all rows.
fn paint_rows<'a>(
    painter: &mut Painter,
    cells: &Buffer,
    links: &Links,
    old: impl Fn(u16) -> Option<frame_diff::Row<'a>>,
) {
    for y in 0..cells.area.height {
        if let Some(new) = row(cells, links, y) {
            paint_row(painter, y, old(y), new);
        }
    }
}

fn row<'a>(buffer: &'a Buffer, links: &'a Links, y: u16) -> Option<frame_diff::Row<'a>> {
    let Rect { width, .. } = buffer.area;
    let start = usize::from(y) * usize::from(width);
    let cells = buffer.content.get(start..start + usize::from(width))?;
    Some(frame_diff::Row { cells, links: links.row(y) })
}

#[cfg(test)]
mod tests;
