//! What is new of a growing text shines for a moment.
//!
//! A text is laid out anew whenever it grows; between that only its colours change, so a row that shines is a [`Moving`]
//! row that remembers when each part of it came.

use super::entries::{EntryCx, Moving};
use super::look::Look;
use super::motion;
use super::scene::NextDeadline;
use crate::text::row::Row;
use crate::text::width;
use crate::theme::Theme;
use crate::theme::role::{Role, Weight};
use crate::transcript::trail::{GLOW, Trail};
use ratatui::style::Color;
use ratatui::text::Span;
use std::sync::Arc;
use std::time::{Duration, Instant};
use unicode_segmentation::UnicodeSegmentation;

/// Brightnesses: each is a colour of its own.
const LEVELS: f64 = 6.0;

/// How bright something is so long after it came, from 6 to 0.
pub fn level(age: Duration) -> f64 {
    ((1.0 - motion::share(age, GLOW)).powi(2) * LEVELS).round()
}

/// The age at which this brightness ends.
fn ends(level: f64) -> Duration {
    GLOW.mul_f64(1.0 - ((level - 0.5).max(0.0) / LEVELS).sqrt())
}

/// A row of a growing text that shines where it is new; nothing when nothing of it is.
///
/// `start`: byte of the text where the row's text begins. `at`: where a byte of the text stands in what the trail counts.
/// Each colour of the row is moved toward that of plain text on `ground`.
pub fn row(
    row: &Row,
    start: usize,
    trail: &Trail,
    at: impl Fn(usize) -> usize,
    ground: Color,
    look: &Look<'_>,
) -> Option<Arc<dyn Moving>> {
    // Without motion nothing shines, and nothing can be mixed where nobody knows the colours.
    if !look.motion || !look.theme.is_readable() {
        return None;
    }
    let young_from = trail.shines_from(look.now)?;
    let (gutter, end) = (usize::from(row.gutter), row.text_end.map_or(usize::MAX, usize::from));
    let (mut column, mut byte) = (0, start);
    let mut parts: Vec<Part> = Vec::new();
    for grapheme in row.spans.iter().flat_map(|span| span.content.graphemes(true)) {
        let here = column;
        column += width::of_grapheme(grapheme);
        if here < gutter || here >= end {
            continue;
        }
        let place = at(byte);
        byte += grapheme.len();
        let came = Some(place).filter(|place| *place >= young_from);
        let came = came.and_then(|place| look.now.checked_sub(trail.age(place, look.now)?));
        let Some(came) = came else { continue };
        match parts.last_mut().filter(|part| part.came == came && part.to == here) {
            Some(part) => part.to = column,
            None => parts.push(Part { from: here, to: column, came }),
        }
    }
    (!parts.is_empty()).then(|| -> Arc<dyn Moving> { Arc::new(Shining { row: row.clone(), parts, ground }) })
}

/// Columns that came at once.
#[derive(Debug)]
struct Part {
    from: usize,
    to: usize,
    came: Instant,
}

#[derive(Debug)]
struct Shining {
    row: Row,
    parts: Vec<Part>,
    ground: Color,
}

impl Moving for Shining {
    fn row(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        let look = cx.look;
        if !look.motion {
            return self.row.clone();
        }
        let mut levels = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let level = level(look.now.saturating_duration_since(part.came));
            if level > 0.0 {
                next.animate(motion::on_grid(part.came + ends(level), look.now, look.epoch));
                levels.push((part, level));
            }
        }
        if levels.is_empty() {
            return self.row.clone();
        }
        let mut row = self.row.clone();
        row.spans = Vec::with_capacity(self.row.spans.len() + levels.len());
        let mut column = 0;
        for span in &self.row.spans {
            let mut run = String::new();
            let mut shown = 0.0;
            for grapheme in span.content.graphemes(true) {
                let lit = levels.iter().find(|(part, _)| (part.from..part.to).contains(&column));
                let level = lit.map_or(0.0, |(_, level)| *level);
                if (level - shown).abs() > f64::EPSILON && !run.is_empty() {
                    row.spans.push(brighter(std::mem::take(&mut run), span, shown, self.ground, look.theme));
                }
                shown = level;
                run.push_str(grapheme);
                column += width::of_grapheme(grapheme);
            }
            if !run.is_empty() {
                row.spans.push(brighter(run, span, shown, self.ground, look.theme));
            }
        }
        row
    }
}

fn brighter(text: String, span: &Span<'_>, level: f64, ground: Color, theme: &Theme) -> Span<'static> {
    let base = span.style.fg.unwrap_or(Color::Reset);
    if level <= 0.0 || base == Color::Reset {
        return Span::styled(text, span.style);
    }
    let bright = theme.mix(base, theme.color_on(Role::Text, ground), level / LEVELS);
    Span::styled(text, span.style.fg(theme.lift(bright, ground, Weight::Secondary)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brightness_falls_in_six_steps_within_700_ms() {
        let millis = Duration::from_millis;
        let table = [(0, 6.0), (100, 4.0), (350, 2.0), (500, 0.0), (700, 0.0)];
        for (age, expected) in table {
            assert!((level(millis(age)) - expected).abs() < 0.1, "{age}: {}", level(millis(age)));
        }
        for bright in 1..=6 {
            let at = ends(f64::from(bright));
            assert!(level(at + millis(1)) < f64::from(bright), "{bright}");
            assert!(level(at.saturating_sub(millis(1))) >= f64::from(bright), "{bright}");
        }
    }
}
