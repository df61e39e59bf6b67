//! The numbers inside tensors, without copies.

use candle_core::{CpuStorage, InplaceOp1, Layout, Result, Storage, Tensor, bail};
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSliceMut;

/// Gives the values of a tensor, in order, to a function. A tensor that is not contiguous is copied first.
///
/// # Errors
/// It is not F32 in the memory of the processor.
pub fn with_values<T>(tensor: &Tensor, read: impl FnOnce(&[f32]) -> T) -> Result<T> {
    let tensor = tensor.contiguous()?;
    let (storage, layout) = tensor.storage_and_layout();
    let (Storage::Cpu(CpuStorage::F32(values)), Some((start, end))) =
        (&*storage, layout.contiguous_offsets())
    else {
        bail!("numbers of {:?} where F32 is needed", tensor.dtype());
    };
    let Some(values) = values.get(start..end) else {
        bail!("a tensor is larger than its memory");
    };
    let result = read(values);
    drop(storage);
    Ok(result)
}

/// Changes a contiguous tensor's rows of `width` in place, several at once. Other tensors that share its memory change,
/// too: only for those just made.
///
/// # Errors
/// It is not contiguous F32, or no whole rows.
pub fn map_values(tensor: &Tensor, width: usize, change: impl Fn(&mut [f32]) + Sync) -> Result<()> {
    tensor.inplace_op1(&Change { width, change })
}

struct Change<F> {
    width: usize,
    change: F,
}

impl<F: Fn(&mut [f32]) + Sync> InplaceOp1 for Change<F> {
    fn name(&self) -> &'static str {
        "change"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let (CpuStorage::F32(values), Some((start, end))) = (storage, layout.contiguous_offsets()) else {
            bail!("only contiguous F32 can be changed in place");
        };
        let Some(values) = values.get_mut(start..end) else {
            bail!("a tensor is larger than its memory");
        };
        if self.width == 0 || !values.len().is_multiple_of(self.width) {
            bail!("{} values are no whole rows of {}", values.len(), self.width);
        }
        if values.len() < 1 << 14 {
            values.chunks_exact_mut(self.width).for_each(&self.change);
        } else {
            let rows = 8_192_usize.div_ceil(self.width);
            let change = |rows: &mut [f32]| rows.chunks_exact_mut(self.width).for_each(&self.change);
            values.par_chunks_mut(rows * self.width).for_each(change);
        }
        Ok(())
    }
}
