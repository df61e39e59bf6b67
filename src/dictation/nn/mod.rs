//! Layers and kernels that the speech models are made of.
//!
//! Activations are contiguous F32 tensors, a row for each frame: `(frames, channels)`. There is no batch: one
//! utterance is decoded at a time.

pub mod activation;
pub mod faster;
pub mod int8;
mod linear;
pub mod threads;
pub mod values;

pub use activation::Activation;
pub use linear::Linear;
pub use threads::Threads;
