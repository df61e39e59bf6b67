//! Which speech models there are, which one to use, and fetching them.
