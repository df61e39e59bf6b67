//! Help: every key and every command, from the tables that dispatch reads.

use super::frame::{Chrome, Place, Window};
use super::picker::BOLD;
use super::{CommandRow, LayerInput, LayerOutcome, hint, pair};
use crate::config::action::{Action, Context};
use crate::config::shadows;
use crate::text::wrap::{self, Break};
use crate::text::{clean, width};
use crate::theme::role::Role;
use crate::ui::hit::HitMap;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::pointer::POINTER;
use crate::ui::target::Target;
use crate::ui::text_field::{Edit, TextField};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Span;

/// Columns that a text needs to be read beside its key.
const COLUMN: u16 = 56;

/// Columns of the keys at most.
const MOST_KEYS: usize = 26;

/// Columns between two.
const GAP: u16 = 2;

/// Help.
#[derive(Clone, Debug)]
pub struct Help {
    commands: Vec<CommandRow>,
    field: TextField,
    top: usize,
    /// Rows in view when it was drawn last.
    rows: usize,
}

/// A heading with its entries: keys, and what they do.
struct Section {
    title: &'static str,
    entries: Vec<(Vec<String>, String)>,
}

/// One row of a column.
enum Line {
    Heading(&'static str),
    /// A key, and what it does. Only one of them where they take more rows.
    Entry(String, String),
    Blank,
}

impl Help {
    /// Help with these commands beside the keys.
    pub fn new(commands: Vec<CommandRow>) -> Self {
        Self { commands, field: TextField::default(), top: 0, rows: 1 }
    }

    pub(super) fn handle(&mut self, input: LayerInput<'_>) -> LayerOutcome {
        let page = isize::try_from(self.rows.max(2) - 1).unwrap_or(1);
        let edit = match input {
            LayerInput::Type(text) | LayerInput::Paste(text) => self.field.insert(text),
            LayerInput::Wheel(rows) => return self.scroll(rows as isize),
            LayerInput::Choice(_) => return LayerOutcome::Unchanged,
            LayerInput::Act(action) => match action {
                Action::Help | Action::Confirm | Action::Submit => return LayerOutcome::Closed,
                Action::ListUp | Action::Up | Action::ScrollUp => return self.scroll(-1),
                Action::ListDown | Action::Down | Action::ScrollDown => return self.scroll(1),
                Action::ListPageUp | Action::PageUp => return self.scroll(-page),
                Action::ListPageDown | Action::PageDown => return self.scroll(page),
                Action::TextStart => return self.scroll(isize::MIN / 2),
                Action::TextEnd => return self.scroll(isize::MAX / 2),
                _ => self.field.act(action),
            },
        };
        if edit == Edit::Edited {
            self.top = 0;
        }
        edit.into()
    }

    // Where it ends is known when it is drawn, which holds it to that.
    fn scroll(&mut self, delta: isize) -> LayerOutcome {
        let before = self.top;
        self.top = before.saturating_add_signed(delta);
        if before == self.top { LayerOutcome::Unchanged } else { LayerOutcome::Changed }
    }

    fn sections(&self, look: &Look<'_>) -> Vec<Section> {
        let query = self.field.text().trim().to_lowercase();
        let fits = |(keys, text): &(Vec<String>, String)| {
            query.is_empty()
                || text.to_lowercase().contains(&query)
                || keys.iter().any(|key| key.to_lowercase().contains(&query))
        };
        let help = look.keymap.help();
        let mut sections: Vec<Section> = Vec::new();
        for context in Context::ALL {
            let rows = help.iter().filter(|row| row.context == context).map(|row| {
                let mut keys: Vec<String> = row.keys.iter().map(ToString::to_string).collect();
                if keys.is_empty() {
                    keys.push("no key".to_owned());
                }
                (keys, row.action.text().to_owned())
            });
            sections.push(Section { title: context.title(), entries: rows.filter(fits).collect() });
        }
        let commands = self.commands.iter().map(|command| {
            let name = format!("/{} {}", command.name, command.argument);
            (vec![clean::for_line(&name)], clean::for_line(&command.text))
        });
        let commands = Section { title: "Commands", entries: commands.filter(fits).collect() };
        let conflicts =
            Section { title: "Conflicts", entries: conflicts(look).into_iter().filter(fits).collect() };
        let mouse = POINTER.iter().map(|row| (vec![row.place.to_owned()], row.text(look)));
        sections.push(Section { title: "The mouse: a click on", entries: mouse.filter(fits).collect() });
        // What is typed is asked for more often than the keys of a list.
        sections.insert(sections.len().min(1), commands);
        // Whoever has any looks for the reason why a key does not do what it should.
        sections.insert(0, conflicts);
        sections.retain(|section| !section.entries.is_empty());
        sections
    }

    pub(super) fn draw(
        &mut self,
        look: &Look<'_>,
        place: &Place,
        buffer: &mut Buffer,
        hits: &mut HitMap<Target>,
    ) -> Option<Position> {
        let chrome = Chrome::new(look.theme);
        let sections = self.sections(look);
        let columns = (place.screen.width.saturating_sub(8) / COLUMN).clamp(1, 3);
        let window = Window {
            title: vec![Span::styled("Help", chrome.on_bar(Role::ToolTitle).add_modifier(BOLD))],
            rail: vec![Span::styled("Keys can be changed in keymap.toml", chrome.on_bar(Role::Muted))],
            hints: vec![
                hint(look, Context::Global, Action::Cancel, "close"),
                pair(look, Context::List, (Action::ListUp, Action::ListDown), "scroll"),
                pair(look, Context::List, (Action::ListPageUp, Action::ListPageDown), "page"),
            ],
            // The same height whatever is searched for.
            rows: usize::from(place.screen.height),
            columns: if columns == 1 { 96 } else { columns * 64 },
        };
        let mut body = window.draw(&chrome, place, buffer, hits);
        let mut caret = None;
        if body.height >= 3 {
            let used = paint::spans(buffer, body, &[Span::styled(" › ", chrome.on(Role::Accent))]);
            let field =
                Rect { x: body.x + used, width: body.width.saturating_sub(used + 1), height: 1, ..body };
            let empty = Span::styled("Search", chrome.on(Role::Dim));
            caret = self.field.draw(buffer, field, chrome.on(Role::Text), empty);
            body = Rect { y: body.y + 1, height: body.height - 1, ..body };
        }
        self.rows = usize::from(body.height);
        let inner = Rect { x: body.x + 1.min(body.width), width: body.width.saturating_sub(3), ..body };
        let wide = (inner.width + GAP) / columns;
        let room = usize::from(wide.saturating_sub(GAP));
        let names = sections.iter().flat_map(|section| &section.entries).map(|(keys, _)| keys.join("  "));
        let longest = names.map(|name| width::of(&name)).max().unwrap_or(0);
        let keys = longest.min(MOST_KEYS).min(room * 2 / 5);
        let made = in_columns(lines(sections, room, keys), usize::from(columns));
        let longest = made.iter().map(Vec::len).max().unwrap_or(0);
        self.top = self.top.min(longest.saturating_sub(self.rows));
        if made.is_empty() {
            paint::spans(buffer, inner, &[Span::styled("Nothing fits", chrome.on(Role::Muted))]);
            return caret;
        }
        for (index, column) in made.iter().enumerate() {
            let x = inner.x + wide * u16::try_from(index).unwrap_or(0);
            let area =
                Rect { x, width: wide.saturating_sub(GAP).min(inner.right().saturating_sub(x)), ..inner };
            draw_column(&chrome, area, column, (self.top, keys), buffer);
        }
        chrome.scrollbar(buffer, body, self.top, longest);
        caret
    }
}

/// What the user's keys hide, and what is wrong in their file.
fn conflicts(look: &Look<'_>) -> Vec<(Vec<String>, String)> {
    let shadows = shadows::of_user(look.keymap).into_iter().map(|shadow| {
        let text = format!(
            "{}: {}; hides {}: {}",
            shadow.inner.title(),
            shadow.action.text(),
            shadow.outer.title(),
            shadow.hidden_action.text()
        );
        let other = (shadow.hidden != shadow.chord).then(|| shadow.hidden.to_string());
        (std::iter::once(shadow.chord.to_string()).chain(other).collect(), text)
    });
    let mistakes = look.keymap.mistakes().iter().map(|text| {
        let (path, rest) = text.split_once(": ").unwrap_or(("", text));
        // The folder is known, and would take the whole column.
        let place = path.rsplit('/').next().unwrap_or_default();
        (vec![clean::for_line(place)], clean::for_line(rest))
    });
    shadows.chain(mistakes).collect()
}

/// The sections as rows: whatever is too long for its part of the column goes on below.
fn lines(sections: Vec<Section>, room: usize, keys: usize) -> Vec<Vec<Line>> {
    let text_room = room.saturating_sub(keys + 2).max(1);
    let rows = |text: &str, room: usize| -> Vec<String> {
        wrap::text(text, Style::new(), room, Break::Words).iter().map(|row| row.drawn()).collect()
    };
    let mut made = Vec::new();
    for section in sections {
        let mut lines = vec![Line::Heading(section.title)];
        for (names, text) in section.entries {
            let mut left = rows(&names.join("  "), keys.max(1)).into_iter();
            let mut right = rows(&text, text_room).into_iter();
            loop {
                let (key, text) = (left.next(), right.next());
                if key.is_none() && text.is_none() {
                    break;
                }
                lines.push(Line::Entry(key.unwrap_or_default(), text.unwrap_or_default()));
            }
        }
        made.push(lines);
    }
    made
}

/// The sections in columns of about the same height; none is torn apart, and they are read downwards.
fn in_columns(sections: Vec<Vec<Line>>, columns: usize) -> Vec<Vec<Line>> {
    let mut made: Vec<Vec<Line>> = Vec::new();
    let mut left: usize = sections.iter().map(|section| section.len() + 1).sum();
    for section in sections {
        let height = section.len() + 1;
        let open = made.len();
        let rest = made.last().map_or(0, Vec::len) + left;
        let fair = rest / (columns + 1).saturating_sub(open).max(1);
        let is_new = match made.last() {
            None => true,
            Some(column) => open < columns && column.len() + height / 2 > fair,
        };
        if is_new {
            made.push(Vec::new());
        }
        if let Some(column) = made.last_mut() {
            if !column.is_empty() {
                column.push(Line::Blank);
            }
            column.extend(section);
        }
        left = left.saturating_sub(height);
    }
    made
}

fn draw_column(
    chrome: &Chrome<'_>,
    area: Rect,
    lines: &[Line],
    (top, keys): (usize, usize),
    buffer: &mut Buffer,
) {
    let room = usize::from(area.width);
    for (row, line) in lines.iter().skip(top).take(usize::from(area.height)).enumerate() {
        let at = Rect { y: area.y + u16::try_from(row).unwrap_or(u16::MAX), height: 1, ..area };
        let spans = match line {
            Line::Blank => continue,
            Line::Heading(title) => vec![Span::styled(*title, chrome.on(Role::MdHeading).add_modifier(BOLD))],
            Line::Entry(key, text) => {
                let pad = keys.saturating_sub(width::of(key)) + 2;
                vec![
                    Span::styled(key.clone(), chrome.on(Role::Text)),
                    Span::raw(" ".repeat(pad)),
                    Span::styled(text.clone(), chrome.on(Role::Muted)),
                ]
            }
        };
        paint::spans(buffer, at, &paint::cut(spans, room, chrome.on(Role::Dim)));
    }
}
