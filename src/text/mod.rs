//! Text as people see it.

pub mod clean;
