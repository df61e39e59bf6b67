//! What is sent, and rows that wait.

use super::{Outcome, commands};
use crate::app::effect::{Effect, How};
use crate::app::slash;
use crate::app::state::{AppState, Early};
use crate::config::action::Action;
use crate::proto::command::{Command, Placement, Prompt, QueueCommand};
use crate::proto::event::NoticeLevel;
use crate::proto::ids::TicketId;
use crate::proto::message::{Block, text_of};
use crate::ui::composer::{Delivery, LineKind, Submission};
use std::sync::Arc;
use std::time::Instant;

/// Something was sent.
pub fn submission(state: &mut AppState, submission: Submission, now: Instant) -> Outcome {
    let remembered = submission.record.clone().map(Effect::Remember);
    let outcome = match submission.kind {
        LineKind::Command => command_or_prompt(state, submission, now),
        LineKind::Prompt => prompt(state, submission, now),
        LineKind::Shell => shell(state, submission, false, now),
        LineKind::ShellShownOnly => shell(state, submission, true, now),
    };
    match remembered {
        Some(effect) => outcome.then(effect),
        None => outcome,
    }
}

/// `/name …` is a command if there is one of this name. A path is a prompt; anything else is a slip.
fn command_or_prompt(state: &mut AppState, submission: Submission, now: Instant) -> Outcome {
    let typed = submission.text.trim_start_matches('/');
    let (name, argument) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    if let Some(command) = slash::find(name) {
        return commands::run(state, command, argument.trim(), now);
    }
    if name.contains('/') || name.is_empty() {
        return prompt(state, submission, now);
    }
    let help = state.keymap.hint(Action::Help).map(|key| format!(" {key} lists all.")).unwrap_or_default();
    state.toast(NoticeLevel::Warning, format!("There is no command /{name}.{help}"), now);
    state.composer.put_back(&submission.shown, &submission.pastes, now);
    Outcome::changed()
}

fn prompt(state: &mut AppState, submission: Submission, now: Instant) -> Outcome {
    if let Some(refused) = refused(state, &submission, now) {
        return refused;
    }
    let display = (submission.shown != submission.text).then_some(submission.shown);
    let prompt = Prompt { content: vec![Block::text(submission.text)], display };
    state.pane.to_end();
    if state.session.view.is_none() {
        state.session.waiting.push(Early::Prompt(prompt));
        return Outcome::changed();
    }
    let how = match submission.delivery {
        Delivery::Submit if state.is_running() && state.enter_steers => How::Steer,
        Delivery::Submit | Delivery::Queue => How::Own(Placement::Back),
        Delivery::SendNow => How::Own(Placement::Replace),
    };
    Outcome::effect(Effect::Submit(prompt, how))
}

/// With a dead agent, or none and none to come, nothing can be sent: what was written stays.
fn refused(state: &mut AppState, submission: &Submission, now: Instant) -> Option<Outcome> {
    let text = if state.session.dead {
        "The agent has ended. What was said is kept: /resume opens the session again."
    } else if state.session.problem.is_some() && !state.session.opening {
        "No session could be opened, so nothing is sent. /new tries again, /resume opens another."
    } else {
        return None;
    };
    state.toast(NoticeLevel::Error, text, now);
    state.composer.put_back(&submission.shown, &submission.pastes, now);
    Some(Outcome::changed())
}

fn shell(state: &mut AppState, submission: Submission, shown_only: bool, now: Instant) -> Outcome {
    if let Some(refused) = refused(state, &submission, now) {
        return refused;
    }
    state.pane.to_end();
    if state.session.view.is_none() {
        state.session.waiting.push(Early::Shell { command: submission.text, shown_only });
        return Outcome::changed();
    }
    Outcome::effect(Effect::Send(Command::RunShell { command: submission.text, shown_only }))
}

/// The key to send was pressed with nothing written: the first row that waits is sent now.
pub fn nothing_written(state: &AppState, delivery: Delivery) -> Outcome {
    let Some(view) = &state.session.view else { return Outcome::none() };
    let queued = view.queue.first().map(|row| (row.ticket, row.version));
    let first = queued.or_else(|| view.steering.first().map(|row| (row.ticket, row.version)));
    match first.filter(|_| delivery != Delivery::Queue) {
        Some((ticket, version)) => {
            Outcome::effect(Effect::Send(Command::Queue(QueueCommand::SendNow { ticket, version })))
        }
        None => Outcome::none(),
    }
}

/// Takes the last row that waits back into the composer.
pub fn take_back(state: &mut AppState, now: Instant) -> Outcome {
    match state.session.waiting.pop() {
        Some(Early::Prompt(prompt)) => return write_again(state, &prompt, now),
        Some(Early::Shell { command, shown_only }) => {
            let mark = if shown_only { "!!" } else { "!" };
            state.composer.put_back(&format!("{mark}{command}"), &[], now);
            return Outcome::changed();
        }
        None => {}
    }
    let Some(view) = state.session.view.clone() else { return Outcome::none() };
    let steering = view.steering.last().map(|row| row.ticket);
    match view.queue.last().map(|row| row.ticket).or(steering) {
        Some(ticket) => take_back_one(state, ticket, now),
        None => Outcome::none(),
    }
}

/// Takes this row back into the composer.
pub fn take_back_one(state: &mut AppState, ticket: TicketId, now: Instant) -> Outcome {
    let Some(view) = state.session.view.clone() else { return Outcome::none() };
    let queued = view.queue.iter().map(|row| (row.ticket, row.version, &row.prompt));
    let steering = view.steering.iter().map(|row| (row.ticket, row.version, &row.prompt));
    let Some((ticket, version, prompt)) = queued.chain(steering).find(|(id, ..)| *id == ticket) else {
        return Outcome::none();
    };
    let prompt: Arc<Prompt> = prompt.clone();
    let removed = Effect::Send(Command::Queue(QueueCommand::Remove { ticket, version }));
    write_again(state, &prompt, now).then(removed)
}

fn write_again(state: &mut AppState, prompt: &Prompt, now: Instant) -> Outcome {
    state.composer.put_back(&text_of(&prompt.content), &[], now);
    Outcome::changed()
}
