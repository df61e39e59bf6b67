//! What a Whisper's own files say of it.

use crate::dictation::log_mel::whisper::HOP;
use crate::dictation::weights::ModelError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// A vocabulary of this size or more has many languages; the English one is a piece smaller. This is how the reference
/// tells them apart where nothing else says it.
const MULTILINGUAL_VOCABULARY: usize = 51_865;

/// `config.json`, as far as it matters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Config {
    /// Channels of every row.
    pub d_model: usize,
    /// Layers of the encoder.
    pub encoder_layers: usize,
    /// Its attention heads.
    pub encoder_attention_heads: usize,
    /// Channels inside its feed-forward parts.
    pub encoder_ffn_dim: usize,
    /// Layers of the decoder.
    pub decoder_layers: usize,
    /// Its attention heads.
    pub decoder_attention_heads: usize,
    /// Channels inside its feed-forward parts.
    pub decoder_ffn_dim: usize,
    /// Mel bands.
    pub num_mel_bins: usize,
    /// Encoder frames of a full window: 1,500 for 30 s.
    pub max_source_positions: usize,
    /// Tokens of a window, the prompt included.
    pub max_target_positions: usize,
    /// Tokens there are, and logits.
    pub vocab_size: usize,
    /// Tokens that are never taken.
    suppress_tokens: Option<Vec<i64>>,
    /// Tokens that are not taken first.
    begin_suppress_tokens: Option<Vec<i64>>,
    #[serde(default = "gelu")]
    activation_function: String,
    #[serde(default)]
    scale_embedding: bool,
}

/// `generation_config.json`, which older folders do not have. What it says counts more than the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Generation {
    suppress_tokens: Option<Vec<i64>>,
    begin_suppress_tokens: Option<Vec<i64>>,
    /// Layers and heads of the decoder that look at where the spoken token is.
    pub alignment_heads: Option<Vec<(usize, usize)>>,
    is_multilingual: Option<bool>,
}

fn gelu() -> String {
    "gelu".to_owned()
}

impl Config {
    /// Reads and checks a `config.json`.
    ///
    /// # Errors
    /// It can't be read, or is of a model that this code would get wrong.
    pub fn read(file: &Path) -> Result<Self, ModelError> {
        let config: Self = read_json(file)?;
        let wrong = |why: &str| Err(ModelError::Kind { file: file.to_owned(), why: why.to_owned() });
        let sizes = [
            config.d_model,
            config.encoder_attention_heads,
            config.decoder_attention_heads,
            config.encoder_ffn_dim,
            config.decoder_ffn_dim,
            config.num_mel_bins,
            config.max_source_positions,
            config.vocab_size,
        ];
        if sizes.contains(&0) || config.max_target_positions < 8 {
            return wrong("a size is zero");
        }
        if !config.d_model.is_multiple_of(config.encoder_attention_heads)
            || !config.d_model.is_multiple_of(config.decoder_attention_heads)
        {
            return wrong("the channels can't be shared among the attention heads");
        }
        if config.activation_function != "gelu" {
            return wrong("its activation is another one than Whisper's");
        }
        if config.scale_embedding {
            return wrong("it scales embeddings, as no known Whisper does");
        }
        Ok(config)
    }

    /// Samples of a full window.
    pub fn window_samples(&self) -> usize {
        self.max_source_positions * 2 * HOP
    }
}

impl Generation {
    /// Reads a `generation_config.json`, if there is one.
    ///
    /// # Errors
    /// It is damaged.
    pub fn read(file: &Path) -> Result<Self, ModelError> {
        if file.is_file() { read_json(file) } else { Ok(Self::default()) }
    }

    /// Tokens that are never taken.
    pub fn suppressed(&self, config: &Config) -> Vec<u32> {
        let chosen = self.suppress_tokens.as_ref().or(config.suppress_tokens.as_ref());
        ids(chosen.map_or(&[], Vec::as_slice))
    }

    /// Tokens that are not taken first; `None` where nobody says so.
    pub fn suppressed_first(&self, config: &Config) -> Option<Vec<u32>> {
        self.begin_suppress_tokens
            .as_ref()
            .or(config.begin_suppress_tokens.as_ref())
            .map(|chosen| ids(chosen))
    }

    /// The model knows more languages than English.
    pub fn is_multilingual(&self, config: &Config) -> bool {
        self.is_multilingual.unwrap_or(config.vocab_size >= MULTILINGUAL_VOCABULARY)
    }
}

/// Token ids; negative numbers, which stand for lists elsewhere, are left out.
fn ids(numbers: &[i64]) -> Vec<u32> {
    numbers.iter().filter_map(|number| u32::try_from(*number).ok()).collect()
}

/// Reads a JSON file.
///
/// # Errors
/// It can't be read, or is no such JSON.
pub fn read_json<T: DeserializeOwned>(file: &Path) -> Result<T, ModelError> {
    let bytes = std::fs::read(file)
        .map_err(|error| ModelError::File { file: file.to_owned(), why: error.to_string() })?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ModelError::Kind { file: file.to_owned(), why: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictation::whisper::fixtures;

    #[test]
    fn reads_sizes_and_lists() {
        let config = Config::read(&fixtures::folder().join("config.json")).unwrap();
        assert_eq!((config.d_model, config.max_source_positions, config.vocab_size), (32, 50, 120));
        assert_eq!(config.window_samples(), 16_000);
        let generation = Generation::read(&fixtures::folder().join("generation_config.json")).unwrap();
        assert_eq!(generation.suppressed_first(&config), Some(Vec::new()));
        let absent = Generation::read(Path::new("none")).unwrap();
        assert_eq!(absent, Generation::default());
        assert!(!absent.is_multilingual(&config));
        let written: Generation = serde_json::from_str(
            r#"{"suppress_tokens": [-1, 3], "alignment_heads": [[1, 0]], "is_multilingual": true}"#,
        )
        .unwrap();
        assert_eq!(written.suppressed(&config), [3]);
        assert!(written.is_multilingual(&config));
        assert_eq!(written.alignment_heads, Some(vec![(1, 0)]));
    }

    #[test]
    fn refuses_what_it_would_get_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.json");
        let good = std::fs::read_to_string(fixtures::folder().join("config.json")).unwrap();
        for (was, is) in [
            (r#""d_model": 32"#, r#""d_model": 0"#),
            (r#""decoder_attention_heads": 4"#, r#""decoder_attention_heads": 5"#),
            (r#""activation_function": "gelu""#, r#""activation_function": "relu""#),
            (r#""scale_embedding": false"#, r#""scale_embedding": true"#),
            (r#""vocab_size": 120"#, r#""size": 120"#),
        ] {
            assert!(good.contains(was));
            std::fs::write(&file, good.replace(was, is)).unwrap();
            assert!(matches!(Config::read(&file), Err(ModelError::Kind { .. })), "{is}");
        }
    }
}
