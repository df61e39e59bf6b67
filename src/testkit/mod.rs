//! Test servers and clocks; never part of the shipped binary.
#![allow(clippy::expect_used, reason = "a test kit reports a broken fixture by failing the test")]

pub mod server;
