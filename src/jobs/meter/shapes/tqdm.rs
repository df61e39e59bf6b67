//! tqdm: a bar between two strokes, counts, times.

use super::super::figures::{Reading, left, percent, ratio};
use super::{group, pattern};

/// `epoch:  45%|████▌     | 27/60 [00:01<00:01, 19.51it/s]`.
pub fn read(line: &str) -> Option<Reading> {
    let shape = pattern!(
        r"(?:^|[^0-9.])([0-9]{1,3})%\|[^|]*\| *([0-9.]+[kMGT]?)/([0-9.]+[kMGT]?) \[[0-9dh: ,]+<([0-9:?-]+)"
    );
    let found = shape.captures(line)?;
    let (done, all) = (group(&found, 2), group(&found, 3));
    // The percentage is rounded, and 99.6 of 100 must not look finished.
    let share = ratio(done, all).or_else(|| percent(group(&found, 1)))?;
    Some(Reading::trusted(Some(share), left(group(&found, 4)), vec![format!("{done}/{all}")]))
}
