//! Places, settings and their layers.

pub mod env;
pub mod grants;
pub mod places;
