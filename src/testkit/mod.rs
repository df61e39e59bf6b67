//! Test servers and made-up homes; never part of the shipped binary.
//!
//! There is no fake clock: policies take the time as an argument.
#![allow(clippy::expect_used, reason = "a test kit reports a broken fixture by failing the test")]

pub mod home;
pub mod provider;
pub mod pty;
pub mod screen_dump;
pub mod server;
pub mod terminal;
