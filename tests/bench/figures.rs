//! What all benches share: which run, and how a figure is told.

use std::time::Duration;

/// Name and measurement.
pub type Bench = (&'static str, fn());

/// Runs those whose name holds the word on the command line; all without one.
pub fn run(benches: &[Bench]) {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for (name, bench) in benches {
        if wanted.as_ref().is_none_or(|wanted| name.contains(wanted.as_str())) {
            bench();
        }
    }
}

/// One line: `name value unit`.
pub fn tell(name: &str, value: f64, unit: &str) {
    println!("{name} {value:.3} {unit}");
}

/// The median; 0 of nothing.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// A time in milliseconds.
pub fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
