//! Choosing models, thinking levels and permission modes.

use super::Outcome;
use crate::app::effect::Effect;
use crate::app::state::AppState;
use crate::proto::ask::PermissionMode;
use crate::proto::command::Command;
use crate::proto::event::NoticeLevel;
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::ui::layers::Layer;
use crate::ui::layers::models::{ModelItem, Models};
use std::time::Instant;

/// Shows the list of models, filtered by `query`.
pub fn open_picker(state: &mut AppState, query: &str) {
    let current = state.session.view.as_ref().map(|view| view.model.clone());
    let mut picker = Models::new(items(state), current, query);
    // They are known when a session is open.
    picker.set_loading(state.session.view.is_none());
    state.layers.push(Layer::Models(picker));
}

/// A list that was opened before a session was shows what has become known.
pub fn listed(state: &mut AppState) {
    let items = items(state);
    let current = state.session.view.as_ref().map(|view| view.model.clone());
    for layer in &mut state.layers {
        if let Layer::Models(picker) = layer {
            picker.set_current(current);
            picker.set_items(items);
            picker.set_loading(false);
            return;
        }
    }
}

fn items(state: &AppState) -> Vec<ModelItem> {
    let mut items = state.session.models.clone();
    // One that no catalogue knows stands in the list all the same: it is in use.
    if let Some(view) = &state.session.view
        && !items.iter().any(|item| item.model == view.model)
    {
        let in_use = ModelItem {
            model: view.model.clone(),
            name: view.model_name.clone(),
            window: (view.context.window > 0).then_some(view.context.window),
            price: None,
            thinks: view.thinking != ThinkingLevel::Off,
            problem: None,
        };
        items.insert(0, in_use);
    }
    items
}

/// `/model …`: an exact name switches at once, and so does one that no list has: a server may offer more than the catalogue
/// knows, and the agent says so if it can't be used. Anything else searches.
pub fn choose(state: &mut AppState, name: &str) -> Outcome {
    let exact = state
        .session
        .models
        .iter()
        .find(|item| item.problem.is_none() && (item.model.to_string() == name || item.model.id == name));
    match exact.map(|item| item.model.clone()) {
        Some(model) => set(model),
        None if is_foreign(state, name) => match name.split_once('/') {
            Some((provider, id)) => set(ModelRef::new(provider, id)),
            None => Outcome::none(),
        },
        None => {
            open_picker(state, name);
            Outcome::changed()
        }
    }
}

/// The name is whole, of a provider that is known, and stands in no list.
fn is_foreign(state: &AppState, name: &str) -> bool {
    let Some((provider, id)) = name.split_once('/') else { return false };
    let models = &state.session.models;
    let in_use = state.session.view.as_ref().is_some_and(|view| view.model.provider == provider);
    !id.is_empty()
        && (in_use || models.iter().any(|item| item.model.provider == provider))
        && !models.iter().any(|item| item.model.to_string().contains(name))
}

/// This model answers from now on.
pub fn set(model: ModelRef) -> Outcome {
    Outcome::effect(Effect::Send(Command::SetModel(model)))
}

/// The next of the models that can be used of the same provider.
pub fn next_model(state: &mut AppState, now: Instant) -> Outcome {
    let Some(view) = &state.session.view else { return Outcome::none() };
    let usable: Vec<&ModelRef> = state
        .session
        .models
        .iter()
        .filter(|item| item.problem.is_none() && item.model.provider == view.model.provider)
        .map(|item| &item.model)
        .collect();
    let at = usable.iter().position(|model| **model == view.model).map_or(0, |at| at + 1);
    match usable.get(at % usable.len().max(1)).filter(|next| ***next != view.model) {
        Some(next) => set((*next).clone()),
        None => {
            state.toast(NoticeLevel::Info, "There is no other model to go to.", now);
            Outcome::changed()
        }
    }
}

/// The next thinking level.
pub fn next_thinking(state: &mut AppState, now: Instant) -> Outcome {
    let Some(view) = &state.session.view else { return Outcome::none() };
    let known = state.session.models.iter().find(|item| item.model == view.model);
    if !known.is_some_and(|item| item.thinks) {
        let text = format!("{} does not think.", view.model_name);
        state.toast(NoticeLevel::Info, text, now);
        return Outcome::changed();
    }
    Outcome::effect(Effect::Send(Command::NextThinking))
}

/// This level from now on.
pub fn set_thinking(level: ThinkingLevel) -> Outcome {
    Outcome::effect(Effect::Send(Command::SetThinking(level)))
}

/// The next permission mode.
pub fn next_mode(state: &AppState, _now: Instant) -> Outcome {
    let Some(view) = &state.session.view else { return Outcome::none() };
    set_mode(next_in(&PermissionMode::ALL, view.mode))
}

/// This mode from now on.
pub fn set_mode(mode: PermissionMode) -> Outcome {
    Outcome::effect(Effect::Send(Command::SetMode(mode)))
}

fn next_in<T: Copy + PartialEq>(all: &[T], current: T) -> T {
    let at = all.iter().position(|one| *one == current).map_or(0, |at| at + 1);
    all.get(at % all.len().max(1)).copied().unwrap_or(current)
}
