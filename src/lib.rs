//! Mynah: a coding agent that lives in the terminal.
//!
//! Two halves meet in plain data. Below sits the agent: a pure turn machine and a driver that performs what it
//! decides, addressed only by [`proto::command::Command`] and heard only through [`proto::event::AgentEvent`]. Above
//! sit the programs that talk to it: the full-screen one ([`app::event_loop`]) and the headless one ([`app::headless`]).
//!
//! | folder | what it is |
//! |---|---|
//! | [`proto`] | the shared vocabulary: plain data |
//! | [`config`] | places, settings and their layers |
//! | [`llm`] | models, wire dialects, keys, retry |
//! | [`store`] | the session log |
//! | [`jobs`] | shell processes |
//! | [`dictation`] | speech to text on this machine: capture, models, clean-up |
//! | [`tools`] | what the model can call |
//! | [`agent`] | the session actor, the turn machine, permissions, context |
//! | [`theme`] | roles to colours |
//! | [`text`] | text as people see it: widths, wrapping, Markdown, differences, figures |
//! | [`transcript`] | the conversation as items: what they are, how high, and where the view stands in them |
//! | [`ui`] | what is on screen |
//! | [`term`] | the terminal: input, frames, its state before and after |
//! | [`app`] | programs around an agent |
//! | [`cli`] | the command line |
//!
//! Who may import whom is a table in `tests/architecture.rs`.

pub mod agent;
pub mod app;
pub mod cli;
pub mod config;
pub mod dictation;
pub mod jobs;
pub mod llm;
pub mod proto;
pub mod store;
pub mod term;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
pub mod text;
pub mod theme;
pub mod tools;
pub mod transcript;
pub mod ui;
