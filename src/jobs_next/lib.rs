//! Scratch crate of the background jobs.
pub mod jobs;
pub mod proto;
