//! Numbers of trained models, by name.
//!
//! Names are those of Hugging Face's checkpoints, whatever file they come from: readers of other formats translate.

pub mod cached;
mod gguf;
pub mod nemo;
mod packed;
mod packer;
#[cfg(any(test, feature = "testkit"))]
pub mod random;
mod safetensors;

use super::nn::Linear;
use candle_core::Tensor;
use std::path::PathBuf;

/// Where a model's numbers come from. Shapes are checked against what the model's configuration says.
pub trait Weights {
    /// A tensor in F32, whatever it is on disk.
    ///
    /// # Errors
    /// It is missing, or has another shape.
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError>;

    /// `NAME.weight` of `(outputs, inputs)`, with or without trailing dimensions of 1 (pointwise convolutions), and
    /// `NAME.bias` of `(outputs)` where there is one. Quantised where this model's weights are kept so.
    ///
    /// # Errors
    /// The weight is missing, or a shape is another.
    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError>;

    /// A layer that a model puts together of several tensors, or of one in another shape; kept as `name`. `make` gives
    /// its weight of `(outputs, inputs)` and its bias of `(outputs)`, and is asked only where the layer is not kept
    /// already. Quantised as [`Self::linear`] is.
    ///
    /// # Errors
    /// What `make` says, or a shape is another.
    fn made(&self, name: &str, inputs: usize, outputs: usize, make: &Make<'_>) -> Result<Linear, ModelError> {
        let (weight, bias) = make()?;
        if weight.dims() != [outputs, inputs] {
            let (found, expected) = (weight.dims().to_vec(), vec![outputs, inputs]);
            return Err(ModelError::Shape { name: name.to_owned(), found, expected });
        }
        Ok(Linear::new(&weight, bias)?)
    }

    /// There is a tensor of this name.
    fn has(&self, name: &str) -> bool;
}

/// Puts a layer together: its weight of `(outputs, inputs)`, and its bias.
pub type Make<'a> = dyn Fn() -> Result<(Tensor, Option<Tensor>), ModelError> + 'a;

pub use gguf::{Gguf, is_ggml};
pub use packed::Packed;
pub use safetensors::SafeTensors;

/// Why a model can't be read. The texts are for people.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file is missing or can't be read.
    #[error("{file} can't be read: {why}", file = .file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// Why, in a few words.
        why: String,
    },
    /// A file is no model of a kind we know.
    #[error("{file} is no speech model that Mynah knows: {why}", file = .file.display())]
    Kind {
        /// Which.
        file: PathBuf,
        /// What it is instead, or what is missing.
        why: String,
    },
    /// A tensor is missing.
    #[error("the model has no `{0}`: the files are incomplete, or of another model")]
    Missing(String),
    /// A tensor has another shape than the configuration says.
    #[error("`{name}` of the model is {found:?} and should be {expected:?}")]
    Shape {
        /// Which.
        name: String,
        /// As it is.
        found: Vec<usize>,
        /// As the configuration says.
        expected: Vec<usize>,
    },
    /// A file is damaged.
    #[error("the model's files are damaged: {0}")]
    Damaged(String),
    /// The system gives no threads to compute on.
    #[error("there are no threads to compute on: {0}")]
    Threads(String),
    /// Too little memory.
    #[error("the model needs {need} MB of memory and {free} MB are free")]
    Memory {
        /// Megabytes.
        need: u64,
        /// Megabytes.
        free: u64,
    },
}

impl From<candle_core::Error> for ModelError {
    fn from(error: candle_core::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}
