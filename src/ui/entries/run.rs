//! The line that stands for a run of work: what was done, what it cost, how long it took.
//!
//! While the run is live a spinner takes the place of the bullet, and a soft light crosses the words. The words tell only
//! what was begun, so they stay when the run ends.

use super::EntryCx;
use super::Moving;
use crate::text::row::Row;
use crate::text::{formats, width};
use crate::theme::role::Role;
use crate::transcript::runs::{Doing, Facts, Reckoned};
use crate::ui::chrome::spinner::{self, Spinner};
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use unicode_segmentation::UnicodeSegmentation;

/// Columns that a run hangs in under the reply that began it.
const HANG: u16 = 2;

/// Columns of a bullet and the blank behind it.
const BULLET: u16 = 2;

/// Columns of the rule beside the rows of an open run, and the blank behind it.
const RULE: u16 = 2;

/// In narrower windows rows have no rule: they need the room.
const LEAST_BESIDE_RULE: u16 = 10;

/// Columns that the figures leave the words at least.
const LEAST_WORDS: usize = 16;

/// Below this the words have a short form.
const NARROW: u16 = 60;

/// How the light moves: so many columns a second, half as wide, dark for so many columns between two passes, and so far
/// towards the colour of text at its brightest.
const LIGHT_SPEED: f64 = 12.0;
const LIGHT_HALF: f64 = 5.0;
const LIGHT_REST: f64 = 12.0;
const LIGHT_PEAK: f64 = 0.55;

/// Steps of the light: cells of one step are drawn at once, and cells that stay in their step are not drawn again.
const LIGHT_LEVELS: f64 = 20.0;

/// The light moves with the spinners, so that both cost one write.
const LIGHT_STEP: Duration = Duration::from_millis(80);

/// How often the time of a live line changes; without motion.
const FIGURES: Duration = Duration::from_millis(100);
const WHOLE_SECONDS: Duration = Duration::from_secs(1);

/// Columns left of the rows of a run, whether it is open or not: nothing is wrapped anew when it opens.
pub const fn inset(is_hung: bool, window: u16) -> u16 {
    let inset = if is_hung { HANG + RULE } else { RULE };
    if window < inset + LEAST_BESIDE_RULE { 0 } else { inset }
}

/// The rule at the left of the rows of an open run, and its column; nothing where there is no room for it.
pub fn rule(is_hung: bool, cx: &EntryCx<'_>) -> Option<(u16, Span<'static>)> {
    let column = inset(is_hung, cx.width).checked_sub(RULE)?;
    Some((column, Span::styled("│", cx.look.theme.style(Role::BorderMuted))))
}

/// The last row of an open run.
pub fn close(is_hung: bool, start: usize, cx: &EntryCx<'_>) -> Row {
    let theme = cx.look.theme;
    let column = inset(is_hung, cx.width).saturating_sub(RULE);
    let spans = vec![
        Span::raw(" ".repeat(usize::from(column))),
        Span::styled("╰─ ", theme.style(Role::BorderMuted)),
        Span::styled("close", theme.style(Role::Dim)),
    ];
    let spans = paint::cut(spans, usize::from(cx.width), theme.style(Role::Dim));
    Row { spans, start, is_decoration: true, ..Row::default() }
}

/// What stands in a run of thinking that the provider keeps to itself.
pub fn no_text(cx: &EntryCx<'_>) -> Row {
    let style = cx.look.theme.style(Role::Dim).add_modifier(Modifier::ITALIC);
    let spans = paint::cut(vec![Span::styled("no thinking text", style)], cx.room(), style);
    Row { spans, is_decoration: true, ..Row::default() }
}

/// The line of a run.
#[derive(Debug)]
pub struct Line {
    /// What it tells.
    pub facts: Arc<Facts>,
    /// Its rows are shown below.
    pub is_open: bool,
}

impl Moving for Line {
    fn row(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        let theme = cx.look.theme;
        let lead = self.lead(cx);
        let room = usize::from(cx.width - lead);
        let shown = Tones::new(self, cx);
        let figures = self.figures(cx, next);
        let figures_columns = width::of(&figures);
        let figures = if room >= figures_columns + LEAST_WORDS { figures } else { String::new() };
        let left = room - width::of(&figures);
        let (words, failure) = self.words(left, cx, next);
        let mut spans = self.mark(lead, &shown, cx, next);
        let text = match self.light(&words, cx, next) {
            Some(light) => lit(&words, light, &shown, cx),
            None => vec![Span::styled(words, shown.words)],
        };
        spans.extend(text);
        if let Some(failure) = failure {
            spans.push(Span::styled(", ", theme.style(Role::Muted)));
            spans.push(Span::styled(failure, theme.style(Role::Error)));
        }
        let text_end = u16::try_from(paint::columns(&spans)).unwrap_or(u16::MAX);
        if !figures.is_empty() {
            spans.push(Span::styled(figures, theme.style(Role::Dim)));
        }
        Row { spans, gutter: lead, text_end: Some(text_end), is_decoration: self.is_open, ..Row::default() }
    }
}

/// Styles of the parts.
struct Tones {
    mark: Style,
    words: Style,
    lit: Style,
}

impl Tones {
    fn new(line: &Line, cx: &EntryCx<'_>) -> Self {
        let theme = cx.look.theme;
        let facts = &line.facts;
        let is_label = facts.is_thinking() && !facts.is_live;
        let (mark, words) = match (is_label, line.is_open) {
            (true, false) => (Role::Dim, Role::Dim),
            (true, true) => (Role::Muted, Role::Muted),
            (false, false) => (Role::Dim, Role::Muted),
            (false, true) => (Role::Muted, Role::Text),
        };
        let italic = if facts.is_thinking() { Modifier::ITALIC } else { Modifier::empty() };
        let mark = if facts.is_live { Role::Accent } else { mark };
        Self {
            mark: theme.style(mark),
            words: theme.style(words).add_modifier(italic),
            lit: theme.style(Role::Text).add_modifier(italic),
        }
    }
}

impl Line {
    /// Columns left of the words.
    fn lead(&self, cx: &EntryCx<'_>) -> u16 {
        let hang = if self.facts.is_hung { HANG } else { 0 };
        // The spinner takes more room than the bullet: under a reply the margin has it, at the edge the words move.
        let lead = if self.facts.is_live { HANG + BULLET } else { hang + BULLET };
        // Half a narrow window is for words.
        lead.min(cx.width / 2)
    }

    fn mark(
        &self,
        lead: u16,
        tones: &Tones,
        cx: &EntryCx<'_>,
        next: &mut NextDeadline,
    ) -> Vec<Span<'static>> {
        let lead = usize::from(lead);
        if self.facts.is_live && lead > spinner::COLUMNS {
            let blank = " ".repeat(lead - spinner::COLUMNS);
            return vec![Span::styled(self.spinner(cx, next), tones.mark), Span::raw(blank)];
        }
        let mark = if self.facts.is_thinking() { "∴" } else { "●" };
        let Some(before) = lead.checked_sub(usize::from(BULLET)) else {
            return vec![Span::raw(" ".repeat(lead))];
        };
        vec![Span::raw(" ".repeat(before)), Span::styled(mark, tones.mark), Span::raw(" ")]
    }

    fn spinner(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Cow<'static, str> {
        let spinner = match self.facts.doing {
            Doing::Waiting | Doing::Asking => Spinner::Ping,
            Doing::Thinking => Spinner::Helix,
            Doing::Writing => Spinner::PrintHead,
            Doing::Queued | Doing::Running => Spinner::Comet,
            Doing::RunningAgents => Spinner::TwoComets,
        };
        // While the user is asked nothing is under way that could move.
        if !cx.look.motion || self.facts.doing == Doing::Asking {
            return spinner.still();
        }
        next.animate(cx.look.next_step(spinner.cadence()));
        spinner.at(cx.look.clock())
    }

    /// The words that fit, and what failed behind them.
    fn words(&self, room: usize, cx: &EntryCx<'_>, next: &mut NextDeadline) -> (String, Option<String>) {
        let facts = &self.facts;
        if facts.is_thinking() {
            let words = self.thought(cx, next);
            return (without_end(&words, room), None);
        }
        let failure = facts.failure.as_ref();
        let (failed, shortly) =
            (failure.map(|failure| failure.words()), failure.map(|failure| failure.short()));
        let short = || (facts.short(), shortly.clone());
        let forms: [Option<(String, Option<String>)>; 4] = [
            Some((facts.words(), failed)),
            (cx.width < NARROW).then(short),
            // That something failed is worth more than nothing beside the count.
            Some((facts.total(), shortly)),
            Some((facts.total(), None)),
        ];
        let columns = |(words, failure): &(String, Option<String>)| {
            width::of(words) + failure.as_ref().map_or(0, |failure| width::of(failure) + 2)
        };
        let fitting = forms.into_iter().flatten().find(|form| columns(form) <= room);
        fitting.unwrap_or_else(|| (without_end(&facts.total(), room), None))
    }

    fn thought(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> String {
        let done = self.facts.thought;
        match (self.facts.thinking_since, done) {
            (Some(since), done) => {
                let on = on_grid(since, cx, next).saturating_duration_since(since);
                format!("Thought for {}", formats::running(done.unwrap_or_default() + on))
            }
            (None, Some(took)) if took.as_secs() == 0 => format!("Thought for {}", formats::running(took)),
            (None, Some(took)) => format!("Thought for {}", formats::took(took)),
            (None, None) => "Thought".to_owned(),
        }
    }

    fn figures(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> String {
        let facts = &self.facts;
        if facts.is_thinking() {
            return String::new();
        }
        let mut figures = Vec::new();
        if facts.sent > 0 {
            figures.push(format!("↑{}", formats::tokens(facts.sent)));
        }
        if facts.received > 0 {
            figures.push(format!("↓{}", formats::tokens(facts.received)));
        }
        match facts.time {
            Some(Reckoned::Took(took)) => figures.push(formats::took(took)),
            Some(Reckoned::Since(since)) => {
                figures.push(formats::running(on_grid(since, cx, next).saturating_duration_since(since)));
            }
            None => {}
        }
        if figures.is_empty() { String::new() } else { format!(", {}", figures.join(" ")) }
    }

    /// Where the light is over the words, in columns from their begin.
    fn light(&self, words: &str, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Option<f64> {
        let look = cx.look;
        let moves = self.facts.is_live && look.motion && self.facts.doing != Doing::Asking;
        // On an open line the words have the light's own colour already.
        if !moves || self.is_open || !look.theme.is_readable() {
            return None;
        }
        next.animate(look.next_step(LIGHT_STEP));
        let step = look.clock().as_millis() / LIGHT_STEP.as_millis();
        #[expect(clippy::cast_precision_loss, reason = "exact for as long as anybody lives")]
        let moved = (step as f64) * LIGHT_STEP.as_secs_f64() * LIGHT_SPEED;
        let columns = f64::from(u16::try_from(width::of(words)).unwrap_or(u16::MAX));
        Some(moved % (columns + 2.0 * LIGHT_HALF + LIGHT_REST) - LIGHT_HALF)
    }
}

/// Words under a light.
fn lit(words: &str, light: f64, tones: &Tones, cx: &EntryCx<'_>) -> Vec<Span<'static>> {
    let theme = cx.look.theme;
    let (Some(rest), Some(bright)) = (tones.words.fg, tones.lit.fg) else {
        return vec![Span::styled(words.to_owned(), tones.words)];
    };
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut last = None;
    let mut column = 0.0;
    for grapheme in words.graphemes(true) {
        let distance: f64 = (column - light) / LIGHT_HALF;
        let level = if distance.abs() < 1.0 {
            (LIGHT_LEVELS * 0.5 * (1.0 + (distance * std::f64::consts::PI).cos())).round()
        } else {
            0.0
        };
        column += f64::from(u8::try_from(width::of_grapheme(grapheme)).unwrap_or(1));
        if let (Some(span), true) = (spans.last_mut(), last == Some(level)) {
            span.content.to_mut().push_str(grapheme);
            continue;
        }
        last = Some(level);
        let color = theme.mix(rest, bright, LIGHT_PEAK * level / LIGHT_LEVELS);
        spans.push(Span::styled(grapheme.to_owned(), tones.words.fg(color)));
    }
    spans
}

/// Words cut to so many columns, without a comma or a blank before the mark.
fn without_end(words: &str, room: usize) -> String {
    if width::of(words) <= room {
        return words.to_owned();
    }
    match room.checked_sub(1) {
        Some(room) => format!("{}…", width::take(words, room).trim_end_matches([' ', ','])),
        None => String::new(),
    }
}

/// The last moment at which the figures of live lines changed; tells when they do so next. The figures of the divider
/// change at the same moments.
fn on_grid(since: Instant, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Instant {
    let look = cx.look;
    let has_tenths = look.now.saturating_duration_since(since) < Duration::from_secs(60);
    let grid = if look.motion && has_tenths { FIGURES } else { WHOLE_SECONDS };
    next.expire(look.next_step(grid));
    let over = look.clock().as_nanos() % grid.as_nanos();
    look.now.checked_sub(Duration::from_nanos(u64::try_from(over).unwrap_or(0))).unwrap_or(look.now)
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
