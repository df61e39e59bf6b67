//! The progress displays that are known, one file each. The first that knows a line reads it.
//!
//! To add one: a file with a function from a line to a [`Reading`], and a row of the table. A shape must match nothing
//! that ordinary output could be, as it is believed at once; only `bare` may be in doubt.

use super::figures::Reading;
use super::screen::Screen;
use regex::{Captures, Regex};

mod apt;
mod bare;
mod cargo;
mod curl;
mod docker;
mod git;
mod make;
mod ninja;
mod npm;
mod pip;
mod rsync;
mod tqdm;
mod wget;

/// The displays of one line, the most particular first.
const SHAPES: [fn(&str) -> Option<Reading>; 14] = [
    curl::read,
    wget::bar,
    wget::dots,
    wget::unsized_download,
    rsync::read,
    git::read,
    pip::read,
    tqdm::read,
    ninja::read,
    cargo::read,
    make::read,
    apt::read,
    npm::read,
    bare::read,
];

/// What the line of the cursor says, together with the lines that belong to it.
pub fn read(screen: &Screen) -> Option<Reading> {
    let line = screen.line();
    if docker::is_layer(&line) {
        return docker::read(screen.lines());
    }
    let reading = of_line(&line)?;
    // Of several bars that a program draws as one block, the first is the whole and the others are its parts.
    let whole = screen.lines_of_block().filter_map(|line| of_line(&line)).find(is_under_way);
    Some(whole.unwrap_or(reading))
}

fn of_line(line: &str) -> Option<Reading> {
    SHAPES.iter().find_map(|shape| shape(line))
}

fn is_under_way(reading: &Reading) -> bool {
    reading.trusted && reading.meter.share.is_some_and(|share| share < 1.0)
}

/// A pattern, compiled when it is needed first.
macro_rules! pattern {
    ($text:expr) => {{
        static PATTERN: std::sync::LazyLock<regex::Regex> =
            std::sync::LazyLock::new(|| $crate::jobs::meter::shapes::compiled($text));
        &*PATTERN
    }};
}
use pattern;

#[expect(clippy::expect_used, reason = "the patterns are constants, and the tests compile each")]
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern is wrong")
}

/// The text of a group; empty where it took no part.
fn group<'line>(captures: &Captures<'line>, index: usize) -> &'line str {
    captures.get(index).map_or("", |found| found.as_str())
}

/// Facts without those that are empty.
fn facts<const COUNT: usize>(facts: [&str; COUNT]) -> Vec<String> {
    facts.into_iter().filter(|fact| !fact.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
