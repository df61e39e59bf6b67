//! Places, settings and their layers.
