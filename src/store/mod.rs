//! The session log: an append-only tree of entries in Pi's session format version 3.
//!
//! | file | what it is |
//! |---|---|
//! | [`mod@line`] | one entry as one JSON line, and back |
//! | [`lines`] | a file as lines, whatever is in it |
//! | [`replay`] | a file as a tree |
//! | [`tree`] | the entries, their branches and the leaf |
//! | [`context`] | what a branch means for the next request |
//! | [`log`] | the writer: appends, leaf, barrier |
//! | [`lock`] | one process a session |
//! | [`find`] | where sessions are, and which one is meant |
//! | [`fork`] | a new session from a branch of another |
//! | [`drafts`] | prompts that are being written |
//! | [`history`] | prompts that were sent, of all sessions |

pub mod context;
pub mod drafts;
pub mod error;
pub mod find;
pub mod fork;
pub mod history;
pub mod line;
pub mod lines;
pub mod lock;
pub mod log;
pub mod replay;
pub mod tree;
mod writer;

pub use context::Context;
pub use error::StoreError;
pub use line::Header;
pub use log::{Log, Opened};
pub use tree::Tree;
