use super::kernel::Finish;
use super::{GROUP, Int8Matrix, Kernel};
use crate::dictation::nn::activation::Activation;
use proptest::prelude::*;

fn noise(count: usize, seed: u64) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| (0..4).map(|_| random.f32() - 0.5).sum::<f32>()).collect()
}

fn exact(values: &[f32], weight: &[f32], inputs: usize) -> Vec<f32> {
    let row = |row: &[f32], output: &[f32]| {
        row.iter().zip(output).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
    };
    values
        .chunks_exact(inputs)
        .flat_map(|values| weight.chunks_exact(inputs).map(move |output| row(values, output) as f32))
        .collect()
}

fn relative_error(found: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let square =
        |values: &mut dyn Iterator<Item = f32>| values.map(|value| f64::from(value).powi(2)).sum::<f64>();
    let difference = square(&mut found.iter().zip(expected).map(|(a, b)| a - b));
    (difference / square(&mut expected.iter().copied())).sqrt()
}

#[test]
fn products_are_near_those_of_f32() {
    for (rows, inputs, outputs) in
        [(7, 256, 256), (1, 1024, 64), (9, 64, 60), (5, 300, 17), (2, 1, 1), (3, 129, 33)]
    {
        let (values, weight) = (noise(rows * inputs, 1), noise(inputs * outputs, 2));
        let matrix = Int8Matrix::pack(&weight, inputs, outputs).unwrap();
        let expected = exact(&values, &weight, inputs);
        for kernel in Kernel::available() {
            let found = kernel.product(&matrix, &kernel.rows(&values, inputs), Finish::default());
            let error = relative_error(&found, &expected);
            assert!(error < 0.024, "{kernel:?} {rows} {inputs} {outputs}: {error}");
        }
    }
}

#[test]
fn extremes_do_not_overflow() {
    let inputs = 2 * GROUP;
    let (values, weight) = (vec![-3.0; inputs * 5], vec![2.0; inputs * 16]);
    let matrix = Int8Matrix::pack(&weight, inputs, 16).unwrap();
    for kernel in Kernel::available() {
        let found = kernel.product(&matrix, &kernel.rows(&values, inputs), Finish::default());
        assert!(found.iter().all(|value| (value + 6.0 * inputs as f32).abs() < 0.01), "{kernel:?}");
    }
}

#[test]
fn rows_of_zeros_and_weights_of_zeros_give_zeros() {
    let matrix = Int8Matrix::pack(&[0.0; 256 * 3], 256, 3).unwrap();
    let kernel = Kernel::best();
    assert_eq!(kernel.product(&matrix, &kernel.rows(&noise(512, 1), 256), Finish::default()), [0.0; 6]);
    let matrix = Int8Matrix::pack(&noise(256 * 3, 1), 256, 3).unwrap();
    assert_eq!(kernel.product(&matrix, &kernel.rows(&[0.0; 256], 256), Finish::default()), [0.0; 3]);
    assert!(kernel.product(&matrix, &kernel.rows(&[], 256), Finish::default()).is_empty());
}

#[test]
fn bias_and_activation_come_last() {
    let (values, weight, bias) = (noise(2 * 256, 1), noise(256 * 5, 2), noise(5, 3));
    let matrix = Int8Matrix::pack(&weight, 256, 5).unwrap();
    let kernel = Kernel::best();
    let rows = kernel.rows(&values, 256);
    let plain = kernel.product(&matrix, &rows, Finish::default());
    let finish = Finish { bias: Some(&bias), activation: Activation::Relu };
    let expected: Vec<f32> =
        plain.iter().enumerate().map(|(at, value)| (value + bias[at % 5]).max(0.0)).collect();
    assert_eq!(kernel.product(&matrix, &rows, finish), expected);
}

#[test]
fn a_matrix_of_another_size_is_refused() {
    assert!(Int8Matrix::pack(&[0.0; 5], 2, 3).is_none());
    let whole = Int8Matrix::pack(&noise(256 * 20, 1), 256, 20).unwrap();
    let copy = |bytes: &super::Bytes, less: usize| {
        let bytes = bytes.as_slice();
        super::Bytes::owned(bytes.len() - less, |to| to.copy_from_slice(&bytes[..bytes.len() - less]))
    };
    assert!(Int8Matrix::packed(256, 20, copy(whole.weights(), 0), copy(whole.scales(), 0)).is_some());
    assert!(Int8Matrix::packed(256, 20, copy(whole.weights(), 64), copy(whole.scales(), 0)).is_none());
    assert!(Int8Matrix::packed(256, 33, copy(whole.weights(), 0), copy(whole.scales(), 0)).is_none());
}

#[test]
fn weights_lie_on_lines_of_the_cache() {
    let matrix = Int8Matrix::pack(&noise(256 * 20, 1), 256, 20).unwrap();
    assert_eq!(matrix.weights().as_slice().as_ptr().align_offset(64), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whole-number sums are exact, so that a transcript is the same whatever processor made it.
    #[test]
    fn all_kernels_compute_the_same_bits(
        rows in 1_usize..19, inputs in 1_usize..600, outputs in 1_usize..70, seed in 0_u64..1000, size in -20_i32..20,
    ) {
        let size = 2.0_f32.powi(size);
        let values: Vec<f32> = noise(rows * inputs, seed).iter().map(|value| value * size).collect();
        let matrix = Int8Matrix::pack(&noise(inputs * outputs, seed + 1), inputs, outputs).unwrap();
        let of = |kernel: Kernel| {
            let out = kernel.product(&matrix, &kernel.rows(&values, inputs), Finish::default());
            out.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
        };
        let expected = of(Kernel::Portable);
        for kernel in Kernel::available() {
            prop_assert_eq!(&of(kernel), &expected, "{:?}", kernel);
        }
    }
}
