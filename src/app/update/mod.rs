//! Changes the state by what happens, and says what is to be done in the world. Nothing here touches the terminal, files,
//! the network or the clock, so every behaviour of the screen can be tested as data.
//!
//! | file | what it is about |
//! |---|---|
//! | [`agent`] | what the agent tells |
//! | [`done`] | what became of effects |
//! | [`keys`] | keys and pastes: which part of the screen gets them, and what the page does with them |
//! | [`chords`] | keys in a row |
//! | [`mouse`] | clicks, drags and the wheel |
//! | [`select`] | what is selected in the transcript, and its copy |
//! | [`copy`] | copies of blocks |
//! | [`display`] | how work is shown |
//! | [`drafts`] | what is being written, kept and brought back |
//! | [`submit`] | prompts, shell lines, waiting rows |
//! | [`commands`] | commands behind a slash |
//! | [`links`] | addresses |
//! | [`layers`] | what the cards and lists over the page answer |
//! | [`search`] | the search in the transcript |
//! | [`sheet`] | all of a row over the screen |
//! | [`sessions`] | opening another session |
//! | [`settings`] | settings that change while the program runs |
//! | [`models`] | choosing models and thinking levels |
//! | [`voice`] | dictation |

pub mod agent;
pub mod chords;
pub mod commands;
pub mod copy;
pub mod display;
pub mod done;
pub mod drafts;
pub mod jobs;
pub mod keys;
pub mod layers;
pub mod links;
pub mod models;
pub mod mouse;
pub mod search;
pub mod select;
pub mod sessions;
pub mod settings;
pub mod sheet;
pub mod submit;
#[cfg(test)]
mod tests;
pub mod voice;

use super::effect::{Effect, SessionChoice};
use super::headless::Exit;
use super::msg::Msg;
use super::state::AppState;
use crate::term::input::Input;
use crate::ui::composer;
use std::time::Instant;

/// What follows from a message.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    /// To be done, in this order.
    pub effects: Vec<Effect>,
    /// Something on the screen is no longer true.
    pub changed: bool,
}

impl Outcome {
    /// Nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// The screen changed.
    pub const fn changed() -> Self {
        Self { effects: Vec::new(), changed: true }
    }

    /// Something is to be done, and the screen changed.
    pub fn effect(effect: Effect) -> Self {
        Self { effects: vec![effect], changed: true }
    }

    /// This, then another.
    #[must_use]
    pub fn and(mut self, mut other: Self) -> Self {
        self.effects.append(&mut other.effects);
        self.changed |= other.changed;
        self
    }

    /// This, then an effect.
    #[must_use]
    pub fn then(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }
}

/// What the program does first.
pub fn begin(state: &mut AppState, _now: Instant) -> Outcome {
    let outcome = Outcome::changed().then(Effect::LoadHistory).then(Effect::FindBranch);
    if state.layers.is_empty() {
        state.session.opening = true;
        outcome.then(Effect::Open(SessionChoice::AsStarted))
    } else {
        // A session is chosen first.
        outcome.then(Effect::ListSessions)
    }
}

/// The terminal's ground has become known: the theme may be another.
pub fn reload_theme(state: &mut AppState, _now: Instant) -> Outcome {
    Outcome::effect(Effect::LoadTheme(state.theme_name.clone()))
}

/// Changes the state by what happened.
pub fn update(state: &mut AppState, msg: Msg, now: Instant) -> Outcome {
    let outcome = match msg {
        Msg::Input(input) => input_came(state, input, now),
        Msg::Agent(event) => agent::event(state, *event, now),
        Msg::AgentEnded => agent::ended(state, now),
        Msg::View(view) => agent::view(state, view, now),
        Msg::Voice(event) => voice::event(state, *event, now),
        Msg::Done(done) => done::done(state, done, now),
        Msg::Signal(number) => Outcome::effect(Effect::Quit(Exit::Signal(number))),
        Msg::TerminalLost => Outcome::effect(Effect::Quit(Exit::Signal(HANGUP))),
    };
    drafts::look(state, now);
    mouse::end_drag_under_layers(state);
    outcome.and(list_what_is_wanted(state))
}

/// A terminal that is gone ends the program as its signal would.
const HANGUP: i32 = 1;

fn input_came(state: &mut AppState, input: Input, now: Instant) -> Outcome {
    match input {
        Input::Key(key) => keys::key(state, &key, now),
        Input::Paste(text) => keys::paste(state, &text, now),
        Input::Mouse(mouse) if state.wheel_only && !links::is_wheel(mouse.kind) => Outcome::none(),
        Input::Mouse(mouse) => mouse::mouse(state, mouse, now),
        Input::Resize { columns, rows } => {
            state.size = (columns, rows);
            // Also when it is the old one: on the way there and back, or for another font, the terminal may have cut, moved
            // or doubled rows that are believed to be right.
            Outcome::effect(Effect::Repaint)
        }
        Input::Focus(has_focus) => {
            // What moves holds still from now on, or moves again.
            let is_other = std::mem::replace(&mut state.has_focus, has_focus) != has_focus && state.motion;
            if !has_focus {
                // Where the button comes up may be told to another window.
                let changed = state.pane.let_go() | sheet::let_go(state);
                let released = voice::focus_lost(state, now);
                return Outcome { effects: Vec::new(), changed: changed | is_other }.and(released);
            }
            state.gestures.focused = Some(now);
            // Somebody may have checked out another branch meanwhile.
            Outcome { effects: vec![Effect::FindBranch], changed: is_other }
        }
        // The loop takes answers of the terminal itself.
        Input::Reply(_) => Outcome::none(),
    }
}

/// Asks for the folder that completion waits for, once.
fn list_what_is_wanted(state: &mut AppState) -> Outcome {
    let Some(wanted) = state.composer.completer().wanted() else { return Outcome::none() };
    if state.listing.as_deref() == Some(wanted) {
        return Outcome::none();
    }
    state.listing = Some(wanted.to_owned());
    Outcome { effects: vec![Effect::List(wanted.to_owned())], changed: false }
}

/// Puts what the composer says into effect.
fn composer_said(state: &mut AppState, said: composer::Outcome, now: Instant) -> Option<Outcome> {
    Some(match said {
        composer::Outcome::Ignored => return None,
        composer::Outcome::Unchanged => Outcome::none(),
        composer::Outcome::Changed => Outcome::changed(),
        composer::Outcome::Submit(submission) => submit::submission(state, *submission, now),
        composer::Outcome::SubmitEmpty(delivery) => submit::nothing_written(state, delivery),
        composer::Outcome::Copy(text) => Outcome::effect(Effect::Copy(text)),
        composer::Outcome::OpenEditor(text) => {
            mouse::end_drag(state);
            voice::hand_over(state, now).and(Outcome::effect(Effect::Edit(text)))
        }
    })
}
