//! The search in the text of the sheet.

use super::body::Point;
use super::{LayerInput, LayerOutcome, Sheet};
use crate::config::action::Action;
use crate::transcript::search::{Pattern, Query, Way};
use crate::ui::text_field::{Edit, TextField};
use std::ops::Range;

/// What is looked for, and where it is.
#[derive(Clone, Debug, Default)]
pub struct Find {
    pub(super) field: TextField,
    is_typing: bool,
    pattern: Option<Pattern>,
    found: Vec<(usize, Range<usize>)>,
    current: Option<usize>,
    /// Lines that were searched.
    searched: usize,
    /// Where the search began: what is found is found from there.
    from: Point,
}

impl Find {
    /// Keys are typed into it.
    pub const fn is_typing(&self) -> bool {
        self.is_typing
    }

    /// Where it is found.
    pub fn found(&self) -> &[(usize, Range<usize>)] {
        &self.found
    }

    /// Which of them is looked at.
    pub const fn current(&self) -> Option<usize> {
        self.current
    }

    /// `3/17`, `none`; empty while nothing is looked for.
    pub fn count(&self) -> String {
        match (&self.pattern, self.current, self.found.len()) {
            (None, ..) => String::new(),
            (Some(_), _, 0) => "none".to_owned(),
            (Some(_), Some(at), total) => format!("{}/{total}", at + 1),
            (Some(_), None, total) => total.to_string(),
        }
    }
}

impl Sheet {
    pub(super) fn begin_search(&mut self) {
        let from = self.drawn.seen.first().map_or(Point::default(), |seen| seen.point_at(0));
        let find = self.find.get_or_insert_with(Find::default);
        find.is_typing = true;
        find.from = from;
    }

    pub(super) fn handle_typing(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        let Some(find) = &mut self.find else { return LayerOutcome::Unchanged };
        let edit = match input {
            LayerInput::Type(text) => find.field.insert(text),
            LayerInput::Paste(text) => find.field.insert(text.trim_end_matches(['\r', '\n'])),
            LayerInput::Wheel(rows) => return self.scroll(rows as isize),
            LayerInput::Choice(_) => return LayerOutcome::Unchanged,
            LayerInput::Act(action) => match action {
                Action::SearchAccept | Action::Submit => {
                    find.is_typing = false;
                    if find.field.is_empty() {
                        self.find = None;
                    }
                    return LayerOutcome::Changed;
                }
                Action::SearchCancel | Action::Cancel | Action::Interrupt => {
                    self.find = None;
                    return LayerOutcome::Changed;
                }
                Action::SearchNext | Action::Search => return self.walk(Way::Next),
                Action::SearchPrevious => return self.walk(Way::Previous),
                Action::PageUp => return self.scroll(-(self.drawn.seen.len().max(2) as isize - 1)),
                Action::PageDown => return self.scroll(self.drawn.seen.len().max(2) as isize - 1),
                Action::SearchErase => find.field.act(Action::DeleteBack),
                action => find.field.act(action),
            },
        };
        match edit {
            Edit::Edited => {
                self.look_for();
                LayerOutcome::Changed
            }
            Edit::Moved => LayerOutcome::Changed,
            Edit::Unchanged | Edit::Ignored => LayerOutcome::Unchanged,
        }
    }

    /// Something else is looked for.
    fn look_for(&mut self) {
        let Some(find) = &mut self.find else { return };
        let query = Query { text: find.field.text().to_owned(), is_regex: false };
        find.pattern = Pattern::new(&query).ok().flatten();
        find.found.clear();
        find.searched = 0;
        find.current = None;
        self.search_again(true);
        let Some(find) = &mut self.find else { return };
        let from = (find.from.line, find.from.byte);
        let is_after = |(line, range): &(usize, Range<usize>)| match self.body.half() {
            Some(_) => {
                self.body.row_of(Point { line: *line, byte: range.start }) >= self.body.row_of(find.from)
            }
            None => (*line, range.start) >= from,
        };
        let after = find.found.iter().position(is_after);
        find.current = after.or((!find.found.is_empty()).then_some(0));
        self.reveal();
    }

    /// The text has changed: of one that has grown only what is new is searched.
    pub(super) fn search_again(&mut self, is_other: bool) {
        let Some(find) = &mut self.find else { return };
        let Some(pattern) = &find.pattern else { return };
        // The last line may have grown.
        let from = if is_other || self.body.lines().is_none() { 0 } else { find.searched.saturating_sub(1) };
        find.found.retain(|(line, _)| *line < from);
        find.found.extend(self.body.find(pattern, from));
        find.searched = self.body.lines().unwrap_or(0);
        find.current = find.current.filter(|at| *at < find.found.len());
    }

    /// To another match, around the ends.
    pub(super) fn walk(&mut self, way: Way) -> LayerOutcome {
        let Some(find) = self.find.as_mut().filter(|find| !find.found.is_empty()) else {
            return LayerOutcome::Unchanged;
        };
        let total = find.found.len();
        find.current = Some(match (find.current, way) {
            (Some(at), Way::Next) => (at + 1) % total,
            (Some(at), Way::Previous) => (at + total - 1) % total,
            (None, Way::Next) => 0,
            (None, Way::Previous) => total - 1,
        });
        self.reveal();
        LayerOutcome::Changed
    }

    /// Scrolls so that the match is in view, away from the edges.
    fn reveal(&mut self) {
        let Some((line, range)) = self.find.as_ref().and_then(|find| find.found.get(find.current?)).cloned()
        else {
            return;
        };
        let row = self.body.row_of(Point { line, byte: range.start });
        let rows = usize::from(self.drawn.body.height);
        let top = self.top.min(self.last_top());
        if row < top || row >= top + rows {
            self.top = row.saturating_sub(rows / 3).min(self.last_top());
        }
        self.follows = false;
    }
}
