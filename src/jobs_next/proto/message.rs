//! A copy of what the jobs need.
/// Milliseconds since the Unix epoch.
pub type Millis = i64;
