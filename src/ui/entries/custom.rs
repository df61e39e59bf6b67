//! A text of a program: a summary, mail.

use super::user::grounded;
use super::{EntryCx, Layout, seg};
use crate::text::formats;
use crate::text::markdown;
use crate::text::row::Row;
use crate::theme::Theme;
use crate::theme::role::{Role, Weight};
use crate::ui::paint;
use ratatui::style::{Color, Modifier};
use ratatui::text::Span;

/// Rows that are shown of a closed one.
const SHOWN: usize = 8;

/// Lays a text of a program out.
pub fn lay_out(label: &str, text: &str, cx: &EntryCx<'_>) -> Layout {
    let theme = cx.look.theme;
    let ground = theme.color(Role::CustomMessageBg);
    let on_ground = |role: Role| theme.style_on(role, ground);
    let cut =
        |text: String, style| paint::cut(vec![Span::styled(text, style)], cx.room(), on_ground(Role::Muted));
    let label_style = on_ground(Role::CustomMessageLabel).add_modifier(Modifier::BOLD);
    let head = Row { spans: cut(seg::line(label), label_style), is_decoration: true, ..Row::default() };
    let mut rows = vec![head];
    let document = markdown::render(text, theme, cx.room());
    let (shown, hidden) = begin(document.rows, SHOWN, ground, cx);
    let last = shown.last().map_or(0, |row| row.start);
    rows.extend(shown);
    if hidden > 0 {
        let note = formats::counted(hidden as u64, "more line");
        let key = cx.look.expand_key().map(|key| format!(" · {key}")).unwrap_or_default();
        let spans = cut(format!("… {note}{key}"), on_ground(Role::Dim));
        rows.push(Row { spans, start: last, is_decoration: true, ..Row::default() });
    }
    let rows = grounded(rows, "●", Role::CustomMessageLabel, cx, ground);
    Layout { rows, cards: document.cards, ..Layout::default() }
}

/// The first rows of Markdown on a ground, all of an open one, and how many are left out. A single one is not: what tells
/// of it would take its row.
pub fn begin(mut rows: Vec<Row>, most: usize, ground: Color, cx: &EntryCx<'_>) -> (Vec<Row>, usize) {
    let all = rows.len();
    if !cx.open && all != most + 1 {
        rows.truncate(most);
    }
    for row in rows.iter_mut().filter(|row| row.ground.is_none()) {
        relight(row, cx.look.theme, ground);
    }
    let hidden = all - rows.len();
    (rows, hidden)
}

/// Markdown is coloured for the page; here it stands on another ground.
fn relight(row: &mut Row, theme: &Theme, ground: Color) {
    const SECONDARY: [Role; 5] = [Role::Muted, Role::Dim, Role::MdLinkUrl, Role::MdQuote, Role::MdListBullet];
    const EXEMPT: [Role; 3] = [Role::MdHr, Role::MdQuoteBorder, Role::MdCodeBlockBorder];
    for span in &mut row.spans {
        let Some(color) = span.style.fg else { continue };
        let is_one = |roles: &[Role]| roles.iter().any(|role| theme.color(*role) == color);
        if is_one(&EXEMPT) {
            continue;
        }
        let weight = if is_one(&SECONDARY) { Weight::Secondary } else { Weight::Primary };
        let color =
            if color == theme.color(Role::Text) { theme.color(Role::CustomMessageText) } else { color };
        span.style = span.style.fg(theme.lift(color, ground, weight));
    }
}
