//! Programs around an agent: how one is put together, the full-screen one, and the headless one.
//!
//! | file | what it is |
//! |---|---|
//! | [`start`] | an agent put together |
//! | [`event_loop`] | the full-screen program: [`msg`] in, [`mod@update`] of [`state`], [`effect`] out, [`exec`], [`mod@draw`] when [`frame`] says so |
//! | [`terminal`] | the terminal as that program has it |
//! | [`draft_keeper`] | keeps what is being written |
//! | [`slash`] | the table of commands behind a slash |
//! | [`voice`] | the speech engine as that program has it |
//! | [`headless`] | `mynah -p` |
//! | [`transcribe_command`], [`voice_command`] | `mynah transcribe`, `mynah voice` |

#[cfg(test)]
mod colour_tests;
pub mod config_command;
pub mod draft_keeper;
pub mod draw;
pub mod effect;
pub mod event_loop;
pub mod exec;
pub mod farewell;
pub mod folder_listing;
pub mod frame;
pub mod git_branch;
pub mod headless;
mod job_log;
pub mod keys_command;
pub mod list_models;
pub mod list_sessions;
pub mod logging;
pub mod msg;
pub mod open_link;
pub mod panic;
pub mod prompts;
pub mod reload;
pub mod signals;
pub mod slash;
#[cfg(test)]
mod stage;
pub mod start;
pub mod state;
mod take_in;
pub mod terminal;
pub mod theme_choice;
pub mod time_of_day;
pub mod title;
pub mod transcribe_command;
pub mod update;
pub mod voice;
pub mod voice_command;
pub mod watch_files;
