//! Tokens so far to the next one, looking at what was heard.
//!
//! Keys and values of former tokens are kept ([`State`]), and those of what was heard are worked out once, so a token
//! costs the same wherever it stands.

use super::config::Config;
use super::layers::{FeedForward, Norm, Projections};
use super::memory::{Memory, Sight};
use crate::dictation::nn::Linear;
use crate::dictation::weights::{ModelError, Weights};
use candle_core::{DType, Device, Result, Tensor};

/// The decoder.
pub struct Decoder {
    /// `(vocabulary, channels)`; in F16 where that loses nothing.
    embeddings: Tensor,
    positions: Tensor,
    layers: Vec<Layer>,
    norm: Norm,
    head: Linear,
    heads: usize,
    channels: usize,
    capacity: usize,
    /// Layers and heads that look at where the spoken token is.
    aligning: Vec<(usize, usize)>,
}

struct Layer {
    past: Projections,
    heard: Projections,
    feed_forward: FeedForward,
}

/// What the decoder knows of one window: what was heard, and the tokens so far.
pub struct State {
    past: Vec<Memory>,
    heard: Vec<Memory>,
    /// For each token, where in what was heard the decoder looked to tell the next one: summed over the aligning
    /// heads. Of several tokens given at once only the last one has numbers.
    pub looks: Vec<Vec<f32>>,
}

impl State {
    /// Tokens so far.
    pub fn len(&self) -> usize {
        self.past.first().map_or(0, Memory::len)
    }

    /// Forgets tokens from this one on.
    pub fn truncate(&mut self, length: usize) {
        self.past.iter_mut().for_each(|memory| memory.truncate(length));
        self.looks.truncate(length);
    }
}

impl Decoder {
    /// Reads it. `aligning` are layers and heads, as the model's files name them; without, those of the upper half.
    ///
    /// # Errors
    /// A tensor is missing, or has another shape than the configuration says.
    pub fn load(
        weights: &dyn Weights,
        config: &Config,
        aligning: Option<&[(usize, usize)]>,
    ) -> std::result::Result<Self, ModelError> {
        let (channels, vocabulary) = (config.d_model, config.vocab_size);
        let layer = |number: usize| {
            let name = format!("model.decoder.layers.{number}");
            Ok(Layer {
                past: Projections::load(weights, &format!("{name}.self_attn"), channels)?,
                heard: Projections::load(weights, &format!("{name}.encoder_attn"), channels)?,
                feed_forward: FeedForward::load(weights, &name, channels, config.decoder_ffn_dim)?,
            })
        };
        let upper_half = || {
            let layers = config.decoder_layers / 2..config.decoder_layers;
            layers
                .flat_map(|layer| (0..config.decoder_attention_heads).map(move |head| (layer, head)))
                .collect()
        };
        let embeddings = "model.decoder.embed_tokens";
        let head = if weights.has("proj_out.weight") { "proj_out" } else { embeddings };
        Ok(Self {
            embeddings: smallest(weights.tensor(&format!("{embeddings}.weight"), &[vocabulary, channels])?)?,
            positions: weights
                .tensor("model.decoder.embed_positions.weight", &[config.max_target_positions, channels])?,
            layers: (0..config.decoder_layers).map(layer).collect::<std::result::Result<_, ModelError>>()?,
            norm: Norm::load(weights, "model.decoder.layer_norm", channels)?,
            head: weights.linear(head, channels, vocabulary)?,
            heads: config.decoder_attention_heads,
            channels,
            capacity: config.max_target_positions,
            aligning: aligning.map_or_else(upper_half, <[_]>::to_vec),
        })
    }

    /// Begins with what the encoder heard, `(frames, channels)`, and no token.
    ///
    /// # Errors
    /// The shapes do not fit.
    pub fn begin(&self, heard: &Tensor) -> Result<State> {
        let frames = heard.dim(0)?;
        let memory = |layer: &Layer| {
            let mut memory = Memory::new(self.heads, self.channels, frames);
            memory.push(&layer.heard.key.forward(heard)?, &layer.heard.value.forward(heard)?)?;
            Ok(memory)
        };
        Ok(State {
            past: self.layers.iter().map(|_| Memory::new(self.heads, self.channels, self.capacity)).collect(),
            heard: self.layers.iter().map(memory).collect::<Result<_>>()?,
            looks: Vec::new(),
        })
    }

    /// Adds tokens; gives a row for each, `(tokens, channels)`.
    ///
    /// # Errors
    /// There are more than the model has positions, or one is outside the vocabulary.
    pub fn forward(&self, tokens: &[u32], state: &mut State) -> Result<Tensor> {
        let ids = Tensor::from_slice(tokens, tokens.len(), &Device::Cpu)?;
        let positions = self.positions.narrow(0, state.len(), tokens.len())?;
        let mut rows = (self.embeddings.index_select(&ids, 0)?.to_dtype(DType::F32)? + positions)?;
        let mut look = Vec::new();
        for (number, layer) in self.layers.iter().enumerate() {
            let (past, heard) = (&mut state.past[number], &state.heard[number]);
            let normed = layer.past.norm.forward(&rows)?;
            past.push(&layer.past.key.forward(&normed)?, &layer.past.value.forward(&normed)?)?;
            let found = past.ask(&layer.past.query.forward(&normed)?, Sight::Past, &mut |_, _| ())?;
            rows = (rows + layer.past.out.forward(&found)?)?;

            let normed = layer.heard.norm.forward(&rows)?;
            let mut watch = |head: usize, probabilities: &[f32]| {
                if self.aligning.contains(&(number, head)) {
                    look.resize(probabilities.len(), 0.0);
                    look.iter_mut().zip(probabilities).for_each(|(sum, seen)| *sum += seen);
                }
            };
            let found = heard.ask(&layer.heard.query.forward(&normed)?, Sight::All, &mut watch)?;
            rows = (rows + layer.heard.out.forward(&found)?)?;
            rows = layer.feed_forward.forward(&rows)?;
        }
        state.looks.resize(state.len().saturating_sub(1), Vec::new());
        state.looks.push(look);
        self.norm.forward(&rows)
    }

    /// Logits of all tokens to come after each row: `(rows, channels)` to `(rows, vocabulary)`.
    ///
    /// # Errors
    /// The shapes do not fit.
    pub fn logits(&self, rows: &Tensor) -> Result<Tensor> {
        self.head.forward(rows)
    }
}

/// The tensor in F16 if every value survives it, as those of the published models do: the embeddings are only looked
/// up, and are kept a second time for the logits.
fn smallest(tensor: Tensor) -> Result<Tensor> {
    let half = tensor.to_dtype(DType::F16)?;
    let same = half.to_dtype(DType::F32)?.eq(&tensor)?.to_dtype(DType::F32)?.min_all()?.to_scalar::<f32>()?;
    Ok(if same > 0.0 { half } else { tensor })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictation::whisper::fixtures::{self, difference};

    #[test]
    fn matches_the_reference_with_the_cache_and_without() {
        let decoder = Decoder::load(&fixtures::weights(), &fixtures::config(), None).unwrap();
        let expected = fixtures::expected();
        let ids = fixtures::greedy_ids();
        let tokens = &ids[..ids.len() - 1];
        let state = || decoder.begin(&expected["encoder_out"]).unwrap();

        let at_once = decoder.logits(&decoder.forward(tokens, &mut state()).unwrap()).unwrap();
        assert!(difference(&at_once, &expected["decoder_logits"]) < 1e-5);

        let mut steps = state();
        let one = |token| decoder.logits(&decoder.forward(&[token], &mut steps).unwrap()).unwrap();
        let logits: Vec<Tensor> = tokens.iter().copied().map(one).collect();
        assert!(difference(&Tensor::cat(&logits, 0).unwrap(), &expected["decoder_logits"]) < 1e-5);
        assert_eq!((steps.len(), steps.looks.len()), (20, 20));
        steps.truncate(7);
        let again = decoder.logits(&decoder.forward(&tokens[7..8], &mut steps).unwrap()).unwrap();
        assert!(difference(&again, &logits[7]) < 1e-6);
    }

    #[test]
    fn the_greedy_tokens_are_those_of_the_reference() {
        let decoder = Decoder::load(&fixtures::weights(), &fixtures::config(), None).unwrap();
        let expected = fixtures::greedy_ids();
        let mut state = decoder.begin(&fixtures::expected()["encoder_out"]).unwrap();
        let mut ids = vec![expected[0]];
        while ids.len() < expected.len() {
            let rows = decoder.forward(&ids[ids.len() - 1..], &mut state).unwrap();
            let best = decoder.logits(&rows).unwrap().argmax(1).unwrap();
            ids.push(best.to_vec1::<u32>().unwrap()[0]);
        }
        assert_eq!(ids, expected);
    }

    #[test]
    fn more_tokens_than_positions_are_an_error() {
        let decoder = Decoder::load(&fixtures::weights(), &fixtures::config(), None).unwrap();
        let mut state = decoder.begin(&fixtures::expected()["encoder_out"]).unwrap();
        assert!(decoder.forward(&[1; 41], &mut state).is_err());
        assert!(decoder.forward(&[120], &mut state).is_err());
    }

    #[test]
    fn only_what_survives_is_kept_small() {
        let tensor = |value: f32| Tensor::new(&[0.5_f32, value], &Device::Cpu).unwrap();
        assert_eq!(smallest(tensor(0.25)).unwrap().dtype(), DType::F16);
        assert_eq!(smallest(tensor(0.1)).unwrap().dtype(), DType::F32);
    }
}
