//! Programs around an agent.

pub mod config_command;
