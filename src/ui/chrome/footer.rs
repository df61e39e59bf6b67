//! Place, model, mode, context, cost. Everything is quiet unless it needs a look.
//!
//! What is shown at which width is negotiated here, once, into a list of `Cell`s a row; a further figure is a further
//! part of a cell.
//!
//! | file | what it is |
//! |---|---|
//! | `cells` | the figures |
//! | `form` | what is left out, in which order |
//! | `rows` | where the cells stand |

mod cells;
mod form;
mod rows;

use crate::proto::ask::PermissionMode;
use crate::proto::event::NoticeLevel;
use crate::proto::model::{ModelRef, ThinkingLevel};
use crate::text::{clean, width};
use crate::theme::Theme;
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use crate::ui::target::{FooterPart, Target};
use cells::mode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use rows::{pad, rows};
use std::time::Duration;

/// What it tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footer {
    /// When the last model call ended, as `16:42`.
    pub clock: Option<String>,
    /// The working folder, as it is shown.
    pub place: String,
    /// The branch checked out there.
    pub branch: Option<String>,
    /// The session's name.
    pub session: Option<String>,
    /// Who answers; nothing until that is known.
    pub model: Option<ModelRef>,
    /// How hard it thinks.
    pub thinking: ThinkingLevel,
    /// The permission mode in force.
    pub mode: PermissionMode,
    /// How full the window is.
    pub context: Context,
    /// Dollars of the session.
    pub cost: f64,
    /// Time of the session's model calls.
    pub airtime: Duration,
    /// Prompts of the session.
    pub prompts: u64,
    /// Model calls.
    pub turns: u64,
    /// Tool calls.
    pub tools: u64,
    /// Tokens of the session.
    pub tokens: Tokens,
    /// The provider's cache, once there was a call.
    pub cache: Option<Cache>,
    /// No session is open, and none is being opened.
    pub is_closed: bool,
    /// The mouse is the terminal's own.
    pub is_mouse_off: bool,
    /// Something the user should know now; stands in for the last row.
    pub notice: Option<(NoticeLevel, String)>,
}

/// How full the window is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Tokens in it; not known between a compaction and the next answer.
    pub tokens: Option<u64>,
    /// Tokens that fit; 0 when nobody knows.
    pub window: u64,
}

/// Tokens by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Fresh.
    pub input: u64,
    /// Written to the cache.
    pub write: u64,
    /// Read from the cache.
    pub read: u64,
    /// Generated.
    pub output: u64,
}

/// The provider's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// How much of the prompts came from it.
    pub percent: Option<u8>,
    /// How old what it holds is.
    pub age: Duration,
    /// Whether it still holds it.
    pub warmth: Warmth,
}

/// Whether the cache still holds the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmth {
    /// It does.
    Warm,
    /// Not for long.
    Cooling,
    /// It does not.
    Cold,
}

impl Warmth {
    const fn word(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cooling => "cooling",
            Self::Cold => "cold",
        }
    }

    const fn role(self) -> Role {
        match self {
            Self::Warm => Role::Dim,
            Self::Cooling => Role::Warning,
            Self::Cold => Role::Error,
        }
    }
}

/// Rows that it would like to have.
pub fn height(footer: &Footer, theme: &Theme, columns: u16) -> u16 {
    let rows = rows(footer, theme, usize::from(columns)).len();
    u16::try_from(rows).unwrap_or(1)
}

/// Draws it. With fewer rows than it would like the lower ones are left out.
pub fn draw(
    footer: &Footer,
    look: &Look<'_>,
    area: Rect,
    buffer: &mut Buffer,
    hits: &mut HitMap<Target>,
    next: &mut NextDeadline,
) {
    let area = area.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    let room = usize::from(area.width);
    let mut rows = rows(footer, look.theme, room);
    rows.truncate(usize::from(area.height));
    if let Some((level, text)) = &footer.notice {
        // The mode is told also where a notice has the only row.
        let is_only = rows.len() == 1;
        rows.pop();
        rows.push(notice(*level, text, is_only.then_some(footer), look.theme, room));
    }
    for (y, row) in (area.top()..area.bottom()).zip(rows) {
        let mut x = area.left();
        for part in row {
            let left = Rect { x, y, width: area.right() - x, height: 1 };
            let used = paint::spans(buffer, left, std::slice::from_ref(&part.span));
            if let Some(target) = part.target {
                hits.push(Rect { width: used, ..left }, 0, Target::Footer(target));
            }
            x += used;
        }
    }
    if let Some(cache) = footer.cache {
        // The age is told in minutes, and turns once a minute at most.
        let left = 60 - cache.age.as_secs() % 60;
        next.expire(look.now + Duration::from_secs(left));
    }
}

/// A piece of a row, and what a click on it means.
#[derive(Clone, Debug)]
struct Part {
    span: Span<'static>,
    target: Option<FooterPart>,
}

impl Part {
    fn new(text: impl Into<String>, style: Style) -> Self {
        Self { span: Span::styled(text.into(), style), target: None }
    }

    fn click(self, target: FooterPart) -> Self {
        Self { target: Some(target), ..self }
    }
}

type Cell = Vec<Part>;

fn columns(parts: &[Part]) -> usize {
    parts.iter().map(|part| width::of(&part.span.content)).sum()
}

fn notice(level: NoticeLevel, text: &str, mode_of: Option<&Footer>, theme: &Theme, room: usize) -> Cell {
    let style = theme.style(match level {
        NoticeLevel::Info => Role::Muted,
        NoticeLevel::Warning => Role::Warning,
        NoticeLevel::Error => Role::Error,
    });
    let word = mode_of.map(|footer| mode(footer.mode, theme));
    let taken = word.as_ref().map_or(0, |word| width::of(&word.span.content) + 1);
    let left = room.saturating_sub(taken);
    let mut row = vec![Part::new(width::cut(&clean::for_line(text), left).into_owned(), style)];
    if let Some(word) = word {
        pad(&mut row, left + 1);
        row.push(word);
    }
    row
}

#[cfg(test)]
#[path = "footer_tests.rs"]
pub(in crate::ui::chrome) mod tests;
