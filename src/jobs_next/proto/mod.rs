//! A copy of what the jobs need.
pub mod chain;
pub mod ids;
pub mod job;
pub mod message;
pub mod meter;
