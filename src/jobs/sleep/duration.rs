//! Durations as `sleep` takes them.

use std::time::Duration;

/// Longer sleeps are as good as endless.
const LONGEST: f64 = 1e9;

/// How long `sleep` with these arguments lasts: numbers with a unit, added up. Nothing where that is not clear.
pub fn of_arguments<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Option<Duration> {
    let mut total = None;
    for argument in arguments {
        total = Some(total.unwrap_or(0.0) + seconds(argument)?);
    }
    total.filter(|seconds| *seconds < LONGEST).map(Duration::from_secs_f64)
}

/// `90`, `1.5s`, `2m`, `1h`, `1d`.
fn seconds(argument: &str) -> Option<f64> {
    let (number, unit) = match argument.char_indices().next_back()? {
        (at, 's') => (argument.get(..at)?, 1.0),
        (at, 'm') => (argument.get(..at)?, 60.0),
        (at, 'h') => (argument.get(..at)?, 3_600.0),
        (at, 'd') => (argument.get(..at)?, 86_400.0),
        _ => (argument, 1.0),
    };
    // `inf` and `nan` are numbers to the parser.
    let is_plain = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    number.parse::<f64>().ok().filter(|_| is_plain).map(|number| number * unit)
}
