//! Text of the model.

use super::{EntryCx, Layout};
use crate::text::markdown;
use crate::theme::role::Role;
use crate::transcript::item::Prose;

/// Lays a reply out.
pub fn lay_out(prose: &Prose, cx: &EntryCx<'_>) -> Layout {
    let document = markdown::render(prose.text(), cx.look.theme, cx.room());
    let layout = Layout::beside(cx, "●", Role::Text, document.rows);
    Layout { cards: document.cards, ..layout }
}
