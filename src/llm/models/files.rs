//! The user's own providers and models: `models.toml`, and `models.json` as Pi writes it.
//!
//! Both have the same shape, `providers.<id>` with `baseUrl`, `api`, `apiKey`, `headers`, `authHeader`, `compat`,
//! `models` and `modelOverrides`; TOML may use `snake_case`. Files are laid over each other, weakest first.
//!
//! Invariants: what is wrong in a file gives a warning with the file and, where it is known, the line, and takes away
//! only the provider it is in; no warning holds a value of the file, because values can be keys.

use super::file_error::FileProblem;
use super::jsonc;
use super::value::ConfigValue;
use crate::config::env::Env;
use crate::config::places::Places;
use crate::llm::{Dialect, Model, Price, PriceTier};
use crate::proto::model::ThinkingLevel;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What files say, by provider id.
pub type FileProviders = BTreeMap<String, FileProvider>;

/// What files say about one provider.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileProvider {
    /// How people call it.
    pub name: Option<String>,
    /// Where requests go, also those to models of the catalogue.
    #[serde(alias = "base_url")]
    pub base_url: Option<String>,
    /// Wire dialect.
    pub api: Option<String>,
    /// The key.
    #[serde(alias = "api_key")]
    pub api_key: Option<ConfigValue>,
    /// Extra headers.
    pub headers: BTreeMap<String, ConfigValue>,
    /// Send the key as a bearer token.
    #[serde(alias = "auth_header")]
    pub auth_header: Option<bool>,
    /// Differences from the dialect, for all models.
    pub compat: Map<String, Value>,
    /// Models that are added, or take the place of the catalogue's.
    pub models: Vec<FileModel>,
    /// Changes of single models, by id.
    #[serde(alias = "model_overrides")]
    pub model_overrides: BTreeMap<String, FileModel>,
}

/// What a file says about one model: a whole one in `models`, a change in `modelOverrides`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileModel {
    /// Id; empty in overrides, where it is the key.
    pub id: String,
    /// Name for people.
    pub name: Option<String>,
    /// Wire dialect.
    pub api: Option<String>,
    /// Where requests go.
    #[serde(alias = "base_url")]
    pub base_url: Option<String>,
    /// The model can think.
    pub reasoning: Option<bool>,
    /// What to send for a level.
    #[serde(alias = "thinking_level_map")]
    pub thinking_level_map: BTreeMap<ThinkingLevel, LevelWord>,
    /// `text`, `image`.
    pub input: Option<Vec<String>>,
    /// US dollars per million tokens.
    pub cost: Option<FileCost>,
    /// Tokens that fit.
    #[serde(alias = "context_window")]
    pub context_window: Option<u64>,
    /// Tokens it can generate.
    #[serde(alias = "max_tokens")]
    pub max_tokens: Option<u64>,
    /// Fields for the request body.
    #[serde(alias = "sampling_params")]
    pub sampling_params: Map<String, Value>,
    /// The same for single thinking levels.
    #[serde(alias = "sampling_params_by_thinking_level")]
    pub sampling_params_by_thinking_level: Map<String, Value>,
    /// Extra headers.
    pub headers: BTreeMap<String, ConfigValue>,
    /// Differences from the dialect.
    pub compat: Map<String, Value>,
}

/// What to send for a thinking level. TOML has no `null`, so `false` says "not offered" too.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "a text, `null` or `false`")]
pub enum LevelWord {
    /// This word.
    Word(String),
    /// Offered under the dialect's own word, or not offered.
    Offered(bool),
    /// Not offered.
    No(()),
}

/// Prices; absent ones stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FileCost {
    /// Fresh prompt tokens.
    pub input: Option<f64>,
    /// Generated tokens.
    pub output: Option<f64>,
    /// Cache reads.
    #[serde(alias = "cache_read")]
    pub cache_read: Option<f64>,
    /// Cache writes.
    #[serde(alias = "cache_write")]
    pub cache_write: Option<f64>,
    /// Prices above a prompt size.
    pub tiers: Option<Vec<FileTier>>,
}

/// Prices above a prompt size.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileTier {
    /// Prompt tokens that must be exceeded.
    #[serde(alias = "input_tokens_above")]
    pub input_tokens_above: u64,
    /// Fresh prompt tokens.
    pub input: f64,
    /// Generated tokens.
    pub output: f64,
    /// Cache reads.
    #[serde(alias = "cache_read", default)]
    pub cache_read: f64,
    /// Cache writes.
    #[serde(alias = "cache_write", default)]
    pub cache_write: f64,
}

/// The files that are read, weakest first: Pi's own, `models.json` in our folder, `models.toml` there.
///
/// Pi's own is `~/.pi/agent/models.json`, or in the folder that `PI_CODING_AGENT_DIR` names. With `MYNAH_HOME` it is
/// not read: that folder is then all there is.
pub fn sources(places: &Places, env: &Env) -> Vec<Source> {
    let pi = env.folder("PI_CODING_AGENT_DIR").unwrap_or_else(|| places.home.join(".pi/agent"));
    let pi = Source { path: pi.join("models.json"), ours: false };
    let ours =
        ["models.json", "models.toml"].map(|name| Source { path: places.config.join(name), ours: true });
    env.get("MYNAH_HOME").is_none().then_some(pi).into_iter().chain(ours).collect()
}

/// A file that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it is.
    pub path: PathBuf,
    /// Written for Mynah. What another program's file says beyond our means is no reason for a warning.
    pub ours: bool,
}

/// Reads the files and lays them over each other. A missing file is nothing; what is wrong comes as warnings.
pub fn load(sources: &[Source]) -> (FileProviders, Vec<String>) {
    let mut all = FileProviders::new();
    let mut warnings = Vec::new();
    for Source { path, ours } in sources {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => {
                warnings.push(format!("{} could not be read ({error}), so it is not used.", path.display()));
                continue;
            }
        };
        for (id, mut provider) in parse(&text, path, &mut warnings) {
            let left_out = provider.keep_known_dialects();
            if *ours && !left_out.is_empty() {
                warnings.push(format!(
                    "{}: `{id}` wants {}, which Mynah does not speak, so those models are left out. It speaks \
                     anthropic-messages, openai-completions and openai-responses.",
                    path.display(),
                    left_out.join(", ")
                ));
            }
            match all.entry(id) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert(provider);
                }
                std::collections::btree_map::Entry::Occupied(mut below) => below.get_mut().lay_over(provider),
            }
        }
    }
    (all, warnings)
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    providers: FileProviders,
}

fn parse(text: &str, path: &Path, warnings: &mut Vec<String>) -> FileProviders {
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    let file = path.display();
    let plain = if is_toml { text.to_owned() } else { jsonc::to_json(text.trim_start_matches('\u{feff}')) };
    let problem = match read::<File>(&plain, is_toml) {
        Ok(file) => return file.providers,
        Err(problem) => problem,
    };
    let place = problem.line.map_or_else(String::new, |line| format!(", line {line}"));
    let reason = problem.reason;
    // Readable but wrong somewhere: only the providers that are wrong fall away.
    let Ok(Value::Object(mut whole)) = read::<Value>(&plain, is_toml) else {
        warnings.push(format!("{file}{place}: {reason}. The file is not used until this is put right."));
        return FileProviders::new();
    };
    let Some(Value::Object(providers)) = whole.remove("providers") else {
        warnings.push(format!(
            "{file}{place}: `providers` is no table. The file is not used until this is put right."
        ));
        return FileProviders::new();
    };
    let mut right = FileProviders::new();
    let mut wrong = Vec::new();
    for (id, value) in providers {
        match FileProvider::deserialize(value) {
            Ok(provider) => {
                right.insert(id, provider);
            }
            Err(_) => wrong.push(format!("`{id}`")),
        }
    }
    let wrong = wrong.join(", ");
    warnings.push(format!("{file}{place}: {reason}. Not used until this is put right: {wrong}."));
    right
}

fn read<T: serde::de::DeserializeOwned>(text: &str, is_toml: bool) -> Result<T, FileProblem> {
    if is_toml {
        toml_edit::de::from_str(text).map_err(|error| FileProblem::of_toml(&error, text))
    } else {
        serde_json::from_str(text).map_err(|error| FileProblem::of_json(&error))
    }
}

impl FileProvider {
    /// Takes out the models whose dialect we do not speak; the answer is those dialects.
    fn keep_known_dialects(&mut self) -> Vec<String> {
        let mut unknown = Vec::new();
        let whole = self.api.take_if(|api| !is_wire_dialect(api));
        self.models.retain(|model| {
            let api = model.api.as_ref().or(whole.as_ref()).filter(|api| !is_wire_dialect(api));
            unknown.extend(api.map(|api| format!("`{api}`")));
            api.is_none()
        });
        unknown.sort();
        unknown.dedup();
        unknown
    }

    /// A stronger file's word on the same provider.
    fn lay_over(&mut self, over: Self) {
        let Self { name, base_url, api, api_key, headers, auth_header, compat, models, model_overrides } =
            over;
        self.name = name.or(self.name.take());
        self.base_url = base_url.or(self.base_url.take());
        self.api = api.or(self.api.take());
        self.api_key = api_key.or(self.api_key.take());
        self.auth_header = auth_header.or(self.auth_header);
        self.headers.extend(headers);
        self.compat.extend(compat);
        for model in models {
            match self.models.iter_mut().find(|known| known.id == model.id) {
                Some(known) => *known = model,
                None => self.models.push(model),
            }
        }
        self.model_overrides.extend(model_overrides);
    }

    /// The variables that hold its key, or go into a header that carries one.
    pub fn secret_variables(&self) -> impl Iterator<Item = &str> {
        let models = self.models.iter().chain(self.model_overrides.values());
        let headers = self.headers.iter().chain(models.flat_map(|model| &model.headers));
        let in_headers = headers.flat_map(|(header, value)| {
            value.variables().filter(|variable| sounds_secret(header) || sounds_secret(variable))
        });
        self.api_key.iter().flat_map(ConfigValue::variables).chain(in_headers)
    }
}

fn is_wire_dialect(api: &str) -> bool {
    Dialect::from_name(api).is_some_and(|dialect| dialect != Dialect::Scripted)
}

/// A header like `X-Team: $USER` must not take `USER` away from every child process.
fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["auth", "key", "token", "secret", "password", "cookie", "credential"]
        .iter()
        .any(|word| name.contains(word))
}

impl FileModel {
    /// Changes a model as the file says. Dialect and base URL are not its business: see [`super::Models`]. Headers are
    /// not either: they can hold keys, and a [`Model`] can be printed.
    pub fn apply(&self, model: &mut Model) {
        if let Some(name) = &self.name {
            model.name.clone_from(name);
        }
        if let Some(reasoning) = self.reasoning {
            model.reasoning = reasoning;
        }
        for (level, word) in &self.thinking_level_map {
            match word {
                LevelWord::Word(word) => model.thinking_levels.insert(*level, Some(word.clone())),
                LevelWord::Offered(true) => model.thinking_levels.remove(level),
                LevelWord::Offered(false) | LevelWord::No(()) => model.thinking_levels.insert(*level, None),
            };
        }
        if let Some(input) = &self.input {
            model.images = input.iter().any(|kind| kind == "image");
        }
        if let Some(cost) = &self.cost {
            cost.apply(&mut model.price);
        }
        model.context_window = self.context_window.unwrap_or(model.context_window);
        model.max_tokens = self.max_tokens.unwrap_or(model.max_tokens);
        // They go the way of `compat`: both are what a dialect's adapter does differently for this model.
        for (name, fields) in [
            ("samplingParams", &self.sampling_params),
            ("samplingParamsByThinkingLevel", &self.sampling_params_by_thinking_level),
        ] {
            if !fields.is_empty() {
                model.compat.insert(name.to_owned(), Value::Object(fields.clone()));
            }
        }
        model.compat.extend(self.compat.clone());
    }
}

impl FileCost {
    fn apply(&self, price: &mut Price) {
        price.input = self.input.unwrap_or(price.input);
        price.output = self.output.unwrap_or(price.output);
        price.cache_read = self.cache_read.unwrap_or(price.cache_read);
        price.cache_write = self.cache_write.unwrap_or(price.cache_write);
        if let Some(tiers) = &self.tiers {
            price.tiers = tiers.iter().map(FileTier::price).collect();
            price.tiers.sort_by_key(|tier| tier.above);
        }
    }
}

impl FileTier {
    const fn price(&self) -> PriceTier {
        PriceTier {
            above: self.input_tokens_above,
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
        }
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
