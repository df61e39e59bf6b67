//! A tool call: its band, and what stands under it.

use super::body::output::Output;
use super::body::{Panel, change, code, json, listing, output, prose, results};
use super::draft::Draft;
use super::outcome::Outcome;
use super::preview::Preview;
use super::seg::{self, Seg};
use super::state::State;
use super::steps::Steps;
use super::title::{self, Kind};
use super::{EntryCx, Layout, facts, jobs, plain_call};
use crate::proto::chain::WaitKind;
use crate::proto::message::ToolResultMessage;
use crate::text::highlight::Highlighter;
use crate::theme::role::Role;
use crate::transcript::item::{Call, CallPhase};
use crate::ui::band::bullet::Bullet;
use crate::ui::band::ground::Motion;
use crate::ui::band::rail::{Rail, Says};
use crate::ui::band::{self, Band};
use crate::ui::motion;
use ratatui::style::Color;
use std::time::{Duration, Instant};

/// Columns that the rail of a running command may take: a command that needs them is shown again when the row is open.
const RAIL: usize = 28;

/// Lays a call out.
pub fn lay_out(call: &Call, cx: &EntryCx<'_>) -> Layout {
    if let Some(layout) = jobs::started(call, cx) {
        return layout;
    }
    let band = band_of(call, cx);
    let panel = match &call.phase {
        CallPhase::Writing { since } => {
            let is_whole = band.state == State::Queued;
            // What stands under a file that is about to be written are its last lines: they stay, and no row jumps.
            let is_shown = !is_whole || Kind::of(&call.tool) == Kind::Write;
            let preview = Preview::of(call, &band.title, cx).filter(|_| is_shown);
            // One that was read from a log is not written by anybody, and one that is whole by nobody any more.
            let has_caret = since.is_some() && !is_whole;
            return preview.map_or_else(
                || Layout::under(band.clone(), Panel::new(cx), cx),
                |preview| preview.under(band.clone(), call, has_caret, cx),
            );
        }
        CallPhase::Queued | CallPhase::Running { .. } => before_end(call, cx),
        // The card shows what is asked, in full.
        CallPhase::Asking | CallPhase::Dropped => panel_of(call, cx),
        CallPhase::Done { result, .. } => ended(call, result, cx),
    };
    if is_plain(call, cx) { plain_call::lay_out(band, panel, cx) } else { Layout::under(band, panel, cx) }
}

/// The band of a call at any time.
pub fn band_of(call: &Call, cx: &EntryCx<'_>) -> Band {
    match &call.phase {
        CallPhase::Writing { since } => {
            let draft = Draft::read(&call.draft);
            // Many servers tell that a call is whole only when all of them are: until then its pen would go on writing.
            if since.is_some() && draft.is_whole {
                return writing(call, &draft, State::Queued, queued(), cx);
            }
            let bullet = since.map_or(Bullet::Still, |since| Bullet::Pen { grew: grew(call, since, cx) });
            Band { bullet, ..writing(call, &draft, State::Writing, Rail::writing(*since, draft.chars), cx) }
        }
        CallPhase::Queued => band(call, State::Queued, queued(), cx),
        CallPhase::Asking => {
            band(call, State::Asking, vec![Seg::new(Role::Warning, "waits for you")].into(), cx)
        }
        CallPhase::Running { since, limit } => {
            let (motion, rail) = going(call, *since, *limit, cx);
            let bullet = Bullet::running(&call.tool, *since, *limit);
            Band { motion, bullet, ..band(call, State::Running, rail, cx) }
        }
        CallPhase::Done { result, ended, .. } => {
            let outcome = Outcome::of(result, Kind::of(&call.tool) == Kind::Bash);
            let shown = if Kind::of(&call.tool) == Kind::Read { facts::read_lines(&outcome) } else { None };
            let is_news = |ended: &Instant| cx.look.now.saturating_duration_since(*ended) < motion::FLASH;
            let flash = ended.filter(is_news).map_or(Motion::Still, |ended| Motion::Flash { ended });
            let steps = Steps::of(call, Some(&outcome), cx);
            let at = steps.as_ref().filter(|_| outcome.word.is_some()).and_then(Steps::at);
            let lead = steps.as_ref().filter(|_| at.is_none()).and_then(Steps::lead);
            let word = outcome.word.clone().into_iter().chain(at);
            let mut facts = facts::ended(&call.tool, &call.arguments, &outcome, result);
            facts.extend(steps.iter().flat_map(|steps| steps.location(cx)));
            let title = title_of(call, steps.as_ref(), shown, cx);
            Band {
                state: outcome.state,
                motion: flash,
                sign: sign(&title),
                title,
                facts,
                rail: Rail::from(band::ended(outcome.state, word, outcome.took, cx)).led_by(lead),
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

fn queued() -> Rail {
    vec![Seg::new(Role::Dim, "queued")].into()
}

/// When the draft last grew: nothing when that is so long ago that nobody can tell. Before anything came, when it began.
fn grew(call: &Call, since: Instant, cx: &EntryCx<'_>) -> Option<Instant> {
    match call.draft.len().checked_sub(1) {
        None => Some(since),
        Some(last) => call.trail.age(last, cx.look.now).and_then(|age| cx.look.now.checked_sub(age)),
    }
}

/// What the ground and the rail of a running call tell.
fn going(call: &Call, since: Instant, limit: Option<Duration>, cx: &EntryCx<'_>) -> (Motion, Rail) {
    let lead = Steps::of(call, None, cx).and_then(|steps| steps.lead());
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
            (Some(Seg::new(Role::Muted, format!("{pass} of {of}"))), !is_exact)
        }
        WaitKind::Check { number } => (Some(Seg::new(Role::Muted, format!("check {number}"))), false),
    };
    let rail = Rail::from(Says::Waiting { until, is_about }).led_by(lead);
    (Motion::Wait { since: begun, lasts }, rail)
}

/// A tool that is not built in, and the user wants bands only for those that are.
fn is_plain(call: &Call, cx: &EntryCx<'_>) -> bool {
    Kind::of(&call.tool) == Kind::Other && !cx.look.display.other_tools
}

/// What stands under a call, empty.
fn panel_of<'a>(call: &Call, cx: &'a EntryCx<'a>) -> Panel<'a> {
    if is_plain(call, cx) { Panel::on(cx, Color::Reset) } else { Panel::new(cx) }
}

/// The band of a call whose arguments are whole and that is not over.
fn band(call: &Call, state: State, rail: Rail, cx: &EntryCx<'_>) -> Band {
    let steps = Steps::of(call, None, cx);
    let title = title_of(call, steps.as_ref(), None, cx);
    Band {
        state,
        sign: sign(&title),
        title,
        facts: match &steps {
            Some(steps) => steps.location(cx),
            None => facts::going_on(&call.tool, &call.arguments),
        },
        rail,
        ..Band::default()
    }
}

/// What is done, and to what. `shown`: lines that a read gave.
fn title_of(call: &Call, steps: Option<&Steps>, shown: Option<u64>, cx: &EntryCx<'_>) -> Vec<Seg> {
    match steps {
        Some(steps) => steps.title(),
        None => title::title(&call.tool, &call.arguments, shown, cx.look),
    }
}

fn writing(call: &Call, draft: &Draft<'_>, state: State, rail: Rail, cx: &EntryCx<'_>) -> Band {
    let title = title::title(&call.tool, &draft.arguments(), None, cx.look);
    Band {
        state,
        sign: sign(&title),
        title,
        facts: facts::writing(&call.tool, draft),
        rail,
        ..Band::default()
    }
}

/// A copy of a command is the command.
fn sign(title: &[Seg]) -> u16 {
    if title.first().is_some_and(|seg| seg.text == "$ ") { 2 } else { 0 }
}

/// What stands under a call that is not over.
fn before_end<'a>(call: &Call, cx: &'a EntryCx<'a>) -> Panel<'a> {
    let mut panel = panel_of(call, cx);
    match Kind::of(&call.tool) {
        // The card that asks shows the file.
        Kind::Write if matches!(call.phase, CallPhase::Asking) => {}
        Kind::Write => written(&mut panel, call),
        Kind::Bash => command(&mut panel, title::text(&call.arguments, "command").unwrap_or_default()),
        _ => {}
    }
    if let Some(steps) = Steps::of(call, None, cx) {
        steps.draw(&mut panel, call, None);
        return panel;
    }
    let has_more_before = call.output_dropped > 0;
    output::draw(&mut panel, Output { text: &call.output, has_more_before, ..Output::default() });
    panel
}

fn ended<'a>(call: &Call, result: &ToolResultMessage, cx: &'a EntryCx<'a>) -> Panel<'a> {
    let kind = Kind::of(&call.tool);
    let outcome = Outcome::of(result, kind == Kind::Bash);
    let steps = Steps::of(call, Some(&outcome), cx);
    let mut panel = panel_of(call, cx);
    let path = title::text(&call.arguments, "path").unwrap_or_default();
    let body = outcome.body();
    match kind {
        Kind::Bash => {
            command(&mut panel, title::text(&call.arguments, "command").unwrap_or_default());
            let all = outcome.number(&["truncation", "totalLines"]).unwrap_or(0);
            let kept = outcome.number(&["truncation", "outputLines"]).unwrap_or(all);
            let lines_before = all.saturating_sub(kept);
            let whole_in = outcome.fact("fullOutputPath");
            if let Some(steps) = &steps {
                steps.draw(&mut panel, call, whole_in);
            }
            // Logs may keep what was printed only as a whole.
            if steps.as_ref().is_none_or(|steps| steps.is_silent(call)) {
                let is_wrapped = outcome.state == State::Failed;
                let output = Output { text: body, lines_before, whole_in, is_wrapped, ..Output::default() };
                output::draw(&mut panel, output);
            }
        }
        Kind::Edit => change::draw(&mut panel, change::lines(&outcome), path),
        // Of a file that was there before, what is new is what one opens the row for.
        Kind::Write if outcome.is_ok() && cx.open && outcome.has("patch") => {
            change::draw(&mut panel, change::lines(&outcome), path);
        }
        Kind::Write if outcome.is_ok() => written(&mut panel, call),
        Kind::Read if cx.open => {
            code::whole(&mut panel, facts::file_text(body), Highlighter::for_path(path));
        }
        Kind::Grep | Kind::Find | Kind::Ls if cx.open => {
            listing::whole(&mut panel, body, kind == Kind::Grep);
        }
        Kind::Other if outcome.is_ok() && is_formed(&mut panel, &call.tool, &outcome) => {}
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

/// Adds what a tool that is not known here gave, if it has a form that is. False if it has none.
fn is_formed(panel: &mut Panel<'_>, tool: &str, outcome: &Outcome<'_>) -> bool {
    if let Some(hits) = results::hits(outcome).filter(|hits| !hits.is_empty() || results::is_search(tool)) {
        results::draw(panel, &hits);
        return true;
    }
    let value = json::parse(outcome.body());
    if let Some(value) = &value {
        json::draw(panel, value);
    }
    value.is_some()
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
