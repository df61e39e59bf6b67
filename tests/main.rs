//! All integration tests in one binary: each further one would link the whole crate again.
// Clippy tells helpers of tests from other code by this.
#![cfg(test)]

mod architecture;
mod flows;
mod pitfalls;
mod pty;
mod readme;
