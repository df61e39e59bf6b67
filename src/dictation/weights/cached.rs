//! A model of rounded weights: from our own file where there is one, else by making it.

use super::packed::Packed;
use super::packer::Packer;
use super::{Make, ModelError, Weights};
use crate::dictation::nn::Linear;
use crate::dictation::nn::int8::Int8Matrix;
use candle_core::Tensor;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// How a model's weights are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In a file of this many bytes, whose pages all running programs share.
    Shared(u64),
    /// In memory of our own, since the file could not be written; and why.
    Alone(String),
}

/// Names, sizes and times of files: another text when one of them changes.
///
/// # Errors
/// A file is missing.
pub fn fingerprint(files: &[PathBuf]) -> Result<String, ModelError> {
    let mut text = String::new();
    for file in files {
        let unreadable =
            |error: std::io::Error| ModelError::File { file: file.clone(), why: error.to_string() };
        let facts = file.metadata().map_err(unreadable)?;
        let changed = facts.modified().map_err(unreadable)?.duration_since(UNIX_EPOCH).unwrap_or_default();
        // Writing to a string does not fail.
        let _infallible = writeln!(text, "{} {} {}", file.display(), facts.len(), changed.as_nanos());
    }
    Ok(text)
}

/// Where the file of a model is kept: a name of its own in `cache` for each set of source files.
pub fn path(cache: &Path, files: &[PathBuf]) -> PathBuf {
    let names: Vec<u8> =
        files.iter().flat_map(|file| file.as_os_str().as_encoded_bytes().iter().copied()).collect();
    let name = Sha256::digest(names).iter().take(8).fold(String::new(), |mut name, byte| {
        let _infallible = write!(name, "{byte:02x}");
        name
    });
    cache.join(format!("{name}.int8"))
}

/// Builds a model of rounded weights. `open` opens the source and is asked only if there is no good file at `path`;
/// `build` may be called several times, and must ask for the same each time.
///
/// # Errors
/// What `open` and `build` say. That the file can't be written is no error: see [`Kept`].
pub fn build<T>(
    path: &Path,
    fingerprint: &str,
    open: impl FnOnce() -> Result<Box<dyn Weights>, ModelError>,
    build: impl Fn(&dyn Weights) -> Result<T, ModelError>,
) -> Result<(T, Kept), ModelError> {
    // A file of an older program may lack what this one asks for: then it is made anew, too.
    let old = Packed::open(path, fingerprint).and_then(|packed| {
        let model = build(&packed)?;
        if packed.met_unknown() {
            return Err(ModelError::Damaged(format!("{}: made by an older program", path.display())));
        }
        Ok((model, Kept::Shared(packed.bytes())))
    });
    let why = match old {
        Ok(found) => return Ok(found),
        Err(why) => why,
    };
    tracing::debug!(%why, "packed weights are made");
    let source = open()?;
    match make(source.as_ref(), path, fingerprint, &build) {
        Ok(made) => Ok(made),
        Err(ModelError::File { file, why }) if file == path => {
            tracing::warn!(file = %file.display(), %why, "packed weights can't be written");
            Ok((build(&Rounded(source.as_ref()))?, Kept::Alone(why)))
        }
        Err(error) => Err(error),
    }
}

fn make<T>(
    source: &dyn Weights,
    path: &Path,
    fingerprint: &str,
    build: impl Fn(&dyn Weights) -> Result<T, ModelError>,
) -> Result<(T, Kept), ModelError> {
    let failed = |error: std::io::Error| ModelError::File { file: path.to_owned(), why: error.to_string() };
    let packer = Packer::begin(source, fingerprint, path).map_err(failed)?;
    let model = build(&packer)?;
    let bytes = packer.finish().map_err(failed)?;
    Ok((model, Kept::Shared(bytes)))
}

/// Weights that are rounded as they are asked for.
struct Rounded<'a>(&'a dyn Weights);

fn rounded(name: &str, layer: Linear) -> Result<Linear, ModelError> {
    let Some((weight, bias)) = layer.numbers()? else {
        return Ok(layer);
    };
    let (outputs, inputs) = weight.dims2()?;
    let values: Vec<f32> = weight.flatten_all()?.to_vec1()?;
    let matrix = Int8Matrix::pack(&values, inputs, outputs)
        .ok_or_else(|| ModelError::Damaged(format!("{name} is empty")))?;
    Ok(Linear::int8(matrix, bias)?)
}

impl Weights for Rounded<'_> {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        self.0.tensor(name, shape)
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        rounded(name, self.0.linear(name, inputs, outputs)?)
    }

    fn made(&self, name: &str, inputs: usize, outputs: usize, make: &Make<'_>) -> Result<Linear, ModelError> {
        rounded(name, self.0.made(name, inputs, outputs, make)?)
    }

    fn has(&self, name: &str) -> bool {
        self.0.has(name)
    }
}

#[cfg(test)]
mod tests;
