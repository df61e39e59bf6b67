//! A list with a search above it: what all pickers and the palette are made of.
//!
//! Invariants: what is selected is one of the rows shown, unless there are none; it is always in view.

use super::frame::{self, Chrome, Hint, Place, Window};
use super::{LayerInput, hint, pair};
use crate::config::action::{Action, Context};
use crate::text::formats;
use crate::theme::role::Role;
use crate::ui::composer::rank;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use crate::ui::text_field::{Edit, TextField};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;

/// Rows that the wheel moves at most in one input.
const MOST_WHEEL: i32 = 100;

/// What a name that begins with the search is worth more than one in which it stands somewhere.
const BEGINS: i32 = 20;

/// Something that can be chosen.
pub(super) trait Entry {
    /// What a search is matched with, its characters in order.
    fn names(&self) -> &str;

    /// Longer text, in which a search must stand as it is. In lower case.
    fn text(&self) -> &str {
        ""
    }

    /// It can be chosen; what can't comes last.
    fn is_usable(&self) -> bool {
        true
    }
}

/// What an input did to the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Picked {
    Ignored,
    Unchanged,
    Changed,
    /// The selected one is to be taken.
    Chosen,
}

/// The list. `T` is one of its rows.
#[derive(Clone, Debug)]
pub(super) struct Picker<T> {
    items: Vec<T>,
    /// Items that fit the search, in order.
    shown: Vec<usize>,
    field: TextField,
    selected: usize,
    top: usize,
    /// Rows in view when it was drawn last.
    rows: usize,
    pub is_loading: bool,
}

/// A row that is drawn.
pub(super) struct RowCx<'a> {
    pub chrome: &'a Chrome<'a>,
    /// Columns.
    pub room: usize,
    pub is_selected: bool,
}

impl<T: Entry> Picker<T> {
    pub fn new(items: Vec<T>, query: &str) -> Self {
        let field = TextField::new(query);
        let mut picker =
            Self { items, shown: Vec::new(), field, selected: 0, top: 0, rows: 1, is_loading: false };
        picker.filter(|_| true, true);
        picker
    }

    pub fn items(&self) -> &[T] {
        &self.items
    }

    pub fn items_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }

    pub fn query(&self) -> &str {
        self.field.text()
    }

    /// Shows what fits the search and `wanted`; best first, or in the order in which they came.
    pub fn filter(&mut self, wanted: impl Fn(&T) -> bool, best_first: bool) {
        let query = self.field.text().trim();
        let lower = query.to_lowercase();
        let start = lower.trim_start_matches('/');
        let phrase = lower.strip_prefix('"').map(|rest| rest.trim_end_matches('"'));
        let mut ranked: Vec<(bool, i32, usize)> = Vec::new();
        for (index, item) in self.items.iter().enumerate() {
            let score = if query.is_empty() {
                Some(0)
            } else if let Some(phrase) = phrase {
                (item.names().to_lowercase().contains(phrase) || item.text().contains(phrase)).then_some(0)
            } else {
                // Anything fits into a long text; there only the words themselves count, and less than a name.
                let names = item.names().trim_start_matches('/');
                let begins = !start.is_empty()
                    && names.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
                rank::score(query, item.names())
                    .map(|score| if begins { score + BEGINS } else { score })
                    .or_else(|| (item.text().contains(&lower)).then_some(i32::MIN / 2))
            };
            if let Some(score) = score.filter(|_| wanted(item)) {
                ranked.push((!item.is_usable(), if best_first { -score } else { 0 }, index));
            }
        }
        ranked.sort_unstable();
        self.shown = ranked.into_iter().map(|(_, _, index)| index).collect();
        self.selected = self.selected.min(self.shown.len().saturating_sub(1));
    }

    /// The item on which the choice stands.
    pub fn selected(&self) -> Option<&T> {
        self.items.get(self.selected_index()?)
    }

    pub fn selected_index(&self) -> Option<usize> {
        self.shown.get(self.selected).copied()
    }

    /// Puts the choice on the first item like this.
    pub fn select(&mut self, wanted: impl Fn(&T) -> bool) {
        let fits = |index: &usize| self.items.get(*index).is_some_and(&wanted);
        if let Some(at) = self.shown.iter().position(fits) {
            self.selected = at;
        }
    }

    /// Takes an input. After `Changed` with another query, the owner filters anew: the second value says so.
    pub fn handle(&mut self, input: LayerInput<'_>) -> (Picked, bool) {
        let edit = match input {
            LayerInput::Type(text) | LayerInput::Paste(text) => self.field.insert(text),
            LayerInput::Choice(row) if row < self.shown.len() => {
                self.selected = row;
                return (Picked::Chosen, false);
            }
            LayerInput::Choice(_) => return (Picked::Unchanged, false),
            LayerInput::Wheel(rows) => {
                // The choice goes along, as it must stay in view.
                return (self.go(rows.clamp(-MOST_WHEEL, MOST_WHEEL) as isize, false), false);
            }
            LayerInput::Act(action) => {
                let page = isize::try_from(self.rows.max(2) - 1).unwrap_or(1);
                match action {
                    Action::ListUp | Action::Up | Action::ScrollUp => return (self.go(-1, true), false),
                    Action::ListDown | Action::Down | Action::ScrollDown => {
                        return (self.go(1, true), false);
                    }
                    Action::ListPageUp | Action::PageUp => return (self.go(-page, false), false),
                    Action::ListPageDown | Action::PageDown => return (self.go(page, false), false),
                    Action::TextStart => return (self.go(isize::MIN / 2, false), false),
                    Action::TextEnd => return (self.go(isize::MAX / 2, false), false),
                    Action::Confirm | Action::Submit if self.selected().is_some() => {
                        return (Picked::Chosen, false);
                    }
                    Action::Confirm | Action::Submit => return (Picked::Unchanged, false),
                    _ => self.field.act(action),
                }
            }
        };
        match edit {
            Edit::Ignored => (Picked::Ignored, false),
            Edit::Unchanged => (Picked::Unchanged, false),
            Edit::Moved => (Picked::Changed, false),
            Edit::Edited => {
                (self.selected, self.top) = (0, 0);
                (Picked::Changed, true)
            }
        }
    }

    /// Moves the choice. A single step past an end goes on at the other one.
    fn go(&mut self, delta: isize, wraps: bool) -> Picked {
        let last = self.shown.len().saturating_sub(1);
        let before = self.selected;
        self.selected = match (wraps, delta) {
            (true, ..=-1) if before == 0 => last,
            (true, 1..) if before >= last => 0,
            _ => frame::step(before, delta, self.shown.len()),
        };
        if self.selected == before { Picked::Unchanged } else { Picked::Changed }
    }

    /// `3 of 120`.
    pub fn count(&self) -> String {
        let number = |count: usize| formats::count(u64::try_from(count).unwrap_or(u64::MAX));
        match (self.shown.len(), self.items.len()) {
            (_, 0) => String::new(),
            (shown, all) if shown == all => number(all),
            (shown, all) => format!("{} of {}", number(shown), number(all)),
        }
    }

    /// Draws the whole layer; the caret stands in the search.
    pub fn draw(
        &mut self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
        head: Head,
        row: impl Fn(&T, &RowCx<'_>) -> Vec<Span<'static>>,
    ) -> Option<Position> {
        let chrome = Chrome::new(look.theme);
        let mut rail = head.rail;
        let count = self.count();
        if !count.is_empty() {
            if !rail.is_empty() {
                rail.push_str(" · ");
            }
            rail.push_str(&count);
        }
        let window = Window {
            title: vec![Span::styled(head.title, chrome.on_bar(Role::ToolTitle).add_modifier(BOLD))],
            rail: vec![Span::styled(rail, chrome.on_bar(Role::Muted))],
            hints: head.hints,
            // By all items: a window that shrinks while one types jumps about.
            rows: self.items.len().max(3) + 1,
            columns: 100,
        };
        let mut body = window.draw(&chrome, place, buffer, hits);
        let mut caret = None;
        if body.height >= 2 {
            caret = self.draw_field(&chrome, body, buffer, head.empty_field);
            body = Rect { y: body.y + 1, height: body.height - 1, ..body };
        }
        self.rows = usize::from(body.height);
        self.top = frame::keep_in_view(self.top, self.selected, self.rows, self.shown.len());
        if self.shown.is_empty() {
            let text = match (self.is_loading, self.items.is_empty()) {
                (true, _) => "Loading…",
                (false, true) => head.empty,
                (false, false) => "Nothing fits",
            };
            let spans = vec![Span::raw("   "), Span::styled(text, chrome.on(Role::Muted))];
            paint::spans(buffer, body, &paint::cut(spans, usize::from(body.width), chrome.on(Role::Dim)));
            return caret;
        }
        let has_bar = self.shown.len() > self.rows;
        let rows = self.shown.iter().enumerate().skip(self.top).take(self.rows);
        for (line, (at, index)) in rows.enumerate() {
            let Some(item) = self.items.get(*index) else { continue };
            let y = body.y + u16::try_from(line).unwrap_or(u16::MAX);
            let area =
                Rect { y, height: 1, width: body.width - u16::from(has_bar && body.width > 4), ..body };
            let room = usize::from(area.width);
            let is_selected = at == self.selected;
            let spans = row(item, &RowCx { chrome: &chrome, room, is_selected });
            chrome.row(
                buffer,
                area,
                &paint::cut(spans, room, chrome.on_row(Role::Dim, is_selected)),
                is_selected,
            );
            hits.push(area, place.level, Target::Choice(at));
        }
        chrome.scrollbar(buffer, body, self.top, self.shown.len());
        caret
    }

    /// The place of the choice among the rows shown: its target is [`Target::Choice`] of it.
    pub fn selected_row(&self) -> Option<usize> {
        (!self.shown.is_empty()).then_some(self.selected)
    }

    fn draw_field(
        &self,
        chrome: &Chrome<'_>,
        body: Rect,
        buffer: &mut Buffer,
        empty: &'static str,
    ) -> Option<Position> {
        let mark = [Span::raw(" "), Span::styled("›", chrome.on(Role::Accent)), Span::raw(" ")];
        let used = paint::spans(buffer, body, &mark);
        // One column stays free at the right.
        let area = Rect { x: body.x + used, width: body.width.saturating_sub(used + 1), height: 1, ..body };
        self.field.draw(buffer, area, chrome.on(Role::Text), Span::styled(empty, chrome.on(Role::Dim)))
    }
}

pub(super) const BOLD: ratatui::style::Modifier = ratatui::style::Modifier::BOLD;

/// What stands around a list.
pub(super) struct Head {
    pub title: String,
    /// Before the count.
    pub rail: String,
    pub hints: Vec<Hint>,
    /// In the empty search.
    pub empty_field: &'static str,
    /// In the empty list.
    pub empty: &'static str,
}

/// The keys that all lists have.
pub(super) fn hints(look: &Look<'_>, choose: &'static str) -> Vec<Hint> {
    vec![
        hint(look, Context::List, Action::Confirm, choose),
        hint(look, Context::Global, Action::Cancel, "close"),
        pair(look, Context::List, (Action::ListUp, Action::ListDown), "move"),
    ]
}

impl Head {
    /// That of a list with nothing before its count; `does` is what a choice does.
    pub fn plain(look: &Look<'_>, title: &str, does: &'static str, empty: &'static str) -> Self {
        Self {
            title: title.to_owned(),
            rail: String::new(),
            hints: hints(look, does),
            empty_field: "Search",
            empty,
        }
    }
}

/// The mark of what is in use now, at the left of a row.
pub(super) fn mark(cx: &RowCx<'_>, is_current: bool) -> Span<'static> {
    Span::styled(if is_current { " ● " } else { "   " }, cx.chrome.on_row(Role::Accent, cx.is_selected))
}
