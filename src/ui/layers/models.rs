//! The picker of models.

use super::frame::Place;
use super::picker::{Entry, Head, Picked, Picker, RowCx, mark};
use super::{Answer, LayerInput, LayerOutcome};
use crate::proto::model::ModelRef;
use crate::text::{clean, formats, width};
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::text::Span;

/// Longer ids push the names behind them away.
const LONGEST_ID: usize = 32;

/// A model to choose from.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelItem {
    /// Which.
    pub model: ModelRef,
    /// Its name for people; may be the id.
    pub name: String,
    /// Tokens that its context holds.
    pub window: Option<u64>,
    /// Dollars for a million tokens in and out.
    pub price: Option<(f64, f64)>,
    /// It can think.
    pub thinks: bool,
    /// Why it can't be used: `no key`.
    pub problem: Option<String>,
}

#[derive(Clone, Debug)]
struct Row {
    item: ModelItem,
    names: String,
}

impl Row {
    fn new(item: ModelItem) -> Self {
        let names = clean::for_line(&format!("{} {}", item.model, item.name));
        Self { item, names }
    }
}

impl Entry for Row {
    fn names(&self) -> &str {
        &self.names
    }

    fn is_usable(&self) -> bool {
        self.item.problem.is_none()
    }
}

/// The picker of models.
#[derive(Clone, Debug)]
pub struct Models {
    picker: Picker<Row>,
    current: Option<ModelRef>,
}

impl Models {
    /// All models, the one in use, and what is searched for already.
    pub fn new(items: Vec<ModelItem>, current: Option<ModelRef>, query: &str) -> Self {
        let mut models =
            Self { picker: Picker::new(items.into_iter().map(Row::new).collect(), query), current };
        models.select_current();
        models
    }

    /// Another list, as when the models of a local server have come.
    pub fn set_items(&mut self, items: Vec<ModelItem>) {
        let selected = self.picker.selected().map(|row| row.item.model.clone());
        *self.picker.items_mut() = items.into_iter().map(Row::new).collect();
        self.picker.filter(|_| true, true);
        match selected {
            Some(selected) => self.picker.select(|row| row.item.model == selected),
            None => self.select_current(),
        }
    }

    /// The one in use, when it becomes known later.
    pub fn set_current(&mut self, current: Option<ModelRef>) {
        self.current = current;
    }

    /// More are on their way.
    pub const fn set_loading(&mut self, is_loading: bool) {
        self.picker.is_loading = is_loading;
    }

    fn select_current(&mut self) {
        if self.picker.query().is_empty()
            && let Some(current) = self.current.clone()
        {
            self.picker.select(|row| row.item.model == current);
        }
    }

    pub(super) fn handle(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        let (picked, is_new_query) = self.picker.handle(input);
        if is_new_query {
            self.picker.filter(|_| true, true);
        }
        match (picked, self.picker.selected()) {
            (Picked::Chosen, Some(row)) if row.is_usable() => {
                LayerOutcome::Done(Answer::Model(row.item.model.clone()))
            }
            // A click on one without a key still moves the choice there.
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
        let empty = "No models. Set ANTHROPIC_API_KEY or another key and start again";
        let head = Head::plain(look, "Models", "use", empty);
        let current = self.current.clone();
        let ids = self.picker.items().iter().map(|row| width::of(&row.item.model.to_string()));
        let ids = ids.max().unwrap_or(0).min(LONGEST_ID);
        self.picker.draw(look, place, buffer, hits, head, |row, cx| {
            line(&row.item, current.as_ref() == Some(&row.item.model), ids, cx)
        })
    }
}

/// `ids`: columns of the ids, so that the names behind them stand below each other.
fn line(item: &ModelItem, is_current: bool, ids: usize, cx: &RowCx<'_>) -> Vec<Span<'static>> {
    let style = |role| cx.chrome.on_row(role, cx.is_selected);
    let is_usable = item.problem.is_none();
    let mut left = vec![mark(cx, is_current)];
    let provider = format!("{}/", clean::for_line(&item.model.provider));
    left.push(Span::styled(provider, style(Role::Muted)));
    let id =
        Span::styled(clean::for_line(&item.model.id), style(if is_usable { Role::Text } else { Role::Dim }));
    left.push(id);
    if item.name != item.model.id && cx.room >= 70 {
        let gap = ids.saturating_sub(width::of(&item.model.to_string())) + 2;
        left.push(Span::styled(format!("{:gap$}{}", "", clean::for_line(&item.name)), style(Role::Dim)));
    }
    let mut rail = Vec::new();
    if let Some(problem) = &item.problem {
        // Most rows of a long list say it: it must not shout.
        rail.push(Span::styled(clean::for_line(problem), style(Role::Muted)));
    } else {
        // In columns, so that they can be compared; what gives way first is whether it thinks.
        if cx.room >= 72 {
            let text = if item.thinks { "thinks" } else { "" };
            rail.push(Span::styled(format!("{text:<6}"), style(Role::Dim)));
        }
        let window = item.window.map(formats::tokens).unwrap_or_default();
        rail.push(Span::styled(format!("  {window:>5}"), style(Role::Muted)));
        if cx.room >= 52 {
            let price = match item.price {
                Some((input, output)) if input > 0.0 || output > 0.0 => {
                    format!("{} / {}", dollars(input), dollars(output))
                }
                Some(_) => "free".to_owned(),
                None => String::new(),
            };
            rail.push(Span::styled(format!("  {price:>15}"), style(Role::Muted)));
        }
    }
    paint::left_and_rail(left, rail, cx.room, style(Role::Dim))
}

/// A price a million tokens: `$3`, `$0.25`, `$1.10`.
fn dollars(price: f64) -> String {
    let text = format!("{price:.2}");
    format!("${}", text.strip_suffix(".00").unwrap_or(&text))
}
