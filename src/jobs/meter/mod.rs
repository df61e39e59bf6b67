//! How far a running command has come, read from the progress display that it draws itself.
//!
//! - [`Reader`] takes the output as it comes and tells what to show, and when to ask again.
//! - `tail` keeps the end of what came since the last look, so that a flood costs next to nothing.
//! - `escape` makes actions of bytes, `screen` lets them happen on a small screen: many tools draw several lines and
//!   move between them.
//! - `shapes` knows the displays, one file each; `figures` the numbers in them.
//! - `belief` decides which of the readings are shown, and for how long.
//!
//! Invariants: memory and the work of one look are bounded whatever the command prints; the facts are words that our
//! own patterns took out of a line, and hold no control characters; the result is the same however the output was cut.

mod belief;
mod escape;
mod figures;
mod reader;
mod screen;
mod shapes;
mod tail;

pub use reader::Reader;

#[cfg(test)]
mod tests;
