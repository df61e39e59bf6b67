//! Cards and lists over the page: opening them, and what follows from their answers.

use super::{Outcome, commands, jobs, keys, models, search, sessions, sheet, voice};
use crate::app::effect::{Effect, SessionChoice};
use crate::app::slash;
use crate::app::state::AppState;
use crate::config::action::Action;
use crate::proto::ask::PermissionAsk;
use crate::proto::command::Command;
use crate::proto::ids::AskId;
use crate::store::find::SessionInfo;
use crate::theme::load::FOLLOWS;
use crate::ui::layers::help::Help;
use crate::ui::layers::palette::Palette;
use crate::ui::layers::permission::PermissionCard;
use crate::ui::layers::sessions::SessionItem;
use crate::ui::layers::settings::Settings;
use crate::ui::layers::themes::{ThemeItem, Themes};
use crate::ui::layers::{Answer, CommandRow, ConfirmKind, Layer, LayerInput, LayerOutcome, LineKind};
use std::time::{Duration, Instant};

/// Whoever typed this short a time ago is still typing.
const STILL_TYPING: Duration = Duration::from_millis(1500);

/// Gives the topmost layer an input. `None`: it has no use for it.
pub fn handle(state: &mut AppState, input: LayerInput<'_>, now: Instant) -> Option<Outcome> {
    // What the sheet copies or counts is what there is now, not what was drawn.
    sheet::sync(state, now);
    let layer = state.layers.last_mut()?;
    match layer.handle(input, now) {
        LayerOutcome::Ignored => None,
        LayerOutcome::Unchanged => Some(Outcome::none()),
        LayerOutcome::Changed => Some(Outcome::changed()),
        LayerOutcome::Closed => Some(close_top(state)),
        LayerOutcome::Done(answer) => {
            state.layers.pop();
            Some(Outcome::changed().and(answered(state, answer, now)))
        }
        LayerOutcome::Emit(answer) => Some(Outcome::changed().and(answered(state, answer, now))),
    }
}

/// A click beside the topmost layer.
pub fn beside(state: &mut AppState, now: Instant) -> Outcome {
    handle(state, LayerInput::Act(Action::Cancel), now).unwrap_or_default()
}

fn close_top(state: &mut AppState) -> Outcome {
    let closed = state.layers.pop();
    if let Some(Layer::Confirm(confirm)) = &closed
        && matches!(confirm.kind(), ConfirmKind::FetchModel(_))
    {
        return voice::menu::refused(state);
    }
    if matches!(closed, Some(Layer::Themes(_))) {
        // Its file may have changed while others were tried.
        return Outcome::effect(Effect::LoadTheme(state.theme_name.clone()));
    }
    // Without a session there is nothing behind the list of sessions: a new one is begun.
    if matches!(closed, Some(Layer::Sessions(_))) && state.session.view.is_none() && !state.session.opening {
        return sessions::open(state, SessionChoice::New);
    }
    Outcome::changed()
}

pub(super) fn answered(state: &mut AppState, answer: Answer, now: Instant) -> Outcome {
    match answer {
        Answer::Permission { ask, answer } => {
            state.session.answered = Some(ask);
            Outcome::effect(Effect::Send(Command::AnswerPermission { ask, answer }))
        }
        Answer::Model(model) => models::set(model),
        Answer::Session(path) => sessions::open(state, SessionChoice::File(path)),
        Answer::RenameSession { path, name } if sessions::open_file(state).as_ref() == Some(&path) => {
            Outcome::effect(Effect::Send(Command::Rename(name)))
        }
        Answer::RenameSession { path, name } => Outcome::effect(Effect::RenameSession(path, name)),
        Answer::DeleteSession { path } => Outcome::effect(Effect::DeleteSession(path)),
        Answer::Theme { name, preview: true } => Outcome::effect(Effect::LoadTheme(name)),
        Answer::Theme { name, preview: false } => {
            state.theme_name.clone_from(&name);
            Outcome::effect(Effect::LoadTheme(name.clone()))
                .then(Effect::Save { key: "screen.theme", value: name })
        }
        Answer::Setting { key, value } => {
            Outcome::effect(Effect::Set { key: key.to_owned(), value: Some(value) })
        }
        Answer::ResetSetting { key } => Outcome::effect(Effect::Unset { key: key.to_owned() }),
        Answer::OpenJob(id) => jobs::open(state, &id, now),
        Answer::StopJob(id) => jobs::stop(state, id, now),
        Answer::Confirmed { kind: ConfirmKind::Quit, choice } => jobs::quit_answered(choice),
        Answer::Voice(choice) => voice::menu::chosen(state, choice, now),
        Answer::Confirmed { kind: ConfirmKind::FetchModel(name), .. } => voice::menu::agreed(state, name),
        Answer::Confirmed { kind: ConfirmKind::CleanUp { provider, with_reference }, .. } => {
            voice::clean_up_agreed(state, provider, with_reference)
        }
        Answer::Search(step) => search::step(state, step, now),
        Answer::Sheet(ask) => sheet::asked(state, ask, now),
        Answer::Action(action) => keys::act(state, action, now),
        Answer::Command(name) => match slash::find(&name) {
            Some(command) if command.argument.starts_with('<') => {
                state.composer.put_back(&format!("/{name} "), &[], now);
                Outcome::changed()
            }
            Some(command) => commands::run(state, command, "", now),
            None => Outcome::none(),
        },
        Answer::Line { kind: LineKind::SessionName, text } => {
            Outcome::effect(Effect::Send(Command::Rename(text)))
        }
        Answer::Line { .. } | Answer::Confirmed { .. } => Outcome::none(),
    }
}

/// A call waits for the user. It lies below a list that is open and below a search: whoever chooses or types there is not
/// interrupted.
pub fn ask(state: &mut AppState, ask: PermissionAsk, now: Instant) -> Outcome {
    if is_asked(state, ask.id) {
        return Outcome::none();
    }
    let was_typing = state.gestures.typed.is_some_and(|typed| {
        now.saturating_duration_since(typed) < STILL_TYPING && !state.composer.is_empty()
    });
    let card = Layer::Permission(Box::new(PermissionCard::new(ask, None, now, was_typing)));
    let is_above = |layer: &Layer| !matches!(layer, Layer::Permission(_));
    let below = state.layers.iter().position(is_above).unwrap_or(state.layers.len());
    // A sheet is only read: the question stands over it.
    let is_sheet = |layer: &Layer| matches!(layer, Layer::Sheet(_));
    let below = state.layers.iter().rposition(is_sheet).map_or(below, |at| at + 1);
    state.layers.insert(below, card);
    Outcome::changed()
}

/// A question was answered, here or elsewhere, or fell away.
pub fn resolved(state: &mut AppState, ask: AskId) -> Outcome {
    state.layers.retain(|layer| !matches!(layer, Layer::Permission(card) if card.ask().id == ask));
    Outcome::changed()
}

/// Nobody waits for answers any more.
pub fn drop_questions(state: &mut AppState) {
    state.layers.retain(|layer| !matches!(layer, Layer::Permission(_)));
}

/// The question is on the screen.
pub fn is_asked(state: &AppState, ask: AskId) -> bool {
    state.layers.iter().any(|layer| matches!(layer, Layer::Permission(card) if card.ask().id == ask))
}

/// Shows keys and commands.
pub fn open_help(state: &mut AppState) {
    state.layers.push(Layer::Help(Help::new(command_rows())));
}

/// Shows everything that can be done.
pub fn open_palette(state: &mut AppState) {
    state.layers.push(Layer::Palette(Palette::new(command_rows())));
}

/// Shows the themes; each is tried while it is chosen.
pub fn open_themes(state: &mut AppState) {
    let items = state.themes.iter().map(|name| {
        let detail = if FOLLOWS.contains(&name.as_str()) { "dark or light, as the terminal is" } else { "" };
        ThemeItem { name: name.clone(), detail: detail.to_owned() }
    });
    state.layers.push(Layer::Themes(Themes::new(items.collect(), &state.theme_name)));
}

/// Shows the settings.
pub fn open_settings(state: &mut AppState) {
    state.layers.push(Layer::Settings(Box::new(Settings::new(&state.loaded))));
}

fn command_rows() -> Vec<CommandRow> {
    let rows = slash::COMMANDS.iter().map(|command| CommandRow {
        name: command.name.to_owned(),
        argument: command.argument.to_owned(),
        text: command.text.to_owned(),
    });
    rows.collect()
}

/// The sessions to choose from are known.
pub fn sessions_listed(state: &mut AppState, listed: Vec<SessionInfo>, now_millis: i64) {
    let open = sessions::open_file(state);
    let items = listed.into_iter().map(|info| SessionItem {
        age: Duration::from_millis(u64::try_from(now_millis - info.last_activity).unwrap_or_default()),
        is_open: open.as_ref() == Some(&info.path),
        path: info.path,
        name: info.name,
        first_prompt: info.first_message.unwrap_or_default(),
        messages: info.messages,
        cwd: info.cwd,
        text: String::new(),
    });
    let items = items.collect();
    for layer in &mut state.layers {
        if let Layer::Sessions(picker) = layer {
            picker.set_items(items);
            picker.set_loading(false);
            return;
        }
    }
}
