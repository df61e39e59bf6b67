//! FastConformer (Rekesh et al. 2023): features to frames that know of each other.
//!
//! NeMo pads features with a frame of zeros and masks what comes of it in every layer. One utterance needs no padding,
//! so there is no mask here, and the frames are the same.

use super::attention::{Attention, Positions};
use super::config::EncoderConfig;
use super::convolution::ConvolutionModule;
use super::feed_forward::FeedForward;
use super::norm::LayerNorm;
use super::subsampling::Subsampling;
use crate::dictation::transcriber::{Cancel, SpeechError};
use crate::dictation::weights::{ModelError, Weights};
use candle_core::{Result, Tensor};

/// The encoder.
pub struct Encoder {
    pub(super) subsampling: Subsampling,
    pub(super) positions: Positions,
    pub(super) blocks: Vec<Block>,
    scale: Option<f64>,
}

/// A Conformer block (Gulati et al. 2020).
pub struct Block {
    pub(super) norm_feed_forward1: LayerNorm,
    pub(super) feed_forward1: FeedForward,
    pub(super) norm_attention: LayerNorm,
    pub(super) attention: Attention,
    pub(super) norm_convolution: LayerNorm,
    pub(super) convolution: ConvolutionModule,
    pub(super) norm_feed_forward2: LayerNorm,
    pub(super) feed_forward2: FeedForward,
    pub(super) norm_out: LayerNorm,
}

impl Encoder {
    /// # Errors
    /// A weight is missing or has another shape.
    pub fn new(weights: &dyn Weights, config: &EncoderConfig) -> std::result::Result<Self, ModelError> {
        let blocks =
            (0..config.layers).map(|layer| Block::new(weights, &format!("encoder.layers.{layer}"), config));
        Ok(Self {
            subsampling: Subsampling::new(weights, config)?,
            positions: Positions::new(config.hidden),
            blocks: blocks.collect::<std::result::Result<_, _>>()?,
            scale: config.scales_input.then(|| (config.hidden as f64).sqrt()),
        })
    }

    /// Maps features `(frames, mels)` to `(fewer frames, hidden)`. There must be at least one frame.
    ///
    /// # Errors
    /// The flag went up, or the shape does not fit.
    pub fn forward(
        &mut self,
        features: &Tensor,
        cancel: &Cancel,
    ) -> std::result::Result<Tensor, SpeechError> {
        let mut rows = self.subsampling.forward(features)?;
        if let Some(scale) = self.scale {
            rows = (rows * scale)?;
        }
        for block in &mut self.blocks {
            cancel.check()?;
            rows = block.forward(&rows, &mut self.positions)?;
        }
        cancel.check()?;
        Ok(rows)
    }
}

impl Block {
    fn new(
        weights: &dyn Weights,
        name: &str,
        config: &EncoderConfig,
    ) -> std::result::Result<Self, ModelError> {
        let norm = |part: &str| LayerNorm::new(weights, &format!("{name}.{part}"), config.hidden);
        let feed_forward = |part: &str| FeedForward::new(weights, &format!("{name}.{part}"), config);
        Ok(Self {
            norm_feed_forward1: norm("norm_feed_forward1")?,
            feed_forward1: feed_forward("feed_forward1")?,
            norm_attention: norm("norm_self_att")?,
            attention: Attention::new(weights, &format!("{name}.self_attn"), config)?,
            norm_convolution: norm("norm_conv")?,
            convolution: ConvolutionModule::new(weights, &format!("{name}.conv"), config)?,
            norm_feed_forward2: norm("norm_feed_forward2")?,
            feed_forward2: feed_forward("feed_forward2")?,
            norm_out: norm("norm_out")?,
        })
    }

    fn forward(&mut self, rows: &Tensor, positions: &mut Positions) -> Result<Tensor> {
        let half = |update: Tensor| update * 0.5;
        let rows = (rows + half(self.feed_forward1.forward(&self.norm_feed_forward1.forward(rows)?)?)?)?;
        let rows = (&rows + self.attention.forward(&self.norm_attention.forward(&rows)?, positions)?)?;
        let rows = (&rows + self.convolution.forward(&self.norm_convolution.forward(&rows)?)?)?;
        let rows = (&rows + half(self.feed_forward2.forward(&self.norm_feed_forward2.forward(&rows)?)?)?)?;
        self.norm_out.forward(&rows)
    }
}
