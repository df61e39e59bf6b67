//! Commands behind a slash: one function each, found by the table in [`crate::app::slash`].

use super::{Outcome, jobs, keys, layers, models, sessions, settings, voice};
use crate::app::effect::{Effect, SessionChoice};
use crate::app::slash::SlashCommand;
use crate::app::state::AppState;
use crate::proto::command::Command;
use crate::proto::event::NoticeLevel;
use crate::text::formats;
use std::fmt::Write;
use std::time::Instant;

/// Runs a command.
pub fn run(state: &mut AppState, command: &SlashCommand, argument: &str, now: Instant) -> Outcome {
    match command.name {
        "help" => layers::open_help(state),
        "model" => return models::choose(state, argument),
        "thinking" => return thinking(state, argument, now),
        "mode" => return mode(state, argument, now),
        "new" => return sessions::new(state, now),
        "resume" => {
            sessions::open_picker(state);
            return Outcome::effect(Effect::ListSessions);
        }
        "clone" => return clone(state, now),
        "name" => return name(state, argument, now),
        "session" => {
            let text = session_facts(state);
            state.conversation.notice(NoticeLevel::Info, text);
            state.pane.to_end();
        }
        "copy" => return copy(state, now),
        "fold" => return fold(state, argument, now),
        "copy-block" => return super::copy::block(state, argument, now),
        "voice" => return voice::menu::command(state, argument, now),
        "display" => return super::display::command(state, argument, now),
        "theme" => return theme(state, argument),
        "set" => return set(state, argument, now),
        "settings" => layers::open_settings(state),
        "reload" => return settings::reload(state, true),
        "trust" => return Outcome::effect(Effect::Trust(true)),
        "untrust" => return Outcome::effect(Effect::Trust(false)),
        "jobs" => return jobs::list(state, now),
        "quit" => return jobs::quit(state),
        other => state.toast(NoticeLevel::Warning, format!("/{other} does nothing here."), now),
    }
    Outcome::changed()
}

fn thinking(state: &mut AppState, argument: &str, now: Instant) -> Outcome {
    if argument.is_empty() {
        return models::next_thinking(state, now);
    }
    match argument.parse() {
        Ok(level) => models::set_thinking(level),
        Err(error) => told(state, &error, now),
    }
}

fn mode(state: &mut AppState, argument: &str, now: Instant) -> Outcome {
    if argument.is_empty() {
        return models::next_mode(state, now);
    }
    match argument.parse() {
        Ok(mode) => models::set_mode(mode),
        Err(error) => told(state, &error, now),
    }
}

fn told(state: &mut AppState, error: &impl std::fmt::Display, now: Instant) -> Outcome {
    state.toast(NoticeLevel::Warning, format!("{error}."), now);
    Outcome::changed()
}

fn clone(state: &mut AppState, now: Instant) -> Outcome {
    match sessions::open_file(state).filter(|_| !state.conversation.is_empty()) {
        Some(file) => sessions::open(state, SessionChoice::CopyOf(file)),
        None => {
            state.toast(NoticeLevel::Info, "There is nothing to copy yet.", now);
            Outcome::changed()
        }
    }
}

fn name(state: &mut AppState, argument: &str, now: Instant) -> Outcome {
    if !argument.is_empty() {
        return Outcome::effect(Effect::Send(Command::Rename(argument.to_owned())));
    }
    let name = state.session.view.as_ref().and_then(|view| view.name.clone());
    let text = name.map_or_else(
        || "The session has no name yet. /name TEXT gives it one.".to_owned(),
        |name| format!("The session is called {name}."),
    );
    state.toast(NoticeLevel::Info, text, now);
    Outcome::changed()
}

fn copy(state: &mut AppState, now: Instant) -> Outcome {
    match state.conversation.last_reply() {
        Some(text) => Outcome::effect(Effect::Copy(text.to_owned())),
        None => {
            state.toast(NoticeLevel::Info, "There is no answer to copy yet.", now);
            Outcome::changed()
        }
    }
}

fn fold(state: &mut AppState, argument: &str, now: Instant) -> Outcome {
    match argument {
        "" => keys::set_folded(state, !state.display.folded),
        "on" => keys::set_folded(state, true),
        "off" => keys::set_folded(state, false),
        _ => {
            state.toast(NoticeLevel::Warning, "Write /fold on or /fold off.", now);
            Outcome::changed()
        }
    }
}

fn theme(state: &mut AppState, argument: &str) -> Outcome {
    if argument.is_empty() {
        layers::open_themes(state);
        return Outcome::changed();
    }
    state.theme_name = argument.to_owned();
    Outcome::effect(Effect::LoadTheme(argument.to_owned()))
        .then(Effect::Save { key: "screen.theme", value: argument.to_owned() })
}

fn set(state: &mut AppState, argument: &str, now: Instant) -> Outcome {
    let (key, value) = match argument.split_once(char::is_whitespace) {
        Some((key, value)) => (key, Some(value.trim().to_owned())),
        None => (argument, None),
    };
    if key.is_empty() {
        state.toast(NoticeLevel::Info, "Name a setting: /set screen.theme terminal.", now);
        return Outcome::changed();
    }
    Outcome::effect(Effect::Set { key: key.to_owned(), value })
}

fn session_facts(state: &AppState) -> String {
    let Some(view) = &state.session.view else { return "No session is open yet.".to_owned() };
    let mut text = format!("Session {}", view.id);
    let file = view.file.as_ref().map_or("kept in memory only".to_owned(), |file| file.display().to_string());
    let usage = &view.usage;
    let counts = &view.counts;
    let facts = [
        ("name", view.name.clone().unwrap_or_else(|| "none".to_owned())),
        ("file", file),
        ("folder", view.cwd.display().to_string()),
        ("model", format!("{} · thinking {}", view.model, view.thinking)),
        (
            "said",
            format!(
                "{} · {} · {}",
                formats::counted(counts.prompts, "prompt"),
                formats::counted(counts.rounds, "turn"),
                formats::counted(counts.tools, "tool call"),
            ),
        ),
        (
            "tokens",
            format!(
                "{} in · {} cached · {} out",
                formats::tokens(usage.input + usage.cache_write),
                formats::tokens(usage.cache_read),
                formats::tokens(usage.output)
            ),
        ),
        ("cost", formats::money(usage.cost.total)),
    ];
    for (fact, value) in facts {
        // A text takes everything.
        let _always = write!(text, "\n{fact:<7}{value}");
    }
    text
}
