//! Tests against bash itself, and of the parts alone.

mod clock;
mod corpus;
mod known;
mod launch;
mod model;
mod oracle;
mod output;
mod runner;
mod split;
