//! All layers to one set of settings: embedded default, the user's file, the project's file if the project is trusted,
//! the environment, flags. Nothing here can fail: what is wrong is left out and told.

use super::check::{Checked, Kind, Value};
use super::env::Env;
use super::places::Places;
use super::settings::{SETTINGS, SettingMeta, Settings, Values, nearest, setting};
use super::trust;
use crate::proto::event::NoticeLevel;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item, TableLike};

const DEFAULT: &str = include_str!("../../config/default.toml");

/// What holds, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// What holds, as types.
    pub settings: Settings,
    /// What holds, by key.
    pub values: Values,
    /// What was left out, and why.
    pub warnings: Vec<Warning>,
    /// The highest layer that had a say, by key.
    pub origins: BTreeMap<&'static str, Origin>,
    /// What the user's file itself says, by key.
    pub own: Values,
    /// Why a whole file is not used, if one is not: whoever has settings already keeps them then.
    pub broken: Option<String>,
}

/// A layer of settings, lowest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Embedded.
    Default,
    /// The user's `config.toml`.
    User,
    /// The project's `.mynah/config.toml`.
    Project,
    /// This variable of the environment.
    Environment(String),
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User => f.write_str("user"),
            Self::Project => f.write_str("project"),
            Self::Environment(name) => f.write_str(name),
            Self::Flag => f.write_str("flag"),
        }
    }
}

/// Something in the settings that the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// `Error` where Mynah now allows more than the user meant.
    pub level: NoticeLevel,
    /// Where, what, what is allowed, what holds now.
    pub text: String,
}

/// The user's settings.
pub fn user_file(places: &Places) -> PathBuf {
    places.config.join("config.toml")
}

/// A project's settings.
pub fn project_file(project: &Path) -> PathBuf {
    project.join(".mynah").join("config.toml")
}

/// The embedded values.
pub fn defaults() -> Values {
    let mut loader = Loader::default();
    loader.file_text(DEFAULT, Path::new("config/default.toml"), &Origin::Default);
    loader.values
}

impl Loaded {
    /// The embedded values alone.
    pub fn defaults() -> Self {
        let mut loader = Loader::default();
        loader.file_text(DEFAULT, Path::new("config/default.toml"), &Origin::Default);
        loader.loaded()
    }
}

/// Puts all layers together. `flags` are keys and texts; a key may come more than once, its lists add up.
pub fn load(places: &Places, project: Option<&Path>, env: &Env, flags: &[(String, String)]) -> Loaded {
    let mut loader = Loader::default();
    loader.file_text(DEFAULT, Path::new("config/default.toml"), &Origin::Default);
    loader.file(&user_file(places), &Origin::User);
    if let Some(project) = project {
        loader.project(places, project);
    }
    for meta in SETTINGS {
        let names = meta.short_env.map(str::to_owned).into_iter().chain([meta.env()]);
        for name in names {
            if let Some(text) = env.get(&name) {
                loader.text(meta, text, &format!("The variable {name}"), &Origin::Environment(name.clone()));
            }
        }
    }
    for (key, text) in flags {
        match setting(key) {
            Some(meta) => loader.text(meta, text, "On the command line", &Origin::Flag),
            None => loader.unknown(key, "On the command line", ""),
        }
    }
    loader.loaded()
}

#[derive(Default)]
struct Loader {
    values: Values,
    origins: BTreeMap<&'static str, Origin>,
    warnings: Vec<Warning>,
    own: Values,
    broken: Option<String>,
}

impl Loader {
    fn loaded(self) -> Loaded {
        Loaded {
            settings: Settings::from_values(&self.values),
            values: self.values,
            warnings: self.warnings,
            origins: self.origins,
            own: self.own,
            broken: self.broken,
        }
    }

    fn warn(&mut self, level: NoticeLevel, text: String) {
        self.warnings.push(Warning { level, text });
    }

    fn project(&mut self, places: &Places, project: &Path) {
        let file = project_file(project);
        // An untrusted project says nothing, not even by a file that can't be read.
        if fs::symlink_metadata(&file).is_err() {
            return;
        }
        match trust::read(places) {
            Ok(trust) if trust.trusts(project) => self.file(&file, &Origin::Project),
            Ok(_) => self.warn(
                NoticeLevel::Info,
                format!(
                    "The settings in {} are not read: you have not said that you trust this folder. \
                     Look at the file, then run `mynah config trust`.",
                    file.display()
                ),
            ),
            Err(error) => self.warn(
                NoticeLevel::Warning,
                format!("The settings in {} are not read: {error}", file.display()),
            ),
        }
    }

    fn file(&mut self, path: &Path, origin: &Origin) {
        match fs::read_to_string(path) {
            Ok(text) => self.file_text(&text, path, origin),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Deny rules may stand in it.
            Err(error) => {
                self.broken(format!("{} can't be read: {error}.", path.display()));
            }
        }
    }

    fn file_text(&mut self, text: &str, path: &Path, origin: &Origin) {
        let place = |span: Option<Range<usize>>| match span {
            Some(span) => format!("{}:{}", path.display(), line_of(text, span.start)),
            None => path.display().to_string(),
        };
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let message = error.message().trim().replace('\n', ", ");
                return self.broken(format!("{}: this is no TOML: {message}.", place(error.span())));
            }
        };
        let mut found = Vec::new();
        collect(document.as_table(), "", &mut found);
        for (key, item) in found {
            let place = place(item.span());
            match setting(&key) {
                Some(meta) => {
                    let written = item.to_string();
                    self.accept(meta, meta.kind.check(item), written.trim(), &place, origin);
                }
                None => self.unknown(&key, &place, " It was kept."),
            }
        }
    }

    /// A whole file is not used.
    fn broken(&mut self, why: String) {
        let text =
            format!("{why} Nothing in the file is used, not even its deny rules. It was left as it is.");
        self.broken.get_or_insert(why);
        self.warn(NoticeLevel::Error, text);
    }

    /// A value of the environment or the command line.
    fn text(&mut self, meta: &'static SettingMeta, text: &str, place: &str, origin: &Origin) {
        self.accept(meta, meta.kind.parse(text), text, place, origin);
    }

    fn unknown(&mut self, key: &str, place: &str, kept: &str) {
        let hint = if is_section(key) {
            format!(" `[{key}]` is a section.")
        } else {
            nearest(key).map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default()
        };
        let text = format!("{place}: there is no setting `{key}`.{hint}{kept}");
        self.warn(NoticeLevel::Warning, text);
    }

    fn accept(
        &mut self,
        meta: &'static SettingMeta,
        checked: Option<Checked>,
        written: &str,
        place: &str,
        origin: &Origin,
    ) {
        let level = if meta.guards { NoticeLevel::Error } else { NoticeLevel::Warning };
        let Some(Checked { value, refused }) = checked else {
            let holds = self.values.get(meta.key).map(Value::to_string).unwrap_or_default();
            let text = format!(
                "{place}: `{}` must be {}, not {}. It is ignored; {holds} holds.",
                meta.key,
                meta.kind,
                clip(written)
            );
            return self.warn(level, text);
        };
        for entry in refused {
            let expected = if meta.kind == Kind::Rules {
                "a rule like \"bash\" or \"bash(git status:*)\""
            } else {
                "a text"
            };
            let text = format!(
                "{place}: `{}` has the entry {}, which must be {expected}. This entry does nothing; the others hold.",
                meta.key,
                clip(&entry)
            );
            self.warn(level, text);
        }
        if *origin == Origin::User {
            self.own.insert(meta.key, value.clone());
        }
        let adds_up = meta.adds_up || self.origins.get(meta.key) == Some(origin);
        match (self.values.get_mut(meta.key), value) {
            (Some(Value::List(list)), Value::List(more)) if adds_up => {
                if more.is_empty() {
                    return;
                }
                let new: Vec<String> = more.into_iter().filter(|entry| !list.contains(entry)).collect();
                list.extend(new);
            }
            (_, value) => {
                self.values.insert(meta.key, value);
            }
        }
        self.origins.insert(meta.key, origin.clone());
    }
}

/// All leaves under known sections; of an unknown section the section itself.
fn collect<'a>(table: &'a dyn TableLike, prefix: &str, found: &mut Vec<(String, &'a Item)>) {
    for (name, item) in table.iter() {
        let key = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
        match item.as_table_like() {
            Some(section) if is_section(&key) => collect(section, &key, found),
            Some(_) | None => found.push((key, item)),
        }
    }
}

fn is_section(key: &str) -> bool {
    SETTINGS.iter().any(|meta| meta.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
}

pub(super) fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// A wrong value as a message quotes it: one short line.
fn clip(written: &str) -> String {
    const LONGEST: usize = 60;
    let line = written.lines().next().unwrap_or_default();
    let short: String = line.chars().take(LONGEST).collect();
    if short.len() < written.len() { format!("`{short}…`") } else { format!("`{short}`") }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
