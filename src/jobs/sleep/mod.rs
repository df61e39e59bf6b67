//! What a shell command sleeps for: known from its text, and from the `sleep` processes that it runs.
//!
//! - [`plan()`] says what can be known before it runs: sleeps at its begin, and a loop that sleeps in each pass.
//! - [`watch`] decides from the processes that are found which wait is told, and when to look again. Pure.
//! - [`processes`] finds them.
//!
//! Invariants: a command without a sleep is never looked at; while a known sleep runs the next look is at its end; what
//! never comes is no longer looked for after a while.

mod duration;
pub mod plan;
pub mod processes;
pub mod watch;

pub use plan::{SleepPlan, plan};
pub use watch::Watch;

#[cfg(test)]
mod tests;
