//! All integration tests in one binary: each further one would link the whole crate again.

mod architecture;
