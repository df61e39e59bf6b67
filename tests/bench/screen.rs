//! What the full screen costs, one figure a line: `name value unit`.
//!
//! `cargo bench --bench screen` runs all, `cargo bench --bench screen -- frame` those whose name holds the word. Times
//! are medians of several runs.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench fails by stopping and tells by printing"
)]

#[path = "screen/term.rs"]
mod term;

use std::time::{Duration, Instant};

/// Name and measurement.
type Bench = (&'static str, fn());

const BENCHES: &[Bench] = &[("frame", term::frames), ("input", term::input)];

fn main() {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, bench) in BENCHES {
        if wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str())) {
            bench();
        }
    }
}

fn tell(name: &str, value: f64, unit: &str) {
    println!("{name} {value:.3} {unit}");
}

/// The median time of `times` runs, in milliseconds.
fn median_millis(times: usize, mut run: impl FnMut()) -> f64 {
    let mut values: Vec<Duration> = (0..times)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    values.sort_unstable();
    values.get(values.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}
