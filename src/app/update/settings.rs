//! Settings, keys and colours that change while the program runs.

use super::Outcome;
use super::done::setting_written;
use crate::app::effect::Effect;
use crate::app::msg::Reloaded;
use crate::app::state::AppState;
use crate::config::load::Loaded;
use crate::config::settings::SETTINGS;
use crate::proto::event::NoticeLevel;
use crate::ui::layers::Layer;
use std::time::Instant;

/// Reads everything anew.
pub fn reload(state: &AppState, asked: bool) -> Outcome {
    // Nothing of this is on the screen yet.
    let effects = vec![Effect::Reload { asked, theme: state.theme_name.clone() }];
    Outcome { effects, changed: false }
}

/// What holds has changed; `key` names what the user has changed.
pub fn now_hold(state: &mut AppState, loaded: Loaded, key: Option<&str>) {
    for layer in &mut state.layers {
        if let Layer::Settings(settings) = layer {
            settings.loaded(&loaded, key);
        }
    }
    state.loaded = loaded;
}

/// Everything was read anew.
pub fn reloaded(state: &mut AppState, reloaded: Reloaded, now: Instant) -> Outcome {
    let mut outcome = Outcome::none();
    let mut changed = Vec::new();
    if let Some(loaded) = reloaded.loaded {
        // A theme that was chosen here is in the file only since then.
        let is_chosen = |key: &str| key == "screen.theme" && loaded.settings.screen.theme == state.theme_name;
        let differ = |key: &&str| loaded.values.get(key) != state.loaded.values.get(key) && !is_chosen(key);
        let keys: Vec<&str> = SETTINGS.iter().map(|meta| meta.key).filter(differ).collect();
        for key in &keys {
            outcome = outcome.and(setting_written(state, key, &loaded.settings).0);
        }
        if !keys.is_empty() {
            changed.push("settings");
        }
        if loaded != state.loaded {
            outcome.changed = true;
            now_hold(state, loaded, None);
        }
    }
    if let Some(keymap) = reloaded.keymap.filter(|keymap| *keymap != state.keymap) {
        state.keymap = keymap;
        // Their hints name keys.
        state.pane.forget_layouts();
        // What was begun may not lead anywhere any more.
        state.chord.clear();
        changed.push("keys");
    }
    if reloaded.themes != state.themes {
        state.themes = reloaded.themes;
        state.tell_values();
    }
    // Whoever tries themes sees the one that is chosen; the other one comes back when the list is closed.
    let is_trying = state.layers.iter().any(|layer| matches!(layer, Layer::Themes(_)));
    let theme = reloaded.theme.filter(|theme| !is_trying && theme.revision() != state.theme.revision());
    if let Some(theme) = theme {
        state.theme = theme;
        changed.push("colours");
    }
    let new: Vec<String> = reloaded
        .mistakes
        .iter()
        .filter(|text| reloaded.asked || !state.told.contains(text))
        .cloned()
        .collect();
    state.told = reloaded.mistakes;
    outcome.changed |= !changed.is_empty() || !new.is_empty() || reloaded.asked;
    match new.first() {
        // The whole text stays in the transcript: a file, a line and a reason are too long for a row.
        Some(first) => {
            state.toast(NoticeLevel::Warning, short(state, first), now);
            for text in new {
                state.conversation.notice(NoticeLevel::Warning, text);
            }
        }
        None if !changed.is_empty() => {
            state.toast(NoticeLevel::Info, format!("Read anew: {}.", changed.join(", ")), now);
        }
        None if reloaded.asked => state.toast(NoticeLevel::Info, "Read anew: nothing has changed.", now),
        None => {}
    }
    outcome
}

/// A mistake without the folder: its name is known, and the row is short.
fn short(state: &AppState, text: &str) -> String {
    let (path, rest) = text.split_once(": ").unwrap_or(("", text));
    let file = path.rsplit('/').next().unwrap_or_default();
    let is_path = path.starts_with('/') || path.starts_with(&*state.home.to_string_lossy());
    if is_path { format!("{file}: {rest}") } else { text.to_owned() }
}
