//! What the agent tells.

use super::{Outcome, jobs, layers, voice};
use crate::agent::view::{RunningView, SessionView};
use crate::app::effect::Effect;
use crate::app::state::AppState;
use crate::proto::ask::PermissionAsk;
use crate::proto::command::TicketOutcome;
use crate::proto::event::{AgentEvent, NoticeLevel};
use crate::ui::chrome::phase::Phase;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An event.
pub fn event(state: &mut AppState, event: AgentEvent, now: Instant) -> Outcome {
    let clock = (state.time_of_day)();
    state.conversation.apply(&event, now, clock);
    state.phase.on_event(&event, now);
    voice::heed_agent(state, &event);
    if let AgentEvent::TurnStarted { turn, .. } = &event {
        let verb = state.verbs.of(*turn);
        state.phase.set_verb(verb.map(|verb| verb.present.clone()));
        state.conversation.set_verb(verb.map(|verb| verb.past.clone()));
    }
    match event {
        // The card may be there already; that the turn waits is seen elsewhere, too.
        AgentEvent::PermissionAsked(ask) => layers::ask(state, ask, now).and(Outcome::changed()),
        AgentEvent::PermissionResolved { ask } => layers::resolved(state, ask),
        AgentEvent::RoundFinished { .. } => {
            state.session.clock = Some(clock);
            state.session.responded = Some(now);
            Outcome::changed()
        }
        // The phase line counts down; why it has to is what decides whether one waits.
        AgentEvent::RetryScheduled { error, delay_ms, .. } => {
            state.toast(NoticeLevel::Warning, error, now);
            if let Some(toast) = &mut state.toast {
                toast.until = toast.until.max(now + Duration::from_millis(delay_ms));
            }
            Outcome::changed()
        }
        AgentEvent::RetryFinished { .. } => {
            state.toast = None;
            Outcome::changed()
        }
        // A command may have checked out another branch, or made files.
        AgentEvent::TurnFinished { .. } | AgentEvent::ShellFinished { .. } => {
            state.tell_blocks();
            state.composer.inform_completer(|completer| completer.forget_listings());
            state.listing = None;
            Outcome::effect(Effect::FindBranch)
        }
        _ => Outcome::changed(),
    }
}

/// Its state, as published.
pub fn view(state: &mut AppState, view: Arc<SessionView>, now: Instant) -> Outcome {
    if let Some(ask) = &view.ask
        && state.session.answered != Some(ask.id)
    {
        // A question that was asked before anybody listened, or whose event is still on its way.
        layers::ask(state, PermissionAsk::clone(ask), now);
    }
    let has_changed = state.jobs.take(&view.jobs, (state.wall_now)(), now);
    state.session.view = Some(view);
    if has_changed { jobs::changed(state) } else { Outcome::changed() }
}

/// It will tell nothing any more, and nobody asked it to end.
pub fn ended(state: &mut AppState, now: Instant) -> Outcome {
    state.session.dead = true;
    state.phase = Phase::default();
    layers::drop_questions(state);
    let error = "The agent has stopped by a mistake of its own. What was said up to here is kept in the session. \
                 /resume opens it again; the details are in the log file.";
    // It tells no end of what ran. As long as that seems to run, no key quits: they would all try to stop it.
    let running = state.session.view.as_mut().map(Arc::make_mut).and_then(|view| {
        view.shell = None;
        view.ask = None;
        view.running.take()
    });
    match running {
        Some(RunningView { turn, ticket, .. }) => {
            let outcome = TicketOutcome::Failed { error: error.to_owned() };
            let event = AgentEvent::TurnFinished { turn, ticket, outcome };
            state.conversation.apply(&event, now, (state.time_of_day)());
        }
        None => state.conversation.notice(NoticeLevel::Error, error),
    }
    // Rows that wait stay, and can be taken back.
    Outcome::changed()
}
