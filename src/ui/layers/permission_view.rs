//! The card of a call that asks, as cells.

use super::frame::{self, Chrome, Hint, Place};
use super::permission::{Choice, LaidOut, PermissionCard};
use super::picker::BOLD;
use super::{hint, pair};
use crate::config::action::{Action, Context};
use crate::config::key::{Key, KeyCode};
use crate::proto::ask::AskPreview;
use crate::text::diff;
use crate::text::highlight::Highlighter;
use crate::text::row::Row;
use crate::text::wrap::{self, Break, Run};
use crate::text::{clean, width};
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Color;
use ratatui::text::Span;

/// Rows of the reason at most.
const MOST_REASON: usize = 3;

/// Rows on each side.
struct Parts {
    heading: u16,
    body: u16,
    gap: u16,
    reason: u16,
    choices: u16,
    keys: u16,
    /// Each answer has a row of its own.
    is_list: bool,
}

impl Parts {
    const fn height(&self) -> u16 {
        self.heading + self.body + self.gap + self.reason + self.choices + self.keys
    }
}

impl PermissionCard {
    /// Rows that it takes above the composer: what lies there moves up for it.
    pub(super) fn height(&mut self, look: &Look<'_>, place: &Place) -> u16 {
        let page = place.page.intersection(place.screen);
        if page.is_empty() {
            return 0;
        }
        let room = usize::from(page.width);
        self.lay_out(look, room);
        let total = self.laid_out.as_ref().map_or(0, |laid_out| laid_out.rows.len());
        let reason = self.reason(&Chrome::new(look.theme), room).len();
        let height = self.parts(page, place.screen, total, reason).height();
        // A blank row keeps it apart from what stands above, where there is room.
        height + u16::from(height + 4 < page.height)
    }

    pub(super) fn draw(
        &mut self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        let page = place.page.intersection(place.screen).intersection(buffer.area);
        if page.is_empty() {
            return None;
        }
        let chrome = Chrome::new(look.theme);
        let room = usize::from(page.width);
        self.lay_out(look, room);
        let total = self.laid_out.as_ref().map_or(0, |laid_out| laid_out.rows.len());
        let reason = self.reason(&chrome, room);
        let parts = self.parts(page, place.screen, total, reason.len());
        let height = parts.height();
        let area = Rect { y: page.bottom() - height, height, ..page };
        chrome.fill(buffer, area);
        hits.push(area, place.level, Target::Layer);

        self.rows = usize::from(parts.body);
        if !self.is_scrolled && total > self.rows {
            // The lines around a change may fill the card alone.
            let first = self.laid_out.as_ref().map_or(0, |laid_out| laid_out.first_change);
            self.top = first.saturating_sub(usize::from(self.rows > 2));
        }
        self.top = self.top.min(total.saturating_sub(self.rows));
        let mut y = area.y;
        let mut next = |rows: u16| {
            let at = Rect { y, height: rows, ..area };
            y += rows;
            at
        };
        let at = next(parts.heading);
        if parts.heading > 0 {
            self.draw_heading(look, &chrome, at, total, buffer);
        }
        let at = next(parts.body);
        self.draw_preview(&chrome, at, total, buffer);
        next(parts.gap);
        let at = next(parts.reason);
        for (row, line) in reason.iter().take(usize::from(parts.reason)).enumerate() {
            let at = Rect { y: at.y + u16::try_from(row).unwrap_or(0), height: 1, ..at };
            paint::spans(buffer, inset(at), &line.spans);
        }
        let at = next(parts.choices);
        let caret = if parts.is_list {
            self.draw_choices(look, &chrome, place, at, buffer, hits)
        } else {
            self.draw_short_choices(&chrome, place, at, buffer, hits)
        };
        let at = next(parts.keys);
        if parts.keys > 0 {
            chrome.keys(buffer, at, &self.hints(look, total));
        }
        caret
    }

    /// The answers have their rows first, then comes what tells what is asked, then the rest.
    fn parts(&self, page: Rect, screen: Rect, preview: usize, reason: usize) -> Parts {
        let rows = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        // Something of the transcript stays in view, unless the screen is too small for both.
        let share = u16::try_from(u32::from(screen.height) * 3 / 5).unwrap_or(u16::MAX);
        let most = share.max(9).min(page.height.saturating_sub(u16::from(page.height > 9))).max(1);
        let list = rows(self.choices.len());
        let is_list = most >= list + 2;
        let choices = if is_list { list } else { self.short_rows(page.width).min(most) };
        let mut left = most - choices;
        let mut take = |wanted: u16| {
            let taken = wanted.min(left);
            left -= taken;
            taken
        };
        // One row of it says more than the question.
        let first = take(rows(preview).min(1));
        let heading = take(1);
        let first = first + take(rows(preview).min(2) - first);
        let keys = take(1);
        let reason = take(rows(reason.min(MOST_REASON)));
        let body = first + take(rows(preview).saturating_sub(first));
        let gap = take(1);
        Parts { heading, body, gap, reason, choices, keys, is_list }
    }

    fn lay_out(&mut self, look: &Look<'_>, room: usize) {
        // A column at the left and the scrollbar's at the right.
        let columns = room.saturating_sub(3).max(1);
        let revision = look.theme.revision();
        let is_known = |known: &LaidOut| known.columns == columns && known.revision == revision;
        if self.laid_out.as_ref().is_some_and(is_known) {
            return;
        }
        let mut totals = None;
        let mut first_change = 0;
        let chrome = Chrome::new(look.theme);
        let summary = || {
            wrap::text(&clean::for_terminal(&self.ask.summary), chrome.on(Role::Text), columns, Break::Words)
        };
        let rows = match &self.ask.preview {
            AskPreview::Command(command) if !command.trim().is_empty() => {
                command_rows(command, &chrome, columns)
            }
            AskPreview::Change { path, patch } => {
                let lines = of_one_file(diff::parse(patch));
                totals = Some(diff::totals(&lines));
                let rows = diff::rows(&lines, path, look.theme, columns);
                let changes =
                    |line: &diff::Line| matches!(line.kind, diff::Kind::Added | diff::Kind::Removed);
                let line = lines.iter().position(changes).unwrap_or(0);
                first_change = rows.iter().position(|row| row.start >= line).unwrap_or(0);
                if rows.is_empty() { summary() } else { rows }
            }
            AskPreview::Command(_) | AskPreview::None => summary(),
        };
        self.laid_out = Some(LaidOut { columns, revision, rows, totals, first_change });
    }

    /// The question in plain words.
    fn question(&self, look: &Look<'_>) -> String {
        let path = match &self.ask.preview {
            AskPreview::Change { path, .. } => look.path(std::path::Path::new(&clean::for_line(path))),
            AskPreview::Command(_) | AskPreview::None => {
                look.path(std::path::Path::new(&clean::for_line(&self.ask.summary)))
            }
        };
        match (self.ask.tool.as_str(), &self.ask.preview) {
            (_, AskPreview::Command(_)) | ("bash", _) => "Run this command?".to_owned(),
            (_, AskPreview::Change { patch, .. }) if patch.contains("--- /dev/null") => {
                format!("Create {path}?")
            }
            (_, AskPreview::Change { .. }) | ("edit", _) => format!("Change {path}?"),
            ("write", _) => format!("Write {path}?"),
            ("read" | "grep" | "find" | "ls", _) if self.ask.reason.contains("hold keys") => {
                "Read a key file?".to_owned()
            }
            ("read" | "grep" | "find" | "ls", _) => "Read this?".to_owned(),
            (tool, _) => format!("Allow {}?", clean::for_line(tool)),
        }
    }

    fn draw_heading(
        &self,
        look: &Look<'_>,
        chrome: &Chrome<'_>,
        at: Rect,
        total: usize,
        buffer: &mut Buffer,
    ) {
        let mut left = Vec::new();
        if let Some(from) = &self.from {
            left.push(Span::styled(format!("{} · ", clean::for_line(from)), chrome.on_bar(Role::Muted)));
        }
        left.push(Span::styled(self.question(look), chrome.on_bar(Role::Warning).add_modifier(BOLD)));
        let mut rail = Vec::new();
        if let Some((added, removed)) = self.laid_out.as_ref().and_then(|laid_out| laid_out.totals) {
            rail.push(Span::styled(format!("+{added}"), chrome.on_bar(Role::ToolDiffAdded)));
            rail.push(Span::styled(format!(" −{removed}"), chrome.on_bar(Role::ToolDiffRemoved)));
        }
        if total > self.rows && self.rows > 0 {
            let (from, to) = (self.top + 1, self.top + self.rows);
            let gap = if rail.is_empty() { "" } else { "  " };
            let text = format!("{gap}{from}–{to} of {total}");
            rail.push(Span::styled(text, chrome.on_bar(Role::Muted)));
        }
        chrome.bar(buffer, at, left, rail);
    }

    fn draw_preview(&self, chrome: &Chrome<'_>, at: Rect, total: usize, buffer: &mut Buffer) {
        let Some(laid_out) = &self.laid_out else { return };
        for (line, row) in laid_out.rows.iter().skip(self.top).take(usize::from(at.height)).enumerate() {
            let y = at.y + u16::try_from(line).unwrap_or(u16::MAX);
            let whole = Rect { y, height: 1, ..at };
            if let Some((_, color)) = row.ground {
                paint::ground(buffer, whole, color);
            }
            paint::row(buffer, inset(whole), row);
        }
        chrome.scrollbar(buffer, at, self.top, total);
    }

    fn reason(&self, chrome: &Chrome<'_>, room: usize) -> Vec<Row> {
        let columns = room.saturating_sub(2).max(1);
        let mut rows = Vec::new();
        // What is not shown would run all the same.
        if let AskPreview::Command(command) = &self.ask.preview
            && command.chars().any(clean::is_unsafe)
        {
            let text = "It holds control characters that are not shown.";
            rows.extend(wrap::text(text, chrome.on(Role::Warning), columns, Break::Words));
        }
        let reason = clean::for_line(&self.ask.reason);
        if !reason.is_empty() {
            rows.extend(wrap::text(&reason, chrome.on(Role::Muted), columns, Break::Words));
        }
        rows
    }

    fn text(&self, choice: Choice) -> String {
        let rule = self.ask.suggestions.get(self.rule).map(|rule| clean::for_line(rule)).unwrap_or_default();
        match choice {
            Choice::Once => "Yes, once".to_owned(),
            Choice::Session => format!("Yes, in this session: {rule}"),
            Choice::Always => format!("Yes, always in this project: {rule}"),
            Choice::No => "No".to_owned(),
            Choice::NoWith => "No, with a message".to_owned(),
        }
    }

    fn draw_choices(
        &self,
        look: &Look<'_>,
        chrome: &Chrome<'_>,
        place: &Place,
        at: Rect,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        let mut caret = None;
        for (index, choice) in self.choices.iter().enumerate().take(usize::from(at.height)) {
            let area = Rect { y: at.y + u16::try_from(index).unwrap_or(0), height: 1, ..at };
            let is_selected = index == self.selected;
            let style = |role| chrome.on_row(role, is_selected);
            let keys = look.keymap.keys(Context::Card, choice.action());
            let is_digit = |key: Key| matches!(key.code, KeyCode::Char(c) if c.is_ascii_digit());
            let digit = keys.iter().find(|chord| chord.single().is_some_and(is_digit));
            let digit = digit.map_or_else(|| " ".to_owned(), frame::name);
            let mark = if is_selected { "› " } else { "  " };
            let left = vec![
                Span::styled(format!(" {mark}"), style(Role::Accent)),
                Span::styled(format!("{digit} "), style(Role::Muted)),
            ];
            let room = usize::from(area.width);
            if let Some(field) = self.message.as_ref().filter(|_| *choice == Choice::NoWith) {
                let label = Span::styled("No: ", style(Role::Text));
                let spans: Vec<_> = left.into_iter().chain([label]).collect();
                chrome.row(buffer, area, &paint::cut(spans.clone(), room, style(Role::Dim)), is_selected);
                let used = u16::try_from(paint::columns(&spans)).unwrap_or(u16::MAX);
                let used = if used + 4 > area.width { 0 } else { used };
                let inner =
                    Rect { x: area.x + used, width: (area.width - used).saturating_sub(1).max(1), ..area };
                let empty = Span::styled("what to do instead", style(Role::Dim));
                caret = field.draw(buffer, inner, style(Role::Text), empty);
                hits.push(area, place.level, Target::Choice(index));
                continue;
            }
            let key = keys.iter().find(|chord| !chord.single().is_some_and(is_digit));
            let key = key.map(|key| format!(" ({})", frame::name(key))).unwrap_or_default();
            let several =
                self.ask.suggestions.len() > 1 && matches!(choice, Choice::Session | Choice::Always);
            let several = if several {
                format!("  {} of {}", self.rule + 1, self.ask.suggestions.len())
            } else {
                String::new()
            };
            let tail = vec![Span::styled(key, style(Role::Muted)), Span::styled(several, style(Role::Dim))];
            // A long rule is cut, its key is not.
            let used = paint::columns(&left) + paint::columns(&tail);
            let text = width::cut(&self.text(*choice), room.saturating_sub(used + 1)).into_owned();
            let spans: Vec<_> =
                left.into_iter().chain([Span::styled(text, style(Role::Text))]).chain(tail).collect();
            chrome.row(buffer, area, &paint::cut(spans, room, style(Role::Dim)), is_selected);
            hits.push(area, place.level, Target::Choice(index));
        }
        caret
    }

    /// Where there is no room for rows the answers stand beside each other: by row, column and text.
    fn short(&self, columns: u16) -> Vec<(u16, u16, &'static str)> {
        let (mut row, mut column) = (0, 1);
        let mut made = Vec::new();
        for choice in &self.choices {
            let text = match choice {
                Choice::Once => "Yes",
                Choice::Session => "Session",
                Choice::Always => "Always",
                Choice::No => "No",
                Choice::NoWith => "Message",
            };
            let wide = u16::try_from(text.len()).unwrap_or(u16::MAX);
            if column > 1 && column + wide >= columns {
                (row, column) = (row + 1, 1);
            }
            made.push((row, column, text));
            column += wide + 2;
        }
        made
    }

    fn short_rows(&self, columns: u16) -> u16 {
        self.short(columns).last().map_or(1, |(row, ..)| row + 1)
    }

    fn draw_short_choices(
        &self,
        chrome: &Chrome<'_>,
        place: &Place,
        at: Rect,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        if let Some(field) = &self.message {
            let label = Span::styled(" No: ", chrome.on(Role::Text));
            let used = if at.width > 12 { paint::spans(buffer, at, &[label]) } else { 0 };
            let inner = Rect { x: at.x + used, width: at.width - used, height: at.height.min(1), ..at };
            let empty = Span::styled("what to do instead", chrome.on(Role::Dim));
            return field.draw(buffer, inner, chrome.on(Role::Text), empty);
        }
        let made = self.short(at.width);
        let row_of = |index: usize| made.get(index).map_or(0, |(row, ..)| usize::from(*row));
        let first = frame::keep_in_view(
            0,
            row_of(self.selected),
            usize::from(at.height),
            usize::from(self.short_rows(at.width)),
        );
        let first = u16::try_from(first).unwrap_or(0);
        for (index, (row, column, text)) in made.iter().enumerate() {
            let Some(row) = row.checked_sub(first).filter(|row| *row < at.height) else { continue };
            let x = at.x + (*column).min(at.width - 1);
            let wide = u16::try_from(text.len()).unwrap_or(u16::MAX).min(at.right() - x);
            let area = Rect { x, y: at.y + row, width: wide, height: 1 };
            let is_selected = index == self.selected;
            let style = chrome.on_row(Role::Text, is_selected);
            let text = width::take(text, usize::from(wide));
            chrome.row(buffer, area, &[Span::styled(text.to_owned(), style)], is_selected);
            hits.push(area, place.level, Target::Choice(index));
        }
        None
    }

    fn hints(&self, look: &Look<'_>, total: usize) -> Vec<Hint> {
        let cancel = |text| hint(look, Context::Global, Action::Cancel, text);
        if self.message.is_some() {
            return vec![hint(look, Context::Composer, Action::Submit, "send"), cancel("back")];
        }
        let card = |action, text| hint(look, Context::Card, action, text);
        let mut hints = vec![card(Action::Confirm, "choose"), cancel("no")];
        if total > self.rows {
            hints.push(pair(look, Context::Card, (Action::ScrollDown, Action::ScrollUp), "scroll"));
        }
        if self.ask.suggestions.len() > 1 {
            hints.push(pair(look, Context::Composer, (Action::Left, Action::Right), "rule"));
        }
        hints.push(pair(look, Context::Card, (Action::ListUp, Action::ListDown), "move"));
        hints
    }
}

/// One column free at the left, two at the right: the last one is the scrollbar's.
fn inset(area: Rect) -> Rect {
    let left = u16::from(area.width > 3);
    Rect { x: area.x + left, width: area.width.saturating_sub(if area.width > 3 { 3 } else { 0 }), ..area }
}

/// A difference of one file names it nowhere: the question does.
fn of_one_file(mut lines: Vec<diff::Line>) -> Vec<diff::Line> {
    let is_name = |line: &diff::Line| line.kind == diff::Kind::File;
    if lines.iter().filter(|line| is_name(line)).count() == 1 {
        lines.retain(|line| !is_name(line));
        // That a change does not begin at the first line its numbers tell.
        if lines.first().is_some_and(|line| line.kind == diff::Kind::Gap) {
            lines.remove(0);
        }
    }
    // The numbers tell that something is above.
    let gaps = lines.iter().take_while(|line| line.kind == diff::Kind::Gap).count();
    lines.drain(..gaps);
    lines
}

/// A command in the colours of a shell, behind the mark of a prompt.
fn command_rows(command: &str, chrome: &Chrome<'_>, columns: usize) -> Vec<Row> {
    let command = clean::for_terminal(command.trim_end());
    let mut highlighter = Highlighter::for_language("bash");
    let is_tight = columns < 12;
    let mut rows = Vec::new();
    for (index, line) in command.split('\n').enumerate() {
        let parts = if chrome.theme.is_readable() || chrome.ground == Color::Reset {
            highlighter.line(line)
        } else {
            Vec::new()
        };
        let mut runs = Vec::new();
        let mut at = 0;
        let mut push = |from: usize, to: usize, role: Role| {
            if let Some(text) = line.get(from..to).filter(|text| !text.is_empty()) {
                runs.push(Run::new(text, chrome.on(role), index));
            }
        };
        for (range, role) in parts {
            push(at, range.start, Role::Text);
            push(range.start, range.end, role);
            at = range.end;
        }
        push(at, line.len(), Role::Text);
        let indent = if is_tight { 0 } else { 2 };
        for (row_index, mut row) in wrap::line(&runs, columns - indent, Break::Words).into_iter().enumerate()
        {
            if !is_tight {
                let mark = if index == 0 && row_index == 0 { "$ " } else { "  " };
                row.prefix(&[Span::styled(mark, chrome.on(Role::Accent))], false);
            }
            rows.push(row);
        }
    }
    rows
}
