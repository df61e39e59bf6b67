//! The divider above the composer: what the agent does at its left, figures at its right.
//!
//! The line is a function of the time: figures are those of the last step of one grid, so that a stream costs one small
//! write twelve times a second and not one for each tenth of each clock, and the next frame is asked for when the line is
//! another one then, found by looking ahead. A line that would be drawn the same again asks for nothing.
//!
//! | file | what it is |
//! |---|---|
//! | `light` | colours of the left part, and the light that crosses its word |
//! | `turn` | what turns at its left |
//! | `finish` | the mark that is lit when a prompt is done |

mod finish;
mod light;
mod turn;

use super::phase::{Figures, Kind, Phase, Status};
use super::spinner;
use crate::config::action::Action;
use crate::text::formats;
use crate::theme::role::Role;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use light::{Light, lit};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use std::borrow::Cow;
use std::time::Duration;

const FIGURES: Duration = Duration::from_millis(80);
const WHOLE_SECONDS: Duration = Duration::from_secs(1);
/// From here on a step is slow, and at the double alarming.
const SLOW: Duration = Duration::from_secs(10);
/// So many steps of the grid, and then so many seconds, are looked ahead.
const AHEAD: (u32, u32) = (13, 60);

/// Draws it into the first row of `area`. `above`: the composer's mark for rows that are scrolled out above it; it is
/// shown here, for this is the composer's upper edge. `spinner`: whether this is the place where something turns. Where a
/// line of the transcript has the spinner, this one has no slot for it either: only one thing moves at a time.
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
    let room = usize::from(area.width);
    let scene = Scene { phase, look, above, spinner };
    let line = Line::new(scene, look.clock());
    paint::spans(buffer, area, &line.fitted(room));
    if let Some(done) = phase.done().filter(|_| line.status.is_none()) {
        finish::draw(done, look, area, buffer, next);
    }
    scene.ask(&line, room, next);
}

/// What a line is made of.
#[derive(Clone, Copy)]
struct Scene<'a> {
    phase: &'a Phase,
    look: &'a Look<'a>,
    above: Option<&'a str>,
    spinner: bool,
}

impl Scene<'_> {
    /// Asks for the next frame in which the line is another one.
    fn ask(self, line: &Line<'_>, room: usize, next: &mut NextDeadline) {
        // While the user is waited for nothing runs here, for as long as they think.
        let Some(status) = line.status.as_ref().filter(|status| status.kind != Kind::Asking) else { return };
        let (look, clock) = (self.look, self.look.clock());
        let drawn = line.still().fitted(room);
        let mut at = after(clock, line.grid);
        for step in 1..AHEAD.0 + AHEAD.1 {
            if Line::new(self, at).still().fitted(room) != drawn {
                break;
            }
            at += if step < AHEAD.0 { line.grid } else { WHOLE_SECONDS };
        }
        next.expire(look.epoch + at);
        if !(self.spinner && look.motion) {
            return;
        }
        for at in [turn::next(status, self.phase, look, clock), light::next(status, line.color, look, clock)]
            .into_iter()
            .flatten()
        {
            next.animate(look.epoch + at);
        }
    }
}

/// The last step of a grid.
fn on_grid(clock: Duration, grid: Duration) -> Duration {
    let over = clock.as_nanos() % grid.as_nanos().max(1);
    clock.saturating_sub(Duration::from_nanos(u64::try_from(over).unwrap_or(0)))
}

/// The next step of a grid.
fn after(clock: Duration, grid: Duration) -> Duration {
    on_grid(clock, grid) + grid
}

/// All parts, before it is known which of them fit.
#[derive(Clone)]
struct Line<'a> {
    look: &'a Look<'a>,
    status: Option<Status>,
    figures: Option<Figures>,
    above: Option<&'a str>,
    /// With the blank behind it; nothing where there is no slot.
    spinner: Cow<'static, str>,
    color: Style,
    light: Light,
    grid: Duration,
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
    fn new(scene: Scene<'a>, clock: Duration) -> Self {
        let Scene { phase, look, above, spinner } = scene;
        let grid = if look.motion { FIGURES } else { WHOLE_SECONDS };
        let now = look.epoch + clock;
        let shown_at = look.epoch + on_grid(clock, grid);
        // The figures may be older than the step, never the kind of step.
        let shown = phase.status(shown_at, look.motion);
        let status = shown.zip(phase.status(now, look.motion));
        let status = status.map(|(shown, now)| if shown.kind == now.kind { shown } else { now });
        let is_asking = status.as_ref().is_some_and(|status| status.kind == Kind::Asking);
        let figures = phase.figures(shown_at).filter(|_| !is_asking);
        let color = status.as_ref().map_or_else(Style::new, |status| light::style(status, look));
        let (mut slot, mut light) = (Cow::Borrowed(""), Light::None);
        if let Some(status) = status.as_ref().filter(|_| spinner) {
            slot = Cow::Owned(format!("{} ", turn::frame(status, phase, look, clock)));
            light = light::at(status, color, look, clock);
        }
        Self { look, status, figures, above, spinner: slot, color, light, grid }
    }

    /// The same without what only moves.
    fn still(&self) -> Self {
        let spinner = if self.spinner.is_empty() { "" } else { "    " };
        Self { spinner: Cow::Borrowed(spinner), light: Light::None, ..self.clone() }
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
            paint::cut(left, room, self.color)
        } else {
            paint::cut(vec![Span::styled("─".repeat(room), border)], room, border)
        }
    }

    fn left(&self, kept: Kept) -> Vec<Span<'static>> {
        let Some(status) = &self.status else { return Vec::new() };
        let theme = self.look.theme;
        let dim = theme.style(Role::Dim);
        let mut spans = vec![Span::styled("─ ", theme.style(Role::Border))];
        spans.push(Span::styled(self.spinner.to_string(), self.color));
        let detail = status.short.as_deref().filter(|_| !kept.whole_word).unwrap_or(&status.word);
        spans.extend(lit(status.verb.as_deref().unwrap_or(detail), self.color, &self.light));
        let tail = match status.elapsed {
            Some(elapsed) => format!("… {}", self.clock(elapsed, true)),
            None => String::new(),
        };
        spans.push(Span::styled(tail, self.color));
        if status.verb.is_some() && kept.whole_word {
            spans.push(Span::styled(format!(" · {}", lowered(detail)), dim));
        }
        match status.kind {
            Kind::Api if kept.tokens => spans.push(Span::styled(" ↑", dim)),
            Kind::Retry | Kind::Compaction | Kind::BranchSummary if kept.tokens => {
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
            if let Some(speed) = figures.speed.filter(|_| kept.speed) {
                let guessed = if speed.is_guessed { "~" } else { "" };
                sections.push(format!("TPS {guessed}{}", formats::rate(speed.tokens)));
            }
            if let Some((least, most)) = figures.first.filter(|_| kept.first) {
                sections.push(format!("TTFT {}", range(least, most)));
            }
        }
        let total = self.figures.filter(|_| kept.total).map(|figures| {
            let word = if figures.is_running { "Time" } else { "Last" };
            format!("{word} {}", self.clock(figures.total, kept.tenths || figures.is_running))
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

/// A word in the middle of a line.
fn lowered(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The columns of the spinner and what stands around it, for whoever aligns something below it.
pub const INDENT: usize = 2 + spinner::COLUMNS + 1;

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
