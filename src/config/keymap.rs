//! Which key does what, and where: the embedded `config/keymap.toml` with the user's over it. Dispatch, help, the
//! palette and every hint on screen read the same table.
//!
//! Invariants: within a context a key does one thing; where text is typed no key that types is bound; a wrong line of
//! the user's file costs that line only.

use super::action::{Action, Context};
use super::key::Key;
use super::load::{Warning, line_of};
use super::places::Places;
use crate::proto::event::NoticeLevel;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item};

const DEFAULT: &str = include_str!("../../config/keymap.toml");

/// The keys of all actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keymap {
    bindings: BTreeMap<(Context, Action), Vec<Key>>,
    actions: BTreeMap<(Context, Key), Action>,
}

/// One line of help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpRow {
    /// Where it holds.
    pub context: Context,
    /// What it does; its text is the one to show.
    pub action: Action,
    /// The keys, the preferred one first; none when unbound.
    pub keys: Vec<Key>,
}

/// The user's keymap.
pub fn user_file(places: &Places) -> PathBuf {
    places.config.join("keymap.toml")
}

impl Keymap {
    /// The embedded keys.
    pub fn defaults() -> Self {
        Self::embedded().0
    }

    fn embedded() -> (Self, Vec<Warning>) {
        Self::default().patched(DEFAULT, Path::new("config/keymap.toml"))
    }

    /// The embedded keys with the user's over them. Nothing here can fail: what is wrong is left out and told.
    pub fn load(places: &Places) -> (Self, Vec<Warning>) {
        let path = user_file(places);
        let defaults = Self::defaults();
        match fs::read_to_string(&path) {
            Ok(text) => defaults.patched(&text, &path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (defaults, Vec::new()),
            Err(error) => {
                let text = format!("{} can't be read: {error}. The usual keys hold.", path.display());
                (defaults, vec![Warning { level: NoticeLevel::Warning, text }])
            }
        }
    }

    /// These keys with those of a file's text over them.
    pub fn patched(self, text: &str, path: &Path) -> (Self, Vec<Warning>) {
        let mut patch = Patch { keymap: self, text, path, set: BTreeMap::new(), warnings: Vec::new() };
        match Document::parse(text) {
            Ok(document) => patch.apply(&document),
            Err(error) => {
                let place = patch.place(error.span().map_or(0, |span| span.start));
                let message = error.message().trim().replace('\n', ", ");
                patch.warn(format!(
                    "{place}: this is no TOML: {message}. Nothing in the file is used. It was left as it is."
                ));
            }
        }
        (patch.keymap, patch.warnings)
    }

    /// What a key does when these places are asked in turn, the innermost first.
    pub fn resolve(&self, key: Key, contexts: &[Context]) -> Option<Action> {
        contexts.iter().find_map(|context| self.actions.get(&(*context, key)).copied())
    }

    /// The keys of an action in one place, the preferred one first.
    pub fn keys(&self, context: Context, action: Action) -> &[Key] {
        self.bindings.get(&(context, action)).map_or(&[], Vec::as_slice)
    }

    /// The key to show for an action: the preferred one where it belongs, else anywhere.
    pub fn hint(&self, action: Action) -> Option<Key> {
        action.contexts().iter().find_map(|context| self.keys(*context, action).first().copied())
    }

    /// All actions with their keys, by place, for help and the palette. An action that has no key anywhere stands
    /// once, where it belongs. Actions that nothing performs are left out.
    pub fn help(&self) -> Vec<HelpRow> {
        let mut rows = Vec::new();
        for context in Context::ALL {
            for action in Action::ALL.iter().copied() {
                let keys = self.keys(context, action).to_vec();
                let is_home = action.contexts().first() == Some(&context);
                if !keys.is_empty() || (is_home && self.hint(action).is_none()) {
                    rows.push(HelpRow { context, action, keys });
                }
            }
        }
        rows
    }

    fn bind(&mut self, context: Context, action: Action, keys: Vec<Key>) {
        for key in self.bindings.insert((context, action), keys.clone()).unwrap_or_default() {
            self.actions.remove(&(context, key));
        }
        for key in keys {
            self.actions.insert((context, key), action);
        }
    }

    /// Takes a key from an action. True if that was its last one in this place.
    fn take(&mut self, context: Context, action: Action, key: Key) -> bool {
        self.actions.remove(&(context, key));
        self.bindings.get_mut(&(context, action)).is_some_and(|keys| {
            keys.retain(|other| *other != key);
            keys.is_empty()
        })
    }
}

/// One file on its way into a keymap.
struct Patch<'a> {
    keymap: Keymap,
    text: &'a str,
    path: &'a Path,
    /// What this file set, and in which line.
    set: BTreeMap<(Context, Action), String>,
    warnings: Vec<Warning>,
}

impl Patch<'_> {
    fn apply(&mut self, document: &Document<&str>) {
        let mut wanted = Vec::new();
        for (name, section) in document.as_table() {
            let place = self.place(section.span().map_or(0, |span| span.start));
            let context = Context::ALL.into_iter().find(|context| context.as_str() == name);
            let (Some(context), Some(table)) = (context, section.as_table_like()) else {
                let known: Vec<_> = Context::ALL.iter().map(|context| context.as_str()).collect();
                self.warn(format!(
                    "{place}: `{name}` is no section of keys. There are {}.",
                    known.join(", ")
                ));
                continue;
            };
            for (name, item) in table.iter() {
                let place = self.place(item.span().map_or(0, |span| span.start));
                let Some(action) = self.action(name, context, &place) else { continue };
                if let Some(keys) = self.read(context, name, item, &place) {
                    self.set.insert((context, action), place);
                    wanted.push((context, action, keys));
                }
            }
        }
        // First all, then the conflicts: a key may move from one action of the file to another in any order.
        for (context, action, _) in &wanted {
            self.keymap.bind(*context, *action, Vec::new());
        }
        for (context, action, keys) in wanted {
            let keys = keys.into_iter().filter(|key| self.is_free(context, action, *key)).collect();
            self.keymap.bind(context, action, keys);
        }
    }

    fn action(&mut self, name: &str, context: Context, place: &str) -> Option<Action> {
        let Some(action) = Action::named(name) else {
            self.warn(format!("{place}: there is no action `{name}`. The help window lists all."));
            return None;
        };
        if !action.contexts().contains(&context) {
            let places: Vec<_> = action.contexts().iter().map(|context| format!("[{context}]")).collect();
            self.warn(format!(
                "{place}: `{name}` does nothing in [{context}]; it belongs in {}.",
                places.join(" or ")
            ));
            return None;
        }
        Some(action)
    }

    /// The keys of one line. A line without one good key is no line, unless it is an empty list.
    fn read(&mut self, context: Context, name: &str, item: &Item, place: &str) -> Option<Vec<Key>> {
        let texts: Option<Vec<&str>> = match (item.as_str(), item.as_array()) {
            (Some(text), _) => Some(vec![text]),
            (None, Some(array)) => array.iter().map(toml_edit::Value::as_str).collect(),
            (None, None) => None,
        };
        let Some(texts) = texts else {
            self.warn(format!(
                "{place}: `{name}` must be a key like \"ctrl+g\" or a list of keys. The usual keys hold."
            ));
            return None;
        };
        let mut keys = Vec::new();
        for text in &texts {
            match text.parse::<Key>() {
                Err(error) => self.warn(format!("{place}: {error}. It was left out.")),
                Ok(key) if key.types_text() && context.takes_text() => self.warn(format!(
                    "{place}: `{key}` types a character in [{context}] and can't be bound there. It was left out."
                )),
                Ok(key) if keys.contains(&key) => {}
                Ok(key) => keys.push(key),
            }
        }
        (!keys.is_empty() || texts.is_empty()).then_some(keys)
    }

    /// Makes a key free for an action. Two lines of one file that want the same key are a mistake, and the first one
    /// holds; over the embedded keys the file wins.
    fn is_free(&mut self, context: Context, action: Action, key: Key) -> bool {
        let Some(holder) = self.keymap.actions.get(&(context, key)).copied() else { return true };
        let place = self.set.get(&(context, action)).cloned().unwrap_or_default();
        if let Some(first) = self.set.get(&(context, holder)) {
            let text = format!("{place}: `{key}` already does `{holder}` ({first}). It was left out here.");
            self.warn(text);
            return false;
        }
        if self.keymap.take(context, holder, key) {
            self.warn(format!(
                "{place}: `{key}` now does `{action}`, and `{holder}` has no key left in [{context}]."
            ));
        }
        true
    }

    fn place(&self, offset: usize) -> String {
        format!("{}:{}", self.path.display(), line_of(self.text, offset))
    }

    fn warn(&mut self, text: String) {
        self.warnings.push(Warning { level: NoticeLevel::Warning, text });
    }
}

#[cfg(test)]
#[path = "keymap_tests.rs"]
mod tests;
