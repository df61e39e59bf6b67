//! A call of a tool that is not built in, as a plain line on the page: for those who want bands only for what they know.

use super::body::Panel;
use super::{EntryCx, Layout, Moving};
use crate::text::row::Row;
use crate::ui::band::{self, Band, line, seg};
use crate::ui::scene::NextDeadline;
use ratatui::style::Color;
use std::sync::Arc;

/// Lays a call out that has neither a ground nor one under it.
pub fn lay_out(band: Band, panel: Panel<'_>, cx: &EntryCx<'_>) -> Layout {
    let is_moving = band.rail.is_moving();
    let line = PlainLine { band };
    let mut layout = Layout { rows: vec![line.row(cx, &mut NextDeadline::default())], ..Layout::default() };
    if is_moving {
        layout.moving.push((0, Arc::new(line)));
    }
    panel.under(&mut layout);
    layout
}

#[derive(Debug)]
struct PlainLine {
    band: Band,
}

impl Moving for PlainLine {
    fn row(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        let margin = cx.margin();
        let room = usize::from(cx.width.saturating_sub(margin));
        let (left, rail) = self.band.sides(room, cx, next);
        let text_end = usize::from(margin) + line::columns(&left);
        let mut spans = band::mark(self.band.state.role(), "●", cx, Color::Reset);
        spans.extend(seg::spans(&line::set(left, rail, room), cx.look.theme, Color::Reset));
        Row {
            spans,
            gutter: margin.saturating_add(self.band.sign).min(cx.width),
            text_end: Some(u16::try_from(text_end).unwrap_or(u16::MAX)),
            ..Row::default()
        }
    }
}
