//! Sessions of other programs.
