//! The picker of sessions, where they are renamed and deleted, too.

use super::frame::{Chrome, Place};
use super::picker::{self, Entry, Head, Picked, Picker, RowCx, mark};
use super::{Answer, LayerInput, LayerOutcome, cancels, hint};
use crate::config::action::{Action, Context};
use crate::text::{clean, formats};
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use crate::ui::text_field::TextField;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;
use std::path::PathBuf;
use std::time::Duration;

/// A session to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionItem {
    /// Its file.
    pub path: PathBuf,
    /// The name that somebody gave it.
    pub name: Option<String>,
    /// What it began with.
    pub first_prompt: String,
    /// Since its last entry.
    pub age: Duration,
    /// Prompts and replies.
    pub messages: Option<u64>,
    /// Where it works.
    pub cwd: PathBuf,
    /// More of what was said in it: searched for words.
    pub text: String,
    /// It is the one that is open: it can't be deleted.
    pub is_open: bool,
}

#[derive(Clone, Debug)]
struct Row {
    item: SessionItem,
    names: String,
    lower: String,
}

impl Row {
    fn new(item: SessionItem) -> Self {
        // A long first prompt fits any search; its beginning says what it is.
        let prompt: String = item.first_prompt.chars().take(200).collect();
        let name = item.name.clone().unwrap_or_default();
        let names = clean::for_line(&format!("{name} {prompt} {}", item.cwd.display()));
        let lower = format!("{} {}", item.first_prompt, item.text).to_lowercase();
        Self { item, names, lower }
    }

    fn title(&self) -> String {
        let title = match &self.item.name {
            Some(name) => clean::for_line(name),
            None => clean::for_line(&self.item.first_prompt.chars().take(500).collect::<String>()),
        };
        if title.is_empty() { "(empty)".to_owned() } else { title }
    }
}

impl Entry for Row {
    fn names(&self) -> &str {
        &self.names
    }

    fn text(&self) -> &str {
        &self.lower
    }
}

/// What the keys do now.
#[derive(Clone, Debug)]
enum Mode {
    Browse,
    Rename(PathBuf, TextField),
    Delete(PathBuf),
}

/// The picker of sessions.
#[derive(Clone, Debug)]
pub struct Sessions {
    picker: Picker<Row>,
    here: PathBuf,
    all: bool,
    by_time: bool,
    named_only: bool,
    shows_paths: bool,
    mode: Mode,
}

impl Sessions {
    /// Sessions of all folders, the newest first, and the folder one is in. Those of other folders are shown on request,
    /// and at once when there are none here.
    pub fn new(items: Vec<SessionItem>, here: PathBuf, query: &str) -> Self {
        let picker = Picker::new(Vec::new(), query);
        let mut sessions = Self {
            picker,
            here,
            all: false,
            by_time: false,
            named_only: false,
            shows_paths: false,
            mode: Mode::Browse,
        };
        sessions.set_items(items);
        sessions.all = !sessions.picker.items().iter().any(|row| row.item.cwd == sessions.here)
            && !sessions.picker.items().is_empty();
        sessions.filter();
        sessions
    }

    /// Another list, as while folders are being read. The choice stays where it was.
    pub fn set_items(&mut self, items: Vec<SessionItem>) {
        let selected = self.picker.selected().map(|row| row.item.path.clone());
        *self.picker.items_mut() = items.into_iter().map(Row::new).collect();
        self.filter();
        if let Some(selected) = selected {
            self.picker.select(|row| row.item.path == selected);
        }
    }

    /// More are on their way.
    pub const fn set_loading(&mut self, is_loading: bool) {
        self.picker.is_loading = is_loading;
    }

    fn filter(&mut self) {
        let (all, named_only) = (self.all, self.named_only);
        let here = &self.here;
        self.picker.filter(
            |row| (all || row.item.cwd == *here) && (!named_only || row.item.name.is_some()),
            !self.by_time,
        );
    }

    pub(super) const fn contexts(&self) -> &'static [Context] {
        match self.mode {
            Mode::Browse => &[Context::List, Context::Composer],
            Mode::Rename(..) => &[Context::Composer],
            Mode::Delete(_) => &[Context::Card],
        }
    }

    pub(super) fn handle(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        match &mut self.mode {
            Mode::Browse => self.browse(input),
            Mode::Rename(..) | Mode::Delete(_) if cancels(input) => {
                self.mode = Mode::Browse;
                LayerOutcome::Changed
            }
            Mode::Rename(path, field) => match input {
                LayerInput::Type(text) | LayerInput::Paste(text) => field.insert(text).into(),
                LayerInput::Act(Action::Submit | Action::Confirm) => {
                    let (path, name) = (path.clone(), field.text().trim().to_owned());
                    self.mode = Mode::Browse;
                    self.renamed(&path, &name);
                    LayerOutcome::Emit(Answer::RenameSession { path, name })
                }
                LayerInput::Act(action) => field.act(action).into(),
                LayerInput::Choice(_) | LayerInput::Wheel(_) => LayerOutcome::Unchanged,
            },
            Mode::Delete(path) => match input {
                LayerInput::Act(Action::Confirm | Action::AllowOnce) => {
                    let path = path.clone();
                    self.mode = Mode::Browse;
                    self.picker.items_mut().retain(|row| row.item.path != path);
                    self.filter();
                    LayerOutcome::Emit(Answer::DeleteSession { path })
                }
                LayerInput::Act(Action::Deny) => {
                    self.mode = Mode::Browse;
                    LayerOutcome::Changed
                }
                LayerInput::Act(action) if action.contexts().first() == Some(&Context::Global) => {
                    LayerOutcome::Ignored
                }
                _ => LayerOutcome::Unchanged,
            },
        }
    }

    fn browse(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        let selected = self.picker.selected().map(|row| (row.item.path.clone(), row.item.is_open));
        let switch = match input {
            LayerInput::Act(Action::ListScope) => &mut self.all,
            LayerInput::Act(Action::ListSort) => &mut self.by_time,
            LayerInput::Act(Action::ListNamed) => &mut self.named_only,
            LayerInput::Act(Action::ListPath) => &mut self.shows_paths,
            LayerInput::Act(Action::ListRename) => {
                let Some(row) = self.picker.selected() else { return LayerOutcome::Unchanged };
                let field = TextField::new(row.item.name.as_deref().unwrap_or_default());
                self.mode = Mode::Rename(row.item.path.clone(), field);
                return LayerOutcome::Changed;
            }
            LayerInput::Act(Action::ListDelete) => {
                let Some((path, false)) = selected else { return LayerOutcome::Unchanged };
                self.mode = Mode::Delete(path);
                return LayerOutcome::Changed;
            }
            _ => {
                let (picked, is_new_query) = self.picker.handle(input);
                if is_new_query {
                    self.filter();
                }
                return match (picked, self.picker.selected()) {
                    (Picked::Chosen, Some(row)) => LayerOutcome::Done(Answer::Session(row.item.path.clone())),
                    (other, _) => other.into(),
                };
            }
        };
        *switch = !*switch;
        self.filter();
        if let Some((path, _)) = selected {
            self.picker.select(|row| row.item.path == path);
        }
        LayerOutcome::Changed
    }

    fn renamed(&mut self, path: &PathBuf, name: &str) {
        for row in self.picker.items_mut().iter_mut().filter(|row| row.item.path == *path) {
            let mut item = row.item.clone();
            item.name = (!name.is_empty()).then(|| name.to_owned());
            *row = Row::new(item);
        }
        self.filter();
        self.picker.select(|row| row.item.path == *path);
    }

    pub(super) fn draw(
        &mut self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        let scope = if self.all { "all folders" } else { "this folder" };
        let mut rail = vec![scope];
        rail.extend(self.named_only.then_some("named"));
        rail.extend((self.by_time && !self.picker.query().is_empty()).then_some("newest first"));
        let head = Head {
            title: "Sessions".to_owned(),
            rail: rail.join(" · "),
            hints: self.hints(look),
            empty_field: "Search names and text",
            empty: "No sessions yet",
        };
        let (shows_paths, all) = (self.shows_paths, self.all);
        let mode = self.mode.clone();
        // Where the row that is renamed was drawn is known only while it is drawn.
        let caret = self.picker.draw(look, place, buffer, hits, head, |row, cx| match &mode {
            Mode::Delete(path) if *path == row.item.path => {
                let style = |role| cx.chrome.on_row(role, cx.is_selected);
                vec![
                    mark(cx, false),
                    Span::styled("Delete this session? ", style(Role::Warning)),
                    Span::styled(row.title(), style(Role::Text)),
                ]
            }
            Mode::Browse | Mode::Rename(..) | Mode::Delete(_) => line(row, look, cx, shows_paths, all),
        });
        let Mode::Rename(_, field) = &self.mode else { return caret };
        let row = self.picker.selected_row()?;
        let area = hits.areas_of(&Target::Choice(row)).last()?;
        let chrome = Chrome::new(look.theme);
        chrome.row(buffer, area, &[Span::raw(" ".repeat(usize::from(area.width)))], true);
        let label = [Span::styled(" › ", chrome.on_row(Role::Accent, true))];
        let used = paint::spans(buffer, area, &label);
        let inner = Rect { x: area.x + used, width: area.width.saturating_sub(used + 1), ..area };
        let empty = Span::styled("New name", chrome.on_row(Role::Dim, true));
        field.draw(buffer, inner, chrome.on_row(Role::Text, true), empty)
    }

    fn hints(&self, look: &Look<'_>) -> Vec<super::frame::Hint> {
        let close = |text| hint(look, Context::Global, Action::Cancel, text);
        match self.mode {
            Mode::Browse => {
                let mut hints = picker::hints(look, "open");
                hints.truncate(2);
                let scope = if self.all { "this folder" } else { "all folders" };
                let order = if self.by_time { "best first" } else { "newest first" };
                let list = |action, text| hint(look, Context::List, action, text);
                hints.push(list(Action::ListScope, scope));
                hints.push(list(Action::ListRename, "rename"));
                hints.push(list(Action::ListDelete, "delete"));
                hints.push(list(Action::ListNamed, if self.named_only { "all" } else { "named" }));
                hints.push(list(Action::ListPath, if self.shows_paths { "hide paths" } else { "paths" }));
                hints.push(list(Action::ListSort, order));
                hints
            }
            Mode::Rename(..) => vec![hint(look, Context::Composer, Action::Submit, "rename"), close("back")],
            Mode::Delete(_) => vec![hint(look, Context::Card, Action::Confirm, "delete"), close("keep")],
        }
    }
}

fn line(row: &Row, look: &Look<'_>, cx: &RowCx<'_>, shows_paths: bool, all: bool) -> Vec<Span<'static>> {
    let item = &row.item;
    let style = |role| cx.chrome.on_row(role, cx.is_selected);
    let role = if item.name.is_some() { Role::Accent } else { Role::Text };
    let left = vec![mark(cx, item.is_open), Span::styled(row.title(), style(role))];
    let mut rail = Vec::new();
    let place = match (shows_paths, all) {
        (true, _) => Some(look.path(&item.path)),
        (false, true) => Some(look.path(&item.cwd)),
        (false, false) => None,
    };
    if let Some(place) = place.filter(|_| cx.room >= 40) {
        let place = crate::text::width::cut_start(&clean::for_line(&place), cx.room / 3).into_owned();
        rail.push(Span::styled(format!("{place}  "), style(Role::Dim)));
    }
    if cx.room >= 50 {
        let messages = item.messages.map(formats::count).unwrap_or_default();
        rail.push(Span::styled(format!("{messages:>5}  "), style(Role::Dim)));
    }
    rail.push(Span::styled(format!("{:>8}", ago(item.age)), style(Role::Muted)));
    paint::left_and_rail(left, rail, cx.room, style(Role::Dim))
}

/// `now`, `5m ago`, `2h ago`, `3d ago`, `5w ago`, `2y ago`.
fn ago(age: Duration) -> String {
    const UNITS: [(u64, &str); 5] =
        [(365 * 86_400, "y"), (7 * 86_400, "w"), (86_400, "d"), (3600, "h"), (60, "m")];
    let seconds = age.as_secs();
    match UNITS.iter().find(|(unit, _)| seconds >= *unit) {
        Some((unit, name)) => format!("{}{name} ago", seconds / unit),
        None => "now".to_owned(),
    }
}
