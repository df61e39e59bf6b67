//! Products of matrices in whole numbers of a byte each: a quarter of the memory and less than half the time of F32.
//!
//! A weight is a whole number from -63 to 63 times a scale that [`GROUP`] neighbouring inputs of an output share;
//! activations are rounded to -64 to 64 in the same way while the program runs, for each row and group. The sums of a group are
//! exact whole numbers, whatever instructions compute them, and are scaled and added up in F32 in one order: every
//! kernel gives the same bits.
//!
//! | file | what it is |
//! |---|---|
//! | [`bytes`] | weights in memory of our own or in a mapped file |
//! | [`matrix`] | weights, packed in the order in which kernels read them |
//! | [`rows`] | activations, rounded |
//! | [`kernel`] | which instructions to use, and the loops around them |
//! | `dot` | those instructions |

pub mod bytes;
#[expect(unsafe_code, reason = "instructions that not every processor has")]
mod dot;
pub mod kernel;
pub mod matrix;
pub mod rows;

#[cfg(test)]
mod tests;

pub use bytes::Bytes;
pub use kernel::Kernel;
pub use matrix::Int8Matrix;

/// Inputs that share a scale. Divides all widths of the models we know.
pub const GROUP: usize = 128;
/// Outputs that are computed side by side: a tile.
pub const TILE: usize = 16;
/// Bytes of a tile for four inputs: a line of the cache, and a vector of AVX-512.
pub const LINE: usize = TILE * 4;
/// Lines of a tile for one group.
const LINES: usize = GROUP / 4;
