//! Clicks and the wheel. What a click means was said by the last frame.

use super::{Outcome, composer_said, layers, models};
use crate::app::effect::Effect;
use crate::app::state::AppState;
use crate::config::action::Action;
use crate::term::wheel::Direction;
use crate::ui::chrome::composer_box;
use crate::ui::composer::Input as ComposerInput;
use crate::ui::layers::LayerInput;
use crate::ui::target::{FooterPart, Target};
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;
use std::time::{Duration, Instant};

/// A click this soon after the window got the focus was meant for the window.
const FOCUS_CLICK: Duration = Duration::from_millis(150);

/// Something the mouse did.
pub fn mouse(state: &mut AppState, event: MouseEvent, now: Instant) -> Outcome {
    match event.kind {
        MouseEventKind::ScrollUp => wheel(state, Direction::Up, now),
        MouseEventKind::ScrollDown => wheel(state, Direction::Down, now),
        MouseEventKind::Down(MouseButton::Left) => click(state, event, now),
        MouseEventKind::Drag(MouseButton::Left) => drag(state, event),
        _ => Outcome::none(),
    }
}

fn wheel(state: &mut AppState, direction: Direction, now: Instant) -> Outcome {
    let lines = state.wheel.turn(direction, now);
    if lines == 0 {
        return Outcome::none();
    }
    if !state.layers.is_empty()
        && let Some(outcome) = layers::handle(state, LayerInput::Wheel(lines), now)
    {
        return outcome;
    }
    state.pane.scroll_by(isize::try_from(lines).unwrap_or_default());
    Outcome::changed()
}

fn click(state: &mut AppState, event: MouseEvent, now: Instant) -> Outcome {
    let raised = state.gestures.focused.is_some_and(|at| now.saturating_duration_since(at) < FOCUS_CLICK);
    if raised {
        return Outcome::none();
    }
    let at = Position::new(event.column, event.row);
    let Some(target) = state.scene.hits.at(at).cloned() else { return Outcome::none() };
    match target {
        Target::Choice(index) => layers::handle(state, LayerInput::Choice(index), now).unwrap_or_default(),
        Target::Beside => layers::beside(state, now),
        Target::Layer | Target::Transcript => Outcome::none(),
        Target::Item(item) => {
            state.pane.toggle(&mut state.conversation, item);
            Outcome::changed()
        }
        Target::Card { item, card } => match state.pane.card_text(&state.conversation, item, card) {
            Some(text) => Outcome::effect(Effect::Copy(text)),
            None => Outcome::none(),
        },
        Target::Link(url) => super::links::click(state, url),
        Target::Below => {
            state.pane.to_end();
            Outcome::changed()
        }
        Target::Composer => click_composer(state, event, false),
        Target::Completion(index) => {
            state.composer.choose_completion(index);
            let said = state.composer.handle(ComposerInput::Act(Action::CompletionAccept), now);
            composer_said(state, said, now).unwrap_or_default()
        }
        Target::Queued(ticket) => super::submit::take_back_one(state, ticket, now),
        Target::Footer(FooterPart::Model) => {
            models::open_picker(state, "");
            Outcome::changed()
        }
        Target::Footer(FooterPart::Thinking) => models::next_thinking(state, now),
        Target::Footer(FooterPart::Mode) => models::next_mode(state, now),
    }
}

fn drag(state: &mut AppState, event: MouseEvent) -> Outcome {
    let at = Position::new(event.column, event.row);
    match state.scene.hits.at(at) {
        Some(Target::Composer) => click_composer(state, event, true),
        _ => Outcome::none(),
    }
}

fn click_composer(state: &mut AppState, event: MouseEvent, drags: bool) -> Outcome {
    let Some(area) = state.scene.hits.areas_of(&Target::Composer).next() else { return Outcome::none() };
    let selects = drags || event.modifiers.contains(KeyModifiers::SHIFT);
    let (row, column) = composer_box::text_cell(area, Position::new(event.column, event.row));
    state.pane.set_focus(None);
    state.composer.click(row, column, selects);
    Outcome::changed()
}
