//! Rows of all entries, summed: which entry stands at a row, and at which row an entry begins.
//!
//! A binary indexed tree over the heights: a change, a look-up either way and an append cost the logarithm of the
//! number of entries, so that a frame costs the same with 100,000 entries as with ten. Heights of entries that were
//! never laid out are estimates; what is on screen is always exact, and the anchor absorbs the difference.

/// Heights of all entries, in rows.
#[derive(Clone, Debug, Default)]
pub struct Heights {
    heights: Vec<u32>,
    /// `tree[i]` is the sum of the `i & -i` heights that end at entry `i - 1`; `tree[0]` is unused.
    tree: Vec<u64>,
}

impl Heights {
    /// So many entries of no rows.
    pub fn zero(entries: usize) -> Self {
        Self { heights: vec![0; entries], tree: vec![0; entries + 1] }
    }

    /// Number of entries.
    pub const fn len(&self) -> usize {
        self.heights.len()
    }

    /// There are no entries.
    pub const fn is_empty(&self) -> bool {
        self.heights.is_empty()
    }

    /// Rows of all entries together.
    pub fn total(&self) -> u64 {
        self.top(self.len())
    }

    /// Rows of an entry; none of one that is not there.
    pub fn get(&self, entry: usize) -> u32 {
        self.heights.get(entry).copied().unwrap_or_default()
    }

    /// Adds an entry behind all others.
    pub fn push(&mut self, height: u32) {
        if self.tree.is_empty() {
            self.tree.push(0);
        }
        let index = self.len() + 1;
        // The new node sums the ones below it that it covers.
        let mut sum = u64::from(height);
        let mut below = index - 1;
        let end = index - lowest_bit(index);
        while below > end {
            sum += self.tree.get(below).copied().unwrap_or_default();
            below -= lowest_bit(below);
        }
        self.heights.push(height);
        self.tree.push(sum);
    }

    /// Gives an entry another height. Nothing happens for one that is not there.
    pub fn set(&mut self, entry: usize, height: u32) {
        let Some(old) = self.heights.get_mut(entry) else { return };
        let (before, after) = (u64::from(*old), u64::from(height));
        *old = height;
        let mut index = entry + 1;
        while let Some(sum) = self.tree.get_mut(index) {
            *sum = *sum - before + after;
            index += lowest_bit(index);
        }
    }

    /// Takes away all entries from this one on.
    pub fn truncate(&mut self, entries: usize) {
        self.heights.truncate(entries);
        self.tree.truncate(entries + 1);
    }

    /// The row at which an entry begins, counted from the top of the transcript; the total for the one after the last.
    pub fn top(&self, entry: usize) -> u64 {
        let mut index = entry.min(self.len());
        let mut sum = 0;
        while index > 0 {
            sum += self.tree.get(index).copied().unwrap_or_default();
            index -= lowest_bit(index);
        }
        sum
    }

    /// The entry at a row and the row within it. Entries of no rows stand nowhere. `None` beyond the last row.
    pub fn at(&self, row: u64) -> Option<(usize, u32)> {
        let mut index = 0;
        let mut left = row;
        let mut step = self.len().checked_ilog2().map_or(0, |log| 1 << log);
        while step > 0 {
            let next = index + step;
            if let Some(sum) = self.tree.get(next)
                && *sum <= left
            {
                index = next;
                left -= sum;
            }
            step /= 2;
        }
        let height = self.heights.get(index)?;
        let within = u32::try_from(left).ok().filter(|within| within < height)?;
        Some((index, within))
    }
}

const fn lowest_bit(index: usize) -> usize {
    index & index.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Push(u32),
        Set(usize, u32),
        Truncate(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            5 => (0_u32..9).prop_map(Step::Push),
            3 => (0_usize..30, 0_u32..9).prop_map(|(entry, height)| Step::Set(entry, height)),
            1 => (0_usize..30).prop_map(Step::Truncate),
        ]
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_plain_list(steps in prop::collection::vec(step(), 0..80)) {
            let (mut heights, mut plain): (Heights, Vec<u32>) = Default::default();
            for step in steps {
                match step {
                    Step::Push(height) => {
                        heights.push(height);
                        plain.push(height);
                    }
                    Step::Set(entry, height) => {
                        heights.set(entry, height);
                        if let Some(old) = plain.get_mut(entry) {
                            *old = height;
                        }
                    }
                    Step::Truncate(entries) => {
                        heights.truncate(entries);
                        plain.truncate(entries);
                    }
                }
                prop_assert_eq!(heights.len(), plain.len());
                let rows: Vec<(usize, u32)> = plain
                    .iter()
                    .enumerate()
                    .flat_map(|(entry, height)| (0..*height).map(move |row| (entry, row)))
                    .collect();
                prop_assert_eq!(heights.total(), rows.len() as u64);
                for (row, place) in rows.iter().enumerate() {
                    prop_assert_eq!(heights.at(row as u64), Some(*place));
                }
                prop_assert_eq!(heights.at(rows.len() as u64), None);
                let mut top = 0;
                for (entry, height) in plain.iter().enumerate() {
                    prop_assert_eq!(heights.top(entry), top);
                    prop_assert_eq!(heights.get(entry), *height);
                    top += u64::from(*height);
                }
            }
        }
    }
}
