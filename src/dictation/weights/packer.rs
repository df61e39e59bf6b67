//! Writes our own file of a model's weights while the model is built of them.
//!
//! Whoever asks for a layer gets it from the file that is being written: no more than one tensor is in memory of our own
//! at a time, and when the model is there, it already shares the pages of the file.

use super::packed::{HEADER, Layer, Table, Values, header, map};
use super::{Make, ModelError, Weights};
use crate::dictation::nn::Linear;
use crate::dictation::nn::int8::{Bytes, Int8Matrix, LINE};
use candle_core::Tensor;
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file that is being written. What is not finished is removed.
pub(super) struct Packer<'a> {
    source: &'a dyn Weights,
    written: RefCell<Written>,
}

struct Written {
    file: File,
    /// Where it is now, and where it will be.
    draft: PathBuf,
    path: PathBuf,
    at: usize,
    table: Table,
}

impl<'a> Packer<'a> {
    /// Begins a file of what will be asked of `source`.
    pub fn begin(source: &'a dyn Weights, fingerprint: &str, path: &Path) -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let draft = path.with_extension(format!("{}-{number}.draft", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&draft)?;
        let table = Table { source: fingerprint.to_owned(), ..Table::default() };
        let mut written = Written { file, draft, path: path.to_owned(), at: 0, table };
        written.append(&[0; HEADER])?;
        Ok(Self { source, written: RefCell::new(written) })
    }

    /// Completes the file; says how large it is.
    pub fn finish(self) -> io::Result<u64> {
        let mut written = self.written.borrow_mut();
        let table = serde_json::to_vec(&written.table)?;
        let at = written.append(&table)?;
        let size = (at + table.len()) as u64;
        written.file.sync_data()?;
        written.file.seek(SeekFrom::Start(0))?;
        written.file.write_all(&header(&table, at))?;
        written.file.sync_all()?;
        fs::rename(&written.draft, &written.path)?;
        Ok(size)
    }

    fn keep(&self, name: &str, layer: &Linear) -> Result<Linear, ModelError> {
        let Some((weight, bias)) = layer.numbers()? else {
            return Err(ModelError::Damaged(format!("{name} is rounded already")));
        };
        let (outputs, inputs) = weight.dims2()?;
        let values: Vec<f32> = weight.flatten_all()?.to_vec1()?;
        let matrix = Int8Matrix::pack(&values, inputs, outputs)
            .ok_or_else(|| ModelError::Damaged(format!("{name} is empty")))?;
        drop((weight, values));
        let mut written = self.written.borrow_mut();
        let (layer, mapped) =
            written.layer(&matrix, bias.as_deref()).map_err(|error| written.failed(&error))?;
        written.table.layers.insert(name.to_owned(), layer);
        Ok(Linear::int8(mapped, bias)?)
    }
}

impl Written {
    /// Writes bytes on the next multiple of a line; says where.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let at = self.at.next_multiple_of(LINE);
        let gap = [0; LINE];
        self.file.write_all(gap.get(..at - self.at).unwrap_or_default())?;
        self.file.write_all(bytes)?;
        self.at = at + bytes.len();
        Ok(at)
    }

    fn append_values(&mut self, values: &[f32]) -> io::Result<usize> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.append(&bytes)
    }

    /// Writes a layer, and maps what was written.
    fn layer(&mut self, matrix: &Int8Matrix, bias: Option<&[f32]>) -> io::Result<(Layer, Int8Matrix)> {
        let (inputs, outputs) = (matrix.inputs(), matrix.outputs());
        let mut part = |bytes: &[u8]| {
            let at = self.append(bytes)?;
            let range = at..at + bytes.len();
            let map = Arc::new(map(&self.file, Some(range))?);
            let bytes = Bytes::mapped(&map, 0..bytes.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
            Ok::<_, io::Error>((at, bytes))
        };
        let (weights, mapped_weights) = part(matrix.weights().as_slice())?;
        let (scales, mapped_scales) = part(matrix.scales().as_slice())?;
        let bias = bias.map(|bias| self.append_values(bias)).transpose()?;
        let mapped = Int8Matrix::packed(inputs, outputs, mapped_weights, mapped_scales);
        Ok((Layer { inputs, outputs, weights, scales, bias }, mapped.ok_or(io::ErrorKind::UnexpectedEof)?))
    }

    fn failed(&self, error: &io::Error) -> ModelError {
        ModelError::File { file: self.path.clone(), why: error.to_string() }
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // After `finish` there is none; that another one stays behind harms nobody.
        if let Err(error) = fs::remove_file(&self.draft)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::debug!(%error, "a draft of packed weights stays");
        }
    }
}

impl Weights for Packer<'_> {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        let tensor = self.source.tensor(name, shape)?;
        let mut written = self.written.borrow_mut();
        if !written.table.tensors.contains_key(name) {
            let values: Vec<f32> = tensor.flatten_all()?.to_vec1()?;
            let at = written.append_values(&values).map_err(|error| written.failed(&error))?;
            written.table.tensors.insert(name.to_owned(), Values { shape: shape.to_vec(), at });
        }
        drop(written);
        Ok(tensor)
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        self.keep(name, &self.source.linear(name, inputs, outputs)?)
    }

    fn made(&self, name: &str, inputs: usize, outputs: usize, make: &Make<'_>) -> Result<Linear, ModelError> {
        // The parts come from the source: only the whole is kept.
        self.keep(name, &self.source.made(name, inputs, outputs, make)?)
    }

    fn has(&self, name: &str) -> bool {
        let has = self.source.has(name);
        self.written.borrow_mut().table.asked.insert(name.to_owned(), has);
        has
    }
}
