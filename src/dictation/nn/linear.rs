//! A matrix of weights, applied to every row.

use super::activation::Activation;
use super::int8::kernel::Finish;
use super::int8::{Int8Matrix, Kernel};
use super::values::{map_values, with_values};
use candle_core::{Device, Result, Tensor, bail};

/// `y = x Wᵀ + b`. Pointwise convolutions are this, too.
#[derive(Debug)]
pub struct Linear {
    weight: Weight,
    /// `(outputs)`
    bias: Option<Vec<f32>>,
}

#[derive(Debug)]
enum Weight {
    /// `(inputs, outputs)`, contiguous: the transposed form of what files hold.
    F32(Tensor),
    Int8(Int8Matrix),
}

impl Linear {
    /// A layer with a weight of `(outputs, inputs)` and a bias of `(outputs)`, as files hold them, in F32.
    ///
    /// # Errors
    /// The weight is no matrix, the bias no vector.
    pub fn new(weight: &Tensor, bias: Option<Tensor>) -> Result<Self> {
        let bias = bias.map(|bias| bias.to_vec1()).transpose()?;
        Ok(Self { weight: Weight::F32(weight.t()?.contiguous()?), bias })
    }

    /// A layer of weights that are rounded to eight bits.
    ///
    /// # Errors
    /// The bias has another size.
    pub fn int8(matrix: Int8Matrix, bias: Option<Vec<f32>>) -> Result<Self> {
        if bias.as_ref().is_some_and(|bias| bias.len() != matrix.outputs()) {
            bail!("a layer of {} outputs got another number of biases", matrix.outputs());
        }
        Ok(Self { weight: Weight::Int8(matrix), bias })
    }

    /// Its weight of `(outputs, inputs)` and its bias; `None` if they are rounded.
    ///
    /// # Errors
    /// Out of memory.
    pub fn numbers(&self) -> Result<Option<(Tensor, Option<Vec<f32>>)>> {
        match &self.weight {
            Weight::F32(weight) => Ok(Some((weight.t()?, self.bias.clone()))),
            Weight::Int8(_) => Ok(None),
        }
    }

    /// Its weights are rounded to eight bits.
    pub const fn is_int8(&self) -> bool {
        matches!(self.weight, Weight::Int8(_))
    }

    /// Maps rows: `(rows, inputs)` to `(rows, outputs)`.
    ///
    /// # Errors
    /// The shapes do not fit.
    pub fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        self.forward_then(rows, Activation::None)
    }

    /// [`Self::forward`], then a function of each value.
    ///
    /// # Errors
    /// The shapes do not fit.
    pub fn forward_then(&self, rows: &Tensor, activation: Activation) -> Result<Tensor> {
        match &self.weight {
            Weight::F32(weight) => {
                let out = rows.contiguous()?.matmul(weight)?;
                if self.bias.is_some() || activation != Activation::None {
                    let outputs = out.dim(1)?;
                    map_values(&out, outputs, |row| self.finish(row, activation))?;
                }
                Ok(out)
            }
            Weight::Int8(matrix) => {
                let (count, inputs) = rows.dims2()?;
                if inputs != matrix.inputs() {
                    bail!("a layer of {} inputs got {inputs}", matrix.inputs());
                }
                let out = with_values(rows, |values| self.product(matrix, values, activation))?;
                Tensor::from_vec(out, (count, matrix.outputs()), &Device::Cpu)
            }
        }
    }

    /// Maps rows that lie one after the other, without a tensor around them: what loops over single rows need.
    ///
    /// # Errors
    /// They are no whole rows.
    pub fn forward_rows(&self, rows: &[f32]) -> Result<Vec<f32>> {
        match &self.weight {
            Weight::F32(weight) => {
                let inputs = weight.dim(0)?;
                let rows = Tensor::from_slice(rows, (rows.len() / inputs.max(1), inputs), &Device::Cpu)?;
                self.forward(&rows)?.flatten_all()?.to_vec1()
            }
            Weight::Int8(matrix) => {
                if !rows.len().is_multiple_of(matrix.inputs()) {
                    bail!("a layer of {} inputs got {}", matrix.inputs(), rows.len());
                }
                Ok(self.product(matrix, rows, Activation::None))
            }
        }
    }

    fn product(&self, matrix: &Int8Matrix, values: &[f32], activation: Activation) -> Vec<f32> {
        let kernel = Kernel::best();
        let finish = Finish { bias: self.bias.as_deref(), activation };
        kernel.product(matrix, &kernel.rows(values, matrix.inputs()), finish)
    }

    fn finish(&self, row: &mut [f32], activation: Activation) {
        if let Some(bias) = &self.bias {
            row.iter_mut().zip(bias).for_each(|(value, bias)| *value += bias);
        }
        activation.apply(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(count: usize, seed: u64) -> Vec<f32> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..count).map(|_| random.f32() - 0.5).collect()
    }

    #[test]
    fn a_rounded_layer_is_near_its_f32() {
        let (weight, bias) = (noise(40 * 256, 1), noise(40, 2));
        let tensor = Tensor::from_slice(&weight, (40, 256), &Device::Cpu).unwrap();
        let plain = Linear::new(&tensor, Some(Tensor::from_slice(&bias, 40, &Device::Cpu).unwrap())).unwrap();
        let rounded = Linear::int8(Int8Matrix::pack(&weight, 256, 40).unwrap(), Some(bias)).unwrap();
        let rows = Tensor::from_vec(noise(6 * 256, 3), (6, 256), &Device::Cpu).unwrap();
        for activation in [Activation::None, Activation::Relu, Activation::Silu, Activation::Gelu] {
            let [plain, rounded] =
                [&plain, &rounded].map(|layer| layer.forward_then(&rows, activation).unwrap());
            let difference =
                (&plain - rounded).unwrap().sqr().unwrap().sum_all().unwrap().to_scalar::<f32>().unwrap();
            let size = plain.sqr().unwrap().sum_all().unwrap().to_scalar::<f32>().unwrap();
            assert!((difference / size).sqrt() < 0.024, "{activation:?} {difference} {size}");
        }
    }

    #[test]
    fn single_rows_give_the_same_as_many() {
        let weight = noise(40 * 256, 1);
        let tensor = Tensor::from_slice(&weight, (40, 256), &Device::Cpu).unwrap();
        let rows = noise(3 * 256, 3);
        let tensor_of_rows = Tensor::from_slice(&rows, (3, 256), &Device::Cpu).unwrap();
        let rounded = Linear::int8(Int8Matrix::pack(&weight, 256, 40).unwrap(), None).unwrap();
        for layer in [Linear::new(&tensor, None).unwrap(), rounded] {
            let many: Vec<f32> =
                layer.forward(&tensor_of_rows).unwrap().flatten_all().unwrap().to_vec1().unwrap();
            assert_eq!(layer.forward_rows(&rows).unwrap(), many);
            assert!(layer.forward(&tensor_of_rows.t().unwrap().contiguous().unwrap()).is_err());
            assert!(layer.forward_rows(&rows[..100]).is_err());
        }
    }

    #[test]
    fn rows_that_are_a_view_of_others_are_read_right() {
        let weight = noise(4 * 256, 1);
        let layer = Linear::int8(Int8Matrix::pack(&weight, 256, 4).unwrap(), None).unwrap();
        let rows = Tensor::from_vec(noise(5 * 256, 3), (5, 256), &Device::Cpu).unwrap();
        let all: Vec<Vec<f32>> = layer.forward(&rows).unwrap().to_vec2().unwrap();
        let some: Vec<Vec<f32>> = layer.forward(&rows.narrow(0, 2, 2).unwrap()).unwrap().to_vec2().unwrap();
        assert_eq!(some, all[2..4]);
        let turned = rows.t().unwrap().contiguous().unwrap().t().unwrap();
        assert_eq!(layer.forward(&turned).unwrap().to_vec2::<f32>().unwrap(), all);
    }
}
