//! A tool call: its band, and what stands under it.

use super::body::output::Output;
use super::body::{Panel, change, code, listing, output, prose};
use super::draft::Draft;
use super::outcome::Outcome;
use super::preview::Preview;
use super::seg::{self, Seg};
use super::state::State;
use super::title::{self, Kind};
use super::{EntryCx, Layout, facts};
use crate::proto::chain::{StepState, WaitKind};
use crate::proto::message::ToolResultMessage;
use crate::text::highlight::Highlighter;
use crate::theme::role::Role;
use crate::transcript::item::{Call, CallPhase};
use crate::ui::band::bullet::Bullet;
use crate::ui::band::ground::Motion;
use crate::ui::band::rail::{Rail, Says};
use crate::ui::band::{self, Band};
use crate::ui::motion;
use std::time::{Duration, Instant};

/// Columns that the rail of a running command may take: a command that needs them is shown again when the row is open.
const RAIL: usize = 28;

/// Lays a call out.
pub fn lay_out(call: &Call, cx: &EntryCx<'_>) -> Layout {
    let band = band_of(call, cx);
    let panel = match &call.phase {
        CallPhase::Writing { since } => {
            let preview = Preview::of(call, &band.title, cx);
            // One that was read from a log is not written by anybody.
            let has_caret = since.is_some();
            return preview.map_or_else(
                || Layout::under(band.clone(), Vec::new(), cx),
                |preview| preview.under(band.clone(), call, has_caret, cx),
            );
        }
        CallPhase::Queued | CallPhase::Running { .. } => before_end(call, cx),
        // The card shows what is asked, in full.
        CallPhase::Asking | CallPhase::Dropped => Panel::new(cx),
        CallPhase::Done { result, .. } => ended(call, result, cx),
    };
    Layout::under(band, panel.into_rows(), cx)
}

/// The band of a call at any time.
pub fn band_of(call: &Call, cx: &EntryCx<'_>) -> Band {
    match &call.phase {
        CallPhase::Writing { since } => {
            let draft = Draft::read(&call.draft);
            let bullet = since.map_or(Bullet::Still, |since| Bullet::Pen { grew: grew(call, since, cx) });
            Band { bullet, ..writing(call, &draft, State::Writing, Rail::writing(*since, draft.chars), cx) }
        }
        CallPhase::Queued => band(call, State::Queued, vec![Seg::new(Role::Dim, "queued")].into(), cx),
        CallPhase::Asking => {
            band(call, State::Asking, vec![Seg::new(Role::Warning, "waits for you")].into(), cx)
        }
        CallPhase::Running { since, limit } => {
            let (motion, rail) = going(call, *since, *limit);
            let bullet = Bullet::running(&call.tool, *since, *limit);
            Band { motion, bullet, ..band(call, State::Running, rail, cx) }
        }
        CallPhase::Done { result, ended, .. } => {
            let outcome = Outcome::of(result, Kind::of(&call.tool) == Kind::Bash);
            let shown = if Kind::of(&call.tool) == Kind::Read { facts::read_lines(&outcome) } else { None };
            let is_news = |ended: &Instant| cx.look.now.saturating_duration_since(*ended) < motion::FLASH;
            let flash = ended.filter(is_news).map_or(Motion::Still, |ended| Motion::Flash { ended });
            Band {
                state: outcome.state,
                motion: flash,
                title: title::title(&call.tool, &call.arguments, shown, cx.look),
                facts: facts::ended(&call.tool, &call.arguments, &outcome, result),
                rail: band::ended(outcome.state, outcome.word.clone(), outcome.took, cx).into(),
                sign: sign(&call.tool),
                ..Band::default()
            }
        }
        CallPhase::Dropped => {
            let word = Seg::new(Role::Muted, "stopped");
            let rail = band::ended(State::Stopped, Some(word), None, cx).into();
            if call.arguments.is_empty() {
                writing(call, &Draft::read(&call.draft), State::Stopped, rail, cx)
            } else {
                band(call, State::Stopped, rail, cx)
            }
        }
    }
}

/// When the draft last grew: nothing when that is so long ago that nobody can tell. Before anything came, when it began.
fn grew(call: &Call, since: Instant, cx: &EntryCx<'_>) -> Option<Instant> {
    match call.draft.len().checked_sub(1) {
        None => Some(since),
        Some(last) => call.trail.age(last, cx.look.now).and_then(|age| cx.look.now.checked_sub(age)),
    }
}

/// What the ground and the rail of a running call tell.
fn going(call: &Call, since: Instant, limit: Option<Duration>) -> (Motion, Rail) {
    let lead = running_step(call).map_or_else(Vec::new, |lead| vec![Seg::new(Role::Muted, lead)]);
    let toward_limit = || {
        let motion = limit.map_or(Motion::Sweep, |limit| Motion::Fill { since, limit });
        (motion, Rail::running(since, limit).led_by(lead.clone()))
    };
    let Some(wait) = call.wait else { return toward_limit() };
    let lasts = Duration::from_millis(wait.lasts_ms);
    let Some(begun) = since.checked_add(Duration::from_millis(wait.begun_ms)) else { return toward_limit() };
    let Some(until) = begun.checked_add(lasts) else { return toward_limit() };
    // The limit cuts the wait short: then that is what is waited for.
    if limit.and_then(|limit| since.checked_add(limit)).is_some_and(|stopped| stopped < until) {
        return toward_limit();
    }
    let (lead, is_about) = match wait.kind {
        WaitKind::Sleep => (lead, false),
        WaitKind::Loop { pass, of, is_exact } => {
            (vec![Seg::new(Role::Muted, format!("{pass} of {of}"))], !is_exact)
        }
        WaitKind::Check { number } => (vec![Seg::new(Role::Muted, format!("check {number}"))], false),
    };
    let rail = Rail::from(Says::Waiting { until, is_about }).led_by(lead);
    (Motion::Wait { since: begun, lasts }, rail)
}

/// `2 of 3`: the step that runs, of a command of several.
fn running_step(call: &Call) -> Option<String> {
    let steps = &call.chain.as_ref()?.steps;
    let last = steps.iter().rposition(|step| step.state != StepState::Waiting).unwrap_or(0);
    let running = steps.iter().position(|step| step.state == StepState::Running).unwrap_or(last);
    (steps.len() > 1).then(|| format!("{} of {}", running + 1, steps.len()))
}

/// The band of a call whose arguments are whole and that is not over.
fn band(call: &Call, state: State, rail: Rail, cx: &EntryCx<'_>) -> Band {
    Band {
        state,
        title: title::title(&call.tool, &call.arguments, None, cx.look),
        facts: facts::going_on(&call.tool, &call.arguments),
        rail,
        sign: sign(&call.tool),
        ..Band::default()
    }
}

fn writing(call: &Call, draft: &Draft<'_>, state: State, rail: Rail, cx: &EntryCx<'_>) -> Band {
    Band {
        state,
        title: title::title(&call.tool, &draft.arguments(), None, cx.look),
        facts: facts::writing(&call.tool, draft),
        rail,
        sign: sign(&call.tool),
        ..Band::default()
    }
}

/// A copy of a command is the command.
fn sign(tool: &str) -> u16 {
    if Kind::of(tool) == Kind::Bash { 2 } else { 0 }
}

/// What stands under a call that is not over.
fn before_end<'a>(call: &Call, cx: &'a EntryCx<'a>) -> Panel<'a> {
    let mut panel = Panel::new(cx);
    match Kind::of(&call.tool) {
        // The card that asks shows the file.
        Kind::Write if matches!(call.phase, CallPhase::Asking) => {}
        Kind::Write => written(&mut panel, call),
        Kind::Bash => command(&mut panel, title::text(&call.arguments, "command").unwrap_or_default()),
        _ => {}
    }
    let has_more_before = call.output_dropped > 0;
    output::draw(&mut panel, Output { text: &call.output, has_more_before, ..Output::default() });
    panel
}

fn ended<'a>(call: &Call, result: &ToolResultMessage, cx: &'a EntryCx<'a>) -> Panel<'a> {
    let kind = Kind::of(&call.tool);
    let outcome = Outcome::of(result, kind == Kind::Bash);
    let mut panel = Panel::new(cx);
    let path = title::text(&call.arguments, "path").unwrap_or_default();
    let body = outcome.body();
    match kind {
        Kind::Bash => {
            command(&mut panel, title::text(&call.arguments, "command").unwrap_or_default());
            let all = outcome.number(&["truncation", "totalLines"]).unwrap_or(0);
            let kept = outcome.number(&["truncation", "outputLines"]).unwrap_or(all);
            let lines_before = all.saturating_sub(kept);
            let whole_in = outcome.fact("fullOutputPath");
            output::draw(&mut panel, Output { text: body, lines_before, has_more_before: false, whole_in });
        }
        Kind::Edit => change::draw(&mut panel, change::lines(&outcome), path),
        Kind::Write if outcome.is_ok() => written(&mut panel, call),
        Kind::Read if cx.open => {
            code::whole(&mut panel, facts::file_text(body), Highlighter::for_path(path));
        }
        Kind::Grep | Kind::Find | Kind::Ls if cx.open => {
            listing::whole(&mut panel, body, kind == Kind::Grep);
        }
        Kind::Other if cx.open => {
            let whole_in = outcome.fact("fullOutputPath");
            output::draw(&mut panel, Output { text: body, whole_in, ..Output::default() });
        }
        Kind::Other => listing::beginning(&mut panel, body),
        Kind::Write | Kind::Read | Kind::Grep | Kind::Find | Kind::Ls => {}
    }
    if let Some((role, says)) = &outcome.says {
        panel.skip(body.len());
        prose::draw(&mut panel, says, *role);
    }
    panel
}

/// What a call writes into a file.
fn written(panel: &mut Panel<'_>, call: &Call) {
    let content = title::text(&call.arguments, "content").unwrap_or_default();
    if panel.cx.open {
        let path = title::text(&call.arguments, "path").unwrap_or_default();
        code::whole(panel, content, Highlighter::for_path(path));
    } else {
        let lines = content.bytes().filter(|byte| *byte == b'\n').count();
        code::end(panel, content, lines);
    }
}

/// Under the band of an open row: the whole command, unless the band shows it already.
pub fn command(panel: &mut Panel<'_>, command: &str) {
    let command = command.trim();
    let room = usize::from(panel.cx.width).saturating_sub(RAIL);
    let is_seen = !command.contains('\n') && crate::text::width::of(&seg::line(command)) <= room;
    if panel.cx.open && !is_seen {
        code::whole(panel, command, Highlighter::for_language("bash"));
        panel.blank();
    }
    panel.skip(command.len() + 1);
}
