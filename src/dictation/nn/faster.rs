//! Whether rounded weights are faster on this processor than F32.

use super::Linear;
use super::int8::Int8Matrix;
use crate::proto::voice::Precision;
use candle_core::{Device, Result, Tensor};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A layer of a usual shape: a second of speech through a layer of a small model.
const ROWS: usize = 16;
const WIDTH: usize = 512;
const TIMES: usize = 4;

/// What to keep weights in: as wished, or measured once in a process, which takes a few milliseconds.
pub fn precision(wish: Precision) -> Precision {
    static FASTER: OnceLock<Precision> = OnceLock::new();
    match wish {
        Precision::Auto => *FASTER.get_or_init(|| measure().unwrap_or(Precision::Int8)),
        Precision::Int8 | Precision::F32 => wish,
    }
}

fn measure() -> Result<Precision> {
    let weight: Vec<f32> = (0..WIDTH * WIDTH).map(|number| (number % 251) as f32 - 125.0).collect();
    let rows = Tensor::ones((ROWS, WIDTH), candle_core::DType::F32, &Device::Cpu)?;
    let plain = Linear::new(&Tensor::from_slice(&weight, (WIDTH, WIDTH), &Device::Cpu)?, None)?;
    let Some(matrix) = Int8Matrix::pack(&weight, WIDTH, WIDTH) else {
        return Ok(Precision::F32);
    };
    let rounded = Linear::int8(matrix, None)?;
    // Rounded weights also take a quarter of the memory: F32 must be faster by more than chance.
    let (plain, rounded) = (shortest(&plain, &rows)?, shortest(&rounded, &rows)?);
    tracing::debug!(?plain, ?rounded, "time of a layer in F32 and in eight bits");
    Ok(if plain.as_secs_f64() * 1.2 < rounded.as_secs_f64() { Precision::F32 } else { Precision::Int8 })
}

fn shortest(layer: &Linear, rows: &Tensor) -> Result<Duration> {
    layer.forward(rows)?;
    let mut shortest = Duration::MAX;
    for _ in 0..TIMES {
        let begun = Instant::now();
        layer.forward(rows)?;
        shortest = shortest.min(begun.elapsed());
    }
    Ok(shortest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_kept_and_a_measurement_stays() {
        assert_eq!(precision(Precision::F32), Precision::F32);
        assert_eq!(precision(Precision::Int8), Precision::Int8);
        let measured = precision(Precision::Auto);
        assert_ne!(measured, Precision::Auto);
        assert_eq!(precision(Precision::Auto), measured);
    }
}
