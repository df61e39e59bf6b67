//! The speech models that are known by name: `assets/speech-models.toml`, and over it the user's `speech-models.toml`.

use crate::config::places::Places;
use serde::Deserialize;
use std::path::PathBuf;
use toml_edit::{Document, Table as TomlTable};

/// A speech model that can be fetched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// How settings and commands name it.
    pub name: String,
    /// How people call it.
    pub title: String,
    /// `parakeet-tdt`, `parakeet-ctc` or `whisper`.
    pub kind: String,
    /// Where its files are, on the host of models.
    pub repository: String,
    /// Branch, tag or commit.
    #[serde(default = "main_branch")]
    pub revision: String,
    /// What is fetched.
    pub files: Vec<Part>,
    /// The file that holds the model; `None` for the whole folder.
    #[serde(default)]
    pub opens: Option<String>,
    /// Of the weights.
    pub licence: String,
    /// Languages, for people.
    pub understands: String,
    /// The same as codes; none means any.
    #[serde(default)]
    pub languages: Vec<String>,
    /// Megabytes of free memory that it needs with weights of a byte each.
    pub memory_mb: u64,
    /// Megabytes of free memory from which it is chosen by itself.
    #[serde(default)]
    pub default_from_mb: Option<u64>,
}

/// A file of a model.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its path in the repository, and below the model's folder.
    pub name: String,
    /// Bytes, about.
    pub size: u64,
    /// Its checksum in hexadecimal digits, where one is vouched for.
    #[serde(default)]
    pub sha256: Option<String>,
}

impl Entry {
    /// Bytes of all its files, about.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|part| part.size).sum()
    }

    /// It understands this language, a code as `en` or `pt-BR`; everything understands `auto`.
    #[must_use]
    pub fn knows(&self, language: &str) -> bool {
        let code = language.split(['-', '_']).next().unwrap_or(language);
        matches!(language, "" | "auto")
            || self.languages.is_empty()
            || self.languages.iter().any(|known| known.eq_ignore_ascii_case(code))
    }

    /// What is wrong with it.
    fn fault(&self) -> Option<String> {
        let is_path = |path: &str| {
            !path.is_empty()
                && !path.starts_with(['/', '.'])
                && path.split('/').all(|part| !part.is_empty() && part != ".." && is_plain(part))
        };
        if !is_path(&self.name) || self.name.contains('/') {
            return Some("its name may hold letters, digits, `.`, `-` and `_`".to_owned());
        }
        if !is_path(&self.repository) || !is_path(&self.revision) {
            return Some("`repository` is OWNER/NAME, and `revision` a branch, tag or commit".to_owned());
        }
        if let Some(wrong) = self.files.iter().find(|part| !is_path(&part.name)) {
            return Some(format!("`{}` is no file name of a repository", wrong.name));
        }
        if let Some(wrong) = self.files.iter().find(|part| {
            part.sha256
                .as_ref()
                .is_some_and(|sum| sum.len() != 64 || !sum.bytes().all(|byte| byte.is_ascii_hexdigit()))
        }) {
            return Some(format!("the sha256 of `{}` must be 64 hexadecimal digits", wrong.name));
        }
        match &self.opens {
            _ if self.files.is_empty() => Some("it has no files".to_owned()),
            Some(file) if !self.files.iter().any(|part| part.name == *file) => {
                Some(format!("`opens` names `{file}`, which is not among its files"))
            }
            _ => None,
        }
    }
}

/// Only what is the same in a URL and in a path.
fn is_plain(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

fn main_branch() -> String {
    "main".to_owned()
}

/// All models that are known by name, in the order in which they are offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    entries: Vec<Entry>,
}

impl Table {
    /// Ours and the user's, and what is wrong with the latter: a line for each wrong entry.
    #[must_use]
    pub fn load(places: &Places) -> (Self, Vec<String>) {
        let file = user_file(places);
        let mut table = Self::built_in();
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (table, Vec::new()),
            Err(error) => {
                let warning =
                    format!("{} can't be read: {error}. Only the built-in models are known.", file.display());
                return (table, vec![warning]);
            }
        };
        let warnings = table.add(&text, &file.display().to_string());
        (table, warnings)
    }

    /// Ours alone.
    #[must_use]
    pub fn built_in() -> Self {
        let mut table = Self::default();
        // A test reads them without a warning.
        for warning in table.add(include_str!("../../../assets/speech-models.toml"), "the built-in table") {
            tracing::error!(%warning, "the built-in speech models");
        }
        table
    }

    /// All, in order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// By its name, or its repository (with or without the owner), in whatever case.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Entry> {
        let is = |text: &str| text.eq_ignore_ascii_case(name);
        self.entries.iter().find(|entry| is(&entry.name)).or_else(|| {
            self.entries
                .iter()
                .find(|entry| is(&entry.repository) || entry.repository.rsplit('/').next().is_some_and(is))
        })
    }

    /// Adds the models of a file. Later ones of the same name take the place of earlier ones.
    fn add(&mut self, text: &str, file: &str) -> Vec<String> {
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let what = error.message().trim_end();
                return vec![format!("{file} is no TOML: {what}. Its models are left out.")];
            }
        };
        let mut warnings = Vec::new();
        for (key, item) in document.iter() {
            let Some(rows) = item.as_array_of_tables().filter(|_| key == "model") else {
                warnings.push(format!("{file}: `{key}` is left out; models stand under [[model]]."));
                continue;
            };
            for (number, row) in rows.iter().enumerate() {
                match read(row) {
                    Ok(entry) => self.put(entry),
                    Err(why) => {
                        let name = row.get("name").and_then(|name| name.as_str());
                        let which =
                            name.map_or_else(|| format!("{}.", number + 1), |name| format!("`{name}`"));
                        warnings.push(format!("{file}: the model {which} is left out: {why}."));
                    }
                }
            }
        }
        warnings
    }

    fn put(&mut self, entry: Entry) {
        match self.entries.iter_mut().find(|known| known.name == entry.name) {
            Some(known) => *known = entry,
            None => self.entries.push(entry),
        }
    }
}

/// Where the user's own models stand.
#[must_use]
pub fn user_file(places: &Places) -> PathBuf {
    places.config.join("speech-models.toml")
}

fn read(row: &TomlTable) -> Result<Entry, String> {
    let entry: Entry = toml_edit::de::from_document(toml_edit::DocumentMut::from(row.clone()))
        .map_err(|error| error.message().trim_end().to_owned())?;
    entry.fault().map_or(Ok(entry), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = r#"
[[model]]
name = "mine"
title = "Mine"
kind = "whisper"
repository = "me/mine"
files = [{ name = "model.safetensors", size = 5 }]
licence = "MIT"
understands = "English"
memory_mb = 1
"#;

    #[test]
    fn the_built_in_models_are_right() {
        let mut table = Table::default();
        let text = include_str!("../../../assets/speech-models.toml");
        assert_eq!(table.add(text, "built in"), Vec::<String>::new());
        let names: Vec<_> = table.entries().iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names.first().copied(), Some("parakeet-tdt-0.6b-v3"));
        assert_eq!(names.len(), 9);
        let v3 = table.find("nvidia/parakeet-tdt-0.6b-v3").unwrap();
        assert_eq!(v3.languages.len(), 25);
        assert_eq!(v3.licence, "CC-BY-4.0");
        assert!(v3.knows("de-AT") && v3.knows("auto") && !v3.knows("ja"));
        assert!(table.find("whisper-tiny").unwrap().knows("ja"));
        assert_eq!(table.find("PARAKEET-TDT_CTC-110M").unwrap().name, "parakeet-tdt-ctc-110m");
        let defaults: Vec<_> = table.entries().iter().filter_map(|entry| entry.default_from_mb).collect();
        assert_eq!(defaults, [2048, 700, 0]);
    }

    #[test]
    fn users_add_and_replace() {
        let mut table = Table::built_in();
        let before = table.entries().len();
        let same = OWN.replace("\"mine\"\ntitle", "\"whisper-tiny\"\ntitle");
        assert_eq!(table.add(&format!("{OWN}{same}"), "f"), Vec::<String>::new());
        assert_eq!(table.entries().len(), before + 1);
        assert_eq!(table.find("whisper-tiny").unwrap().title, "Mine");
        assert_eq!(table.find("mine").unwrap().revision, "main");
        assert_eq!(table.entries()[2].name, "whisper-tiny", "a replaced one keeps its place");
    }

    #[test]
    fn a_wrong_entry_is_one_warning_and_the_others_hold() {
        for (from, to, says) in [
            ("me/mine", "../x", "OWNER/NAME"),
            ("me/mine", "me/mi ne", "OWNER/NAME"),
            ("model.safetensors\"", "../../.bashrc\"", "no file name"),
            ("size = 5", "size = -5", "invalid value"),
            ("memory_mb = 1", "", "memory_mb"),
            ("memory_mb = 1", "memory_mb = 1\nspeed = 3", "unknown field"),
            ("memory_mb = 1", "memory_mb = 1\nopens = \"x.nemo\"", "not among its files"),
            ("size = 5", "size = 5, sha256 = \"12\"", "64 hexadecimal"),
            ("files = [{ name = \"model.safetensors\", size = 5 }]", "files = []", "no files"),
            ("name = \"mine\"", "name = \"a/b\"", "its name"),
        ] {
            let mut table = Table::default();
            let other = OWN.replace("name = \"mine\"", "name = \"other\"");
            let text = format!("{}{other}", OWN.replacen(from, to, 1));
            let warnings = table.add(&text, "f.toml");
            assert_eq!(warnings.len(), 1, "{to}: {warnings:?}");
            assert!(warnings[0].starts_with("f.toml: the model `"), "{warnings:?}");
            assert!(warnings[0].contains(says), "{says}: {warnings:?}");
            assert_eq!(table.entries().len(), 1);
        }
        assert_eq!(Table::default().add("[[", "f").len(), 1);
        assert!(Table::default().add("x = 1", "f")[0].contains("[[model]]"));
    }
}
