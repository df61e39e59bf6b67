//! Programs around an agent: how one is put together, and the headless one.

pub mod config_command;
pub mod frame;
pub mod headless;
pub mod list_models;
pub mod list_sessions;
pub mod logging;
pub mod panic;
pub mod prompts;
pub mod slash;
pub mod start;
