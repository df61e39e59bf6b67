//! What the screen costs, one figure a line: `name value unit`.
//!
//! `cargo bench --bench screen` runs all, `cargo bench --bench screen -- wrap` those whose name holds the word. Times are
//! medians of several runs; figures that must grow linearly are given as ratios within the same run.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench fails by stopping and tells by printing"
)]

#[path = "screen/composer.rs"]
mod composer;
mod figures;
#[path = "screen/term.rs"]
mod term;
#[path = "screen/text.rs"]
mod text;

use figures::{Bench, median, millis, tell};
use std::time::Instant;

const BENCHES: &[Bench] = &[
    ("composer", composer::run),
    ("frame", term::frames),
    ("input", term::input),
    ("wrap", text::wrap),
    ("markdown", text::markdown),
    ("highlight", text::highlight),
    ("diff", text::diff),
];

fn main() {
    figures::run(BENCHES);
}

/// The median time of `times` runs, in milliseconds.
fn median_millis(times: usize, mut run: impl FnMut()) -> f64 {
    let run = |_| {
        let begun = Instant::now();
        run();
        millis(begun.elapsed())
    };
    median((0..times).map(run).collect())
}
