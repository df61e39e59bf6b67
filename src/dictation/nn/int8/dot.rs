//! Products of four activations with a line of weights, by the instructions that a processor has.
//!
//! Every implementation gives the same whole numbers. Sums can't overflow: a group adds up 128 products below 2^14.

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
    /// Weights of 16 outputs and 8 inputs.
    type Weights: Copy;

    /// Two lines of weights.
    unsafe fn load(lines: &[[u8; LINE]; 2]) -> Self::Weights;
    /// Sums of nothing, for a group whose activations add up to `all`.
    unsafe fn begin(all: i32) -> Self::Sums;
    /// Adds the products with eight activations, four in a number.
    unsafe fn add(sums: Self::Sums, weights: Self::Weights, fours: [i32; 2]) -> Self::Sums;
    /// The sums as numbers.
    unsafe fn end(sums: Self::Sums) -> [i32; TILE];
}

/// What every processor has.
pub(super) struct Portable;

impl Dot for Portable {
    const ROWS: usize = 4;
    type Sums = [i32; TILE];
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
    unsafe fn add(mut sums: Self::Sums, weights: Self::Weights, fours: [i32; 2]) -> Self::Sums {
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
    unsafe fn end(sums: Self::Sums) -> [i32; TILE] {
        sums
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512Vnni, AvxVnni};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Dot, LINE, TILE};
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_abs_epi8, _mm256_add_epi32, _mm256_dpbusd_avx_epi32, _mm256_loadu_si256,
        _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32,
        _mm256_setzero_si256, _mm256_sign_epi8, _mm256_storeu_si256, _mm256_xor_si256, _mm512_dpbusd_epi32,
        _mm512_loadu_si512, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_storeu_si512, _mm512_xor_si512,
    };

    #[inline(always)]
    unsafe fn halves(line: &[u8; LINE]) -> [__m256i; 2] {
        let place = line.as_ptr().cast::<__m256i>();
        // SAFETY: a line is two vectors long; the caller answers for the instructions.
        unsafe { [_mm256_loadu_si256(place), _mm256_loadu_si256(place.add(1))] }
    }

    #[inline(always)]
    unsafe fn numbers(sums: [__m256i; 2]) -> [i32; TILE] {
        let mut out = [0; TILE];
        let place = out.as_mut_ptr().cast::<__m256i>();
        // SAFETY: 16 numbers are two vectors long; the caller answers for the instructions.
        unsafe {
            _mm256_storeu_si256(place, sums[0]);
            _mm256_storeu_si256(place.add(1), sums[1]);
        }
        out
    }

    /// Haswell and Zen, and all since.
    pub(in super::super) struct Avx2;

    impl Dot for Avx2 {
        const ROWS: usize = 4;
        type Sums = [__m256i; 2];
        type Weights = [[__m256i; 2]; 2];

        #[inline(always)]
        unsafe fn load(lines: &[[u8; LINE]; 2]) -> Self::Weights {
            // SAFETY: the caller answers for the instructions.
            unsafe { [halves(&lines[0]), halves(&lines[1])] }
        }

        #[inline(always)]
        unsafe fn begin(_all: i32) -> Self::Sums {
            // SAFETY: the caller answers for the instructions.
            unsafe { [_mm256_setzero_si256(); 2] }
        }

        #[inline(always)]
        unsafe fn add(mut sums: Self::Sums, weights: Self::Weights, fours: [i32; 2]) -> Self::Sums {
            // One factor of the instruction has no sign: it gets the activation's size, the weight its sign. Two
            // products of 127 by 127 fit into 16 bits.
            // SAFETY: the caller answers for the instructions.
            unsafe {
                let ones = _mm256_set1_epi16(1);
                for (halves, four) in weights.iter().zip(fours) {
                    let four = _mm256_set1_epi32(four);
                    let size = _mm256_abs_epi8(four);
                    for (sum, half) in sums.iter_mut().zip(halves) {
                        let pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(*half, four));
                        *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
                    }
                }
            }
            sums
        }

        #[inline(always)]
        unsafe fn end(sums: Self::Sums) -> [i32; TILE] {
            // SAFETY: the caller answers for the instructions.
            unsafe { numbers(sums) }
        }
    }

    /// Alder Lake and Zen 5, and all since.
    pub(in super::super) struct AvxVnni;

    impl Dot for AvxVnni {
        const ROWS: usize = 4;
        type Sums = [__m256i; 2];
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
        unsafe fn add(mut sums: Self::Sums, weights: Self::Weights, fours: [i32; 2]) -> Self::Sums {
            // SAFETY: the caller answers for the instructions.
            unsafe {
                for (halves, four) in weights.iter().zip(fours) {
                    let four = _mm256_set1_epi32(four);
                    for (sum, half) in sums.iter_mut().zip(halves) {
                        *sum = _mm256_dpbusd_avx_epi32(*sum, *half, four);
                    }
                }
            }
            sums
        }

        #[inline(always)]
        unsafe fn end(sums: Self::Sums) -> [i32; TILE] {
            // SAFETY: the caller answers for the instructions.
            unsafe { numbers(sums) }
        }
    }

    /// Servers since Cascade Lake, Ice Lake, Zen 4.
    pub(in super::super) struct Avx512Vnni;

    impl Dot for Avx512Vnni {
        const ROWS: usize = 8;
        type Sums = __m512i;
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
        unsafe fn add(mut sums: Self::Sums, weights: Self::Weights, fours: [i32; 2]) -> Self::Sums {
            // SAFETY: the caller answers for the instructions.
            unsafe {
                for (line, four) in weights.iter().zip(fours) {
                    sums = _mm512_dpbusd_epi32(sums, *line, _mm512_set1_epi32(four));
                }
            }
            sums
        }

        #[inline(always)]
        unsafe fn end(sums: Self::Sums) -> [i32; TILE] {
            let mut out = [0; TILE];
            // SAFETY: 16 numbers are one vector long; the caller answers for the instructions.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), sums) };
            out
        }
    }
}
