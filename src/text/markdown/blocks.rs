//! Blocks to rows.

use super::inline;
use super::table;
use super::{Card, CardKind};
use crate::text::highlight::{Highlighter, Part};
use crate::text::row::{self, CardPart, CardRow, Row};
use crate::text::width;
use crate::text::wrap::{self, Break, Run};
use crate::theme::Theme;
use crate::theme::role::Role;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use std::ops::Range;

/// Columns that are left for text however deep things are nested; beyond it indentation is dropped.
const LEAST_TEXT: usize = 6;

/// The events of one top-level block.
pub struct Events<'a> {
    list: Vec<(Event<'a>, Range<usize>)>,
    at: usize,
}

impl<'a> Events<'a> {
    pub const fn new(list: Vec<(Event<'a>, Range<usize>)>) -> Self {
        Self { list, at: 0 }
    }

    pub fn peek(&self) -> Option<&(Event<'a>, Range<usize>)> {
        self.list.get(self.at)
    }

    pub const fn advance(&mut self) {
        self.at += 1;
    }

    fn next(&mut self) -> Option<(Event<'a>, Range<usize>)> {
        let next = self.peek().cloned();
        self.advance();
        next
    }
}

/// Something at the left of all rows of a block.
struct Prefix {
    /// In front of its first row.
    first: Option<Vec<Span<'static>>>,
    rest: Vec<Span<'static>>,
    /// The first is text: a bullet, a number.
    is_text: bool,
    columns: usize,
    /// Ground of the rows, from here to the right.
    ground: Option<Color>,
}

/// Code within the block that still grows, as it was read for the frame before: to read it again would take most of the next.
#[derive(Clone, Debug, Default)]
pub struct Memo {
    /// Where the block begins.
    pub at: usize,
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

/// Draws blocks below the rows that are there.
pub struct Painter<'a> {
    pub theme: &'a Theme,
    pub columns: usize,
    /// What the events were read from.
    pub slice: &'a str,
    /// Where it begins in the whole text.
    pub base: usize,
    pub rows: Vec<Row>,
    pub cards: Vec<Card>,
    /// Cards that stand before these.
    pub first_card: usize,
    prefixes: Vec<Prefix>,
    /// What text stands on.
    ground: Color,
    /// The role of text that has none of its own.
    text_role: Role,
    /// The quote that rows belong to.
    quote: Option<usize>,
    /// For a block that still grows.
    memo: Option<&'a mut Memo>,
}

impl<'a> Painter<'a> {
    pub fn new(theme: &'a Theme, columns: usize, first_card: usize, slice: &'a str, base: usize) -> Self {
        Self {
            theme,
            columns: columns.max(1),
            slice,
            base,
            rows: Vec::new(),
            cards: Vec::new(),
            first_card,
            prefixes: Vec::new(),
            ground: Color::Reset,
            text_role: Role::Text,
            quote: None,
            memo: None,
        }
    }

    /// What is read of code is kept there for the next time.
    pub fn remember(&mut self, memo: &'a mut Memo) {
        if memo.at != self.base {
            *memo = Memo { at: self.base, ..Memo::default() };
        }
        memo.next = 0;
        self.memo = Some(memo);
    }

    /// A role on the ground of the place.
    pub fn style(&self, role: Role) -> Style {
        self.theme.style_on(role, self.ground)
    }

    /// Columns that are left for text.
    pub fn room(&self) -> usize {
        let taken: usize = self.prefixes.iter().map(|prefix| prefix.columns).sum();
        self.columns.saturating_sub(taken).max(1)
    }

    /// Adds a row of the innermost block.
    pub fn emit(&mut self, mut row: Row) {
        // Left of a bullet the indentation tells how deep the list is nested, and is text like it.
        let mut is_item = false;
        for prefix in self.prefixes.iter_mut().rev() {
            match prefix.first.take() {
                Some(first) => {
                    row.prefix(&first, prefix.is_text);
                    is_item |= prefix.is_text;
                }
                None => row.prefix(&prefix.rest, is_item && prefix.is_text),
            }
            if let (Some(ground), None) = (prefix.ground, row.ground) {
                row.ground = Some((0, ground));
            }
        }
        if let (Some(card), None) = (self.quote, row.card) {
            row.card = Some(CardRow { card, part: CardPart::Body });
        }
        self.rows.push(row);
    }

    fn blank(&mut self, source: usize) {
        self.emit(Row::blank(source));
    }

    /// Adds lines of text.
    pub fn lines(&mut self, lines: &inline::Lines, source: usize) {
        for line in lines {
            for mut row in wrap::line(line, self.room(), Break::Words) {
                if line.is_empty() {
                    row.start = source;
                }
                self.emit(row);
            }
        }
    }

    fn within(&mut self, prefix: Prefix, draw: impl FnOnce(&mut Self)) {
        let fits = prefix.columns + LEAST_TEXT <= self.room();
        let empty =
            || Prefix { first: None, rest: Vec::new(), is_text: false, columns: 0, ground: prefix.ground };
        let prefix = if fits { prefix } else { empty() };
        self.prefixes.push(prefix);
        draw(self);
        self.prefixes.pop();
    }

    /// All blocks of these events, a blank row between them.
    pub fn document(&mut self, events: &mut Events<'_>) {
        let mut is_first = true;
        while events.peek().is_some() {
            let before = self.rows.len();
            if !is_first {
                self.blank(self.base);
            }
            let drawn = self.rows.len();
            self.block(events);
            let Some(start) = self.rows.get(drawn).map(|row| row.start) else {
                self.rows.truncate(before);
                continue;
            };
            // The blank row belongs to the block below it, as it does between blocks that are drawn one by one.
            if let Some(blank) = self.rows.get_mut(before).filter(|_| drawn > before) {
                blank.start = start;
            }
            is_first = false;
        }
    }

    /// Blocks up to the end of what holds them.
    fn children(&mut self, events: &mut Events<'_>, is_loose: bool) {
        let mut is_first = true;
        loop {
            match events.peek() {
                None => return,
                Some((Event::End(_), _)) => return events.advance(),
                Some((_, range)) => {
                    let source = self.base + range.start;
                    if !is_first && is_loose {
                        self.blank(source);
                    }
                    is_first = false;
                    self.block(events);
                }
            }
        }
    }

    fn block(&mut self, events: &mut Events<'_>) {
        let Some((event, range)) = events.peek().cloned() else { return };
        let source = self.base + range.start;
        match event {
            Event::Start(tag) => match tag {
                Tag::Paragraph => self.text(events, self.style(self.text_role), source),
                Tag::Heading { level, .. } => self.text(events, self.heading(level), source),
                Tag::BlockQuote(_) => self.quote(events, range),
                Tag::CodeBlock(kind) => self.code(events, &kind, source),
                Tag::HtmlBlock => self.html(events),
                Tag::List(number) => self.list(events, number, source),
                Tag::FootnoteDefinition(label) => self.footnote(events, &label),
                Tag::Table(alignments) => {
                    events.advance();
                    table::draw(events, self, &alignments, source);
                }
                Tag::Item
                | Tag::MetadataBlock(_)
                | Tag::DefinitionList
                | Tag::DefinitionListTitle
                | Tag::DefinitionListDefinition
                | Tag::TableHead
                | Tag::TableRow
                | Tag::TableCell => {
                    events.advance();
                    self.children(events, false);
                }
                Tag::Emphasis
                | Tag::Strong
                | Tag::Strikethrough
                | Tag::Superscript
                | Tag::Subscript
                | Tag::Link { .. }
                | Tag::Image { .. } => self.loose_text(events, source),
            },
            Event::Rule => {
                events.advance();
                let style = self.theme.style(Role::MdHr);
                let spans = vec![Span::styled("─".repeat(self.room()), style)];
                self.emit(Row { spans, start: source, is_decoration: true, ..Row::default() });
            }
            // Nothing that could begin a block.
            Event::End(_) => events.advance(),
            Event::Text(_)
            | Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::TaskListMarker(_) => self.loose_text(events, source),
        }
    }

    /// Text with a tag around it.
    fn text(&mut self, events: &mut Events<'_>, style: Style, source: usize) {
        events.advance();
        let lines = inline::read(events, self, style);
        events.advance();
        self.lines(&lines, source);
    }

    /// Text of a tight list item.
    fn loose_text(&mut self, events: &mut Events<'_>, source: usize) {
        let lines = inline::read(events, self, self.style(self.text_role));
        self.lines(&lines, source);
    }

    fn heading(&self, level: HeadingLevel) -> Style {
        let style = self.style(Role::MdHeading);
        match level {
            HeadingLevel::H1 => style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            HeadingLevel::H2 | HeadingLevel::H3 => style.add_modifier(Modifier::BOLD),
            HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => style.add_modifier(Modifier::ITALIC),
        }
    }

    fn quote(&mut self, events: &mut Events<'_>, range: Range<usize>) {
        events.advance();
        let source = self.base + range.start;
        let ground = self.theme.quote_ground();
        let known = (ground != Color::Reset).then_some(ground);
        let style = self.theme.style(Role::MdQuoteBorder);
        let bar = vec![Span::styled("▌ ", known.map_or(style, |ground| style.bg(ground)))];
        let prefix = Prefix { first: None, rest: bar, is_text: false, columns: 2, ground: known };
        let (outer_ground, outer_role, outer_quote) = (self.ground, self.text_role, self.quote);
        let is_outermost = outer_quote.is_none();
        if is_outermost {
            self.quote = Some(self.first_card + self.cards.len());
            self.cards.push(Card { kind: CardKind::Quote, text: String::new(), is_closed: true });
        }
        (self.ground, self.text_role) = (ground, Role::MdQuote);
        let begin = self.rows.len();
        self.within(prefix, |painter| {
            painter.children(events, true);
            if painter.rows.len() == begin {
                painter.blank(source);
            }
        });
        if is_outermost {
            let written = self.slice.get(range).filter(|_| self.prefixes.is_empty());
            let text = written.map_or_else(|| row::copy(self.rows.iter().skip(begin)), without_marks);
            let card = self.quote.and_then(|card| self.cards.get_mut(card.checked_sub(self.first_card)?));
            if let Some(card) = card {
                card.text = text;
            }
        }
        (self.ground, self.text_role, self.quote) = (outer_ground, outer_role, outer_quote);
    }

    fn code(&mut self, events: &mut Events<'_>, kind: &CodeBlockKind<'_>, source: usize) {
        events.advance();
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
        self.close_code(&code, at);
    }

    /// Begins a card of code: its first row.
    pub fn open_code(&mut self, info: &str, source: usize) -> Code {
        let language = info.split_whitespace().next().unwrap_or_default().to_owned();
        let card = self.first_card + self.cards.len();
        let highlighter = Highlighter::for_language(&language);
        let code = Code { card, lines: 0, language: language.clone(), highlighter };
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
        // Without a ground it would be a second blank row between the code and what follows.
        if self.theme.code_ground() != Color::Reset {
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

    /// Tags are shown as they are: nothing here could draw them.
    fn html(&mut self, events: &mut Events<'_>) {
        events.advance();
        while let Some((event, range)) = events.next() {
            match event {
                Event::Html(text) | Event::Text(text) => {
                    let mut at = self.base + range.start;
                    let text = text.strip_suffix('\n').unwrap_or(&text);
                    let style = self.style(Role::Muted);
                    for line in text.split('\n') {
                        self.lines(&vec![vec![Run::new(line, style, at)]], at);
                        at += line.len() + 1;
                    }
                }
                Event::End(TagEnd::HtmlBlock) => break,
                _ => {}
            }
        }
    }

    fn list(&mut self, events: &mut Events<'_>, mut number: Option<u64>, source: usize) {
        events.advance();
        let is_loose = is_loose(events);
        let mut is_first = true;
        loop {
            match events.next() {
                None | Some((Event::End(TagEnd::List(_)), _)) => return,
                Some((Event::Start(Tag::Item), range)) => {
                    if !is_first && is_loose {
                        self.blank(source);
                    }
                    is_first = false;
                    self.item(events, number, is_loose, self.base + range.start);
                    number = number.map(|number| number.saturating_add(1));
                }
                Some(_) => {}
            }
        }
    }

    fn item(&mut self, events: &mut Events<'_>, number: Option<u64>, is_loose: bool, source: usize) {
        let mark = number.map_or_else(|| "• ".to_owned(), |number| format!("{number}. "));
        let columns = width::of(&mark);
        let style = self.style(Role::MdListBullet);
        let prefix = Prefix {
            first: Some(vec![Span::styled(mark, style)]),
            rest: vec![Span::raw(" ".repeat(columns))],
            is_text: true,
            columns,
            ground: None,
        };
        let begin = self.rows.len();
        self.within(prefix, |painter| {
            painter.children(events, is_loose);
            if painter.rows.len() == begin {
                painter.blank(source);
            }
        });
    }

    fn footnote(&mut self, events: &mut Events<'_>, label: &str) {
        events.advance();
        let mark = format!("[^{label}] ");
        let style = self.style(Role::MdLink);
        let columns = width::of(&mark);
        let prefix = Prefix {
            first: Some(vec![Span::styled(mark, style)]),
            rest: vec![Span::raw(" ".repeat(columns))],
            is_text: true,
            columns,
            ground: None,
        };
        self.within(prefix, |painter| painter.children(events, true));
    }
}

/// A card of code that is being drawn.
#[derive(Clone, Debug)]
pub struct Code {
    pub card: usize,
    /// Lines so far.
    lines: usize,
    language: String,
    highlighter: Highlighter,
}

/// A quote as it was written, less one mark a line.
fn without_marks(quote: &str) -> String {
    let line = |line: &str| {
        let bare = line.trim_start_matches(' ');
        let inner = bare.strip_prefix('>').map(|inner| inner.strip_prefix(' ').unwrap_or(inner));
        inner.unwrap_or(bare).to_owned()
    };
    quote.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A list is loose when one of its items holds paragraphs.
fn is_loose(events: &Events<'_>) -> bool {
    let mut depth = 0_usize;
    for (event, _) in events.list.iter().skip(events.at) {
        match event {
            // Items stand at depth 0, what they hold at 1.
            Event::Start(Tag::Paragraph) if depth == 1 => return true,
            Event::Start(_) => depth += 1,
            Event::End(_) if depth == 0 => return false,
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    false
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
