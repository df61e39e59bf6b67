//! GGUF with Hugging Face's names, as candle writes it: quantised or not.

use super::{ModelError, Weights};
use crate::dictation::nn::Linear;
use candle_core::quantized::gguf_file::{Content, TensorInfo};
use candle_core::{Device, Tensor};
use memmap2::Mmap;
use std::fs::File;
use std::io::Cursor;
use std::path::Path;

/// How such a file begins.
const MAGIC: &[u8] = b"GGUF";
/// How whisper.cpp's own files begin, which know neither Hugging Face's names nor a configuration beside them.
const GGML_MAGIC: &[u8] = b"lmgg";

/// Weights of a `.gguf` file, read in place, a tensor at a time.
pub struct Gguf {
    map: Mmap,
    content: Content,
}

impl Gguf {
    /// Opens a file.
    ///
    /// # Errors
    /// It can't be read, is damaged, or is no GGUF.
    #[expect(unsafe_code, reason = "a file mapped into memory; see below")]
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let unreadable = |error: std::io::Error| ModelError::File { file: path.to_owned(), why: error.to_string() };
        let file = File::open(path).map_err(unreadable)?;
        // SAFETY: if another program cuts the file while it is mapped, reading it ends this program (SIGBUS). Files of
        // models are written under another name and renamed, so only a user who overwrites one by hand can do that.
        let map = unsafe { Mmap::map(&file) }.map_err(unreadable)?;
        check_magic(path, &map)?;
        let content = Content::read(&mut Cursor::new(&map[..]))?;
        Ok(Self { map, content })
    }

    fn info(&self, name: &str) -> Result<&TensorInfo, ModelError> {
        self.content.tensor_infos.get(name).ok_or_else(|| ModelError::Missing(name.to_owned()))
    }
}

/// Tells what else a file is, for people who took the wrong one.
fn check_magic(path: &Path, bytes: &[u8]) -> Result<(), ModelError> {
    if bytes.starts_with(MAGIC) {
        return Ok(());
    }
    let why = if bytes.starts_with(GGML_MAGIC) {
        "it is not GGUF but whisper.cpp's older format; take the folder that Hugging Face has for this model"
    } else {
        "it is not GGUF"
    };
    Err(ModelError::Kind { file: path.to_owned(), why: why.to_owned() })
}

/// Tells whether a file is of whisper.cpp's own kind.
///
/// # Errors
/// It can't be read.
pub fn is_ggml(path: &Path) -> Result<bool, ModelError> {
    use std::io::Read;
    let mut begin = Vec::new();
    File::open(path)
        .and_then(|file| file.take(4).read_to_end(&mut begin))
        .map_err(|error| ModelError::File { file: path.to_owned(), why: error.to_string() })?;
    Ok(begin == GGML_MAGIC)
}

impl Weights for Gguf {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        let found = self.info(name)?.shape.dims();
        if found != shape {
            let (found, expected) = (found.to_vec(), shape.to_vec());
            return Err(ModelError::Shape { name: name.to_owned(), found, expected });
        }
        let tensor = self.content.tensor(&mut Cursor::new(&self.map[..]), name, &Device::Cpu)?;
        Ok(tensor.dequantize(&Device::Cpu)?)
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        let (weight, bias) = (format!("{name}.weight"), format!("{name}.bias"));
        let mut shape = vec![outputs, inputs];
        shape.resize(self.info(&weight)?.shape.rank().max(2), 1);
        let weight = self.tensor(&weight, &shape)?.reshape((outputs, inputs))?;
        let bias = self.has(&bias).then(|| self.tensor(&bias, &[outputs])).transpose()?;
        Ok(Linear::new(&weight, bias)?)
    }

    fn has(&self, name: &str) -> bool {
        self.content.tensor_infos.contains_key(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::quantized::{GgmlDType, QTensor, gguf_file};

    fn write(path: &Path, tensors: &[(&str, Tensor, GgmlDType)]) {
        let tensors: Vec<_> = tensors
            .iter()
            .map(|(name, tensor, kind)| (*name, QTensor::quantize(tensor, *kind).unwrap()))
            .collect();
        let tensors: Vec<_> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
        gguf_file::write(&mut File::create(path).unwrap(), &[], &tensors).unwrap();
    }

    fn ramp(rows: usize, columns: usize) -> Tensor {
        let values: Vec<f32> = (0..rows * columns).map(|n| (n as f32 * 0.37).sin()).collect();
        Tensor::from_vec(values, (rows, columns), &Device::Cpu).unwrap()
    }

    #[test]
    fn reads_quantised_and_plain_tensors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.gguf");
        write(
            &path,
            &[
                ("a.weight", ramp(4, 64), GgmlDType::Q8_0),
                ("a.bias", ramp(1, 4).reshape(4).unwrap(), GgmlDType::F32),
            ],
        );
        let weights = Gguf::open(&path).unwrap();
        assert!(weights.has("a.weight") && !weights.has("b.weight"));
        let tensor = weights.tensor("a.weight", &[4, 64]).unwrap();
        let difference = (tensor - ramp(4, 64)).unwrap().abs().unwrap().max_all().unwrap();
        assert!(difference.to_scalar::<f32>().unwrap() < 0.005);
        let rows = ramp(3, 64);
        let ours = weights.linear("a", 64, 4).unwrap().forward(&rows).unwrap();
        let bias = ramp(1, 4);
        let plain = rows.matmul(&ramp(4, 64).t().unwrap()).unwrap().broadcast_add(&bias).unwrap();
        let difference = (ours - plain).unwrap().abs().unwrap().max_all().unwrap();
        assert!(difference.to_scalar::<f32>().unwrap() < 0.05);
        assert!(matches!(weights.tensor("a.weight", &[4, 32]), Err(ModelError::Shape { .. })));
        assert!(matches!(weights.tensor("b", &[4]), Err(ModelError::Missing(_))));
        assert!(matches!(weights.linear("a", 64, 5), Err(ModelError::Shape { .. })));
    }

    #[test]
    fn says_what_a_file_is_that_is_no_gguf() {
        let folder = tempfile::tempdir().unwrap();
        for (bytes, words) in [(&b"lmgg\0\0\0\0"[..], "whisper.cpp"), (b"<html>", "not GGUF"), (b"", "not GGUF")] {
            let path = folder.path().join("model.bin");
            std::fs::write(&path, bytes).unwrap();
            let Err(error) = Gguf::open(&path) else { panic!("it was taken") };
            assert!(matches!(error, ModelError::Kind { .. }) && error.to_string().contains(words), "{error}");
        }
        std::fs::write(folder.path().join("cut"), b"GGUF\x03\0\0\0\x09").unwrap();
        assert!(matches!(Gguf::open(&folder.path().join("cut")), Err(ModelError::Damaged(_))));
        assert!(matches!(Gguf::open(&folder.path().join("none")), Err(ModelError::File { .. })));
    }
}
