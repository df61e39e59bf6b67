//! The divider above the composer: what the agent does at its left, figures at its right.
//!
//! Every figure in it changes on one grid of time, so that a stream costs one small write ten times a second and not one
//! for each tenth of each clock.

use super::phase::{Figures, Kind, Phase, Status};
use super::spinner::{self, Spinner};
use crate::config::action::Action;
use crate::text::{formats, width};
use crate::theme::role::{Role, Weight};
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use std::borrow::Cow;
use std::time::{Duration, Instant};
use unicode_segmentation::UnicodeSegmentation;

const FIGURES: Duration = Duration::from_millis(100);
const WHOLE_SECONDS: Duration = Duration::from_secs(1);
/// From here on a step is slow, and at the double alarming.
const SLOW: Duration = Duration::from_secs(10);
/// So much longer a call may stay without arguments before that means anything.
const HELD_BACK: Duration = Duration::from_secs(110);
/// How far the light goes towards the colour of text.
const LIGHT: f64 = 0.45;
const LIGHT_COLUMNS: usize = 3;
const PULSE: Duration = Duration::from_secs(2);

/// Draws it into the first row of `area`. `above`: the composer's mark for rows that are scrolled out above it; it is
/// shown here, for this is the composer's upper edge. `spinner`: it may turn; else it has no room either, because another
/// one turns elsewhere.
pub fn draw(
    phase: &Phase,
    look: &Look<'_>,
    area: Rect,
    above: Option<&str>,
    spinner: bool,
    buffer: &mut Buffer,
    next: &mut NextDeadline,
) {
    let area = Rect { height: area.height.min(1), ..area }.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    let line = Line::new(phase, look, above, spinner, next);
    paint::spans(buffer, area, &line.fitted(usize::from(area.width)));
}

/// All parts, before it is known which of them fit.
struct Line<'a> {
    look: &'a Look<'a>,
    status: Option<Status>,
    figures: Option<Figures>,
    above: Option<&'a str>,
    spinner: Cow<'static, str>,
    paint: StatusPaint,
    grid: Duration,
}

/// What the left part looks like.
#[derive(Clone, Copy)]
struct StatusPaint {
    style: Style,
    lit: Style,
    light: Light,
}

/// Which graphemes of the word are lit.
#[derive(Clone, Copy)]
enum Light {
    None,
    All,
    /// From this one on, which may lie before the first.
    Window(isize),
}

/// Which parts are kept.
#[derive(Clone, Copy)]
struct Kept {
    speed: bool,
    first: bool,
    tokens: bool,
    total: bool,
    tenths: bool,
    whole_word: bool,
}

/// What goes first when it gets narrow.
const DROPS: [Kept; 7] = {
    let all = Kept { speed: true, first: true, tokens: true, total: true, tenths: true, whole_word: true };
    let speed = Kept { speed: false, ..all };
    let first = Kept { first: false, ..speed };
    let tenths = Kept { tenths: false, ..first };
    let tokens = Kept { tokens: false, ..first };
    let total = Kept { total: false, ..tokens };
    [all, speed, first, tenths, tokens, total, Kept { whole_word: false, ..total }]
};

impl<'a> Line<'a> {
    fn new(
        phase: &Phase,
        look: &'a Look<'a>,
        above: Option<&'a str>,
        spinner: bool,
        next: &mut NextDeadline,
    ) -> Self {
        let is_asking = phase.status(look.now, false).is_some_and(|status| status.kind == Kind::Asking);
        let grid = if look.motion { FIGURES } else { WHOLE_SECONDS };
        let shown_at = on_grid(look, grid);
        let status = phase.status(shown_at, look.motion);
        // The figures may be older than the step, never the kind of step.
        let kind = phase.status(look.now, look.motion);
        let status = status.zip(kind).map(|(shown, now)| if shown.kind == now.kind { shown } else { now });
        // While the user is waited for nothing runs here, for as long as they think.
        if status.is_some() && !is_asking {
            next.expire(look.next_step(grid));
        }
        let spinner = match status.as_ref().filter(|_| spinner) {
            Some(status) => turn(status, phase, look, next),
            None => Cow::Borrowed(""),
        };
        let paint = status
            .as_ref()
            .map_or(StatusPaint { style: Style::new(), lit: Style::new(), light: Light::None }, |status| {
                StatusPaint::new(status, look, next)
            });
        let figures = phase.figures(shown_at).filter(|_| !is_asking);
        Self { look, status, figures, above, spinner, paint, grid }
    }

    fn fitted(&self, room: usize) -> Vec<Span<'static>> {
        let border = self.look.theme.style(Role::Border);
        for kept in DROPS {
            let (left, right) = (self.left(kept), self.right(kept));
            let needed = paint::columns(&left) + paint::columns(&right);
            // A blank before the rule, the rule, a blank behind it.
            let around = if self.status.is_some() { 1 } else { 0 } + usize::from(!right.is_empty());
            if needed + around < room {
                return join(left, right, room - needed, border, self.status.is_some());
            }
        }
        let Some(narrowest) = DROPS.last() else { return Vec::new() };
        let left = self.left(*narrowest);
        if self.status.is_some() {
            paint::cut(left, room, self.paint.style)
        } else {
            paint::cut(vec![Span::styled("─".repeat(room), border)], room, border)
        }
    }

    fn left(&self, kept: Kept) -> Vec<Span<'static>> {
        let Some(status) = &self.status else { return Vec::new() };
        let (theme, paint) = (self.look.theme, self.paint);
        let dim = theme.style(Role::Dim);
        let mut spans = vec![Span::styled("─ ", theme.style(Role::Border))];
        if !self.spinner.is_empty() {
            spans.push(Span::styled(format!("{} ", self.spinner), paint.style));
        }
        let word = status.short.as_deref().filter(|_| !kept.whole_word).unwrap_or(&status.word);
        spans.extend(lit(word, paint));
        let tail = match status.elapsed {
            Some(elapsed) => format!("… {}", self.clock(elapsed, true)),
            None => String::new(),
        };
        spans.push(Span::styled(tail, paint.style));
        match status.kind {
            Kind::Api if kept.tokens => spans.push(Span::styled(" ↑", dim)),
            Kind::Retry if kept.tokens => {
                if let Some(key) = self.look.key(Action::Cancel) {
                    spans.push(Span::styled(format!(" · {key} stops"), dim));
                }
            }
            _ => {}
        }
        if let Some(tokens) = status.tokens.filter(|_| kept.tokens) {
            spans.push(Span::styled(format!(" ↓ {}", formats::counted(tokens, "token")), dim));
        }
        spans
    }

    /// The sections at the right with the dashes between and behind them; nothing when there is none.
    fn right(&self, kept: Kept) -> Vec<Span<'static>> {
        let theme = self.look.theme;
        let mut sections = Vec::new();
        if let Some(figures) = &self.figures {
            if let Some(speed) = figures.tokens_per_second.filter(|_| kept.speed) {
                sections.push(format!("TPS {speed:.1}"));
            }
            if let Some((least, most)) = figures.first.filter(|_| kept.first) {
                sections.push(format!("TTFT {}", range(least, most)));
            }
        }
        let total = self.figures.filter(|_| kept.total).map(|figures| {
            let word = if self.status.is_some() { "Time" } else { "Last" };
            format!("{word} {}", self.clock(figures.total, kept.tenths || self.status.is_some()))
        });
        let last: Vec<_> = self.above.map(str::to_owned).into_iter().chain(total).collect();
        if !last.is_empty() {
            sections.push(last.join("  "));
        }
        let mut spans = Vec::new();
        for section in sections {
            spans.push(Span::styled(section, theme.style(Role::Muted)));
            spans.push(Span::styled(" ─ ", theme.style(Role::Border)));
        }
        if let Some(end) = spans.last_mut() {
            *end = Span::styled(" ─", theme.style(Role::Border));
        }
        spans
    }

    /// A stopwatch; where it does not run by tenths it does not show them.
    fn clock(&self, time: Duration, tenths: bool) -> String {
        let clock = formats::clock(time);
        if tenths && self.grid < WHOLE_SECONDS {
            return clock;
        }
        clock.rsplit_once('.').map_or(clock.clone(), |(whole, _)| whole.to_owned())
    }
}

/// `room` columns between the two: a rule with a blank towards each text.
fn join(
    mut left: Vec<Span<'static>>,
    right: Vec<Span<'static>>,
    room: usize,
    border: Style,
    after_text: bool,
) -> Vec<Span<'static>> {
    let (before, behind) = (usize::from(after_text), usize::from(!right.is_empty()));
    let rule = "─".repeat(room.saturating_sub(before + behind));
    left.push(Span::styled(format!("{}{rule}{}", " ".repeat(before), " ".repeat(behind)), border));
    left.extend(right);
    left
}

fn range(least: Duration, most: Duration) -> String {
    let (least, most) = (format!("{:.1}", least.as_secs_f64()), format!("{:.1}", most.as_secs_f64()));
    if least == most { format!("{least}s") } else { format!("{least}–{most}s") }
}

/// The last time of the grid.
fn on_grid(look: &Look<'_>, grid: Duration) -> Instant {
    let over = look.clock().as_nanos() % grid.as_nanos().max(1);
    look.now.checked_sub(Duration::from_nanos(u64::try_from(over).unwrap_or(0))).unwrap_or(look.now)
}

const fn spinner_of(status: &Status) -> Spinner {
    match status.kind {
        Kind::Prep | Kind::Api | Kind::FirstToken | Kind::Asking => Spinner::Ping,
        Kind::Tool | Kind::Text if status.quiet.as_secs() >= SLOW.as_secs() => Spinner::Ping,
        Kind::Think => Spinner::Helix,
        Kind::Tool => Spinner::PrintHead,
        Kind::Run => Spinner::Comet,
        Kind::Text => Spinner::Wave,
        Kind::Retry => Spinner::Drain,
    }
}

/// The spinner's frame; asks for its next one.
fn turn(status: &Status, phase: &Phase, look: &Look<'_>, next: &mut NextDeadline) -> Cow<'static, str> {
    let spinner = spinner_of(status);
    // While the user is asked nothing is under way that could move.
    if !look.motion || status.kind == Kind::Asking {
        return spinner.still();
    }
    let cadence = spinner.cadence();
    match spinner {
        Spinner::Ping | Spinner::Helix | Spinner::PrintHead | Spinner::Comet => {
            next.animate(look.next_step(cadence));
            spinner.at(look.clock())
        }
        Spinner::Wave => {
            let Some(flow) = phase.flow() else { return spinner.still() };
            let frame = 70.0;
            let now = on_grid(look, cadence);
            let moved = flow.wave(now);
            if moved % frame + flow.wave_left(now) >= frame {
                next.animate(look.next_step(cadence));
            }
            spinner.frame(index(moved / frame))
        }
        Spinner::Drain => {
            #[expect(clippy::cast_precision_loss, reason = "25 frames")]
            let count = spinner.count() as f64;
            let frame = index(status.gone * count);
            next.animate(look.next_step((status.wait / 25).max(cadence)));
            spinner.frame(frame.min(spinner.count() - 1))
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number of frames")]
fn index(frames: f64) -> usize {
    frames.max(0.0) as usize
}

impl StatusPaint {
    fn new(status: &Status, look: &Look<'_>, next: &mut NextDeadline) -> Self {
        let theme = look.theme;
        let (share, target) = alert(status, look.motion);
        let accent = theme.color(Role::Accent);
        let mut color = theme.mix(accent, theme.color(target), share);
        // Colours that cannot be mixed change at once.
        if color == accent && share >= 0.5 {
            color = theme.color(target);
        }
        color = theme.lift(color, Color::Reset, Weight::Primary);
        let mut style = Style::new().fg(color);
        if share >= 1.0 && status.kind == Kind::Think {
            style = style.add_modifier(Modifier::BOLD);
        }
        let towards = |share| theme.mix(color, theme.color(Role::Text), share);
        let plain = Self { style, lit: style, light: Light::None };
        if !look.motion || towards(LIGHT) == color {
            return plain;
        }
        let letters = status.word.graphemes(true).count();
        let (step, light, share) = match status.kind {
            Kind::Asking | Kind::Retry => return plain,
            Kind::Run => {
                let step = Duration::from_millis(200);
                let at = (look.clock().as_millis() / 200 * 200) % PULSE.as_millis();
                #[expect(clippy::cast_precision_loss, reason = "below 2000")]
                let turn = at as f64 / PULSE.as_secs_f64() / 1000.0;
                (step, Light::All, LIGHT * (0.5 - 0.5 * (turn * std::f64::consts::TAU).cos()))
            }
            Kind::Api => {
                // 50 ms a step, on the shared grid of 40.
                let step = Duration::from_millis(40);
                (step, window(look.clock(), step, letters, true), LIGHT)
            }
            _ => {
                let step = Duration::from_millis(200);
                (step, window(look.clock(), step, letters, false), LIGHT)
            }
        };
        next.animate(look.next_step(step));
        Self { lit: style.fg(towards(share)), light, ..plain }
    }
}

/// Where the light is: it comes from outside of the word and leaves it on the other side.
fn window(clock: Duration, step: Duration, letters: usize, rightwards: bool) -> Light {
    let way = letters + 2 * LIGHT_COLUMNS;
    let at = usize::try_from(clock.as_millis() / step.as_millis().max(1)).unwrap_or(0) % way.max(1);
    let at = if rightwards { at } else { way - at };
    Light::Window(isize::try_from(at).unwrap_or(0) - 3)
}

/// The word with its light.
fn lit(word: &str, paint: StatusPaint) -> Vec<Span<'static>> {
    let from = match paint.light {
        Light::None => return vec![Span::styled(word.to_owned(), paint.style)],
        Light::All => return vec![Span::styled(word.to_owned(), paint.lit)],
        Light::Window(from) => from,
    };
    let mut parts = [String::new(), String::new(), String::new()];
    for (index, grapheme) in word.graphemes(true).enumerate() {
        let behind = isize::try_from(index).unwrap_or(isize::MAX).saturating_sub(from);
        let part = if behind < 0 { 0 } else { 1 + usize::from(behind >= 3) };
        if let Some(part) = parts.get_mut(part) {
            part.push_str(&width::drawn(grapheme));
        }
    }
    let [before, inside, after] = parts;
    vec![Span::styled(before, paint.style), Span::styled(inside, paint.lit), Span::styled(after, paint.style)]
}

/// How alarming it is, and in which direction.
fn alert(status: &Status, motion: bool) -> (f64, Role) {
    let (time, role) = match status.kind {
        Kind::Asking => return (1.0, Role::Warning),
        Kind::Retry => return (1.0, Role::Warning),
        Kind::Prep | Kind::Run => return (0.0, Role::Error),
        Kind::Think => (status.elapsed.unwrap_or_default(), Role::Warning),
        Kind::Tool if status.is_held_back => (status.quiet.saturating_sub(HELD_BACK), Role::Error),
        Kind::Api | Kind::FirstToken | Kind::Tool | Kind::Text => (status.quiet, Role::Error),
    };
    let share = (time.as_secs_f64() / SLOW.as_secs_f64() - 1.0).clamp(0.0, 1.0);
    (if motion { share } else { share.floor() }, role)
}

/// The columns of the spinner and what stands around it, for whoever aligns something below it.
pub const INDENT: usize = 2 + spinner::COLUMNS + 1;

#[cfg(test)]
#[path = "phase_line_tests.rs"]
mod tests;
