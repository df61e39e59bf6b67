//! Our own file of a model's weights, rounded and in the order in which kernels read them.
//!
//! ```text
//! header   64 bytes: magic, version, layout of the kernels, where the table is, its checksum
//! numbers  each on a multiple of 64: rounded weights, their scales, biases and other tensors in F32
//! table    JSON: what is where, and of which source
//! ```
//!
//! The file is written once and only read afterwards, by all running programs through the same pages of memory. It is
//! written under another name and renamed when it is whole, so a file with a header is complete; what was cut or
//! overwritten later is found by the checksum of the table and the sizes in it.

use super::{Make, ModelError, Weights};
use crate::dictation::nn::Linear;
use crate::dictation::nn::int8::{Bytes, GROUP, Int8Matrix, LINE, TILE};
use candle_core::{Device, Tensor};
use memmap2::Mmap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"mynahspk";
const VERSION: u32 = 2;
/// Tells files that kernels of another shape would read.
const LAYOUT: u32 = ((GROUP as u32) << 16) | TILE as u32;
pub(super) const HEADER: usize = LINE;

/// What is where in the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Table {
    /// [`super::cached::fingerprint`] of the files that the numbers are from.
    pub source: String,
    pub layers: BTreeMap<String, Layer>,
    pub tensors: BTreeMap<String, Values>,
    /// Names that the source was asked about, and whether it has them.
    pub asked: BTreeMap<String, bool>,
}

/// A rounded layer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Layer {
    pub inputs: usize,
    pub outputs: usize,
    pub weights: usize,
    pub scales: usize,
    pub bias: Option<usize>,
}

/// A tensor in F32.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Values {
    pub shape: Vec<usize>,
    pub at: usize,
}

/// The first bytes of a file whose table is there.
pub(super) fn header(table: &[u8], at: usize) -> [u8; HEADER] {
    let parts = [
        MAGIC.as_slice(),
        &VERSION.to_le_bytes(),
        &LAYOUT.to_le_bytes(),
        &(at as u64).to_le_bytes(),
        &(table.len() as u64).to_le_bytes(),
        &Sha256::digest(table),
    ];
    let mut header = [0; HEADER];
    for (place, byte) in header.iter_mut().zip(parts.concat()) {
        *place = byte;
    }
    header
}

/// Maps a file, or a part of it.
#[expect(unsafe_code, reason = "a file mapped into memory; see below")]
pub(super) fn map(file: &File, range: Option<Range<usize>>) -> std::io::Result<Mmap> {
    let mut options = memmap2::MmapOptions::new();
    if let Some(range) = range {
        options.offset(range.start as u64).len(range.len());
    }
    // SAFETY: if another program cuts the file while it is mapped, reading it ends this program (SIGBUS). We only ever
    // rename or remove such files, which leaves what is mapped as it was.
    unsafe { options.map(file) }
}

/// Weights of such a file.
#[derive(Debug)]
pub struct Packed {
    map: Arc<Mmap>,
    table: Table,
    met_unknown: Cell<bool>,
}

impl Packed {
    /// Opens a file that was made of this source.
    ///
    /// # Errors
    /// It is missing, damaged, of another version or of another source: it must be made anew.
    pub fn open(path: &Path, source: &str) -> Result<Self, ModelError> {
        let unreadable =
            |error: std::io::Error| ModelError::File { file: path.to_owned(), why: error.to_string() };
        let file = File::open(path).map_err(unreadable)?;
        let map = Arc::new(map(&file, None).map_err(unreadable)?);
        let damaged = |why: &str| ModelError::Damaged(format!("{}: {why}", path.display()));
        let number = |at: usize| {
            let bytes = map.get(at..at + 8).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
            bytes
                .and_then(|bytes| usize::try_from(u64::from_le_bytes(bytes)).ok())
                .ok_or_else(|| damaged("cut short"))
        };
        let (at, len) = (number(16)?, number(24)?);
        let table =
            at.checked_add(len).and_then(|end| map.get(at..end)).ok_or_else(|| damaged("cut short"))?;
        if map.get(..HEADER) != Some(header(table, at).as_slice()) {
            return Err(damaged("another version, or overwritten"));
        }
        let table: Table = serde_json::from_slice(table).map_err(|error| damaged(&error.to_string()))?;
        if table.source != source {
            return Err(damaged("made of another model"));
        }
        let packed = Self { map, table, met_unknown: Cell::new(false) };
        let layers = packed.table.layers.values().all(|layer| packed.layer(layer).is_some());
        let tensors = packed.table.tensors.values().all(|values| packed.values(values).is_some());
        if layers && tensors { Ok(packed) } else { Err(damaged("cut short")) }
    }

    /// It was asked whether it has something that it knows nothing about: a model that was built of it may lack what
    /// the source has.
    pub fn met_unknown(&self) -> bool {
        self.met_unknown.get()
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    fn values(&self, values: &Values) -> Option<Vec<f32>> {
        let len = values.shape.iter().try_fold(4_usize, |len, size| len.checked_mul(*size))?;
        let bytes = self.map.get(values.at..values.at.checked_add(len)?)?;
        Some(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn layer(&self, layer: &Layer) -> Option<(Int8Matrix, Option<Vec<f32>>)> {
        let (weights, scales) = Int8Matrix::sizes(layer.inputs, layer.outputs);
        let part = |at: usize, len: usize| Bytes::mapped(&self.map, at..at.checked_add(len)?);
        let (weights, scales) = (part(layer.weights, weights)?, part(layer.scales, scales)?);
        let matrix = Int8Matrix::packed(layer.inputs, layer.outputs, weights, scales)?;
        let bias = match layer.bias {
            Some(at) => Some(self.values(&Values { shape: vec![layer.outputs], at })?),
            None => None,
        };
        Some((matrix, bias))
    }

    fn found(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        let layer = self.table.layers.get(name).ok_or_else(|| ModelError::Missing(name.to_owned()))?;
        if (layer.inputs, layer.outputs) != (inputs, outputs) {
            let (found, expected) = (vec![layer.outputs, layer.inputs], vec![outputs, inputs]);
            return Err(ModelError::Shape { name: name.to_owned(), found, expected });
        }
        let (matrix, bias) = self.layer(layer).ok_or_else(|| ModelError::Damaged(name.to_owned()))?;
        Ok(Linear::int8(matrix, bias)?)
    }
}

impl Weights for Packed {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        let values = self.table.tensors.get(name).ok_or_else(|| ModelError::Missing(name.to_owned()))?;
        if values.shape != shape {
            let (found, expected) = (values.shape.clone(), shape.to_vec());
            return Err(ModelError::Shape { name: name.to_owned(), found, expected });
        }
        let values = self.values(values).ok_or_else(|| ModelError::Damaged(name.to_owned()))?;
        Ok(Tensor::from_vec(values, shape, &Device::Cpu)?)
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        self.found(name, inputs, outputs)
    }

    fn made(
        &self,
        name: &str,
        inputs: usize,
        outputs: usize,
        _make: &Make<'_>,
    ) -> Result<Linear, ModelError> {
        self.found(name, inputs, outputs)
    }

    fn has(&self, name: &str) -> bool {
        let known =
            self.table.asked.get(name).copied().or_else(|| self.table.tensors.get(name).map(|_kept| true));
        known.unwrap_or_else(|| {
            self.met_unknown.set(true);
            false
        })
    }
}
