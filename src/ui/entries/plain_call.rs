//! A call of a tool that is not built in, as a plain line on the page: for those who want bands only for what they know.

use super::band::{self, Band};
use super::body::Panel;
use super::seg::{self, Seg};
use super::{EntryCx, Layout, Moving};
use crate::text::row::Row;
use crate::theme::role::Role;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use ratatui::style::Color;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Lays a call out that has neither a ground nor one under it. `running`: since when, and its limit.
pub fn lay_out(
    band: Band,
    running: Option<(Instant, Option<Duration>)>,
    panel: Panel<'_>,
    cx: &EntryCx<'_>,
) -> Layout {
    let line = PlainLine { band, running };
    let mut next = NextDeadline::default();
    let mut layout = Layout { rows: vec![line.row(cx, &mut next)], ..Layout::default() };
    if next != NextDeadline::default() {
        layout.moving.push((0, Arc::new(line)));
    }
    panel.under(&mut layout);
    layout
}

#[derive(Debug)]
struct PlainLine {
    band: Band,
    running: Option<(Instant, Option<Duration>)>,
}

impl Moving for PlainLine {
    fn row(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        let theme = cx.look.theme;
        let on_page = |segs: &[Seg]| seg::spans(segs, theme, Color::Reset);
        let rail = match self.running {
            Some((since, limit)) => on_page(&band::running(None, since, limit, cx, next)),
            None => on_page(&self.band.rail),
        };
        let margin = cx.margin();
        let room = usize::from(cx.width.saturating_sub(margin));
        let left_room = match paint::columns(&rail) {
            0 => room,
            columns => room.saturating_sub(columns + 3),
        };
        let dots = theme.style(Role::Muted);
        let mut left = on_page(&self.band.title);
        left.extend(on_page(&self.band.facts));
        let left = paint::cut(left, left_room, dots);
        let text_end = usize::from(margin) + paint::columns(&left);
        let mut spans = band::mark(self.band.state.role(), "●", cx, Color::Reset);
        spans.extend(paint::left_and_rail(left, rail, room, dots));
        Row {
            spans,
            gutter: margin.saturating_add(self.band.sign).min(cx.width),
            text_end: Some(u16::try_from(text_end).unwrap_or(u16::MAX)),
            ..Row::default()
        }
    }
}
