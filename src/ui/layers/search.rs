//! The bar in which one looks for something in the transcript: a row at its bottom. What is found is the pane's business.

use super::frame::{Chrome, Hint, Place};
use super::{Answer, LayerInput, LayerOutcome, hint, pair};
use crate::config::action::{Action, Context};
use crate::text::width;
use crate::theme::role::Role;
use crate::transcript::search::{Query, Way};
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::pane::SearchStatus;
use crate::ui::target::Target;
use crate::ui::text_field::{Edit, TextField};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::Span;

/// Columns that are kept for what is typed.
const LEAST_FIELD: usize = 12;

/// What is to be done with the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchStep {
    /// Look for this.
    Find(Query),
    /// To another match.
    Walk(Way),
    /// Leave the bar and read at the match.
    Accept,
    /// End it.
    End,
}

/// The bar.
#[derive(Clone, Debug)]
pub struct SearchBar {
    field: TextField,
    is_regex: bool,
    status: SearchStatus,
}

impl SearchBar {
    /// A bar with what is looked for already.
    pub fn new(query: &Query) -> Self {
        Self { field: TextField::new(&query.text), is_regex: query.is_regex, status: SearchStatus::default() }
    }

    /// Tells it what was found so far.
    pub fn set_status(&mut self, status: SearchStatus) {
        self.status = status;
    }

    fn find(&self) -> LayerOutcome {
        let query = Query { text: self.field.text().to_owned(), is_regex: self.is_regex };
        LayerOutcome::Emit(Answer::Search(SearchStep::Find(query)))
    }

    pub(super) fn handle(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        let walk = |way| LayerOutcome::Emit(Answer::Search(SearchStep::Walk(way)));
        let edit = match input {
            LayerInput::Type(text) => self.field.insert(text),
            // A line that was copied often brings its line break along.
            LayerInput::Paste(text) => self.field.insert(text.trim_end_matches(['\r', '\n'])),
            LayerInput::Act(action) => match action {
                Action::SearchNext | Action::Search => return walk(Way::Next),
                Action::SearchPrevious => return walk(Way::Previous),
                Action::SearchRegex => {
                    self.is_regex = !self.is_regex;
                    return self.find();
                }
                Action::SearchAccept => return LayerOutcome::Done(Answer::Search(SearchStep::Accept)),
                Action::SearchCancel | Action::Cancel | Action::Interrupt => {
                    return LayerOutcome::Done(Answer::Search(SearchStep::End));
                }
                Action::SearchErase => self.field.act(Action::DeleteBack),
                // The prompt is not what is edited now.
                Action::Editor => return LayerOutcome::Unchanged,
                // These scroll; in the field other keys go to its ends.
                Action::Top | Action::Bottom => return LayerOutcome::Ignored,
                action => self.field.act(action),
            },
            LayerInput::Choice(_) => return self.toggle_regex(),
            // The transcript is read meanwhile.
            LayerInput::Wheel(_) => return LayerOutcome::Ignored,
        };
        match edit {
            Edit::Edited => self.find(),
            edit => edit.into(),
        }
    }

    fn toggle_regex(&mut self) -> LayerOutcome {
        self.is_regex = !self.is_regex;
        self.find()
    }

    pub(super) fn draw(
        &self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        let chrome = Chrome::new(look.theme);
        let page = place.page.intersection(buffer.area);
        let row = Rect { y: page.bottom().saturating_sub(1), height: page.height.min(1), ..page };
        if row.is_empty() {
            return None;
        }
        paint::make_room(buffer, row);
        chrome.bar(buffer, row, Vec::new(), Vec::new());
        hits.push(row, place.level, Target::Layer);
        let label = Span::styled(" search ", chrome.on_bar(Role::ToolTitle).add_modifier(Modifier::BOLD));
        let label = if row.width >= 40 { label } else { Span::styled(" / ", label.style) };
        let regex = Span::styled("regex", chrome.on_bar(Role::Warning));
        let used = paint::spans(buffer, row, &[label]);
        let room = usize::from(row.width.saturating_sub(used));
        let rail = self.rail(look, &chrome, room.saturating_sub(LEAST_FIELD));
        let rail_columns = u16::try_from(paint::columns(&rail)).unwrap_or(u16::MAX);
        let field = Rect { x: row.x + used, width: row.width.saturating_sub(used + rail_columns + 1), ..row };
        let empty = Span::styled("what to look for", chrome.on_bar(Role::Dim));
        let caret = self.field.draw(buffer, field, chrome.on_bar(Role::Text), empty);
        self.mark_mistake(look, field, buffer);
        let at = Rect { x: row.right().saturating_sub(rail_columns), width: rail_columns, ..row };
        paint::spans(buffer, at, &rail);
        if self.is_regex && rail.contains(&regex) {
            // Where it says so it is switched off.
            let before: usize =
                rail.iter().take_while(|span| **span != regex).map(|span| width::of(&span.content)).sum();
            let x = at.x + u16::try_from(before).unwrap_or(0);
            hits.push(Rect { x, width: 5, ..at }, place.level, Target::Choice(0));
        }
        caret
    }

    /// What was found, then keys as far as there is room: the most important first.
    fn rail(&self, look: &Look<'_>, chrome: &Chrome<'_>, room: usize) -> Vec<Span<'static>> {
        let dim = chrome.on_bar(Role::Dim);
        let mut rail = vec![Span::raw(" ")];
        let (text, role) = self.found();
        let text = width::cut(&text, room.saturating_sub(2)).into_owned();
        if !text.is_empty() {
            rail.push(Span::styled(text, chrome.on_bar(role)));
        }
        if self.is_regex && room >= paint::columns(&rail) + 9 {
            rail.push(Span::styled(" · ", dim));
            rail.push(Span::styled("regex", chrome.on_bar(Role::Warning)));
        }
        let mut hints = vec![
            hint(look, Context::Search, Action::SearchAccept, "go there"),
            pair(look, Context::Search, (Action::SearchPrevious, Action::SearchNext), "walk"),
            hint(look, Context::Search, Action::SearchRegex, if self.is_regex { "plain" } else { "regex" }),
            hint(look, Context::Search, Action::SearchCancel, "close"),
        ];
        hints.retain(|hint| !hint.key.is_empty());
        for Hint { key, text } in hints {
            let before = if paint::columns(&rail) > 1 { " · " } else { "" };
            let part = [
                Span::styled(before, dim),
                Span::styled(key, chrome.on_bar(Role::Text)),
                Span::styled(format!(" {text}"), chrome.on_bar(Role::Muted)),
            ];
            if paint::columns(&rail) + paint::columns(&part) + 1 > room {
                break;
            }
            rail.extend(part);
        }
        rail.push(Span::raw(" "));
        rail
    }

    fn found(&self) -> (String, Role) {
        let status = &self.status;
        if let Some(problem) = &status.problem {
            return (problem.what.clone(), Role::Error);
        }
        if !status.is_asked {
            return (String::new(), Role::Muted);
        }
        (count(status), if status.total == 0 && status.is_done { Role::Warning } else { Role::Text })
    }

    /// Where a regular expression goes wrong.
    fn mark_mistake(&self, look: &Look<'_>, field: Rect, buffer: &mut Buffer) {
        let Some(at) = self.status.problem.as_ref().and_then(|problem| problem.at) else { return };
        let before: String = self.field.text().chars().take(at).collect();
        let room = usize::from(field.width);
        // Of a text that is scrolled nobody can say where it begins.
        if width::of(self.field.text()) >= room {
            return;
        }
        let x = field.x + u16::try_from(width::of(&before)).unwrap_or(u16::MAX);
        let style = Chrome::new(look.theme).on_bar(Role::Error).add_modifier(Modifier::UNDERLINED);
        let cell = Rect { x, width: 1, ..field }.intersection(field);
        buffer.set_style(cell.intersection(buffer.area), style);
    }
}

/// `3/17`, with a `+` while there may be more.
pub fn count(status: &SearchStatus) -> String {
    let more = if status.is_done { "" } else { "+" };
    match (status.number, status.total) {
        (_, 0) if status.is_done => "none".to_owned(),
        (Some(number), total) => format!("{number}/{total}{more}"),
        (None, total) => format!("{total}{more}"),
    }
}
