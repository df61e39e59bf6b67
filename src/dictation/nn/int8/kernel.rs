//! Which instructions to use, and the loops around them.

use super::dot::{Dot, Portable};
use super::matrix::Int8Matrix;
use super::rows::{Rows, round};
use super::{GROUP, LINE, LINES, TILE};
use crate::dictation::nn::activation::Activation;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::slice::{ParallelSlice, ParallelSliceMut};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::OnceLock;

/// A set of instructions for whole-number products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Those of every processor.
    Portable,
    /// 16-bit sums in vectors of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 32-bit sums in vectors of 32 bytes.
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    /// 32-bit sums in vectors of 64 bytes.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
}

/// What becomes of a result before it is written: `activation(product + bias)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Finish<'a> {
    /// As many as outputs.
    pub bias: Option<&'a [f32]>,
    /// Applied last.
    pub activation: Activation,
}

/// Products below this number are computed on the thread that asks: to wake another one would cost more.
const ALONE: usize = 1 << 18;
/// Products that a thread takes at once, at least.
const PIECE: usize = 1 << 17;

impl Kernel {
    /// All that this processor has, the fastest last.
    pub fn available() -> Vec<Self> {
        let mut kernels = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                kernels.push(Self::Avx2);
                if is_x86_feature_detected!("avxvnni") {
                    kernels.push(Self::AvxVnni);
                }
                if is_x86_feature_detected!("avx512vnni")
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                {
                    kernels.push(Self::Avx512Vnni);
                }
            }
        }
        kernels
    }

    /// The fastest one that computes a known product as the portable one does. Asked once.
    pub fn best() -> Self {
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| {
            let mut kernels = Self::available();
            while let Some(kernel) = kernels.pop() {
                if kernel == Self::Portable || kernel.computes_as(Self::Portable) {
                    return kernel;
                }
                tracing::warn!(?kernel, "wrong products: another kernel is used");
            }
            Self::Portable
        })
    }

    fn computes_as(self, other: Self) -> bool {
        let (inputs, outputs, rows) = (2 * GROUP, TILE, 15);
        let mut seed = 1_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from((seed >> 16).cast_signed() as i16)
        };
        let weight: Vec<f32> = (0..inputs * outputs).map(|_| next()).collect();
        let values: Vec<f32> = (0..inputs * rows).map(|_| next()).collect();
        Int8Matrix::pack(&weight, inputs, outputs).is_some_and(|matrix| {
            let [ours, theirs] = [self, other]
                .map(|kernel| kernel.product(&matrix, &kernel.rows(&values, inputs), Finish::default()));
            ours.iter().map(|value| value.to_bits()).eq(theirs.iter().map(|value| value.to_bits()))
        })
    }

    /// Rounds rows of activations; what is left over after whole rows is not taken.
    pub fn rows(self, values: &[f32], inputs: usize) -> Rows {
        let count = values.len().checked_div(inputs).unwrap_or_default();
        let mut rows = Rows::space(count, inputs);
        let groups = rows.groups;
        let many = values.len() >= 1 << 15;
        let Rows { fours, scales, sums, .. } = &mut rows;
        if many {
            let places = fours
                .par_chunks_mut(groups)
                .zip(scales.par_chunks_mut(groups))
                .zip(sums.par_chunks_mut(groups));
            let all = values.par_chunks_exact(inputs).zip(places).with_min_len(8);
            all.for_each(|(values, ((fours, scales), sums))| self.round_row(values, fours, scales, sums));
        } else {
            let places = fours.chunks_mut(groups).zip(scales.chunks_mut(groups)).zip(sums.chunks_mut(groups));
            for (values, ((fours, scales), sums)) in values.chunks_exact(inputs).zip(places) {
                self.round_row(values, fours, scales, sums);
            }
        }
        rows
    }

    /// Rows times the matrix: `(rows, outputs)`. Rows of another width give zeros.
    pub fn product(self, matrix: &Int8Matrix, rows: &Rows, finish: Finish<'_>) -> Vec<f32> {
        let (outputs, tiles, groups) = (matrix.outputs(), matrix.tiles(), matrix.groups());
        let mut out = vec![0.0; rows.count * outputs];
        if rows.groups != groups || finish.bias.is_some_and(|bias| bias.len() != outputs) {
            return out;
        }
        let columns = Columns { start: out.as_mut_ptr(), rows: rows.count, outputs, lifetime: PhantomData };
        let job = Job { matrix, rows, finish, columns };
        let work = rows.count * groups * GROUP * outputs;
        if work < ALONE || rayon::current_num_threads() == 1 {
            self.tiles(&job, 0..tiles);
        } else {
            // Several pieces for each thread, so that one which the system lets wait does not hold up the others.
            let most = rayon::current_num_threads() * 4;
            let pieces = (work / PIECE).clamp(1, most).min(tiles);
            let piece = |number: usize| tiles * number / pieces..tiles * (number + 1) / pieces;
            (0..pieces).into_par_iter().with_max_len(1).for_each(|number| self.tiles(&job, piece(number)));
        }
        out
    }

    fn round_row(self, values: &[f32], fours: &mut [[i32; LINES]], scales: &mut [f32], sums: &mut [i32]) {
        match self {
            Self::Portable => round_row(values, fours, scales, sums),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 | Self::AvxVnni | Self::Avx512Vnni => {
                #[expect(unsafe_code, reason = "compiled for instructions that not every processor has")]
                // SAFETY: these kernels are made only where the processor has AVX2.
                unsafe {
                    round_row_avx2(values, fours, scales, sums);
                }
            }
        }
    }

    fn tiles(self, job: &Job<'_>, tiles: Range<usize>) {
        #[expect(unsafe_code, reason = "compiled for instructions that not every processor has")]
        // SAFETY: a kernel is made only where the processor has its instructions.
        unsafe {
            match self {
                Self::Portable => all::<Portable>(job, tiles),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2 => x86::avx2(job, tiles),
                #[cfg(target_arch = "x86_64")]
                Self::AvxVnni => x86::avx_vnni(job, tiles),
                #[cfg(target_arch = "x86_64")]
                Self::Avx512Vnni => x86::avx512_vnni(job, tiles),
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "compiled for instructions that not every processor has")]
mod x86 {
    use super::{Job, Range, all};
    use crate::dictation::nn::int8::dot::{Avx2, Avx512Vnni, AvxVnni};

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(job: &Job<'_>, tiles: Range<usize>) {
        // SAFETY: this function is compiled for the instructions.
        unsafe { all::<Avx2>(job, tiles) }
    }

    #[target_feature(enable = "avx2,avxvnni")]
    pub(super) fn avx_vnni(job: &Job<'_>, tiles: Range<usize>) {
        // SAFETY: this function is compiled for the instructions.
        unsafe { all::<AvxVnni>(job, tiles) }
    }

    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512vnni")]
    pub(super) fn avx512_vnni(job: &Job<'_>, tiles: Range<usize>) {
        // SAFETY: this function is compiled for the instructions.
        unsafe { all::<Avx512Vnni>(job, tiles) }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn round_row_avx2(values: &[f32], fours: &mut [[i32; LINES]], scales: &mut [f32], sums: &mut [i32]) {
    round_row(values, fours, scales, sums);
}

#[inline(always)]
fn round_row(values: &[f32], fours: &mut [[i32; LINES]], scales: &mut [f32], sums: &mut [i32]) {
    for (((values, fours), scale), sum) in values.chunks(GROUP).zip(fours).zip(scales).zip(sums) {
        round(values, fours, scale, sum);
    }
}

/// A product to compute.
struct Job<'a> {
    matrix: &'a Int8Matrix,
    rows: &'a Rows,
    finish: Finish<'a>,
    columns: Columns<'a>,
}

/// Where results go: a matrix that several threads write, each its own columns.
struct Columns<'a> {
    start: *mut f32,
    rows: usize,
    outputs: usize,
    lifetime: PhantomData<&'a mut [f32]>,
}

#[expect(unsafe_code, reason = "threads write different columns of one matrix")]
// SAFETY: a tile is given to one thread only, and writes through it go to that tile's columns.
unsafe impl Sync for Columns<'_> {}

impl Columns<'_> {
    /// Writes the columns of a tile in a row.
    ///
    /// # Safety
    /// No other thread writes this tile.
    #[expect(unsafe_code, reason = "threads write different columns of one matrix")]
    #[inline(always)]
    unsafe fn write(&self, row: usize, tile: usize, values: &[f32; TILE]) {
        let first = tile * TILE;
        let count = self.outputs.saturating_sub(first).min(TILE);
        if row < self.rows {
            // SAFETY: `row` and the columns from `first` are inside the matrix, by the two lines before; nobody else
            // writes them.
            unsafe {
                self.start.add(row * self.outputs + first).copy_from_nonoverlapping(values.as_ptr(), count);
            }
        }
    }
}

/// Computes tiles.
///
/// # Safety
/// As for [`Dot`]; and no other thread computes these tiles.
#[expect(unsafe_code, reason = "instructions that not every processor has")]
#[inline(always)]
unsafe fn all<D: Dot>(job: &Job<'_>, tiles: Range<usize>) {
    let count = job.rows.count;
    for tile in tiles {
        let mut row = 0;
        // SAFETY: the caller answers for both.
        unsafe {
            while D::ROWS >= 8 && count - row >= 8 {
                block8::<D>(job, tile, row);
                row += 8;
            }
            while count - row >= 4 {
                block4::<D>(job, tile, row);
                row += 4;
            }
            if count - row >= 2 {
                block2::<D>(job, tile, row);
                row += 2;
            }
            if count - row == 1 {
                block1::<D>(job, tile, row);
            }
        }
    }
}

/// A function that computes a tile for a few rows. Each row's sums have a name of their own: in an array, or between
/// closures, compilers put them into memory, which takes several times as long.
macro_rules! block {
    ($name:ident, $rows:literal, $($r:literal $sum:ident $total:ident),*) => {
        /// # Safety
        /// As for [`all`].
        #[expect(unsafe_code, reason = "instructions that not every processor has")]
        #[inline(always)]
        unsafe fn $name<D: Dot>(job: &Job<'_>, tile: usize, row: usize) {
            let groups = job.rows.groups;
            let of_tile = |lines: usize| tile * groups * lines..(tile + 1) * groups * lines;
            let lines = job.matrix.weights().lines().get(of_tile(LINES)).unwrap_or_default();
            let lines = lines.as_chunks::<LINES>().0;
            let scales = job.matrix.scales().lines().get(of_tile(1)).unwrap_or_default();
            let fours: [&[[i32; LINES]]; $rows] =
                std::array::from_fn(|r| of_row(&job.rows.fours, row + r, groups));
            let factors: [&[f32]; $rows] = std::array::from_fn(|r| of_row(&job.rows.scales, row + r, groups));
            let wholes: [&[i32]; $rows] = std::array::from_fn(|r| of_row(&job.rows.sums, row + r, groups));
            // SAFETY: the caller answers for the instructions, and for the tile.
            unsafe {
                $(let mut $total = D::nothing();)*
                for (group, (lines, scales)) in lines.iter().zip(scales).enumerate() {
                    let of_group: [&[[i32; 2]; LINES / 2]; $rows] = [$(pairs(&fours[$r][group])),*];
                    $(let mut $sum = D::begin(wholes[$r][group]);)*
                    for (step, pair) in lines.as_chunks::<2>().0.iter().enumerate() {
                        let weights = D::load(pair);
                        $($sum = D::add($sum, weights, &of_group[$r][step]);)*
                    }
                    let scales = floats(scales);
                    $($total = D::end($total, $sum, factors[$r][group], &scales);)*
                }
                $(finish(job, tile, row + $r, D::numbers($total));)*
            }
        }
    };
}

block!(block1, 1, 0 sum0 total0);
block!(block2, 2, 0 sum0 total0, 1 sum1 total1);
block!(block4, 4, 0 sum0 total0, 1 sum1 total1, 2 sum2 total2, 3 sum3 total3);
block!(
    block8, 8, 0 sum0 total0, 1 sum1 total1, 2 sum2 total2, 3 sum3 total3, 4 sum4 total4, 5 sum5 total5,
    6 sum6 total6, 7 sum7 total7
);

/// Writes the results of a tile for a row.
///
/// # Safety
/// No other thread computes this tile.
#[expect(unsafe_code, reason = "threads write different columns of one matrix")]
#[inline(always)]
unsafe fn finish(job: &Job<'_>, tile: usize, row: usize, mut values: [f32; TILE]) {
    if let Some(bias) = job.finish.bias {
        for (value, bias) in values.iter_mut().zip(bias.get(tile * TILE..).unwrap_or_default()) {
            *value += bias;
        }
    }
    job.finish.activation.apply(&mut values);
    // SAFETY: the caller answers for the tile.
    unsafe { job.columns.write(row, tile, &values) };
}

/// A group's activations, eight at a time.
#[inline(always)]
fn pairs(fours: &[i32; LINES]) -> &[[i32; 2]; LINES / 2] {
    const NONE: &[[i32; 2]; LINES / 2] = &[[0; 2]; LINES / 2];
    fours.as_chunks().0.try_into().unwrap_or(NONE)
}

/// The scales of a tile's outputs.
#[inline(always)]
fn floats(line: &[u8; LINE]) -> [f32; TILE] {
    let mut floats = [0.0; TILE];
    for (float, bytes) in floats.iter_mut().zip(line.as_chunks().0) {
        *float = f32::from_le_bytes(*bytes);
    }
    floats
}

#[inline(always)]
fn of_row<T>(all: &[T], row: usize, groups: usize) -> &[T] {
    all.get(row * groups..(row + 1) * groups).unwrap_or_default()
}
