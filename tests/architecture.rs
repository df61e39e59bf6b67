//! Who may import whom: reads the sources and fails on a `use` that points the wrong way.
