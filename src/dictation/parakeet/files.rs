//! The files that a Parakeet comes in: a folder of Hugging Face's, or an archive of NeMo's.

use super::config::Config;
use super::model::Parakeet;
use super::tokenizer::Tokenizer;
use crate::dictation::weights::nemo::Archive;
use crate::dictation::weights::{ModelError, SafeTensors, Weights};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files that were found to be a Parakeet, its settings read.
pub struct Files {
    config: Config,
    kind: Kind,
}

enum Kind {
    Folder { weights: Vec<PathBuf>, tokenizer: PathBuf },
    Nemo(Archive),
}

impl Files {
    /// Looks at a folder or a `.nemo` file; `None` if it is neither, or of another model.
    ///
    /// # Errors
    /// It is a Parakeet, and a file of it is missing, damaged, or of a form we can't run.
    pub fn find(path: &Path) -> Result<Option<Self>, ModelError> {
        if path.is_dir() {
            return Self::folder(path);
        }
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("nemo")) {
            return Self::nemo(path).map(Some);
        }
        Ok(None)
    }

    fn folder(folder: &Path) -> Result<Option<Self>, ModelError> {
        let file = folder.join("config.json");
        let Some(model) = json(&file)? else {
            return Ok(None);
        };
        let kind = model.get("model_type").and_then(Value::as_str).unwrap_or_default();
        if !kind.starts_with("parakeet_") {
            return Ok(None);
        }
        let mut features = json(&folder.join("preprocessor_config.json"))?;
        if features.is_none() {
            features = json(&folder.join("processor_config.json"))?;
        }
        let config = Config::from_huggingface(&model, features.as_ref());
        let config = config.map_err(|why| ModelError::Kind { file, why })?;
        let tokenizer = existing(folder.join("tokenizer.json"))?;
        let weights = weight_files(folder)?;
        Ok(Some(Self { config, kind: Kind::Folder { weights, tokenizer } }))
    }

    fn nemo(file: &Path) -> Result<Self, ModelError> {
        let archive = Archive::open(file)?;
        let config = Config::from_nemo(archive.settings());
        let config = config.map_err(|why| ModelError::Kind { file: file.to_owned(), why })?;
        Ok(Self { config, kind: Kind::Nemo(archive) })
    }

    /// The model's sizes.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The files that the weights are in.
    pub fn sources(&self) -> Vec<PathBuf> {
        match &self.kind {
            Kind::Folder { weights, .. } => weights.clone(),
            Kind::Nemo(archive) => vec![archive.path().to_owned()],
        }
    }

    /// Opens the weights; reading one happens when it is asked for. A packed archive is unpacked into `scratch` first: a
    /// file that nobody else can read, and that is gone when the weights are dropped, or when this program ends.
    ///
    /// # Errors
    /// They can't be read, or are damaged.
    pub fn weights(&self, scratch: &Path) -> Result<Box<dyn Weights>, ModelError> {
        Ok(match &self.kind {
            Kind::Folder { weights, .. } => Box::new(SafeTensors::open(weights)?),
            Kind::Nemo(archive) => Box::new(archive.weights(scratch)?),
        })
    }

    /// Builds the model of these weights, or of others made of them.
    ///
    /// # Errors
    /// The tokenizer can't be read, or a weight is missing or has another shape.
    pub fn model(&self, weights: &dyn Weights) -> Result<Parakeet, ModelError> {
        let tokenizer = match &self.kind {
            Kind::Folder { tokenizer, .. } => Tokenizer::from_json(tokenizer)?,
            Kind::Nemo(archive) => match (archive.tokenizer(), archive.vocabulary()) {
                (Some(model), _) => Tokenizer::from_sentencepiece(model)?,
                (None, Some(text)) => Tokenizer::from_vocabulary(text),
                (None, None) => return Err(archive.lacks("tokenizer.model")),
            },
        };
        Parakeet::new(&self.config, tokenizer, weights)
    }
}

/// Reads a file that need not be there.
fn json(file: &Path) -> Result<Option<Value>, ModelError> {
    let fail = |why: String| ModelError::File { file: file.to_owned(), why };
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error.to_string())),
    };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| fail(error.to_string()))
}

fn existing(file: PathBuf) -> Result<PathBuf, ModelError> {
    if file.is_file() { Ok(file) } else { Err(ModelError::File { file, why: "it is missing".to_owned() }) }
}

/// `model.safetensors`, or the parts that its index names.
fn weight_files(folder: &Path) -> Result<Vec<PathBuf>, ModelError> {
    let whole = folder.join("model.safetensors");
    if whole.is_file() {
        return Ok(vec![whole]);
    }
    let index = folder.join("model.safetensors.index.json");
    let Some(parts) = json(&index)? else {
        return Err(ModelError::File { file: whole, why: "it is missing".to_owned() });
    };
    let parts = parts.get("weight_map").and_then(Value::as_object).into_iter().flat_map(|map| map.values());
    // A name with a folder in it could lead anywhere.
    let names: Option<BTreeSet<&str>> =
        parts.map(|name| name.as_str().filter(|name| !name.contains(['/', '\\']))).collect();
    let names = names.filter(|names| !names.is_empty());
    let names = names.ok_or_else(|| ModelError::File { file: index, why: "it names no files".to_owned() })?;
    names.into_iter().map(|name| existing(folder.join(name))).collect()
}
