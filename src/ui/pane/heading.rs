//! What is read belongs to a prompt: once its own first row has scrolled out, it stands in the first row of the window.
//!
//! It covers a row instead of taking one, so that nothing moves when it comes and goes.

use super::place::Frame;
use crate::text::clean;
use crate::theme::role::Role;
use crate::transcript::item::Body;
use crate::transcript::scroll::Slice;
use crate::ui::hit::HitMap;
use crate::ui::paint;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

/// In lower windows each row is needed.
const LEAST_HEIGHT: usize = 8;

/// A window of this height may have a heading.
pub(super) const fn fits(frame: &Frame<'_>, height: usize) -> bool {
    frame.sticky_heading && height >= LEAST_HEIGHT
}

/// The prompt that stands above the window and that the row in its middle belongs to.
pub(super) fn of(frame: &mut Frame<'_>, slices: &[Slice], height: usize) -> Option<usize> {
    if !fits(frame, height) {
        return None;
    }
    let mut left = height / 2;
    let middle = slices.iter().find(|slice| {
        let is_here = left < slice.rows;
        left = left.saturating_sub(slice.rows);
        is_here
    });
    let entry = middle.or(slices.last())?.entry;
    let prompts = frame.conversation.prompts();
    let prompt = *prompts.get(prompts.partition_point(|prompt| *prompt <= entry).checked_sub(1)?)?;
    let first = usize::from(frame.placed(prompt).gap);
    let is_seen =
        |slice: &Slice| slice.entry == prompt && (slice.first..slice.first + slice.rows).contains(&first);
    (!slices.iter().any(is_seen)).then_some(prompt)
}

/// Draws it over the first row of `area`.
pub(super) fn paint(
    frame: &Frame<'_>,
    prompt: usize,
    area: Rect,
    buffer: &mut Buffer,
    hits: &mut HitMap<Target>,
) {
    let Some(Body::User(user)) = frame.conversation.items().get(prompt).map(|item| &item.body) else {
        return;
    };
    let line = user.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let theme = frame.look.theme;
    let ground = theme.color(Role::UserMessageBg);
    let on = |role| theme.style_on(role, ground).bg(ground);
    let row = Rect { height: 1, ..area }.intersection(buffer.area);
    paint::fill(buffer, row, on(Role::UserMessageText));
    let is_more = user.text.trim().len() > line.trim().len();
    let mut spans = vec![
        Span::styled("❯ ", on(Role::Accent)),
        Span::styled(clean::for_line(line), on(Role::UserMessageText)),
    ];
    if is_more {
        spans.push(Span::styled(" …", on(Role::Muted)));
    }
    // The last column is the scrollbar's.
    let room = usize::from(row.width.saturating_sub(1));
    paint::spans(buffer, row, &paint::cut(spans, room, on(Role::Muted)));
    hits.push(row, 0, Target::Heading);
}
