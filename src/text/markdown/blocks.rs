//! Blocks to rows.

use super::Card;
use super::cards::Memo;
use super::inline;
use super::table;
use crate::text::row::{CardPart, CardRow, Row};
use crate::text::width;
use crate::text::wrap::{self, Break, Run};
use crate::theme::Theme;
use crate::theme::role::Role;
use pulldown_cmark::{Event, HeadingLevel, Tag, TagEnd};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use std::ops::Range;

/// Columns that are left for text however deep things are nested; beyond it indentation is dropped.
pub(super) const LEAST_TEXT: usize = 6;

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

    /// What comes, from the next one on.
    pub fn rest(&self) -> impl Iterator<Item = &(Event<'a>, Range<usize>)> {
        self.list.iter().skip(self.at)
    }

    pub fn next(&mut self) -> Option<(Event<'a>, Range<usize>)> {
        let next = self.peek().cloned();
        self.advance();
        next
    }
}

/// Something at the left of all rows of a block.
pub struct Prefix {
    /// In front of its first row.
    pub first: Option<Vec<Span<'static>>>,
    pub rest: Vec<Span<'static>>,
    /// The first is text: a bullet, a number.
    pub is_text: bool,
    pub columns: usize,
    /// Ground of the rows, from here to the right.
    pub ground: Option<Color>,
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
    pub(super) prefixes: Vec<Prefix>,
    /// What text stands on.
    pub(super) ground: Color,
    /// The role of text that has none of its own.
    pub(super) text_role: Role,
    /// The quote that rows belong to.
    pub(super) quote: Option<usize>,
    /// For a block that still grows.
    pub(super) memo: Option<&'a mut Memo>,
    /// Only the text of the cards is wanted: code is not read for its colours.
    pub is_plain: bool,
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
            is_plain: false,
        }
    }

    /// What is read of code is kept there for the next time.
    pub fn remember(&mut self, memo: &'a mut Memo) {
        memo.begin(self.base);
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

    pub(super) fn within(&mut self, prefix: Prefix, draw: impl FnOnce(&mut Self)) {
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
    pub(super) fn children(&mut self, events: &mut Events<'_>, is_loose: bool) {
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
                Tag::CodeBlock(kind) => self.code(events, &kind, range),
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

/// A list is loose when one of its items holds paragraphs.
fn is_loose(events: &Events<'_>) -> bool {
    let mut depth = 0_usize;
    for (event, _) in events.rest() {
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
