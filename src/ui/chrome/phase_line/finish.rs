//! The end mark in the divider: when a prompt is done, six columns of dots light up one after another, stand for a moment
//! and go out in the same order.

use super::{after, on_grid};
use crate::theme::role::Role;
use crate::ui::chrome::spinner::{self, GRID, cells};
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::Span;
use std::time::{Duration, Instant};

/// Columns of dots.
const COLUMNS: usize = 2 * spinner::COLUMNS;
/// From one column to the next.
const APART: f64 = 40.0;
/// A column becomes bright in this time, and dark.
const RAMP: f64 = 120.0;
/// All stand.
const HOLD: f64 = 120.0;
/// When the first goes out: the last one is lit, and all have stood.
const OUT: f64 = 5.0 * APART + RAMP + HOLD;
/// All of it.
const WHOLE: Duration = Duration::from_millis(760);
/// How far the crest of the wave goes towards the colour of text.
const CREST: f64 = 0.55;
/// Columns of the divider below which there is no room for it.
const LEAST: u16 = 12;
/// A cell without dots.
const BLANK: &str = "\u{2800}";
/// Where it stands: where the spinner stood.
const INDENT: u16 = 2;

/// Draws it over the divider of an idle program.
pub(super) fn draw(done: Instant, look: &Look<'_>, area: Rect, buffer: &mut Buffer, next: &mut NextDeadline) {
    let clock = look.clock();
    let begin = done.saturating_duration_since(look.epoch);
    let end = begin + WHOLE;
    if !look.motion || clock >= end || area.width < LEAST {
        return;
    }
    // Where the figures leave nothing of the divider, they are worth more.
    let slot = Rect { x: area.x + INDENT - 1, width: 5, ..area };
    if (slot.left()..=slot.right()).any(|x| buffer.cell((x, area.y)).is_none_or(|cell| cell.symbol() != "─"))
    {
        return;
    }
    let drawn = wave(look, begin, clock);
    // Before the first dot is lit, the divider is whole.
    if drawn.iter().any(|(cell, _)| cell != BLANK) {
        let mut spans = vec![Span::raw(" ")];
        spans.extend(drawn.iter().cloned().map(|(cell, style)| Span::styled(cell, style)));
        spans.push(Span::raw(" "));
        paint::fill(buffer, slot, Style::new());
        paint::spans(buffer, slot, &spans);
    }
    let mut at = after(clock, GRID);
    while at < end && wave(look, begin, at) == drawn {
        at += GRID;
    }
    next.animate(look.epoch + at.min(end));
    // Half a mark does not stay when the terminal loses the focus meanwhile.
    next.expire(look.epoch + end);
}

/// The three cells at this time.
fn wave(look: &Look<'_>, begin: Duration, clock: Duration) -> Vec<(String, Style)> {
    let theme = look.theme;
    let millis = on_grid(clock, GRID).saturating_sub(begin).as_secs_f64() * 1000.0;
    let levels: Vec<(f64, f64)> = (0..COLUMNS).map(|column| level(column, millis)).collect();
    let lit = (0..COLUMNS).filter(|column| levels.get(*column).is_some_and(|(level, _)| *level > 0.0));
    let glyphs = cells(lit.flat_map(|column| (0..4).map(move |row| (column, row))));
    let cell_of = |(index, glyph): (usize, char)| {
        let pair = levels.get(2 * index..2 * index + 2).unwrap_or_default();
        let most = |pick: fn(&(f64, f64)) -> f64| pair.iter().map(pick).fold(0.0, f64::max);
        let accent = theme.color(Role::Accent);
        // What cannot be mixed is lit or not.
        let color = if theme.is_readable() {
            let color = theme.mix(Color::Reset, accent, most(|(level, _)| *level));
            theme.mix(color, theme.color(Role::Text), CREST * most(|(_, crest)| *crest))
        } else {
            accent
        };
        (glyph.to_string(), Style::new().fg(color))
    };
    glyphs.chars().enumerate().map(cell_of).collect()
}

/// How bright a column is, and how much of the crest it has: that runs along with what is being lit.
#[expect(clippy::cast_precision_loss, reason = "six columns")]
fn level(column: usize, millis: f64) -> (f64, f64) {
    let begin = column as f64 * APART;
    let rise = ((millis - begin) / RAMP).clamp(0.0, 1.0);
    let fall = ((millis - OUT - begin) / RAMP).clamp(0.0, 1.0);
    (rise - fall, 1.0 - (2.0 * rise - 1.0).abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_light_up_stand_and_go_out_in_order() {
        // Milliseconds, and how bright the first and the last column are, in percent.
        let table = [
            (0, 0, 0),
            (60, 50, 0),
            (120, 100, 0),
            (260, 100, 50),
            (320, 100, 100),
            (440, 100, 100),
            (500, 50, 100),
            (560, 0, 100),
            (700, 0, 50),
            (760, 0, 0),
        ];
        for (millis, first, last) in table {
            let percent = |column| (level(column, f64::from(millis)).0 * 100.0).round();
            assert_eq!((percent(0), percent(5)), (f64::from(first), f64::from(last)), "{millis}");
        }
        // The crest is where the ramp is, and nowhere once all are lit.
        assert_eq!(level(0, 60.0).1, 1.0);
        assert!((0..COLUMNS).all(|column| level(column, 320.0).1 == 0.0));
    }
}
