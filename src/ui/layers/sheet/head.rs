//! The head of the sheet: facts, the whole command or one line for each step, arguments.

use super::Sheet;
use crate::proto::chain::Chain;
use crate::text::highlight::Highlighter;
use crate::text::row::Row;
use crate::text::wrap::{self, Break, Run};
use crate::text::{clean, width};
use crate::theme::role::Role;
use crate::ui::entries::EntryCx;
use crate::ui::entries::steps;
use crate::ui::look::Look;
use crate::ui::paint;
use crate::ui::scene::NextDeadline;
use ratatui::text::Span;

/// Rows that are made of one text at most: the head has no room for more.
const MOST: usize = super::areas::MOST_HEAD as usize;

/// Bytes of one text that are looked at.
const MOST_BYTES: usize = 16 * 1024;

/// A row of the head.
#[derive(Clone, Debug)]
pub enum HeadRow {
    /// Words, and how many lines come after the one they are of.
    Words(Vec<Span<'static>>, usize),
    /// A step, by its place.
    Step(usize),
}

impl Sheet {
    /// The rows that the head would like to have. `band`: what the band shows already.
    pub(super) fn head_rows(&self, look: &Look<'_>, columns: usize, band: &str) -> Vec<HeadRow> {
        let room = columns.saturating_sub(2);
        let mut rows = Vec::new();
        let facts = self.facts();
        if !facts.is_empty() {
            let muted = look.theme.style(Role::Muted);
            let words = paint::cut(vec![Span::styled(facts, muted)], room, muted);
            rows.push(HeadRow::Words(words, 0));
        }
        if self.content.chain.is_some() {
            rows.extend((0..self.content.steps()).map(HeadRow::Step));
        } else if let Some(command) = &self.content.command {
            rows.extend(command_rows(command, look, room, band));
        } else {
            rows.extend(self.argument_rows(look, room));
        }
        rows
    }

    fn facts(&self) -> String {
        let content = &self.content;
        let kept = content.whole_in.as_ref().map(|path| format!("all of it in {}", clean::for_line(path)));
        let facts = content.facts.iter().cloned().chain(self.started.clone()).chain(kept);
        facts.collect::<Vec<_>>().join(" · ")
    }

    fn argument_rows(&self, look: &Look<'_>, room: usize) -> Vec<HeadRow> {
        let arguments = &self.content.arguments;
        let keys = arguments.iter().map(|(key, _)| width::of(&line(key)));
        let column = keys.max().unwrap_or(0).min(room / 3).min(24);
        let rows = arguments.iter().enumerate().take(MOST).map(|(at, (key, value))| {
            let key = width::cut(&line(key), column).into_owned();
            let gap = " ".repeat(column.saturating_sub(width::of(&key)) + 2);
            let words = vec![
                Span::styled(key, look.theme.style(Role::Muted)),
                Span::raw(gap),
                Span::styled(line(value), look.theme.style(Role::Text)),
            ];
            let words = paint::cut(words, room, look.theme.style(Role::Muted));
            HeadRow::Words(words, arguments.len() - at - 1)
        });
        rows.collect()
    }

    /// A step's row, as wide as the screen.
    pub(super) fn step_row(&self, index: usize, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        let content = &self.content;
        let Some(chain) = &content.chain else { return Row::default() };
        steps::sheet_line(chain, index, content.steps_since, self.shows == Some(index), cx, next)
    }

    /// The step that is shown, as the rule names it.
    pub(super) fn shown_step(&self) -> Option<(usize, String)> {
        let step = self.shows?;
        let chain: &Chain = self.content.chain.as_ref()?;
        Some((step + 1, line(&chain.steps.get(step)?.text)))
    }
}

/// Foreign text on one line, continuations joined.
fn line(text: &str) -> String {
    let text = text.get(..text.floor_char_boundary(MOST_BYTES)).unwrap_or_default();
    let flat = text.replace("\\\n", " ");
    let flat = clean::for_line(&flat);
    flat.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The whole command, unless the band shows it.
fn command_rows(command: &str, look: &Look<'_>, room: usize, band: &str) -> Vec<HeadRow> {
    let command = command.trim();
    if !command.contains('\n') && band.contains(&clean::for_line(command)) {
        return Vec::new();
    }
    let theme = look.theme;
    let mut highlighter = Highlighter::for_language("bash");
    let mut rows = Vec::new();
    let shown = command.get(..command.floor_char_boundary(MOST_BYTES)).unwrap_or_default();
    let lines = command.split('\n').count();
    for (at_line, text) in shown.split('\n').enumerate() {
        if rows.len() >= MOST {
            break;
        }
        let text = clean::for_terminal(text).replace('\n', " ");
        let mut runs = Vec::new();
        let mut at = 0;
        let parts = highlighter.line(&text);
        let ends =
            parts.iter().flat_map(|(range, role)| [(range.start, Role::MdCodeBlock), (range.end, *role)]);
        for (end, role) in ends.chain([(text.len(), Role::MdCodeBlock)]) {
            if let Some(part) = text.get(at..end).filter(|part| !part.is_empty()) {
                runs.push(Run::new(part, theme.style(role), at));
            }
            at = end;
        }
        let wrapped = wrap::first_rows(&runs, room.max(1), Break::Graphemes, MOST);
        rows.extend(wrapped.into_iter().map(|row| HeadRow::Words(row.spans, lines - at_line - 1)));
    }
    rows
}
