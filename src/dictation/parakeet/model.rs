//! A whole Parakeet: samples in, words out.

use super::config::{Config, HeadConfig};
use super::ctc::CtcHead;
use super::encoder::Encoder;
use super::tdt::{Emission, Transducer};
use super::tokenizer::Tokenizer;
use crate::dictation::log_mel::parakeet::FrontEnd;
use crate::dictation::nn::Linear;
use crate::dictation::transcriber::{Ask, ModelInfo, SpeechError, Transcriber, Transcript};
use crate::dictation::weights::{Make, ModelError, Weights};
use crate::proto::voice::Precision;
use candle_core::Tensor;
use std::cell::Cell;

/// A Parakeet in memory.
pub struct Parakeet {
    pub(super) front_end: FrontEnd,
    pub(super) encoder: Encoder,
    pub(super) head: Head,
    tokenizer: Tokenizer,
    frame_seconds: f32,
    info: ModelInfo,
}

/// What reads the encoder's frames.
pub(super) enum Head {
    Ctc(CtcHead),
    Transducer(Box<Transducer>),
}

impl Parakeet {
    /// Builds it of weights. As far as we know these are F32: whoever quantises them says so by
    /// [`Self::kept`].
    ///
    /// # Errors
    /// A weight is missing or has another shape.
    pub fn new(config: &Config, tokenizer: Tokenizer, weights: &dyn Weights) -> Result<Self, ModelError> {
        let weights = Counted { weights, values: Cell::new(0) };
        let frame = config.encoder.hidden;
        let encoder = Encoder::new(&weights, &config.encoder)?;
        let head = match &config.head {
            HeadConfig::Ctc { vocabulary, blank } => {
                Head::Ctc(CtcHead::new(&weights, frame, *vocabulary, *blank)?)
            }
            HeadConfig::Transducer(config) => {
                Head::Transducer(Box::new(Transducer::new(&weights, config, frame)?))
            }
        };
        Ok(Self {
            front_end: FrontEnd::new(config.front_end.clone()),
            encoder,
            head,
            tokenizer,
            frame_seconds: config.frame_seconds(),
            info: ModelInfo {
                kind: config.kind(),
                precision: Precision::F32,
                bytes: 4 * weights.values.get(),
            },
        })
    }

    /// Says how its weights are kept, and how many bytes they take.
    #[must_use]
    pub fn kept(mut self, precision: Precision, bytes: u64) -> Self {
        self.info.precision = precision;
        self.info.bytes = bytes;
        self
    }

    /// What was heard, as pieces.
    pub(super) fn emissions(&mut self, samples: &[f32], ask: &Ask) -> Result<Vec<Emission>, SpeechError> {
        ask.cancel.check()?;
        let features = self.front_end.features(samples)?;
        if features.dim(0)? == 0 {
            return Ok(Vec::new());
        }
        let frames = self.encoder.forward(&features, &ask.cancel)?;
        match &self.head {
            Head::Ctc(head) => Ok(head.decode(&frames)?),
            Head::Transducer(head) => head.decode(&frames, &ask.cancel),
        }
    }
}

impl Transcriber for Parakeet {
    fn transcribe(&mut self, samples: &[f32], ask: &Ask) -> Result<Transcript, SpeechError> {
        let heard = self.emissions(samples, ask)?;
        let length = samples.len() as f32 / self.front_end.config().rate as f32;
        Ok(self.tokenizer.write(&heard, self.frame_seconds, length))
    }

    fn info(&self) -> &ModelInfo {
        &self.info
    }
}

/// Counts the values that are asked for.
struct Counted<'a> {
    weights: &'a dyn Weights,
    values: Cell<u64>,
}

impl Counted<'_> {
    fn count(&self, values: usize) {
        self.values.set(self.values.get() + values as u64);
    }
}

impl Weights for Counted<'_> {
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        self.count(shape.iter().product());
        self.weights.tensor(name, shape)
    }

    fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        self.count(inputs * outputs);
        self.weights.linear(name, inputs, outputs)
    }

    fn made(&self, name: &str, inputs: usize, outputs: usize, make: &Make<'_>) -> Result<Linear, ModelError> {
        self.count(inputs * outputs);
        self.weights.made(name, inputs, outputs, make)
    }

    fn has(&self, name: &str) -> bool {
        self.weights.has(name)
    }
}
