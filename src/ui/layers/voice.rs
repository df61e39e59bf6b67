//! The lists of dictation: what can be done, and which microphone, model or language to use.

use super::frame::Place;
use super::picker::{Entry, Head, Picked, Picker, RowCx, mark};
use super::{Answer, LayerInput, LayerOutcome};
use crate::text::clean;
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::text::Span;

/// From this room on a row has a text beside its name.
const ROOM_FOR_TEXT: usize = 60;
/// Columns between a name and what stands at the right, and behind that.
const BESIDE_RAIL: usize = 3;

/// Which list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoicePage {
    /// What can be done.
    Menu,
    /// Which microphone.
    Microphones,
    /// Which model.
    Models,
    /// Which language.
    Languages,
}

/// What a row does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VoiceChoice {
    /// Opens another list.
    Page(VoicePage),
    /// Writes down what there is.
    Status,
    /// Loads the model, and offers it where it is missing.
    SetUp,
    /// Frees the model's memory.
    Unload,
    /// Transcribes the recording that failed once more.
    Retry,
    /// Stops a download.
    StopFetching,
    /// Texts are corrected from now on, or not.
    Cleanup(bool),
    /// Listens to this one; empty for the system's default.
    Microphone(String),
    /// Uses this one.
    Model {
        /// Its name in the table, or its path; empty to go by the memory.
        name: String,
        /// Its files are here.
        is_here: bool,
    },
    /// Hears this one.
    Language(String),
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoiceItem {
    /// What it does.
    pub choice: VoiceChoice,
    /// Its name.
    pub name: String,
    /// Beside the name, where there is room.
    pub text: String,
    /// At the right.
    pub rail: String,
    /// It is in use.
    pub is_current: bool,
    /// Why it can't be chosen.
    pub problem: Option<String>,
}

impl VoiceItem {
    /// A row with nothing but a name.
    pub fn new(choice: VoiceChoice, name: &str) -> Self {
        Self {
            choice,
            name: clean::for_line(name),
            text: String::new(),
            rail: String::new(),
            is_current: false,
            problem: None,
        }
    }
}

impl Entry for VoiceItem {
    fn names(&self) -> &str {
        &self.name
    }

    fn is_usable(&self) -> bool {
        self.problem.is_none()
    }
}

/// One of the lists.
#[derive(Clone, Debug)]
pub struct VoicePicker {
    page: VoicePage,
    picker: Picker<VoiceItem>,
}

impl VoicePicker {
    /// A list, with the choice on what is in use.
    pub fn new(page: VoicePage, items: Vec<VoiceItem>) -> Self {
        let mut picker = Picker::new(items, "");
        picker.filter(|_| true, false);
        picker.select(|item| item.is_current);
        Self { page, picker }
    }

    /// Which list it is.
    pub const fn page(&self) -> VoicePage {
        self.page
    }

    /// More is on its way.
    pub const fn set_loading(&mut self, is_loading: bool) {
        self.picker.is_loading = is_loading;
    }

    /// Other rows. The choice stays on the same one.
    pub fn set_items(&mut self, items: Vec<VoiceItem>) {
        let selected = self.picker.selected().map(|item| item.name.clone());
        *self.picker.items_mut() = items;
        self.filter();
        match selected {
            Some(name) => self.picker.select(|item| item.name == name),
            None => self.picker.select(|item| item.is_current),
        }
    }

    fn filter(&mut self) {
        let is_searched = !self.picker.query().trim().is_empty();
        self.picker.filter(|_| true, is_searched);
    }

    pub(super) fn handle(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        let (picked, is_new_query) = self.picker.handle(input);
        if is_new_query {
            self.filter();
        }
        match (picked, self.picker.selected()) {
            (Picked::Chosen, Some(item)) if item.is_usable() => {
                LayerOutcome::Done(Answer::Voice(item.choice.clone()))
            }
            (Picked::Chosen, _) => LayerOutcome::Changed,
            (other, _) => other.into(),
        }
    }

    pub(super) fn draw(
        &mut self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        let head = match self.page {
            VoicePage::Menu => Head::plain(look, "Dictation", "choose", "Nothing to choose"),
            VoicePage::Microphones => Head::plain(look, "Microphones", "use", "No microphones"),
            VoicePage::Models => Head::plain(look, "Speech models", "use", "No speech models"),
            VoicePage::Languages => Head::plain(look, "Language", "use", "No languages"),
        };
        self.picker.draw(look, place, buffer, hits, head, line)
    }
}

fn line(item: &VoiceItem, cx: &RowCx<'_>) -> Vec<Span<'static>> {
    let style = |role| cx.chrome.on_row(role, cx.is_selected);
    let name = style(if item.is_usable() { Role::Text } else { Role::Dim });
    let mut left = vec![mark(cx, item.is_current), Span::styled(item.name.clone(), name)];
    // What is told at the right is cut before a name is.
    let rail = vec![Span::styled(clean::for_line(&item.rail), style(Role::Muted))];
    let rail =
        paint::cut(rail, cx.room.saturating_sub(paint::columns(&left) + BESIDE_RAIL), style(Role::Dim));
    if let Some(problem) = &item.problem {
        left.push(Span::styled(format!("  {}", clean::for_line(problem)), style(Role::Muted)));
    } else if !item.text.is_empty() && cx.room >= ROOM_FOR_TEXT {
        left.push(Span::styled(format!("  {}", clean::for_line(&item.text)), style(Role::Dim)));
    }
    paint::left_and_rail(left, rail, cx.room, style(Role::Dim))
}
