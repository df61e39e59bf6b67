//! Cards: code and quotes, blocks with a ground of their own that are copied as a whole.
//!
//! The rows say where a label belongs ([`CardPart`]); whoever draws them knows whether a click can reach it.

use super::blocks::{Events, LEAST_TEXT, Painter, Prefix};
use super::{Card, CardKind};
use crate::text::highlight::{Highlighter, Part};
use crate::text::row::{self, CardPart, CardRow, Row};
use crate::text::width;
use crate::text::wrap::{self, Break, Run};
use crate::theme::role::Role;
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};
use ratatui::style::{Color, Style};
use ratatui::text::Span;
use std::ops::Range;

/// Columns of a card's label: of the longer of its two texts, so that it does not move when it says that it was copied.
pub const LABEL_COLUMNS: usize = 8;

/// A card of this many rows has a label at both ends: one of them is in view more often.
pub const TALL_CARD: usize = 10;

/// A narrower card has a ground and no label.
pub const LEAST_COLUMNS: usize = LABEL_COLUMNS + 4;

/// Code within the block that still grows, as it was read for the frame before: to read it again would take most of the next.
#[derive(Clone, Debug, Default)]
pub struct Memo {
    /// Where the block begins.
    at: usize,
    fences: Vec<ReadCode>,
    /// Which of them comes next.
    next: usize,
}

/// Whole lines of one fence with their roles, and the state behind them.
#[derive(Clone, Debug)]
struct ReadCode {
    language: String,
    lines: Vec<(String, Vec<Part>)>,
    highlighter: Highlighter,
}

impl Memo {
    /// For the block that begins there, from its first fence on.
    pub fn begin(&mut self, at: usize) {
        if self.at != at {
            *self = Self { at, ..Self::default() };
        }
        self.next = 0;
    }

    /// The roles of the lines of the next fence. The last line may grow, so it is not kept.
    fn read(&mut self, language: &str, lines: &[&str]) -> Vec<Vec<Part>> {
        let fresh = || ReadCode {
            language: language.to_owned(),
            lines: Vec::new(),
            highlighter: Highlighter::for_language(language),
        };
        if self.next >= self.fences.len() {
            self.fences.push(fresh());
        }
        let Some(known) = self.fences.get_mut(self.next) else { return Vec::new() };
        self.next += 1;
        let whole = lines.split_last().map_or(lines, |(_, whole)| whole);
        let is_same = known.language == language
            && known.lines.len() <= whole.len()
            && known.lines.iter().zip(whole).all(|((known, _), line)| known == line);
        if !is_same {
            *known = fresh();
        }
        for line in whole.iter().skip(known.lines.len()) {
            let parts = known.highlighter.line(line);
            known.lines.push(((*line).to_owned(), parts));
        }
        let mut roles: Vec<Vec<Part>> = known.lines.iter().map(|(_, parts)| parts.clone()).collect();
        roles.extend(lines.last().map(|last| known.highlighter.clone().line(last)));
        roles
    }
}

impl Painter<'_> {
    pub(super) fn quote(&mut self, events: &mut Events<'_>, range: Range<usize>) {
        events.advance();
        let source = self.base + range.start;
        let ground = self.theme.quote_ground();
        let known = (ground != Color::Reset).then_some(ground);
        let style = self.theme.style(Role::MdQuoteBorder);
        let bar = vec![Span::styled("▌ ", known.map_or(style, |ground| style.bg(ground)))];
        let prefix = Prefix { first: None, rest: bar, is_text: false, columns: 2, ground: known };
        let (outer_ground, outer_role, outer_quote) = (self.ground, self.text_role, self.quote);
        let is_outermost = outer_quote.is_none();
        let card = outer_quote.unwrap_or(self.first_card + self.cards.len());
        let inner = if is_outermost { quotes_within(events) } else { Vec::new() };
        if is_outermost {
            self.quote = Some(card);
            self.cards.push(Card { kind: CardKind::Quote, text: String::new(), is_closed: true });
        }
        (self.ground, self.text_role) = (ground, Role::MdQuote);
        let is_inside = !self.prefixes.is_empty();
        let columns = self.room();
        let begin = self.rows.len();
        self.within(prefix, |painter| {
            painter.children(events, true);
            if painter.rows.len() == begin {
                painter.emit(Row::blank(source));
            }
            if is_outermost && columns >= LEAST_COLUMNS {
                painter.place_labels(card, begin, is_inside);
            }
        });
        if is_outermost {
            // Inside another block its lines begin with what belongs to that: the drawn text has none of it.
            let written = self.slice.get(range.clone()).filter(|_| !is_inside);
            let text = written.map_or_else(
                || copy_from(self.rows.get(begin..).unwrap_or_default(), self.columns - columns),
                |quote| without_marks(quote, range.start, &inner),
            );
            let card = card.checked_sub(self.first_card).and_then(|index| self.cards.get_mut(index));
            if let Some(card) = card {
                card.text = text;
            }
        }
        (self.ground, self.text_role, self.quote) = (outer_ground, outer_role, outer_quote);
    }

    /// Says which rows of a quote have a label. A short quote has it in its first row, where the text leaves room there,
    /// else in its last, else in a row of its own below; a tall one has one at each end.
    fn place_labels(&mut self, card: usize, begin: usize, is_inside: bool) {
        let most = self.columns.saturating_sub(1 + LABEL_COLUMNS + 1);
        let has_room = |row: &Row| row.card.is_some_and(|on| on.card == card) && row.width() <= most;
        let count = self.rows.len() - begin;
        let mark = |row: Option<&mut Row>, part| match row {
            Some(row) if has_room(row) => {
                row.card = Some(CardRow { card, part });
                true
            }
            Some(_) | None => false,
        };
        let has_top = if count < TALL_CARD {
            mark(self.rows.get_mut(begin), CardPart::Head)
        } else {
            let mut upper = self.rows.iter_mut().skip(begin).take(count / 2);
            mark(upper.find(|row| has_room(row)), CardPart::Head)
        };
        if count < TALL_CARD && has_top {
            return;
        }
        if count >= TALL_CARD && !has_top && !is_inside {
            // In another block the row above may hold a bullet, which must stay first.
            let start = self.rows.get(begin).map_or(self.base, |row| row.start);
            self.label_row(card, CardPart::Head, start);
            if let Some(row) = self.rows.pop() {
                self.rows.insert(begin, row);
            }
        }
        if !mark(self.rows.last_mut(), CardPart::Foot) {
            let start = self.rows.last().map_or(self.base, |row| row.start);
            self.label_row(card, CardPart::Foot, start);
        }
    }

    /// A row of a quote that holds nothing but its label.
    fn label_row(&mut self, card: usize, part: CardPart, source: usize) {
        let card = Some(CardRow { card, part });
        self.emit(Row { is_decoration: true, card, ..Row::blank(source) });
    }

    pub(super) fn code(&mut self, events: &mut Events<'_>, kind: &CodeBlockKind<'_>, range: Range<usize>) {
        events.advance();
        let source = self.base + range.start;
        let is_closed = match kind {
            CodeBlockKind::Fenced(_) => self.slice.get(range).is_none_or(is_closed_fence),
            CodeBlockKind::Indented => true,
        };
        let info = match kind {
            CodeBlockKind::Fenced(info) => info.as_ref(),
            CodeBlockKind::Indented => "",
        };
        let mut text = String::new();
        let mut begin = source;
        while let Some((event, range)) = events.next() {
            match event {
                Event::Text(part) => {
                    if text.is_empty() {
                        begin = self.base + range.start;
                    }
                    text.push_str(&part);
                }
                Event::End(TagEnd::CodeBlock) => break,
                _ => {}
            }
        }
        let mut code = self.open_code(info, source);
        let mut at = begin;
        let lines: Vec<&str> = text.strip_suffix('\n').unwrap_or(&text).split('\n').collect();
        let known = self.memo.as_mut().map(|memo| memo.read(&code.language, &lines));
        for (index, line) in lines.iter().enumerate() {
            if !text.is_empty() {
                match known.as_ref().and_then(|known| known.get(index)) {
                    Some(parts) => self.read_line(&mut code, line, parts, at),
                    None => self.code_line(&mut code, line, at),
                }
            }
            at += line.len() + 1;
        }
        // What has no end yet runs to the last row.
        if is_closed {
            self.close_code(&code, at);
        }
    }

    /// Begins a card of code: its first row.
    pub fn open_code(&mut self, info: &str, source: usize) -> Code {
        let language = info.split_whitespace().next().unwrap_or_default().to_owned();
        let card = self.first_card + self.cards.len();
        let highlighter = Highlighter::for_language(if self.is_plain { "" } else { &language });
        let code = Code { card, lines: 0, rows: 1, language: language.clone(), highlighter };
        let style = self.theme.style_on(Role::Dim, self.theme.code_ground());
        let label = width::cut(&language, self.room().saturating_sub(2)).into_owned();
        let runs = [Run::new(format!(" {label}"), style, source)];
        let rows = wrap::line(&runs, self.room(), Break::Graphemes);
        for row in rows.into_iter().take(1) {
            self.card_row(Row { is_decoration: true, ..row }, card, CardPart::Head);
        }
        self.cards.push(Card { kind: CardKind::Code { language }, text: String::new(), is_closed: false });
        code
    }

    /// Adds a line to a card of code.
    pub fn code_line(&mut self, code: &mut Code, line: &str, source: usize) {
        let parts = code.highlighter.line(line);
        self.read_line(code, line, &parts, source);
    }

    /// Adds a line of which the roles are known.
    fn read_line(&mut self, code: &mut Code, line: &str, parts: &[Part], source: usize) {
        let ground = self.theme.code_ground();
        let runs = code_runs(line, parts, source, |role| self.theme.style_on(role, ground));
        let margin = usize::from(self.room() > LEAST_TEXT);
        for mut row in wrap::line(&runs, self.room().saturating_sub(2 * margin), Break::Graphemes) {
            if margin > 0 {
                row.prefix(&[Span::raw(" ")], false);
            }
            self.card_row(row, code.card, CardPart::Body);
            code.rows += 1;
        }
        let card = code.card.checked_sub(self.first_card).and_then(|index| self.cards.get_mut(index));
        if let Some(card) = card {
            if code.lines > 0 {
                card.text.push('\n');
            }
            card.text.push_str(line);
        }
        code.lines += 1;
    }

    /// Ends a card of code: its last row.
    pub fn close_code(&mut self, code: &Code, source: usize) {
        // Without a ground it would be a second blank row between the code and what follows; only a label is worth it.
        if self.theme.code_ground() != Color::Reset || code.rows + 1 >= TALL_CARD {
            self.card_row(Row { is_decoration: true, ..Row::blank(source) }, code.card, CardPart::Foot);
        }
        let card = code.card.checked_sub(self.first_card).and_then(|index| self.cards.get_mut(index));
        if let Some(card) = card {
            card.is_closed = true;
        }
    }

    fn card_row(&mut self, mut row: Row, card: usize, part: CardPart) {
        let ground = self.theme.code_ground();
        row.ground = (ground != Color::Reset).then_some((0, ground));
        row.card = Some(CardRow { card, part });
        self.emit(row);
    }
}

/// A card of code that is being drawn.
#[derive(Clone, Debug)]
pub struct Code {
    pub card: usize,
    /// Lines so far.
    lines: usize,
    /// Rows so far.
    rows: usize,
    language: String,
    highlighter: Highlighter,
}

/// The quotes within the one that has just begun, from the outside.
fn quotes_within(events: &Events<'_>) -> Vec<Range<usize>> {
    let mut depth = 0_usize;
    let mut quotes = Vec::new();
    for (event, range) in events.rest() {
        match event {
            Event::Start(tag) => {
                depth += 1;
                if matches!(tag, Tag::BlockQuote(_)) {
                    quotes.push(range.clone());
                }
            }
            Event::End(_) if depth == 0 => break,
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    quotes
}

/// A quote as it was written, less its own marks and those of the quotes within. `>` that is text stays: code may have it.
fn without_marks(quote: &str, begin: usize, inner: &[Range<usize>]) -> String {
    let mut lines = Vec::new();
    let mut at = begin;
    for line in quote.trim_end().split('\n') {
        let end = at + line.len();
        let own = line.trim_start_matches(' ');
        let mut rest = behind_mark(own).unwrap_or(own);
        let mut kept = String::new();
        for range in inner.iter().filter(|range| range.start < end && range.end > at) {
            // It begins at its first mark, behind a bullet maybe; in the lines below, blanks at most stand before it.
            let gone = line.len() - rest.len();
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let mark = range.start.checked_sub(at).map_or(Some(blanks), |mark| mark.checked_sub(gone));
            let Some((before, from)) = mark.and_then(|mark| rest.split_at_checked(mark)) else { continue };
            if let Some(behind) = behind_mark(from) {
                kept.push_str(before);
                rest = behind;
            }
        }
        lines.push(kept + rest);
        at = end + 1;
    }
    lines.join("\n")
}

/// The text of rows from a column on: left of it may stand a bullet.
fn copy_from(rows: &[Row], column: usize) -> String {
    let column = u16::try_from(column).unwrap_or(u16::MAX);
    let rows: Vec<Row> =
        rows.iter().map(|row| Row { gutter: row.gutter.max(column), ..row.clone() }).collect();
    row::copy(&rows)
}

fn behind_mark(text: &str) -> Option<&str> {
    let behind = text.strip_prefix('>')?;
    Some(behind.strip_prefix(' ').unwrap_or(behind))
}

/// Whether a block of fenced code, as it was written, has its last line.
fn is_closed_fence(block: &str) -> bool {
    let Some((first, below)) = block.trim_end().split_once('\n') else { return false };
    let Some(mark) = first.chars().next() else { return false };
    let length = first.len() - first.trim_start_matches(mark).len();
    let last = below.rsplit('\n').next().unwrap_or_default();
    let last = last.trim_start_matches([' ', '\t', '>']).trim_end();
    last.len() >= length && last.chars().all(|c| c == mark)
}

/// A line of code cut by its roles.
fn code_runs(line: &str, parts: &[Part], source: usize, style: impl Fn(Role) -> Style) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut at = 0;
    let plain = style(Role::MdCodeBlock);
    let mut push = |range: Range<usize>, style: Style| {
        if let Some(text) = line.get(range.clone()).filter(|text| !text.is_empty()) {
            runs.push(Run::new(text, style, source + range.start));
        }
    };
    for (range, role) in parts {
        push(at..range.start, plain);
        push(range.clone(), style(*role));
        at = range.end;
    }
    push(at..line.len(), plain);
    if runs.is_empty() {
        runs.push(Run::new("", plain, source));
    }
    runs
}

#[cfg(test)]
#[path = "card_tests.rs"]
mod tests;
