//! What is being written: when it is kept, and what comes back with a session.
//!
//! Each session has its own. One in which nothing was said is no more than an empty page: what stands on it goes along to
//! the next such page of the same folder.

use super::Outcome;
use crate::agent::view::SessionView;
use crate::app::effect::Effect;
use crate::app::msg::Opened;
use crate::app::state::AppState;
use crate::proto::event::NoticeLevel;
use crate::proto::message::{Message, text_of};
use crate::store::drafts::{Found, Owner};
use std::time::{Duration, Instant};

/// What was written is on its way to the disk so soon after a change.
const DELAY: Duration = Duration::from_millis(400);

/// Whose draft it is that is written in this session; nobody's when sessions are not kept.
pub fn owner_of(view: &SessionView) -> Option<Owner> {
    let log = view.file.clone()?;
    Some(Owner { session: view.id.clone(), log, folder: view.cwd.clone() })
}

fn owner(state: &AppState) -> Option<Owner> {
    state.session.view.as_deref().and_then(owner_of)
}

/// Takes note of a change of what is written.
pub(super) fn look(state: &mut AppState, now: Instant) {
    let mark = state.composer.mark();
    if mark == state.draft.seen {
        return;
    }
    state.draft.seen = mark;
    if owner(state).is_none() {
        return;
    }
    // What was sent must not come back after a crash.
    let due = if state.composer.is_empty() { now } else { now + DELAY };
    state.draft.due = Some(state.draft.due.map_or(due, |before| before.min(due)));
}

/// Keeps what is written, if it has changed.
pub fn keep_if_changed(state: &mut AppState, _now: Instant) -> Outcome {
    if state.draft.due.take().is_none() {
        return Outcome::none();
    }
    keep(state)
}

fn keep(state: &AppState) -> Outcome {
    match owner(state) {
        Some(owner) => silent(Effect::KeepDraft(owner, state.composer.draft())),
        None => Outcome::none(),
    }
}

/// Nothing on the screen tells of it.
fn silent(effect: Effect) -> Outcome {
    Outcome { effects: vec![effect], changed: false }
}

/// A session is about to take the place of the one that is shown: each keeps what is written in it.
pub(super) fn session_opened(state: &mut AppState, opened: &mut Opened, now: Instant) -> Outcome {
    let asked = opened.history.iter().filter_map(|message| match message.as_ref() {
        Message::User(user) => Some(text_of(&user.content)).filter(|text| !text.is_empty()),
        _ => None,
    });
    let asked: Vec<String> = asked.collect();
    let before = owner(state);
    let draft = state.composer.draft();
    let found = opened.draft.take();
    let Some(after) = owner_of(&opened.view) else {
        state.composer.history_mut().open_session(asked);
        return Outcome::none();
    };
    let outcome = match before {
        None => match found {
            Some(found) => restore(state, &found, &after, now),
            None => keep_later(state, now),
        },
        Some(before) if before.session == after.session => Outcome::none(),
        Some(before) => {
            let is_page = state.conversation.is_unused();
            let is_next_page = is_page && opened.history.is_empty() && before.folder == after.folder;
            if is_next_page && draft.is_some() {
                let gone = silent(Effect::KeepDraft(before, None));
                state.draft.due = None;
                silent(Effect::KeepDraft(after, draft)).and(gone)
            } else {
                // What this program kept for the page before is stale: it was emptied since.
                let found = found.filter(|found| found.from.as_ref() != Some(&before.session));
                let kept = silent(Effect::KeepDraft(before, draft));
                state.draft.due = None;
                state.composer.begin_with(None);
                kept.and(found.map_or_else(Outcome::none, |found| restore(state, &found, &after, now)))
            }
        }
    };
    state.composer.history_mut().open_session(asked);
    state.draft.seen = state.composer.mark();
    outcome
}

/// Text that was typed before any session was open is kept once there is one.
fn keep_later(state: &mut AppState, now: Instant) -> Outcome {
    if !state.composer.is_empty() {
        state.draft.due = Some(now + DELAY);
    }
    Outcome::none()
}

fn restore(state: &mut AppState, found: &Found, owner: &Owner, now: Instant) -> Outcome {
    state.composer.put_draft_before(&found.draft);
    // From now on this program writes it, and what was typed meanwhile belongs to it.
    state.draft.due = Some(now + DELAY);
    state.toast(NoticeLevel::Info, "What you were writing here is back.", now);
    let Some(from) = &found.from else { return Outcome::none() };
    // Kept in its new place first, so that it is never in none.
    let kept = silent(Effect::KeepDraft(owner.clone(), state.composer.draft()));
    kept.and(silent(Effect::KeepDraft(Owner { session: from.clone(), ..owner.clone() }, None)))
}
