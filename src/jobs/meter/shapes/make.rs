//! Makefiles of CMake: a percentage in brackets, then what is done.

use super::super::figures::{Reading, percent};
use super::{group, pattern};

/// `[ 45%] Building C object a.o`. Those of other programs (`[ 45%] some test`) stay bare.
pub fn read(line: &str) -> Option<Reading> {
    let shape = pattern!(
        r"^\[ *([0-9]{1,3})%\] (?:Building|Linking|Built target|Generating|Performing|Creating|Completed|Automatic|Running|Copying|No )"
    );
    let found = shape.captures(line)?;
    Some(Reading::trusted(Some(percent(group(&found, 1))?), None, Vec::new()))
}
