//! The card of a call that asks: what it would do, why it asks, and the answers.
//!
//! Invariants: nothing that was typed for the composer answers; the answers are in view however long the call is.

use super::frame::step;
use super::{Answer, LayerInput, LayerOutcome, cancels};
use crate::config::action::{Action, Context};
use crate::proto::ask::{PermissionAnswer, PermissionAsk};
use crate::text::row::Row;
use crate::ui::text_field::TextField;
use std::time::{Duration, Instant};

/// Nobody answers faster: a key within this time was meant for something else, also when nothing is written yet.
const REACTION: Duration = Duration::from_millis(200);

/// Keys and clicks that come so soon after the card were not meant for it.
const GRACE: Duration = Duration::from_millis(300);

/// An answer on the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Once,
    Session,
    Always,
    No,
    NoWith,
}

impl Choice {
    pub const fn action(self) -> Action {
        match self {
            Self::Once => Action::AllowOnce,
            Self::Session => Action::AllowSession,
            Self::Always => Action::AllowAlways,
            Self::No => Action::Deny,
            Self::NoWith => Action::DenyWithMessage,
        }
    }
}

/// The preview as rows.
#[derive(Clone, Debug)]
pub(super) struct LaidOut {
    pub columns: usize,
    /// Of the theme.
    pub revision: u64,
    pub rows: Vec<Row>,
    /// Added and removed lines.
    pub totals: Option<(usize, usize)>,
    /// The first row that is added or removed.
    pub first_change: usize,
}

/// A call that asks.
#[derive(Clone, Debug)]
pub struct PermissionCard {
    pub(super) ask: PermissionAsk,
    /// The agent that asks, when it is not the main one.
    pub(super) from: Option<String>,
    pub(super) choices: Vec<Choice>,
    pub(super) selected: usize,
    /// Which of the suggested rules.
    pub(super) rule: usize,
    /// What the model is to read.
    pub(super) message: Option<TextField>,
    /// The first row of the preview in view.
    pub(super) top: usize,
    /// The user has scrolled it; until then it begins where something changes.
    pub(super) is_scrolled: bool,
    /// Rows of it in view when it was drawn last.
    pub(super) rows: usize,
    /// The preview laid out, for a width and a theme.
    pub(super) laid_out: Option<LaidOut>,
    appeared: Instant,
    /// Until then what is typed belongs to the composer.
    typing_until: Option<Instant>,
}

impl PermissionCard {
    /// A card that appears now. `was_typing`: a key was pressed shortly before.
    pub fn new(ask: PermissionAsk, from: Option<String>, appeared: Instant, was_typing: bool) -> Self {
        let mut choices = vec![Choice::Once];
        // Without a rule there is nothing to remember.
        if !ask.suggestions.is_empty() {
            choices.extend([Choice::Session, Choice::Always]);
        }
        choices.extend([Choice::No, Choice::NoWith]);
        Self {
            ask,
            from,
            choices,
            selected: 0,
            rule: 0,
            message: None,
            top: 0,
            is_scrolled: false,
            rows: 1,
            laid_out: None,
            appeared,
            typing_until: Some(appeared + if was_typing { GRACE } else { REACTION }),
        }
    }

    /// The question it asks, to find the card when the question has gone.
    pub const fn ask(&self) -> &PermissionAsk {
        &self.ask
    }

    pub(super) const fn contexts(&self) -> &'static [Context] {
        if self.message.is_some() { &[Context::Composer] } else { &[Context::Card, Context::Composer] }
    }

    pub(super) fn handle(&mut self, input: LayerInput<'_>, now: Instant) -> LayerOutcome {
        if let Some(outcome) = self.guard(input, now) {
            return outcome;
        }
        match &mut self.message {
            Some(_) => self.write(input),
            None => self.choose(input),
        }
    }

    /// Who types a sentence while the card comes goes on typing: each key of it prolongs the time.
    fn guard(&mut self, input: LayerInput<'_>, now: Instant) -> Option<LayerOutcome> {
        match input {
            // A click may have been on its way to what was there before, or have raised the terminal.
            LayerInput::Choice(_) if now < self.appeared + GRACE => Some(LayerOutcome::Unchanged),
            LayerInput::Choice(_) | LayerInput::Wheel(_) => None,
            LayerInput::Act(_) | LayerInput::Type(_) | LayerInput::Paste(_) => {
                let until = self.typing_until.filter(|until| now < *until)?;
                self.typing_until = Some(until.max(now + GRACE));
                // It was meant for completions or so; it must neither answer nor stop the turn.
                let is_cancel = input == LayerInput::Act(Action::Cancel);
                Some(if is_cancel { LayerOutcome::Unchanged } else { LayerOutcome::Ignored })
            }
        }
    }

    fn choose(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        let page = isize::try_from(self.rows.max(2) - 1).unwrap_or(1);
        match input {
            LayerInput::Wheel(rows) => self.scroll(rows as isize),
            LayerInput::Choice(at) => match self.choices.get(at) {
                Some(choice) => self.take(at, *choice),
                None => LayerOutcome::Unchanged,
            },
            LayerInput::Type(_) | LayerInput::Paste(_) => LayerOutcome::Unchanged,
            LayerInput::Act(action) => match action {
                Action::Cancel => self.answer(PermissionAnswer::No),
                Action::ListUp | Action::Up => self.go(-1),
                Action::ListDown | Action::Down => self.go(1),
                Action::ScrollUp => self.scroll(-1),
                Action::ScrollDown => self.scroll(1),
                Action::ListPageUp | Action::PageUp => self.scroll(-page),
                Action::ListPageDown | Action::PageDown => self.scroll(page),
                Action::Top | Action::TextStart | Action::LineStart => self.scroll(isize::MIN / 2),
                Action::Bottom | Action::TextEnd | Action::LineEnd => self.scroll(isize::MAX / 2),
                Action::Left => self.next_rule(false),
                Action::Right | Action::Complete => self.next_rule(true),
                Action::Confirm | Action::Submit => match self.choices.get(self.selected) {
                    Some(choice) => self.take(self.selected, *choice),
                    None => LayerOutcome::Unchanged,
                },
                _ => match self.choices.iter().position(|choice| choice.action() == action) {
                    Some(at) => self
                        .choices
                        .get(at)
                        .copied()
                        .map_or(LayerOutcome::Unchanged, |choice| self.take(at, choice)),
                    // ctrl+c and the keys that hold everywhere keep their meaning; those of the composer have none here.
                    None if action.contexts().contains(&Context::Global) => LayerOutcome::Ignored,
                    None => LayerOutcome::Unchanged,
                },
            },
        }
    }

    fn write(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        let Some(field) = &mut self.message else { return LayerOutcome::Ignored };
        match input {
            _ if cancels(input) => {
                self.message = None;
                LayerOutcome::Changed
            }
            LayerInput::Type(text) | LayerInput::Paste(text) => field.insert(text).into(),
            LayerInput::Wheel(rows) => self.scroll(rows as isize),
            LayerInput::Choice(at) => match self.choices.get(at) {
                Some(Choice::NoWith) | None => LayerOutcome::Unchanged,
                Some(choice) => self.take(at, *choice),
            },
            LayerInput::Act(Action::Submit | Action::Confirm) => {
                let message = field.text().trim().to_owned();
                if message.is_empty() {
                    return LayerOutcome::Unchanged;
                }
                self.answer(PermissionAnswer::NoWith { message })
            }
            LayerInput::Act(Action::PageUp) => self.scroll(-isize::try_from(self.rows).unwrap_or(1)),
            LayerInput::Act(Action::PageDown) => self.scroll(isize::try_from(self.rows).unwrap_or(1)),
            LayerInput::Act(action) => match LayerOutcome::from(field.act(action)) {
                LayerOutcome::Ignored if !action.contexts().contains(&Context::Global) => {
                    LayerOutcome::Unchanged
                }
                outcome => outcome,
            },
        }
    }

    fn take(&mut self, at: usize, choice: Choice) -> LayerOutcome {
        self.selected = at;
        let rule = self.ask.suggestions.get(self.rule).cloned().unwrap_or_default();
        match choice {
            Choice::Once => self.answer(PermissionAnswer::Once),
            Choice::Session => self.answer(PermissionAnswer::Session { rule }),
            Choice::Always => self.answer(PermissionAnswer::Always { rule }),
            Choice::No => self.answer(PermissionAnswer::No),
            Choice::NoWith => {
                self.message = Some(TextField::default());
                LayerOutcome::Changed
            }
        }
    }

    const fn answer(&self, answer: PermissionAnswer) -> LayerOutcome {
        LayerOutcome::Done(Answer::Permission { ask: self.ask.id, answer })
    }

    fn go(&mut self, delta: isize) -> LayerOutcome {
        let before = self.selected;
        self.selected = step(before, delta, self.choices.len());
        if before == self.selected { LayerOutcome::Unchanged } else { LayerOutcome::Changed }
    }

    fn scroll(&mut self, delta: isize) -> LayerOutcome {
        let total = self.laid_out.as_ref().map_or(0, |laid_out| laid_out.rows.len());
        let most = total.saturating_sub(self.rows);
        let before = self.top.min(most);
        self.top = before.saturating_add_signed(delta).min(most);
        self.is_scrolled = true;
        if before == self.top { LayerOutcome::Unchanged } else { LayerOutcome::Changed }
    }

    const fn next_rule(&mut self, forward: bool) -> LayerOutcome {
        let total = self.ask.suggestions.len();
        if total < 2 {
            return LayerOutcome::Unchanged;
        }
        self.rule = (self.rule + if forward { 1 } else { total - 1 }) % total;
        LayerOutcome::Changed
    }
}
