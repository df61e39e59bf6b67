//! A Markdown text that grows.
//!
//! Responsibility: rows for all of the text at any time, laying out again only what can still change.
//!
//! Invariants:
//! - The rows are a function of the text, the theme, the width and whether more is to come, never of the pieces it came in.
//! - Rows below [`MarkdownStream::frozen_rows`] do not change while text is appended.
//! - A block is frozen when another one has begun below it whose first line is whole, or whose second is where no blank
//!   line stands between. Between a link definition and a block right below it nothing is frozen: the title of the
//!   definition may go on.
//! - Code in an open fence is read a line at a time and each line once, so that long code costs what it is long.

use super::blocks::{Events, Painter};
use super::cards::{Code, Memo};
use super::{Card, Document, options, unfinished};
use crate::text::clean;
use crate::text::row::Row;
use crate::text::wrap::Run;
use crate::theme::Theme;
use crate::theme::role::Role;
use pulldown_cmark::{BrokenLink, CowStr, Event, Parser, Tag};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A Markdown text that grows.
#[derive(Clone, Debug, Default)]
pub struct MarkdownStream {
    source: String,
    /// The last character was a carriage return: a newline behind it belongs to it.
    after_return: bool,
    /// More is to come: marks at the end may be half of a pair.
    is_growing: bool,
    /// Revision of the theme, and width, of what is laid out.
    made_for: Option<(u64, usize)>,
    /// Bytes that are laid out.
    made_to: usize,
    document: Document,
    frozen: Frozen,
    memo: Memo,
    /// Only the text of the cards is wanted.
    is_plain: bool,
}

/// What is laid out for good.
#[derive(Clone, Debug, Default)]
struct Frozen {
    rows: usize,
    cards: usize,
    bytes: usize,
    /// Link definitions by their label: address.
    definitions: HashMap<String, String>,
    /// The fence that is open at the end of it.
    fence: Option<OpenFence>,
}

#[derive(Clone, Debug)]
struct OpenFence {
    fence: Fence,
    code: Code,
    /// Bytes of the card's text that are whole lines.
    text: usize,
}

/// The line that begins a block of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
    /// Blanks before it: as many are taken from each line.
    indent: usize,
}

/// A top-level block: its bytes, from the begin of its first line.
struct Block {
    range: Range<usize>,
    is_fence: bool,
}

impl MarkdownStream {
    /// Without text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Without text, of which more is to come until [`MarkdownStream::finish`]: what is open at its end is drawn as if it were
    /// closed.
    pub fn growing() -> Self {
        Self { is_growing: true, ..Self::default() }
    }

    /// Without text, of which only the cards' text is wanted.
    pub(super) fn plain() -> Self {
        Self { is_plain: true, ..Self::default() }
    }

    /// No more text comes: its end is drawn as it is.
    pub const fn finish(&mut self) {
        if self.is_growing {
            self.is_growing = false;
            // Only what is not frozen is laid out again.
            self.made_to = usize::MAX;
        }
    }

    /// Appends text. Line ends become newlines; what could steer a terminal is left out.
    pub fn push(&mut self, text: &str) {
        for c in text.chars() {
            let is_second = std::mem::replace(&mut self.after_return, c == '\r') && c == '\n';
            match c {
                '\r' => self.source.push('\n'),
                c if is_second || clean::is_unsafe(c) => {}
                c => self.source.push(c),
            }
        }
    }

    /// The text so far. Rows name its bytes.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// From the top, as of the last [`MarkdownStream::layout`].
    pub fn rows(&self) -> &[Row] {
        &self.document.rows
    }

    /// What can be copied as a whole.
    pub fn cards(&self) -> &[Card] {
        &self.document.cards
    }

    /// Rows from the top that no further text changes.
    pub const fn frozen_rows(&self) -> usize {
        self.frozen.rows
    }

    /// The rows and cards alone.
    pub fn into_document(self) -> Document {
        self.document
    }

    /// Brings the rows up to date. Costs nothing when nothing changed, all of it when the theme or the width did, else
    /// what is not frozen yet.
    pub fn layout(&mut self, theme: &Theme, columns: usize) {
        let wanted = Some((theme.revision(), columns));
        if self.made_for != wanted {
            self.document = Document::default();
            self.frozen = Frozen::default();
            self.made_to = 0;
        } else if self.made_to == self.source.len() {
            return;
        }
        self.made_for = wanted;
        self.made_to = self.source.len();
        self.document.rows.truncate(self.frozen.rows);
        self.document.cards.truncate(self.frozen.cards);
        loop {
            if self.frozen.fence.is_some() {
                if !self.fence_lines(theme, columns) {
                    return;
                }
            } else if !self.blocks(theme, columns) {
                return;
            }
        }
    }

    /// Reads the whole lines of the open fence, and draws the one that is not whole. False when the text is used up.
    fn fence_lines(&mut self, theme: &Theme, columns: usize) -> bool {
        let Some(OpenFence { fence, mut code, text }) = self.frozen.fence.take() else { return true };
        let begin = self.frozen.bytes;
        let rest = self.source.get(begin..).unwrap_or_default();
        let mut painter = Painter::new(theme, columns, 0, rest, begin);
        painter.is_plain = self.is_plain;
        // The card is there already, and grows. A line that was not whole is read again.
        painter.cards = std::mem::take(&mut self.document.cards);
        if let Some(card) = painter.cards.get_mut(code.card) {
            card.text.truncate(text);
            card.is_closed = false;
        }
        let mut at = begin;
        let mut is_closed = false;
        let mut partial = None;
        for line in rest.split_inclusive('\n') {
            let Some(whole) = line.strip_suffix('\n') else {
                partial = Some(line);
                break;
            };
            let line_begin = at;
            at += line.len();
            if fence.is_closed_by(whole) {
                painter.close_code(&code, line_begin);
                is_closed = true;
                break;
            }
            painter.code_line(&mut code, fence.content(whole), line_begin);
        }
        self.document.rows.append(&mut painter.rows);
        self.frozen.bytes = at;
        self.frozen.rows = self.document.rows.len();
        self.frozen.cards = painter.cards.len();
        if is_closed {
            self.document.cards = painter.cards;
            return true;
        }
        let text = painter.cards.get(code.card).map_or(0, |card| card.text.len());
        self.frozen.fence = Some(OpenFence { fence, code: code.clone(), text });
        if let Some(partial) = partial {
            if fence.is_closed_by(partial) {
                painter.close_code(&code, at);
            } else {
                painter.code_line(&mut code, fence.content(partial), at);
            }
            self.document.rows.append(&mut painter.rows);
        }
        self.document.cards = painter.cards;
        false
    }

    /// Draws the blocks behind what is frozen, and freezes those that are whole. False when the text is used up.
    fn blocks(&mut self, theme: &Theme, columns: usize) -> bool {
        let base = self.frozen.bytes;
        let source = std::mem::take(&mut self.source);
        let tail = source.get(base..).unwrap_or_default();
        let blocks = top_level(tail);
        let settled = settled(tail, &blocks);
        let mut definitions = self.frozen.definitions.clone();
        let mut goes_on = false;
        for (index, block) in blocks.iter().enumerate() {
            if index == settled {
                self.freeze(base + block.range.start, &definitions);
            }
            let slice = tail.get(block.range.clone()).unwrap_or_default();
            let at = base + block.range.start;
            let is_last = index + 1 == blocks.len();
            if !block.is_fence {
                let grows = is_last && self.is_growing;
                let mended = if grows { unfinished::mended(slice) } else { None };
                let slice = mended.as_deref().unwrap_or(slice);
                // Taken out, so that it can be written to beside the document.
                let mut memo = std::mem::take(&mut self.memo);
                self.slice(theme, columns, slice, at, &mut definitions, grows.then_some(&mut memo));
                self.memo = memo;
                continue;
            }
            let (open, used) = self.fence_slice(theme, columns, slice, at, is_last && settled >= index);
            if let Some(open) = open {
                self.freeze(at + used, &definitions);
                self.frozen.fence = Some(open);
                goes_on = true;
            } else if let Some(rest) = slice.get(used..).filter(|rest| !rest.is_empty()) {
                self.slice(theme, columns, rest, at + used, &mut definitions, None);
            }
        }
        if blocks.is_empty() {
            self.slice(theme, columns, tail, base, &mut definitions, None);
        }
        self.source = source;
        goes_on
    }

    fn freeze(&mut self, bytes: usize, definitions: &HashMap<String, String>) {
        self.frozen.rows = self.document.rows.len();
        self.frozen.cards = self.document.cards.len();
        self.frozen.bytes = bytes;
        self.frozen.definitions.clone_from(definitions);
    }

    /// Adds the rows of a block, a blank one above them.
    fn add(&mut self, rows: Vec<Row>) {
        if let (Some(first), false) = (rows.first(), self.document.rows.is_empty()) {
            self.document.rows.push(Row::blank(first.start));
        }
        self.document.rows.extend(rows);
    }

    /// Draws one block, and the link definitions around it.
    fn slice(
        &mut self,
        theme: &Theme,
        columns: usize,
        slice: &str,
        at: usize,
        definitions: &mut HashMap<String, String>,
        memo: Option<&mut Memo>,
    ) {
        let known = |link: BrokenLink<'_>| {
            let url = definitions.get(&label(&link.reference))?;
            Some((CowStr::from(url.clone()), CowStr::from("")))
        };
        let parser = Parser::new_with_broken_link_callback(slice, options(), Some(known));
        let mut own: Vec<_> = parser
            .reference_definitions()
            .iter()
            .map(|(name, definition)| (definition.span.clone(), name.to_owned(), definition.dest.to_string()))
            .collect();
        own.sort_by_key(|(span, ..)| span.start);
        let events: Vec<_> = parser.into_offset_iter().collect();
        let spans = block_spans(&events);
        let mut painter = Painter::new(theme, columns, self.document.cards.len(), slice, at);
        painter.is_plain = self.is_plain;
        if let Some(memo) = memo {
            painter.remember(memo);
        }
        painter.document(&mut Events::new(events));
        let (rows, mut cards) = (std::mem::take(&mut painter.rows), std::mem::take(&mut painter.cards));
        // Those within a block are not shown: their place is not known any more.
        let outside = |span: &Range<usize>| !spans.iter().any(|block| block.contains(&span.start));
        let begin = spans.first().map_or(usize::MAX, |span| span.start);
        let lines = |painter: &mut Painter<'_>, is_before: bool| {
            for (span, name, url) in own.iter().filter(|(span, ..)| outside(span)) {
                if (span.start < begin) != is_before {
                    continue;
                }
                let source = at + span.start;
                let link: Arc<str> = url.as_str().into();
                let style = painter.style(Role::MdLinkUrl);
                let runs = vec![
                    Run::new(format!("[{name}]: "), style, source),
                    Run { text: url.clone(), style, link: Some(link), source },
                ];
                painter.lines(&vec![runs], source);
            }
            std::mem::take(&mut painter.rows)
        };
        for part in [lines(&mut painter, true), rows, lines(&mut painter, false)] {
            self.add(part);
        }
        self.document.cards.append(&mut cards);
        for (_, name, url) in own {
            definitions.entry(label(&name)).or_insert(url);
        }
    }

    /// Draws a block of fenced code, and tells how much it used. With `goes_on` only its first line, if that is whole:
    /// the rest is read by [`Self::fence_lines`].
    fn fence_slice(
        &mut self,
        theme: &Theme,
        columns: usize,
        slice: &str,
        at: usize,
        goes_on: bool,
    ) -> (Option<OpenFence>, usize) {
        let mut painter = Painter::new(theme, columns, self.document.cards.len(), slice, at);
        painter.is_plain = self.is_plain;
        let mut used = 0;
        let mut open: Option<(Fence, Code)> = None;
        let mut left = None;
        for line in slice.split_inclusive('\n') {
            let line_begin = at + used;
            let text = line.strip_suffix('\n').unwrap_or(line);
            used += line.len();
            match &mut open {
                None => {
                    let Some((fence, info)) = Fence::opened_by(text) else { continue };
                    let code = painter.open_code(info, line_begin);
                    if goes_on && line.ends_with('\n') {
                        left = Some(OpenFence { fence, code, text: 0 });
                        break;
                    }
                    open = Some((fence, code));
                }
                Some((fence, code)) => {
                    if fence.is_closed_by(text) {
                        painter.close_code(code, line_begin);
                        break;
                    }
                    painter.code_line(code, fence.content(text), line_begin);
                }
            }
        }
        self.add(painter.rows);
        self.document.cards.append(&mut painter.cards);
        (left, used)
    }
}

impl Fence {
    /// The fence that a line begins, and the words behind it.
    fn opened_by(line: &str) -> Option<(Self, &str)> {
        let bare = line.trim_start_matches(' ');
        let indent = line.len() - bare.len();
        let mark = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = bare.trim_start_matches(mark);
        let length = bare.len() - info.len();
        (indent < 4 && length >= 3 && (mark == '~' || !info.contains('`')))
            .then_some((Self { mark, length, indent }, info.trim()))
    }

    fn is_closed_by(self, line: &str) -> bool {
        let bare = line.trim_start_matches(' ');
        let rest = bare.trim_start_matches(self.mark);
        line.len() - bare.len() < 4 && bare.len() - rest.len() >= self.length && rest.trim().is_empty()
    }

    /// A line within, less the blanks that stand before the fence.
    fn content(self, line: &str) -> &str {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        line.get(blanks.min(self.indent)..).unwrap_or(line)
    }
}

/// Labels of links are compared without case and with single blanks.
fn label(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// What the top-level blocks among the events span.
fn block_spans(events: &[(Event<'_>, Range<usize>)]) -> Vec<Range<usize>> {
    let mut depth = 0_usize;
    let mut spans = Vec::new();
    for (event, range) in events {
        match event {
            Event::Start(_) => {
                if depth == 0 {
                    spans.push(range.clone());
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ if depth == 0 => spans.push(range.clone()),
            _ => {}
        }
    }
    spans
}

/// Cuts a text at the begins of the lines where its top-level blocks begin.
fn top_level(text: &str) -> Vec<Block> {
    let mut found: Vec<(Range<usize>, bool)> = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        let is_begin = depth == 0;
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if is_begin && !matches!(event, Event::End(_)) {
            let is_fence = matches!(&event, Event::Start(Tag::CodeBlock(kind)) if kind.is_fenced());
            found.push((range, is_fence));
        }
    }
    let line_begin = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        before.rfind('\n').map_or(0, |newline| newline + 1)
    };
    let mut blocks: Vec<Block> = Vec::with_capacity(found.len());
    for (range, is_fence) in found {
        let begin = line_begin(range.start);
        match blocks.last_mut() {
            // Two blocks in one line can't be cut apart.
            Some(last) if begin <= last.range.start => {
                last.is_fence = false;
                continue;
            }
            Some(last) => last.range.end = begin,
            // Definitions above the first block are cut off like one.
            None if text.get(..begin).is_some_and(|above| !super::is_blank(above)) => {
                blocks.push(Block { range: 0..begin, is_fence: false });
            }
            None => {}
        }
        let first_line = text.get(begin..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let is_fence = is_fence && Fence::opened_by(first_line).is_some();
        let begin = if blocks.is_empty() { 0 } else { begin };
        blocks.push(Block { range: begin..text.len(), is_fence });
    }
    blocks
}

/// How many blocks from the first can't change any more.
fn settled(text: &str, blocks: &[Block]) -> usize {
    let is_settled = |block: &Block| {
        let begin = block.range.start;
        let before = text.get(..begin).unwrap_or_default();
        // Right below other text it may be a table, which is one only when its second line is whole.
        let lines = if before.lines().next_back().is_some_and(|line| !super::is_blank(line)) { 2 } else { 1 };
        let is_whole = text.get(begin..).is_some_and(|rest| rest.matches('\n').take(lines).count() == lines);
        // What looks like a definition may be one whose title goes on; a blank line ends it. The parser lists only the
        // first of each label, so it can't be asked.
        let above = before.lines().rev();
        let touches = above.take_while(|line| !super::is_blank(line)).any(begins_definition);
        is_whole && !touches
    };
    (1..blocks.len()).rev().find(|index| blocks.get(*index).is_some_and(is_settled)).unwrap_or(0)
}

fn begins_definition(line: &str) -> bool {
    line.trim_start_matches(|c: char| c.is_whitespace() || c == '>').starts_with('[') && line.contains("]:")
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
