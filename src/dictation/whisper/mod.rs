//! Whisper: OpenAI's encoder and decoder, from tiny to large-v3-turbo, with any number of languages.
//!
//! | file | what it is |
//! |---|---|
//! | `files` | folders and files, and what is in them |
//! | `config` | sizes and lists that come with a model |
//! | `vocabulary` | tokens, special ones, words |
//! | `encoder`, `decoder` | the two networks |
//! | `layers`, `memory`, `vector` | what they are made of |
//! | `model` | from sound to text |
//! | `window`, `attempt`, `alignment` | cutting, trying again, times of words |

mod alignment;
mod attempt;
mod config;
mod decoder;
mod encoder;
mod files;
#[cfg(test)]
pub(super) mod fixtures;
mod layers;
mod memory;
mod model;
#[cfg(test)]
mod tests;
mod vector;
mod vocabulary;
mod window;

pub use files::Files;
pub use model::Whisper;
