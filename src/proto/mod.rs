//! The shared vocabulary: plain data that every layer may know. No behaviour that touches the world.

pub mod ask;
pub mod chain;
pub mod command;
pub mod compaction;
pub mod entry;
pub mod event;
pub mod ids;
pub mod job;
pub mod message;
pub mod meter;
pub mod model;
pub mod prompt;
pub mod tool;
pub mod usage;
pub mod voice;
