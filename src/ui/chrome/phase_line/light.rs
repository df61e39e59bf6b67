//! Colours of the left part of the phase line, and the light that crosses its word.

use super::{SLOW, after, on_grid};
use crate::text::width;
use crate::theme::role::{Role, Weight};
use crate::ui::chrome::phase::{Kind, Status};
use crate::ui::look::Look;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use std::ops::Range;
use std::time::Duration;
use unicode_segmentation::UnicodeSegmentation;

/// So much longer a call may stay without arguments before that means anything.
const HELD_BACK: Duration = Duration::from_secs(110);
/// How far the light goes towards the colour of text.
const LIGHT: f64 = 0.45;
const LIGHT_COLUMNS: usize = 3;
const PULSE: Duration = Duration::from_secs(2);
/// Steps of the light: 50 ms while a request is sent, on the grid of 40 that all animations share, and 200 otherwise.
const FAST: Duration = Duration::from_millis(40);
const CALM: Duration = Duration::from_millis(200);

/// What of a word is lit.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Light {
    None,
    /// All of it.
    All(Color),
    /// These graphemes.
    Window(Range<usize>, Color),
}

/// The colour of a status.
pub(super) fn style(status: &Status, look: &Look<'_>) -> Style {
    let theme = look.theme;
    let (share, target) = alert(status, look.motion);
    let accent = theme.color(Role::Accent);
    let mut color = theme.mix(accent, theme.color(target), share);
    // Colours that cannot be mixed change at once.
    if color == accent && share >= 0.5 {
        color = theme.color(target);
    }
    let style = Style::new().fg(theme.lift(color, Color::Reset, Weight::Primary));
    if share >= 1.0 && status.kind == Kind::Think { style.add_modifier(Modifier::BOLD) } else { style }
}

/// The light at this time.
pub(super) fn at(status: &Status, style: Style, look: &Look<'_>, clock: Duration) -> Light {
    let color = style.fg.unwrap_or(Color::Reset);
    let towards = |share| look.theme.mix(color, look.theme.color(Role::Text), share);
    if !look.motion || towards(LIGHT) == color {
        return Light::None;
    }
    let seen = on_grid(clock, step(status.kind));
    match status.kind {
        Kind::Asking | Kind::Retry => Light::None,
        Kind::Run | Kind::RunAgents => {
            let turn = (seen.as_millis() % PULSE.as_millis()) as f64 / PULSE.as_millis() as f64;
            match towards(LIGHT * (0.5 - 0.5 * (turn * std::f64::consts::TAU).cos())) {
                lit if lit == color => Light::None,
                lit => Light::All(lit),
            }
        }
        _ => {
            let word = status.verb.as_deref().unwrap_or(&status.word);
            let letters = word.graphemes(true).count();
            // It comes from outside of the word and leaves it on the other side.
            let way = letters + 2 * LIGHT_COLUMNS;
            let at = usize::try_from(seen.as_millis() / step(status.kind).as_millis()).unwrap_or(0) % way;
            let end = if status.kind == Kind::Api { at } else { way - at };
            let range = end.saturating_sub(LIGHT_COLUMNS).min(letters)..end.min(letters);
            if range.is_empty() { Light::None } else { Light::Window(range, towards(LIGHT)) }
        }
    }
}

/// When the light is another one.
pub(super) fn next(status: &Status, style: Style, look: &Look<'_>, clock: Duration) -> Option<Duration> {
    let step = step(status.kind);
    let drawn = at(status, style, look, clock);
    let mut then = after(clock, step);
    // It is outside of the word for a few steps only, and the pulse turns at two points.
    for _ in 0..2 * LIGHT_COLUMNS + 2 {
        if at(status, style, look, then) != drawn {
            return Some(then);
        }
        then += step;
    }
    None
}

/// The word with its light.
pub(super) fn lit(word: &str, style: Style, light: &Light) -> Vec<Span<'static>> {
    let (range, color) = match light {
        Light::None => return vec![Span::styled(word.to_owned(), style)],
        Light::All(color) => return vec![Span::styled(word.to_owned(), style.fg(*color))],
        Light::Window(range, color) => (range, *color),
    };
    let mut parts = [String::new(), String::new(), String::new()];
    for (index, grapheme) in word.graphemes(true).enumerate() {
        let part = usize::from(index >= range.start) + usize::from(index >= range.end);
        if let Some(part) = parts.get_mut(part) {
            part.push_str(&width::drawn(grapheme));
        }
    }
    let [before, inside, after] = parts;
    vec![Span::styled(before, style), Span::styled(inside, style.fg(color)), Span::styled(after, style)]
}

const fn step(kind: Kind) -> Duration {
    if matches!(kind, Kind::Api) { FAST } else { CALM }
}

/// How alarming it is, and in which direction.
fn alert(status: &Status, motion: bool) -> (f64, Role) {
    let (time, role) = match status.kind {
        Kind::Asking | Kind::Retry => return (1.0, Role::Warning),
        Kind::Prep | Kind::Run | Kind::RunAgents | Kind::Compaction | Kind::BranchSummary => {
            return (0.0, Role::Error);
        }
        Kind::Think => (status.elapsed.unwrap_or_default(), Role::Warning),
        Kind::Tool if status.is_held_back => (status.quiet.saturating_sub(HELD_BACK), Role::Error),
        Kind::Api | Kind::FirstToken | Kind::Tool | Kind::Text => (status.quiet, Role::Error),
    };
    let share = (time.as_secs_f64() / SLOW.as_secs_f64() - 1.0).clamp(0.0, 1.0);
    (if motion { share } else { share.floor() }, role)
}
