//! What all layers look like: a bar with the title, a body on the grey of tools, a bar with the keys.

use crate::config::action::{Action, Context};
use crate::config::chord::Chord;
use crate::config::key::{Key, KeyCode, Mods};
use crate::text::width;
use crate::theme::Theme;
use crate::theme::role::Role;
use crate::ui::hit::{HitMap, Layer as Level};
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

/// Where a layer is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The whole screen.
    pub screen: Rect,
    /// What of it lies above the composer: the transcript.
    pub page: Rect,
    /// How high it lies: 1 for the first layer, one more for each above it.
    pub level: Level,
}

/// Colours of a layer.
#[derive(Clone, Copy, Debug)]
pub(in crate::ui) struct Chrome<'a> {
    pub theme: &'a Theme,
    /// The ground of the body.
    pub ground: Color,
    /// The ground of the bars.
    pub bar: Color,
}

impl<'a> Chrome<'a> {
    pub fn new(theme: &'a Theme) -> Self {
        let ground = theme.color(Role::ToolPendingBg);
        Self { theme, ground, bar: theme.mix(ground, theme.color(Role::Muted), 0.10) }
    }

    /// Text in the body.
    pub fn on(&self, role: Role) -> Style {
        self.theme.style_on(role, self.ground)
    }

    /// Text in a bar.
    pub fn on_bar(&self, role: Role) -> Style {
        self.theme.style_on(role, self.bar)
    }

    /// Text of a row: what is selected stands on a ground of its own.
    pub fn on_row(&self, role: Role, is_selected: bool) -> Style {
        match (is_selected, self.theme.is_readable()) {
            (true, true) => self.theme.style_on(role, self.theme.color(Role::SelectedBg)),
            // Reversed, every colour would become a ground of its own.
            (true, false) => self.theme.style(Role::Text),
            (false, _) => self.on(role),
        }
    }

    /// The body's ground.
    pub fn fill(&self, buffer: &mut Buffer, area: Rect) {
        paint::fill(buffer, area, self.on(Role::Text).bg(self.ground));
    }

    /// Draws a row of a list, what is selected to the right edge.
    pub fn row(&self, buffer: &mut Buffer, area: Rect, spans: &[Span<'static>], is_selected: bool) {
        let area = Rect { height: area.height.min(1), ..area }.intersection(buffer.area);
        if is_selected {
            paint::ground(buffer, area, self.theme.color(Role::SelectedBg));
        }
        paint::spans(buffer, area, spans);
        if is_selected {
            // A theme that knows no colours reverses the row, or whatever else it gives to grounds.
            buffer.set_style(area, self.theme.style(Role::SelectedBg));
        }
    }

    /// A bar of one row: spans at the left, a rail at the right.
    pub fn bar(&self, buffer: &mut Buffer, area: Rect, left: Vec<Span<'static>>, rail: Vec<Span<'static>>) {
        let area = Rect { height: area.height.min(1), ..area };
        paint::fill(buffer, area, self.on_bar(Role::Text).bg(self.bar));
        // Without grounds a rule shows where the layer begins and ends.
        if !self.theme.is_readable() {
            let rule = "─".repeat(usize::from(area.width));
            paint::spans(buffer, area, &[Span::styled(rule, self.theme.style(Role::Border))]);
        }
        let room = usize::from(area.width);
        let mut row = vec![Span::raw(" ")];
        row.extend(left);
        let mut row = paint::cut(row, room, self.on_bar(Role::Dim));
        if !self.theme.is_readable() && paint::columns(&row) < room {
            row.push(Span::raw(" "));
        }
        let used = paint::columns(&row);
        paint::spans(buffer, area, &row);
        let rail_columns = paint::columns(&rail);
        // A rail that does not fit is left out: what stands at the left says what the layer is.
        if rail_columns > 0 && used + rail_columns + 3 <= room {
            let x = area.x + u16::try_from(room - rail_columns - 2).unwrap_or(0);
            let mut spans = vec![Span::raw(" ")];
            spans.extend(rail);
            spans.push(Span::raw(" "));
            paint::spans(buffer, Rect { x, width: area.right().saturating_sub(x), ..area }, &spans);
        }
    }

    /// The bar of keys: the most important first, those that do not fit are dropped from the end.
    pub fn keys(&self, buffer: &mut Buffer, area: Rect, hints: &[Hint]) {
        let mut spans: Vec<Span<'static>> = Vec::new();
        let room = usize::from(area.width).saturating_sub(2);
        for hint in hints.iter().filter(|hint| !hint.key.is_empty()) {
            let mut part = Vec::new();
            if !spans.is_empty() {
                part.push(Span::styled(" · ", self.on_bar(Role::Dim)));
            }
            part.push(Span::styled(hint.key.clone(), self.on_bar(Role::Text)));
            part.push(Span::styled(format!(" {}", hint.text), self.on_bar(Role::Muted)));
            if paint::columns(&spans) + paint::columns(&part) > room {
                break;
            }
            spans.extend(part);
        }
        self.bar(buffer, area, spans, Vec::new());
    }

    /// A scrollbar in the last column: coloured blanks, so that a copied line ends in what is trimmed away.
    pub fn scrollbar(&self, buffer: &mut Buffer, area: Rect, top: usize, total: usize) {
        let rows = usize::from(area.height);
        if total <= rows || area.width < 4 || rows == 0 {
            return;
        }
        let bar = Rect { x: area.right() - 1, width: 1, ..area };
        let thumb = ((rows * rows + total / 2) / total).max(2).min(rows);
        let most = total - rows;
        let begin = (top.min(most) * (rows - thumb) + most / 2) / most;
        let at = |rows: usize| u16::try_from(rows).unwrap_or(u16::MAX);
        let handle = Rect { y: bar.y + at(begin), height: at(thumb), ..bar };
        if self.theme.is_readable() {
            let track = self.theme.mix(self.ground, self.theme.color(Role::ScrollbarTrack), 0.15);
            paint::ground(buffer, bar, track);
            paint::ground(buffer, handle, self.theme.color(Role::ScrollbarThumb));
        } else {
            buffer.set_style(handle.intersection(buffer.area), Style::new().add_modifier(Modifier::REVERSED));
        }
    }
}

/// A key and what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ui) struct Hint {
    pub key: String,
    pub text: &'static str,
}

/// A key of the keymap; left out when the action has none there.
pub(super) fn hint(look: &Look<'_>, context: Context, action: Action, text: &'static str) -> Hint {
    Hint { key: look.keymap.keys(context, action).first().map(name).unwrap_or_default(), text }
}

/// Two keys that belong together, as `↑↓` or `j/k`.
pub(super) fn pair(
    look: &Look<'_>,
    context: Context,
    (one, other): (Action, Action),
    text: &'static str,
) -> Hint {
    let key = |action| look.keymap.keys(context, action).first().map(name).unwrap_or_default();
    let (one, other) = (key(one), key(other));
    let is_short = width::of(&one) == 1 && !one.chars().all(char::is_alphanumeric);
    let key = match (one.is_empty(), other.is_empty()) {
        (false, false) if is_short => format!("{one}{other}"),
        (false, false) => format!("{one}/{other}"),
        (_, _) => one + &other,
    };
    Hint { key, text }
}

/// A key as the bars name it: arrows as arrows.
pub(super) fn name(chord: &Chord) -> String {
    let keys: Vec<String> = chord.keys().map(name_of_key).collect();
    keys.join(" ")
}

fn name_of_key(key: Key) -> String {
    let arrow = match (key.code, key.mods) {
        (KeyCode::Up, Mods::NONE) => "↑",
        (KeyCode::Down, Mods::NONE) => "↓",
        (KeyCode::Left, Mods::NONE) => "←",
        (KeyCode::Right, Mods::NONE) => "→",
        _ => return key.to_string(),
    };
    arrow.to_owned()
}

/// What a window is drawn from.
pub(super) struct Window {
    pub title: Vec<Span<'static>>,
    pub rail: Vec<Span<'static>>,
    pub hints: Vec<Hint>,
    /// Rows its body would like to have.
    pub rows: usize,
    /// Columns it would like to have.
    pub columns: u16,
}

impl Window {
    /// Draws the bars and an empty body, covers what lies below, and gives the body's area.
    pub fn draw(
        self,
        chrome: &Chrome<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Rect {
        let screen = place.screen.intersection(buffer.area);
        let area = self.area(screen);
        hits.scrim(screen, place.level, Target::Beside);
        hits.push(area, place.level, Target::Layer);
        // Whole rows, and one above and below: what would stick out beside the window distracts.
        let (top, bottom) =
            (area.y.saturating_sub(1).max(screen.y), (area.bottom() + 1).min(screen.bottom()));
        paint::fill(buffer, Rect { y: top, height: bottom - top, ..screen }, Style::new());
        chrome.fill(buffer, area);
        let has_title = area.height >= 3;
        let has_keys = area.height >= 5;
        if has_title {
            let has_close = area.width >= 20;
            let mut rail = self.rail;
            let mut bar = Rect { height: 1, ..area };
            chrome.bar(buffer, bar, Vec::new(), Vec::new());
            if has_close {
                let close = Rect { x: area.right() - 3, width: 3, ..bar };
                paint::spans(buffer, close, &[Span::styled(" ✕ ", chrome.on_bar(Role::Muted))]);
                hits.push(close, place.level, Target::Beside);
                bar.width -= 3;
            }
            if !rail.is_empty() && !has_close {
                rail.clear();
            }
            chrome.bar(buffer, bar, self.title, rail);
        }
        if has_keys {
            chrome.keys(buffer, Rect { y: area.bottom() - 1, height: 1, ..area }, &self.hints);
        }
        Rect {
            y: area.y + u16::from(has_title),
            height: area.height - u16::from(has_title) - u16::from(has_keys),
            ..area
        }
    }

    /// In the middle, a little above it; on a small screen all of it.
    fn area(&self, screen: Rect) -> Rect {
        let width = if screen.width < 72 { screen.width } else { self.columns.min(screen.width - 8) };
        let wanted = u16::try_from(self.rows.saturating_add(2)).unwrap_or(u16::MAX);
        let height = if screen.height < 16 { screen.height } else { wanted.min(screen.height - 4).max(5) };
        let height = height.min(screen.height);
        Rect {
            x: screen.x + (screen.width - width) / 2,
            y: screen.y + (screen.height - height) / 3,
            width,
            height,
        }
    }
}

/// The window of a list that shows the selected row: the first row shown.
pub(super) fn keep_in_view(top: usize, selected: usize, rows: usize, total: usize) -> usize {
    let rows = rows.max(1);
    top.max((selected + 1).saturating_sub(rows)).min(selected).min(total.saturating_sub(rows))
}

/// Rows counted up or down, within a list.
pub(super) fn step(at: usize, delta: isize, total: usize) -> usize {
    at.saturating_add_signed(delta).min(total.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_row_is_in_view() {
        for (top, selected, rows, total, expected) in
            [(0, 0, 5, 20, 0), (0, 5, 5, 20, 1), (10, 3, 5, 20, 3), (18, 19, 5, 20, 15), (3, 0, 0, 0, 0)]
        {
            assert_eq!(keep_in_view(top, selected, rows, total), expected, "{top} {selected}");
        }
        assert_eq!((step(0, -1, 3), step(2, 5, 3), step(0, 1, 0)), (0, 2, 0));
    }
}
