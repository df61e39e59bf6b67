//! Sizes and choices of a Parakeet model, from whichever files it comes with.

mod huggingface;
mod nemo;

use crate::dictation::log_mel::parakeet::FrontEndConfig;

/// A whole model.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// From samples to features.
    pub front_end: FrontEndConfig,
    /// From features to frames.
    pub encoder: EncoderConfig,
    /// From frames to pieces of words.
    pub head: HeadConfig,
}

/// The FastConformer encoder.
#[derive(Clone, Debug, PartialEq)]
pub struct EncoderConfig {
    /// Values in a frame of features.
    pub mels: usize,
    /// Values in a frame.
    pub hidden: usize,
    /// Conformer blocks.
    pub layers: usize,
    /// Heads of self-attention.
    pub heads: usize,
    /// Values within a feed-forward module.
    pub intermediate: usize,
    /// Frames that a depthwise convolution looks at.
    pub kernel: usize,
    /// Frames of features that become one frame: a power of the stride.
    pub subsampling: usize,
    /// Channels of the subsampling's convolutions.
    pub subsampling_channels: usize,
    /// Side of the subsampling's kernels.
    pub subsampling_kernel: usize,
    /// Step of the subsampling's kernels.
    pub subsampling_stride: usize,
    /// Frames are multiplied by the root of their size before the first block.
    pub scales_input: bool,
}

/// What reads the frames.
#[derive(Clone, Debug, PartialEq)]
pub enum HeadConfig {
    /// Connectionist temporal classification: a piece or blank for every frame.
    Ctc {
        /// Pieces, blank included.
        vocabulary: usize,
        /// Blank's number.
        blank: u32,
    },
    /// A transducer: pieces depend on those before.
    Transducer(TransducerConfig),
}

/// RNN-T, and TDT where it has durations.
#[derive(Clone, Debug, PartialEq)]
pub struct TransducerConfig {
    /// Pieces, blank included.
    pub vocabulary: usize,
    /// Blank's number.
    pub blank: u32,
    /// Values in a state of the prediction network.
    pub hidden: usize,
    /// Layers of the prediction network.
    pub layers: usize,
    /// Values in which frames and states meet.
    pub joint: usize,
    /// Frames that a step may go on, by the number of the output; none for RNN-T.
    pub durations: Vec<usize>,
    /// Pieces at one frame at most: a model that runs wild would never end.
    pub most_symbols: usize,
}

impl Config {
    /// The model's kind, as errors and lists name it.
    pub fn kind(&self) -> &'static str {
        match &self.head {
            HeadConfig::Ctc { .. } => "parakeet-ctc",
            HeadConfig::Transducer(head) if head.durations.is_empty() => "parakeet-rnnt",
            HeadConfig::Transducer(_) => "parakeet-tdt",
        }
    }

    /// Seconds from a frame of the encoder to the next.
    pub fn frame_seconds(&self) -> f32 {
        (self.front_end.hop * self.encoder.subsampling) as f32 / self.front_end.rate.max(1) as f32
    }

    /// Looks for what no part could work with.
    ///
    /// # Errors
    /// What is wrong, in a few words.
    fn check(self) -> Result<Self, String> {
        let encoder = &self.encoder;
        let front = &self.front_end;
        if front.rate != crate::dictation::audio::SAMPLE_RATE {
            return Err(format!("it hears {} samples a second, not 16,000", front.rate));
        }
        if front.hop == 0 || front.transform < front.window.max(2) || front.transform > 1 << 16 {
            return Err("its windows have no sensible size".to_owned());
        }
        if front.mels != encoder.mels {
            return Err(format!(
                "its features have {} bands and its encoder takes {}",
                front.mels, encoder.mels
            ));
        }
        let sizes =
            [encoder.mels, encoder.hidden, encoder.heads, encoder.intermediate, encoder.subsampling_channels];
        if sizes.contains(&0) || !encoder.hidden.is_multiple_of(2 * encoder.heads) {
            return Err("its heads do not divide its frames".to_owned());
        }
        if encoder.kernel.is_multiple_of(2) || encoder.subsampling_kernel.is_multiple_of(2) {
            return Err("a convolution has no middle".to_owned());
        }
        if encoder.stages().is_none() {
            return Err(format!("frames can't be joined {} at a time", encoder.subsampling));
        }
        let (vocabulary, blank) = match &self.head {
            HeadConfig::Ctc { vocabulary, blank } => (*vocabulary, *blank),
            HeadConfig::Transducer(head) => (head.vocabulary, head.blank),
        };
        if blank as usize >= vocabulary {
            return Err("blank is not in its vocabulary".to_owned());
        }
        Ok(self)
    }
}

impl EncoderConfig {
    /// Convolutions of the subsampling, one after the other; `None` if the factor is no power of the stride.
    pub fn stages(&self) -> Option<usize> {
        let (mut factor, mut stages) = (self.subsampling, 0);
        if self.subsampling_stride < 2 || factor < 2 {
            return None;
        }
        while factor > 1 {
            if factor % self.subsampling_stride != 0 {
                return None;
            }
            factor /= self.subsampling_stride;
            stages += 1;
        }
        Some(stages)
    }
}
