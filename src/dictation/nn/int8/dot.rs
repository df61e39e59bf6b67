//! Products of four activations with a line of weights, by the instructions that a processor has.
//!
//! Every implementation gives the same whole numbers. Sums can't overflow: a group adds up 128 products below 2^13.

use super::{LINE, TILE};

/// Sums of products for the 16 outputs of a tile and one row.
///
/// # Safety
/// The functions of an implementation may be called only where the processor has its instructions, from a function
/// that is compiled for them.
pub(super) trait Dot {
    /// Rows that are worth computing at once: as many as registers hold.
    const ROWS: usize;
    /// The 16 sums.
    type Sums: Copy;
    /// The 16 results so far.
    type Totals: Copy;
    /// Weights of 16 outputs and 8 inputs.
    type Weights: Copy;

    /// Two lines of weights.
    unsafe fn load(lines: &[[u8; LINE]; 2]) -> Self::Weights;
    /// Sums of nothing, for a group whose activations add up to `all`.
    unsafe fn begin(all: i32) -> Self::Sums;
    /// Adds the products with eight activations, four in a number.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "instructions spread it over a vector as they read it"
    )]
    unsafe fn add(sums: Self::Sums, weights: Self::Weights, fours: &[i32; 2]) -> Self::Sums;
    /// Adds the sums of a group, each times the row's scale and its output's: product by product as
    /// `total + sum * (factor * scale)`, all rounded to F32, so that every implementation gives the same bits.
    unsafe fn end(totals: Self::Totals, sums: Self::Sums, factor: f32, scales: &[f32; TILE]) -> Self::Totals;
    /// Zeros.
    unsafe fn nothing() -> Self::Totals;
    /// The totals as numbers.
    unsafe fn numbers(totals: Self::Totals) -> [f32; TILE];
}

/// What every processor has.
pub(super) struct Portable;

impl Dot for Portable {
    const ROWS: usize = 4;
    type Sums = [i32; TILE];
    type Totals = [f32; TILE];
    type Weights = [[i8; LINE]; 2];

    #[inline(always)]
    unsafe fn load(lines: &[[u8; LINE]; 2]) -> Self::Weights {
        lines.map(|line| line.map(u8::cast_signed))
    }

    #[inline(always)]
    unsafe fn begin(_all: i32) -> Self::Sums {
        [0; TILE]
    }

    #[inline(always)]
    unsafe fn add(mut sums: Self::Sums, weights: Self::Weights, fours: &[i32; 2]) -> Self::Sums {
        for (line, four) in weights.iter().zip(fours) {
            let [a, b, c, d] = four.to_le_bytes().map(|byte| i16::from(byte.cast_signed()));
            for (sum, [w, x, y, z]) in sums.iter_mut().zip(line.as_chunks().0) {
                let product = |weight: &i8, value: i16| i32::from(i16::from(*weight) * value);
                *sum += product(w, a) + product(x, b) + product(y, c) + product(z, d);
            }
        }
        sums
    }

    #[inline(always)]
    unsafe fn end(
        mut totals: Self::Totals,
        sums: Self::Sums,
        factor: f32,
        scales: &[f32; TILE],
    ) -> Self::Totals {
        for ((total, sum), scale) in totals.iter_mut().zip(sums).zip(scales) {
            *total += sum as f32 * (factor * scale);
        }
        totals
    }

    #[inline(always)]
    unsafe fn nothing() -> Self::Totals {
        [0.0; TILE]
    }

    #[inline(always)]
    unsafe fn numbers(totals: Self::Totals) -> [f32; TILE] {
        totals
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512Vnni, AvxVnni};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Dot, LINE, TILE};
    use std::arch::x86_64::{
        __m256, __m256i, __m512, __m512i, _mm256_add_epi8, _mm256_add_epi16, _mm256_add_epi32, _mm256_add_ps,
        _mm256_broadcast_ss, _mm256_castps_si256, _mm256_cvtepi32_ps, _mm256_dpbusd_avx_epi32,
        _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_mul_ps,
        _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps,
        _mm256_storeu_ps, _mm256_xor_si256, _mm512_add_ps, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32,
        _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mul_ps, _mm512_set1_epi8, _mm512_set1_epi32,
        _mm512_set1_ps, _mm512_setzero_ps, _mm512_storeu_ps, _mm512_xor_si512,
    };

    /// One more than the largest weight.
    const RAISE: i8 = 64;

    #[inline(always)]
    unsafe fn halves(line: &[u8; LINE]) -> [__m256i; 2] {
        let place = line.as_ptr().cast::<__m256i>();
        // SAFETY: a line is two vectors long; the caller answers for the instructions.
        unsafe { [_mm256_loadu_si256(place), _mm256_loadu_si256(place.add(1))] }
    }

    /// A number in all places, straight from memory: compilers like to take two numbers at once and part them, which is
    /// slower.
    #[inline(always)]
    unsafe fn everywhere(number: &i32) -> __m256i {
        let place = std::ptr::from_ref(number).cast::<f32>();
        // SAFETY: bits are only moved; the caller answers for the instructions.
        unsafe { _mm256_castps_si256(_mm256_broadcast_ss(&*place)) }
    }

    /// Sums of four products each, of two lines of weights and of activations.
    #[inline(always)]
    unsafe fn four(upper: __m256i, first: __m256i, lower: __m256i, second: __m256i) -> __m256i {
        // SAFETY: the caller answers for the instructions.
        unsafe {
            let pairs =
                _mm256_add_epi16(_mm256_maddubs_epi16(upper, first), _mm256_maddubs_epi16(lower, second));
            _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))
        }
    }

    /// What ends a group, in two vectors.
    #[inline(always)]
    unsafe fn end(totals: [__m256; 2], sums: [__m256i; 2], factor: f32, scales: &[f32; TILE]) -> [__m256; 2] {
        // SAFETY: scales are two vectors long; the caller answers for the instructions.
        unsafe {
            let factor = _mm256_set1_ps(factor);
            let first = _mm256_mul_ps(factor, _mm256_loadu_ps(scales.as_ptr()));
            let second = _mm256_mul_ps(factor, _mm256_loadu_ps(scales.as_ptr().add(8)));
            [
                _mm256_add_ps(totals[0], _mm256_mul_ps(_mm256_cvtepi32_ps(sums[0]), first)),
                _mm256_add_ps(totals[1], _mm256_mul_ps(_mm256_cvtepi32_ps(sums[1]), second)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn numbers(totals: [__m256; 2]) -> [f32; TILE] {
        let mut out = [0.0; TILE];
        // SAFETY: 16 numbers are two vectors long; the caller answers for the instructions.
        unsafe {
            _mm256_storeu_ps(out.as_mut_ptr(), totals[0]);
            _mm256_storeu_ps(out.as_mut_ptr().add(8), totals[1]);
        }
        out
    }

    /// Haswell and Zen, and all since.
    pub(in super::super) struct Avx2;

    impl Dot for Avx2 {
        const ROWS: usize = 4;
        type Sums = [__m256i; 2];
        type Totals = [__m256; 2];
        type Weights = [[__m256i; 2]; 2];

        #[inline(always)]
        unsafe fn load(lines: &[[u8; LINE]; 2]) -> Self::Weights {
            // One factor of the instruction has no sign: weights are raised to 1 to 127, which `begin` takes off.
            // SAFETY: the caller answers for the instructions.
            unsafe {
                let raise = _mm256_set1_epi8(RAISE);
                let ([a, b], [c, d]) = (halves(&lines[0]), halves(&lines[1]));
                [
                    [_mm256_add_epi8(a, raise), _mm256_add_epi8(b, raise)],
                    [_mm256_add_epi8(c, raise), _mm256_add_epi8(d, raise)],
                ]
            }
        }

        #[inline(always)]
        unsafe fn begin(all: i32) -> Self::Sums {
            // SAFETY: the caller answers for the instructions.
            unsafe { [_mm256_set1_epi32(-i32::from(RAISE) * all); 2] }
        }

        #[inline(always)]
        unsafe fn add(sums: Self::Sums, weights: Self::Weights, fours: &[i32; 2]) -> Self::Sums {
            // Four products of 127 by 64 fit into 16 bits: both lines are added up before they are widened.
            // SAFETY: the caller answers for the instructions.
            unsafe {
                let (first, second) = (everywhere(&fours[0]), everywhere(&fours[1]));
                let [upper, lower] = weights;
                [
                    _mm256_add_epi32(sums[0], four(upper[0], first, lower[0], second)),
                    _mm256_add_epi32(sums[1], four(upper[1], first, lower[1], second)),
                ]
            }
        }

        #[inline(always)]
        unsafe fn end(
            totals: Self::Totals,
            sums: Self::Sums,
            factor: f32,
            scales: &[f32; TILE],
        ) -> Self::Totals {
            // SAFETY: the caller answers for the instructions.
            unsafe { end(totals, sums, factor, scales) }
        }

        #[inline(always)]
        unsafe fn nothing() -> Self::Totals {
            // SAFETY: the caller answers for the instructions.
            unsafe { [_mm256_setzero_ps(); 2] }
        }

        #[inline(always)]
        unsafe fn numbers(totals: Self::Totals) -> [f32; TILE] {
            // SAFETY: the caller answers for the instructions.
            unsafe { numbers(totals) }
        }
    }

    /// Alder Lake and Zen 5, and all since.
    pub(in super::super) struct AvxVnni;

    impl Dot for AvxVnni {
        const ROWS: usize = 4;
        type Sums = [__m256i; 2];
        type Totals = [__m256; 2];
        type Weights = [[__m256i; 2]; 2];

        #[inline(always)]
        unsafe fn load(lines: &[[u8; LINE]; 2]) -> Self::Weights {
            // One factor of the instruction has no sign: weights are raised by 128, which `begin` takes off.
            // SAFETY: the caller answers for the instructions.
            unsafe {
                let top = _mm256_set1_epi8(i8::MIN);
                [&lines[0], &lines[1]].map(|line| halves(line).map(|half| _mm256_xor_si256(half, top)))
            }
        }

        #[inline(always)]
        unsafe fn begin(all: i32) -> Self::Sums {
            // SAFETY: the caller answers for the instructions.
            unsafe { [_mm256_set1_epi32(-128 * all); 2] }
        }

        #[inline(always)]
        unsafe fn add(mut sums: Self::Sums, weights: Self::Weights, fours: &[i32; 2]) -> Self::Sums {
            // SAFETY: the caller answers for the instructions.
            unsafe {
                for (halves, four) in weights.iter().zip(fours) {
                    let four = everywhere(four);
                    for (sum, half) in sums.iter_mut().zip(halves) {
                        *sum = _mm256_dpbusd_avx_epi32(*sum, *half, four);
                    }
                }
            }
            sums
        }

        #[inline(always)]
        unsafe fn end(
            totals: Self::Totals,
            sums: Self::Sums,
            factor: f32,
            scales: &[f32; TILE],
        ) -> Self::Totals {
            // SAFETY: the caller answers for the instructions.
            unsafe { end(totals, sums, factor, scales) }
        }

        #[inline(always)]
        unsafe fn nothing() -> Self::Totals {
            // SAFETY: the caller answers for the instructions.
            unsafe { [_mm256_setzero_ps(); 2] }
        }

        #[inline(always)]
        unsafe fn numbers(totals: Self::Totals) -> [f32; TILE] {
            // SAFETY: the caller answers for the instructions.
            unsafe { numbers(totals) }
        }
    }

    /// Servers since Cascade Lake, Ice Lake, Zen 4.
    pub(in super::super) struct Avx512Vnni;

    impl Dot for Avx512Vnni {
        const ROWS: usize = 8;
        type Sums = __m512i;
        type Totals = __m512;
        type Weights = [__m512i; 2];

        #[inline(always)]
        unsafe fn load(lines: &[[u8; LINE]; 2]) -> Self::Weights {
            // Raised by 128, as above.
            // SAFETY: a line is one vector long; the caller answers for the instructions.
            unsafe {
                let top = _mm512_set1_epi8(i8::MIN);
                [&lines[0], &lines[1]]
                    .map(|line| _mm512_xor_si512(_mm512_loadu_si512(line.as_ptr().cast()), top))
            }
        }

        #[inline(always)]
        unsafe fn begin(all: i32) -> Self::Sums {
            // SAFETY: the caller answers for the instructions.
            unsafe { _mm512_set1_epi32(-128 * all) }
        }

        #[inline(always)]
        unsafe fn add(mut sums: Self::Sums, weights: Self::Weights, fours: &[i32; 2]) -> Self::Sums {
            // SAFETY: the caller answers for the instructions.
            unsafe {
                for (line, four) in weights.iter().zip(fours) {
                    sums = _mm512_dpbusd_epi32(sums, *line, _mm512_set1_epi32(*four));
                }
            }
            sums
        }

        #[inline(always)]
        unsafe fn end(
            totals: Self::Totals,
            sums: Self::Sums,
            factor: f32,
            scales: &[f32; TILE],
        ) -> Self::Totals {
            // SAFETY: scales are one vector long; the caller answers for the instructions.
            unsafe {
                let scales = _mm512_mul_ps(_mm512_set1_ps(factor), _mm512_loadu_ps(scales.as_ptr()));
                _mm512_add_ps(totals, _mm512_mul_ps(_mm512_cvtepi32_ps(sums), scales))
            }
        }

        #[inline(always)]
        unsafe fn nothing() -> Self::Totals {
            // SAFETY: the caller answers for the instructions.
            unsafe { _mm512_setzero_ps() }
        }

        #[inline(always)]
        unsafe fn numbers(totals: Self::Totals) -> [f32; TILE] {
            let mut out = [0.0; TILE];
            // SAFETY: 16 numbers are one vector long; the caller answers for the instructions.
            unsafe { _mm512_storeu_ps(out.as_mut_ptr(), totals) };
            out
        }
    }
}
