//! Clicks, drags and the wheel. What a click means was said by the last frame.

use super::{Outcome, composer_said, jobs, layers, models, select, sheet};
use crate::app::effect::Effect;
use crate::app::state::{AppState, Clicks, Press};
use crate::config::action::Action;
use crate::term::wheel::Direction;
use crate::transcript::select::Unit;
use crate::ui::chrome::composer_box;
use crate::ui::composer::Input as ComposerInput;
use crate::ui::layers::LayerInput;
use crate::ui::pane::Direction as PaneDirection;
use crate::ui::target::{FooterPart, Target};
use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;
use std::time::{Duration, Instant};

/// A click this soon after the window got the focus was meant for the window.
const FOCUS_CLICK: Duration = Duration::from_millis(150);

/// Presses this close together, in time and in cells, belong together.
const MULTI_CLICK: Duration = Duration::from_millis(400);
const MULTI_CLICK_CELLS: u16 = 1;

/// Something the mouse did.
pub fn mouse(state: &mut AppState, event: MouseEvent, now: Instant) -> Outcome {
    let at = Position::new(event.column, event.row);
    match event.kind {
        MouseEventKind::ScrollUp => wheel(state, Direction::Up, now),
        MouseEventKind::ScrollDown => wheel(state, Direction::Down, now),
        MouseEventKind::Down(_) if has_raised_the_window(state, now) => Outcome::none(),
        MouseEventKind::Down(MouseButton::Left) => press(state, event, now),
        MouseEventKind::Down(MouseButton::Right) => {
            select::copy(state, now).unwrap_or_else(|| Outcome::effect(Effect::Paste))
        }
        MouseEventKind::Down(MouseButton::Middle) => Outcome::effect(Effect::PastePrimary),
        MouseEventKind::Drag(MouseButton::Left) => drag(state, event, now),
        MouseEventKind::Up(MouseButton::Left) if state.pane.release_scrollbar() => Outcome::changed(),
        MouseEventKind::Up(MouseButton::Left) => {
            sheet::release(state, at).unwrap_or_else(|| release(state, at, now))
        }
        // Told without a button: it came up where nobody told us.
        MouseEventKind::Moved => lost_release(state, now),
        _ => Outcome::none(),
    }
}

fn has_raised_the_window(state: &AppState, now: Instant) -> bool {
    state.gestures.focused.is_some_and(|at| now.saturating_duration_since(at) < FOCUS_CLICK)
}

/// What lies over the page ends a drag that began on it.
pub fn end_drag_under_layers(state: &mut AppState) {
    let layers = state.layers.len();
    if state.gestures.press.as_ref().is_some_and(|press| layers > press.layers) {
        end_drag(state);
    }
}

/// Where the button comes up will not be told: somebody else gets the mouse.
pub fn end_drag(state: &mut AppState) {
    state.gestures.press = None;
    state.pane.let_go();
    sheet::let_go(state);
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

/// A button goes down. Text waits for it to come up: it may be the begin of a drag. All else acts at once.
fn press(state: &mut AppState, event: MouseEvent, now: Instant) -> Outcome {
    state.chord.clear();
    let at = Position::new(event.column, event.row);
    // A press without a release before it: that one was lost.
    end_drag(state);
    let target = state.scene.hits.at(at).cloned();
    let is_text = target.as_ref().is_some_and(is_text);
    let extends = is_text && event.modifiers.contains(KeyModifiers::SHIFT);
    let cleared = !extends && state.pane.clear_selection();
    let Some(target) = target else { return Outcome { effects: Vec::new(), changed: cleared } };
    let outcome = match is_text {
        true => press_text(state, at, &target, extends, now),
        false => {
            // The sheet counts presses itself.
            if !matches!(target, Target::Sheet(_)) {
                state.gestures.clicks = None;
            }
            act(state, &target, event, now)
        }
    };
    if is_text || target == Target::Composer {
        state.gestures.press = Some(Press { target, layers: state.layers.len() });
    }
    Outcome { changed: outcome.changed || cleared, ..outcome }
}

/// What is read and selected.
const fn is_text(target: &Target) -> bool {
    matches!(
        target,
        Target::Transcript
            | Target::Text(_)
            | Target::Item(_)
            | Target::Run(_)
            | Target::Card { .. }
            | Target::Link(_)
    )
}

/// A press here and now belongs to those before it.
pub(super) fn belongs(clicks: &Clicks, at: Position, now: Instant) -> bool {
    now.saturating_duration_since(clicks.last) <= MULTI_CLICK && is_near(clicks.at, at)
}

/// A hand moves a little between two presses.
const fn is_near(a: Position, b: Position) -> bool {
    a.x.abs_diff(b.x) <= MULTI_CLICK_CELLS && a.y == b.y
}

fn press_text(state: &mut AppState, at: Position, target: &Target, extends: bool, now: Instant) -> Outcome {
    let before = state.gestures.clicks.filter(|clicks| belongs(clicks, at, now)).filter(|_| !extends);
    let count = before.map_or(1, |before| before.count.saturating_add(1));
    let toggled = before.and_then(|before| before.toggled);
    let unit = Unit::after(count);
    state.gestures.clicks = Some(Clicks { at, last: now, count, toggled });
    let (pane, conversation, look) = state.reading(now);
    pane.press(conversation, &look, at, unit, extends);
    // Who selects a word by a double click did not mean to open what stands under it.
    if pane.has_selection()
        && let (Some(item), 2) = (toggled, count)
        && *target == Target::Item(item)
        && !sheet::opens_by_click(conversation, item)
    {
        pane.toggle(conversation, item);
        pane.press(conversation, &look, at, unit, extends);
        if let Some(clicks) = &mut state.gestures.clicks {
            clicks.toggled = None;
        }
    }
    Outcome::changed()
}

fn release(state: &mut AppState, at: Position, now: Instant) -> Outcome {
    let Some(press) = state.gestures.press.take().filter(|press| is_text(&press.target)) else {
        return Outcome::none();
    };
    if !state.pane.is_held() {
        // The terminal was left meanwhile: no click, but what is selected was meant.
        return select::copy(state, now).unwrap_or_default();
    }
    state.gestures.clicks = state.gestures.clicks.filter(|clicks| is_near(clicks.at, at));
    let (pane, conversation, look) = state.reading(now);
    if pane.release(conversation, &look, at) {
        return select::copy(state, now).unwrap_or_default();
    }
    if state.scene.hits.at(at) != Some(&press.target) {
        return Outcome::changed();
    }
    click(state, &press.target, now)
}

/// The button came up where nobody told us: what is selected was meant, but no click.
fn lost_release(state: &mut AppState, now: Instant) -> Outcome {
    let was_held = state.pane.let_go() | sheet::let_go(state);
    let is_text = state.gestures.press.take().is_some_and(|press| is_text(&press.target));
    let copied = if is_text { select::copy(state, now) } else { None };
    copied.unwrap_or(Outcome { effects: Vec::new(), changed: was_held })
}

/// What a click on text means beside selecting.
fn click(state: &mut AppState, target: &Target, now: Instant) -> Outcome {
    match target {
        Target::Item(item) => {
            if let Some(clicks) = &mut state.gestures.clicks {
                clicks.toggled = Some(*item);
            }
            if sheet::opens_by_click(&state.conversation, *item) {
                sheet::open(state, *item, now);
            } else {
                state.pane.toggle(&mut state.conversation, *item);
            }
            Outcome::changed()
        }
        Target::Run(run) => {
            state.pane.toggle_run(*run);
            Outcome::changed()
        }
        Target::Card { item, card } => super::copy::card(state, *item, *card),
        Target::Link(url) => super::links::click(state, url.clone()),
        _ => Outcome::changed(),
    }
}

/// What a press means that is no text.
fn act(state: &mut AppState, target: &Target, event: MouseEvent, now: Instant) -> Outcome {
    match *target {
        Target::Choice(index) => layers::handle(state, LayerInput::Choice(index), now).unwrap_or_default(),
        Target::Beside => layers::beside(state, now),
        Target::Sheet(part) => sheet::press(state, part, Position::new(event.column, event.row), now),
        Target::Layer
        | Target::Transcript
        | Target::Text(_)
        | Target::Item(_)
        | Target::Run(_)
        | Target::Card { .. }
        | Target::Link(_) => Outcome::none(),
        Target::Below => {
            state.pane.to_end();
            Outcome::changed()
        }
        Target::Heading => {
            state.pane.to_prompt(PaneDirection::Up);
            Outcome::changed()
        }
        Target::Scrollbar => {
            state.pane.press_scrollbar(event.row);
            Outcome::changed()
        }
        Target::Composer => click_composer(state, event, false, now),
        Target::Completion(index) => {
            state.composer.choose_completion(index);
            let said = state.composer.handle(ComposerInput::Act(Action::CompletionAccept), now);
            composer_said(state, said, now).unwrap_or_default()
        }
        Target::Queued(ticket) => super::submit::take_back_one(state, ticket, now),
        Target::Job(ref id) => jobs::open(state, &id.clone(), now),
        Target::Jobs => jobs::list(state, now),
        Target::Footer(FooterPart::Model) => {
            models::open_picker(state, "");
            Outcome::changed()
        }
        Target::Footer(FooterPart::Thinking) => models::next_thinking(state, now),
        Target::Footer(FooterPart::Mode) => models::next_mode(state, now),
        Target::Footer(FooterPart::Tools) => super::display::next_count(state),
    }
}

/// A drag stays where it began, wherever the pointer goes.
fn drag(state: &mut AppState, event: MouseEvent, now: Instant) -> Outcome {
    if let Some(outcome) = sheet::drag(state, Position::new(event.column, event.row)) {
        return outcome;
    }
    if state.pane.drag_scrollbar(event.row) {
        return Outcome::changed();
    }
    match &state.gestures.press {
        Some(press) if press.target == Target::Composer => click_composer(state, event, true, now),
        Some(_) => {
            let at = Position::new(event.column, event.row);
            // Who draws does not begin a double press with it.
            state.gestures.clicks = state.gestures.clicks.filter(|clicks| is_near(clicks.at, at));
            state.pane.drag(at);
            Outcome::changed()
        }
        None => Outcome::none(),
    }
}

fn click_composer(state: &mut AppState, event: MouseEvent, drags: bool, now: Instant) -> Outcome {
    let Some(area) = state.scene.hits.areas_of(&Target::Composer).next() else { return Outcome::none() };
    let selects = drags || event.modifiers.contains(KeyModifiers::SHIFT);
    let (row, column) = composer_box::text_cell(area, Position::new(event.column, event.row));
    state.pane.set_focus(None);
    if selects || !state.composer.expand_clicked(row, column, now) {
        state.composer.click(row, column, selects);
    }
    Outcome::changed()
}
