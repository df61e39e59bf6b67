//! The row that tells what is done, how it is going and how long it takes: over the whole width, its ground the state.
//!
//! The rail at the right is kept whole and the left gives way. Facts about the result are worth more than the end of a
//! long command or path, so they are kept as long as enough of that is left.

use super::EntryCx;
use super::seg::{self, Seg};
use super::state::State;
use crate::text::row::Row;
use crate::text::{formats, width};
use crate::theme::role::Role;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use ratatui::style::{Color, Modifier};
use ratatui::text::Span;
use std::time::{Duration, Instant};

/// Columns of the title that facts leave it at least.
const LEAST_TITLE: usize = 16;

/// Between the parts of a rail that tell different things.
const WIDE_GAP: &str = "   ";

/// A band before it is drawn.
#[derive(Debug)]
pub struct Band {
    /// How far it is.
    pub state: State,
    /// What is done, and to what.
    pub title: Vec<Seg>,
    /// What came of it.
    pub facts: Vec<Seg>,
    /// How it went and how long it took.
    pub rail: Vec<Seg>,
    /// Columns of the title that a copy leaves out.
    pub sign: u16,
}

impl Band {
    /// The drawn row.
    pub fn row(&self, cx: &EntryCx<'_>) -> Row {
        let theme = cx.look.theme;
        let ground = self.state.ground(theme);
        let margin = cx.margin();
        let dots = theme.style_on(Role::Muted, ground);
        let room = usize::from(cx.width.saturating_sub(margin));
        let rail = seg::spans(&self.rail, theme, ground);
        let rail_room = match paint::columns(&rail) {
            0 => 0,
            columns => columns + 3,
        };
        let left_room = room.saturating_sub(rail_room);
        let mut left = seg::spans(&self.title, theme, ground);
        let facts = seg::spans(&self.facts, theme, ground);
        let kept = left_room.saturating_sub(paint::columns(&facts));
        if kept >= LEAST_TITLE {
            left = paint::cut(left, kept, dots);
        }
        left.extend(facts);
        // As it is drawn: behind what is cut off begins the rail, and that is no text.
        let left = paint::cut(left, left_room, dots);
        let text_end = margin.saturating_add(u16::try_from(paint::columns(&left)).unwrap_or(u16::MAX));
        let mut spans = mark(self.state.role(), "●", cx, ground);
        spans.extend(paint::left_and_rail(left, rail, room, dots));
        Row {
            spans,
            gutter: margin.saturating_add(self.sign).min(cx.width),
            // How long it took is nobody's text, and still less the blanks before it.
            text_end: Some(text_end),
            ground: (ground != Color::Reset).then_some((0, ground)),
            ..Row::default()
        }
    }
}

/// A mark at the left edge and the blank behind it, as far as there is room.
pub fn mark(role: Role, mark: &'static str, cx: &EntryCx<'_>, ground: Color) -> Vec<Span<'static>> {
    let margin = usize::from(cx.margin());
    if margin == 0 {
        return Vec::new();
    }
    let blank = " ".repeat(margin.saturating_sub(width::of(mark)));
    let style = cx.look.theme.style_on(role, ground);
    let style = if cx.look.theme.is_readable() { style } else { style.add_modifier(Modifier::BOLD) };
    vec![Span::styled(mark, style), Span::raw(blank)]
}

/// The rail of something that is over: what comes first, its mark, words where it did not go well, the time.
pub fn ended(
    state: State,
    lead: Option<Seg>,
    word: impl IntoIterator<Item = Seg>,
    took: Option<Duration>,
    cx: &EntryCx<'_>,
) -> Vec<Seg> {
    let glyph = state.glyph().filter(|_| cx.look.glyphs);
    let mut rail = led(lead);
    let mut word = word.into_iter().peekable();
    if let Some(glyph) = glyph {
        rail.push(Seg::new(state.role(), glyph));
    }
    let has_word = word.peek().is_some();
    if has_word && glyph.is_some() {
        rail.push(Seg::new(Role::Muted, " "));
    }
    rail.extend(word);
    if let Some(took) = took {
        if has_word || glyph.is_some() {
            rail.push(Seg::new(Role::Muted, "  "));
        }
        let role = if took >= formats::SLOW { Role::MdHeading } else { Role::Muted };
        rail.push(Seg::new(role, formats::took(took)));
    }
    rail
}

/// The begin of a rail: what comes first, and the gap behind it.
fn led(lead: Option<Seg>) -> Vec<Seg> {
    lead.into_iter().flat_map(|lead| [lead, Seg::new(Role::Muted, WIDE_GAP)]).collect()
}

/// The rail of something that runs, and when it is wrong.
pub fn running(
    lead: Option<Seg>,
    since: Instant,
    limit: Option<Duration>,
    cx: &EntryCx<'_>,
    next: &mut NextDeadline,
) -> Vec<Seg> {
    let mut rail = led(lead);
    rail.push(Seg::new(Role::Text, live_time(since, cx, next)));
    if let Some(limit) = limit {
        rail.push(Seg::new(Role::Dim, format!(" / {}", formats::limit(limit))));
    }
    rail
}

/// The rail of a call that is being written.
pub fn writing(since: Option<Instant>, chars: usize, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Vec<Seg> {
    let mut rail = vec![Seg::new(Role::Dim, "writing")];
    if chars > 0 {
        rail.push(Seg::new(Role::Muted, WIDE_GAP));
        rail.push(Seg::new(Role::Muted, formats::counted(chars as u64, "char")));
    }
    if let Some(since) = since {
        rail.push(Seg::new(Role::Muted, WIDE_GAP));
        rail.push(Seg::new(Role::Text, live_time(since, cx, next)));
    }
    rail
}

/// How long something has been going on, and when that is wrong. Without motion it changes once a second.
pub fn live_time(since: Instant, cx: &EntryCx<'_>, next: &mut NextDeadline) -> String {
    let elapsed = cx.look.now.saturating_duration_since(since);
    let step = match elapsed.as_secs() {
        0..60 if cx.look.motion => Duration::from_millis(100),
        0..3600 => Duration::from_secs(1),
        3600.. => Duration::from_secs(60),
    };
    let over = Duration::from_nanos(u64::try_from(elapsed.as_nanos() % step.as_nanos()).unwrap_or(0));
    let begun = elapsed.saturating_sub(over);
    if let Some(at) = since.checked_add(begun).and_then(|at| at.checked_add(step)) {
        next.expire(at);
    }
    formats::running(begun)
}
