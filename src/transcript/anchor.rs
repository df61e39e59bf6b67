//! A place in the content, independent of width and of the heights of other entries.

/// A row of an entry: where the window's first row is, where a selection begins.
///
/// `offset` is a place in the entry's own text (see `text::Row`), so that the same words stay at the same place when
/// the width changes; `bias` counts rows from there, for rows that have no text of their own (rules, blank lines).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Anchor {
    /// Index of the entry in the transcript.
    pub entry: usize,
    /// Byte offset in the entry's text.
    pub offset: usize,
    /// Rows after the one that holds the offset.
    pub bias: usize,
}

/// A place in the text of an item as a copy has it: where a selection begins, where a match was found.
///
/// `offset` counts bytes of the text of the item's drawn rows (`text::row_text::RowTexts`): wrapped lines are whole in
/// it, so the place survives another width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextPoint {
    /// Index of the item in the transcript.
    pub item: usize,
    /// Byte of its text.
    pub offset: usize,
}

/// Where each row of an entry begins in its text, in order; several rows may begin at the same place.
///
/// Invariant: offsets never fall.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowStarts(Vec<usize>);

impl RowStarts {
    /// Takes the offsets of all rows. Offsets that fall (a footnote shown before its text) are raised to the one
    /// before, so that the order of rows and of offsets agree.
    pub fn new(offsets: impl IntoIterator<Item = usize>) -> Self {
        let mut highest = 0;
        Self(
            offsets
                .into_iter()
                .map(|offset| {
                    highest = highest.max(offset);
                    highest
                })
                .collect(),
        )
    }

    /// Takes away all rows from this one on.
    pub fn truncate(&mut self, rows: usize) {
        self.0.truncate(rows);
    }

    /// Adds a row, as [`RowStarts::new`] would.
    pub fn push(&mut self, offset: usize) {
        self.0.push(self.0.last().copied().unwrap_or_default().max(offset));
    }

    /// How many rows there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// There are no rows.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The anchor of a row; of the last one for a row beyond it.
    pub fn anchor(&self, entry: usize, row: usize) -> Anchor {
        let row = row.min(self.0.len().saturating_sub(1));
        let offset = self.0.get(row).copied().unwrap_or_default();
        let first = self.0.partition_point(|start| *start < offset);
        Anchor { entry, offset, bias: row - first.min(row) }
    }

    /// The row of an anchor: the one that holds its offset, and `bias` rows on, within the entry.
    pub fn row(&self, anchor: Anchor) -> usize {
        let last = self.0.len().saturating_sub(1);
        let holding = self.0.partition_point(|start| *start <= anchor.offset).saturating_sub(1);
        // Of several rows that begin at the offset the first one counts; the bias says how far on.
        let start = self.0.get(holding).copied().unwrap_or_default();
        let first = if start == anchor.offset { self.0.partition_point(|row| *row < start) } else { holding };
        (first + anchor.bias).min(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rows_without_text_of_their_own_are_told_apart() {
        let rows = RowStarts::new([0, 10, 10, 10, 25]);
        assert_eq!(rows.anchor(7, 2), Anchor { entry: 7, offset: 10, bias: 1 });
        assert_eq!(rows.row(Anchor { entry: 7, offset: 10, bias: 1 }), 2);
        assert_eq!(rows.row(Anchor { entry: 7, offset: 17, bias: 0 }), 3);
        assert_eq!(rows.row(Anchor { entry: 7, offset: 900, bias: 9 }), 4);
    }

    #[test]
    fn an_entry_without_rows_has_one_place() {
        let rows = RowStarts::new([]);
        assert_eq!(rows.anchor(3, 5), Anchor { entry: 3, offset: 0, bias: 0 });
        assert_eq!(rows.row(Anchor { entry: 3, offset: 8, bias: 8 }), 0);
    }

    proptest! {
        #[test]
        fn a_row_and_its_anchor_agree(offsets in prop::collection::vec(0_usize..50, 1..40), row in 0_usize..40) {
            let rows = RowStarts::new(offsets);
            let row = row.min(rows.len() - 1);
            prop_assert_eq!(rows.row(rows.anchor(0, row)), row);
        }

        #[test]
        fn another_width_keeps_the_words(
            offsets in prop::collection::btree_set(0_usize..200, 1..40),
            // All rows have text of their own: none begins where the one before does.
            others in prop::collection::btree_set(1_usize..200, 1..40),
            row in 0_usize..40,
        ) {
            let wide = RowStarts::new(offsets);
            let narrow = RowStarts::new(std::iter::once(0).chain(others));
            let anchor = wide.anchor(0, row);
            let shown = narrow.row(anchor);
            // The row that is shown holds the anchor's text: it begins at or before it, the next one after it.
            prop_assert!(narrow.0[shown] <= anchor.offset);
            prop_assert!(narrow.0.get(shown + 1).is_none_or(|next| *next > anchor.offset));
        }
    }
}
