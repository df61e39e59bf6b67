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
use crate::theme::Theme;
use crate::theme::role::Role;
use crate::transcript::item::{Prose, Thinking};
use crate::ui::look::Look;
use crate::ui::paint;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use std::time::Duration;

/// Lays thinking out.
pub fn lay_out(thinking: &Thinking, cx: &EntryCx<'_>) -> Layout {
    let text = thinking.text.text();
    let is_empty = text.trim().is_empty();
    if thinking.since.is_some() {
        return match (cx.look.display.thinking, cx.open) {
            // Nothing, as long as nothing is wished or there is nothing.
            (ThinkingStyle::Collapsed, false) => Layout::default(),
            _ if is_empty => Layout::default(),
            (ThinkingStyle::Tail | ThinkingStyle::Full, true) => whole(text, cx),
            (ThinkingStyle::Tail | ThinkingStyle::Full, false) | (ThinkingStyle::Collapsed, true) => {
                newest::lay_out(thinking, style(cx.look.theme), cx)
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
    let mut layout = whole(text, cx);
    layout.rows.insert(0, label);
    layout
}

const MARK: &str = "∴";

/// Whether thinking goes on and is shown whole: its rows are those of its stream then, so that a long thought costs what
/// is new of it.
pub fn is_streamed(thinking: &Thinking, look: &Look<'_>, open: bool) -> bool {
    let is_whole = open && look.display.thinking != ThinkingStyle::Collapsed;
    is_whole && thinking.since.is_some() && matches!(thinking.text, Prose::Live(_))
}

/// The mark of thinking that is shown whole.
pub fn mark(theme: &Theme) -> Span<'static> {
    Span::styled(MARK, theme.style(Role::Muted))
}

/// A row of Markdown in the colours of thinking. Cards keep theirs: code is read.
pub fn thought(mut row: Row, theme: &Theme) -> Row {
    if row.card.is_none() {
        let style = style(theme);
        for span in &mut row.spans {
            span.style = span.style.patch(style);
        }
    }
    row
}

fn style(theme: &Theme) -> Style {
    theme.style(Role::ThinkingText).add_modifier(Modifier::ITALIC)
}

/// All of it.
fn whole(text: &str, cx: &EntryCx<'_>) -> Layout {
    let document = markdown::render(text, cx.look.theme, cx.room());
    let rows = document.rows.into_iter().map(|row| thought(row, cx.look.theme)).collect();
    Layout { cards: document.cards, ..Layout::beside(cx, MARK, Role::Muted, rows) }
}
