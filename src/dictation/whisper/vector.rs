//! Exponentials of many numbers: softmax and its logarithm.
//!
//! Plain loops without calls, branches or library functions, so that the compiler makes vector code of them.

use crate::dictation::nn::activation::exp;
use crate::dictation::nn::values::map_values;
use candle_core::{Result, Tensor};

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

/// `softmax(scale * x)` along the last dimension, in place.
///
/// # Errors
/// The tensor is no contiguous F32 tensor.
pub fn softmax_in_place(tensor: &Tensor, scale: f32) -> Result<()> {
    let width = tensor.dims().last().copied().unwrap_or(1).max(1);
    map_values(tensor, width, |row| softmax(row, scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

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
        assert!(softmax_in_place(&tensor, 1.0).is_err());
        let turned = Tensor::zeros((2, 3), candle_core::DType::F32, &Device::Cpu).unwrap().t().unwrap();
        assert!(softmax_in_place(&turned, 1.0).is_err());
    }
}
