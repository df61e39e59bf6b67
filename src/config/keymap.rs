//! Which key does what, and where: the embedded `config/keymap.toml` with the user's over it. Dispatch, help, the
//! palette and every hint on screen read the same table.
//!
//! Invariants: within a context a key does one thing, and begins no chord if it does something by itself; where text is
//! typed no key that types is bound, or begins a chord; a wrong line of the user's file costs that line only.

use super::action::{Action, Context};
use super::chord::{self, Chord};
use super::key::Key;
use super::load::{Warning, line_of};
use super::places::Places;
use crate::proto::event::NoticeLevel;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toml_edit::{Document, Item, TomlError};

const DEFAULT: &str = include_str!("../../config/keymap.toml");

/// The keys of all actions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keymap {
    bindings: BTreeMap<(Context, Action), Vec<Chord>>,
    actions: BTreeMap<(Context, Chord), Action>,
    /// What the user's file sets.
    own: BTreeSet<(Context, Action)>,
    /// What is wrong in the user's file.
    mistakes: Vec<String>,
}

/// What the keys pressed so far mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// This is to be done.
    Action(Action),
    /// More keys are to come.
    Pending,
    /// Nothing.
    None,
}

impl Resolved {
    /// What is to be done, if anything.
    pub const fn action(self) -> Option<Action> {
        match self {
            Self::Action(action) => Some(action),
            Self::Pending | Self::None => None,
        }
    }
}

/// One line of help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelpRow {
    /// Where it holds.
    pub context: Context,
    /// What it does; its text is the one to show.
    pub action: Action,
    /// The keys, the preferred one first; none when unbound.
    pub keys: Vec<Chord>,
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
        let (mut keymap, warnings) = Self::default().patched(DEFAULT, Path::new("config/keymap.toml"));
        keymap.own.clear();
        (keymap, warnings)
    }

    /// The embedded keys with the user's over them. Nothing here can fail: what is wrong is left out and told.
    pub fn load(places: &Places) -> (Self, Vec<Warning>) {
        Self::read(places).unwrap_or_else(|error| {
            let text = format!("{error} The usual keys hold.");
            let mut keymap = Self::defaults();
            keymap.mistakes.push(text.clone());
            (keymap, vec![Warning { level: NoticeLevel::Warning, text }])
        })
    }

    /// The same for a program that runs and has a keymap.
    ///
    /// # Errors
    /// The file can't be used at all; the text says why.
    pub fn read(places: &Places) -> Result<(Self, Vec<Warning>), String> {
        let path = user_file(places);
        match fs::read_to_string(&path) {
            Ok(text) => {
                if let Err(error) = Document::parse(text.as_str()) {
                    return Err(no_toml(&text, &path, &error));
                }
                Ok(Self::defaults().patched(&text, &path))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((Self::defaults(), Vec::new())),
            Err(error) => Err(format!("{} can't be read: {error}.", path.display())),
        }
    }

    /// These keys with those of a file's text over them.
    pub fn patched(self, text: &str, path: &Path) -> (Self, Vec<Warning>) {
        let mut patch = Patch { keymap: self, text, path, set: BTreeMap::new(), warnings: Vec::new() };
        match Document::parse(text) {
            Ok(document) => patch.apply(&document),
            Err(error) => patch.warn(no_toml(text, path, &error)),
        }
        let Patch { mut keymap, set, warnings, .. } = patch;
        keymap.own = set.into_keys().collect();
        keymap.mistakes = warnings.iter().map(|warning| warning.text.clone()).collect();
        (keymap, warnings)
    }

    /// What the keys pressed so far mean when these places are asked in turn, the innermost first.
    pub fn resolve(&self, pressed: &[Key], contexts: &[Context]) -> Resolved {
        for context in contexts {
            let bound = self.of(*context).filter(|(chord, _)| chord.begins_with(pressed));
            let mut is_pending = false;
            for (chord, action) in bound {
                if chord.is(pressed) {
                    return Resolved::Action(action);
                }
                is_pending = true;
            }
            if is_pending {
                return Resolved::Pending;
            }
        }
        Resolved::None
    }

    /// What may follow on the keys pressed so far, and what it then does; what an inner place hides is left out.
    pub fn following(&self, pressed: &[Key], contexts: &[Context]) -> Vec<(Chord, Action)> {
        let mut found: Vec<(Chord, Action)> = Vec::new();
        for context in contexts {
            for (chord, action) in self.of(*context) {
                let follows = chord.begins_with(pressed) && chord.count() > pressed.len();
                if follows && !found.iter().any(|(other, _)| other.meets(chord)) {
                    found.push((chord.clone(), action));
                }
            }
        }
        found
    }

    /// What is bound in one place.
    pub fn of(&self, context: Context) -> impl Iterator<Item = (&Chord, Action)> + '_ {
        let all = self.actions.iter().filter(move |((place, _), _)| *place == context);
        all.map(|((_, chord), action)| (chord, *action))
    }

    /// The user's file says which keys an action has there.
    pub fn is_own(&self, context: Context, action: Action) -> bool {
        self.own.contains(&(context, action))
    }

    /// What is wrong in the user's file, a text each.
    pub fn mistakes(&self) -> &[String] {
        &self.mistakes
    }

    /// The keys of an action in one place, the preferred one first.
    pub fn keys(&self, context: Context, action: Action) -> &[Chord] {
        self.bindings.get(&(context, action)).map_or(&[], Vec::as_slice)
    }

    /// The key to show for an action: the preferred one where it belongs, else anywhere.
    pub fn hint(&self, action: Action) -> Option<Chord> {
        action.contexts().iter().find_map(|context| self.keys(*context, action).first().cloned())
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

    /// Takes all keys from an action in one place.
    fn unbind(&mut self, context: Context, action: Action) {
        for chord in self.bindings.insert((context, action), Vec::new()).unwrap_or_default() {
            self.actions.remove(&(context, chord));
        }
    }

    /// Takes one from an action. True if that was its last one in this place.
    fn take(&mut self, context: Context, action: Action, chord: &Chord) -> bool {
        self.actions.remove(&(context, chord.clone()));
        self.bindings.get_mut(&(context, action)).is_some_and(|chords| {
            chords.retain(|other| other != chord);
            chords.is_empty()
        })
    }
}

fn no_toml(text: &str, path: &Path, error: &TomlError) -> String {
    let line = line_of(text, error.span().map_or(0, |span| span.start));
    let message = error.message().trim().replace('\n', ", ");
    format!(
        "{}:{line}: this is no TOML: {message}. Nothing in the file is used. It was left as it is.",
        path.display()
    )
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
            self.keymap.unbind(*context, *action);
        }
        // The shorter ones first: of a key and a chord that it begins the key holds, wherever they stand in the file.
        for count in 1..=chord::LONGEST {
            for (context, action, chords) in &wanted {
                for chord in chords.iter().filter(|chord| chord.count() == count) {
                    if self.is_free(*context, *action, chord) {
                        self.keymap.actions.insert((*context, chord.clone()), *action);
                    }
                }
            }
        }
        for (context, action, mut chords) in wanted {
            chords.retain(|chord| self.keymap.actions.get(&(context, chord.clone())) == Some(&action));
            self.keymap.bindings.insert((context, action), chords);
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
    fn read(&mut self, context: Context, name: &str, item: &Item, place: &str) -> Option<Vec<Chord>> {
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
            match text.parse::<Chord>() {
                Err(error) => self.warn(format!("{place}: {error}. It was left out.")),
                Ok(key) if key.first().types_text() && context.takes_text() => self.warn(format!(
                    "{place}: `{key}` types a character in [{context}] and can't be bound there. It was left out."
                )),
                Ok(key) if keys.contains(&key) => {}
                Ok(key) => keys.push(key),
            }
        }
        (!keys.is_empty() || texts.is_empty()).then_some(keys)
    }

    /// Makes a key or chord free for an action. Two lines of one file that want the same are a mistake, and the first
    /// one holds; over the embedded keys the file wins. A key that does something by itself can't begin a chord in the
    /// same place: it would have to wait for the next one. The key holds.
    fn is_free(&mut self, context: Context, action: Action, chord: &Chord) -> bool {
        let place = self.set.get(&(context, action)).cloned().unwrap_or_default();
        let met: Vec<(Chord, Action)> = self
            .keymap
            .of(context)
            .filter(|(other, _)| other.meets(chord))
            .map(|(other, action)| (other.clone(), action))
            .collect();
        for (other, holder) in met {
            let first = self.set.get(&(context, holder)).cloned();
            let from = first.as_ref().map(|first| format!(" ({first})")).unwrap_or_default();
            if other == *chord {
                if first.is_some() {
                    self.warn(format!(
                        "{place}: `{chord}` already does `{holder}`{from}. It was left out here."
                    ));
                    return false;
                }
                if self.keymap.take(context, holder, chord) {
                    self.warn(format!(
                        "{place}: `{chord}` now does `{action}`, and `{holder}` has no key left in [{context}]."
                    ));
                }
            } else if other.count() < chord.count() {
                self.warn(format!(
                    "{place}: `{chord}` can't be reached in [{context}], because `{other}` already does \
                     `{holder}`{from}. It was left out; `{holder}` without that key would make room."
                ));
                return false;
            } else {
                self.keymap.take(context, holder, &other);
                self.warn(format!(
                    "{place}: `{chord}` now does `{action}`, so `{other}` for `{holder}`{from} can't be reached in \
                     [{context}] any more."
                ));
            }
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
