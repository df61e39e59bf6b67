//! git with `--progress`: a phase with a percentage and counts.

use super::super::figures::{Reading, percent};
use super::{facts, group, pattern};

/// `Receiving objects:  45% (450/1000), 1.20 MiB | 3.00 MiB/s`.
pub fn read(line: &str) -> Option<Reading> {
    let shape = pattern!(
        r"^(?:remote: )?([A-Z][A-Za-z][A-Za-z -]*):\s+([0-9]{1,3})% \(([0-9]+)/([0-9]+)\)(?:.*\| ([0-9.]+ [KMGT]?i?B/s|[0-9.]+ bytes/s))?"
    );
    let found = shape.captures(line)?;
    let share = percent(group(&found, 2))?;
    let phase = group(&found, 1).to_lowercase();
    Some(Reading::trusted(Some(share), None, facts([&phase, group(&found, 5)])))
}
