//! apt: its bar while it installs, and its line while it downloads.

use super::super::figures::{Reading, left, percent};
use super::{facts, group, pattern};

/// `Progress: [ 45%] [####....]`, `45% [1 cmake 1,234 kB/5,678 kB 21%]   1,234 kB/s 3s`.
pub fn read(line: &str) -> Option<Reading> {
    if let Some(found) = pattern!(r"^Progress: \[ *([0-9]{1,3})%\]").captures(line) {
        return Some(Reading::trusted(Some(percent(group(&found, 1))?), None, Vec::new()));
    }
    let shape =
        pattern!(r"^([0-9]{1,3})% \[[^\]].*\](?:\s+([0-9.,]+ [kMG]?B/s))?(?:\s+([0-9][0-9dhmins ]*))?\s*$");
    let found = shape.captures(line)?;
    let share = percent(group(&found, 1))?;
    // Minutes are written `3min 5s`.
    let rest = group(&found, 3).replace("min", "m");
    Some(Reading::trusted(Some(share), left(&rest), facts([group(&found, 2)])))
}
