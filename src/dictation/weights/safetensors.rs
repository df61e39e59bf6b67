//! Hugging Face's format, in one file or several.

use super::{ModelError, Weights};
use crate::dictation::nn::Linear;
use candle_core::safetensors::Load;
use candle_core::{DType, Device, Tensor};
use std::path::Path;

/// Weights of `.safetensors` files, read in place.
pub struct SafeTensors {
    files: candle_core::safetensors::MmapedSafetensors,
}

impl SafeTensors {
    /// Opens files.
    ///
    /// # Errors
    /// One can't be read, or is damaged.
    #[expect(unsafe_code, reason = "a file mapped into memory; see below")]
    pub fn open(files: &[impl AsRef<Path>]) -> Result<Self, ModelError> {
        // SAFETY: if another program cuts the file while it is mapped, reading it ends this program (SIGBUS). Files of
        // models are written under another name and renamed, so only a user who overwrites one by hand can do that.
        let files = unsafe { candle_core::safetensors::MmapedSafetensors::multi(files)? };
        Ok(Self { files })
    }
}

impl Weights for SafeTensors {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        let view = self.files.get(name).map_err(|_absent| ModelError::Missing(name.to_owned()))?;
        if view.shape() != shape {
            let (found, expected) = (view.shape().to_vec(), shape.to_vec());
            return Err(ModelError::Shape { name: name.to_owned(), found, expected });
        }
        Ok(view.load(&Device::Cpu)?.to_dtype(DType::F32)?)
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        let view = self.files.get(&weight).map_err(|_absent| ModelError::Missing(weight.clone()))?;
        let mut shape = vec![outputs, inputs];
        shape.resize(view.shape().len().max(2), 1);
        let weight = self.tensor(&weight, &shape)?.reshape((outputs, inputs))?;
        let bias = self.has(&bias).then(|| self.tensor(&bias, &[outputs])).transpose()?;
        Ok(Linear::new(&weight, bias)?)
    }

    fn has(&self, name: &str) -> bool {
        self.files.get(name).is_ok()
    }
}
