//! Which key a provider gets: `--api-key`, then `auth.toml`, then the environment, then a models file.
//!
//! Invariant: no text made here holds a key. Error texts of the TOML reader quote the file, so they are never passed
//! on; a broken `auth.toml` is told by its line alone.

use super::file_error::line_of;
use super::value::{ConfigValue, expand};
use crate::config::env::Env;
use crate::llm::endpoint::{KeyStyle, Secret};
use std::collections::BTreeMap;
use std::path::Path;
use toml_edit::TableLike;

/// Where `auth.toml` says a key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredKey {
    /// `key = "…"`: this is it.
    Key(Secret),
    /// `command = "…"`: a command prints it.
    Command(Secret),
    /// `env = "NAME"`: a variable holds it.
    Env(String),
}

/// The keys of `auth.toml`, by provider id.
pub type StoredKeys = BTreeMap<String, StoredKey>;

/// A key, or the command that prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The key.
    Known(Secret),
    /// This command prints it. Its output is kept until the program ends.
    Command(Secret),
    /// This command prints it, afresh for every request: such a token may be short-lived.
    CommandEachTime(Secret),
}

/// Everything a provider's key can come from, strongest first.
#[derive(Clone, Debug, Default)]
pub struct KeyFacts<'a> {
    /// `--api-key`, if it is meant for this provider.
    pub given: Option<&'a Secret>,
    /// The entry in `auth.toml`.
    pub stored: Option<&'a StoredKey>,
    /// Variables that hold the key.
    pub key_env: &'a [String],
    /// Variables that hold a bearer token.
    pub bearer_env: &'a [String],
    /// The entry in a models file.
    pub file: Option<&'a ConfigValue>,
}

/// The provider's key and how it is sent, by the order above.
pub fn find_key(facts: &KeyFacts, env: &Env) -> Option<(KeySource, KeyStyle)> {
    let known = |key: &str| (!key.is_empty()).then(|| KeySource::Known(Secret::new(key)));
    let of_env = |names: &[String]| names.iter().find_map(|name| known(env.get(name)?.trim()));
    let stored = || match facts.stored? {
        StoredKey::Key(key) => known(key.reveal()),
        StoredKey::Command(command) => Some(KeySource::Command(command.clone())),
        StoredKey::Env(name) => known(env.get(name)?.trim()),
    };
    let of_file = || match facts.file? {
        ConfigValue::Command(command) => Some(KeySource::CommandEachTime(command.clone())),
        // A variable that is not set is no key: the provider is then simply not available.
        ConfigValue::Text(parts) => known(&expand(parts, env).ok()?),
    };
    let dialect = |source| (source, KeyStyle::Dialect);
    (facts.given.and_then(|key| known(key.reveal())).or_else(stored).or_else(|| of_env(facts.key_env)))
        .map(dialect)
        .or_else(|| of_env(facts.bearer_env).map(|source| (source, KeyStyle::Bearer)))
        .or_else(|| of_file().map(dialect))
}

/// Reads `auth.toml`. What is wrong with it comes as warnings; a missing file is no keys.
pub fn load(path: &Path) -> (StoredKeys, Vec<String>) {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Default::default(),
        Err(error) => {
            return (
                StoredKeys::new(),
                vec![format!("{} could not be read ({error}), so its keys are not used.", path.display())],
            );
        }
    };
    let (keys, mut warnings) = parse(&text, &path.display().to_string());
    warnings.extend(readable_by_others(path));
    (keys, warnings)
}

fn parse(text: &str, file: &str) -> (StoredKeys, Vec<String>) {
    let document = match toml_edit::Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let line = line_of(text, error.span().map_or(0, |span| span.start));
            let warning = format!(
                "{file}, line {line}: this is not valid TOML, so no key of the file is used. Keys are written as \
                 `[anthropic]` and, below it, `key = \"…\"`."
            );
            return (StoredKeys::new(), vec![warning]);
        }
    };
    let mut keys = StoredKeys::new();
    let mut warnings = Vec::new();
    for (provider, item) in document.iter() {
        match item.as_table_like().map_or(Err("is no table"), stored_key) {
            Ok(key) => {
                keys.insert(provider.to_owned(), key);
            }
            Err(problem) => {
                let line = line_of(text, item.span().map_or(0, |span| span.start));
                warnings.push(format!(
                    "{file}, line {line}: `{provider}` {problem}, so it is not used. It needs one of `key`, \
                     `command` and `env`, with a text."
                ));
            }
        }
    }
    (keys, warnings)
}

fn stored_key(table: &dyn TableLike) -> Result<StoredKey, &'static str> {
    let mut found = None;
    for (name, make) in [
        ("key", (|text| StoredKey::Key(Secret::new(text))) as fn(&str) -> StoredKey),
        ("command", |text| StoredKey::Command(Secret::new(text))),
        ("env", |text| StoredKey::Env(text.to_owned())),
    ] {
        let Some(item) = table.get(name) else { continue };
        let text = item.as_str().map(str::trim).filter(|text| !text.is_empty());
        let text = text.ok_or("has a value that is no text, or an empty one")?;
        if found.replace(make(text)).is_some() {
            return Err("says more than once where its key is");
        }
    }
    found.ok_or("does not say where its key is")
}

#[cfg(unix)]
fn readable_by_others(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).ok()?.permissions().mode();
    (mode & 0o077 != 0).then(|| {
        format!("Other users of this machine can read the keys in {0}. Run `chmod 600 {0}`.", path.display())
    })
}

#[cfg(not(unix))]
const fn readable_by_others(_path: &Path) -> Option<String> {
    None
}

/// The variables that `auth.toml` names.
pub fn variables(keys: &StoredKeys) -> impl Iterator<Item = &str> {
    keys.values().filter_map(|key| match key {
        StoredKey::Key(_) | StoredKey::Command(_) => None,
        StoredKey::Env(name) => Some(name.as_str()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str) -> Option<(KeySource, KeyStyle)> {
        Some((KeySource::Known(Secret::new(text)), KeyStyle::Dialect))
    }

    #[test]
    fn the_stronger_source_wins() {
        let env = Env::of([
            ("A_KEY", "from-env"),
            ("A_TOKEN", "bearer"),
            ("OTHER", "from-other"),
            ("FILE", "file"),
        ]);
        let given = Secret::new("given");
        let (key_env, bearer_env) =
            (vec!["A_OLD".to_owned(), "A_KEY".to_owned()], vec!["A_TOKEN".to_owned()]);
        let stored = StoredKey::Key(Secret::new("stored"));
        let file = ConfigValue::parse("$FILE");
        let mut facts = KeyFacts {
            given: Some(&given),
            stored: Some(&stored),
            key_env: &key_env,
            bearer_env: &bearer_env,
            file: Some(&file),
        };
        assert_eq!(find_key(&facts, &env), known("given"));
        facts.given = None;
        assert_eq!(find_key(&facts, &env), known("stored"));
        let elsewhere = StoredKey::Env("OTHER".to_owned());
        facts.stored = Some(&elsewhere);
        assert_eq!(find_key(&facts, &env), known("from-other"));
        let unset = StoredKey::Env("UNSET".to_owned());
        facts.stored = Some(&unset);
        assert_eq!(find_key(&facts, &env), known("from-env"));
        facts.key_env = &[];
        let bearer = Some((KeySource::Known(Secret::new("bearer")), KeyStyle::Bearer));
        assert_eq!(find_key(&facts, &env), bearer);
        facts.bearer_env = &[];
        assert_eq!(find_key(&facts, &env), known("file"));
        assert_eq!(find_key(&facts, &Env::default()), None);
    }

    #[test]
    fn commands_are_kept_or_run_each_time_by_where_they_stand() {
        let stored = StoredKey::Command(Secret::new("a"));
        let facts = KeyFacts { stored: Some(&stored), ..KeyFacts::default() };
        assert_eq!(find_key(&facts, &Env::default()).unwrap().0, KeySource::Command(Secret::new("a")));
        let file = ConfigValue::parse("!b");
        let facts = KeyFacts { file: Some(&file), ..KeyFacts::default() };
        assert_eq!(
            find_key(&facts, &Env::default()).unwrap().0,
            KeySource::CommandEachTime(Secret::new("b"))
        );
    }

    #[test]
    fn entries_are_read_in_their_three_forms() {
        let text =
            "anthropic.key = 'sk-1$X'\n[openai]\ncommand = \"pass show openai\"\n[zai]\nenv = \"MY_ZAI\"\n";
        let (keys, warnings) = parse(text, "auth.toml");
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(keys["anthropic"], StoredKey::Key(Secret::new("sk-1$X")));
        assert_eq!(keys["openai"], StoredKey::Command(Secret::new("pass show openai")));
        assert_eq!(variables(&keys).collect::<Vec<_>>(), ["MY_ZAI"]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_without_any_key() {
        for (text, line) in [
            ("[anthropic]\nkey = sk-secret\n", "line 2"),
            ("anthropic = \"sk-secret\"\n", "line 1"),
            ("\n[anthropic]\nkey = \"sk-secret\"\nenv = \"X\"\n", "line 2"),
            ("[anthropic]\nkey = [\"sk-secret\"]\n", "line 1"),
            ("[anthropic]\nkeys = \"sk-secret\"\n", "line 1"),
            ("[anthropic]\nkey = \"sk-secret", "line 2"),
        ] {
            let (keys, warnings) = parse(text, "auth.toml");
            assert!(keys.is_empty(), "{text}");
            assert_eq!(warnings.len(), 1, "{text}");
            assert!(warnings[0].starts_with(&format!("auth.toml, {line}:")), "{}", warnings[0]);
            assert!(!warnings[0].contains("sk-"), "{}", warnings[0]);
        }
    }

    #[test]
    fn one_wrong_entry_leaves_the_others() {
        let (keys, warnings) = parse("[a]\n[b]\nkey = \"k\"\n", "auth.toml");
        assert_eq!((keys.len(), warnings.len()), (1, 1));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_used_with_a_warning() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("auth.toml");
        std::fs::write(&path, "[a]\nkey = \"k\"\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let (keys, warnings) = load(&path);
        assert_eq!(keys.len(), 1);
        assert!(warnings.len() == 1 && warnings[0].contains("chmod 600"), "{warnings:?}");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(load(&path).1, Vec::<String>::new());
        assert_eq!(load(&dir.path().join("none.toml")), (StoredKeys::new(), Vec::new()));
    }

    #[test]
    fn keys_are_never_printed() {
        let (keys, _) = parse("[a]\nkey = \"sk-1\"\n[b]\ncommand = \"echo sk-2\"\n", "auth.toml");
        let shown = format!("{keys:?} {:?}", KeySource::Known(Secret::new("sk-3")));
        assert!(!shown.contains("sk-"), "{shown}");
    }
}
