//! A compaction: its band, and the summary that takes the place of what was said.

use super::body::Panel;
use super::{EntryCx, Layout, Moving, custom};
use crate::proto::compaction::CompactionReason;
use crate::text::row::Row;
use crate::text::wrap::{self, Break, Run};
use crate::text::{clean, formats, markdown, width};
use crate::theme::role::Role;
use crate::transcript::item::{Compaction, CompactionPhase};
use crate::transcript::trail::{GLOW, Trail};
use crate::ui::band;
use crate::ui::band::seg::{self, Seg};
use crate::ui::band::state::State;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use std::sync::Arc;
use std::time::{Duration, Instant};
use unicode_segmentation::UnicodeSegmentation;

/// Rows that are shown of a summary.
const SHOWN: usize = 3;

/// Rows that are shown of one that is being written.
const NEWEST: usize = 2;

/// How long one that was stopped is shown.
const STOPPED_FOR: Duration = Duration::from_millis(2000);

/// Characters of a token, where nobody counts.
const CHARS_PER_TOKEN: usize = 4;

/// How much of its colour the band has: at rest, without motion, where nothing sweeps, and what a sweep adds.
const DONE: f64 = 0.22;
const STILL: f64 = 0.15;
const FLOOR: f64 = 0.10;
const SWEEP: f64 = 0.31;

/// One sweep, and its frames.
const PASS: Duration = Duration::from_millis(2200);
const PASS_STEP: Duration = Duration::from_millis(80);

/// Steps of a sweep's tint: cells that differ less are painted alike, which costs fewer bytes.
const LEVELS: f64 = 8.0;

/// Steps of the glow of what is new, and its frames.
const GLOW_LEVELS: f64 = 6.0;
const GLOW_STEP: Duration = Duration::from_millis(60);

/// Lays a compaction out.
pub fn lay_out(compaction: &Compaction, cx: &EntryCx<'_>) -> Layout {
    match &compaction.phase {
        CompactionPhase::Running { since } => running(compaction, *since, cx),
        CompactionPhase::Done { tokens_after, cost, took } => {
            let after = tokens_after.map(|after| format!("~{}", formats::tokens(after)));
            done(compaction, after, *cost, *took, cx)
        }
        CompactionPhase::Cancelled { at, took } => cancelled(compaction, *at, *took, cx),
        CompactionPhase::Failed => Layout::default(),
    }
}

fn running(compaction: &Compaction, since: Instant, cx: &EntryCx<'_>) -> Layout {
    let head = Head {
        reason: compaction.reason,
        tokens_before: compaction.tokens_before,
        tokens: (compaction.summary.chars().count() / CHARS_PER_TOKEN) as u64,
        since,
    };
    // What the cached row says does not matter to the clock: the moving one asks for itself.
    let row = head.row(cx, &mut NextDeadline::default());
    let moving: Arc<dyn Moving> = Arc::new(head);
    let mut layout = Layout { rows: vec![row], moving: vec![(0, moving)], ..Layout::default() };
    let mut panel = Panel::on(cx, cx.look.theme.color(Role::CustomMessageBg));
    let lines = newest(&compaction.summary, panel.room());
    let last = lines.len().saturating_sub(1);
    for (at, row) in lines.into_iter().enumerate() {
        let line = FreshLine {
            text: row.drawn(),
            start: row.start,
            trail: compaction.trail.clone(),
            has_caret: at == last,
            ground: panel.ground,
        };
        let mut next = NextDeadline::default();
        let drawn = line.row(cx, &mut next);
        let is_moving = next != NextDeadline::default();
        panel.push_whole(drawn, is_moving.then(|| Arc::new(line) as Arc<dyn Moving>));
    }
    panel.under(&mut layout);
    layout
}

fn done(
    compaction: &Compaction,
    after: Option<String>,
    cost: Option<f64>,
    took: Option<Duration>,
    cx: &EntryCx<'_>,
) -> Layout {
    let theme = cx.look.theme;
    let body = theme.color(Role::CustomMessageBg);
    let before = Some(compaction.tokens_before).filter(|before| *before > 0).map(formats::tokens);
    let sizes = match (before, after) {
        (Some(before), Some(after)) => Some(format!("{before} → {after}")),
        (Some(before), None) => Some(before),
        (None, after) => after.map(|after| format!("→ {after}")),
    };
    let mut parts: Vec<Seg> = sizes.map(|sizes| Seg::new(Role::Muted, sizes)).into_iter().collect();
    parts.extend(cost.map(|cost| Seg::new(Role::Muted, formats::money(cost))));
    parts.extend(took.map(|took| {
        let role = if took >= formats::SLOW { Role::MdHeading } else { Role::Muted };
        Seg::new(role, formats::took(took))
    }));
    let ground = theme.mix(body, theme.color(Role::CustomMessageLabel), DONE);
    let row = line(&title(compaction.reason), &gapped(parts), Role::CustomMessageLabel, cx, |_| ground);
    let mut layout = Layout { rows: vec![row], ..Layout::default() };
    let mut panel = Panel::on(cx, body);
    let document = markdown::render(&compaction.summary, theme, panel.room());
    let all = document.rows.len();
    let shown = if cx.open || all == SHOWN + 1 { all } else { SHOWN.min(all) };
    let mut last = 0;
    for mut row in document.rows.into_iter().take(shown) {
        last = row.start;
        if row.ground.is_none() {
            custom::relight(&mut row, theme, body);
        }
        panel.push(row);
    }
    panel.more(last, all - shown);
    panel.under(&mut layout);
    Layout { cards: document.cards, ..layout }
}

/// Said for a moment, and then gone.
fn cancelled(compaction: &Compaction, at: Instant, took: Duration, cx: &EntryCx<'_>) -> Layout {
    let Some(until) = at.checked_add(STOPPED_FOR).filter(|until| cx.look.now < *until) else {
        return Layout::default();
    };
    let rail = band::ended(State::Stopped, Some(Seg::new(Role::Muted, "cancelled")), Some(took), cx);
    let ground = State::Stopped.ground(cx.look.theme);
    let row = line(&title(compaction.reason), &rail, State::Stopped.role(), cx, |_| ground);
    let mut layout = Layout { rows: vec![row], ..Layout::default() };
    layout.next.expire(until);
    layout
}

fn title(reason: Option<CompactionReason>) -> Vec<Seg> {
    let mut title = vec![Seg::bold(Role::CustomMessageLabel, "compaction")];
    title.extend(reason.map(|reason| Seg::new(Role::Muted, format!(" {}", reason.as_str()))));
    title
}

/// Parts of a rail that tell different things.
fn gapped(parts: Vec<Seg>) -> Vec<Seg> {
    let mut rail = Vec::new();
    for part in parts {
        if !rail.is_empty() {
            rail.push(Seg::new(Role::Muted, "   "));
        }
        rail.push(part);
    }
    rail
}

/// The band of one that runs.
#[derive(Debug)]
struct Head {
    reason: Option<CompactionReason>,
    tokens_before: u64,
    tokens: u64,
    since: Instant,
}

impl Moving for Head {
    fn row(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        let theme = cx.look.theme;
        let mut parts = Vec::new();
        if self.tokens_before > 0 {
            parts.push(Seg::new(Role::Muted, formats::tokens(self.tokens_before)));
        }
        if self.tokens > 0 {
            parts.push(Seg::new(Role::Muted, format!("↓ {}", formats::counted(self.tokens, "token"))));
        }
        parts.push(Seg::new(Role::Text, band::live_time(self.since, cx, next)));
        let (base, hue) = (theme.color(Role::CustomMessageBg), theme.color(Role::CustomMessageLabel));
        let share = sweep(cx, next);
        line(&title(self.reason), &gapped(parts), Role::CustomMessageLabel, cx, |x| {
            theme.mix(base, hue, share(x))
        })
    }
}

/// How much of its colour the band has, by column: a light that crosses it in the same time whatever its width, and at the
/// same moment as all others.
fn sweep(cx: &EntryCx<'_>, next: &mut NextDeadline) -> impl Fn(usize) -> f64 + use<> {
    let is_moving = cx.look.motion && cx.look.theme.is_readable();
    if is_moving {
        next.animate(cx.look.next_step(PASS_STEP));
    }
    let steps = cx.look.clock().as_millis() / PASS_STEP.as_millis() * PASS_STEP.as_millis();
    let millis = u32::try_from(steps % PASS.as_millis()).unwrap_or(0);
    let share = f64::from(millis) / (PASS.as_secs_f64() * 1000.0);
    let centre = share * (f64::from(cx.width) + 30.0) - 15.0;
    move |x| {
        if !is_moving {
            return STILL;
        }
        let x = f64::from(u32::try_from(x).unwrap_or(u32::MAX));
        let light = (1.0 - (x - centre).abs() / 12.0).max(0.0).powf(1.4);
        FLOOR + SWEEP * (light * LEVELS).round() / LEVELS
    }
}

/// A band of which each cell has its own ground, and its text the contrast it needs there.
fn line(
    title: &[Seg],
    rail: &[Seg],
    bullet: Role,
    cx: &EntryCx<'_>,
    ground_at: impl Fn(usize) -> Color,
) -> Row {
    let theme = cx.look.theme;
    let margin = cx.margin();
    let room = usize::from(cx.width.saturating_sub(margin));
    let plain = |segs: &[Seg]| -> Vec<Span<'static>> {
        // Roles are told apart by their place until the grounds are known.
        segs.iter().map(|seg| Span::raw(seg.text.clone())).collect()
    };
    let left_room = match paint::columns(&plain(rail)) {
        0 => room,
        columns => room.saturating_sub(columns + 3),
    };
    let text_end = usize::from(margin) + paint::columns(&plain(title)).min(left_room);
    let lay = |ground: Color| {
        let mut spans = band::mark(bullet, "●", cx, ground);
        let dots = theme.style_on(Role::Muted, ground);
        let left = seg::spans(title, theme, ground);
        let rail = seg::spans(rail, theme, ground);
        spans.extend(paint::left_and_rail(left, rail, room, dots));
        spans
    };
    // One row in each ground that is there, and of each the cells that stand on it.
    let mut grounds: Vec<Color> = Vec::new();
    for x in 0..usize::from(cx.width) {
        let ground = ground_at(x);
        if !grounds.contains(&ground) {
            grounds.push(ground);
        }
    }
    let rows: Vec<(Color, Vec<Cell>)> =
        grounds.into_iter().map(|ground| (ground, cells(lay(ground)))).collect();
    let count = rows.first().map_or(0, |(_, cells)| cells.len());
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut x = 0;
    let mut put = |text: &str, style: Style| match spans.last_mut() {
        Some(last) if last.style == style => last.content.to_mut().push_str(text),
        _ => spans.push(Span::styled(text.to_owned(), style)),
    };
    let on = |style: Style, ground: Color| if ground == Color::Reset { style } else { style.bg(ground) };
    for at in 0..count {
        let ground = ground_at(x);
        let cell = rows.iter().find(|(other, _)| *other == ground).and_then(|(_, cells)| cells.get(at));
        let Some(cell) = cell else { continue };
        put(&cell.text, on(cell.style, ground));
        x += cell.columns;
    }
    for x in x..usize::from(cx.width) {
        put(" ", on(Style::new(), ground_at(x)));
    }
    let text_end = u16::try_from(text_end).unwrap_or(u16::MAX).min(cx.width);
    Row { spans, gutter: margin, text_end: Some(text_end), ..Row::default() }
}

struct Cell {
    text: String,
    style: Style,
    columns: usize,
}

fn cells(spans: Vec<Span<'static>>) -> Vec<Cell> {
    let cell = |text: &str, style| Cell { text: text.to_owned(), style, columns: width::of_grapheme(text) };
    let of_span = |span: &Span<'static>| -> Vec<Cell> {
        span.content.graphemes(true).map(|grapheme| cell(grapheme, span.style)).collect()
    };
    spans.iter().flat_map(of_span).collect()
}

/// The newest rows of a summary that is being written. However long it is, only its end is looked at.
fn newest(summary: &str, room: usize) -> Vec<Row> {
    // The caret stands behind the last character.
    let room = room.saturating_sub(1).max(1);
    let budget = (NEWEST + 1) * room * 3;
    let mut from = summary.floor_char_boundary(summary.len().saturating_sub(budget));
    if from > 0 {
        // Better from the begin of a line, else from a word, so that line breaks do not jump while it grows.
        let tail = summary.get(from..).unwrap_or_default();
        let half = tail.get(..tail.floor_char_boundary(tail.len() / 2)).unwrap_or_default();
        from += half.find('\n').or_else(|| half.find(' ')).map_or(0, |at| at + 1);
    }
    let mut rows = Vec::new();
    let mut start = from;
    for line in summary.get(from..).unwrap_or_default().split('\n') {
        // Nobody reads the fences of code.
        if !line.trim().is_empty() && !line.trim_start().starts_with("```") {
            let text = clean::for_line(line);
            rows.extend(wrap::line(&[Run::new(text, Style::new(), start)], room, Break::Words));
        }
        start += line.len() + 1;
    }
    let over = rows.len().saturating_sub(NEWEST);
    rows.into_iter().skip(over).collect()
}

/// A row of a text that is being written: what is new shines, and a caret stands at its end.
#[derive(Debug)]
struct FreshLine {
    text: String,
    start: usize,
    trail: Trail,
    has_caret: bool,
    ground: Color,
}

impl Moving for FreshLine {
    fn row(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        let theme = cx.look.theme;
        let indent = super::body::indent(cx);
        let base = theme.style_on(Role::Muted, self.ground);
        let text = theme.color_on(Role::CustomMessageText, self.ground);
        let style = if self.ground == Color::Reset { Style::new() } else { Style::new().bg(self.ground) };
        let mut spans = vec![Span::styled(" ".repeat(indent), style)];
        let mut at = self.start;
        let shines = cx.look.motion && theme.is_readable();
        for grapheme in self.text.graphemes(true) {
            let age = self.trail.age(at, cx.look.now).filter(|_| shines);
            let left = age.map_or(0.0, |age| 1.0 - age.as_secs_f64() / GLOW.as_secs_f64());
            let level = (left * left * GLOW_LEVELS).ceil();
            if age.is_some() {
                next.animate(cx.look.next_step(GLOW_STEP));
            }
            let share = level / GLOW_LEVELS;
            let style = match base.fg {
                Some(from) if share > 0.0 => base.fg(theme.mix(from, text, share)),
                _ => base,
            };
            match spans.last_mut() {
                Some(last) if last.style == style => last.content.to_mut().push_str(grapheme),
                _ => spans.push(Span::styled(grapheme.to_owned(), style)),
            }
            at += grapheme.len();
        }
        let text_end = indent + width::of(&self.text);
        if self.has_caret {
            let caret = theme.style_on(Role::Accent, self.ground);
            spans.push(Span::styled("▍", caret));
        }
        let dots = base.add_modifier(Modifier::empty());
        Row {
            spans: paint::cut(spans, usize::from(cx.width), dots),
            start: self.start,
            gutter: u16::try_from(indent).unwrap_or(u16::MAX).min(cx.width),
            text_end: Some(u16::try_from(text_end).unwrap_or(u16::MAX).min(cx.width)),
            ground: (self.ground != Color::Reset).then_some((0, self.ground)),
            ..Row::default()
        }
    }
}
