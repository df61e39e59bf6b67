//! How the screen's cost grows with what was said, one figure a line: `name value unit`.
//!
//! `cargo bench --bench scale` runs all, `cargo bench --bench scale -- stream` those whose name holds the word. What must
//! not grow is given as a ratio of a long conversation to a short one of the same kind, within the same run. A figure
//! with a goal has it behind it, and the run ends with an error if one is missed.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench fails by stopping and tells by printing"
)]

mod figures;
#[path = "scale/find.rs"]
mod find;
mod goals;
#[path = "scale/growth.rs"]
mod growth;
#[path = "scale/live.rs"]
mod live;
#[path = "scale/stream.rs"]
mod stream;
#[path = "scale/world.rs"]
mod world;

use figures::Bench;
use goals::Goals;
use std::process::ExitCode;

const BENCHES: &[Bench] =
    &[("growth", growth::run), ("stream", stream::run), ("find", find::run), ("live", live::run)];

static GOALS: Goals = Goals::new();

fn main() -> ExitCode {
    figures::run(BENCHES);
    GOALS.verdict()
}

/// A figure that may be no higher than `goal`.
fn judge(name: &str, value: f64, goal: f64, unit: &str) {
    GOALS.judge(name, value, goal, unit);
}
