//! Words with a role: their colour is found when the ground they stand on is known.

use crate::text::{clean, width};
use crate::theme::Theme;
use crate::theme::role::Role;
use ratatui::style::{Color, Modifier};
use ratatui::text::Span;

/// Bytes of foreign text that are looked at for one row: what is beyond no window is wide enough for.
const MOST: usize = 4 * 1024;

/// Words of one role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seg {
    /// The words, clean and on one line.
    pub text: String,
    /// What they are.
    pub role: Role,
    /// Drawn heavier.
    pub bold: bool,
}

impl Seg {
    /// Words of ours.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { text: text.into(), role, bold: false }
    }

    /// Words of ours, drawn heavier.
    pub fn bold(role: Role, text: impl Into<String>) -> Self {
        Self { bold: true, ..Self::new(role, text) }
    }

    /// Words of others.
    pub fn foreign(role: Role, text: &str) -> Self {
        Self::new(role, line(text))
    }
}

/// Foreign text as one clean line.
pub fn line(text: &str) -> String {
    let text = text.get(..text.floor_char_boundary(MOST)).unwrap_or_default();
    width::drawn(&clean::for_line(text)).into_owned()
}

/// Words as spans on a ground.
pub fn spans(segs: &[Seg], theme: &Theme, ground: Color) -> Vec<Span<'static>> {
    let styled = |seg: &Seg| {
        let style = theme.style_on(seg.role, ground);
        let style = if seg.bold { style.add_modifier(Modifier::BOLD) } else { style };
        Span::styled(seg.text.clone(), style)
    };
    segs.iter().filter(|seg| !seg.text.is_empty()).map(styled).collect()
}
