//! A matrix of weights, applied to every row.

use candle_core::{Result, Tensor};

/// `y = x Wᵀ + b`. Pointwise convolutions are this, too.
#[derive(Debug)]
pub struct Linear {
    /// `(inputs, outputs)`, contiguous: the transposed form of what files hold.
    weight: Tensor,
    /// `(outputs)`
    bias: Option<Tensor>,
}

impl Linear {
    /// A layer with a weight of `(outputs, inputs)` and a bias of `(outputs)`, as files hold them, in F32.
    ///
    /// # Errors
    /// The weight is no matrix.
    pub fn new(weight: &Tensor, bias: Option<Tensor>) -> Result<Self> {
        Ok(Self { weight: weight.t()?.contiguous()?, bias })
    }

    /// Maps rows: `(rows, inputs)` to `(rows, outputs)`.
    ///
    /// # Errors
    /// The shapes do not fit.
    pub fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        let out = rows.matmul(&self.weight)?;
        match &self.bias {
            Some(bias) => out.broadcast_add(bias),
            None => Ok(out),
        }
    }
}
