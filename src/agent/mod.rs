//! The brain, without a terminal: session actor, turn machine, permissions, context.
