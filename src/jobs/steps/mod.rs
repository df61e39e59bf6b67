//! The steps of a chained shell command, and when each of them runs.
//!
//! The command itself is not touched: it runs as it was written. Bash runs a trap before each simple command of its
//! top level, and a start-up file of ours sets one that tells us which line and command comes next and with which
//! status the last one ended, and waits for our answer. Which commands can come next is known from the text, so
//! marks need no numbers: `&&`, `||` and the status say which.
//!
//! Why this way: whatever is written around a step (braces, `eval`, a fed script) changes line numbers, syntax errors,
//! `$?` or which process runs the last command. The trap is not inherited by functions, sourced files, subshells and
//! substitutions, bash keeps `$?` and its line over it, and it does not keep bash from replacing itself by the last
//! command. Between two commands nothing of it is there: no variable, no function, no open descriptor, and `$_` is
//! what it was. Marks and answers go through named pipes that are opened for each of them, so no process inherits
//! anything. The answer is given when all that was printed before has been read: so each line belongs to the step
//! that printed it, whichever output it went to.
//!
//! What could still see the trap: a file read into the shell that lists all variables (then `LINENO` and
//! `BASH_COMMAND` are among them), or that sets a trap for the shell's end and shows `BASH_COMMAND` there. So only
//! files with well-known names may be read in. A shell that the user's own `BASH_ENV` goes to is not timed, see
//! [`launch::can_time`].
//!
//! Invariants
//! - Where the trap could be noticed, or the order is not plain, the command runs without it and is one step
//!   ([`Whole`]).
//! - A mark that can't be the next one ends the timing: the chain is forgotten, the trap goes, the command goes on.
//! - The command never waits longer than the trap's own limit for us, and then never again.
//! - What is kept of a command is bounded: its steps, their marks, and the end of what each of them printed.
//!
//! | file | what it is |
//! |---|---|
//! | [`split`] | which steps a command has, or why it is one |
//! | `pieces` | the top level of a command, in the order in which it is written |
//! | `notice` | what could notice the trap |
//! | `marks` | which marks can come, and which can follow |
//! | [`clock`] | what marks mean |
//! | [`output`] | the end of what a step printed |
//! | [`launch`] | the start-up file and the pipes |

pub mod clock;
pub mod launch;
mod marks;
mod notice;
pub mod output;
mod pieces;
pub mod split;

pub use split::{Plan, Whole, plan};

#[cfg(test)]
mod tests;
