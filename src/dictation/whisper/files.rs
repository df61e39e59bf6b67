//! The files that a Whisper comes in: a folder of Hugging Face's, or GGUF with the same names beside its configuration.

use super::config::{Config, Generation, read_json};
use super::model::Whisper;
use super::vocabulary::Vocabulary;
use crate::dictation::weights::{Gguf, ModelError, SafeTensors, Weights, is_ggml};
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Files that were found to be a Whisper, its configuration read.
pub struct Files {
    config: Config,
    generation: Generation,
    tokenizer: PathBuf,
    numbers: Numbers,
}

enum Numbers {
    SafeTensors(Vec<PathBuf>),
    Gguf(PathBuf),
}

/// What tells models apart.
#[derive(Deserialize)]
struct Kind {
    model_type: Option<String>,
}

/// `model.safetensors.index.json`
#[derive(Deserialize)]
struct Index {
    weight_map: HashMap<String, String>,
}

impl Files {
    /// Looks at a folder with `config.json`, `tokenizer.json` and `model.safetensors` (whole or in parts) or a `.gguf`,
    /// or at a `.gguf` file in such a folder; `None` if it is none of these, or of another model.
    ///
    /// # Errors
    /// It is a Whisper, and a file of it is missing, damaged, or of a form we can't run.
    pub fn find(path: &Path) -> Result<Option<Self>, ModelError> {
        if path.is_dir() {
            return Self::folder(path);
        }
        if path.is_file() && is_ggml(path)? {
            // The error that says what to take instead.
            Gguf::open(path)?;
        }
        if !has_extension(path, "gguf") {
            return Ok(None);
        }
        let numbers = Numbers::Gguf(existing(path.to_owned())?);
        let config = beside(path, "config")?;
        Self::of(&config, beside(path, "tokenizer"), || Ok(numbers))
    }

    fn folder(folder: &Path) -> Result<Option<Self>, ModelError> {
        let config = folder.join("config.json");
        if !config.is_file() {
            return match gguf_in(folder)? {
                Some(gguf) => Self::find(&gguf),
                None => Ok(None),
            };
        }
        Self::of(&config, existing(folder.join("tokenizer.json")), || numbers_in(folder))
    }

    fn of(
        config: &Path,
        tokenizer: Result<PathBuf, ModelError>,
        numbers: impl FnOnce() -> Result<Numbers, ModelError>,
    ) -> Result<Option<Self>, ModelError> {
        let kind: Kind = read_json(config)?;
        if kind.model_type.as_deref() != Some("whisper") {
            return Ok(None);
        }
        Ok(Some(Self {
            config: Config::read(config)?,
            generation: Generation::read(&config.with_file_name("generation_config.json"))?,
            tokenizer: tokenizer?,
            numbers: numbers()?,
        }))
    }

    /// The files that the weights are in.
    pub fn sources(&self) -> Vec<PathBuf> {
        match &self.numbers {
            Numbers::SafeTensors(files) => files.clone(),
            Numbers::Gguf(file) => vec![file.clone()],
        }
    }

    /// Opens the weights; reading one happens when it is asked for.
    ///
    /// # Errors
    /// They can't be read, or are damaged.
    pub fn weights(&self) -> Result<Box<dyn Weights>, ModelError> {
        Ok(match &self.numbers {
            Numbers::SafeTensors(files) => Box::new(SafeTensors::open(files)?),
            Numbers::Gguf(file) => Box::new(Gguf::open(file)?),
        })
    }

    /// Builds the model of these weights, or of others made of them.
    ///
    /// # Errors
    /// The tokenizer can't be read, or a weight is missing or has another shape.
    pub fn model(&self, weights: &dyn Weights) -> Result<Whisper, ModelError> {
        let vocabulary = Vocabulary::read(&self.tokenizer, &self.config, &self.generation)?;
        Whisper::new(self.config.clone(), &self.generation, vocabulary, weights)
    }
}

/// The weights of a folder.
fn numbers_in(folder: &Path) -> Result<Numbers, ModelError> {
    let whole = folder.join("model.safetensors");
    let index = folder.join("model.safetensors.index.json");
    if whole.is_file() {
        return Ok(Numbers::SafeTensors(vec![whole]));
    }
    if index.is_file() {
        let index: Index = read_json(&index)?;
        let parts: BTreeSet<String> = index.weight_map.into_values().collect();
        return parts
            .iter()
            .map(|part| existing(folder.join(part)))
            .collect::<Result<_, _>>()
            .map(Numbers::SafeTensors);
    }
    gguf_in(folder)?
        .map(Numbers::Gguf)
        .ok_or(ModelError::File { file: whole, why: "it is missing".to_owned() })
}

/// The first `.gguf` of a folder, by name.
fn gguf_in(folder: &Path) -> Result<Option<PathBuf>, ModelError> {
    let unreadable =
        |error: std::io::Error| ModelError::File { file: folder.to_owned(), why: error.to_string() };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if has_extension(&path, "gguf") {
            found.push(path);
        }
    }
    Ok(found.into_iter().min())
}

/// `NAME.json` beside a file; or, as in folders with several models, `NAME-tiny-en.json` beside `model-tiny-en-q80.gguf`.
fn beside(file: &Path, name: &str) -> Result<PathBuf, ModelError> {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let model = stem.strip_prefix("model-").and_then(|rest| rest.rsplit_once('-')).map(|(model, _)| model);
    let special = model.map(|model| file.with_file_name(format!("{name}-{model}.json")));
    match special {
        Some(special) if special.is_file() => Ok(special),
        _ => existing(file.with_file_name(format!("{name}.json"))),
    }
}

fn existing(file: PathBuf) -> Result<PathBuf, ModelError> {
    if file.is_file() { Ok(file) } else { Err(ModelError::File { file, why: "it is missing".to_owned() }) }
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}
