//! pip, and other programs that draw with rich: a bar of lines, amounts, speed, time left.

use super::super::figures::{Reading, left, ratio};
use super::{facts, group, pattern};

/// `━━━━━━━━╸━━━━━━━━━ 5.2/15.8 MB 10.1 MB/s eta 0:00:02`.
pub fn read(line: &str) -> Option<Reading> {
    let shape = pattern!(
        r"[━╸╺][━╸╺ ]*\s([0-9.]+)/([0-9.]+) ([kKMGT]?i?B|bytes)\b(?:\s+(?:([0-9.]+ (?:[kKMGT]?i?B|bytes)/s)|\?))?(?:\s+eta ([0-9:-]+|\?))?"
    );
    let found = shape.captures(line)?;
    let (done, all, unit) = (group(&found, 1), group(&found, 2), group(&found, 3));
    let share = ratio(done, all)?;
    let amount = format!("{done}/{all} {unit}");
    Some(Reading::trusted(Some(share), left(group(&found, 5)), facts([&amount, group(&found, 4)])))
}
