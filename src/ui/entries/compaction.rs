//! A compaction: its band, and the summary that takes the place of what was said.

use super::body::Panel;
use super::{EntryCx, Layout, custom, newest};
use crate::proto::compaction::CompactionReason;
use crate::text::{clean, formats, markdown};
use crate::theme::role::Role;
use crate::transcript::item::{Compaction, CompactionPhase};
use crate::ui::band::ground::Motion;
use crate::ui::band::rail::{Rail, Says};
use crate::ui::band::seg::Seg;
use crate::ui::band::state::State;
use crate::ui::band::{self, Band};
use std::time::{Duration, Instant};

/// Rows that are shown of a summary.
const SHOWN: usize = 3;

/// Rows that are shown of one that is being written.
const NEWEST: usize = 2;

/// Lays a compaction out.
pub fn lay_out(compaction: &Compaction, cx: &EntryCx<'_>) -> Layout {
    let title = title(compaction.reason);
    match &compaction.phase {
        CompactionPhase::Running { since } => running(compaction, title, *since, cx),
        CompactionPhase::Done { tokens_after, cost, took } => {
            let after = tokens_after.map(|after| format!("~{}", formats::tokens(after)));
            let lead = gapped([sizes(compaction.tokens_before, after), cost.map(formats::money)]);
            let rail = Rail::from(took.map(band::rail::time).into_iter().collect::<Vec<_>>()).led_by(lead);
            done(compaction, Band { state: State::Own, title, rail, ..Band::default() }, cx)
        }
        CompactionPhase::Cancelled { at, took } => cancelled(title, *at, *took, cx),
        CompactionPhase::Failed | CompactionPhase::Gone => Layout::default(),
    }
}

fn running(compaction: &Compaction, title: Vec<Seg>, since: Instant, cx: &EntryCx<'_>) -> Layout {
    let tokens = (compaction.summary.chars().count() / formats::CHARS_PER_TOKEN) as u64;
    let written = (tokens > 0).then(|| format!("↓ {}", formats::counted(tokens, "token")));
    let lead = gapped([sizes(compaction.tokens_before, None), written]);
    let rail = Rail::from(Says::Running { since, limit: None }).led_by(lead);
    let band = Band { state: State::Summing, motion: Motion::Sweep, title, rail, ..Band::default() };
    let mut panel = Panel::on(cx, cx.look.theme.color(Role::CustomMessageBg));
    let columns = newest::columns(&panel);
    let begin = newest::end_of(&compaction.summary, newest::step(NEWEST, columns));
    let end = compaction.summary.get(begin..).unwrap_or_default();
    let text = clean::for_terminal(end);
    // What is new stands at the end, and is told from there.
    let begin = begin + end.len().saturating_sub(text.len());
    // Nobody reads the fences of code.
    let is_read = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with("```");
    let rows = newest::rows(&text, columns, NEWEST, panel.style(Role::Muted), is_read);
    newest::draw(&mut panel, rows, true, &compaction.trail, |byte| begin + byte);
    Layout::under(band, panel, cx)
}

fn done(compaction: &Compaction, band: Band, cx: &EntryCx<'_>) -> Layout {
    let mut panel = Panel::on(cx, cx.look.theme.color(Role::CustomMessageBg));
    let document = markdown::render(&compaction.summary, cx.look.theme, panel.room());
    let (rows, hidden) = custom::begin(document.rows, SHOWN, panel.ground, cx);
    let last = rows.last().map_or(0, |row| row.start);
    for row in rows {
        panel.push(row);
    }
    panel.more(last, hidden);
    Layout { cards: document.cards, ..Layout::under(band, panel, cx) }
}

/// Said for a moment, and then gone.
fn cancelled(title: Vec<Seg>, at: Instant, took: Duration, cx: &EntryCx<'_>) -> Layout {
    let until = at.checked_add(Compaction::STOPPED_FOR).filter(|until| cx.look.now < *until);
    let Some(until) = until else { return Layout::default() };
    let rail = band::ended(State::Stopped, Some(Seg::new(Role::Muted, "cancelled")), Some(took), cx);
    let band = Band { state: State::Stopped, title, rail: rail.into(), ..Band::default() };
    let mut layout = Layout::under(band, Panel::new(cx), cx);
    layout.next.expire(until);
    layout
}

fn title(reason: Option<CompactionReason>) -> Vec<Seg> {
    let mut title = vec![Seg::bold(Role::CustomMessageLabel, "compaction")];
    title.extend(reason.map(|reason| Seg::new(Role::Muted, format!(" {}", reason.as_str()))));
    title
}

/// How much there was, and is.
fn sizes(before: u64, after: Option<String>) -> Option<String> {
    let before = Some(before).filter(|before| *before > 0).map(formats::tokens);
    match (before, after) {
        (Some(before), Some(after)) => Some(format!("{before} → {after}")),
        (before, after) => before.or(after.map(|after| format!("→ {after}"))),
    }
}

/// Parts of a rail that tell different things.
fn gapped(parts: [Option<String>; 2]) -> Option<Seg> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| Seg::new(Role::Muted, parts.join(band::rail::WIDE_GAP)))
}
