//! The steps of a chained shell command, and when each of them runs.
//!
//! The command itself is not touched: it runs as it was written. Bash runs a trap before each simple command of its top
//! level, and a start-up file of ours sets one that tells us of that command and of the status before it, and waits for
//! our answer. What a step may be, and in which order steps run, is known from the text, so marks need no numbers: `&&`,
//! `||` and the status say which step begins.
//!
//! Marks and answers go through named pipes that are opened for each of them, so no process of the command inherits
//! anything. The answer is given when all that was printed before has been read: so each line belongs to the step that
//! printed it.
//!
//! Invariants
//! - Where the trap could be noticed, or the order is not plain, the command runs without it and is one step ([`Whole`]).
//! - A mark that is not the one that was expected ends the timing: the chain is forgotten, the command goes on.
//!
//! | file | what it is |
//! |---|---|
//! | [`split`] | which steps a command has, or why it is one |
//! | [`clock`] | what marks mean |
//! | [`launch`] | the start-up file and the pipes |

pub mod clock;
pub mod launch;
pub mod split;

pub use split::{Plan, Whole, plan};

#[cfg(test)]
mod corpus_tests;
