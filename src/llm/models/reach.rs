//! The way to a model: its endpoint, its key, its headers.

use super::auth::{self, KeyFacts, KeySource};
use super::late_key::{LateCommand, LateKeyProvider};
use super::value::{self, ConfigValue};
use super::{Models, url};
use crate::llm::endpoint::{Endpoint, KeyStyle};
use crate::llm::error::{ErrorClass, LlmError};
use crate::llm::http::HttpProvider;
use crate::llm::scripted::{self, ScriptedProvider};
use crate::llm::{Dialect, Model, Provider};
use crate::proto::model::ModelRef;
use std::sync::Arc;

/// Headers that carry a key.
const KEY_HEADERS: [&str; 3] = ["authorization", "x-api-key", "api-key"];

impl Models {
    /// The way to a model. Without a key the error says how to add one.
    pub fn provider(&self, model: &Model) -> Result<Arc<dyn Provider>, LlmError> {
        if model.dialect == Dialect::Scripted {
            return match scripted::load(&model.reference.id) {
                Ok(script) => Ok(Arc::new(ScriptedProvider::new(script))),
                Err(error) => Err(invalid(error.to_string())),
            };
        }
        let (endpoint, late) = self.endpoint_of(model)?;
        if late.is_empty() {
            return Ok(Arc::new(HttpProvider::new(endpoint, self.options.idle)));
        }
        Ok(Arc::new(LateKeyProvider::new(endpoint, late, Arc::clone(&self.commands), self.options.idle)))
    }

    /// Where requests go, and the commands that print what is still missing.
    pub(super) fn endpoint_of(&self, model: &Model) -> Result<(Endpoint, Vec<LateCommand>), LlmError> {
        let provider = &model.reference.provider;
        if self.options.api_key.is_some() {
            self.give_key_to(provider);
        }
        let mut endpoint = Endpoint {
            provider: provider.clone(),
            provider_name: self.provider_name(provider).to_owned(),
            base_url: model.base_url.clone(),
            key: None,
            key_variable: self.key_variable(provider).map(str::to_owned),
            key_style: KeyStyle::Dialect,
            headers: model.headers.clone(),
        };
        let mut late = Vec::new();
        for (header, value) in self.file_headers(&model.reference) {
            match value {
                ConfigValue::Text(parts) => {
                    let text = value::expand(parts, &self.env).map_err(|error| {
                        auth_error(format!(
                            "The header `{header}` of {} cannot be made: {error}.",
                            endpoint.provider_name
                        ))
                    })?;
                    endpoint.headers.insert(header.to_owned(), text);
                }
                ConfigValue::Command(command) => late.push(LateCommand {
                    command: command.clone(),
                    keep: false,
                    header: Some(header.to_owned()),
                }),
            }
        }
        match self.key_of(provider) {
            Some((source, style)) => {
                endpoint.key_style = style;
                match source {
                    KeySource::Known(key) => endpoint.key = Some(key),
                    KeySource::Command(command) => {
                        late.push(LateCommand { command, keep: true, header: None });
                    }
                    KeySource::CommandEachTime(command) => {
                        late.push(LateCommand { command, keep: false, header: None });
                    }
                }
            }
            None if self.needs_no_key(&model.reference, &model.base_url) => {}
            None => return Err(auth_error(self.no_key_message(provider))),
        }
        Ok((endpoint, late))
    }

    pub(super) fn key_of(&self, provider: &str) -> Option<(KeySource, KeyStyle)> {
        let row = self.table.find(provider);
        let home = self.table.home(provider);
        let file = self.file(provider);
        let is_owner = self.key_owner.get().is_some_and(|owner| self.table.home(owner) == home);
        let facts = KeyFacts {
            given: self.options.api_key.as_ref().filter(|_| is_owner),
            stored: self.stored_keys.get(provider).or_else(|| self.stored_keys.get(home)),
            key_env: row.map_or(&[], |row| &row.key_env),
            bearer_env: row.map_or(&[], |row| &row.bearer_env),
            file: file.and_then(|file| file.api_key.as_ref()),
        };
        let (source, style) = auth::find_key(&facts, &self.env)?;
        let bearer = file.and_then(|file| file.auth_header).unwrap_or(false);
        Some((source, if bearer { KeyStyle::Bearer } else { style }))
    }

    /// Servers on this machine, and others of their kind, take anybody; and a header of the user's may carry the key.
    fn needs_no_key(&self, reference: &ModelRef, base_url: &str) -> bool {
        let carries_key = |name: &str| KEY_HEADERS.contains(&name.to_ascii_lowercase().as_str());
        self.table.find(&reference.provider).is_some_and(|row| row.server)
            || reqwest::Url::parse(base_url).is_ok_and(|url| url::is_loopback(&url))
            || self.file_headers(reference).any(|(name, _)| carries_key(name))
    }

    /// Requests to some model of the provider can be sent.
    pub(super) fn has_key(&self, provider: &str) -> bool {
        let any_model = ModelRef::new(provider, "");
        self.table.find(provider).is_some_and(|row| row.dialect == Dialect::Scripted)
            || self.key_of(provider).is_some()
            || self.needs_no_key(&any_model, &self.unlisted(&any_model).base_url)
    }

    pub(super) fn can_reach(&self, model: &Model) -> bool {
        model.dialect == Dialect::Scripted
            || self.key_of(&model.reference.provider).is_some()
            || self.needs_no_key(&model.reference, &model.base_url)
    }

    /// The variable that a key of this provider is best put into.
    fn key_variable(&self, provider: &str) -> Option<&str> {
        let of_table = self.table.find(provider).and_then(|row| row.key_env.first()).map(String::as_str);
        of_table.or_else(|| self.file(provider)?.api_key.as_ref()?.variables().next())
    }

    pub(super) fn no_key_message(&self, provider: &str) -> String {
        let set = self.key_variable(provider).map_or_else(String::new, |name| format!("Set {name}, or "));
        let put = if set.is_empty() { "Put" } else { "put" };
        format!(
            "There is no key for {}. {set}{put} `[{provider}]` with `key = \"…\"` into {}.",
            self.provider_name(provider),
            self.auth_path.display()
        )
    }
}

const fn auth_error(message: String) -> LlmError {
    LlmError { class: ErrorClass::Auth, message, retry_after: None, status: None, complains_of_input: false }
}

const fn invalid(message: String) -> LlmError {
    LlmError {
        class: ErrorClass::Invalid,
        message,
        retry_after: None,
        status: None,
        complains_of_input: false,
    }
}
