//! A job as one row: its ground the state, a mark at the left, and its words side by side from the left.

use super::ShownJob;
use super::line::JobLine;
use crate::proto::chain::{Wait, WaitKind};
use crate::proto::job::{JobEnd, JobEnding, JobState};
use crate::text::formats;
use crate::text::row::Row;
use crate::theme::role::Role;
use crate::ui::band::ground::{Grounds, Motion};
use crate::ui::band::line;
use crate::ui::band::live_time;
use crate::ui::band::seg::Seg;
use crate::ui::band::state::State;
use crate::ui::entries::EntryCx;
use crate::ui::scene::NextDeadline;
use ratatui::style::Color;
use std::time::{Duration, Instant};

/// A job that prints nothing for so long is quiet.
const QUIET_AFTER: Duration = Duration::from_secs(30);

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SPINNER_STEP: Duration = Duration::from_millis(80);
const QUIET_STEP: Duration = Duration::from_secs(1);
const STOPPING: [&str; 4] = ["◐", "◓", "◑", "◒"];
const STOPPING_STEP: Duration = Duration::from_millis(250);

/// The row of a job at this moment, as wide as `cx`; tells `next` when it is another one.
pub fn row(job: &ShownJob, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
    drawn(&looks(job, cx, next), cx, next)
}

/// The row of something that is over, or that nobody watches.
pub fn still(line: &JobLine, state: State, cx: &EntryCx<'_>) -> Row {
    let looks = Looks { state, motion: Motion::Still, mark: Mark::Still, line: line.clone() };
    drawn(&looks, cx, &mut NextDeadline::default())
}

fn drawn(looks: &Looks, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
    let grounds = Grounds::of(looks.state, looks.motion, cx, 1, next);
    let margin = cx.margin();
    let room = usize::from(cx.width.saturating_sub(margin));
    let mut words = looks.line.fitted(room);
    let text_end = margin.saturating_add(u16::try_from(line::columns(&words)).unwrap_or(u16::MAX));
    if grounds.differ() {
        words.push(Seg::new(Role::Muted, " ".repeat(room.saturating_sub(line::columns(&words)))));
    }
    let (mark, role) = looks.mark.sign(looks.state, cx, next);
    let mark = format!("{mark:<width$}", width = usize::from(margin));
    let mark = if margin == 0 { Vec::new() } else { vec![Seg::new(role, mark)] };
    let theme = cx.look.theme;
    let mut spans = line::paint(&mark, 0, &grounds, theme);
    spans.extend(line::paint(&words, margin, &grounds, theme));
    let ground = grounds.at(cx.width.saturating_sub(1));
    Row {
        spans,
        gutter: margin,
        text_end: Some(text_end),
        ground: (ground != Color::Reset).then_some((0, ground)),
        ..Row::default()
    }
}

/// How an end looks: its state, and the words for it.
pub fn ended(end: &JobEnd) -> (State, Vec<Seg>) {
    let (state, words) = match &end.how {
        JobEnding::Exited(0) => (State::Ok, "exit 0".to_owned()),
        JobEnding::Exited(code) => (State::Failed, format!("exit {code}")),
        JobEnding::Signalled(signal) => (State::Failed, signal.clone()),
        JobEnding::TimedOut(_) => (State::TimedOut, "timed out".to_owned()),
        JobEnding::Stopped(_) => (State::Stopped, "stopped".to_owned()),
        JobEnding::Unknown => (State::Failed, "ended, exit code unknown".to_owned()),
    };
    let took = formats::took(Duration::from_millis(end.took_ms));
    let glyph = state.glyph().map(|glyph| Seg::new(state.role(), format!("{glyph} ")));
    let words = [Seg::new(state.role(), words), Seg::new(Role::Dim, " · "), Seg::new(Role::Muted, took)];
    (state, glyph.into_iter().chain(words).collect())
}

struct Looks {
    state: State,
    motion: Motion,
    mark: Mark,
    line: JobLine,
}

enum Mark {
    Still,
    Spinner,
    Quiet,
    Stopping,
}

impl Mark {
    fn sign(&self, state: State, cx: &EntryCx<'_>, next: &mut NextDeadline) -> (&'static str, Role) {
        let look = cx.look;
        let (frames, step, role): (&[&'static str], _, _) = match self {
            Self::Still => return ("●", state.role()),
            Self::Spinner => (&SPINNER, SPINNER_STEP, Role::Accent),
            Self::Quiet => (&SPINNER, QUIET_STEP, Role::Dim),
            Self::Stopping => (&STOPPING, STOPPING_STEP, Role::Warning),
        };
        if !look.motion {
            return ("●", role);
        }
        next.animate(look.next_step(step));
        let at = look.clock().as_millis() / step.as_millis();
        let frame = usize::try_from(at % frames.len() as u128).unwrap_or_default();
        (frames.get(frame).copied().unwrap_or("●"), role)
    }
}

fn looks(job: &ShownJob, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Looks {
    let view = &job.view;
    let line = JobLine::new(&view.title, &view.command);
    match &view.state {
        JobState::Ended(end) => {
            let (state, mut status) = ended(end);
            if !view.is_undelivered {
                return Looks { state, motion: Motion::Still, mark: Mark::Still, line: line.status(status) };
            }
            let told = [Seg::new(Role::Warning, "not delivered"), Seg::new(Role::Dim, " · ")];
            status.splice(0..0, told);
            Looks {
                state: State::TimedOut,
                motion: Motion::Still,
                mark: Mark::Still,
                line: line.status(status),
            }
        }
        JobState::Stopping { .. } => {
            let time = live_time(job.stopping_since, cx, next);
            let status = [
                Seg::new(Role::Warning, "stopping"),
                Seg::new(Role::Dim, " · "),
                Seg::new(Role::Muted, time),
            ];
            Looks {
                state: State::Calm,
                motion: Motion::Still,
                mark: Mark::Stopping,
                line: line.status(status.into()),
            }
        }
        JobState::Running => running(job, line, cx, next),
    }
}

fn running(job: &ShownJob, line: JobLine, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Looks {
    let view = &job.view;
    let mut status = vec![Seg::new(Role::Text, live_time(job.since, cx, next))];
    let progress = progress(job, cx, next);
    if let Some(Progress { share, motion, facts }) = progress {
        let Some(share) = share else {
            return Looks {
                state: State::Running,
                motion,
                mark: Mark::Spinner,
                line: line.status(status).facts(facts),
            };
        };
        status.push(Seg::new(Role::Muted, "  "));
        status.push(Seg::bold(Role::Accent, percent(share)));
        return Looks {
            state: State::Running,
            motion,
            mark: Mark::Spinner,
            line: line.status(status).facts(facts),
        };
    }
    let line = line.status(status).latest(&view.latest);
    let quiet_at = job.printed_at + QUIET_AFTER;
    if quiet_at <= cx.look.now {
        return Looks { state: State::Calm, motion: Motion::Still, mark: Mark::Quiet, line };
    }
    next.expire(quiet_at);
    Looks { state: State::Running, motion: Motion::Sweep, mark: Mark::Spinner, line }
}

/// Floored: what is not whole is not done.
fn percent(share: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share from 0 to 1")]
    let percent = (share.clamp(0.0, 1.0) * 100.0).floor() as u8;
    format!("{percent}%")
}

/// What is known about how far a job is.
struct Progress {
    share: Option<f64>,
    motion: Motion,
    facts: Vec<String>,
}

fn progress(job: &ShownJob, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Option<Progress> {
    if let Some(meter) = job.view.meter.as_ref().filter(|meter| !meter.is_empty()) {
        let left = meter.left.map(|left| format!("{} left", formats::limit(left)));
        let facts = left.into_iter().chain(meter.facts.iter().cloned()).collect();
        let motion = meter.share.map_or(Motion::Sweep, Motion::Share);
        return Some(Progress { share: meter.share, motion, facts });
    }
    job.view.wait.and_then(|wait| waiting(job.since, wait, cx, next))
}

/// What a sleep or a loop of sleeps tells; nothing once it should be over.
fn waiting(since: Instant, wait: Wait, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Option<Progress> {
    let begun = since.checked_add(Duration::from_millis(wait.begun_ms))?;
    let lasts = Duration::from_millis(wait.lasts_ms);
    let until = begun.checked_add(lasts)?;
    let left = until.checked_duration_since(cx.look.now).filter(|left| !left.is_zero())?;
    // The figure of the time left is another one after each second.
    let whole = Duration::from_secs(left.as_secs().saturating_sub(u64::from(left.subsec_nanos() == 0)));
    next.expire(until.checked_sub(whole).unwrap_or(until));
    let about = matches!(wait.kind, WaitKind::Loop { is_exact: false, .. });
    let left = format!("{}{} left", if about { "~" } else { "" }, formats::limit(left));
    let facts = match wait.kind {
        WaitKind::Sleep => vec![left],
        WaitKind::Loop { pass, of, .. } => vec![format!("{pass} of {of}"), left],
        WaitKind::Check { number } => vec![format!("check {number}"), left],
    };
    let gone = cx.look.now.saturating_duration_since(begun);
    let share = (gone.as_secs_f64() / lasts.as_secs_f64().max(1e-3)).clamp(0.0, 1.0);
    let share = matches!(wait.kind, WaitKind::Sleep).then_some(share);
    Some(Progress { share, motion: Motion::Wait { since: begun, lasts }, facts })
}
