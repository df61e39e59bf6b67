//! Finds the rows that only moved, so that the terminal can shift them itself.
//!
//! Pure: the rows of two frames of the same size in, as hashes; at most one shift out. Whether it saves bytes is for the
//! caller to compare.

use ratatui::buffer::Cell;
use std::hash::{Hash, Hasher};

/// Rows `top..bottom` move up by `by`, or down when it is negative; what comes free is blank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift {
    /// First row of the region.
    pub top: u16,
    /// The row after the region's last.
    pub bottom: u16,
    /// Rows, up when positive, never zero.
    pub by: i32,
}

impl Shift {
    /// Which old row stands at row `y` after the shift; nothing where a blank row came in.
    pub fn origin(self, y: u16) -> Option<u16> {
        if !(self.top..self.bottom).contains(&y) {
            return Some(y);
        }
        let from = i32::from(y) + self.by;
        u16::try_from(from).ok().filter(|from| (self.top..self.bottom).contains(from))
    }
}

/// A shift and what it is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The shift.
    pub shift: Shift,
    /// Rows that would have to be painted without it.
    pub gain: usize,
}

/// The shift that brings the most changed rows to their new place, if it brings two at least. Rows are given by their
/// hashes; see [`hash_row`].
pub fn find(old: &[u64], new: &[u64]) -> Option<Found> {
    let changed = |&y: &usize| old.get(y) != new.get(y);
    let first = (0..new.len()).find(changed)?;
    let last = (0..new.len()).rfind(changed)?;
    let blank = hash_row(&[Cell::EMPTY]);
    let mut best: Option<Found> = None;
    for distance in 1..=(last - first) {
        for up in [true, false] {
            let mut run = Run::default();
            for y in first..=(last - distance) {
                // The old row and the new one that would be the same.
                let (from, to) = if up { (y + distance, y) } else { (y, y + distance) };
                if old.get(from) == new.get(to) {
                    run.extend(y, changed(&to) && new.get(to) != Some(&blank));
                    if run.gain >= 2 && best.is_none_or(|best| run.gain > best.gain) {
                        best = shift(run, distance, up).map(|shift| Found { shift, gain: run.gain });
                    }
                } else {
                    run = Run::default();
                }
            }
        }
    }
    best
}

/// Neighbouring rows that moved alike.
#[derive(Debug, Default, Clone, Copy)]
struct Run {
    start: usize,
    rows: usize,
    /// Rows that would have to be painted without the shift.
    gain: usize,
}

impl Run {
    fn extend(&mut self, y: usize, gains: bool) {
        if self.rows == 0 {
            self.start = y;
        }
        self.rows += 1;
        self.gain += usize::from(gains);
    }
}

fn shift(run: Run, distance: usize, up: bool) -> Option<Shift> {
    let by = i32::try_from(distance).ok()?;
    Some(Shift {
        top: u16::try_from(run.start).ok()?,
        bottom: u16::try_from(run.start + run.rows + distance).ok()?,
        by: if up { by } else { -by },
    })
}

/// A row's blanks at the end do not count, so that a blank row has one hash whatever its width.
pub fn hash_row(row: &[Cell]) -> u64 {
    let end = row.iter().rposition(|cell| *cell != Cell::EMPTY).map_or(0, |last| last + 1);
    let mut hasher = RowHasher::default();
    row.iter().take(end).for_each(|cell| cell.hash(&mut hasher));
    hasher.finish()
}

/// Fast and not safe against contrived rows: a collision costs bytes, since the painter compares the cells themselves.
#[derive(Default)]
struct RowHasher(u64);

impl RowHasher {
    const fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for RowHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.mix(u64::from(number));
    }

    fn write_u16(&mut self, number: u16) {
        self.mix(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &str) -> Vec<u64> {
        let cell = |row: char| {
            let mut cell = Cell::EMPTY;
            cell.set_char(if row == '.' { ' ' } else { row });
            cell
        };
        rows.chars().map(|row| hash_row(&[cell(row)])).collect()
    }

    #[test]
    fn shifts_are_found_where_they_are() {
        let table = [
            ("abcdef", "abcdef", None),
            ("abcdef", "bcdefg", Some((0, 6, 1))),
            ("abcdef", "zabcde", Some((0, 6, -1))),
            // The last row stays: a footer.
            ("abcdeF", "cdexyF", Some((0, 5, 2))),
            ("Habcde", "Hxabcd", Some((1, 6, -1))),
            // One row alone is cheaper to paint.
            ("ab", "bx", None),
            ("abcdef", "uvwxyz", None),
            // Blank rows gain nothing.
            ("a....b", "x....y", None),
        ];
        for (old, new, wanted) in table {
            let found =
                find(&rows(old), &rows(new)).map(|Found { shift, .. }| (shift.top, shift.bottom, shift.by));
            assert_eq!(found, wanted, "{old} to {new}");
        }
    }

    #[test]
    fn a_row_that_came_in_has_no_origin() {
        let shift = Shift { top: 1, bottom: 5, by: 2 };
        let origins: Vec<_> = (0..6).map(|y| shift.origin(y)).collect();
        assert_eq!(origins, [Some(0), Some(3), Some(4), None, None, Some(5)]);
        let shift = Shift { top: 1, bottom: 5, by: -1 };
        let origins: Vec<_> = (0..6).map(|y| shift.origin(y)).collect();
        assert_eq!(origins, [Some(0), None, Some(1), Some(2), Some(3), Some(5)]);
    }
}
