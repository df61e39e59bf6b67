//! rsync with `--info=progress2` or `--progress`: amount, percentage, speed, time.

use super::super::figures::{Reading, left, percent};
use super::{group, pattern};

/// `  2,621,440  43%    1.43MB/s    0:00:02`.
pub fn read(line: &str) -> Option<Reading> {
    let shape = pattern!(
        r"^\s*[0-9][0-9.,]*[KMGTP]?\s+([0-9]{1,3})%\s+([0-9.,]+[kKMGT]?B/s)\s+([0-9]+:[0-9]{2}:[0-9]{2}|\?\?:\?\?:\?\?)(\s+\(.*)?\s*$"
    );
    let found = shape.captures(line)?;
    let share = percent(group(&found, 1))?;
    // With what is in parentheses behind it, the time is the one that passed.
    let rest = if group(&found, 4).is_empty() { left(group(&found, 3)) } else { None };
    Some(Reading::trusted(Some(share), rest, vec![group(&found, 2).to_owned()]))
}
