//! Layers and kernels that the speech models are made of.
//!
//! Activations are contiguous F32 tensors, a row for each frame: `(frames, channels)`. There is no batch: one
//! utterance is decoded at a time.

mod linear;

pub use linear::Linear;
