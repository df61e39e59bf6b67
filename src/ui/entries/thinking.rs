//! What the model thinks: its newest words while it does, one row once it is over.
//!
//! | style | while it goes on | afterwards | toggled |
//! |---|---|---|---|
//! | tail | its newest rows | a label | all of it |
//! | collapsed | nothing | a label | its newest rows, then all of it |
//! | full | all of it | all of it | its newest rows, then a label |
//!
//! How long it goes on is told by the phase line, so there is no label above what is still thought.

mod flat;
mod newest;

use super::{EntryCx, Layout};
use crate::config::display::ThinkingStyle;
use crate::text::row::Row;
use crate::text::{formats, markdown};
use crate::theme::role::Role;
use crate::transcript::item::Thinking;
use crate::ui::paint;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use std::time::Duration;

/// Lays thinking out.
pub fn lay_out(thinking: &Thinking, cx: &EntryCx<'_>) -> Layout {
    let style = cx.look.theme.style(Role::ThinkingText).add_modifier(Modifier::ITALIC);
    let text = thinking.text.text();
    let is_empty = text.trim().is_empty();
    if thinking.since.is_some() {
        return match (cx.look.display.thinking, cx.open) {
            // Nothing, as long as nothing is wished or there is nothing.
            (ThinkingStyle::Collapsed, false) => Layout::default(),
            _ if is_empty => Layout::default(),
            (ThinkingStyle::Tail | ThinkingStyle::Full, true) => whole(text, style, cx),
            (ThinkingStyle::Tail | ThinkingStyle::Full, false) | (ThinkingStyle::Collapsed, true) => {
                newest::lay_out(thinking, style, cx)
            }
        };
    }
    let label = match thinking.took {
        // Tenths below a second, too: it was just read as a time that ran. What came at once took no time to tell.
        Some(took) if took >= Duration::from_millis(100) => format!("Thought for {}", formats::running(took)),
        _ => "Thought".to_owned(),
    };
    let withheld = if is_empty { " · not shown by the provider" } else { "" };
    let is_open = cx.open && !is_empty;
    let role = if is_open { Role::Muted } else { Role::Dim };
    let label_style = cx.look.theme.style(role).add_modifier(Modifier::ITALIC);
    let spans =
        paint::cut(vec![Span::styled(format!("{label}{withheld}"), label_style)], cx.room(), label_style);
    let label = Row { spans, is_decoration: true, ..Row::default() };
    if !is_open {
        return Layout::beside(cx, MARK, role, vec![label]);
    }
    let mut layout = whole(text, style, cx);
    layout.rows.insert(0, label);
    layout
}

const MARK: &str = "∴";

/// All of it.
fn whole(text: &str, style: Style, cx: &EntryCx<'_>) -> Layout {
    let document = markdown::render(text, cx.look.theme, cx.room());
    let rows = document.rows.into_iter().map(|row| muted(row, style)).collect();
    Layout { cards: document.cards, ..Layout::beside(cx, MARK, Role::Muted, rows) }
}

/// Text of the model in the colours of thinking. Cards keep theirs: code is read.
fn muted(mut row: Row, style: Style) -> Row {
    if row.card.is_none() {
        for span in &mut row.spans {
            span.style = span.style.patch(style);
        }
    }
    row
}
