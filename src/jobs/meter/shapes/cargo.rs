//! cargo: a bar of equals signs and a count.

use super::super::figures::{Reading, ratio};
use super::{group, pattern};

/// `    Building [=====>      ] 12/40: serde, regex`.
pub fn read(line: &str) -> Option<Reading> {
    let found = pattern!(r"\[[=> -]{3,}\] +([0-9]+)/([0-9]+)").captures(line)?;
    let (done, all) = (group(&found, 1), group(&found, 2));
    let share = ratio(done, all)?;
    Some(Reading::trusted(Some(share), None, vec![format!("{done}/{all}")]))
}
