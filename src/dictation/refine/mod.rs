//! Correcting a transcript with a language model.
