//! The transducer's memory of what it wrote: an LSTM over the pieces so far.

use super::config::TransducerConfig;
use crate::dictation::nn::Linear;
use crate::dictation::nn::activation::sigmoid;
use crate::dictation::weights::{ModelError, Weights};
use candle_core::{Result, Tensor};

/// The prediction network.
pub struct Prediction {
    /// `(vocabulary, hidden)`
    embedding: Tensor,
    layers: Vec<LstmLayer>,
    out: Linear,
    hidden: usize,
}

/// Both matrices of a layer side by side: one product a step.
struct LstmLayer {
    /// `(hidden before, own hidden)` to gates, in torch's order: input, forget, cell, output.
    gates: Linear,
}

/// What it remembers.
#[derive(Clone)]
pub struct State {
    /// For each layer `(hidden, cell)`.
    layers: Vec<(Vec<f32>, Vec<f32>)>,
}

impl Prediction {
    /// # Errors
    /// A weight is missing or has another shape.
    pub fn new(weights: &dyn Weights, config: &TransducerConfig) -> std::result::Result<Self, ModelError> {
        let hidden = config.hidden;
        let layers = (0..config.layers).map(|layer| {
            let gates =
                weights.made(&format!("decoder.lstm.gates_l{layer}"), 2 * hidden, 4 * hidden, &|| {
                    let part = |name: &str, shape: &[usize]| {
                        weights.tensor(&format!("decoder.lstm.{name}_l{layer}"), shape)
                    };
                    let matrix = [4 * hidden, hidden];
                    let weight = Tensor::cat(&[part("weight_ih", &matrix)?, part("weight_hh", &matrix)?], 1)?;
                    let bias = (part("bias_ih", &[4 * hidden])? + part("bias_hh", &[4 * hidden])?)?;
                    Ok((weight, Some(bias)))
                })?;
            Ok::<_, ModelError>(LstmLayer { gates })
        });
        Ok(Self {
            layers: layers.collect::<std::result::Result<_, _>>()?,
            embedding: weights.tensor("decoder.embedding.weight", &[config.vocabulary, hidden])?,
            out: weights.linear("decoder.decoder_projector", hidden, config.joint)?,
            hidden,
        })
    }

    /// Nothing was written yet.
    pub fn start(&self) -> State {
        State { layers: vec![(vec![0.0; self.hidden], vec![0.0; self.hidden]); self.layers.len()] }
    }

    /// Takes the next piece, blank to begin with, and tells what to expect: `(joint)` values.
    ///
    /// # Errors
    /// The piece is not in the vocabulary.
    pub fn step(&self, state: &mut State, token: u32) -> Result<Vec<f32>> {
        let mut row: Vec<f32> = self.embedding.get(token as usize)?.to_vec1()?;
        for (layer, (hidden, cell)) in self.layers.iter().zip(&mut state.layers) {
            row.extend_from_slice(hidden);
            let gates = layer.gates.forward_rows(&row)?;
            let (input, rest) = gates.split_at(self.hidden);
            let (forget, rest) = rest.split_at(self.hidden);
            let (candidate, output) = rest.split_at(self.hidden);
            for (((cell, input), forget), candidate) in cell.iter_mut().zip(input).zip(forget).zip(candidate)
            {
                *cell = sigmoid(*forget) * *cell + sigmoid(*input) * candidate.tanh();
            }
            for ((hidden, output), cell) in hidden.iter_mut().zip(output).zip(cell.iter()) {
                *hidden = sigmoid(*output) * cell.tanh();
            }
            row = hidden.clone();
        }
        self.out.forward_rows(&row)
    }
}

#[cfg(test)]
impl State {
    /// Hidden values and cells of all layers.
    pub fn parts(&self) -> (Vec<f32>, Vec<f32>) {
        let hidden = self.layers.iter().flat_map(|(hidden, _)| hidden.clone());
        let cells = self.layers.iter().flat_map(|(_, cell)| cell.clone());
        (hidden.collect(), cells.collect())
    }
}
