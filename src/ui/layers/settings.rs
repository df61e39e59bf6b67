//! The settings: what holds, where it comes from, and changing it.
//!
//! Three ways to take keys: in the list letters are keys of [`Context::Settings`], any other letter begins a search; in
//! the search and in the line of a value all is typed. `view` is how it looks. Not here: writing a change. It is emitted, and the owner tells the
//! screen with [`Settings::loaded`] what holds then.

mod view;

use super::frame;
use super::{Answer, LayerInput, LayerOutcome, cancels};
use crate::config::action::{Action, Context};
use crate::config::check::{Kind, Value};
use crate::config::load::{self, Loaded, Origin};
use crate::config::settings::{SETTINGS, SettingMeta, Values};
use crate::text::clean;
use crate::ui::composer::rank;
use crate::ui::text_field::{Edit, TextField};
use std::collections::BTreeSet;

/// Rows that the wheel moves at most in one input.
const MOST_WHEEL: i32 = 100;

/// One setting as it is shown.
#[derive(Clone, Debug)]
struct Item {
    meta: &'static SettingMeta,
    /// What holds.
    value: Value,
    /// What a change starts from: the user's own value, else the default.
    base: Value,
    default: Value,
    origin: Origin,
    is_own: bool,
}

/// What takes the keys.
#[derive(Clone, Debug)]
enum Mode {
    List,
    Search,
    /// The line of the selected setting's value.
    Line(TextField),
}

/// The settings.
#[derive(Clone, Debug)]
pub struct Settings {
    items: Vec<Item>,
    /// Items that fit the search.
    shown: Vec<usize>,
    field: TextField,
    mode: Mode,
    selected: usize,
    top: usize,
    /// Rows of the list when it was drawn last.
    rows: usize,
    /// What was changed here.
    changed: BTreeSet<&'static str>,
    /// Why the last change was not written.
    problem: Option<String>,
}

impl Settings {
    /// The screen with what holds now.
    pub fn new(loaded: &Loaded) -> Self {
        let mut settings = Self {
            items: items(loaded),
            shown: Vec::new(),
            field: TextField::default(),
            mode: Mode::List,
            selected: 0,
            top: 0,
            rows: 1,
            changed: BTreeSet::new(),
            problem: None,
        };
        settings.filter();
        settings
    }

    /// What holds has changed. `key` names what was changed here.
    pub fn loaded(&mut self, loaded: &Loaded, key: Option<&str>) {
        self.items = items(loaded);
        self.problem = None;
        self.changed.extend(SETTINGS.iter().map(|meta| meta.key).filter(|known| Some(*known) == key));
    }

    /// A change could not be written.
    pub fn failed(&mut self, why: &str) {
        self.problem = Some(clean::for_line(why));
    }

    pub(super) const fn contexts(&self) -> &'static [Context] {
        match self.mode {
            Mode::List => &[Context::Settings],
            Mode::Search => &[Context::List, Context::Composer],
            Mode::Line(_) => &[Context::Composer],
        }
    }

    pub(super) fn handle(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        if input == LayerInput::Act(Action::Settings) {
            return LayerOutcome::Closed;
        }
        match input {
            LayerInput::Choice(at) if at < self.shown.len() => return self.click(at),
            LayerInput::Choice(_) => return LayerOutcome::Unchanged,
            LayerInput::Wheel(rows) => return self.go(rows.clamp(-MOST_WHEEL, MOST_WHEEL) as isize),
            LayerInput::Act(_) | LayerInput::Type(_) | LayerInput::Paste(_) => {}
        }
        match self.mode {
            Mode::List => self.in_list(input),
            Mode::Search => self.in_search(input),
            Mode::Line(_) => self.in_line(input),
        }
    }

    fn click(&mut self, at: usize) -> LayerOutcome {
        let is_second = self.selected == at && matches!(self.mode, Mode::List);
        self.mode = Mode::List;
        self.selected = at;
        if is_second { self.change() } else { LayerOutcome::Changed }
    }

    fn in_list(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        if cancels(input) {
            if self.field.is_empty() {
                return LayerOutcome::Closed;
            }
            return self.search_for(|field| field.clear());
        }
        let page = isize::try_from(self.rows.max(2) - 1).unwrap_or(1);
        match input {
            LayerInput::Type(text) | LayerInput::Paste(text) => {
                self.mode = Mode::Search;
                self.search_for(|field| field.insert(text))
            }
            LayerInput::Act(action) => match action {
                Action::ListUp | Action::ScrollUp => self.go(-1),
                Action::ListDown | Action::ScrollDown => self.go(1),
                Action::ListPageUp | Action::PageUp => self.go(-page),
                Action::ListPageDown | Action::PageDown => self.go(page),
                Action::Top => self.go(isize::MIN / 2),
                Action::Bottom => self.go(isize::MAX / 2),
                Action::SettingChange | Action::Confirm => self.change(),
                Action::SettingNext => self.cycle(1),
                Action::SettingPrevious => self.cycle(-1),
                Action::SettingReset => self.reset(),
                Action::SettingSearch => {
                    self.mode = Mode::Search;
                    LayerOutcome::Changed
                }
                _ => LayerOutcome::Ignored,
            },
            LayerInput::Choice(_) | LayerInput::Wheel(_) => LayerOutcome::Unchanged,
        }
    }

    fn in_search(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        if cancels(input) {
            self.mode = Mode::List;
            self.search_for(|field| field.clear());
            return LayerOutcome::Changed;
        }
        match input {
            LayerInput::Type(text) | LayerInput::Paste(text) => self.search_for(|field| field.insert(text)),
            LayerInput::Act(Action::Confirm | Action::Submit | Action::ListScope | Action::Complete) => {
                self.mode = Mode::List;
                LayerOutcome::Changed
            }
            LayerInput::Act(action @ (Action::ListUp | Action::Up | Action::ListDown | Action::Down)) => {
                self.mode = Mode::List;
                let is_up = matches!(action, Action::ListUp | Action::Up);
                self.go(if is_up { -1 } else { 1 });
                LayerOutcome::Changed
            }
            LayerInput::Act(action) => self.search_for(|field| field.act(action)),
            LayerInput::Choice(_) | LayerInput::Wheel(_) => LayerOutcome::Unchanged,
        }
    }

    fn in_line(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        if cancels(input) {
            self.mode = Mode::List;
            return LayerOutcome::Changed;
        }
        let Mode::Line(field) = &mut self.mode else { return LayerOutcome::Unchanged };
        match input {
            LayerInput::Type(text) => field.insert(text).into(),
            LayerInput::Paste(text) => field.insert(text.trim_end_matches(['\r', '\n'])).into(),
            LayerInput::Act(Action::Submit | Action::Confirm) => {
                let text = field.text().trim().to_owned();
                let Some(meta) = self.item().map(|item| item.meta) else { return LayerOutcome::Unchanged };
                if mistake(meta.kind, &text).is_some() {
                    return LayerOutcome::Unchanged;
                }
                self.mode = Mode::List;
                set(meta, text)
            }
            LayerInput::Act(action) => field.act(action).into(),
            LayerInput::Choice(_) | LayerInput::Wheel(_) => LayerOutcome::Unchanged,
        }
    }

    /// Changes the search, and shows what fits.
    fn search_for(&mut self, change: impl FnOnce(&mut TextField) -> Edit) -> LayerOutcome {
        let edit = change(&mut self.field);
        if edit == Edit::Edited {
            self.filter();
        }
        match edit {
            // The search was begun by this key, which is seen.
            Edit::Unchanged => LayerOutcome::Changed,
            other => other.into(),
        }
    }

    fn filter(&mut self) {
        let kept = self.shown.get(self.selected).copied();
        let query = self.field.text().trim().to_lowercase();
        let fits = |item: &Item| {
            query.is_empty()
                || item.meta.text.to_lowercase().contains(&query)
                || rank::score(&query, item.meta.key).is_some()
        };
        self.shown =
            self.items.iter().enumerate().filter(|(_, item)| fits(item)).map(|(index, _)| index).collect();
        let at = self.shown.iter().position(|index| Some(*index) == kept).filter(|_| query.is_empty());
        self.selected = at.unwrap_or(0);
    }

    fn item(&self) -> Option<&Item> {
        self.items.get(*self.shown.get(self.selected)?)
    }

    fn go(&mut self, delta: isize) -> LayerOutcome {
        if matches!(self.mode, Mode::Line(_)) {
            return LayerOutcome::Unchanged;
        }
        let before = self.selected;
        self.selected = frame::step(before, delta, self.shown.len());
        if before == self.selected { LayerOutcome::Unchanged } else { LayerOutcome::Changed }
    }

    fn change(&mut self) -> LayerOutcome {
        let Some(item) = self.item() else { return LayerOutcome::Unchanged };
        match item.meta.kind {
            Kind::Bool | Kind::Choice(_) => self.cycle(1),
            Kind::Text | Kind::Integer { .. } | Kind::List | Kind::Rules | Kind::Verbs => {
                self.mode = Mode::Line(TextField::new(&written(&item.base)));
                LayerOutcome::Changed
            }
        }
    }

    fn cycle(&self, delta: isize) -> LayerOutcome {
        let Some(item) = self.item() else { return LayerOutcome::Unchanged };
        match (item.meta.kind, &item.base) {
            (Kind::Bool, Value::Bool(on)) => set(item.meta, (!on).to_string()),
            (Kind::Choice(words), Value::Text(now)) => {
                let count = isize::try_from(words.len()).unwrap_or(1).max(1);
                let at = words.iter().position(|word| word == now).and_then(|at| isize::try_from(at).ok());
                let next = usize::try_from((at.unwrap_or(-1) + delta).rem_euclid(count)).unwrap_or(0);
                words.get(next).map_or(LayerOutcome::Unchanged, |word| set(item.meta, (*word).to_owned()))
            }
            (_, _) => LayerOutcome::Unchanged,
        }
    }

    fn reset(&self) -> LayerOutcome {
        match self.item() {
            Some(item) if item.is_own => LayerOutcome::Emit(Answer::ResetSetting { key: item.meta.key }),
            Some(_) | None => LayerOutcome::Unchanged,
        }
    }
}

fn items(loaded: &Loaded) -> Vec<Item> {
    let defaults: Values = load::defaults();
    let item = |meta: &'static SettingMeta| {
        let default = defaults.get(meta.key)?.clone();
        let own = loaded.own.get(meta.key);
        Some(Item {
            meta,
            value: loaded.values.get(meta.key).unwrap_or(&default).clone(),
            base: own.unwrap_or(&default).clone(),
            origin: loaded.origins.get(meta.key).cloned().unwrap_or(Origin::Default),
            is_own: own.is_some(),
            default,
        })
    };
    SETTINGS.iter().filter_map(item).collect()
}

fn set(meta: &'static SettingMeta, value: String) -> LayerOutcome {
    LayerOutcome::Emit(Answer::Setting { key: meta.key, value })
}

/// Section and name.
fn parts(meta: &SettingMeta) -> (&'static str, &'static str) {
    meta.key.split_once('.').unwrap_or(("", meta.key))
}

/// A value as it can be written on a line.
fn written(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        // Commas are what parts the entries.
        Value::List(entries) if entries.iter().any(|entry| entry.contains(',')) => value.to_string(),
        Value::List(entries) => entries.join(", "),
        Value::Bool(_) | Value::Integer(_) => value.to_string(),
    }
}

/// What is wrong with a text.
fn mistake(kind: Kind, text: &str) -> Option<String> {
    match kind.parse(text) {
        None => Some(format!("This must be {kind}.")),
        Some(checked) => {
            let refused = checked.refused.first()?;
            Some(format!("`{}` can't stand here: this must be {kind}.", clean::for_line(refused)))
        }
    }
}
