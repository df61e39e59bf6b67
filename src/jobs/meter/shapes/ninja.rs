//! ninja and its like: steps counted at the begin of the line.

use super::super::figures::{Reading, ratio};
use super::{group, pattern};

/// `[12/40] Building C object a.o`.
pub fn read(line: &str) -> Option<Reading> {
    let found = pattern!(r"^\[ *([0-9]+)/([0-9]+)\] ").captures(line)?;
    let (done, all) = (group(&found, 1), group(&found, 2));
    let share = ratio(done, all)?;
    Some(Reading::trusted(Some(share), None, vec![format!("{done}/{all}")]))
}
