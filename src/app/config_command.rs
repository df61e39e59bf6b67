//! `mynah config`: shows and changes settings, and says whose project settings are read.

use crate::config::check::Value;
use crate::config::env::Env;
use crate::config::load::{self, Origin};
use crate::config::places::Places;
use crate::config::save::{self, SaveError};
use crate::config::settings::{SETTINGS, SettingMeta, nearest, setting};
use crate::config::trust::{self, TrustError};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigCommand {
    /// Shows all settings.
    List,
    /// Shows one value.
    Get {
        /// Which.
        key: String,
    },
    /// Writes one value into a file.
    Set {
        /// Which.
        key: String,
        /// As on the command line; lists with commas or as TOML.
        value: String,
    },
    /// Takes one value out of a file.
    Unset {
        /// Which.
        key: String,
    },
    /// Reads this project's settings from now on.
    Trust,
    /// Does not read this project's settings any more.
    Untrust,
}

/// Which file is changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The user's.
    #[default]
    User,
    /// The project's (`--project`).
    Project,
}

/// Where the command runs.
#[derive(Clone, Copy, Debug)]
pub struct ConfigCx<'a> {
    /// The user's folders.
    pub places: &'a Places,
    /// The project's root.
    pub project: &'a Path,
    /// The environment.
    pub env: &'a Env,
    /// Settings on the command line.
    pub flags: &'a [(String, String)],
}

/// Why nothing was done.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No such setting.
    #[error("There is no setting `{key}`.{} `mynah config` lists all.", hint(*near))]
    Unknown {
        /// What was asked for.
        key: String,
        /// What was meant, maybe.
        near: Option<&'static str>,
    },
    /// The value is not allowed.
    #[error("`{key}` must be {allowed}, not `{value}`. Nothing was changed.")]
    Wrong {
        /// The setting.
        key: &'static str,
        /// What is allowed.
        allowed: String,
        /// What was given.
        value: String,
    },
    /// The file can't be written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The answer can't be kept.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

fn hint(near: Option<&str>) -> String {
    near.map(|near| format!(" Did you mean `{near}`?")).unwrap_or_default()
}

/// Does it. Gives the text for standard output, ending in a newline.
///
/// # Errors
/// Nothing was changed; the error says why.
pub fn run(command: &ConfigCommand, scope: Scope, cx: ConfigCx<'_>) -> Result<String, ConfigError> {
    match command {
        ConfigCommand::List => Ok(list(cx)),
        ConfigCommand::Get { key } => {
            let meta = known(key)?;
            let loaded = load::load(cx.places, Some(cx.project), cx.env, cx.flags);
            Ok(loaded.values.get(meta.key).map(plain).unwrap_or_default() + "\n")
        }
        ConfigCommand::Set { key, value } => set(known(key)?, value, scope, cx),
        ConfigCommand::Unset { key } => {
            let meta = known(key)?;
            Ok(match save::unset(&file_of(scope, cx), meta.key)? {
                Some(file) => format!("Took `{}` out of {}.\n", meta.key, file.display()),
                None => format!("`{}` is not set in {}.\n", meta.key, file_of(scope, cx).display()),
            })
        }
        ConfigCommand::Trust => {
            let folder = trust::set(cx.places, cx.project, true)?;
            Ok(format!("From now on the settings in {} are read.\n", load::project_file(&folder).display()))
        }
        ConfigCommand::Untrust => {
            let folder = trust::set(cx.places, cx.project, false)?;
            Ok(format!("The settings under {} are not read any more.\n", folder.display()))
        }
    }
}

fn known(key: &str) -> Result<&'static SettingMeta, ConfigError> {
    setting(key).ok_or_else(|| ConfigError::Unknown { key: key.to_owned(), near: nearest(key) })
}

fn file_of(scope: Scope, cx: ConfigCx<'_>) -> PathBuf {
    match scope {
        Scope::User => load::user_file(cx.places),
        Scope::Project => load::project_file(cx.project),
    }
}

fn set(
    meta: &'static SettingMeta,
    text: &str,
    scope: Scope,
    cx: ConfigCx<'_>,
) -> Result<String, ConfigError> {
    let wrong = |value: &str| ConfigError::Wrong {
        key: meta.key,
        allowed: meta.kind.to_string(),
        value: value.to_owned(),
    };
    let checked = meta.kind.parse(text).ok_or_else(|| wrong(text))?;
    if let Some(refused) = checked.refused.first() {
        return Err(wrong(refused));
    }
    let file = save::set(&file_of(scope, cx), meta.key, &checked.value)?;
    let mut out = format!("Set `{}` to {} in {}.\n", meta.key, checked.value, file.display());
    out.push_str(&without_effect(meta, scope, cx));
    Ok(out)
}

/// Says so when another layer hides what was just set, or the file is not read.
fn without_effect(meta: &'static SettingMeta, scope: Scope, cx: ConfigCx<'_>) -> String {
    if scope == Scope::Project && !trust::is_trusted(cx.places, cx.project) {
        return "It has no effect yet: this project is not trusted. `mynah config trust` changes that.\n"
            .to_owned();
    }
    let ours = match scope {
        Scope::User => Origin::User,
        Scope::Project => Origin::Project,
    };
    let loaded = load::load(cx.places, Some(cx.project), cx.env, cx.flags);
    match loaded.origins.get(meta.key) {
        Some(origin) if *origin > ours && !meta.adds_up => {
            format!("It has no effect here: the value from `{origin}` wins.\n")
        }
        Some(_) | None => String::new(),
    }
}

/// All settings: key, value, where it comes from, what it does.
fn list(cx: ConfigCx<'_>) -> String {
    let loaded = load::load(cx.places, Some(cx.project), cx.env, cx.flags);
    let rows: Vec<[String; 3]> = SETTINGS
        .iter()
        .map(|meta| {
            let value = loaded.values.get(meta.key).map(Value::to_string).unwrap_or_default();
            let origin = loaded.origins.get(meta.key).map(Origin::to_string).unwrap_or_default();
            [meta.key.to_owned(), value, origin]
        })
        .collect();
    let width = |column: usize| {
        let widths = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        widths.max().unwrap_or_default()
    };
    let (keys, values, origins) = (width(0), width(1), width(2));
    let mut out = String::new();
    for ([key, value, origin], meta) in rows.iter().zip(SETTINGS) {
        // Writing into a string can't fail.
        let _ = writeln!(out, "{key:keys$}  {value:values$}  {origin:origins$}  {}", meta.text);
    }
    let _ = writeln!(out, "\nUser settings: {}", load::user_file(cx.places).display());
    for warning in &loaded.warnings {
        let _ = writeln!(out, "{}", warning.text);
    }
    out
}

/// A value for other programs: texts without quotes, lists one entry a line.
fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::List(entries) => entries.join("\n"),
        Value::Bool(_) | Value::Integer(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct World {
        dir: tempfile::TempDir,
        places: Places,
    }

    impl World {
        fn new() -> Self {
            let dir = tempfile::tempdir().expect("a temporary folder");
            let home = dir.path().to_str().expect("a plain path").to_owned();
            let places = Places::from_env(&Env::of([("MYNAH_HOME", &home)]));
            fs::create_dir_all(dir.path().join("project")).expect("it can be made");
            Self { dir, places }
        }

        fn run(&self, command: ConfigCommand, scope: Scope, env: &Env) -> Result<String, String> {
            let project = self.dir.path().join("project");
            let cx = ConfigCx { places: &self.places, project: &project, env, flags: &[] };
            run(&command, scope, cx).map_err(|error| error.to_string())
        }

        fn user(&self, command: ConfigCommand) -> Result<String, String> {
            self.run(command, Scope::User, &Env::default())
        }
    }

    fn get(key: &str) -> ConfigCommand {
        ConfigCommand::Get { key: key.to_owned() }
    }

    fn set(key: &str, value: &str) -> ConfigCommand {
        ConfigCommand::Set { key: key.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn set_get_unset() {
        let world = World::new();
        let said = world.user(set("model.default", "a/b")).expect("it is allowed");
        let file = load::user_file(&world.places);
        assert_eq!(said, format!("Set `model.default` to \"a/b\" in {}.\n", file.display()));
        assert_eq!(world.user(get("model.default")), Ok("a/b\n".to_owned()));
        world.user(set("permissions.deny", "bash(rm:*), write")).expect("it is allowed");
        assert_eq!(world.user(get("permissions.deny")), Ok("bash(rm:*)\nwrite\n".to_owned()));
        let unset = ConfigCommand::Unset { key: "model.default".to_owned() };
        assert!(world.user(unset.clone()).expect("it is there").starts_with("Took"));
        assert!(world.user(unset).expect("it is no error").contains("is not set in"));
        assert_eq!(world.user(get("model.default")), Ok("\n".to_owned()));
    }

    #[test]
    fn what_is_not_allowed_changes_nothing() {
        let world = World::new();
        let wrong = |key, value| world.user(set(key, value)).expect_err("it is not allowed");
        assert_eq!(
            wrong("retry.max_attempts", "many"),
            "`retry.max_attempts` must be a whole number from 0 to 100, not `many`. Nothing was changed."
        );
        assert!(wrong("permissions.deny", "bash, Rm -rf").contains("not `Rm -rf`"));
        assert_eq!(
            wrong("model.defualt", "x"),
            "There is no setting `model.defualt`. Did you mean `model.default`? `mynah config` lists all."
        );
        assert!(!load::user_file(&world.places).exists());
    }

    #[test]
    fn a_value_that_another_layer_hides_is_told() {
        let world = World::new();
        let env = Env::of([("MYNAH_MODEL_DEFAULT", "c/d")]);
        let said = world.run(set("model.default", "a/b"), Scope::User, &env).expect("it is allowed");
        assert!(
            said.ends_with("It has no effect here: the value from `MYNAH_MODEL_DEFAULT` wins.\n"),
            "{said}"
        );
    }

    #[test]
    fn project_settings_need_trust() {
        let world = World::new();
        let env = Env::default();
        let set_in_project = || world.run(set("model.thinking", "high"), Scope::Project, &env);
        assert!(set_in_project().expect("it is allowed").contains("not trusted"));
        assert_eq!(world.user(get("model.thinking")), Ok("medium\n".to_owned()));
        assert!(world.user(ConfigCommand::List).expect("it lists").contains("`mynah config trust`"));
        world.user(ConfigCommand::Trust).expect("it can be written");
        assert_eq!(world.user(get("model.thinking")), Ok("high\n".to_owned()));
        assert_eq!(set_in_project().expect("it is allowed").lines().count(), 1);
        world.user(ConfigCommand::Untrust).expect("it can be written");
        assert_eq!(world.user(get("model.thinking")), Ok("medium\n".to_owned()));
    }

    #[test]
    fn the_list_has_every_setting_and_where_it_comes_from() {
        let world = World::new();
        let list = world
            .run(ConfigCommand::List, Scope::User, &Env::of([("MYNAH_OFFLINE", "1")]))
            .expect("it lists");
        for meta in SETTINGS {
            assert!(
                list.lines().any(|line| line.starts_with(meta.key) && line.ends_with(meta.text)),
                "{list}"
            );
        }
        let offline = list.lines().find(|line| line.starts_with("network.offline")).expect("it is listed");
        assert!(offline.contains("true") && offline.contains("MYNAH_OFFLINE"), "{offline}");
    }
}
