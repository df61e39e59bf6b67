//! The newest rows of what is still thought, flattened; what is new shines.

use super::MARK;
use super::flat::Flat;
use crate::text::row::Row;
use crate::text::wrap::{self, Break, Run};
use crate::text::{clean, width};
use crate::theme::role::Role;
use crate::transcript::item::Thinking;
use crate::ui::entries::{EntryCx, Layout, newest};
use crate::ui::glow;
use ratatui::style::{Color, Style};
use ratatui::text::Span;

/// Rows.
const SHOWN: usize = 3;
/// Stands before what is cut.
const CUT: &str = "… ";

/// The newest rows of thinking that goes on.
pub(super) fn lay_out(thinking: &Thinking, style: Style, cx: &EntryCx<'_>) -> Layout {
    let Some(end) = End::of(thinking.text.text(), cx.room()) else { return Layout::default() };
    let rows = end.rows(style);
    let shines = |row: &Row| {
        let start = row.start.saturating_sub(end.begin);
        glow::row(row, start, &thinking.trail, |byte| end.place(byte), Color::Reset, cx.look)
    };
    let moving =
        rows.iter().enumerate().filter_map(|(index, row)| Some((index, shines(row)?))).collect::<Vec<_>>();
    Layout { moving, ..Layout::beside(cx, MARK, Role::Dim, rows) }
}

/// The end of a text, flattened.
#[derive(Debug)]
struct End {
    begin: usize,
    /// Bytes that are cleaned away. They stood anywhere; what is new stands at the end, and is told from there.
    removed: usize,
    flat: Flat,
    room: usize,
}

impl End {
    /// Nothing when there are only blanks.
    fn of(text: &str, room: usize) -> Option<Self> {
        let begin = newest::end_of(text, newest::step(SHOWN, room));
        let tail = text.get(begin..).unwrap_or_default();
        let cleaned = clean::for_terminal(tail);
        let removed = tail.len().saturating_sub(cleaned.len());
        let flat = Flat::of(&cleaned);
        (!flat.text.trim().is_empty()).then_some(Self { begin, removed, flat, room })
    }

    /// Where a byte of the flat text stood.
    fn place(&self, byte: usize) -> usize {
        self.begin + self.removed + self.flat.from(byte).unwrap_or_default()
    }

    fn rows(&self, style: Style) -> Vec<Row> {
        // The mark has its room from the beginning, so that rows stay what they are when the ones above them go.
        let mark = if self.room > 2 * width::of(CUT) { CUT } else { "" };
        let columns = self.room.saturating_sub(width::of(mark)).max(1);
        let rows = wrap::line(&[Run::new(self.flat.text.as_str(), style, 0)], columns, Break::Words);
        let hidden = rows.len().saturating_sub(SHOWN);
        let is_cut = self.begin > 0 || hidden > 0;
        let mut shown: Vec<Row> = rows.into_iter().skip(hidden).collect();
        if let Some(first) = shown.first_mut().filter(|_| is_cut && !mark.is_empty()) {
            first.prefix(&[Span::styled(mark, style)], false);
        }
        for row in &mut shown {
            row.start += self.begin;
        }
        shown
    }
}

#[cfg(test)]
#[path = "newest_tests.rs"]
mod tests;
