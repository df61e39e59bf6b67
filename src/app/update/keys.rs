//! Keys and pastes: the topmost layer is asked first, then a focused row, then the composer, then the page.

use super::{
    Outcome, chords, composer_said, copy, jobs, layers, links, models, mouse, search, select, sessions,
    settings, sheet, submit, voice,
};
use crate::app::effect::Effect;
use crate::app::headless::Exit;
use crate::app::state::AppState;
use crate::config::action::{Action, Context};
use crate::config::keymap::Resolved;
use crate::proto::command::{CancelReason, Command};
use crate::proto::event::NoticeLevel;
use crate::transcript::search::Way;
use crate::ui::composer::Input as ComposerInput;
use crate::ui::key_event::{key_of, typed};
use crate::ui::layers::LayerInput;
use crate::ui::pane::Direction;
use crossterm::event::KeyEvent;
use std::time::{Duration, Instant};

/// Two presses this close together quit.
const TWICE: Duration = Duration::from_secs(2);

/// A key.
pub fn key(state: &mut AppState, event: &KeyEvent, now: Instant) -> Outcome {
    if let Some(outcome) = voice::keys::key(state, event, now) {
        return outcome;
    }
    let Some(key) = key_of(event) else { return Outcome::none() };
    let press = match chords::press(state, key, typed(event)) {
        Ok(press) => press,
        Err(outcome) => return outcome,
    };
    if let Some(layer) = state.layers.last() {
        let is_modal = layer.is_modal();
        let contexts: Vec<Context> = layer.contexts().iter().copied().chain([Context::Global]).collect();
        let outcome = match press.meaning(state, &contexts) {
            Resolved::Pending => return press.wait(state),
            // A layer that has no use for a key would swallow it without a word.
            Resolved::None if press.goes_on() && is_modal => return press.nothing(state, now),
            Resolved::None if press.goes_on() => None,
            meaning => to_layer(state, meaning.action(), press.text, now),
        };
        if let Some(outcome) = outcome {
            return outcome;
        }
    }
    if state.pane.focused().is_some() {
        let outcome = match press.meaning(state, &[Context::Transcript, Context::Global]) {
            Resolved::Pending => return press.wait(state),
            Resolved::Action(action) => in_row_focus(state, action, now),
            Resolved::None => None,
        };
        if let Some(outcome) = outcome {
            return outcome;
        }
    }
    match press.meaning(state, state.composer.contexts()) {
        Resolved::Pending => press.wait(state),
        Resolved::Action(action) => act(state, action, now),
        Resolved::None if press.goes_on() => press.nothing(state, now),
        Resolved::None => match press.text {
            Some(c) => type_text(state, c.encode_utf8(&mut [0; 4]), now),
            None => Outcome::none(),
        },
    }
}

fn type_text(state: &mut AppState, text: &str, now: Instant) -> Outcome {
    state.gestures.typed = Some(now);
    let changed = begin_writing(state);
    let (outcome, ended) = to_composer(state, ComposerInput::Type(text), now);
    seen(changed | ended).and(outcome.unwrap_or_default())
}

/// Whoever writes is done with the rows, and does not want to quit. Whether that is seen.
fn begin_writing(state: &mut AppState) -> bool {
    state.gestures.interrupt = None;
    leave_row(state) | search::end(state) | state.pane.clear_selection()
}

/// No row has the focus from now on. Whether one had it: that is seen, also when the composer has nothing to show.
fn leave_row(state: &mut AppState) -> bool {
    let had = state.pane.focused().is_some();
    state.pane.set_focus(None);
    had
}

/// A paste.
pub fn paste(state: &mut AppState, text: &str, now: Instant) -> Outcome {
    state.chord.clear();
    if let Some(layer) = state.layers.last() {
        let is_modal = layer.is_modal();
        let outcome = layers::handle(state, LayerInput::Paste(text), now);
        if let Some(outcome) = outcome.or_else(|| is_modal.then(Outcome::none)) {
            return outcome;
        }
    }
    let changed = begin_writing(state);
    let (outcome, ended) = to_composer(state, ComposerInput::Paste(text), now);
    seen(changed | ended).and(outcome.unwrap_or_default())
}

/// `None` when the layer has no use for it and what lies below may have one.
fn to_layer(
    state: &mut AppState,
    action: Option<Action>,
    text: Option<char>,
    now: Instant,
) -> Option<Outcome> {
    let is_modal = state.layers.last().is_some_and(|layer| layer.is_modal());
    let outcome = match (action, text) {
        (Some(action), _) => layers::handle(state, LayerInput::Act(action), now),
        (None, Some(c)) => layers::handle(state, LayerInput::Type(c.encode_utf8(&mut [0; 4])), now),
        (None, None) => None,
    };
    if outcome.is_some() {
        return outcome;
    }
    match action {
        // What concerns the program as a whole works over every layer.
        Some(
            action @ (Action::Paste
            | Action::Interrupt
            | Action::Suspend
            | Action::Repaint
            | Action::Quit
            | Action::ToggleMouse),
        ) => Some(page(state, action, now).unwrap_or_default()),
        _ if is_modal => Some(Outcome::none()),
        _ => None,
    }
}

/// What an action does where nothing lies over the page.
pub fn act(state: &mut AppState, action: Action, now: Instant) -> Outcome {
    if action != Action::Interrupt {
        state.gestures.interrupt = None;
    }
    // Rows that wait are taken back, and sent, by the page.
    let is_asked = state.composer.completer().popup().is_some() || state.composer.jumping().is_some();
    if action == Action::Cancel && !is_asked {
        return cancel(state, now);
    }
    let (outcome, ended) = to_composer(state, ComposerInput::Act(action), now);
    if let Some(outcome) = outcome {
        return seen(leave_row(state) | ended).and(outcome);
    }
    seen(ended).and(page(state, action, now).unwrap_or_default())
}

/// What the composer says to an input, nothing if it has no use for it; and whether that has ended what it asked for: also
/// an input that changes nothing else, or is not for it, ends that.
fn to_composer(state: &mut AppState, input: ComposerInput<'_>, now: Instant) -> (Option<Outcome>, bool) {
    let asks = |state: &AppState| (state.composer.searching().is_some(), state.composer.jumping().is_some());
    let before = asks(state);
    let said = state.composer.handle(input, now);
    let ended = asks(state) != before;
    (composer_said(state, said, now), ended)
}

/// Something that is seen has changed, or not.
fn seen(changed: bool) -> Outcome {
    Outcome { changed, ..Outcome::default() }
}

/// What an action does to the page. `None`: nothing here knows it.
pub(super) fn page(state: &mut AppState, action: Action, now: Instant) -> Option<Outcome> {
    match action {
        Action::Cancel => return Some(cancel(state, now)),
        Action::Interrupt => return Some(interrupt(state, now)),
        Action::Quit => return Some(jobs::quit(state)),
        Action::Suspend => {
            mouse::end_drag(state);
            return Some(voice::hand_over(state, now).and(Outcome::effect(Effect::Suspend)));
        }
        Action::Repaint => return Some(Outcome::effect(Effect::Repaint)),
        Action::Palette => layers::open_palette(state),
        Action::Help => layers::open_help(state),
        Action::Settings => layers::open_settings(state),
        Action::Reload => return Some(settings::reload(state, true)),
        Action::NextMode => return Some(models::next_mode(state, now)),
        Action::PickModel => models::open_picker(state, ""),
        Action::Jobs => return Some(jobs::list(state, now)),
        Action::SendToBackground => return Some(jobs::send_to_background(state, now)),
        Action::NextModel => return Some(models::next_model(state, now)),
        Action::NextThinking => return Some(models::next_thinking(state, now)),
        Action::PickSession => {
            sessions::open_picker(state);
            return Some(Outcome::effect(Effect::ListSessions));
        }
        Action::NewSession => return Some(sessions::new(state, now)),
        Action::Paste => return Some(Outcome::effect(Effect::Paste)),
        Action::Dictate => return Some(voice::toggle(state, now)),
        Action::ExpandRows if state.display.folded => state.pane.toggle_all_runs(),
        Action::ExpandRows => state.pane.set_expanded(!state.pane.is_expanded()),
        Action::ToggleThinking => state.show_thinking(!state.pane.shows_thinking()),
        Action::ToggleFolded => return Some(set_folded(state, !state.display.folded)),
        Action::ToggleMouse => return Some(toggle_mouse(state, now)),
        Action::FocusPrevious => state.pane.focus_previous(&state.conversation),
        Action::FocusNext => state.pane.focus_next(&state.conversation),
        Action::PageUp => state.pane.page(Direction::Up),
        Action::PageDown => state.pane.page(Direction::Down),
        Action::HalfPageUp => state.pane.half_page(Direction::Up),
        Action::HalfPageDown => state.pane.half_page(Direction::Down),
        Action::Top => state.pane.to_start(),
        Action::Bottom => state.pane.to_end(),
        Action::PreviousPrompt => state.pane.to_prompt(Direction::Up),
        Action::NextPrompt => state.pane.to_prompt(Direction::Down),
        Action::Search if state.pane.searched().is_none() => return Some(search::open(state)),
        Action::Search | Action::SearchNext => return Some(search::walk(state, Way::Next, now)),
        Action::SearchPrevious => return Some(search::walk(state, Way::Previous, now)),
        Action::CopyLast => return Some(copy::last(state, now)),
        Action::CopySelection => return select::copy(state, now),
        Action::TakeBack => return Some(submit::take_back(state, now)),
        _ => return None,
    }
    Some(Outcome::changed())
}

/// What an action does while a row has the focus. `None`: the rest of the screen may know it.
fn in_row_focus(state: &mut AppState, action: Action, now: Instant) -> Option<Outcome> {
    match action {
        Action::Cancel => return Some(cancel(state, now)),
        Action::Search => return Some(search::open(state)),
        Action::SearchNext => return Some(search::walk(state, Way::Next, now)),
        Action::SearchPrevious => return Some(search::walk(state, Way::Previous, now)),
        Action::FocusPrevious => {
            state.pane.clear_selection();
            state.pane.focus_previous(&state.conversation);
        }
        Action::FocusNext => {
            state.pane.clear_selection();
            state.pane.focus_next(&state.conversation);
        }
        Action::Open | Action::CopyRow | Action::CopySelection if state.pane.has_selection() => {
            return select::copy(state, now);
        }
        Action::Open | Action::ToggleRow if state.pane.focused_run().is_some() => {
            let run = state.pane.focused_run()?;
            state.pane.toggle_run(run);
        }
        Action::CloseRun => {
            // Where none is open nothing happens: a letter would else be written into the prompt.
            if let Some(run) = state.pane.open_run_of_focus() {
                state.pane.toggle_run(run);
                state.pane.focus_line(run);
            }
        }
        Action::Open | Action::ToggleRow => {
            let row = state.pane.focused()?;
            if action == Action::Open && sheet::open(state, row, now) {
                return Some(Outcome::changed());
            }
            state.pane.toggle(&mut state.conversation, row);
        }
        Action::CopyRow => {
            let row = state.pane.focused()?;
            return Some(Outcome::effect(Effect::Copy(state.pane.copy_text(&state.conversation, row))));
        }
        Action::OpenLink => {
            let row = state.pane.focused()?;
            return Some(links::next(state, row, now));
        }
        Action::CopyBlock => {
            let row = state.pane.focused()?;
            return Some(copy::next_block(state, row, now));
        }
        Action::ScrollUp => state.pane.scroll_by(-1),
        Action::ScrollDown => state.pane.scroll_by(1),
        Action::HalfPageUp => state.pane.half_page(Direction::Up),
        Action::HalfPageDown => state.pane.half_page(Direction::Down),
        Action::Top => state.pane.to_start(),
        Action::Bottom => state.pane.to_end(),
        Action::Interrupt => return Some(interrupt(state, now)),
        _ => return select::extend(state, action, now),
    }
    Some(Outcome::changed())
}

/// The stop gesture: what is topmost closes, else what runs is stopped. What is selected goes first, but not while
/// something runs: who wants to stop that does not want to press twice.
fn cancel(state: &mut AppState, now: Instant) -> Outcome {
    if search::end(state) || select::stop(state, now) {
        return Outcome::changed();
    }
    if state.pane.has_selection() {
        return stop(state).unwrap_or_else(|| {
            state.pane.clear_selection();
            Outcome::changed()
        });
    }
    if state.pane.focused().is_some() {
        state.pane.set_focus(None);
        return Outcome::changed();
    }
    stop(state).unwrap_or_default()
}

/// Stops what runs; nothing when nothing does.
fn stop(state: &AppState) -> Option<Outcome> {
    let command = if state.is_running() {
        Command::Cancel { reason: CancelReason::Stop }
    } else if state.is_shell_running() {
        Command::CancelShell
    } else {
        return None;
    };
    Some(Outcome::effect(Effect::Send(command)))
}

fn interrupt(state: &mut AppState, now: Instant) -> Outcome {
    if let Some(outcome) = stop(state) {
        return outcome;
    }
    let is_second =
        state.gestures.interrupt.is_some_and(|first| now.saturating_duration_since(first) < TWICE);
    if is_second {
        return jobs::quit(state);
    }
    state.gestures.interrupt = Some(now);
    let key = state.keymap.hint(Action::Interrupt).map_or_else(String::new, |key| key.to_string());
    state.toast(NoticeLevel::Info, format!("Press {key} again to quit."), now);
    Outcome::changed()
}

/// Leaves the program; what runs is stopped by the end of the session.
pub fn quit_now() -> Outcome {
    Outcome::effect(Effect::Quit(Exit::Success))
}

/// Each run of work as one line, or all of it. The choice is kept.
pub(super) fn set_folded(state: &mut AppState, is_on: bool) -> Outcome {
    state.display.folded = is_on;
    let value = if is_on { "true" } else { "false" };
    Outcome::effect(Effect::Save { key: "display.folded", value: value.to_owned() })
}

fn toggle_mouse(state: &mut AppState, now: Instant) -> Outcome {
    state.mouse = !state.mouse;
    mouse::end_drag(state);
    let text = if state.mouse {
        "The mouse scrolls, clicks and selects here."
    } else {
        "The mouse is the terminal's: select as everywhere."
    };
    state.toast(NoticeLevel::Info, text, now);
    Outcome::effect(Effect::Mouse(state.mouse))
}
