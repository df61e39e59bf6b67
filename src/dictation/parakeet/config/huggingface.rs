//! `config.json` and `preprocessor_config.json`, as Hugging Face's transformers writes them.

use super::{Config, EncoderConfig, HeadConfig, TransducerConfig};
use crate::dictation::log_mel::parakeet::FrontEndConfig;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Model {
    model_type: String,
    encoder_config: Encoder,
    vocab_size: usize,
    pad_token_id: Option<u32>,
    blank_token_id: Option<u32>,
    decoder_hidden_size: Option<usize>,
    num_decoder_layers: Option<usize>,
    durations: Option<Vec<usize>>,
    max_symbols_per_step: Option<usize>,
}

#[derive(Deserialize)]
struct Encoder {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    num_mel_bins: usize,
    conv_kernel_size: usize,
    subsampling_factor: usize,
    subsampling_conv_channels: usize,
    subsampling_conv_kernel_size: usize,
    subsampling_conv_stride: usize,
    #[serde(default = "yes")]
    scale_input: bool,
}

#[derive(Deserialize)]
struct Features {
    feature_size: usize,
    hop_length: usize,
    n_fft: usize,
    win_length: usize,
    preemphasis: f32,
    sampling_rate: usize,
}

fn yes() -> bool {
    true
}

impl Config {
    /// From `config.json`, and the description of the features where there is one: `preprocessor_config.json`, or the
    /// part of `processor_config.json` that newer versions write.
    ///
    /// # Errors
    /// What is wrong, in a few words.
    pub fn from_huggingface(model: &Value, features: Option<&Value>) -> Result<Self, String> {
        let model = Model::deserialize(model).map_err(|error| error.to_string())?;
        let encoder = model.encoder_config;
        let front_end = match features {
            None => FrontEndConfig { mels: encoder.num_mel_bins, ..FrontEndConfig::default() },
            Some(value) => {
                let value = value.get("feature_extractor").unwrap_or(value);
                let features = Features::deserialize(value).map_err(|error| error.to_string())?;
                FrontEndConfig {
                    rate: features.sampling_rate,
                    mels: features.feature_size,
                    transform: features.n_fft,
                    window: features.win_length,
                    hop: features.hop_length,
                    preemphasis: features.preemphasis,
                }
            }
        };
        let encoder = EncoderConfig {
            mels: encoder.num_mel_bins,
            hidden: encoder.hidden_size,
            layers: encoder.num_hidden_layers,
            heads: encoder.num_attention_heads,
            intermediate: encoder.intermediate_size,
            kernel: encoder.conv_kernel_size,
            subsampling: encoder.subsampling_factor,
            subsampling_channels: encoder.subsampling_conv_channels,
            subsampling_kernel: encoder.subsampling_conv_kernel_size,
            subsampling_stride: encoder.subsampling_conv_stride,
            scales_input: encoder.scale_input,
        };
        let vocabulary = model.vocab_size;
        let head = match model.model_type.as_str() {
            "parakeet_ctc" => HeadConfig::Ctc {
                vocabulary,
                blank: model.pad_token_id.ok_or("it does not say which token is blank")?,
            },
            kind @ ("parakeet_tdt" | "parakeet_rnnt") => {
                let hidden = model.decoder_hidden_size.ok_or("it does not say how large its decoder is")?;
                let durations = match kind {
                    "parakeet_tdt" => model.durations.ok_or("it does not say which durations it knows")?,
                    _ => Vec::new(),
                };
                HeadConfig::Transducer(TransducerConfig {
                    vocabulary,
                    blank: model.blank_token_id.ok_or("it does not say which token is blank")?,
                    hidden,
                    layers: model
                        .num_decoder_layers
                        .ok_or("it does not say how many layers its decoder has")?,
                    joint: hidden,
                    durations,
                    most_symbols: model.max_symbols_per_step.unwrap_or(10).max(1),
                })
            }
            other => return Err(format!("its type is `{other}`")),
        };
        Self { front_end, encoder, head }.check()
    }
}
