//! Background jobs: their logs, stopping them, and what becomes of them when the program is left.

use super::{Outcome, keys};
use crate::app::effect::Effect;
use crate::app::msg::Done;
use crate::app::state::AppState;
use crate::config::jobs::AtQuit;
use crate::proto::command::Command;
use crate::proto::event::NoticeLevel;
use crate::proto::ids::JobId;
use crate::proto::job::{JobEnding, JobState, StoppedBy};
use crate::text::formats;
use crate::transcript::item::{Body, CallPhase, Item};
use crate::ui::entries::jobs::BASH;
use crate::ui::jobs::log::{JobLog, LogPart};
use crate::ui::layers::confirm::Confirm;
use crate::ui::layers::jobs::Jobs;
use crate::ui::layers::sheet::Sheet;
use crate::ui::layers::{ConfirmKind, Layer};
use std::time::Instant;

/// Calls that run stand among the newest rows.
const MOST_LOOKED_AT: usize = 200;

/// Shows the log of a job.
pub fn open(state: &mut AppState, id: &JobId, now: Instant) -> Outcome {
    let Some(job) = state.jobs.get(id).cloned() else {
        state.toast(
            NoticeLevel::Info,
            format!("The job {id} is over: its row in the transcript tells of it."),
            now,
        );
        return Outcome::changed();
    };
    state.job_log = Some(JobLog::new(job));
    state.layers.push(Layer::Sheet(Box::new(Sheet::of_job(id.clone(), &state.theme))));
    read_on(state)
}

/// Shows all jobs.
pub fn list(state: &mut AppState, now: Instant) -> Outcome {
    if state.jobs.iter().next().is_none() {
        state.toast(NoticeLevel::Info, "There are no background jobs.", now);
        return Outcome::changed();
    }
    state.layers.push(Layer::Jobs(Jobs::new(&state.jobs)));
    Outcome::changed()
}

/// Lets the command that runs go on in the background.
pub fn send_to_background(state: &mut AppState, now: Instant) -> Outcome {
    let runs = |item: &Item| matches!(&item.body, Body::Call(call) if call.tool == BASH && matches!(call.phase, CallPhase::Running { .. }));
    if !state.conversation.items().iter().rev().take(MOST_LOOKED_AT).any(runs) {
        state.toast(NoticeLevel::Info, "No command runs that could go on in the background.", now);
        return Outcome::changed();
    }
    Outcome::effect(Effect::Send(Command::SendToBackground))
}

/// Stops a job.
pub fn stop(state: &mut AppState, id: JobId, now: Instant) -> Outcome {
    if state.jobs.get(&id).is_none_or(|job| !job.view.state.is_live()) {
        state.toast(NoticeLevel::Info, "The job has ended.", now);
        return Outcome::changed();
    }
    Outcome::effect(Effect::Send(Command::StopJob(id)))
}

/// Jobs are others than before.
pub fn changed(state: &mut AppState) -> Outcome {
    for layer in &mut state.layers {
        if let Layer::Jobs(list) = layer {
            list.set(&state.jobs);
        }
    }
    if let Some(log) = &mut state.job_log
        && let Some(job) = state.jobs.get(log.id())
    {
        log.set_job(job.clone());
    }
    read_on(state)
}

/// A part of a log was read.
pub fn read(state: &mut AppState, id: &JobId, part: Result<LogPart, String>, now: Instant) -> Outcome {
    let Some(log) = state.job_log.as_mut().filter(|log| log.id() == id) else { return Outcome::none() };
    match part {
        Ok(part) => log.take(&part),
        Err(error) => {
            log.failed();
            state.toast(NoticeLevel::Error, error, now);
        }
    }
    read_on(state)
}

/// Reads on in the log that is shown, if there is more.
fn read_on(state: &mut AppState) -> Outcome {
    let is_shown =
        state.layers.iter().any(|layer| matches!(layer, Layer::Sheet(sheet) if sheet.job().is_some()));
    if !is_shown {
        state.job_log = None;
    }
    let wanted = state.job_log.as_mut().and_then(|log| Some((log.wants()?, log.id().clone())));
    match wanted {
        Some((from, id)) => Outcome { effects: vec![Effect::ReadJobLog { id, from }], changed: true },
        None => Outcome::changed(),
    }
}

/// What is told when another session has taken the place of one whose jobs ended with it.
pub fn stopped_with_session(state: &AppState) -> Option<String> {
    let is_stopped = |state: &JobState| match state {
        JobState::Running | JobState::Stopping { .. } => true,
        JobState::Ended(end) => end.how == JobEnding::Stopped(StoppedBy::End),
    };
    let stopped = state.jobs.iter().filter(|job| is_stopped(&job.view.state)).count() as u64;
    let verb = if stopped == 1 { "was" } else { "were" };
    let jobs = formats::counted(stopped, "background job");
    (stopped > 0).then(|| format!("{jobs} of the session before {verb} stopped with it."))
}

/// Leaves the program. Jobs that run are kept or stopped: the settings or the user say which.
pub fn quit(state: &mut AppState) -> Outcome {
    let live = state.jobs.live().count() as u64;
    let is_kept_anywhere = state.session.view.as_ref().is_some_and(|view| view.file.is_some());
    if live == 0 || !is_kept_anywhere {
        return keys::quit_now();
    }
    match state.jobs_at_quit {
        AtQuit::Keep => leave(true),
        AtQuit::Stop => leave(false),
        AtQuit::Ask => {
            let is_asked = |layer: &Layer| matches!(layer, Layer::Confirm(confirm) if *confirm.kind() == ConfirmKind::Quit);
            if state.layers.iter().any(is_asked) {
                return Outcome::none();
            }
            let verb = if live == 1 { "runs" } else { "run" };
            let title = format!("{} {verb} in the background. Quit?", formats::counted(live, "job"));
            let detail = "Kept jobs go on without Mynah. The next run of this session takes them over and tells of their ends.";
            let answers = ["Keep them running", "Stop them", "Do not quit"];
            state.layers.push(Layer::Confirm(Confirm::new(ConfirmKind::Quit, &title, detail, &answers)));
            Outcome::changed()
        }
    }
}

/// The user's answer to that, by its place.
pub fn quit_answered(choice: usize) -> Outcome {
    leave(choice == 0)
}

fn leave(keeps: bool) -> Outcome {
    let Outcome { effects, .. } = keys::quit_now();
    let mut all = vec![Effect::Send(Command::KeepJobs(keeps))];
    all.extend(effects);
    Outcome { effects: all, changed: false }
}

/// What came of reading a log.
pub const fn told(id: JobId, part: Result<LogPart, String>) -> Done {
    Done::JobLog { id, part }
}
