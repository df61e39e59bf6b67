//! The composer, its completions above it, and the rule below it.

use crate::config::action::Action;
use crate::theme::Theme;
use crate::theme::role::Role;
use crate::ui::composer::Composer;
use crate::ui::composer::view::{ComposerStyles, View};
use crate::ui::composer::{Jump, LineKind};
use crate::ui::hit::HitMap;
use crate::ui::layers::frame::Chrome;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

/// More completions are scrolled to.
const MOST_COMPLETIONS: u16 = 8;
/// Columns of a rule that a mark in it leaves free.
const RULE_BESIDE_MARK: usize = 4;
/// The layer of completions.
const LAYER: u8 = 1;

/// Columns left free before the text.
const fn margin(width: u16) -> u16 {
    if width >= 4 { 1 } else { 0 }
}

/// The width to set the composer to (`Composer::set_size`) on a screen of this width.
pub const fn text_width(width: u16) -> u16 {
    let width = width.saturating_sub(margin(width));
    if width == 0 { 1 } else { width }
}

/// The cell of the composer's text, as `Composer::click` wants it, that a click at `at` means.
pub fn text_cell(area: Rect, at: Position) -> (u16, u16) {
    let column = at.x.saturating_sub(area.x).saturating_sub(margin(area.width));
    (at.y.saturating_sub(area.y), column)
}

/// Rows that completions take.
pub fn completion_height(composer: &Composer) -> u16 {
    let candidates = composer.completer().popup().map_or(0, |popup| popup.candidates.len());
    u16::try_from(candidates).unwrap_or(u16::MAX).min(MOST_COMPLETIONS)
}

/// How the composer's parts look on the page.
pub fn styles(theme: &Theme) -> ComposerStyles {
    styles_on(theme, Color::Reset)
}

fn styles_on(theme: &Theme, ground: Color) -> ComposerStyles {
    let style = |role| theme.style_on(role, ground);
    ComposerStyles {
        text: style(Role::Text),
        placeholder: style(Role::Dim),
        paste: style(Role::Accent),
        file: style(Role::Accent),
        command: style(Role::Accent),
        shell: style(Role::BashMode).add_modifier(Modifier::BOLD),
        selected: theme.style(Role::SelectedBg),
        search: style(Role::Muted),
        matched: theme
            .style_on(Role::SearchMatchText, theme.color(Role::SearchMatchBg))
            .patch(theme.style(Role::SearchMatchBg)),
    }
}

/// What was drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Where the caret stands.
    pub caret: Option<Position>,
    /// The mark for rows above the ones shown: the phase line shows it.
    pub above: Option<String>,
    /// What [`draw_rule`] shows: the mark for rows below, and what a key that is waited for is for.
    pub below: Option<String>,
}

/// Draws the composer. Its width must have been set to [`text_width`]. With fewer rows than it has, those around the
/// caret are shown.
pub fn draw(
    composer: &Composer,
    look: &Look<'_>,
    area: Rect,
    buffer: &mut Buffer,
    hits: &mut HitMap<Target>,
) -> Drawn {
    let area = area.intersection(buffer.area);
    if area.is_empty() {
        return Drawn::default();
    }
    hits.push(area, 0, Target::Composer);
    let mut view = composer.view(&styles(look.theme));
    let (caret_row, caret_column) = view.caret;
    let first = usize::from((caret_row + 1).saturating_sub(area.height));
    let hidden_below = view.rows.len().saturating_sub(first + usize::from(area.height));
    view.above += first;
    view.below += hidden_below;
    let left = margin(area.width);
    let text = Rect { x: area.x + left, width: area.width - left, ..area };
    for (y, row) in (text.top()..text.bottom()).zip(view.rows.iter().skip(first)) {
        paint::spans(buffer, Rect { y, height: 1, ..text }, &row.spans);
    }
    let row = usize::from(caret_row).saturating_sub(first);
    let caret = Position {
        x: text.x.saturating_add(caret_column).min(area.right() - 1),
        y: text.y.saturating_add(u16::try_from(row).unwrap_or(0)).min(area.bottom() - 1),
    };
    let below = below_of(composer, &view, look, area.width);
    Drawn { caret: Some(caret), above: view.mark_above(), below }
}

/// What stands in the rule: as much as there is room for of what the next key is for, and the rows below.
fn below_of(composer: &Composer, view: &View, look: &Look<'_>, width: u16) -> Option<String> {
    let rows = view.mark_below();
    let Some(jump) = composer.jumping() else { return rows };
    let question = match jump {
        Jump::Forward => "ahead to which character?",
        Jump::Backward => "back to which character?",
    };
    let end = look.keymap.hint(Action::Cancel).map(|key| format!("{key} ends it"));
    let parts: Vec<String> = [Some(question.to_owned()), end, rows].into_iter().flatten().collect();
    let texts = (1..=parts.len())
        .rev()
        .map(|count| parts.iter().take(count).cloned().collect::<Vec<_>>().join(" · "));
    let room = usize::from(width).saturating_sub(RULE_BESIDE_MARK + 1);
    let mut texts = texts.skip_while(|text| crate::text::width::of(text) > room);
    texts.next()
}

/// The colour of the rule below the composer.
pub fn rule_style(composer: &Composer, theme: &Theme) -> Style {
    let is_shell = matches!(composer.kind(), LineKind::Shell | LineKind::ShellShownOnly);
    theme.style(if is_shell { Role::BashMode } else { Role::Border })
}

/// Draws the rule below the composer, in the colour that tells whether a shell line is written.
pub fn draw_rule(composer: &Composer, below: Option<&str>, look: &Look<'_>, area: Rect, buffer: &mut Buffer) {
    let area = Rect { height: area.height.min(1), ..area }.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    let theme = look.theme;
    let rule = rule_style(composer, theme);
    let room = usize::from(area.width);
    let mut spans = Vec::new();
    if let Some(mark) = below {
        let dashes = room.saturating_sub(crate::text::width::of(mark) + RULE_BESIDE_MARK);
        if dashes > 0 {
            spans.push(Span::styled(format!("{} ", "─".repeat(dashes)), rule));
            spans.push(Span::styled(mark.to_owned(), theme.style(Role::Muted)));
            spans.push(Span::styled(" ─", rule));
        }
    }
    let left = room.saturating_sub(paint::columns(&spans));
    spans.push(Span::styled("─".repeat(left), rule));
    paint::spans(buffer, area, &spans);
}

/// Draws the completions over whatever lies in `area`.
pub fn draw_completions(
    composer: &Composer,
    look: &Look<'_>,
    area: Rect,
    buffer: &mut Buffer,
    hits: &mut HitMap<Target>,
) {
    let area = area.intersection(buffer.area);
    let Some(popup) = composer.completer().popup() else { return };
    if area.is_empty() {
        return;
    }
    let theme = look.theme;
    let panel = theme.color(Role::ToolPendingBg);
    let left = margin(area.width);
    let width = area.width - left;
    // The last column tells how many more there are.
    let bar = u16::from(popup.candidates.len() > usize::from(area.height));
    // The marks of the chosen row are lifted on its own ground.
    let chosen_ground = theme.color(Role::SelectedBg);
    let rows = |ground| {
        let styles = ComposerStyles { selected: Style::new(), ..styles_on(theme, ground) };
        composer.completion_rows(width.saturating_sub(bar), area.height, &styles)
    };
    let (plain, chosen) = rows(panel);
    let (lifted, _) = rows(chosen_ground);
    let first = popup.selected.saturating_sub(chosen);
    for (index, (y, row)) in (area.top()..area.bottom()).zip(&plain).enumerate() {
        let line = Rect { y, height: 1, ..area };
        let is_chosen = index == chosen;
        let ground = if is_chosen { theme.style(Role::SelectedBg) } else { theme.style(Role::ToolPendingBg) };
        paint::fill(buffer, line, ground);
        let row = lifted.get(index).filter(|_| is_chosen).unwrap_or(row);
        paint::spans(buffer, Rect { x: area.x + left, width, ..line }, &row.spans);
        if is_chosen && popup.candidates.len() > usize::from(area.height) {
            // That there are more, and where among them one is, is told nowhere else.
            let count = format!(" {} of {} ", popup.selected + 1, popup.candidates.len());
            let columns = u16::try_from(count.len()).unwrap_or(u16::MAX).min(width);
            let place = Rect { x: line.right() - columns, width: columns, ..line };
            let style = theme.style_on(Role::Muted, chosen_ground).patch(ground);
            paint::spans(buffer, place, &[Span::styled(count, style)]);
        }
        hits.push(line, LAYER, Target::Completion(first + index));
    }
    Chrome::new(theme).scrollbar(buffer, area, first, popup.candidates.len());
}

#[cfg(test)]
#[path = "composer_box_tests.rs"]
pub(in crate::ui::chrome) mod tests;
