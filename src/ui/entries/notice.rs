//! Something the user should know.

use super::{EntryCx, Layout};
use crate::proto::event::NoticeLevel;
use crate::text::clean;
use crate::text::wrap::{self, Break};
use crate::theme::role::Role;

/// Lays a notice out.
pub fn lay_out(level: NoticeLevel, text: &str, cx: &EntryCx<'_>) -> Layout {
    let (mark, role) = match level {
        NoticeLevel::Info => ("·", Role::Dim),
        NoticeLevel::Warning => ("▲", Role::Warning),
        NoticeLevel::Error => ("✗", Role::Error),
    };
    let style = cx.look.theme.style(role);
    let rows = wrap::text(&clean::for_terminal(text.trim_end()), style, cx.room(), Break::Words);
    Layout::beside(cx, mark, role, rows)
}
