//! Which models there are, which one is meant, and how requests reach it.
//!
//! Responsibilities: [`Models`] puts the shipped catalogue, the user's files, the environment and what local servers
//! say together, and answers with [`Model`]s and with providers that reach them. What is decided is decided in pure
//! parts: [`select`] (which model a pattern means), [`start`] (which one a session begins with), [`auth`] (which key).
//!
//! Invariants: keys are never printed, in no error and no warning; a file that is wrong never blocks the start; a key
//! of `--api-key` goes to one provider only; nothing is sent anywhere but by a request, or by the question to local
//! servers when nothing else is there.

pub mod auth;
pub mod catalog;
pub mod file_error;
pub mod files;
pub mod jsonc;
pub mod key_command;
pub mod late_key;
pub mod list;
pub mod local;
pub mod providers;
mod reach;
mod registry;
pub mod select;
pub mod start;
pub mod url;
pub mod value;

use crate::config::env::Env;
use crate::config::places::Places;
use crate::llm::endpoint::Secret;
use crate::llm::{Dialect, Model, scripted};
use crate::proto::model::{ModelRef, ThinkingLevel};
use auth::StoredKeys;
use catalog::Catalog;
use files::{FileProvider, FileProviders};
use late_key::KeyCommands;
pub use list::ModelRow;
use providers::ProviderTable;
pub use registry::blank_model;
pub use select::SelectError;
use select::{Known, Match};
pub use start::StartReason;
use start::{Availability, LocalServers, StartDecision, StartFacts};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What the command line and the settings say about models. The key of `--api-key` must come with a model to go to.
#[derive(Clone, Debug, Default)]
pub struct ModelsOptions {
    /// `--api-key`: for the provider of the model that the program starts on.
    pub api_key: Option<Secret>,
    /// Look for nothing.
    pub offline: bool,
    /// A stream that says nothing for so long has failed; `None` is for ever.
    pub idle: Option<Duration>,
}

/// A chosen model.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The model.
    pub model: Arc<Model>,
    /// The thinking level that the pattern asked for.
    pub thinking: Option<ThinkingLevel>,
    /// For people: what is guessed.
    pub warning: Option<String>,
}

impl Selection {
    const fn plain(model: Arc<Model>) -> Self {
        Self { model, thinking: None, warning: None }
    }
}

/// What a session begins with.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The model.
    pub selection: Selection,
    /// Why this one.
    pub why: StartReason,
    /// For people: what was found, what could not be had.
    pub notices: Vec<String>,
}

/// All models and the ways to them.
pub struct Models {
    catalog: Catalog,
    table: ProviderTable,
    files: FileProviders,
    stored_keys: StoredKeys,
    auth_path: PathBuf,
    env: Env,
    options: ModelsOptions,
    /// The provider that `--api-key` is for: set once, by the start or the first request.
    key_owner: OnceLock<String>,
    /// What local servers offer, once somebody looked.
    local: OnceLock<Vec<Arc<Model>>>,
    /// How long local servers may take to answer.
    probe_limit: Duration,
    commands: Arc<KeyCommands>,
}

impl Models {
    /// Reads the user's files. Never fails: what is wrong comes as warnings for people.
    pub fn load(places: &Places, env: &Env, options: ModelsOptions) -> (Self, Vec<String>) {
        let table = ProviderTable::shipped();
        let catalog = Catalog::shipped();
        let auth_path = places.config.join("auth.toml");
        let (stored_keys, mut warnings) = auth::load(&auth_path);
        let (mut files, file_warnings) = files::load(&files::sources(places, env));
        warnings.extend(file_warnings);
        for (id, provider) in &mut files {
            warnings.extend(drop_unreachable_models(id, provider, table.find(id).is_some()));
        }
        let secrets = secret_names(&table, &stored_keys, &files);
        let models = Self {
            catalog,
            table,
            files,
            stored_keys,
            auth_path,
            env: env.clone(),
            options,
            key_owner: OnceLock::new(),
            local: OnceLock::new(),
            probe_limit: local::PROBE_LIMIT,
            commands: Arc::new(KeyCommands::new(env.clone(), secrets)),
        };
        (models, warnings)
    }

    /// The model that a pattern means: `provider/id`, an id, a part of an id or a name, each with `:level` after it.
    pub fn select(&self, pattern: &str) -> Result<Selection, SelectError> {
        let known = self.known();
        let Match { reference, thinking, listed } = select::resolve(pattern, &known)?;
        let listed_model = if listed { self.listed(&reference) } else { None };
        if let Some(model) = listed_model {
            return Ok(Selection { model: Arc::new(model), thinking, warning: None });
        }
        let mut model = self.unlisted(&reference);
        model.reasoning |= thinking.is_some_and(|level| level != ThinkingLevel::Off);
        // A server of the user's own has its own ids: that the catalogue lacks them is no news.
        let expected = self.table.find(&model.reference.provider);
        let expected = expected.is_some_and(|row| self.takes_ids_as_written(row, &model.base_url));
        let warning = if expected { None } else { unlisted_warning(&model, &known) };
        Ok(Selection { model: Arc::new(model), thinking, warning })
    }

    /// The model of a restored session. An id that nobody lists is fine under a known provider.
    pub fn find(&self, reference: &ModelRef) -> Option<Arc<Model>> {
        if let Some(model) = self.listed(reference) {
            return Some(Arc::new(model));
        }
        let is_known = self.is_known_provider(&reference.provider) && !reference.id.is_empty();
        is_known.then(|| Arc::new(self.unlisted(reference)))
    }

    /// What a session begins with: `--model`, the session's last model, the setting `model.default`, the first
    /// provider with a key, a server on this machine, the demo.
    pub async fn start(
        &self,
        wanted: Option<&str>,
        session: Option<&ModelRef>,
        configured: Option<&str>,
    ) -> Result<Start, SelectError> {
        // The tour is what a session gets when there is nothing else: it is no wish, and must not outlive that.
        let session = session.filter(|last| **last != scripted::model(scripted::TOUR).reference);
        let asked = wanted.map(|pattern| self.select(pattern)).transpose()?;
        let of_session = session.and_then(|reference| self.find(reference)).map(Selection::plain);
        let of_settings = configured.map(|pattern| self.select(pattern));
        let set = of_settings.as_ref().and_then(|choice| choice.as_ref().ok());
        if self.options.api_key.is_some() {
            let owner = asked.as_ref().or(of_session.as_ref()).or(set).ok_or(SelectError::KeyWithoutModel)?;
            self.give_key_to(&owner.model.reference.provider);
        }
        let keyed = self.first_with_key().map(Selection::plain);
        let mut facts = StartFacts {
            asked: asked.is_some(),
            session: session.map(|_| self.availability(of_session.as_ref())),
            configured: configured.map(|_| self.availability(set)),
            keyed: keyed.is_some(),
            offline: self.options.offline,
            local: LocalServers::NotLooked,
        };
        let why = loop {
            match start::decide(&facts) {
                StartDecision::Take(why) => break why,
                StartDecision::LookForServers => {
                    let found = !self.look_for_servers().await.is_empty();
                    facts.local = if found { LocalServers::Found } else { LocalServers::None };
                }
            }
        };
        let chosen = match why {
            StartReason::Asked => asked,
            StartReason::Session => of_session,
            StartReason::Configured => set.cloned(),
            StartReason::Key => keyed,
            StartReason::LocalServer => self.local_models().first().cloned().map(Selection::plain),
            StartReason::Demo => None,
        };
        let selection = chosen.unwrap_or_else(|| Selection::plain(Arc::new(scripted::model(scripted::TOUR))));
        let mut notices = Vec::new();
        if why > StartReason::Session
            && let (Some(wish), Some(availability)) = (session, facts.session)
        {
            let problem = match availability {
                Availability::Ready | Availability::NoKey => self.no_key_message(&wish.provider),
                Availability::Unknown => {
                    format!("Its provider is not known here. Add `{}` to models.toml.", wish.provider)
                }
            };
            notices.push(format!(
                "The session's last model, {wish}, cannot be used, so {} answers. {problem}",
                selection.model.reference
            ));
        }
        if why > StartReason::Configured
            && let Some(Err(error)) = &of_settings
        {
            notices.push(format!("The setting `model.default` cannot be used. {error}"));
        }
        notices.extend(self.start_notice(why, &selection));
        Ok(Start { selection, why, notices })
    }

    /// Every variable that holds a provider key, sorted: child processes never get them.
    pub fn secret_env_names(&self) -> Vec<String> {
        secret_names(&self.table, &self.stored_keys, &self.files)
    }

    /// Models of local servers, once somebody looked.
    fn local_models(&self) -> &[Arc<Model>] {
        self.local.get().map_or(&[], Vec::as_slice)
    }

    /// Those that no file of the user lists.
    fn local_only(&self) -> impl Iterator<Item = &Arc<Model>> {
        self.local_models().iter().filter(|model| self.file_model(&model.reference).is_none())
    }

    async fn look_for_servers(&self) -> &[Arc<Model>] {
        let servers = self.table.rows().iter().filter(|row| row.server);
        let candidates = servers.map(|row| local::Candidate {
            provider: row.id.clone(),
            base_url: self.unlisted(&ModelRef::new(&row.id, "")).base_url,
        });
        let found = local::look(candidates.collect(), self.probe_limit).await;
        self.local.get_or_init(|| {
            let models = found.into_iter().flat_map(|server| {
                server.models.into_iter().map(move |model| (server.candidate.provider.clone(), model))
            });
            models.map(|(provider, local)| Arc::new(self.of_server(provider, local))).collect()
        })
    }

    fn of_server(&self, provider: String, local: local::LocalModel) -> Model {
        let reference = ModelRef::new(provider, local.id);
        let mut model = self.listed(&reference).unwrap_or_else(|| self.unlisted(&reference));
        if let Some(window) = local.context_window {
            model.context_window = window;
            model.max_tokens = model.max_tokens.min(window);
        }
        model
    }

    /// `--api-key` is for this provider, unless it was given to one before.
    fn give_key_to(&self, provider: &str) {
        let _owner = self.key_owner.get_or_init(|| provider.to_owned());
    }

    fn availability(&self, wish: Option<&Selection>) -> Availability {
        match wish {
            None => Availability::Unknown,
            Some(wish) if self.can_reach(&wish.model) => Availability::Ready,
            Some(_) => Availability::NoKey,
        }
    }

    fn start_notice(&self, why: StartReason, selection: &Selection) -> Option<String> {
        let model = &selection.model;
        let reference = &model.reference;
        match why {
            StartReason::Asked | StartReason::Session | StartReason::Key => None,
            StartReason::Configured => {
                let missing = self.availability(Some(selection)) == Availability::NoKey;
                missing.then(|| self.no_key_message(&reference.provider))
            }
            StartReason::LocalServer => {
                let others = self.local_models().len().saturating_sub(1);
                let more = match others {
                    0 => String::new(),
                    1 => " One more model is there.".to_owned(),
                    more => format!(" {more} more models are there."),
                };
                Some(format!(
                    "Found {} at {}, using {reference}.{more} To start on it from now on, set `model.default`.",
                    self.provider_name(&reference.provider),
                    model.base_url
                ))
            }
            StartReason::Demo => {
                let searched = if self.local.get().is_some() { " and no local model server" } else { "" };
                Some(format!(
                    "There is no key{searched}, so this is the demo tour, not a real model. \
                     `export ANTHROPIC_API_KEY=…` before the next start adds one."
                ))
            }
        }
    }
}

/// Models of a file that cannot be asked, because nothing says where or how. The answer is a warning about them.
fn drop_unreachable_models(id: &str, provider: &mut FileProvider, is_in_table: bool) -> Option<String> {
    let before = provider.models.len();
    let (has_url, has_api) =
        (provider.base_url.is_some() || is_in_table, provider.api.is_some() || is_in_table);
    provider.models.retain(|model| {
        !model.id.is_empty() && (has_url || model.base_url.is_some()) && (has_api || model.api.is_some())
    });
    (provider.models.len() < before).then(|| {
        format!(
            "Models files: `{id}` has models without an `id`, a `baseUrl` or an `api`. They are left out until \
             this is put right."
        )
    })
}

fn secret_names(table: &ProviderTable, stored: &StoredKeys, files: &FileProviders) -> Vec<String> {
    let of_files = files.values().flat_map(FileProvider::secret_variables);
    let names = table.key_variables().chain(auth::variables(stored)).chain(of_files);
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

fn unlisted_warning(model: &Model, known: &Known) -> Option<String> {
    if model.dialect == Dialect::Scripted {
        return None;
    }
    let near = select::near(&model.reference.to_string(), known);
    let near = if near.is_empty() { String::new() } else { format!(" Similar: {}.", near.join(", ")) };
    Some(format!(
        "{} is not in the catalogue: its window of {} tokens, its limit of {} and its price of 0 are guesses.{near}",
        model.reference, model.context_window, model.max_tokens
    ))
}

#[cfg(test)]
mod tests;
