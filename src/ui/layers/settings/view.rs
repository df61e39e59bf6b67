//! The screen of settings as cells: the list, and what there is to say about the selected one.

use super::{Item, Mode, Settings, mistake, parts};
use crate::config::action::{Action, Context};
use crate::config::check::{Kind, Value};
use crate::config::load::Origin;
use crate::config::settings::Holds;
use crate::text::wrap::{self, Break};
use crate::text::{clean, formats, width};
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::layers::frame::{self, Chrome, Hint, Place, Window};
use crate::ui::layers::picker::BOLD;
use crate::ui::layers::{hint, pair};
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::target::Target;
use crate::ui::text_field::TextField;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;
use std::collections::BTreeSet;

/// Rows of what is said about the selected setting, in a window with room for it.
const DETAIL: u16 = 5;
/// From this height on there is room.
const ROOMY: u16 = 12;
/// From this width on a row has the text beside the value. Below it texts would be cut; they stand under the list.
const WIDE: usize = 116;
/// Columns of a value beside its text.
const VALUE: usize = 20;

/// A row of the list.
enum Line {
    Heading(&'static str),
    /// An index into `shown`.
    Setting(usize),
}

impl Settings {
    /// The rows of the list: each section has a heading.
    fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut section = "";
        for (at, index) in self.shown.iter().enumerate() {
            let Some(item) = self.items.get(*index) else { continue };
            let (name, _) = parts(item.meta);
            if name != section {
                lines.push(Line::Heading(name));
                section = name;
            }
            lines.push(Line::Setting(at));
        }
        lines
    }

    fn hints(&self, look: &Look<'_>) -> Vec<Hint> {
        let cancel = |text| hint(look, Context::Global, Action::Cancel, text);
        match self.mode {
            Mode::List => vec![
                hint(look, Context::Settings, Action::SettingChange, "change"),
                cancel(if self.field.is_empty() { "close" } else { "all" }),
                hint(look, Context::Settings, Action::SettingReset, "default"),
                hint(look, Context::Settings, Action::SettingSearch, "search"),
                pair(look, Context::Settings, (Action::ListUp, Action::ListDown), "move"),
                pair(look, Context::Settings, (Action::SettingPrevious, Action::SettingNext), "choices"),
            ],
            Mode::Search => {
                vec![hint(look, Context::List, Action::Confirm, "to the list"), cancel("clear")]
            }
            Mode::Line(_) => {
                vec![hint(look, Context::Composer, Action::Submit, "take"), cancel("leave as it is")]
            }
        }
    }

    pub(in crate::ui::layers) fn draw(
        &mut self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        let chrome = Chrome::new(look.theme);
        let count = |count: usize| formats::count(u64::try_from(count).unwrap_or(u64::MAX));
        let rail = if self.shown.len() == self.items.len() {
            count(self.items.len())
        } else {
            format!("{} of {}", count(self.shown.len()), count(self.items.len()))
        };
        let sections = self.items.iter().map(|item| parts(item.meta).0).collect::<BTreeSet<_>>().len();
        let window = Window {
            title: vec![Span::styled("Settings", chrome.on_bar(Role::ToolTitle).add_modifier(BOLD))],
            rail: vec![Span::styled(rail, chrome.on_bar(Role::Muted))],
            hints: self.hints(look),
            // By all settings: a window that shrinks while one types jumps about.
            rows: self.items.len() + sections + 2 + usize::from(DETAIL),
            columns: 120,
        };
        let body = window.draw(&chrome, place, buffer, hits);
        let detail_rows = match body.height {
            ROOMY.. => DETAIL + 1,
            5..ROOMY => 2,
            _ => 0,
        };
        let mut list = Rect { height: body.height - detail_rows, ..body };
        let detail = Rect { y: list.bottom(), height: detail_rows, ..body };
        let mut caret = None;
        if list.height >= 2 {
            let found = self.draw_search(&chrome, Rect { height: 1, ..list }, buffer);
            caret = found.filter(|_| matches!(self.mode, Mode::Search));
            list = Rect { y: list.y + 1, height: list.height - 1, ..list };
        }
        self.draw_list(&chrome, list, place, buffer, hits);
        let in_detail = self.draw_detail(&chrome, detail, buffer);
        if let Mode::Line(field) = &self.mode {
            // Without room below the list the line takes the first row.
            caret = if detail.is_empty() {
                let first = Rect { height: body.height.min(1), ..body };
                chrome.fill(buffer, first);
                draw_line(&chrome, first, "", field, buffer)
            } else {
                in_detail
            };
        }
        caret
    }

    fn draw_search(&self, chrome: &Chrome<'_>, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        let is_on = matches!(self.mode, Mode::Search);
        let role = if is_on { Role::Accent } else { Role::Dim };
        let used = paint::spans(buffer, area, &[Span::styled(" › ", chrome.on(role))]);
        let field = Rect { x: area.x + used, width: area.width.saturating_sub(used + 1), ..area };
        self.field.draw(buffer, field, chrome.on(Role::Text), Span::styled("Search", chrome.on(Role::Dim)))
    }

    fn draw_list(
        &mut self,
        chrome: &Chrome<'_>,
        area: Rect,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) {
        let lines = self.lines();
        self.rows = usize::from(area.height);
        let is_selected = |line: &Line| matches!(line, Line::Setting(at) if *at == self.selected);
        let at = lines.iter().position(is_selected).unwrap_or(0);
        // The heading of the first row is to be seen with it.
        let from = if self.selected == 0 { 0 } else { self.top };
        self.top = frame::keep_in_view(from, at, self.rows, lines.len());
        if lines.is_empty() {
            let spans = vec![Span::raw("   "), Span::styled("Nothing fits", chrome.on(Role::Muted))];
            paint::spans(buffer, area, &paint::cut(spans, usize::from(area.width), chrome.on(Role::Dim)));
            return;
        }
        let has_bar = lines.len() > self.rows && area.width > 4;
        let names = self.items.iter().map(|item| width::of(parts(item.meta).1)).max().unwrap_or(0);
        for (row, line) in lines.iter().skip(self.top).take(self.rows).enumerate() {
            let y = area.y + u16::try_from(row).unwrap_or(u16::MAX);
            let at = Rect { y, height: 1, width: area.width - u16::from(has_bar), ..area };
            let room = usize::from(at.width);
            match line {
                Line::Heading(name) => {
                    let heading = chrome.on(Role::MdHeading).add_modifier(BOLD);
                    let spans = vec![Span::raw(" "), Span::styled(*name, heading)];
                    paint::spans(buffer, at, &paint::cut(spans, room, chrome.on(Role::Dim)));
                }
                Line::Setting(index) => {
                    let Some(item) = self.shown.get(*index).and_then(|index| self.items.get(*index)) else {
                        continue;
                    };
                    let is_selected = *index == self.selected;
                    let spans = self.row(chrome, item, (names, room), is_selected);
                    chrome.row(buffer, at, &spans, is_selected);
                    hits.push(at, place.level, Target::Choice(*index));
                }
            }
        }
        chrome.scrollbar(buffer, area, self.top, lines.len());
    }

    /// Name, value, where it comes from, and what it does where there is room.
    fn row(
        &self,
        chrome: &Chrome<'_>,
        item: &Item,
        (names, room): (usize, usize),
        is_selected: bool,
    ) -> Vec<Span<'static>> {
        let style = |role| chrome.on_row(role, is_selected);
        let (_, name) = parts(item.meta);
        let mut left = vec![
            Span::styled(if is_selected { " › " } else { "   " }, style(Role::Accent)),
            Span::styled(format!("{name:names$}  "), style(Role::Text)),
        ];
        let is_default = item.origin == Origin::Default;
        let value = shown(&item.value);
        let value_style = style(if is_default { Role::Muted } else { Role::Accent });
        if room >= WIDE {
            let value = width::cut(&value, VALUE).into_owned();
            let pad = VALUE.saturating_sub(width::of(&value)) + 2;
            left.push(Span::styled(value, value_style));
            left.push(Span::styled(format!("{:pad$}{}", "", item.meta.text), style(Role::Dim)));
        } else {
            left.push(Span::styled(value, value_style));
        }
        let waits = item.meta.holds != Holds::Now && self.changed.contains(item.meta.key);
        let from = match (&item.origin, waits) {
            (Origin::Environment(_), _) => "environment".to_owned(),
            (origin, false) => origin.to_string(),
            (origin, true) => format!("{origin}, {}", item.meta.holds.as_str()),
        };
        let role = match item.origin {
            Origin::Default => Role::Dim,
            Origin::User => Role::Muted,
            Origin::Project | Origin::Environment(_) | Origin::Flag => Role::Warning,
        };
        let rail = vec![Span::styled(from, style(role))];
        // That a value is the default says less than the value.
        let is_tight = paint::columns(&left) + paint::columns(&rail) + 3 > room;
        let rail = if is_default && is_tight { Vec::new() } else { rail };
        paint::left_and_rail(left, rail, room, style(Role::Dim))
    }

    /// What there is to say about the selected setting, or the line of its value.
    fn draw_detail(&self, chrome: &Chrome<'_>, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        let item = self.item()?;
        if area.is_empty() {
            return None;
        }
        let ground = Rect { ..area };
        paint::fill(buffer, ground, chrome.on_bar(Role::Text).bg(chrome.bar));
        let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        let mut y = inner.y;
        let mut caret = None;
        if let Mode::Line(field) = &self.mode {
            let row = Rect { y, height: 1, ..inner };
            caret = draw_line(chrome, row, parts(item.meta).1, field, buffer);
            y += 1;
        }
        for (role, text) in self.facts(item) {
            for row in wrap::text(&text, chrome.on_bar(role), usize::from(inner.width).max(1), Break::Words) {
                if y >= inner.bottom() {
                    return caret;
                }
                paint::row(buffer, Rect { y, height: 1, ..inner }, &row);
                y += 1;
            }
        }
        caret
    }

    fn facts(&self, item: &Item) -> Vec<(Role, String)> {
        let meta = item.meta;
        let mut facts = Vec::new();
        if let Mode::Line(field) = &self.mode {
            match mistake(meta.kind, field.text().trim()) {
                Some(mistake) => facts.push((Role::Error, mistake)),
                None => facts.push((Role::Muted, format!("May be {}.", meta.kind))),
            }
            if matches!(meta.kind, Kind::List | Kind::Rules) {
                facts.push((Role::Muted, "Entries have commas between them.".to_owned()));
            }
        }
        if let Some(problem) = &self.problem {
            facts.push((Role::Error, problem.clone()));
        }
        let overridden = match &item.origin {
            Origin::Project => Some("The project sets it: your own value has no effect here.".to_owned()),
            Origin::Environment(name) => {
                Some(format!("{name} in the environment sets it: your own value has no effect here."))
            }
            Origin::Flag => {
                Some("The command line sets it for this run: your own value has no effect.".to_owned())
            }
            Origin::Default | Origin::User => None,
        };
        if !matches!(self.mode, Mode::Line(_)) {
            facts.push((Role::Text, format!("{}. {}.", meta.key, meta.text)));
            let overridden_first = overridden.is_some() && !meta.adds_up;
            if overridden_first {
                facts.extend(overridden.map(|text| (Role::Warning, text)));
            } else if meta.adds_up && item.origin > Origin::User {
                facts.push((
                    Role::Muted,
                    "The lists of all files add up; yours alone is changed here.".to_owned(),
                ));
            }
            let default = shown(&item.default);
            facts.push((Role::Muted, format!("Default {default}; may be {}.", meta.kind)));
        }
        facts.push((Role::Muted, format!("A change holds {}.", meta.holds.as_str())));
        let value = shown(&item.value);
        if width::of(&value) > VALUE && !matches!(self.mode, Mode::Line(_)) {
            // The row may have cut it.
            facts.push((Role::Muted, format!("Now {value}")));
        }
        facts
    }
}

/// A value for people: no quotes.
fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) if text.is_empty() => "empty".to_owned(),
        Value::Text(text) => clean::for_line(text),
        Value::List(entries) if entries.is_empty() => "empty".to_owned(),
        Value::List(entries) => clean::for_line(&entries.join(", ")),
        Value::Bool(_) | Value::Integer(_) => value.to_string(),
    }
}

fn draw_line(
    chrome: &Chrome<'_>,
    area: Rect,
    name: &str,
    field: &TextField,
    buffer: &mut Buffer,
) -> Option<Position> {
    let label = [
        Span::styled(name.to_owned(), chrome.on_bar(Role::Text)),
        Span::styled(" › ", chrome.on_bar(Role::Accent)),
    ];
    // In a narrow window the name gives way to what is written.
    let label =
        if paint::columns(&label) * 2 > usize::from(area.width) { label.get(1..) } else { Some(&label[..]) };
    let used = paint::spans(buffer, area, label.unwrap_or_default());
    let used = if used + 1 < area.width { used } else { 0 };
    let at = Rect { x: area.x + used, width: area.width.saturating_sub(used), ..area };
    field.draw(buffer, at, chrome.on_bar(Role::Text), Span::raw(""))
}
