//! The log of a background job: the bytes that it printed, in files that are named after the offset of their first byte.
//!
//! Responsibilities: [`plan`] decides where bytes go and what is removed, [`writer`] does it, [`files`] reads. Invariants:
//! the newest output is always there, at least half of what may be kept, and the disk never holds more than the cap; what
//! can't be written is counted and left out, so that offsets stay true; a job is never held up by its log.

pub mod files;
pub mod plan;
pub mod writer;

#[cfg(test)]
mod tests;
