//! What became of effects.

use super::{
    Outcome, copy, display, drafts, jobs, keys, layers, models, select, sessions, settings, sheet, voice,
};
use crate::app::effect::{Effect, How, SessionChoice};
use crate::app::msg::{Done, Opened};
use crate::app::state::{AppState, Early};
use crate::config::settings::{Holds, Settings, setting};
use crate::proto::command::{Command, Placement};
use crate::proto::event::NoticeLevel;
use crate::proto::voice::VoiceCommand;
use crate::term::clipboard::{Copied, Multiplexer};
use crate::ui::chrome::phase::Phase;
use crate::ui::layers::Layer;
use std::time::Instant;

/// Something is done.
pub fn done(state: &mut AppState, done: Done, now: Instant) -> Outcome {
    match done {
        Done::Opened(opened) => return opened_session(state, *opened, now),
        Done::NotOpened(error) => return not_opened(state, error),
        Done::History(records) => state.composer.history_mut().load(records),
        Done::Listing { folder, entries } => {
            state.listing = None;
            state.composer.inform_completer(|completer| completer.set_listing(folder, entries));
        }
        Done::Branch(branch) => {
            let changed = state.branch != branch;
            state.branch = branch;
            return Outcome { effects: Vec::new(), changed };
        }
        Done::Sessions(sessions, now_millis) => layers::sessions_listed(state, sessions, now_millis),
        Done::Theme(theme) => state.theme = *theme,
        Done::Copied(copied) => {
            let (level, text) = copy_notice(&copied);
            if !sheet::copied(state, &copied, &text, level, now) {
                state.toast(level, text, now);
            }
        }
        Done::CardCopied { item, card, copied } => copy::copied(state, (item, card), &copied, now),
        Done::JobLog { id, part } => return jobs::read(state, &id, part, now),
        Done::Refined { recording, result } => return voice::refined(state, recording, result, now),
        Done::CleanUpAsks { recording, question, to } => {
            return voice::clean_up_asks(state, recording, &question, to, now);
        }
        Done::GatherOn => return select::gather_on(state, now),
        Done::LinkCopied(why, copied) => {
            let (level, text) = copy_notice(&copied);
            state.toast(level, format!("Not opened ({why}). {text}"), now);
        }
        Done::Pasted(Ok(text)) => return keys::paste(state, &text, now),
        Done::Pasted(Err(why)) => state.toast(NoticeLevel::Info, format!("Not pasted: {why}."), now),
        Done::Edited(Ok(text)) => state.composer.replace_all(&text, now),
        Done::Edited(Err(error)) => {
            state.toast(NoticeLevel::Warning, format!("{error} What was written is as it was."), now);
        }
        Done::FilesChanged => return settings::reload(state, false),
        Done::Reloaded(reloaded) => return settings::reloaded(state, *reloaded, now),
        Done::NotSet { key, why } => {
            for layer in &mut state.layers {
                if let Layer::Settings(settings) = layer {
                    settings.failed(&why);
                }
            }
            tracing::debug!("{key} was not written: {why}");
            state.toast(NoticeLevel::Warning, why, now);
        }
        Done::Set { key, value, but, loaded } => {
            let (outcome, from) = setting_written(state, &key, &loaded.settings);
            settings::now_hold(state, *loaded, Some(&key));
            let value = if value.is_empty() { "empty".to_owned() } else { value };
            let text =
                if but.is_empty() { format!("{key} is {value} {from}.") } else { format!("{key}: {but}") };
            state.toast(NoticeLevel::Info, text, now);
            return outcome;
        }
        Done::Toast(level, text) => state.toast(level, text, now),
    }
    Outcome::changed()
}

/// What can change while the program runs changes at once; of the rest it is said when it will hold.
pub(super) fn setting_written(
    state: &mut AppState,
    key: &str,
    settings: &Settings,
) -> (Outcome, &'static str) {
    let screen = &settings.screen;
    let mut outcome = Outcome::changed();
    match key {
        "screen.theme" => {
            state.theme_name.clone_from(&screen.theme);
            outcome = outcome.then(Effect::LoadTheme(screen.theme.clone()));
        }
        "screen.contrast" => outcome = outcome.then(Effect::LoadTheme(state.theme_name.clone())),
        "screen.colors" => {
            // Which theme is meant depends on it.
            outcome = outcome.then(Effect::ApplyColors).then(Effect::LoadTheme(state.theme_name.clone()));
        }
        "screen.glyphs" => state.glyphs = screen.glyphs,
        "screen.reduced_motion" => state.motion = !screen.reduced_motion,
        "screen.sticky_heading" => state.pane.set_sticky_heading(screen.sticky_heading),
        "screen.scrollbar" => state.pane.set_scrollbar(screen.scrollbar),
        "screen.mouse" => {
            if screen.wheel_only != state.wheel_only {
                state.wheel_only = screen.wheel_only;
                outcome = outcome.then(Effect::WheelOnly(screen.wheel_only));
            }
            if screen.mouse != state.mouse {
                state.mouse = screen.mouse;
                outcome = outcome.then(Effect::Mouse(screen.mouse));
            }
        }
        "screen.wheel_lines" | "screen.wheel_events" => state.set_wheel(screen),
        "screen.open_links" => state.open_links = screen.open_links,
        "screen.keyboard" => outcome = outcome.then(Effect::Keyboard(screen.keyboard)),
        "screen.title" => outcome = outcome.then(Effect::Title(screen.title)),
        "screen.ascii" => outcome = outcome.then(Effect::Ascii(screen.ascii)),
        key if key.starts_with("voice.") => {
            let engine = Box::new(settings.voice.engine.clone());
            outcome = outcome.then(Effect::Voice(VoiceCommand::Configure(engine)));
        }
        key if key.starts_with("display.") => display::now_hold(state, settings),
        "jobs.at_quit" => state.jobs_at_quit = settings.jobs.at_quit,
        "composer.enter_while_running" => state.enter_steers = settings.enter_steers,
        _ => {
            // What nothing here takes in can't hold now, whatever the table says.
            let holds = setting(key).map(|meta| meta.holds).filter(|holds| *holds != Holds::Now);
            return (outcome, holds.unwrap_or(Holds::NextStart).as_str());
        }
    }
    (outcome, Holds::Now.as_str())
}

/// An OSC 52 sequence is never confirmed, so it is not called a copy.
pub(super) fn copy_notice(copied: &Copied) -> (NoticeLevel, String) {
    let info = |text: &str| (NoticeLevel::Info, text.to_owned());
    match copied {
        Copied::Confirmed => info("Copied to the clipboard."),
        Copied::Sent(Multiplexer::None) => info("Sent to the terminal's clipboard (OSC 52, not confirmed)."),
        Copied::Sent(Multiplexer::Tmux) => {
            info("Sent to the clipboard through tmux (OSC 52, not confirmed).")
        }
        Copied::Sent(Multiplexer::Screen) => {
            info("Sent to the clipboard through screen (OSC 52, not confirmed).")
        }
        Copied::Kept { file, sent } => {
            let file = file.display();
            let text = if *sent {
                format!("Sent (OSC 52), but too long for some terminals: it is also in {file}.")
            } else {
                format!("Too long for the terminal's clipboard: it is in {file} instead.")
            };
            (NoticeLevel::Info, text)
        }
        Copied::Failed(why) => (NoticeLevel::Warning, format!("Not copied: {why}")),
    }
}

fn opened_session(state: &mut AppState, mut opened: Opened, now: Instant) -> Outcome {
    let is_first = state.session.view.is_none();
    let kept = drafts::session_opened(state, &mut opened, now);
    state.session.opening = false;
    state.session.dead = false;
    state.session.clock = None;
    state.session.responded = None;
    state.session.problem = None;
    state.session.answered = None;
    state.session.models = opened.models;
    let stopped = jobs::stopped_with_session(state);
    state.jobs.take(&opened.view.jobs, (state.wall_now)(), now);
    state.session.view = Some(opened.view);
    state.phase = Phase::default();
    layers::drop_questions(state);
    if !is_first {
        state.conversation.clear();
    }
    state.pane.to_end();
    voice::heed_history(state, &opened.history);
    // Notices from before the first session stay above: they are about the settings.
    state.conversation.load(opened.history);
    for text in opened.notices {
        state.conversation.notice(NoticeLevel::Warning, text);
    }
    if let Some(text) = stopped {
        state.conversation.notice(NoticeLevel::Info, text);
    }
    state.tell_values();
    models::listed(state);
    if let Some(next) = state.session.next.take() {
        return kept.and(sessions::open(state, next));
    }
    let mut outcome = kept.and(Outcome::changed());
    for early in std::mem::take(&mut state.session.waiting) {
        outcome = outcome.then(match early {
            Early::Prompt(prompt) => Effect::Submit(prompt, How::Own(Placement::Back)),
            Early::Shell { command, shown_only } => Effect::Send(Command::RunShell { command, shown_only }),
        });
    }
    outcome
}

fn not_opened(state: &mut AppState, error: String) -> Outcome {
    state.session.opening = false;
    // The one that stands in mostly fails for the same reason: said once is enough.
    if state.session.problem.as_ref() != Some(&error) {
        state.conversation.notice(NoticeLevel::Error, error.clone());
        state.pane.to_end();
    }
    if let Some(next) = state.session.next.take() {
        return sessions::open(state, next);
    }
    if state.session.view.is_some() {
        return Outcome::changed();
    }
    state.session.problem = Some(error);
    if state.session.fell_back {
        return Outcome::changed();
    }
    // Without a session nothing can be said: a new one stands in for the one that was asked for.
    state.session.fell_back = true;
    state.session.opening = true;
    Outcome::changed().then(Effect::Open(SessionChoice::New))
}
