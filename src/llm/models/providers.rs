//! The table of providers in `assets/providers.toml`: names, variables, dialects, defaults.

use crate::llm::Dialect;
use serde::Deserialize;

/// What the binary knows about providers.
pub struct ProviderTable {
    rows: Vec<ProviderRow>,
    other_key_env: Vec<String>,
}

/// A provider, as the file describes it (see its head for what each field means).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderRow {
    /// How it is named in `provider/model`.
    pub id: String,
    /// How people call it.
    pub name: String,
    /// Wire dialect of ids that the catalogue does not list.
    #[serde(deserialize_with = "dialect")]
    pub dialect: Dialect,
    /// Wire dialect when requests go to a host that is not the provider's own.
    #[serde(default, deserialize_with = "some_dialect")]
    pub dialect_elsewhere: Option<Dialect>,
    /// Another name of this provider.
    #[serde(default)]
    pub same_as: Option<String>,
    /// Where requests go, if the catalogue does not say.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Variable that sends requests elsewhere.
    #[serde(default)]
    pub base_url_env: Option<String>,
    /// Variables that hold its key.
    #[serde(default)]
    pub key_env: Vec<String>,
    /// Variables whose value is sent as a bearer token.
    #[serde(default)]
    pub bearer_env: Vec<String>,
    /// Model to start on when there is a key.
    #[serde(default)]
    pub default: Option<String>,
    /// A server on this machine.
    #[serde(default)]
    pub server: bool,
}

#[derive(Deserialize)]
struct File {
    provider: Vec<ProviderRow>,
    other: Other,
}

#[derive(Deserialize)]
struct Other {
    key_env: Vec<String>,
}

impl ProviderTable {
    /// The table in the binary.
    #[expect(clippy::expect_used, reason = "the file is part of the binary and a test reads it")]
    pub fn shipped() -> Self {
        let file: File = toml_edit::de::from_str(include_str!("../../../assets/providers.toml"))
            .expect("assets/providers.toml is valid");
        Self { rows: file.provider, other_key_env: file.other.key_env }
    }

    /// All providers, in the order in which they are preferred.
    pub fn rows(&self) -> &[ProviderRow] {
        &self.rows
    }

    /// The provider of that id.
    pub fn find(&self, id: &str) -> Option<&ProviderRow> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// The provider whose models and key this one uses: itself, unless it is another name of one.
    pub fn home<'a>(&'a self, id: &'a str) -> &'a str {
        self.find(id).and_then(|row| row.same_as.as_deref()).unwrap_or(id)
    }

    /// Every variable that is known to hold a provider key, also of providers that we do not speak to.
    pub fn key_variables(&self) -> impl Iterator<Item = &str> {
        let of_rows = self.rows.iter().flat_map(|row| row.key_env.iter().chain(&row.bearer_env));
        of_rows.chain(&self.other_key_env).map(String::as_str)
    }
}

fn dialect<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Dialect, D::Error> {
    let name = String::deserialize(deserializer)?;
    Dialect::from_name(&name).ok_or_else(|| serde::de::Error::custom(format!("`{name}` is no dialect")))
}

fn some_dialect<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Dialect>, D::Error> {
    dialect(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::super::catalog::Catalog;
    use super::*;

    #[test]
    fn every_provider_of_the_catalogue_is_in_the_table() {
        let table = ProviderTable::shipped();
        for row in Catalog::shipped().rows() {
            assert!(table.find(row.provider).is_some(), "{} is missing", row.provider);
        }
    }

    #[test]
    fn defaults_are_in_the_catalogue_and_can_think() {
        let (table, catalog) = (ProviderTable::shipped(), Catalog::shipped());
        for row in table.rows() {
            if let Some(id) = &row.default {
                let model = catalog.find(&row.id, id);
                assert!(model.is_some_and(|model| model.reasoning), "{}/{id}", row.id);
            }
        }
    }

    #[test]
    fn every_provider_has_somewhere_to_send_unlisted_ids() {
        let (table, catalog) = (ProviderTable::shipped(), Catalog::shipped());
        for row in table.rows() {
            let home = table.home(&row.id);
            let url = row.base_url.as_deref().or_else(|| catalog.base_url(home, row.dialect));
            assert!(url.is_some(), "{}", row.id);
        }
    }

    #[test]
    fn other_names_lead_to_their_provider() {
        let table = ProviderTable::shipped();
        assert_eq!(table.home("openai-responses"), "openai");
        assert_eq!(table.home("anthropic"), "anthropic");
        assert_eq!(table.home("mine"), "mine");
    }

    #[test]
    fn variables_of_providers_that_we_do_not_speak_to_are_known_too() {
        let table = ProviderTable::shipped();
        let names: Vec<&str> = table.key_variables().collect();
        for name in [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_OAUTH_TOKEN",
            "GEMINI_API_KEY",
            "HF_TOKEN",
            "AZURE_OPENAI_API_KEY",
        ] {
            assert!(names.contains(&name), "{name}");
        }
        assert!(!names.contains(&"GITHUB_TOKEN"), "git and gh need it in the shell");
    }
}
