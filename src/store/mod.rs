//! The session log: an append-only tree of entries in Pi's session format version 3.
