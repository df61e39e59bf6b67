//! Figures with a goal: a run in which one is missed ends with an error.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Figures that have a goal, and how many of them missed it.
#[derive(Debug)]
pub struct Goals {
    missed: AtomicUsize,
}

impl Goals {
    /// None has missed it yet.
    pub const fn new() -> Self {
        Self { missed: AtomicUsize::new(0) }
    }

    /// A figure that may be no higher than `goal`.
    pub fn judge(&self, name: &str, value: f64, goal: f64, unit: &str) {
        let verdict = if value <= goal { "ok" } else { "MISSED" };
        println!("{name} {value:.3} {unit} (goal {goal}, {verdict})");
        if value > goal {
            self.missed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The end of a run: an error if a goal was missed.
    pub fn verdict(&self) -> ExitCode {
        match self.missed.load(Ordering::Relaxed) {
            0 => ExitCode::SUCCESS,
            missed => {
                eprintln!("{missed} figures miss their goal");
                ExitCode::FAILURE
            }
        }
    }
}
