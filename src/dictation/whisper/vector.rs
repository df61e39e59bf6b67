//! Exponentials of many numbers: softmax, its logarithm, and the exact GELU.
//!
//! Plain loops without calls, branches or library functions, so that the compiler makes vector code of them.

use candle_core::{CpuStorage, InplaceOp1, Layout, Result, Tensor, bail};
use rayon::prelude::*;
use std::f32::consts::{FRAC_1_SQRT_2, LN_2, LOG2_E};

/// Values that one task works on, at least: less is not worth another thread.
const GRAIN: usize = 16 * 1024;
/// Added and taken away again it rounds to a whole number, with no instruction for that.
const ROUNDER: f32 = 12_582_912.0;

/// e to the power of `x`, within 3e-7 of it, for `x` from -87 to 88; what is outside counts as the border.
#[inline]
pub fn exp(x: f32) -> f32 {
    let power = x.clamp(-87.0, 88.0) * LOG2_E;
    let whole = power + ROUNDER;
    let part = (power - (whole - ROUNDER)) * LN_2;
    // Taylor up to the sixth power, for at most half an octave.
    let mut sum = 1.0 / 720.0;
    for factor in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        sum = sum * part + factor;
    }
    // The whole number stands in the low bits of `whole`: moved up it is a float's exponent.
    let exponent = (whole.to_bits() << 23).wrapping_add(1.0_f32.to_bits());
    sum * f32::from_bits(exponent)
}

/// `x Φ(x)`, the exact GELU: with the error function of Abramowitz and Stegun, formula 7.1.26, within 1.5e-7.
#[inline]
pub fn gelu(x: f32) -> f32 {
    let z = x.abs() * FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let mut sum = 1.061_405_4;
    for factor in [-1.453_152, 1.421_413_7, -0.284_496_72, 0.254_829_6] {
        sum = sum * t + factor;
    }
    let tail = sum * t * exp(-z * z);
    0.5 * (x + x.abs() * (1.0 - tail))
}

/// Makes `softmax(scale * values)` of a row of any length.
pub fn softmax(row: &mut [f32], scale: f32) {
    let top = maximum(row);
    for value in row.iter_mut() {
        *value = exp((*value - top) * scale);
    }
    let factor = 1.0 / sum(row);
    for value in row.iter_mut() {
        *value *= factor;
    }
}

/// The logarithm of `Σ exp(x)`: what is to be taken from a logit to make it a log-probability.
pub fn log_sum_exp(row: &[f32]) -> f32 {
    let top = maximum(row);
    if !top.is_finite() {
        return top;
    }
    let mut sums = [0.0_f32; 16];
    let chunks = row.chunks_exact(16);
    let rest: f32 = chunks.remainder().iter().map(|value| exp(value - top)).sum();
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += exp(value - top);
        }
    }
    top + (sums.iter().sum::<f32>() + rest).ln()
}

/// The greatest value; negative infinity for none.
pub fn maximum(row: &[f32]) -> f32 {
    let mut tops = [f32::NEG_INFINITY; 16];
    let chunks = row.chunks_exact(16);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (top, value) in tops.iter_mut().zip(chunk) {
            *top = if *value > *top { *value } else { *top };
        }
    }
    tops.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
}

fn sum(row: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    let chunks = row.chunks_exact(16);
    let rest: f32 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value;
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// GELU of all values, in place.
///
/// # Errors
/// The tensor is no contiguous F32 tensor.
pub fn gelu_in_place(tensor: &Tensor) -> Result<()> {
    tensor.inplace_op1(&Rows {
        width: 1,
        map: |rows: &mut [f32]| {
            for value in rows {
                *value = gelu(*value);
            }
        },
    })
}

/// `softmax(scale * x)` along the last dimension, in place.
///
/// # Errors
/// The tensor is no contiguous F32 tensor.
pub fn softmax_in_place(tensor: &Tensor, scale: f32) -> Result<()> {
    let width = tensor.dims().last().copied().unwrap_or(1).max(1);
    tensor.inplace_op1(&Rows {
        width,
        map: move |rows: &mut [f32]| rows.chunks_exact_mut(width).for_each(|row| softmax(row, scale)),
    })
}

/// Whole rows of a tensor, changed in place by several threads.
struct Rows<F> {
    width: usize,
    map: F,
}

impl<F: Fn(&mut [f32]) + Sync> InplaceOp1 for Rows<F> {
    fn name(&self) -> &'static str {
        "rows"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let (CpuStorage::F32(values), Some((start, end))) = (storage, layout.contiguous_offsets()) else {
            bail!("only contiguous F32 tensors are changed in place");
        };
        let Some(values) = values.get_mut(start..end) else { bail!("the layout is of another tensor") };
        if values.len() <= GRAIN {
            (self.map)(values);
        } else {
            values.par_chunks_mut(GRAIN.div_ceil(self.width) * self.width).for_each(&self.map);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    #[test]
    fn exp_is_close_everywhere() {
        for n in -8700..8800 {
            let x = n as f32 / 100.0 + 0.003;
            let exact = f64::from(x.clamp(-87.0, 88.0)).exp();
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 8e-6, "{x}");
        }
        for n in -1000..1000 {
            let x = n as f32 / 1000.0;
            assert!((f64::from(exp(x)) / f64::from(x).exp() - 1.0).abs() < 4e-7, "{x}");
        }
        assert!(exp(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn gelu_is_the_exact_one() {
        for (x, exact) in [
            (0.0, 0.0),
            (1.0, 0.841_344_8),
            (-1.0, -0.158_655_25),
            (2.5, 2.484_475_8),
            (-2.5, -0.015_524_165),
            (9.0, 9.0),
        ] {
            assert!((gelu(x) - exact).abs() < 4e-7, "{x}: {}", gelu(x));
        }
    }

    #[test]
    fn softmax_of_rows_and_its_logarithm() {
        let values: Vec<f32> = (0..3 * 37).map(|n| (n as f32 * 0.7).sin() * 5.0).collect();
        let tensor = Tensor::from_vec(values.clone(), (3, 37), &Device::Cpu).unwrap();
        softmax_in_place(&tensor, 0.5).unwrap();
        for (row, ours) in values.chunks(37).zip(tensor.to_vec2::<f32>().unwrap()) {
            let exact: Vec<f64> = row.iter().map(|value| (f64::from(*value) * 0.5).exp()).collect();
            let total: f64 = exact.iter().sum();
            for (exact, ours) in exact.iter().zip(ours) {
                assert!((exact / total - f64::from(ours)).abs() < 1e-6);
            }
            let exact: f64 = row.iter().map(|value| f64::from(*value).exp()).sum::<f64>().ln();
            assert!((exact - f64::from(log_sum_exp(row))).abs() < 1e-5);
        }
        assert_eq!(log_sum_exp(&[f32::NEG_INFINITY; 3]), f32::NEG_INFINITY);
        assert_eq!(maximum(&[]), f32::NEG_INFINITY);
        assert_eq!(maximum(&[-3.0; 17]), -3.0);
    }

    #[test]
    fn a_tensor_of_another_kind_is_refused() {
        let tensor = Tensor::zeros((2, 3), candle_core::DType::F64, &Device::Cpu).unwrap();
        assert!(gelu_in_place(&tensor).is_err());
        let turned = Tensor::zeros((2, 3), candle_core::DType::F32, &Device::Cpu).unwrap().t().unwrap();
        assert!(gelu_in_place(&turned).is_err());
    }
}
