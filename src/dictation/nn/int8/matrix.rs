//! Weights, packed in the order in which kernels read them.
//!
//! For every tile of 16 outputs, for every group of 128 inputs, for every four inputs: the four weights of each of the
//! 16 outputs. Scales: for every tile, for every group: those of the 16 outputs, F32 of little endian. What is missing
//! to whole tiles and groups is zero.

use super::bytes::Bytes;
use super::{GROUP, LINE, LINES, TILE};

/// The largest whole number that a weight is rounded to; the smallest is its negative. Seven bits, so that AVX2 can add
/// up four products in 16 bits: a third faster, and with a scale for each group still nearer than eight bits with a
/// scale for a whole matrix.
pub const LEVELS: f32 = 63.0;

/// A matrix of `outputs` by `inputs`.
#[derive(Debug)]
pub struct Int8Matrix {
    inputs: usize,
    outputs: usize,
    weights: Bytes,
    scales: Bytes,
}

impl Int8Matrix {
    /// Bytes of the packed weights of a matrix, and of its scales.
    pub const fn sizes(inputs: usize, outputs: usize) -> (usize, usize) {
        let (groups, tiles) = (inputs.div_ceil(GROUP), outputs.div_ceil(TILE));
        (tiles * groups * LINES * LINE, tiles * groups * LINE)
    }

    /// Rounds and packs weights of `(outputs, inputs)`, contiguous. `None` if there are not as many.
    pub fn pack(weight: &[f32], inputs: usize, outputs: usize) -> Option<Self> {
        if weight.len() != inputs * outputs || inputs == 0 {
            return None;
        }
        let (weights_len, scales_len) = Self::sizes(inputs, outputs);
        let mut scales = vec![0_u8; scales_len];
        let weights = Bytes::owned(weights_len, |bytes| pack(weight, inputs, bytes, &mut scales));
        let scales = Bytes::owned(scales_len, |bytes| bytes.copy_from_slice(&scales));
        Some(Self { inputs, outputs, weights, scales })
    }

    /// A matrix that was packed before. `None` if it has another size.
    pub fn packed(inputs: usize, outputs: usize, weights: Bytes, scales: Bytes) -> Option<Self> {
        let fits = (weights.as_slice().len(), scales.as_slice().len()) == Self::sizes(inputs, outputs);
        (fits && inputs > 0).then_some(Self { inputs, outputs, weights, scales })
    }

    /// Columns: the width of a row of activations.
    pub const fn inputs(&self) -> usize {
        self.inputs
    }

    /// Rows: the width of a result.
    pub const fn outputs(&self) -> usize {
        self.outputs
    }

    /// The packed weights.
    pub const fn weights(&self) -> &Bytes {
        &self.weights
    }

    /// The packed scales.
    pub const fn scales(&self) -> &Bytes {
        &self.scales
    }

    /// Groups of inputs, the last one filled up.
    pub const fn groups(&self) -> usize {
        self.inputs.div_ceil(GROUP)
    }

    /// Tiles of outputs, the last one filled up.
    pub const fn tiles(&self) -> usize {
        self.outputs.div_ceil(TILE)
    }
}

fn pack(weight: &[f32], inputs: usize, weights: &mut [u8], scales: &mut [u8]) {
    let groups = inputs.div_ceil(GROUP);
    let outputs = weight.chunks_exact(inputs).collect::<Vec<_>>();
    let tiles = weights.chunks_exact_mut(groups * LINES * LINE).zip(scales.chunks_exact_mut(groups * LINE));
    for (rows, (weights, scales)) in outputs.chunks(TILE).zip(tiles) {
        let places = weights.chunks_exact_mut(LINES * LINE).zip(scales.chunks_exact_mut(LINE));
        for (group, (weights, scales)) in places.enumerate() {
            for (place, row) in rows.iter().enumerate() {
                let group = row.chunks(GROUP).nth(group).unwrap_or_default();
                let largest = group.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
                let scale = largest / LEVELS;
                if let Some(bytes) = scales.chunks_exact_mut(4).nth(place) {
                    bytes.copy_from_slice(&scale.to_le_bytes());
                }
                let each = if scale > 0.0 { scale.recip() } else { 0.0 };
                for (fours, line) in group.chunks(4).zip(weights.chunks_exact_mut(LINE)) {
                    for (value, byte) in fours.iter().zip(line.iter_mut().skip(place * 4)) {
                        *byte = (value * each).round_ties_even().clamp(-LEVELS, LEVELS) as i8 as u8;
                    }
                }
            }
        }
    }
}
