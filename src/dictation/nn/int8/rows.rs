//! Activations, rounded.

use super::{GROUP, LINES};

/// The largest whole number that an activation is rounded to; the smallest is its negative. With that of weights, four
/// products fit into 16 bits.
const LEVELS: f32 = 64.0;

/// Rows of activations, rounded for each row and group.
#[derive(Debug)]
pub struct Rows {
    pub(super) count: usize,
    pub(super) groups: usize,
    /// Four activations in each number, the first one lowest; a group after the other, a row after the other.
    pub(super) fours: Vec<[i32; LINES]>,
    pub(super) scales: Vec<f32>,
    /// The sum of a group's whole numbers: what kernels that shift weights to be positive have too much.
    pub(super) sums: Vec<i32>,
}

impl Rows {
    /// Space for rows, all zero.
    pub(super) fn space(count: usize, inputs: usize) -> Self {
        let groups = inputs.div_ceil(GROUP);
        let all = count * groups;
        Self { count, groups, fours: vec![[0; LINES]; all], scales: vec![0.0; all], sums: vec![0; all] }
    }
}

/// Rounds a group: fewer than [`GROUP`] values at the end of a row.
#[inline(always)]
pub(super) fn round(values: &[f32], fours: &mut [i32; LINES], scale: &mut f32, sum: &mut i32) {
    let mut padded = [0.0_f32; GROUP];
    let whole = if let Ok(whole) = <&[f32; GROUP]>::try_from(values) {
        whole
    } else {
        for (place, value) in padded.iter_mut().zip(values) {
            *place = *value;
        }
        &padded
    };
    // Eight at a time, so that it is done in vectors.
    let mut most = [0.0_f32; 8];
    for eight in whole.as_chunks::<8>().0 {
        for (most, value) in most.iter_mut().zip(eight) {
            let value = value.abs();
            *most = if value > *most { value } else { *most };
        }
    }
    let largest = most.iter().fold(0.0_f32, |most, value| most.max(*value));
    *scale = largest / LEVELS;
    let each = if largest > 0.0 { LEVELS / largest } else { 0.0 };
    // Added to a number below 2^22, this leaves the nearest whole number in the lowest bits of the mantissa (ties to
    // even), in one instruction on every machine.
    const SHIFT: f32 = 12_582_912.0;
    let mut all = 0;
    for (four, place) in whole.as_chunks::<4>().0.iter().zip(fours) {
        let [a, b, c, d] = four.map(|value| value.mul_add_free(each, SHIFT));
        *place = (a & 255) | ((b & 255) << 8) | ((c & 255) << 16) | (d << 24);
        all += (a << 24 >> 24) + (b << 24 >> 24) + (c << 24 >> 24) + (d << 24 >> 24);
    }
    *sum = all;
}

trait Shifted {
    fn mul_add_free(self, each: f32, shift: f32) -> i32;
}

impl Shifted for f32 {
    /// Product and sum, both rounded: a fused one would give other bits on other machines.
    #[inline(always)]
    fn mul_add_free(self, each: f32, shift: f32) -> i32 {
        (self * each + shift).to_bits().cast_signed()
    }
}
