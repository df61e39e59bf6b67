//! Test servers, made-up homes and a clock; never part of the shipped binary.
#![allow(clippy::expect_used, reason = "a test kit reports a broken fixture by failing the test")]

pub mod clock;
pub mod home;
pub mod provider;
pub mod pty;
pub mod screen_dump;
pub mod server;
pub mod terminal;
