//! What the window shows: following the end, or reading at an anchor. Pure: the front end passes in the heights and the
//! row starts of the entries it asks about.
//!
//! Invariants: while reading, nothing that happens elsewhere moves the row at the top of the window; the window never
//! shows rows beyond the last one unless the transcript is shorter than it; scrolling to the end follows again.

use super::anchor::Anchor;
use super::heights::Heights;

/// Where the window stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scroll {
    /// The last row is at the bottom, whatever comes.
    #[default]
    Follow,
    /// This place is at the top.
    Reading(Anchor),
}

/// The rows of an entry, laid out exactly. The front end lays out what is asked for, and answers from what it keeps: an
/// entry may have a hundred thousand rows, and is asked about several times a frame.
pub trait Rows {
    /// How many rows an entry has: its exact height.
    fn count(&mut self, entry: usize) -> usize;
    /// The place of a row of an entry, see [`super::anchor::RowStarts::anchor`].
    fn anchor(&mut self, entry: usize, row: usize) -> Anchor;
    /// The row of a place, see [`super::anchor::RowStarts::row`].
    fn row(&mut self, anchor: Anchor) -> usize;
    /// The first entry from this one on that may have rows: those between are known to have none, and nobody asks each of
    /// them.
    fn from(&mut self, entry: usize) -> usize {
        entry
    }
    /// The end of the entries before this one that may have rows: those from there on are known to have none.
    fn until(&mut self, end: usize) -> usize {
        end
    }
}

/// A part of an entry that stands in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Index of the entry.
    pub entry: usize,
    /// Its first row that is shown.
    pub first: usize,
    /// How many of its rows are shown.
    pub rows: usize,
}

impl Scroll {
    /// What stands in a window of this many rows, from top to bottom. Lays out exactly what is shown and corrects the
    /// heights of it; settles the position on the way (a place that is gone, a window that is larger than the rest).
    pub fn window(&mut self, height: usize, heights: &mut Heights, rows: &mut impl Rows) -> Vec<Slice> {
        if height == 0 || heights.is_empty() {
            return Vec::new();
        }
        if let Self::Reading(anchor) = *self {
            let shown = from_top(anchor, height, heights, rows);
            if let Some(slices) = shown
                && !ends_with(&slices, heights, rows)
            {
                return slices;
            }
            // A window or less is left below: the end is in sight.
            *self = Self::Follow;
        }
        from_bottom(height, heights, rows)
    }

    /// Moves by rows, up if negative, in a window of this many rows.
    pub fn by(&mut self, delta: isize, height: usize, heights: &mut Heights, rows: &mut impl Rows) {
        let Some(top) = self.window(height, heights, rows).first().copied() else { return };
        let Some((entry, row)) = walk((top.entry, top.first), delta, heights, rows) else { return };
        *self = Self::Reading(rows.anchor(entry, row));
        // Settles: at the end it follows again.
        self.window(height, heights, rows);
    }

    /// To the first row.
    pub fn to_start(&mut self) {
        *self = Self::Reading(Anchor::default());
    }

    /// To the end, and follows it.
    pub const fn to_end(&mut self) {
        *self = Self::Follow;
    }

    /// Puts an entry's first row at the top.
    pub const fn to_entry(&mut self, entry: usize) {
        *self = Self::Reading(Anchor { entry, offset: 0, bias: 0 });
    }

    /// The end is shown and stays shown.
    pub fn is_following(&self) -> bool {
        *self == Self::Follow
    }
}

/// Slices from an anchor down. `None` when they do not fill the window.
fn from_top(
    anchor: Anchor,
    height: usize,
    heights: &mut Heights,
    rows: &mut impl Rows,
) -> Option<Vec<Slice>> {
    let mut slices = Vec::new();
    let mut left = height;
    let mut from = anchor.entry;
    while left > 0 {
        let (entry, count) = below(from, heights, rows)?;
        let first = if entry == anchor.entry { rows.row(anchor) } else { 0 };
        let shown = count.saturating_sub(first).min(left);
        if shown > 0 {
            slices.push(Slice { entry, first, rows: shown });
        }
        left -= shown;
        from = entry + 1;
    }
    Some(slices)
}

/// Whether the last row of all is among these slices. Who scrolls down to it follows again, without one step more.
fn ends_with(slices: &[Slice], heights: &mut Heights, rows: &mut impl Rows) -> bool {
    let Some(last) = slices.last() else { return false };
    last.first + last.rows >= exact(last.entry, heights, rows)
        && below(last.entry + 1, heights, rows).is_none()
}

/// Slices from the end up.
fn from_bottom(height: usize, heights: &mut Heights, rows: &mut impl Rows) -> Vec<Slice> {
    let mut slices = Vec::new();
    let mut left = height;
    let mut end = heights.len();
    while left > 0
        && let Some((entry, count)) = above(end, heights, rows)
    {
        let shown = count.min(left);
        slices.push(Slice { entry, first: count - shown, rows: shown });
        left -= shown;
        end = entry;
    }
    slices.reverse();
    slices
}

/// The place some rows on, or up if negative; the first or last one where the transcript ends.
fn walk(
    from: (usize, usize),
    delta: isize,
    heights: &mut Heights,
    rows: &mut impl Rows,
) -> Option<(usize, usize)> {
    let (mut entry, mut row) = from;
    let mut left = delta.unsigned_abs();
    if delta < 0 {
        while left > row {
            left -= row;
            // Entries without rows are passed over.
            let Some(above) = above(entry, heights, rows) else { return Some((entry, 0)) };
            (entry, row) = above;
        }
        return Some((entry, row - left));
    }
    loop {
        let below = exact(entry, heights, rows).saturating_sub(row);
        if left < below {
            return Some((entry, row + left));
        }
        left -= below;
        let Some((next, _)) = self::below(entry + 1, heights, rows) else {
            return Some((entry, row + below.saturating_sub(1)));
        };
        (entry, row) = (next, 0);
    }
}

/// The first entry from this one on that has rows, and how many.
fn below(from: usize, heights: &mut Heights, rows: &mut impl Rows) -> Option<(usize, usize)> {
    let mut entry = from;
    loop {
        let next = rows.from(entry).max(entry).min(heights.len());
        clear(entry, next, heights);
        entry = next;
        if entry >= heights.len() {
            return None;
        }
        let count = exact(entry, heights, rows);
        if count > 0 {
            return Some((entry, count));
        }
        entry += 1;
    }
}

/// The last entry before this one that has rows, and how many.
fn above(end: usize, heights: &mut Heights, rows: &mut impl Rows) -> Option<(usize, usize)> {
    let mut end = end.min(heights.len());
    loop {
        let next = rows.until(end).min(end);
        clear(next, end, heights);
        end = next.checked_sub(1)?;
        let count = exact(end, heights, rows);
        if count > 0 {
            return Some((end, count));
        }
    }
}

/// Entries that are passed over have no rows, whatever they had before.
fn clear(from: usize, to: usize, heights: &mut Heights) {
    if from < to && heights.top(from) < heights.top(to) {
        for entry in from..to {
            if heights.get(entry) > 0 {
                heights.set(entry, 0);
            }
        }
    }
}

fn exact(entry: usize, heights: &mut Heights, rows: &mut impl Rows) -> usize {
    let count = rows.count(entry);
    let height = u32::try_from(count).unwrap_or(u32::MAX);
    if heights.get(entry) != height {
        heights.set(entry, height);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::super::anchor::RowStarts;
    use super::*;
    use proptest::prelude::*;

    /// Entries of this many rows, ten bytes a row; counts what is laid out.
    struct Plain {
        rows: Vec<usize>,
        laid_out: usize,
        /// It knows which entries have none.
        knows: bool,
    }

    impl Plain {
        fn starts(&self, entry: usize) -> RowStarts {
            RowStarts::new((0..self.rows[entry]).map(|row| row * 10))
        }
    }

    impl Rows for Plain {
        fn count(&mut self, entry: usize) -> usize {
            self.laid_out += 1;
            self.rows[entry]
        }

        fn anchor(&mut self, entry: usize, row: usize) -> Anchor {
            self.starts(entry).anchor(entry, row)
        }

        fn row(&mut self, anchor: Anchor) -> usize {
            self.starts(anchor.entry).row(anchor)
        }

        fn from(&mut self, entry: usize) -> usize {
            let rows = self.rows.iter().skip(if self.knows { entry } else { usize::MAX });
            entry + rows.take_while(|rows| **rows == 0).count()
        }

        fn until(&mut self, end: usize) -> usize {
            let rows = self.rows.iter().take(if self.knows { end } else { 0 }).rev();
            end - rows.take_while(|rows| **rows == 0).count()
        }
    }

    fn world(rows: &[usize]) -> (Heights, Plain) {
        let mut heights = Heights::default();
        for _ in rows {
            // Estimates, all wrong.
            heights.push(3);
        }
        (heights, Plain { rows: rows.to_vec(), laid_out: 0, knows: false })
    }

    fn slice(entry: usize, first: usize, rows: usize) -> Slice {
        Slice { entry, first, rows }
    }

    #[test]
    fn following_shows_the_end() {
        let (mut heights, mut plain) = world(&[5, 0, 4]);
        let mut scroll = Scroll::Follow;
        assert_eq!(scroll.window(6, &mut heights, &mut plain), [slice(0, 3, 2), slice(2, 0, 4)]);
        assert_eq!(scroll.window(20, &mut heights, &mut plain), [slice(0, 0, 5), slice(2, 0, 4)]);
        assert_eq!(scroll.window(0, &mut heights, &mut plain), []);
    }

    #[test]
    fn reading_stays_where_it_is_when_more_comes() {
        let (mut heights, mut plain) = world(&[5, 5, 5]);
        let mut scroll = Scroll::Follow;
        scroll.by(-4, 6, &mut heights, &mut plain);
        let before = scroll.window(6, &mut heights, &mut plain);
        assert_eq!(before, [slice(1, 0, 5), slice(2, 0, 1)]);
        plain.rows[2] = 50;
        plain.rows.push(7);
        heights.push(1);
        assert_eq!(scroll.window(6, &mut heights, &mut plain), before);
        assert!(!scroll.is_following());
    }

    #[test]
    fn scrolling_down_to_the_end_follows_again() {
        let (mut heights, mut plain) = world(&[5, 5]);
        let mut scroll = Scroll::Follow;
        scroll.by(-3, 4, &mut heights, &mut plain);
        scroll.by(2, 4, &mut heights, &mut plain);
        assert!(!scroll.is_following());
        scroll.by(5, 4, &mut heights, &mut plain);
        assert!(scroll.is_following());
        // To the row, and no further.
        scroll.by(-3, 4, &mut heights, &mut plain);
        scroll.by(3, 4, &mut heights, &mut plain);
        assert!(scroll.is_following());
    }

    #[test]
    fn the_start_is_the_start() {
        let (mut heights, mut plain) = world(&[0, 5, 5]);
        let mut scroll = Scroll::Follow;
        scroll.by(-100, 4, &mut heights, &mut plain);
        assert_eq!(scroll.window(4, &mut heights, &mut plain), [slice(1, 0, 4)]);
        scroll.to_end();
        scroll.to_start();
        assert_eq!(scroll.window(4, &mut heights, &mut plain), [slice(1, 0, 4)]);
        scroll.to_entry(2);
        assert_eq!(scroll.window(4, &mut heights, &mut plain), [slice(2, 0, 4)]);
    }

    #[test]
    fn a_short_transcript_is_followed() {
        let (mut heights, mut plain) = world(&[2]);
        let mut scroll = Scroll::Follow;
        scroll.by(-1, 10, &mut heights, &mut plain);
        assert!(scroll.is_following());
        assert_eq!(scroll.window(10, &mut heights, &mut plain), [slice(0, 0, 2)]);
    }

    #[test]
    fn only_what_is_visible_is_laid_out() {
        let (mut heights, mut plain) = world(&vec![3; 100_000]);
        let mut scroll = Scroll::Follow;
        scroll.window(40, &mut heights, &mut plain);
        scroll.to_entry(50_000);
        scroll.window(40, &mut heights, &mut plain);
        scroll.by(-40, 40, &mut heights, &mut plain);
        assert!(plain.laid_out < 200, "{}", plain.laid_out);
    }

    #[test]
    fn what_is_known_to_have_no_rows_is_not_asked_for_them() {
        let mut all = vec![2; 50];
        all.extend(vec![0; 100_000]);
        all.extend(vec![2; 10]);
        let (mut heights, mut plain) = world(&all);
        plain.knows = true;
        let mut scroll = Scroll::Follow;
        scroll.window(40, &mut heights, &mut plain);
        scroll.by(-10, 40, &mut heights, &mut plain);
        scroll.by(5, 40, &mut heights, &mut plain);
        scroll.by(20, 40, &mut heights, &mut plain);
        assert!(plain.laid_out < 300, "{}", plain.laid_out);
        // The bar does not count what they had before.
        assert_eq!((heights.top(100_050) - heights.top(50), heights.get(60)), (0, 0));
    }

    proptest! {
        /// Against the transcript as one list of rows.
        #[test]
        fn it_agrees_with_a_plain_list(
            rows in prop::collection::vec(0_usize..6, 0..12),
            height in 1_usize..10,
            moves in prop::collection::vec(-12_isize..12, 0..12),
            knows in any::<bool>(),
        ) {
            let all: Vec<(usize, usize)> =
                rows.iter().enumerate().flat_map(|(entry, n)| (0..*n).map(move |row| (entry, row))).collect();
            let last = all.len().saturating_sub(height);
            let (mut heights, mut plain) = world(&rows);
            plain.knows = knows;
            let (mut scroll, mut top) = (Scroll::Follow, last);
            for delta in std::iter::once(0).chain(moves) {
                if delta != 0 {
                    scroll.by(delta, height, &mut heights, &mut plain);
                    top = top.saturating_add_signed(delta).min(last);
                }
                let shown: Vec<(usize, usize)> = scroll
                    .window(height, &mut heights, &mut plain)
                    .iter()
                    .flat_map(|slice| (slice.first..slice.first + slice.rows).map(|row| (slice.entry, row)))
                    .collect();
                let wanted: Vec<(usize, usize)> = all.iter().skip(top).take(height).copied().collect();
                prop_assert_eq!(shown, wanted);
            }
        }
    }
}
