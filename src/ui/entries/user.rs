//! What the user said: a ground over the whole width, so that one finds the own words when scrolling.

use super::{EntryCx, Layout, band};
use crate::text::row::Row;
use crate::text::wrap::{self, Break, Run};
use crate::text::{clean, formats, links};
use crate::theme::role::Role;
use crate::transcript::item::User;
use crate::ui::paint;
use ratatui::style::Color;
use ratatui::text::Span;

/// Rows that are shown of a long prompt.
const SHOWN: usize = 20;

/// Lays a prompt out.
pub fn lay_out(user: &User, cx: &EntryCx<'_>) -> Layout {
    let theme = cx.look.theme;
    let ground = theme.color(Role::UserMessageBg);
    let text = clean::for_terminal(user.text.trim_end());
    let style = theme.style_on(Role::UserMessageText, ground);
    let mut rows = Vec::new();
    let mut lines = text.split('\n').filter(|_| !text.is_empty() || user.pictures == 0);
    let mut start = 0;
    let most = if cx.open { usize::MAX } else { SHOWN };
    // One more than is shown, to know whether anything is hidden; a single row more takes the place of the note.
    while rows.len() <= most.saturating_add(1)
        && let Some(line) = lines.next()
    {
        let runs = links::linked(vec![Run::new(line, style, start)], |style| {
            style.add_modifier(ratatui::style::Modifier::UNDERLINED)
        });
        let left = most.saturating_add(2) - rows.len();
        rows.extend(wrap::first_rows(&runs, cx.room(), Break::Words, left));
        start += line.len() + 1;
    }
    if rows.len() > most.saturating_add(1) {
        let cut: Vec<Row> = rows.drain(most..).collect();
        // Of a line that is cut in its middle the rest counts as a line.
        let begun = cut.iter().filter(|row| row.joint == crate::text::row::Joint::Line).count();
        let hidden = (begun + lines.count()).max(1);
        let start = cut.first().map_or(0, |row| row.start);
        let note = format!("… {}", formats::counted(hidden as u64, "more line"));
        let key = cx.look.expand_key().map(|key| format!(" · {key}")).unwrap_or_default();
        rows.push(aside(&format!("{note}{key}"), Role::Dim, start, cx, ground));
    }
    if user.pictures > 0 {
        let pictures = formats::counted(user.pictures as u64, "picture");
        rows.push(aside(&format!("· {pictures}"), Role::Muted, start, cx, ground));
    }
    Layout { rows: grounded(rows, "❯", Role::Accent, cx, ground), ..Layout::default() }
}

/// A row of ours under the text.
fn aside(text: &str, role: Role, start: usize, cx: &EntryCx<'_>, ground: Color) -> Row {
    let style = cx.look.theme.style_on(role, ground);
    let spans = paint::cut(vec![Span::styled(text.to_owned(), style)], cx.room(), style);
    Row { spans, start, is_decoration: true, ..Row::default() }
}

/// Rows on a ground that reaches the left edge, the first with a mark.
pub fn grounded(rows: Vec<Row>, mark: &'static str, role: Role, cx: &EntryCx<'_>, ground: Color) -> Vec<Row> {
    let mut spans = band::mark(role, mark, cx, ground);
    let has_ground = ground != Color::Reset;
    let draw = |(at, mut row): (usize, Row)| {
        if at == 1 {
            spans = vec![Span::raw(" ".repeat(usize::from(cx.margin())))];
        }
        // A card's own ground begins behind the margin.
        let margin: Vec<_> = spans
            .iter()
            .map(|span| {
                if has_ground {
                    span.clone().patch_style(ratatui::style::Style::new().bg(ground))
                } else {
                    span.clone()
                }
            })
            .collect();
        row.prefix(&margin, false);
        if row.ground.is_none() && has_ground {
            row.ground = Some((0, ground));
        }
        row
    };
    rows.into_iter().enumerate().map(draw).collect()
}
