//! The picker of themes: each is shown while the choice stands on it.

use super::frame::Place;
use super::picker::{Entry, Head, Picked, Picker, mark};
use super::{Answer, LayerInput, LayerOutcome, cancels};
use crate::text::clean;
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::text::Span;

/// A theme to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThemeItem {
    /// Its name.
    pub name: String,
    /// Where it comes from, or what is special: `built in`.
    pub detail: String,
}

impl Entry for ThemeItem {
    fn names(&self) -> &str {
        &self.name
    }
}

/// The picker of themes.
#[derive(Clone, Debug)]
pub struct Themes {
    picker: Picker<ThemeItem>,
    /// What was in use when it opened.
    former: String,
    /// What is shown now.
    shown: String,
}

impl Themes {
    /// All themes and the name of the one in use.
    pub fn new(items: Vec<ThemeItem>, current: &str) -> Self {
        let mut picker = Picker::new(items, "");
        picker.select(|item| item.name == current);
        Self { picker, former: current.to_owned(), shown: current.to_owned() }
    }

    pub(super) fn handle(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        if cancels(input) {
            return if self.shown == self.former {
                LayerOutcome::Closed
            } else {
                LayerOutcome::Done(Answer::Theme { name: self.former.clone(), preview: true })
            };
        }
        let (picked, is_new_query) = self.picker.handle(input);
        if is_new_query {
            self.picker.filter(|_| true, true);
        }
        let Some(name) = self.picker.selected().map(|item| item.name.clone()) else { return picked.into() };
        match picked {
            Picked::Chosen => LayerOutcome::Done(Answer::Theme { name, preview: false }),
            Picked::Changed if name != self.shown => {
                self.shown.clone_from(&name);
                LayerOutcome::Emit(Answer::Theme { name, preview: true })
            }
            other => other.into(),
        }
    }

    pub(super) fn draw(
        &mut self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        let head = Head::plain(look, "Themes", "use", "No themes");
        let former = self.former.clone();
        self.picker.draw(look, place, buffer, hits, head, |item, cx| {
            let style = |role| cx.chrome.on_row(role, cx.is_selected);
            let left = vec![
                mark(cx, item.name == former),
                Span::styled(clean::for_line(&item.name), style(Role::Text)),
            ];
            let rail = vec![Span::styled(clean::for_line(&item.detail), style(Role::Muted))];
            paint::left_and_rail(left, rail, cx.room, style(Role::Dim))
        })
    }
}
