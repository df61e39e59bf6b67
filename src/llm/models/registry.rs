//! Models put together: what the catalogue, the user's files, the environment and local servers say about each.

use super::files::{FileModel, FileProvider};
use super::providers::ProviderRow;
use super::select::{Known, ModelFact, ProviderFact};
use super::value::ConfigValue;
use super::{Models, url};
use crate::llm::{Dialect, Model, Price, scripted};
use crate::proto::model::ModelRef;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A model that nothing is known about: the figures that Pi's models file assumes.
pub fn blank_model(reference: ModelRef, dialect: Dialect) -> Model {
    Model {
        name: reference.id.clone(),
        reference,
        dialect,
        base_url: String::new(),
        reasoning: false,
        thinking_levels: BTreeMap::new(),
        images: false,
        context_window: 128_000,
        max_tokens: 16_384,
        price: Price::default(),
        headers: BTreeMap::new(),
        compat: serde_json::Map::new(),
        unlisted: false,
    }
}

impl Models {
    pub(super) fn file(&self, provider: &str) -> Option<&FileProvider> {
        self.files.get(provider).or_else(|| self.files.get(self.table.home(provider)))
    }

    pub(super) fn is_known_provider(&self, id: &str) -> bool {
        self.table.find(id).is_some() || self.files.get(id).is_some_and(is_provider_of_its_own)
    }

    pub(super) fn provider_name<'a>(&'a self, id: &'a str) -> &'a str {
        let of_file = self.files.get(id).and_then(|file| file.name.as_deref());
        of_file.or_else(|| self.table.find(id).map(|row| row.name.as_str())).unwrap_or(id)
    }

    /// Where the environment sends the requests of a provider.
    fn base_url_of_env(&self, row: &ProviderRow) -> Option<String> {
        let text = self.env.get(row.base_url_env.as_deref()?)?.trim();
        match row.base_url.as_deref().filter(|_| row.server) {
            Some(usual) => url::of_server(text, usual),
            None => Some(text.to_owned()),
        }
    }

    /// Requests go to a host that is not the provider's own.
    fn is_elsewhere(&self, row: &ProviderRow, base_url: &str) -> bool {
        let own = self.catalog.base_url(self.table.home(&row.id), row.dialect);
        own.is_some_and(|own| !url::is_same_house(base_url, own))
    }

    /// The catalogue says nothing about what the server has: it has no list of it, or another server is behind the
    /// name. A mere relay of the provider has what the provider has.
    pub(super) fn takes_ids_as_written(&self, row: &ProviderRow, base_url: &str) -> bool {
        let home = self.table.home(&row.id);
        let other_server = self.table.find(home).is_some_and(|row| row.dialect_elsewhere.is_some());
        self.catalog.base_url(home, row.dialect).is_none()
            || (other_server && self.is_elsewhere(row, base_url))
    }

    pub(super) fn file_model(&self, reference: &ModelRef) -> Option<&FileModel> {
        self.file(&reference.provider)?.models.iter().find(|model| model.id == reference.id)
    }

    fn file_override(&self, reference: &ModelRef) -> Option<&FileModel> {
        self.file(&reference.provider)?.model_overrides.get(&reference.id)
    }

    /// Headers of the user's files for a model, stronger ones later.
    pub(super) fn file_headers(&self, reference: &ModelRef) -> impl Iterator<Item = (&str, &ConfigValue)> {
        let of_models = [self.file_model(reference), self.file_override(reference)];
        let headers = self.file(&reference.provider).map(|file| &file.headers).into_iter();
        headers
            .chain(of_models.into_iter().flatten().map(|model| &model.headers))
            .flatten()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// A model that a file, the catalogue, a local server or the demo lists.
    pub(super) fn listed(&self, reference: &ModelRef) -> Option<Model> {
        if let Some(model) = self.local_models().iter().find(|model| model.reference == *reference) {
            return Some(Model::clone(model));
        }
        if reference.provider == scripted::PROVIDER {
            return scripted::is_listed(&reference.id).then(|| scripted::model(&reference.id));
        }
        if self.file_model(reference).is_some() {
            return Some(self.finish(self.blank(reference)));
        }
        let mut model = self.catalog.find(self.table.home(&reference.provider), &reference.id)?;
        model.reference = reference.clone();
        Some(self.finish(model))
    }

    /// A model that nobody lists, in the provider's own dialect. Figures are guesses.
    pub(super) fn unlisted(&self, reference: &ModelRef) -> Model {
        if reference.provider == scripted::PROVIDER {
            return scripted::model(&reference.id);
        }
        Model { unlisted: true, ..self.finish(self.blank(reference)) }
    }

    pub(super) fn blank(&self, reference: &ModelRef) -> Model {
        let row = self.table.find(&reference.provider);
        // A provider of a file names a dialect for itself, or for each of its models.
        let of_file = || {
            let first = self.file(&reference.provider)?.models.first()?;
            Dialect::from_name(first.api.as_deref()?)
        };
        let dialect = row.map(|row| row.dialect).or_else(of_file).unwrap_or(Dialect::OpenAiCompletions);
        blank_model(reference.clone(), dialect)
    }

    /// Adds what the environment and the user's files say: where requests go, in which dialect, and what differs.
    pub(super) fn finish(&self, mut model: Model) -> Model {
        let reference = model.reference.clone();
        let row = self.table.find(&reference.provider);
        let file = self.file(&reference.provider);
        let (whole, change) = (self.file_model(&reference), self.file_override(&reference));
        let of_models = [change, whole];
        let of_models = || of_models.iter().flatten();

        // Another name of a provider is there for its dialect.
        let alias = row.filter(|row| row.same_as.is_some()).map(|row| row.dialect);
        // A provider's `api` is about the models of the file; one of the catalogue keeps its own as long as it stays
        // at its own place.
        let of_env = row.and_then(|row| self.base_url_of_env(row));
        let is_moved = of_env.is_some() || file.is_some_and(|file| file.base_url.is_some());
        let stays = !model.base_url.is_empty() && !is_moved;
        let of_provider = file.filter(|_| !stays).and_then(|file| file.api.as_deref());
        let of_files = of_models().find_map(|model| model.api.as_deref()).or(of_provider);
        let named = alias.or_else(|| Dialect::from_name(of_files?));
        let home = self.table.home(&reference.provider);
        let of_catalog = |dialect| self.catalog.base_url(home, dialect).map(str::to_owned);
        let base_url = of_env
            .or_else(|| of_models().find_map(|model| model.base_url.clone()))
            .or_else(|| file.and_then(|file| file.base_url.clone()))
            .or_else(|| Some(model.base_url.clone()).filter(|url| !url.is_empty()))
            .or_else(|| row.and_then(|row| row.base_url.clone()))
            .or_else(|| of_catalog(named?))
            .or_else(|| of_catalog(model.dialect))
            .or_else(|| file.and_then(|file| file.models.first()?.base_url.clone()))
            .unwrap_or_default();
        let elsewhere =
            row.and_then(|row| row.dialect_elsewhere.filter(|_| self.is_elsewhere(row, &base_url)));
        let dialect = named.or(elsewhere).unwrap_or(model.dialect);
        if dialect != model.dialect {
            // Differences from another dialect say nothing about this one.
            model.compat.clear();
        }
        model.dialect = dialect;
        model.base_url = clean_base_url(&base_url, dialect);
        if let Some(file) = file {
            model.compat.extend(file.compat.clone());
        }
        for of_file in [whole, change].into_iter().flatten() {
            of_file.apply(&mut model);
        }
        model
    }

    /// The model to start on of the first provider with a key.
    pub(super) fn first_with_key(&self) -> Option<Arc<Model>> {
        let of_table = self.table.rows().iter().filter_map(|row| {
            let reference = ModelRef::new(&row.id, row.default.as_ref()?);
            self.key_of(&row.id)?;
            self.listed(&reference)
        });
        let of_files =
            self.files.iter().filter(|(id, _)| self.table.find(id).is_none()).filter_map(|(id, file)| {
                let model = self.listed(&ModelRef::new(id, &file.models.first()?.id))?;
                self.can_reach(&model).then_some(model)
            });
        of_table.chain(of_files).next().map(Arc::new)
    }

    /// Everything that a pattern can mean.
    pub(super) fn known(&self) -> Known<'_> {
        let of_table = self.table.rows().iter().map(|row| {
            let base_url = self.unlisted(&ModelRef::new(&row.id, "")).base_url;
            ProviderFact {
                id: &row.id,
                models_of: self.table.home(&row.id),
                has_key: self.has_key(&row.id),
                as_written: self.takes_ids_as_written(row, &base_url),
            }
        });
        let of_files = self.files.iter().filter(|(id, _)| self.table.find(id).is_none());
        let of_files = of_files
            .filter(|(_, file)| is_provider_of_its_own(file))
            .map(|(id, _)| ProviderFact { id, models_of: id, has_key: self.has_key(id), as_written: false });
        let providers = of_table.chain(of_files).collect();

        let of_catalog = self.catalog.rows().map(|row| {
            let changed = self.files.get(row.provider).and_then(|file| {
                let whole = file.models.iter().find(|model| model.id == row.id);
                whole.or_else(|| file.model_overrides.get(row.id))?.name.as_deref()
            });
            ModelFact { provider: row.provider, id: row.id, name: changed.unwrap_or(row.name) }
        });
        let mut models: Vec<ModelFact> = of_catalog.collect();
        for (provider, file) in &self.files {
            for model in &file.models {
                if !models.iter().any(|known| known.provider == provider && known.id == model.id) {
                    let name = model.name.as_deref().unwrap_or(&model.id);
                    models.push(ModelFact { provider, id: &model.id, name });
                }
            }
        }
        models.extend(self.local_only().map(|model| ModelFact {
            provider: &model.reference.provider,
            id: &model.reference.id,
            name: &model.name,
        }));
        models.push(ModelFact {
            provider: scripted::PROVIDER,
            id: scripted::TOUR,
            name: scripted::TOUR_NAME,
        });
        Known { providers, models }
    }
}

/// A provider that only a file knows: it must say where it is.
fn is_provider_of_its_own(file: &FileProvider) -> bool {
    !file.models.is_empty() || (file.base_url.is_some() && file.api.is_some())
}

/// Base URLs as the dialects' documents write them: no slash at the end, and for Anthropic no `/v1`, which people
/// often add.
fn clean_base_url(url: &str, dialect: Dialect) -> String {
    let url = url.trim().trim_end_matches('/');
    let url =
        if dialect == Dialect::AnthropicMessages { url.strip_suffix("/v1").unwrap_or(url) } else { url };
    url.to_owned()
}
