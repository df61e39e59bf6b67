//! Cells and clicks.

use super::COPIED_FOR;
use super::place::{Frame, Painted, is_hidden};
use super::text;
use crate::text::markdown::{CardKind, LABEL_COLUMNS, LEAST_COLUMNS, TALL_CARD};
use crate::text::row::{CardPart, Row};
use crate::text::width;
use crate::theme::Theme;
use crate::theme::role::{Role, Weight};
use crate::transcript::scroll::{Rows, Slice};
use crate::transcript::select::Selection;
use crate::ui::entries::EntryCx;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use std::time::Instant;

/// So many new items are counted; more are more.
const COUNTED: usize = 99;

/// What a frame means beside its cells.
pub(super) struct Meaning<'a> {
    pub hits: &'a mut HitMap<Target>,
    pub next: &'a mut NextDeadline,
}

/// What is marked in the window.
#[derive(Clone, Copy)]
pub(super) struct Marks {
    pub focus: Option<usize>,
    pub is_line_focused: bool,
    pub selected: Option<Selection>,
    pub copied: Option<CopiedCard>,
    /// Clicks reach us: labels are worth their place.
    pub clicks: bool,
}

/// A card that was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CopiedCard {
    pub item: usize,
    pub card: usize,
    pub at: Instant,
    /// The clipboard has it; else it was sent there, and nobody says whether it came.
    pub is_sure: bool,
}

/// Paints the slices from the top of `area`; says whether the line of a run that goes on is among them.
pub(super) fn paint(
    frame: &mut Frame<'_>,
    slices: &[Slice],
    marks: Marks,
    area: Rect,
    buffer: &mut Buffer,
    meaning: &mut Meaning<'_>,
) -> bool {
    let sweeps = slices.iter().map(|slice| sweeps_in(frame, slice)).sum();
    let mut shows_live_run = false;
    let mut y = area.y;
    for slice in slices {
        let placed = frame.placed(slice.entry);
        let rows = u16::try_from(slice.rows).unwrap_or(u16::MAX).min(area.bottom().saturating_sub(y));
        let place = Rect { y, height: rows, ..area };
        y += rows;
        let Some(painted) = frame.painted(slice.entry, &placed) else { continue };
        meaning.next.merge(painted.next);
        // The blank row is no row of the item.
        let blank = u16::from(placed.gap && slice.first == 0);
        let fold = painted.fold.cloned();
        if let Some((column, rule)) =
            fold.as_ref().filter(|fold| !fold.has_line).and_then(|fold| fold.rule.clone())
        {
            // The rule goes on between two items.
            let gap =
                Rect { x: area.x + column, width: area.width.saturating_sub(column), height: blank, ..place };
            paint::spans(buffer, gap, &[rule]);
        }
        let place = Rect { y: place.y + blank, height: place.height.saturating_sub(blank), ..place };
        let first = slice.first.saturating_sub(usize::from(placed.gap));
        let copied = marks.copied.filter(|copied| copied.item == slice.entry);
        let clicks = marks.clicks;
        let columns = frame.width;
        let item = ItemView { look: frame.look, item: slice.entry, painted, copied, clicks, columns, sweeps };
        item.paint(place, first, buffer, meaning);
        let has_line = fold.as_ref().is_some_and(|fold| fold.has_line);
        shows_live_run |= first == 0 && fold.as_ref().is_some_and(|fold| fold.is_live);
        let own_rows = frame.own_rows(slice.entry);
        let head = usize::from(has_line && !marks.is_line_focused && own_rows > 0);
        if marks.focus == Some(slice.entry)
            && let Some(below) = head.checked_sub(first)
        {
            let below = u16::try_from(below).unwrap_or(u16::MAX).min(place.height);
            let row = Rect { y: place.y + below, height: (place.height - below).min(1), ..place };
            select(buffer, row, frame.look.theme);
        }
    }
    for slice in slices {
        let Some(bytes) = marks.selected.and_then(|selected| selected.bytes_of(slice.entry)) else {
            continue;
        };
        let cells = text::cells_of(frame, slices, area, slice.entry, &bytes);
        let ends = text::line_ends_of(frame, slices, area, slice.entry, &bytes);
        for cells in cells.into_iter().chain(ends) {
            select(buffer, cells, frame.look.theme);
        }
    }
    shows_live_run
}

/// How many of the rows of a slice are swept.
fn sweeps_in(frame: &mut Frame<'_>, slice: &Slice) -> usize {
    let placed = frame.placed(slice.entry);
    let Some(painted) = frame.painted(slice.entry, &placed) else { return 0 };
    let rows = slice.first..slice.first + slice.rows;
    let row = |at: usize| at + usize::from(placed.gap);
    painted.moving.iter().filter(|(at, moving)| rows.contains(&row(*at)) && moving.is_sweep()).count()
}

/// One item.
struct ItemView<'a> {
    look: &'a Look<'a>,
    item: usize,
    painted: Painted<'a>,
    copied: Option<CopiedCard>,
    clicks: bool,
    /// What it was laid out for: the scrollbar stands right of it.
    columns: u16,
    /// How many sweeps there are in the window.
    sweeps: usize,
}

impl ItemView<'_> {
    /// Paints the rows from `first` on.
    fn paint(&self, place: Rect, first: usize, buffer: &mut Buffer, meaning: &mut Meaning<'_>) {
        if place.is_empty() {
            return;
        }
        meaning.hits.push(place, 0, Target::Text(self.item));
        let indent = self.painted.indent.min(place.width);
        let fold = self.painted.fold;
        let lead = fold.map_or(0, |fold| fold.lead).min(indent);
        let head = usize::from(fold.is_some_and(|fold| fold.has_line));
        if let (Some(below), Some(mark)) = (head.checked_sub(first), &self.painted.mark) {
            let below = u16::try_from(below).unwrap_or(u16::MAX).min(place.height);
            let at = Rect {
                x: place.x + lead,
                y: place.y + below,
                width: indent - lead,
                height: place.height - below,
            };
            paint::spans(buffer, at, std::slice::from_ref(mark));
        }
        let rows = self.painted.rows.iter().enumerate().skip(first);
        for ((index, row), y) in rows.zip(place.top()..place.bottom()) {
            let line = Rect { x: place.x + indent, y, width: place.width - indent, height: 1 };
            let moving = self.painted.moving.iter().find(|(at, _)| *at == index);
            if let Some(fold) = fold {
                let is_close = fold.has_close && index + 1 == self.painted.rows.len();
                if (fold.has_line && index == 0) || is_close {
                    let cx = EntryCx { look: self.look, width: place.width, open: false };
                    let drawn = moving.map(|(_, moving)| moving.row(&cx, meaning.next));
                    let line = Rect { x: place.x, width: place.width, ..line };
                    paint::row(buffer, line, drawn.as_ref().unwrap_or(row));
                    meaning.hits.push(line, 0, Target::Run(fold.run));
                    continue;
                }
                if let Some((column, rule)) = &fold.rule {
                    let rest = place.width.saturating_sub(*column);
                    let at = Rect { x: place.x + column, width: rest, ..line };
                    paint::spans(buffer, at, std::slice::from_ref(rule));
                }
            }
            match moving {
                Some((_, moving)) => {
                    let row = moving.row_among(self.sweeps, &self.painted.cx, meaning.next);
                    paint::row(buffer, line, &row);
                }
                None => paint::row(buffer, line, row),
            }
            // Only its head and the notes of what is hidden open an item: its text is there to be selected.
            if (index == head || row.is_decoration) && !fold.is_some_and(|fold| fold.is_text) {
                meaning.hits.push(
                    Rect { x: place.x, width: place.width, ..line },
                    0,
                    Target::Item(self.item),
                );
            }
            for link in &row.links {
                let columns = link.columns.start.min(line.width)..link.columns.end.min(line.width);
                let area = Rect {
                    x: line.x + columns.start,
                    width: columns.end.saturating_sub(columns.start),
                    ..line
                };
                meaning.hits.push(area, 0, Target::Link(link.url.clone()));
            }
            self.label(index, row, line, buffer, meaning);
        }
    }

    /// The label by which a card is copied, if it stands in this row.
    fn label(&self, index: usize, row: &Row, line: Rect, buffer: &mut Buffer, meaning: &mut Meaning<'_>) {
        let Some(on) = row.card else { return };
        let Some(card) = self.painted.cards.get(on.card) else { return };
        if !self.clicks {
            return;
        }
        let copied = self.copied.filter(|copied| copied.card == on.card);
        let (text, role) = match (copied, self.look.glyphs) {
            (None, _) => ("copy", Role::Muted),
            (Some(CopiedCard { is_sure: true, .. }), true) => ("✓ copied", Role::Success),
            (Some(CopiedCard { is_sure: true, .. }), false) => ("copied", Role::Success),
            (Some(_), true) => ("✓ sent", Role::Success),
            (Some(_), false) => ("sent", Role::Success),
        };
        let (from, ground) = row.ground.unwrap_or((0, Color::Reset));
        // Of rows without a ground nobody knows where their block begins.
        let columns = self.columns.saturating_sub(self.painted.indent).min(line.width).saturating_sub(from);
        if usize::from(columns) < LEAST_COLUMNS {
            return;
        }
        let slot = u16::try_from(LABEL_COLUMNS).unwrap_or(u16::MAX);
        let whole = Rect { x: line.x + from, width: columns, ..line };
        let label = Rect { x: whole.right() - slot - 1, width: slot, ..line };
        let area = match (&card.kind, on.part) {
            (CardKind::Code { .. }, CardPart::Head) => whole,
            (CardKind::Code { .. }, CardPart::Foot) if self.is_tall(index, on.card) => whole,
            (CardKind::Quote, CardPart::Head | CardPart::Foot) => label,
            (CardKind::Code { .. } | CardKind::Quote, _) => return,
        };
        let style = self.look.theme.style_on(role, ground).bg(ground);
        let text_columns = u16::try_from(width::of(text)).unwrap_or(slot);
        let at = Rect { x: label.right().saturating_sub(text_columns), width: text_columns, ..label };
        paint::spans(buffer, at, &[Span::styled(text, style)]);
        meaning.hits.push(area, 0, Target::Card { item: self.item, card: on.card });
        if let Some(copied) = copied {
            meaning.next.expire(copied.at + COPIED_FOR);
        }
    }

    /// Whether the card that ends in this row has so many rows that its head may be out of sight.
    fn is_tall(&self, index: usize, card: usize) -> bool {
        let above = index.checked_sub(TALL_CARD - 1).and_then(|above| self.painted.rows.get(above));
        above.is_some_and(|row| is_of(row, card))
    }
}

fn is_of(row: &Row, card: usize) -> bool {
    row.card.is_some_and(|on| on.card == card)
}

/// Puts the ground of what is selected under a row, and lifts its text off that.
pub(in crate::ui) fn select(buffer: &mut Buffer, row: Rect, theme: &Theme) {
    let own = theme.style(Role::SelectedBg);
    let is_reversed = own.add_modifier.contains(Modifier::REVERSED);
    let row = row.intersection(buffer.area);
    // Neighbours mostly stand on one ground.
    let mut known: Option<(Color, Color)> = None;
    for y in row.top()..row.bottom() {
        for x in row.left()..row.right() {
            let cell = &mut buffer[(x, y)];
            let ground = match known {
                Some((under, ground)) if under == cell.bg => ground,
                _ => theme.selected_on(cell.bg),
            };
            known = Some((cell.bg, ground));
            // Where colours are the terminal's business the role reverses what is there: every colour would become a
            // ground of its own, and faint text a faint ground.
            if is_reversed {
                cell.set_style(Style::new().fg(Color::Reset).bg(ground).remove_modifier(Modifier::DIM));
            } else {
                let text = if cell.fg == Color::Reset { theme.color(Role::Text) } else { cell.fg };
                cell.set_style(Style::new().fg(theme.lift(text, ground, Weight::Primary)).bg(ground));
            }
            cell.set_style(Style::new().add_modifier(own.add_modifier));
        }
    }
}

/// How many items from this one on are to be seen: what is in a closed run is not, but for its line.
pub(super) fn new_from(frame: &mut Frame<'_>, left_at: usize) -> usize {
    let (mut new, mut at) = (0, left_at);
    while new <= COUNTED {
        at = frame.from(at);
        let Some(item) = frame.conversation.items().get(at) else { break };
        new += usize::from(!is_hidden(item) && !frame.folds.is_away(at));
        at += 1;
    }
    new
}

/// Says that there is more below, in the middle of the last row.
pub(super) fn below(new: usize, look: &Look<'_>, area: Rect, buffer: &mut Buffer, hits: &mut HitMap<Target>) {
    let text = match new {
        0 => " ↓ below ".to_owned(),
        new if new > COUNTED => format!(" ↓ {COUNTED}+ new "),
        new => format!(" ↓ {new} new "),
    };
    let columns = u16::try_from(width::of(&text)).unwrap_or(u16::MAX).min(area.width);
    let place = Rect {
        x: area.x + (area.width - columns) / 2,
        y: area.bottom().saturating_sub(1),
        width: columns,
        height: 1,
    };
    let ground = look.theme.color(Role::SelectedBg);
    let own = look.theme.style(Role::SelectedBg).add_modifier;
    let role = match new {
        0 if own.contains(Modifier::REVERSED) => Role::Text,
        0 => Role::Muted,
        _ => Role::Accent,
    };
    let style = look.theme.style_on(role, ground).bg(ground).add_modifier(own);
    paint::make_room(buffer, place);
    paint::fill(buffer, place, style);
    paint::spans(buffer, place, &[Span::styled(text, style)]);
    hits.push(place, 0, Target::Below);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::mix::Rgb;
    use crate::theme::{contrast, walk_tests};

    #[test]
    fn what_is_selected_is_seen_on_cards_and_bands() {
        let theme = Theme::quiet_dark();
        for (name, ground) in walk_tests::grounds(&theme) {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 2, 1));
            buffer.set_style(buffer.area, theme.style_on(Role::Dim, ground).bg(ground));
            select(&mut buffer, Rect::new(1, 0, 1, 1), &theme);
            let rgb =
                |color| if color == Color::Reset { theme.page() } else { Rgb::of(color).expect("known") };
            let (beside, selected) = (rgb(buffer[(0, 0)].bg), rgb(buffer[(1, 0)].bg));
            assert!(contrast::ratio(beside, selected) >= 1.25, "{name}: {selected} on {beside}");
            assert!(contrast::ratio(rgb(buffer[(1, 0)].fg), selected) >= 4.5, "{name}");
        }
    }
}
