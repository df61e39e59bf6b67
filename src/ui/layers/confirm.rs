//! A question with a few answers. The last one always is the harmless one, and it is the one that is chosen.

use super::frame::{self, Chrome, Place, Window};
use super::picker::BOLD;
use super::{Answer, ConfirmKind, LayerInput, LayerOutcome, hint, pair};
use crate::config::action::{Action, Context};
use crate::text::clean;
use crate::text::wrap::{self, Break};
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

/// Keys of the first answers; the last one has that of a no.
const KEYS: [Action; 3] = [Action::AllowOnce, Action::AllowSession, Action::AllowAlways];

/// A question with a few answers.
#[derive(Clone, Debug)]
pub struct Confirm {
    kind: ConfirmKind,
    question: String,
    detail: String,
    choices: Vec<String>,
    selected: usize,
}

impl Confirm {
    /// A question, a line on what happens, and the answers. The last answer changes nothing: esc and a click beside
    /// mean it, and it is chosen at first.
    pub fn new(kind: ConfirmKind, question: &str, detail: &str, choices: &[&str]) -> Self {
        let choices: Vec<String> = choices.iter().map(|choice| clean::for_line(choice)).collect();
        let selected = choices.len().saturating_sub(1);
        Self { kind, question: clean::for_line(question), detail: clean::for_line(detail), choices, selected }
    }

    /// What it is about.
    pub const fn kind(&self) -> &ConfirmKind {
        &self.kind
    }

    pub(super) fn handle(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        let total = self.choices.len();
        match input {
            LayerInput::Act(Action::ListUp | Action::Up) => self.go(-1),
            LayerInput::Act(Action::ListDown | Action::Down | Action::Complete) => self.go(1),
            LayerInput::Wheel(rows) => self.go(rows.signum() as isize),
            LayerInput::Act(Action::Confirm | Action::Submit) => self.done(self.selected),
            LayerInput::Act(Action::Deny) => LayerOutcome::Closed,
            LayerInput::Act(action) if self.key_of(action).is_some() => {
                self.done(self.key_of(action).unwrap_or_default())
            }
            LayerInput::Choice(choice) if choice < total => self.done(choice),
            LayerInput::Act(action) if action.contexts().contains(&Context::Global) => LayerOutcome::Ignored,
            LayerInput::Choice(_) | LayerInput::Act(_) | LayerInput::Type(_) | LayerInput::Paste(_) => {
                LayerOutcome::Unchanged
            }
        }
    }

    fn go(&mut self, delta: isize) -> LayerOutcome {
        let before = self.selected;
        self.selected = frame::step(before, delta, self.choices.len());
        if before == self.selected { LayerOutcome::Unchanged } else { LayerOutcome::Changed }
    }

    fn done(&self, choice: usize) -> LayerOutcome {
        if choice + 1 >= self.choices.len() {
            return LayerOutcome::Closed;
        }
        LayerOutcome::Done(Answer::Confirmed { kind: self.kind.clone(), choice })
    }

    /// The answer that a key gives.
    fn key_of(&self, action: Action) -> Option<usize> {
        KEYS.iter().position(|key| *key == action).filter(|at| at + 1 < self.choices.len())
    }

    fn key(&self, choice: usize) -> Option<Action> {
        if choice + 1 == self.choices.len() { Some(Action::Deny) } else { KEYS.get(choice).copied() }
    }

    pub(super) fn draw(
        &self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) {
        let chrome = Chrome::new(look.theme);
        let columns = 64;
        let text = usize::from(place.screen.width.min(columns)).saturating_sub(4);
        let detail = match self.detail.is_empty() {
            true => Vec::new(),
            false => wrap::text(&self.detail, chrome.on(Role::Muted), text, Break::Words),
        };
        let window = Window {
            title: vec![Span::styled(self.question.clone(), chrome.on_bar(Role::Text).add_modifier(BOLD))],
            rail: Vec::new(),
            hints: vec![
                hint(look, Context::Card, Action::Confirm, "choose"),
                hint(look, Context::Global, Action::Cancel, "close"),
                pair(look, Context::Card, (Action::ListUp, Action::ListDown), "move"),
            ],
            rows: detail.len() + self.choices.len() + 2 + usize::from(!detail.is_empty()),
            columns,
        };
        let body = window.draw(&chrome, place, buffer, hits);
        // The answers come first; what is left is for the rest.
        let choices = u16::try_from(self.choices.len()).unwrap_or(u16::MAX).min(body.height);
        let spare = body.height - choices;
        let above = u16::from(usize::from(spare) > detail.len());
        let mut y = body.y + above;
        for row in detail.iter().take(usize::from(spare - above)) {
            let area =
                Rect { x: body.x + 1.min(body.width), y, width: body.width.saturating_sub(1), height: 1 };
            paint::row(buffer, area, row);
            y += 1;
        }
        if !detail.is_empty() && y + choices < body.bottom() {
            y += 1;
        }
        let first = frame::keep_in_view(0, self.selected, usize::from(choices), self.choices.len());
        for (line, (at, choice)) in
            self.choices.iter().enumerate().skip(first).take(usize::from(choices)).enumerate()
        {
            let is_selected = at == self.selected;
            let area = Rect { y: y + u16::try_from(line).unwrap_or(0), height: 1, ..body };
            let mark = if is_selected { " › " } else { "   " };
            let mut spans = vec![
                Span::styled(mark, chrome.on_row(Role::Accent, is_selected)),
                Span::styled(choice.clone(), chrome.on_row(Role::Text, is_selected)),
            ];
            let key = self.key(at).and_then(|action| look.keymap.keys(Context::Card, action).first());
            if let Some(key) = key {
                let text = format!(" ({})", frame::name(key));
                spans.push(Span::styled(text, chrome.on_row(Role::Muted, is_selected)));
            }
            let spans = paint::cut(spans, usize::from(area.width), chrome.on_row(Role::Dim, is_selected));
            chrome.row(buffer, area, &spans, is_selected);
            hits.push(area, place.level, Target::Choice(at));
        }
    }
}
