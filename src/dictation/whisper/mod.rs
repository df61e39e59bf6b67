//! Whisper: OpenAI's encoder and decoder.

mod config;
mod decoder;
mod encoder;
#[cfg(test)]
pub mod fixtures;
mod layers;
mod memory;
mod vector;
