//! The brain, without a terminal: session actor, turn machine, permissions, context.

pub mod context;
pub mod outbox;
pub mod permission;
pub mod queue;
pub mod repair;
