//! Something the user should know.

use super::{EntryCx, Layout};
use crate::proto::event::NoticeLevel;
use crate::text::wrap::{self, Break, Run};
use crate::text::{clean, links};
use crate::theme::role::Role;
use ratatui::style::Modifier;

/// Lays a notice out. What stands between backticks is to be typed, and looks like it.
pub fn lay_out(level: NoticeLevel, text: &str, cx: &EntryCx<'_>) -> Layout {
    let (mark, role) = match level {
        NoticeLevel::Info => ("·", Role::Dim),
        NoticeLevel::Warning => ("▲", Role::Warning),
        NoticeLevel::Error => ("✗", Role::Error),
    };
    let theme = cx.look.theme;
    let text = clean::for_terminal(text.trim_end());
    let mut rows = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        let mut runs = Vec::new();
        let mut at = start;
        for (index, part) in line.split('`').enumerate() {
            let role = if index % 2 == 1 { Role::MdCode } else { role };
            if !part.is_empty() {
                runs.push(Run::new(part, theme.style(role), at));
            }
            at += part.len() + 1;
        }
        let is_empty = runs.is_empty();
        let runs = links::linked(runs, |style| style.add_modifier(Modifier::UNDERLINED));
        let mut made = wrap::line(&runs, cx.room(), Break::Words);
        if is_empty {
            made.iter_mut().for_each(|row| row.start = start);
        }
        rows.append(&mut made);
        start += line.len() + 1;
    }
    Layout::beside(cx, mark, role, rows)
}
