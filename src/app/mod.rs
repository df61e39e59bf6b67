//! Programs around an agent.
