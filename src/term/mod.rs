//! The terminal: everything that reads from it or writes to it.
//!
//! | file | what it does |
//! |---|---|
//! | [`tty`] | the file: opened for ourselves, raw mode, size, never blocking |
//! | [`guard`] | taken over and given back, also on a panic; [`stray`]: prints of libraries |
//! | [`caps`], [`kind`] | what the terminal can do: as it answers, and by its name |
//! | [`reader`] | a thread: bytes to [`input::Input`] through [`escape`], [`keys`], [`filter`], [`burst`] and [`unmarked`] |
//! | [`wheel`] | wheel events to lines |
//! | [`writer`] | a thread: frames to bytes through [`screen`], [`frame_diff`], [`scroll_regions`], [`painter`], [`pen`]; [`links`]: addresses behind cells, [`stand_in`]: plain characters for symbols |
//! | [`clipboard`] | copying, by the system or by the terminal |
//! | [`handoff`] | another program has the terminal for a while, or none; [`editor`]: the user's |
//!
//! It has threads of its own, no tasks: somebody types even while the runtime is busy.

pub mod burst;
pub mod caps;
pub mod clipboard;
pub mod editor;
pub mod escape;
pub mod filter;
pub mod frame_diff;
pub mod guard;
pub mod handoff;
pub mod input;
pub mod keys;
pub mod kind;
pub mod links;
pub mod painter;
pub mod pen;
pub mod reader;
pub mod screen;
pub mod scroll_regions;
pub mod stand_in;
pub mod stray;
pub mod tty;
pub mod unmarked;
pub mod wheel;
pub mod writer;

#[cfg(test)]
mod pty_tests;
