//! npm up to its version 8: a bar whose fill is all that it tells. Later ones only turn a wheel.

use super::super::figures::Reading;
use super::{group, pattern};

/// `[#########.........] - reify:lodash: http fetch GET 200`, and the same in parentheses with other dots.
pub fn read(line: &str) -> Option<Reading> {
    let shape = pattern!(
        r"^[(\[](#*)([.⠂░ ]*)[)\]] \S? ?((?:idealTree|reify|rollback|loadDep|extract|fetchMetadata)[A-Za-z]*)"
    );
    let found = shape.captures(line)?;
    let count = |index| u32::try_from(group(&found, index).chars().count()).ok();
    let (done, rest) = (count(1)?, count(2)?);
    let all = done.checked_add(rest).filter(|all| *all >= 5)?;
    let share = f64::from(done) / f64::from(all);
    Some(Reading::trusted(Some(share), None, Vec::new()))
}
