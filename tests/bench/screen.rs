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
#[path = "screen/term.rs"]
mod term;
#[path = "screen/text.rs"]
mod text;

use std::time::{Duration, Instant};

/// Name and measurement.
type Bench = (&'static str, fn());

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

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
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
