//! Shell processes.

pub mod segments;

/// All shell processes of this program.
#[derive(Debug, Default)]
pub struct Jobs {}
