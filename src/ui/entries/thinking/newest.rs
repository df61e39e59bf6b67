//! The newest rows of what is still thought, flattened; what is new shines.
//!
//! However long the text is, only its end is looked at, and that end begins at the same place for a long while: else every
//! new word would wrap all rows anew.

use super::MARK;
use super::flat::Flat;
use crate::text::row::Row;
use crate::text::wrap::{self, Break, Run};
use crate::text::{clean, width};
use crate::theme::role::Role;
use crate::transcript::item::Thinking;
use crate::transcript::trail::{GLOW, Trail};
use crate::ui::entries::{EntryCx, Layout, Moving};
use crate::ui::look::Look;
use crate::ui::scene::NextDeadline;
use ratatui::style::{Color, Style};
use ratatui::text::Span;
use std::sync::Arc;
use std::time::{Duration, Instant};
use unicode_segmentation::UnicodeSegmentation;

/// Rows.
const SHOWN: usize = 3;
/// Stands before what is cut.
const CUT: &str = "… ";
/// Steps of brightness.
const LEVELS: u32 = 6;
const GRID: Duration = Duration::from_millis(40);

/// The newest rows of thinking that goes on.
pub(super) fn lay_out(thinking: &Thinking, style: Style, cx: &EntryCx<'_>) -> Layout {
    let mut layout = Layout::default();
    let mut rows = Vec::new();
    for (row, from) in rows_of(thinking.text.text(), cx.room(), style) {
        // The part that is older than all marks never shines, and its row never moves.
        let is_young = from
            .last()
            .is_some_and(|last| thinking.trail.shines_from(cx.look.now).is_some_and(|young| *last >= young));
        if is_young && cx.look.motion && cx.look.theme.is_readable() {
            let trail = thinking.trail.clone();
            let moving: Arc<dyn Moving> = Arc::new(Shining { row: row.clone(), from, trail });
            layout.moving.push((rows.len(), moving));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Layout::default();
    }
    Layout { moving: layout.moving, ..Layout::beside(cx, MARK, Role::Dim, rows) }
}

/// A row of which a part is new.
#[derive(Debug)]
struct Shining {
    row: Row,
    /// Where each grapheme of it stood in the text.
    from: Vec<usize>,
    trail: Trail,
}

impl Moving for Shining {
    fn row(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        shining(&self.row, &self.from, &self.trail, cx.look, next)
    }
}

/// The row with what is new brighter; asks for the next step of its fading.
fn shining(row: &Row, from: &[usize], trail: &Trail, look: &Look<'_>, next: &mut NextDeadline) -> Row {
    let mut from = from.iter();
    let mut spans: Vec<Span<'static>> = Vec::new();
    for span in &row.spans {
        let base = span.style.fg.unwrap_or(Color::Reset);
        for grapheme in span.content.graphemes(true) {
            let age = from.next().and_then(|from| trail.age(*from, look.now));
            let level = age.map_or(0, level);
            if let Some(age) = age.filter(|_| level > 0) {
                let until = look.now + fades_after(level).saturating_sub(age);
                next.animate(on_grid(look, until));
            }
            let style = match level {
                0 => span.style,
                _ => {
                    let share = f64::from(level) / f64::from(LEVELS);
                    span.style.fg(look.theme.mix(base, look.theme.color(Role::Text), share))
                }
            };
            match spans.last_mut().filter(|last| last.style == style) {
                Some(last) => last.content.to_mut().push_str(grapheme),
                None => spans.push(Span::styled(grapheme.to_owned(), style)),
            }
        }
    }
    Row { spans, ..row.clone() }
}

/// How bright something of this age is.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "six steps")]
fn level(age: Duration) -> u32 {
    let left = 1.0 - age.as_secs_f64() / GLOW.as_secs_f64();
    (left.max(0.0).powi(2) * f64::from(LEVELS)).round() as u32
}

/// At which age it is less bright than this.
fn fades_after(level: u32) -> Duration {
    let least = (f64::from(level) - 0.5) / f64::from(LEVELS);
    GLOW.mul_f64(1.0 - least.max(0.0).sqrt()) + Duration::from_millis(1)
}

/// Never before the moment: at the step of the grid behind it.
fn on_grid(look: &Look<'_>, at: Instant) -> Instant {
    let clock = at.saturating_duration_since(look.epoch).as_millis();
    let steps = clock.div_ceil(GRID.as_millis());
    look.epoch + GRID.saturating_mul(u32::try_from(steps).unwrap_or(u32::MAX))
}

/// The newest rows, and where each of their graphemes stood.
fn rows_of(text: &str, room: usize, style: Style) -> Vec<(Row, Vec<usize>)> {
    let begin = begin(text, room);
    let tail = text.get(begin..).unwrap_or_default();
    let cleaned = clean::for_terminal(tail);
    // What is cleaned away stood anywhere; what is new stands at the end, and is told from there.
    let removed = tail.len().saturating_sub(cleaned.len());
    let flat = Flat::of(&cleaned);
    if flat.text.trim().is_empty() {
        return Vec::new();
    }
    // The mark has its room from the beginning, so that rows stay what they are when the ones above them go.
    let mark = if room > 2 * width::of(CUT) { CUT } else { "" };
    let columns = room.saturating_sub(width::of(mark)).max(1);
    let rows = wrap::line(&[Run::new(flat.text.as_str(), style, 0)], columns, Break::Words);
    let hidden = rows.len().saturating_sub(SHOWN);
    let is_cut = begin > 0 || hidden > 0;
    let mut shown = Vec::new();
    for mut row in rows.into_iter().skip(hidden) {
        let mut at = row.start;
        let mut from = Vec::new();
        for grapheme in row.spans.iter().flat_map(|span| span.content.graphemes(true)) {
            from.push(begin + removed + flat.from(at).unwrap_or_default());
            at += grapheme.len();
        }
        if shown.is_empty() && is_cut && !mark.is_empty() {
            from.splice(0..0, [0; 2]);
            row.prefix(&[Span::styled(mark, style)], false);
        }
        row.start += begin;
        shown.push((row, from));
    }
    shown
}

/// Where the part begins that is looked at: between one and two times what can be shown lies behind it. It moves in
/// steps, to the begin of a line if there is one near, else of a word.
fn begin(text: &str, room: usize) -> usize {
    let step = (SHOWN + 1) * room.max(8) * 3;
    let steps = text.len() / step;
    if steps < 2 {
        return 0;
    }
    let from = text.floor_char_boundary((steps - 1) * step);
    let tail = text.get(from..).unwrap_or_default();
    let half = tail.get(..tail.floor_char_boundary(step / 2)).unwrap_or_default();
    from + half.find('\n').or_else(|| half.find(' ')).map_or(0, |at| at + 1)
}

#[cfg(test)]
#[path = "newest_tests.rs"]
mod tests;
