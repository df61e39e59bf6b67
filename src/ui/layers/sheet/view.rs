//! Drawing the sheet.

use super::areas::{self, Areas};
use super::body::{Point, Seen};
use super::head::HeadRow;
use super::{Copy, Sheet, SheetPart};
use crate::config::action::{Action, Context};
use crate::config::key::{Key, KeyCode, Mods};
use crate::proto::event::NoticeLevel;
use crate::text::{clean, formats, width};
use crate::theme::Theme;
use crate::theme::role::Role;
use crate::ui::entries::EntryCx;
use crate::ui::hit::HitMap;
use crate::ui::layers::frame::{Chrome, Hint, Place, hint, pair};
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::pane::select;
use crate::ui::scene::NextDeadline;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use std::ops::Range;

/// Columns between two buttons.
const GAP: usize = 3;

/// Columns of the mark that closes.
const CLOSE: u16 = 3;

impl Sheet {
    pub(in crate::ui::layers) fn draw(
        &mut self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        let screen = place.screen.intersection(buffer.area);
        self.next = NextDeadline::default();
        self.forget(look);
        hits.scrim(screen, place.level, Target::Layer);
        paint::fill(buffer, screen, Style::new());
        let columns = usize::from(screen.width);
        let cx = EntryCx { look, width: screen.width.max(1), open: false };
        let band = self.head.clone().map(|head| head.row(&cx, &mut self.next)).unwrap_or_default();
        let head = self.head_rows(look, columns, &band.drawn());
        let areas = areas::split(screen, head.len(), self.is_typing());
        self.draw_body(look, areas.body, buffer, hits, place);
        self.draw_title(look, areas.title, buffer, hits, place);
        paint::row(buffer, areas.band, &band);
        self.draw_head(look, &head, areas.head, buffer, hits, place);
        self.draw_rule(look, &areas, buffer);
        self.draw_footer(look, areas.footer, buffer)
    }

    /// What was said for a moment is over, or tells when it is.
    fn forget(&mut self, look: &Look<'_>) {
        self.notice = self.notice.take().filter(|(_, _, until)| *until > look.now);
        self.copied = self.copied.filter(|(_, _, until)| *until > look.now);
        let until =
            self.notice.iter().map(|notice| notice.2).chain(self.copied.iter().map(|copied| copied.2));
        for until in until {
            self.next.expire(until);
        }
    }

    fn draw_title(
        &self,
        look: &Look<'_>,
        area: Rect,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
        place: &Place,
    ) {
        if area.is_empty() {
            return;
        }
        let chrome = Chrome::new(look.theme);
        chrome.bar(buffer, area, Vec::new(), Vec::new());
        let close = Rect { x: area.right() - CLOSE.min(area.width), width: CLOSE.min(area.width), ..area };
        let steps = match self.content.steps() {
            0 => String::new(),
            steps => format!(" · {}", formats::counted(steps as u64, "command")),
        };
        let label = format!("{}{steps}", clean::for_line(&self.content.label));
        let room = usize::from(area.width.saturating_sub(close.width + 1));
        let title = Span::styled(label, chrome.on_bar(Role::ToolTitle).add_modifier(Modifier::BOLD));
        let title_columns = width::of(&title.content);
        let mut buttons = self.buttons();
        let total =
            |buttons: &[(Copy, &str)]| -> usize { buttons.iter().map(|(_, text)| slot(text) + GAP).sum() };
        // Buttons go before the title is cut, the last one first.
        while !buttons.is_empty() && title_columns + total(&buttons) > room {
            buttons.pop();
        }
        let left = Rect { x: area.x + 1.min(area.width), width: u16::try_from(room).unwrap_or(0), ..area };
        paint::spans(buffer, left, &paint::cut(vec![title], room, chrome.on_bar(Role::Dim)));
        let mut x = close.x.saturating_sub(u16::try_from(total(&buttons)).unwrap_or(0));
        // Where a rule stands for the ground of the bar, it ends beside the buttons.
        let ground =
            Rect { x: x.saturating_sub(1).max(area.x), width: close.x.saturating_sub(x) + 1, ..area };
        if !buttons.is_empty() {
            paint::fill(buffer, ground.intersection(area), chrome.on_bar(Role::Text).bg(chrome.bar));
        }
        for (at, (copy, text)) in buttons.iter().enumerate() {
            let columns = u16::try_from(slot(text)).unwrap_or(0);
            let slot = Rect { x, width: columns, ..area };
            let said = self.copied.filter(|(copied, ..)| copied == copy);
            let (text, role) = match said {
                Some((_, word, _)) if look.glyphs => (format!("✓ {word}"), Role::Success),
                Some((_, word, _)) => (word.to_owned(), Role::Success),
                None => ((*text).to_owned(), Role::Muted),
            };
            // What is shorter stands at the right of its place, so that nothing beside it moves.
            let blank = usize::from(columns).saturating_sub(width::of(&text));
            let spans = [Span::raw(" ".repeat(blank)), Span::styled(text, chrome.on_bar(role))];
            paint::spans(buffer, slot, &spans);
            hits.push(slot, place.level, Target::Sheet(SheetPart::Button(at)));
            x += columns + u16::try_from(GAP).unwrap_or(0);
        }
        let mark = if close.width == CLOSE { " ✕ " } else { "✕" };
        paint::spans(buffer, close, &[Span::styled(mark, chrome.on_bar(Role::Text))]);
        hits.push(close, place.level, Target::Sheet(SheetPart::Close));
    }

    fn draw_head(
        &mut self,
        look: &Look<'_>,
        rows: &[HeadRow],
        area: Rect,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
        place: &Place,
    ) {
        let room = usize::from(area.height);
        if area.is_empty() || area.width < 2 {
            return;
        }
        let steps = rows.iter().filter(|row| matches!(row, HeadRow::Step(_))).count();
        let others = rows.len() - steps;
        // Of many steps those around the one that is shown are seen.
        let hidden = rows.len().saturating_sub(room);
        let shown = self.shows.unwrap_or(0);
        let skip = (shown + 1).saturating_sub(room.saturating_sub(others).max(1)).min(hidden);
        let all = rows;
        let rows = rows.iter().take(others).chain(rows.iter().skip(others + skip));
        let mut next = NextDeadline::default();
        for (y, row) in (area.top()..area.bottom()).zip(rows) {
            let line = Rect { x: area.x + 1, y, width: area.width - 1, height: 1 };
            match row {
                HeadRow::Words(spans, _) => {
                    paint::spans(buffer, line, spans);
                }
                HeadRow::Step(step) => {
                    let whole = Rect { x: area.x, width: area.width, ..line };
                    let cx = EntryCx { look, width: whole.width, open: false };
                    let row = self.step_row(*step, &cx, &mut next);
                    paint::row(buffer, whole, &row);
                    if self.shows == Some(*step) {
                        self.mark_step(look.theme, whole, row.gutter, buffer);
                    }
                    hits.push(whole, place.level, Target::Sheet(SheetPart::Step(*step)));
                }
            }
        }
        if hidden > 0 && steps == 0 {
            let last = Rect { x: area.x + 1, y: area.bottom() - 1, width: area.width - 1, height: 1 };
            paint::fill(buffer, last, Style::new());
            let text = match all.get(room.saturating_sub(2)) {
                Some(HeadRow::Words(_, left)) if *left > 0 => {
                    format!("… {}", formats::counted(*left as u64, "more line"))
                }
                _ => "…".to_owned(),
            };
            paint::spans(buffer, last, &[Span::styled(text, look.theme.style(Role::Dim))]);
        }
        self.next.merge(next);
    }

    /// The step that is shown, around its number, whose ground tells how it went.
    fn mark_step(&self, theme: &Theme, area: Rect, gutter: u16, buffer: &mut Buffer) {
        if theme.is_readable() {
            let edge = Rect { width: 1.min(area.width), ..area };
            paint::ground(buffer, edge, theme.color(Role::SelectedBg));
        } else {
            let gutter = gutter.min(area.width);
            let text = Rect { x: area.x + gutter, width: area.width - gutter, ..area };
            buffer.set_style(text.intersection(buffer.area), theme.style(Role::SelectedBg));
        }
    }

    fn draw_rule(&self, look: &Look<'_>, areas: &Areas, buffer: &mut Buffer) {
        let area = areas.rule;
        let room = usize::from(area.width);
        if area.is_empty() {
            return;
        }
        let (line, muted) = (look.theme.style(Role::Border), look.theme.style(Role::Muted));
        let left = match self.shown_step() {
            Some((number, text)) => format!("{} of {number} · {text}", self.content.shown),
            None => self.content.shown.to_owned(),
        };
        let total = self.drawn.total;
        let rows = usize::from(areas.body.height);
        let right = if total > rows {
            let first = self.top + 1;
            let last = (self.top + rows).min(total);
            let range = format!(
                "{}–{} of {}",
                formats::count(first as u64),
                formats::count(last as u64),
                formats::count(total as u64)
            );
            if self.follows { format!("{range} · following") } else { range }
        } else if total > 0 {
            formats::counted(self.body.lines().unwrap_or(total) as u64, "line")
        } else {
            String::new()
        };
        let sides = width::of(&right) + if right.is_empty() { 0 } else { 2 };
        let left_room = room.saturating_sub(sides + 5);
        let mut spans = vec![Span::styled("─", line)];
        if left_room >= 3 {
            spans.push(Span::styled(format!(" {} ", width::cut(&left, left_room)), muted));
        }
        let used = paint::columns(&spans);
        if right.is_empty() || used + sides + 1 > room {
            spans.push(Span::styled("─".repeat(room.saturating_sub(used)), line));
        } else {
            spans.push(Span::styled("─".repeat(room - used - sides - 1), line));
            spans.push(Span::styled(format!(" {right} "), muted));
            spans.push(Span::styled("─", line));
        }
        paint::spans(buffer, area, &spans);
    }

    fn draw_body(
        &mut self,
        look: &Look<'_>,
        area: Rect,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
        place: &Place,
    ) {
        // A blank column at the left, and the bar at the right.
        let margin = u16::from(area.width >= 3);
        let text =
            Rect { x: area.x + margin, width: (area.width - margin).saturating_sub(margin).max(1), ..area };
        let text = text.intersection(area);
        let columns = usize::from(text.width);
        let rows = usize::from(text.height);
        // Another width moves rows: what was read stays in view.
        let reads = self.drawn.seen.first().map(|seen| Point { line: seen.line, byte: seen.text.start });
        let was_wide = std::mem::replace(&mut self.drawn.columns, columns);
        let is_beside = self.is_beside();
        if self.body.lay_out(look.theme, columns.max(1), is_beside) && self.find.is_some() {
            self.search_again(true);
        }
        self.drawn.total = self.body.total();
        self.drawn.body = text;
        if was_wide != columns
            && was_wide != 0
            && !self.follows
            && let Some(point) = reads
        {
            self.top = self.body.row_of(point);
        }
        let last = self.last_top();
        self.top = if self.follows { last } else { self.top.min(last) };
        let has_moved = self.pull(look.now);
        self.drawn.seen = self.body.window(self.top, rows);
        if has_moved {
            self.extend();
        }
        if self.drawn.total == 0 && rows > 0 {
            let nothing = if self.content.is_live { "Nothing yet." } else { "Nothing was printed." };
            let nothing = if self.body.is_output() { nothing } else { "Nothing is shown here." };
            let spans = vec![Span::styled(nothing, look.theme.style(Role::Muted))];
            paint::spans(buffer, text, &paint::cut(spans, columns, look.theme.style(Role::Muted)));
        }
        for (seen, y) in self.drawn.seen.iter().zip(text.top()..) {
            paint::row(buffer, Rect { y, height: 1, ..text }, &seen.row);
        }
        self.mark_matches(look.theme, buffer);
        self.mark_selected(look.theme, buffer);
        hits.push(area, place.level, Target::Sheet(SheetPart::Body));
        self.draw_bar(look, area, buffer, hits, place);
    }

    /// The bar: coloured blanks, so that a line that the terminal copies ends in what is trimmed away.
    fn draw_bar(
        &mut self,
        look: &Look<'_>,
        area: Rect,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
        place: &Place,
    ) {
        self.drawn.bar = None;
        if self.drawn.total <= usize::from(area.height) || area.width < 3 || area.is_empty() {
            return;
        }
        let bar = Rect { x: area.right() - 1, width: 1, ..area };
        let (begin, height) = areas::thumb(bar.height, self.drawn.total, self.top);
        let handle = Rect { y: bar.y + begin, height, ..bar };
        let theme = look.theme;
        if theme.is_readable() {
            let track = theme.mix(theme.page().color(), theme.color(Role::ScrollbarTrack), 0.15);
            paint::ground(buffer, bar, track);
            paint::ground(buffer, handle, theme.color(Role::ScrollbarThumb));
        } else {
            let reversed = Style::new().add_modifier(Modifier::REVERSED);
            buffer.set_style(handle.intersection(buffer.area), reversed);
        }
        self.drawn.bar = Some(bar);
        hits.push(bar, place.level, Target::Sheet(SheetPart::Scrollbar));
    }

    fn cells(&self, y: u16, columns: &Range<usize>) -> Rect {
        let text = self.drawn.body;
        let at = |column: usize| u16::try_from(column).unwrap_or(u16::MAX).min(text.width);
        let (from, to) = (at(columns.start), at(columns.end));
        Rect { x: text.x + from, y, width: to.saturating_sub(from), height: 1 }
    }

    fn mark_selected(&self, theme: &Theme, buffer: &mut Buffer) {
        let Some((from, to)) = self.selected else { return };
        for (seen, y) in self.seen_texts() {
            select(buffer, self.cells(y, &seen.columns(from, to)), theme);
        }
    }

    /// What has text in view, and in which row.
    fn seen_texts(&self) -> impl Iterator<Item = (&Seen, u16)> {
        let rows = self.drawn.seen.iter().zip(self.drawn.body.top()..);
        rows.flat_map(|(seen, y)| {
            [Some(seen), seen.old.as_deref()].into_iter().flatten().map(move |seen| (seen, y))
        })
    }

    fn mark_matches(&self, theme: &Theme, buffer: &mut Buffer) {
        let Some(find) = &self.find else { return };
        let ground = theme.color(Role::SearchMatchBg);
        let style = match theme.is_readable() {
            true => theme.style_on(Role::SearchMatchText, ground).bg(ground),
            // The terminal's own colours: reversed, the ground of a match stands out most.
            false => Style::reset().fg(ground).add_modifier(Modifier::BOLD),
        };
        let found = find.found();
        for (seen, y) in self.seen_texts() {
            // There may be very many; only where two sides take turns they are in no order.
            let begin = match self.body.half() {
                Some(_) => 0,
                None => {
                    found.partition_point(|(line, range)| (*line, range.end) <= (seen.line, seen.text.start))
                }
            };
            let ends = |(line, range): &(usize, Range<usize>)| {
                self.body.half().is_none() && (*line, range.start) >= (seen.line, seen.text.end.max(1))
            };
            let near = found.iter().enumerate().skip(begin).take_while(|(_, found)| !ends(found));
            for (at, (line, range)) in near.filter(|(_, (line, _))| *line == seen.line) {
                let place = |byte| Point { line: *line, byte };
                let cells = self.cells(y, &seen.columns(place(range.start), place(range.end)));
                let more = if find.current() == Some(at) { Modifier::REVERSED } else { Modifier::UNDERLINED };
                if cells.width > 0 {
                    buffer.set_style(cells.intersection(buffer.area), style.add_modifier(more));
                }
            }
        }
    }

    fn draw_footer(&self, look: &Look<'_>, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        if area.is_empty() {
            return None;
        }
        let chrome = Chrome::new(look.theme);
        if let Some(find) = self.find.as_ref().filter(|find| find.is_typing()) {
            chrome.bar(buffer, area, Vec::new(), Vec::new());
            let used = paint::spans(buffer, area, &[Span::styled(" / ", chrome.on_bar(Role::Accent))]);
            let count = find.count();
            let rail = width::of(&count) + 2;
            let has_rail = usize::from(area.width) > rail + 12;
            let kept = if has_rail { u16::try_from(rail).unwrap_or(0) } else { 0 };
            let field = Rect { x: area.x + used, width: area.width.saturating_sub(used + kept), ..area };
            let empty = Span::styled("what to look for", chrome.on_bar(Role::Dim));
            let caret = find.field.draw(buffer, field, chrome.on_bar(Role::Text), empty);
            let at = Rect { x: area.right() - kept, width: kept, ..area };
            let role = if find.found().is_empty() { Role::Warning } else { Role::Text };
            paint::spans(buffer, at, &[Span::styled(format!(" {count}"), chrome.on_bar(role))]);
            return caret;
        }
        let notice = self.notice.as_ref().map(|(level, text, _)| (level, text));
        let toast = self.toast.as_ref().map(|(level, text)| (level, text));
        if let Some((level, text)) = notice.or(toast) {
            let role = match level {
                NoticeLevel::Info => Role::Text,
                NoticeLevel::Warning => Role::Warning,
                NoticeLevel::Error => Role::Error,
            };
            let text = Span::styled(clean::for_line(text), chrome.on_bar(role));
            chrome.bar(buffer, area, vec![text], Vec::new());
            return None;
        }
        let mut hints = self.hints(look);
        if let Some(find) = &self.find {
            // Where one stands comes first.
            hints.insert(0, Hint { key: format!("match {}", find.count()), text: "" });
        }
        chrome.keys(buffer, area, &hints);
        None
    }

    fn hints(&self, look: &Look<'_>) -> Vec<Hint> {
        let key = |action, text| hint(look, Context::Popup, action, text);
        let mut hints = vec![hint(look, Context::Global, Action::Cancel, "close")];
        if self.find.is_some() {
            hints = vec![
                key(Action::PopupNextMatch, "next"),
                key(Action::PopupPreviousMatch, "before"),
                hint(look, Context::Global, Action::Cancel, "ends the search"),
            ];
        }
        if self.content.is_live && self.job().is_some() {
            hints.push(key(Action::PopupStop, "stop job"));
        }
        if self.shows.is_some() {
            hints.push(Hint { key: format!("1–{}", self.content.steps().min(9)), text: "step" });
        }
        if self.drawn.total > usize::from(self.drawn.body.height) {
            hints.push(pair(look, Context::Popup, (Action::ScrollUp, Action::ScrollDown), "scroll"));
        }
        if self.find.is_none() {
            hints.push(key(Action::PopupSearch, "search"));
        }
        if let Some((name, _)) = self.content.asked {
            hints.push(key(Action::CopyRow, name));
        }
        hints.push(key(Action::PopupCopyOutput, self.content.gave));
        if self.content.whole_in.is_some() {
            hints.push(key(Action::PopupCopyPath, "copy path of the whole"));
        }
        if self.body.is_change() {
            hints.push(key(Action::PopupSides, if self.is_beside() { "unified" } else { "side by side" }));
        }
        if self.content.is_live {
            hints.push(key(Action::PopupFollow, if self.follows { "stay here" } else { "follow" }));
        }
        if self.drawn.total > usize::from(self.drawn.body.height) {
            let (top, end) = (short_key(look, Action::Top), short_key(look, Action::Bottom));
            if let (Some(top), Some(end)) = (top, end) {
                hints.push(Hint { key: format!("{top}/{end}"), text: "top/end" });
            }
        }
        let rows = (short_key(look, Action::PopupPreviousRow), short_key(look, Action::PopupNextRow));
        if let (Some(before), Some(after), None) = (rows.0, rows.1, self.job()) {
            hints.push(Hint { key: format!("{before}/{after}"), text: "row above/below" });
        }
        hints
    }
}

/// The shortest name of an action's key here.
fn short_key(look: &Look<'_>, action: Action) -> Option<String> {
    let keys = look.keymap.keys(Context::Popup, action).iter().map(|chord| match chord.single() {
        // A capital is what is typed.
        Some(Key { code: KeyCode::Char(letter), mods: Mods::SHIFT }) => letter.to_uppercase().to_string(),
        _ => chord.to_string(),
    });
    keys.min_by_key(|key| width::of(key))
}

/// Columns of a button: it says something else for a moment, and nothing beside it may move.
fn slot(text: &str) -> usize {
    width::of(text).max(width::of("✓ copied"))
}
