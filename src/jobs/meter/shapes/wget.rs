//! wget: a bar on a terminal, dots in a log, an arrow that wanders where the size is not known.

use super::super::figures::{Reading, left, percent};
use super::{facts, group, pattern};

/// `file  45%[====>    ]   2.5M  1.00MB/s    eta 3s`.
pub fn bar(line: &str) -> Option<Reading> {
    let shape = pattern!(
        r"(?:^|[^0-9.])([0-9]{1,3})%\[[^\]]*\]\s+([0-9.,]+[KMGT]?)(?:\s+(?:([0-9.,]+ ?[KMGT]?B/s)|--\.-[KMGT]?B/s))?(?:\s+(?:eta ([0-9dhms ]+)|in [0-9.dhms ]+))?\s*$"
    );
    let found = shape.captures(line)?;
    let share = percent(group(&found, 1))?;
    Some(Reading::trusted(Some(share), left(group(&found, 4)), facts([group(&found, 2), group(&found, 3)])))
}

/// ` 2500K .......... .......... ..........  45% 1.00M 3s`.
pub fn dots(line: &str) -> Option<Reading> {
    let shape = pattern!(
        r"^\s*[0-9]+[KM] [., ]*\s([0-9]{1,3})%\s+([0-9.,]+[KMGT]?)(?:=[0-9.dhms]+|\s+([0-9dhms]+))?\s*$"
    );
    let found = shape.captures(line)?;
    let share = percent(group(&found, 1))?;
    let speed = format!("{}/s", group(&found, 2));
    Some(Reading::trusted(Some(share), left(group(&found, 3)), vec![speed]))
}

/// `file   [  <=>    ]   2.5M  1.00MB/s`.
pub fn unsized_download(line: &str) -> Option<Reading> {
    let shape =
        pattern!(r"\[ *<=> *\]\s+([0-9.,]+[KMGT]?)(?:\s+(?:([0-9.,]+ ?[KMGT]?B/s)|--\.-[KMGT]?B/s))?");
    let found = shape.captures(line)?;
    Some(Reading::trusted(None, None, facts([group(&found, 1), group(&found, 2)])))
}
