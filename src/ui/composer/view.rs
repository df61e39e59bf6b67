//! The composer as rows of styled text, and the cell of the caret.

use super::Composer;
use super::chips::Chip;
use super::history::{History, Scope};
use super::submit::LineKind;
use super::wrap::{Unit, cells, units};
use crate::text::{formats, width};
use crate::ui::composer::buffer::{Pos, RowSpan};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// What an empty composer reads; drivers know by it that keys are taken.
pub const EMPTY: &str = "Ask anything";

/// The rows it may grow to on a screen of this height: about a third, five at least.
pub fn max_rows(screen_rows: u16) -> u16 {
    (screen_rows.saturating_mul(3) / 10).max(5).min(screen_rows.max(1))
}

/// How its parts look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComposerStyles {
    /// Text.
    pub text: Style,
    /// What an empty one reads, and details of completions.
    pub placeholder: Style,
    /// Large pastes.
    pub paste: Style,
    /// Files.
    pub file: Style,
    /// The name of a command.
    pub command: Style,
    /// The marks of a shell line.
    pub shell: Style,
    /// What is selected, over the others.
    pub selected: Style,
    /// The label of a search.
    pub search: Style,
    /// What a search found, over the others.
    pub matched: Style,
}

/// The composer on screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Rows, the search last.
    pub rows: Vec<Line<'static>>,
    /// Row and column of the caret, within the rows and the width.
    pub caret: (u16, u16),
    /// Rows above the ones shown.
    pub above: usize,
    /// Rows below the ones shown.
    pub below: usize,
}

impl View {
    /// The mark for rows above, as in `↑ 3 more`.
    pub fn mark_above(&self) -> Option<String> {
        (self.above > 0).then(|| format!("↑ {} more", formats::count(self.above as u64)))
    }

    /// The mark for rows below.
    pub fn mark_below(&self) -> Option<String> {
        (self.below > 0).then(|| format!("↓ {} more", formats::count(self.below as u64)))
    }
}

impl Composer {
    /// How many rows it takes.
    pub fn height(&self) -> u16 {
        let rows = self.text_rows() + usize::from(self.search.is_some());
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// What is shown, for the size that was set.
    pub fn view(&self, styles: &ComposerStyles) -> View {
        let shown = self.text_rows();
        let mut rows: Vec<Line<'static>> =
            self.buffer.row_spans(self.top).take(shown).map(|span| self.row(span, styles)).collect();
        if self.is_empty() && self.search.is_none() {
            rows = vec![Line::from(Span::styled(cut(EMPTY, self.width), styles.placeholder))];
        }
        let (row, column) = self.buffer.cell_of(self.caret.pos);
        let mut caret = (row.saturating_sub(self.top), column);
        if self.search.is_some() {
            let (line, column) = self.search_row(styles);
            caret = (rows.len(), column);
            rows.push(line);
        }
        let to_cell = |cell: usize| u16::try_from(cell).unwrap_or(u16::MAX);
        View {
            caret: (to_cell(caret.0), to_cell(caret.1.min(self.width - 1))),
            above: self.top,
            below: self.buffer.rows().saturating_sub(self.top + shown),
            rows,
        }
    }

    fn row(&self, span: RowSpan, styles: &ComposerStyles) -> Line<'static> {
        let width = self.buffer.width();
        let selection = self.selection();
        let marks = self.first_line_marks(styles);
        let matches = self.matches_in(span.line);
        let mut spans = Spans::default();
        let mut used = 0;
        for unit in units(self.buffer.line(span.line), span.start).take_while(|unit| unit.at < span.end) {
            let own = unit.cells(width, &self.buffer.chips);
            // The space behind a full row is not drawn.
            if own == 0 || used + own > width {
                continue;
            }
            used += own;
            let pos = Pos { line: span.line, at: unit.at };
            let (text, mut style) = self.unit(unit, own, styles);
            if let Some((end, mark)) = marks
                && span.line == 0
                && unit.at < end
            {
                style = mark;
            }
            if matches.iter().any(|(start, end)| (*start..*end).contains(&unit.at)) {
                style = style.patch(styles.matched);
            }
            if selection.is_some_and(|(start, end)| start <= pos && pos < end) {
                style = style.patch(styles.selected);
            }
            spans.push(&text, style);
        }
        spans.into_line()
    }

    /// What of a line the search in earlier prompts has found.
    fn matches_in(&self, line: usize) -> Vec<(usize, usize)> {
        match &self.search {
            Some(search) if search.is_found => History::matches_in(search, self.buffer.line(line)),
            _ => Vec::new(),
        }
    }

    /// How far the name of a command or the marks of a shell line reach, and how they look.
    fn first_line_marks(&self, styles: &ComposerStyles) -> Option<(usize, Style)> {
        let line = self.buffer.line(0);
        match self.kind() {
            LineKind::Prompt => None,
            LineKind::Command => {
                let end = line.find(char::is_whitespace).unwrap_or(line.len());
                let name = line.get(1..end).unwrap_or_default();
                self.completer.is_command(name).then_some((end, styles.command))
            }
            LineKind::Shell => Some((1, styles.shell)),
            LineKind::ShellShownOnly => Some((2, styles.shell)),
        }
    }

    fn unit(&self, unit: Unit<'_>, own: usize, styles: &ComposerStyles) -> (String, Style) {
        let chip = unit.chip().and_then(|c| self.buffer.chips.get(c));
        match chip {
            Some(chip @ Chip::Paste { .. }) => (cut(&chip.label(), own), styles.paste),
            Some(chip @ Chip::File { .. }) => (cut(&chip.label(), own), styles.file),
            None => (cut(&width::drawn(unit.text), own), styles.text),
        }
    }

    fn search_row(&self, styles: &ComposerStyles) -> (Line<'static>, usize) {
        let Some(search) = &self.search else { return (Line::default(), 0) };
        let label = match search.scope {
            Scope::Folder => "earlier prompts here: ",
            Scope::All => "earlier prompts: ",
        };
        let query = width::drawn(&search.query);
        let label = cut(label, self.width.saturating_sub(1));
        let room = self.width.saturating_sub(1 + cells(&label));
        // Of a long query the end is shown, where it grows.
        let mut shown = query.as_ref();
        while cells(shown) > room {
            let next = super::wrap::next_boundary(shown, 0).unwrap_or(shown.len());
            shown = shown.get(next..).unwrap_or_default();
        }
        let column = cells(&label) + cells(shown);
        let mut line =
            Line::from(vec![Span::styled(label, styles.search), Span::styled(shown.to_owned(), styles.text)]);
        if !search.is_found {
            line.push_span(Span::styled(cut("  no match", self.width - column), styles.placeholder));
        }
        (line, column)
    }

    /// The completions around the chosen one, one a row, and which of them is chosen.
    pub fn completion_rows(
        &self,
        width: u16,
        most: u16,
        styles: &ComposerStyles,
    ) -> (Vec<Line<'static>>, usize) {
        let Some(popup) = self.completer.popup() else { return (Vec::new(), 0) };
        let most = usize::from(most.max(1));
        let first = popup.selected.saturating_sub(most / 2).min(popup.candidates.len().saturating_sub(most));
        let shown = popup.candidates.get(first..).unwrap_or_default();
        let shown: Vec<_> = shown.iter().take(most).collect();
        let width = usize::from(width);
        let label_width = shown.iter().map(|candidate| cells(&candidate.label)).max().unwrap_or(0);
        let rows = shown.iter().enumerate().map(|(index, candidate)| {
            let is_chosen = first + index == popup.selected;
            let patch = |style: Style| if is_chosen { style.patch(styles.selected) } else { style };
            let label = cut(&crate::text::clean::for_line(&candidate.label), width);
            let mut used = cells(&label);
            let mut line = Line::from(Span::styled(label, patch(styles.text)));
            if !candidate.detail.is_empty() && label_width + 2 < width {
                let gap = label_width + 2 - used;
                used = label_width + 2;
                let detail = cut(&crate::text::clean::for_line(&candidate.detail), width - used);
                line.push_span(Span::styled(" ".repeat(gap), patch(styles.text)));
                line.push_span(Span::styled(detail, patch(styles.placeholder)));
            }
            line
        });
        (rows.collect(), popup.selected - first)
    }
}

/// The text, or as much of it as fits with an ellipsis.
fn cut(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for unit in units(text, 0) {
        let own = cells(unit.text);
        if used + own + 1 > width {
            break;
        }
        used += own;
        out.push_str(unit.text);
    }
    if width > 0 {
        out.push('…');
    }
    out
}

/// Spans that grow while the style stays.
#[derive(Default)]
struct Spans {
    done: Vec<Span<'static>>,
    open: Option<(String, Style)>,
}

impl Spans {
    fn push(&mut self, text: &str, style: Style) {
        match &mut self.open {
            Some((open, same)) if *same == style => open.push_str(text),
            _ => {
                self.close();
                self.open = Some((text.to_owned(), style));
            }
        }
    }

    fn close(&mut self) {
        if let Some((text, style)) = self.open.take() {
            self.done.push(Span::styled(text, style));
        }
    }

    fn into_line(mut self) -> Line<'static> {
        self.close();
        Line::from(self.done)
    }
}
