//! The state as cells: which part of the screen gets which rows, and from where each takes its figures.

use super::state::{AppState, Early, look_of};
use super::update;
use crate::agent::view::SessionView;
use crate::config::action::{self, Action};
use crate::config::display::CountStyle;
use crate::proto::command::Prompt;
use crate::proto::event::NoticeLevel;
use crate::proto::message::text_of;
use crate::text::width;
use crate::theme::role::Role;
use crate::ui::chrome::footer::{self, Cache, Context, Footer, Tokens, Warmth};
use crate::ui::chrome::queue_rows::{self, Queue, Waiting};
use crate::ui::chrome::regions::{self, Regions, Wants};
use crate::ui::chrome::start_page::{self, StartPage};
use crate::ui::chrome::voice_row::{self, Border};
use crate::ui::chrome::{composer_box, phase_line};
use crate::ui::composer::view::max_rows;
use crate::ui::hit::HitMap;
use crate::ui::jobs;
use crate::ui::layers::Layer;
use crate::ui::layers::frame::Place;
use crate::ui::layers::search::count;
use crate::ui::look::Look;
use crate::ui::scene::{NextDeadline, Scene};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::time::{Duration, Instant};

/// Draws a frame; returns where the terminal's cursor belongs. What the frame means is kept for the mouse.
pub fn draw(state: &mut AppState, now: Instant, buffer: &mut Buffer) -> Option<Position> {
    let area = buffer.area;
    let mut hits = HitMap::new();
    let mut next = NextDeadline::default();
    if state.toast.as_ref().is_some_and(|toast| toast.until <= now) {
        state.toast = None;
    }
    if let Some(toast) = &state.toast {
        next.expire(toast.until);
    }
    update::sheet::sync(state, now);
    state.composer.set_size(composer_box::text_width(area.width), max_rows(area.height));
    let footer = footer_of(state, now);
    let queue = queue_of(state);
    let start_page = start_page_of(state);
    let wants = Wants {
        jobs: jobs::rows::height(&state.jobs),
        queue: queue_rows::height(&queue),
        composer: state.composer.height(),
        completion: composer_box::completion_height(&state.composer),
        footer: footer::height(&footer, &state.theme, area.width),
    };
    let regions = regions::split(area, wants);

    let look = look_of!(state, now);
    let page = Rect { height: regions.jobs.y.saturating_sub(area.y), ..area };
    // Questions stand on the bottom, the bar of the search on them.
    let page_above = |rows: u16| Rect { height: page.height.saturating_sub(rows), ..page };
    let is_bar = |layer: &Layer| matches!(layer, Layer::Search(_));
    let place = |level, page| Place { screen: area, page, level };
    let cards = state.layers.iter_mut().filter(|layer| !is_bar(layer));
    let cards = cards.map(|layer| layer.docked_height(&look, &place(1, page))).max().unwrap_or(0);
    let bars = state.layers.iter_mut().filter(|layer| is_bar(layer));
    let bars = bars.map(|layer| layer.docked_height(&look, &place(1, page_above(cards)))).sum::<u16>();
    let docked = cards + bars;
    let mut transcript = regions.transcript;
    transcript.height = transcript.height.saturating_sub(docked);
    if state.conversation.is_unused() {
        // Notices have the first rows, if there are any.
        let told = u16::try_from(state.conversation.len() * NOTICE_ROWS).unwrap_or(u16::MAX);
        let told = told.min(transcript.height / 2);
        let rest = Rect { y: transcript.y + told, height: transcript.height - told, ..transcript };
        transcript.height -= start_page::draw(&start_page, &look, rest, buffer);
    }
    // The last row of the conversation does not sit on the divider.
    let is_roomy = docked == 0 && regions.queue.is_empty() && regions.jobs.is_empty() && area.height >= ROOMY;
    let has_spare_row = is_roomy && !state.conversation.is_unused() && transcript.height > 1;
    transcript.height -= u16::from(has_spare_row);
    state.pane.set_spare_row(has_spare_row);
    state.pane.set_clicks(state.mouse && !state.wheel_only);
    // Nobody would see the page, and it would lay out all that comes.
    let is_covered = update::sheet::covers(&state.layers);
    if !state.conversation.is_empty() && !is_covered {
        state.pane.draw(&mut state.conversation, &look, transcript, buffer, &mut hits, &mut next);
    }
    if !is_covered {
        jobs::rows::draw(&state.jobs, &look, regions.jobs, buffer, &mut hits, &mut next);
    }
    queue_rows::draw(&queue, &look, regions.queue, buffer, &mut hits);
    let drawn = composer_box::draw(&state.composer, &look, regions.composer, buffer, &mut hits);
    // Of two spinners one would be looked at in vain.
    let spinner = !state.pane.shows_live_run();
    let voice = voice_border(state, &regions, now);
    if voice != Some(Edge::Above) {
        let above = drawn.above.as_deref();
        phase_line::draw(&state.phase, &look, regions.phase, above, spinner, buffer, &mut next);
    }
    if voice != Some(Edge::Below) {
        composer_box::draw_rule(&state.composer, drawn.below.as_deref(), &look, regions.rule, buffer);
    }
    if let Some(edge) = voice {
        let (area, label) = match edge {
            Edge::Above => (regions.phase, drawn.above.as_deref()),
            Edge::Below => (regions.rule, drawn.below.as_deref()),
        };
        let rule = match edge {
            Edge::Above => look.theme.style(Role::Border),
            Edge::Below => composer_box::rule_style(&state.composer, look.theme),
        };
        voice_row::draw(&state.voice.view, &look, area, Border { rule, label }, buffer, &mut next);
    }
    footer::draw(&footer, &look, regions.footer, buffer, &mut hits, &mut next);
    composer_box::draw_completions(&state.composer, &look, regions.completion, buffer, &mut hits);

    let mut caret = drawn.caret;
    let hidden: Vec<bool> =
        (0..state.layers.len()).map(|place| update::sheet::is_hidden(&state.layers, place)).collect();
    for ((level, layer), is_hidden) in (1_usize..).zip(&mut state.layers).zip(hidden) {
        if is_hidden {
            continue;
        }
        if let Layer::Sheet(sheet) = layer {
            sheet.set_toast(state.toast.as_ref().map(|toast| (toast.level, toast.text.clone())));
        }
        if let Layer::Search(bar) = layer {
            bar.set_status(state.pane.search_status());
        }
        let page = if is_bar(layer) { page_above(cards) } else { page };
        let place = place(u8::try_from(level).unwrap_or(u8::MAX), page);
        let over = layer.draw(&look, &place, buffer, &mut hits);
        caret = if layer.is_modal() { over } else { over.or(caret) };
        if let Layer::Sheet(sheet) = layer {
            // What it covers asks for nothing.
            next = sheet.next();
            if let Some(toast) = &state.toast {
                next.expire(toast.until);
            }
        }
    }
    state.scene = Scene { hits, caret, next_deadline: next };
    caret
}

/// A border of the composer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Above,
    Below,
}

/// Where the row of dictation is, if it is to be seen: in the upper border, as long as that does not tell what the agent
/// does.
fn voice_border(state: &AppState, regions: &Regions, now: Instant) -> Option<Edge> {
    if !state.voice.view.is_shown(now) {
        return None;
    }
    let is_free = state.phase.status(now, false).is_none() && !regions.phase.is_empty();
    Some(if is_free || regions.rule.is_empty() { Edge::Above } else { Edge::Below })
}

/// From this height on there is a row to spare.
const ROOMY: u16 = 20;
/// Between the keys of the last row.
const SEPARATOR: &str = " · ";
/// Rows that are kept for a notice at the start.
const NOTICE_ROWS: usize = 4;

/// Columns for a notice of the footer. Where it has a single row, the mode keeps its place there.
fn notice_room((columns, rows): (u16, u16)) -> usize {
    usize::from(columns).saturating_sub(if rows < ROOMY { 16 } else { 8 })
}

/// How long providers keep a prompt, and from when on it is worth a hint.
const CACHE_LIFE: Duration = Duration::from_secs(5 * 60);
const CACHE_COOLING: Duration = Duration::from_secs(4 * 60);

/// What the provider's cache holds; nothing of one that does not cache.
fn cache_of(view: &SessionView, answered: Instant, now: Instant) -> Option<Cache> {
    let usage = view.cache.as_ref()?.last_usage;
    let prompt = usage.prompt_tokens();
    if prompt == 0 || usage.cache_read + usage.cache_write == 0 {
        return None;
    }
    let age = now.saturating_duration_since(answered);
    let warmth = match age {
        age if age >= CACHE_LIFE => Warmth::Cold,
        age if age >= CACHE_COOLING => Warmth::Cooling,
        _ => Warmth::Warm,
    };
    let percent = u8::try_from(usage.cache_read * 100 / prompt).unwrap_or(100);
    Some(Cache { percent: Some(percent), age, warmth })
}

fn footer_of(state: &AppState, now: Instant) -> Footer {
    let look = state.look(state.epoch);
    let view = state.session.view.as_deref();
    let clock = state.session.clock.map(|(hours, minutes)| format!("{hours:02}:{minutes:02}"));
    let usage = view.map(|view| view.usage).unwrap_or_default();
    let counts = view.map(|view| view.counts).unwrap_or_default();
    Footer {
        clock,
        place: look.path_from_home(look.cwd),
        branch: state.branch.clone(),
        session: view.and_then(|view| view.name.clone()),
        model: view.map(|view| view.model.clone()),
        thinking: view.map(|view| view.thinking).unwrap_or_default(),
        mode: view.map(|view| view.mode).unwrap_or_default(),
        context: Context {
            // Before the first response there is nothing that could have been counted.
            tokens: view
                .filter(|view| view.context.known || counts.rounds == 0)
                .map(|view| view.context.tokens),
            window: view.map_or(0, |view| view.context.window),
        },
        cost: usage.cost.total,
        airtime: counts.airtime,
        prompts: counts.prompts,
        turns: counts.rounds,
        tools: match state.display.count {
            CountStyle::Calls => counts.tools,
            CountStyle::Steps => counts.tools + state.conversation.further_steps() as u64,
        },
        tokens: Tokens {
            input: usage.input,
            write: usage.cache_write,
            read: usage.cache_read,
            output: usage.output,
        },
        cache: view.and_then(|view| cache_of(view, state.session.responded?, now)),
        is_closed: state.session.problem.is_some() && !state.session.opening,
        is_mouse_off: !state.mouse,
        notice: update::chords::hints(state, notice_room(state.size))
            .map(|hints| (NoticeLevel::Info, hints))
            .or_else(|| state.toast.as_ref().map(|toast| (toast.level, toast.text.clone())))
            .or_else(|| {
                state.pane.focused()?;
                Some((NoticeLevel::Info, row_keys(state, &look)))
            }),
    }
}

/// What can be done with a focused row: letters mean something else then, so this has to be said. How to get out of it
/// comes early, and what does not fit is left out whole.
fn row_keys(state: &AppState, look: &Look<'_>) -> String {
    let room = notice_room(state.size);
    let mut keys = String::new();
    for hint in row_hints(state, look) {
        let columns = width::of(&keys) + width::of(SEPARATOR) + width::of(&hint);
        if !keys.is_empty() {
            if columns > room {
                break;
            }
            keys.push_str(SEPARATOR);
        }
        keys.push_str(&hint);
    }
    keys
}

fn row_hints(state: &AppState, look: &Look<'_>) -> Vec<String> {
    let hints = |keys: &[(Action, &str)]| -> Vec<String> {
        keys.iter().filter_map(|(action, does)| Some(format!("{} {does}", look.key(*action)?))).collect()
    };
    if state.pane.has_selection() {
        let selected = [
            (Action::CopyRow, "copies"),
            (Action::Cancel, if state.is_running() { "stops the turn" } else { "clears" }),
            (Action::SelectRight, "extends"),
            (Action::SelectDown, "extends by a row"),
            (Action::SelectAll, "selects all"),
        ];
        return hints(&selected);
    }
    if state.pane.searched().is_some() {
        let status = state.pane.search_status();
        let in_row = |action, does: &str| {
            let keys = look.keymap.keys(action::Context::Transcript, action);
            keys.first().map(|key| format!("{key} {does}"))
        };
        let found = std::iter::once(format!("match {}", count(&status)));
        let found = found.chain(in_row(Action::SearchNext, "next"));
        let found = found.chain(hints(&[(Action::Cancel, "ends the search")]));
        let found = found.chain(in_row(Action::SearchPrevious, "before"));
        return found.chain(hints(&[(Action::Open, "opens")])).collect();
    }
    let open_run = state.pane.open_run_of_focus();
    if state.pane.focused_run().is_some() {
        let run = [
            (Action::Open, if open_run.is_some() { "closes the run" } else { "opens the run" }),
            (Action::CopyRow, "copies"),
            (Action::Cancel, "back to writing"),
            (Action::ToggleFolded, "unfolds"),
            (
                Action::ExpandRows,
                if state.pane.are_runs_open() { "closes all runs" } else { "opens all runs" },
            ),
            (Action::FocusPrevious, "above"),
            (Action::FocusNext, "below"),
        ];
        return hints(&run);
    }
    let run = open_run.map(|_| (Action::CloseRun, "closes the run"));
    let keys = [
        Some((Action::Open, "opens")),
        Some((Action::CopyRow, "copies")),
        Some((Action::Cancel, "back to writing")),
        run,
    ];
    let mut keys: Vec<_> = keys.into_iter().flatten().collect();
    keys.extend([
        (Action::CopyBlock, "copies a block"),
        (Action::OpenLink, "opens an address"),
        (Action::FocusPrevious, "above"),
        (Action::FocusNext, "below"),
    ]);
    hints(&keys)
}

fn queue_of(state: &AppState) -> Queue {
    let view = state.session.view.as_deref();
    let rows = |view: &SessionView| Queue {
        steering: view.steering.iter().map(|row| row.text.clone()).collect(),
        waiting: view
            .queue
            .iter()
            .map(|row| Waiting { ticket: row.ticket, text: row.text.clone(), held: row.held })
            .collect(),
    };
    let mut queue = view.map(rows).unwrap_or_default();
    // What was sent before the session is open waits too.
    queue.steering.extend(state.session.waiting.iter().map(|early| match early {
        Early::Prompt(Prompt { display: Some(display), .. }) => display.clone(),
        Early::Prompt(prompt) => text_of(&prompt.content),
        Early::Shell { command, .. } => format!("!{command}"),
    }));
    queue
}

fn start_page_of(state: &AppState) -> StartPage {
    let look = state.look(state.epoch);
    let view = state.session.view.as_deref();
    StartPage {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        folder: look.path_from_home(look.cwd),
        model: view.map(|view| (view.model.clone(), view.model_name.clone())),
    }
}

#[cfg(test)]
mod job_screens;
#[cfg(test)]
mod screens;
#[cfg(test)]
mod search_screens;
#[cfg(test)]
mod sheet_screens;
#[cfg(test)]
mod voice_screens;
#[cfg(test)]
mod written;
