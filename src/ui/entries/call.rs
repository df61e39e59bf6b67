//! A tool call: its band, and what stands under it.

use super::body::output::Output;
use super::body::{Panel, change, code, json, listing, output, prose, results};
use super::draft::Draft;
use super::outcome::Outcome;
use super::seg::{self, Seg};
use super::state::State;
use super::steps::Steps;
use super::title::{self, Kind};
use super::{EntryCx, Layout, band, facts, plain_call};
use crate::proto::message::ToolResultMessage;
use crate::text::highlight::Highlighter;
use crate::theme::role::Role;
use crate::transcript::item::{Call, CallPhase};
use crate::ui::scene::NextDeadline;
use ratatui::style::Color;

/// Columns that the rail of a running command may take: a command that needs them is shown again when the row is open.
const RAIL: usize = 28;

/// Bytes at the end of a text that is being written, enough for the lines that are shown.
const DRAFT_TAIL: usize = 8 * 1024;

/// Lays a call out.
pub fn lay_out(call: &Call, cx: &EntryCx<'_>) -> Layout {
    let mut next = NextDeadline::default();
    let (band, panel) = match &call.phase {
        CallPhase::Writing { since } => {
            let draft = Draft::read(&call.draft);
            let rail = band::writing(*since, draft.chars, cx, &mut next);
            (writing(call, &draft, rail, cx), drafted(&call.tool, &draft, cx))
        }
        CallPhase::Queued => {
            (band(call, State::Queued, vec![Seg::new(Role::Dim, "queued")], cx), before_end(call, cx))
        }
        CallPhase::Asking => {
            let rail = vec![Seg::new(Role::Warning, "waits for you")];
            // The card shows what is asked, in full.
            (band(call, State::Asking, rail, cx), Panel::new(cx))
        }
        CallPhase::Running { since, limit } => {
            let lead = Steps::of(call, None, cx).and_then(|steps| steps.lead());
            let rail = band::running(lead, *since, *limit, cx, &mut next);
            (band(call, State::Running, rail, cx), before_end(call, cx))
        }
        CallPhase::Done { result, .. } => ended(call, result, cx),
        CallPhase::Dropped => {
            let word = Seg::new(Role::Muted, "stopped");
            let rail = band::ended(State::Stopped, None, Some(word), None, cx);
            if call.arguments.is_empty() {
                let draft = Draft::read(&call.draft);
                let band = band::Band { state: State::Stopped, ..writing(call, &draft, rail, cx) };
                (band, Panel::new(cx))
            } else {
                (band(call, State::Stopped, rail, cx), Panel::new(cx))
            }
        }
    };
    if is_plain(call, cx) {
        let time = match &call.phase {
            CallPhase::Running { since, limit } => Some((*since, *limit)),
            _ => None,
        };
        return plain_call::lay_out(band, time, panel, cx);
    }
    let mut layout = Layout { rows: vec![band.row(cx)], next, ..Layout::default() };
    panel.under(&mut layout);
    layout
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
fn band(call: &Call, state: State, rail: Vec<Seg>, cx: &EntryCx<'_>) -> band::Band {
    let steps = Steps::of(call, None, cx);
    band::Band {
        state,
        title: title_of(call, steps.as_ref(), None, cx),
        facts: match &steps {
            Some(steps) => steps.location(cx),
            None => facts::going_on(&call.tool, &call.arguments),
        },
        rail,
        sign: sign(&call.tool),
    }
}

/// What is done, and to what. `shown`: lines that a read gave.
fn title_of(call: &Call, steps: Option<&Steps>, shown: Option<u64>, cx: &EntryCx<'_>) -> Vec<Seg> {
    match steps {
        Some(steps) => steps.title(),
        None => title::title(&call.tool, &call.arguments, shown, cx.look),
    }
}

fn writing(call: &Call, draft: &Draft<'_>, rail: Vec<Seg>, cx: &EntryCx<'_>) -> band::Band {
    band::Band {
        state: State::Writing,
        title: title::title(&call.tool, &draft.arguments(), None, cx.look),
        facts: facts::writing(&call.tool, draft),
        rail,
        sign: sign(&call.tool),
    }
}

/// A copy of a command is the command.
fn sign(tool: &str) -> u16 {
    if Kind::of(tool) == Kind::Bash { 2 } else { 0 }
}

/// What is being written into a file.
fn drafted<'a>(tool: &str, draft: &Draft<'_>, cx: &'a EntryCx<'a>) -> Panel<'a> {
    let mut panel = Panel::new(cx);
    if Kind::of(tool) == Kind::Write
        && let Some(content) = draft.tail("content", DRAFT_TAIL)
    {
        code::end(&mut panel, &content, draft.lines("content").unwrap_or(0));
    }
    panel
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

fn ended<'a>(call: &Call, result: &ToolResultMessage, cx: &'a EntryCx<'a>) -> (band::Band, Panel<'a>) {
    let kind = Kind::of(&call.tool);
    let outcome = Outcome::of(result, kind == Kind::Bash);
    let shown = if kind == Kind::Read { facts::read_lines(&outcome) } else { None };
    let steps = Steps::of(call, Some(&outcome), cx);
    let at = steps.as_ref().filter(|_| outcome.word.is_some()).and_then(Steps::at);
    let lead = steps.as_ref().filter(|_| at.is_none()).and_then(Steps::lead);
    let word = outcome.word.clone().into_iter().chain(at);
    let mut facts = facts::ended(&call.tool, &call.arguments, &outcome, result);
    facts.extend(steps.iter().flat_map(|steps| steps.location(cx)));
    let band = band::Band {
        state: outcome.state,
        title: title_of(call, steps.as_ref(), shown, cx),
        facts,
        rail: band::ended(outcome.state, lead, word, outcome.took, cx),
        sign: sign(&call.tool),
    };
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
                let output = Output { text: body, lines_before, has_more_before: false, whole_in };
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
    (band, panel)
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
