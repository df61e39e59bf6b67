//! Items as rows: laid out, kept, with the blank row above them.
//!
//! The blank row is the pane's and no part of a layout: whether there is one depends on the item above, and a layout
//! must not.

use super::folds::{Folds, InRun, Stand, is_thought_now};
use super::is_open;
use super::live::Live;
use crate::config::display::ThinkingStyle;
use crate::text::markdown::Card;
use crate::text::markdown::stream::MarkdownStream;
use crate::text::row::Row;
use crate::text::row_text::RowTexts;
use crate::theme::role::Role;
use crate::transcript::anchor::{Anchor, RowStarts};
use crate::transcript::conversation::Conversation;
use crate::transcript::item::{Body, Item, Prose, Thinking};
use crate::transcript::layout::{LayoutCache, LayoutKey, Weighed};
use crate::transcript::runs::Kind;
pub(super) use crate::transcript::runs::is_hidden;
use crate::transcript::scroll::Rows;
use crate::ui::entries::run::{self, Line};
use crate::ui::entries::{EntryCx, Layout, Moving, thinking};
use crate::ui::look::Look;
use crate::ui::scene::NextDeadline;
use ratatui::text::Span;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Columns left of a reply.
const REPLY_INDENT: u16 = 2;

/// A layout, and where its rows begin in the item's text.
#[derive(Debug)]
pub(super) struct Laid {
    pub layout: Layout,
    starts: RowStarts,
    /// Made when somebody selects or searches here.
    texts: OnceLock<RowTexts>,
    /// What a run adds to it.
    pub fold: Option<Folded>,
}

/// What a run adds to the rows of one of its items.
#[derive(Clone, Debug)]
pub(super) struct Folded {
    /// The first item of the run.
    pub run: usize,
    /// Columns left of the item's own mark and rows.
    pub lead: u16,
    /// What stands left of its rows, and in which column.
    pub rule: Option<(u16, Span<'static>)>,
    /// The first row is the line of the run.
    pub has_line: bool,
    /// The last row closes it.
    pub has_close: bool,
    /// The line moves.
    pub is_live: bool,
    /// The item's own rows are text alone, and there is nothing to open in them.
    pub is_text: bool,
}

impl Laid {
    fn new(layout: Layout, fold: Option<Folded>) -> Self {
        let starts = RowStarts::new(layout.rows.iter().map(|row| row.start));
        Self { layout, starts, texts: OnceLock::new(), fold }
    }

    /// The item's own rows.
    fn own_rows(&self) -> usize {
        let added =
            self.fold.as_ref().map_or(0, |fold| usize::from(fold.has_line) + usize::from(fold.has_close));
        self.layout.rows.len().saturating_sub(added)
    }
}

impl Weighed for Laid {
    fn bytes(&self) -> usize {
        self.layout.bytes() + self.starts.len() * size_of::<usize>()
    }
}

/// An item as it is placed in this frame.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// A blank row stands above it.
    pub gap: bool,
    what: What,
}

/// Its rows.
#[derive(Clone, Debug)]
pub(super) enum What {
    Nothing,
    Laid(Arc<Laid>),
    /// The rows are the stream's.
    Live,
}

/// What is painted of an item.
pub(super) struct Painted<'a> {
    pub rows: &'a [Row],
    pub cards: &'a [Card],
    pub indent: u16,
    pub mark: Option<Span<'static>>,
    pub moving: &'a [(usize, Arc<dyn Moving>)],
    /// What a run adds.
    pub fold: Option<&'a Folded>,
    /// What it was laid out for.
    pub cx: EntryCx<'a>,
    pub next: NextDeadline,
}

/// What one frame needs to place items.
pub(super) struct Frame<'a> {
    pub conversation: &'a mut Conversation,
    pub look: &'a Look<'a>,
    pub width: u16,
    /// The first row may be covered by the prompt that it belongs to.
    pub sticky_heading: bool,
    pub lay_out: &'a dyn Fn(&Item, &EntryCx<'_>) -> Layout,
    pub expanded: bool,
    pub show_thinking: bool,
    pub layouts: &'a mut LayoutCache<Laid>,
    pub live: &'a mut HashMap<usize, Live>,
    pub folds: &'a mut Folds,
    /// What was placed already. An item is asked about several times a frame, and one that changes by itself is not kept
    /// longer.
    pub placed: HashMap<usize, Placed>,
    /// What was laid out already, also for the sake of the item below.
    pub set: HashMap<usize, What>,
}

impl Frame<'_> {
    pub fn placed(&mut self, entry: usize) -> Placed {
        if let Some(placed) = self.placed.get(&entry) {
            return placed.clone();
        }
        let what = self.what(entry);
        let gap = !matches!(what, What::Nothing) && self.gap_above(entry);
        let placed = Placed { gap, what };
        self.placed.insert(entry, placed.clone());
        placed
    }

    /// What is thought now may show below the line of a closed run.
    const fn is_peeking(&self) -> bool {
        self.show_thinking && self.conversation.is_turn_running()
    }

    /// Items changed after they were placed.
    pub fn forget(&mut self) {
        self.placed.clear();
        self.set.clear();
    }

    pub fn what(&mut self, entry: usize) -> What {
        if let Some(what) = self.set.get(&entry) {
            return what.clone();
        }
        let what = self.set(entry);
        self.set.insert(entry, what.clone());
        what
    }

    /// Lays an item out, or finds its layout.
    fn set(&mut self, entry: usize) -> What {
        let Some(item) = self.conversation.items().get(entry) else { return What::Nothing };
        if is_hidden(item) {
            return What::Nothing;
        }
        let run = match self.stand(entry) {
            Stand::Away => return What::Nothing,
            Stand::Free => None,
            Stand::In(run) => Some(run),
        };
        let Some(item) = self.conversation.items().get(entry) else { return What::Nothing };
        let open = is_open(item, self.expanded, self.show_thinking);
        if run.is_none() && self.is_streamed(item, open) {
            return self.set_live(entry);
        }
        self.live.remove(&entry);
        let key = self.key(entry, item, open, run.as_ref());
        if let Some(laid) = self.layouts.find(&key) {
            return What::Laid(laid);
        }
        if let Some(run) = run {
            let laid = self.laid_in(item, &run);
            if laid.layout.rows.is_empty() {
                return What::Nothing;
            }
            let (is_lasting, laid) = (laid.layout.next == NextDeadline::default(), Arc::new(laid));
            if is_lasting {
                self.layouts.keep(key, laid.clone());
            }
            return What::Laid(laid);
        }
        let cx = EntryCx { look: self.look, width: self.width, open };
        let drawn = self.conversation.take_finished(entry);
        let Some(item) = self.conversation.items().get(entry) else { return What::Nothing };
        let layout = match drawn {
            Some(stream) => self.layout_of(*stream),
            None => (self.lay_out)(item, &cx),
        };
        if layout.rows.is_empty() {
            return What::Nothing;
        }
        let is_lasting = layout.next == NextDeadline::default();
        let laid = Arc::new(Laid::new(layout, None));
        if is_lasting {
            self.layouts.keep(key, laid.clone());
        }
        What::Laid(laid)
    }

    /// An item in a run: its own rows behind the rule, and what the run adds to them.
    fn laid_in(&self, item: &Item, run: &InRun) -> Laid {
        let is_hung = run.facts.is_hung;
        let outer = EntryCx { look: self.look, width: self.width, open: false };
        let inset = run::inset(is_hung, self.width);
        let is_thinking = matches!(item.body, Body::Thinking(_));
        // A line that tells nothing but thinking is the label of it already; so is any while the run is closed.
        let is_unlabelled = is_thinking && (run.facts.is_thinking() || !run.is_open);
        let is_live = matches!(item.body, Body::Thinking(Thinking { since: Some(_), .. }));
        let open = is_open(item, self.expanded, self.show_thinking);
        // What is thought now shows its newest rows, also where nothing of it is shown unless it is wished.
        let is_collapsed = self.look.display.thinking == ThinkingStyle::Collapsed;
        let open = if is_unlabelled { !is_live || is_collapsed } else { open };
        let inner = EntryCx { look: self.look, width: self.width - inset, open };
        let mut layout = if run.has_rows { (self.lay_out)(item, &inner) } else { Layout::default() };
        if is_unlabelled && layout.rows.first().is_some_and(|row| row.is_decoration) {
            layout.rows.remove(0);
            layout.mark = None;
            layout.moving.retain(|(row, _)| *row > 0);
            layout.moving.iter_mut().for_each(|(row, _)| *row -= 1);
            if layout.rows.is_empty() && !is_live {
                layout.rows.push(run::no_text(&inner));
            }
        }
        let lead = if run.has_rows && (run.is_open || is_thinking) { inset } else { 0 };
        let own = layout.rows.len();
        if run.is_first {
            let line = Arc::new(Line { facts: run.facts.clone(), is_open: run.is_open });
            let mut row = line.row(&outer, &mut NextDeadline::default());
            // Beside other rows it is no text: columns of text are counted from where those begin.
            row.is_decoration = own > 0 || run.is_open;
            layout.rows.insert(0, row);
            layout.moving.iter_mut().for_each(|(row, _)| *row += 1);
            if run.facts.is_live {
                layout.moving.push((0, line));
            }
        }
        let has_close = run.is_open && run.is_last;
        if has_close {
            let start = layout.rows.last().map_or(0, |row| row.start);
            layout.rows.push(run::close(is_hung, start, &outer));
        }
        layout.indent += lead;
        let fold = Folded {
            run: run.span.first,
            lead,
            rule: run::rule(is_hung, &outer).filter(|_| run.is_open),
            has_line: run.is_first,
            has_close,
            is_live: run.is_first && run.facts.is_live,
            is_text: is_unlabelled,
        };
        Laid::new(layout, Some(fold))
    }

    /// All that a layout depends on but the keymap. Whether all runs are lines, and what the footer counts, no layout knows.
    fn key(&self, entry: usize, item: &Item, open: bool, run: Option<&InRun>) -> LayoutKey {
        let thinking = match self.look.display.thinking {
            ThinkingStyle::Tail => 0_u8,
            ThinkingStyle::Collapsed => 1,
            ThinkingStyle::Full => 2,
        };
        LayoutKey {
            entry,
            revision: item.revision,
            width: self.width,
            fold: u8::from(open)
                | u8::from(self.look.glyphs) << 1
                | u8::from(self.look.motion) << 2
                | u8::from(self.look.display.other_tools) << 3
                | u8::from(self.look.display.chains) << 4
                | thinking << 5
                | u8::from(self.look.display.folded) << 7,
            theme: self.look.theme.revision(),
            run: run.map_or(0, InRun::key),
        }
    }

    /// The rows of an item are those of its stream: a reply, or thinking that is shown whole.
    fn is_streamed(&self, item: &Item, open: bool) -> bool {
        match &item.body {
            Body::Reply(Prose::Live(_)) => true,
            Body::Thinking(thinking) => thinking::is_streamed(thinking, self.look, open),
            _ => false,
        }
    }

    fn set_live(&mut self, entry: usize) -> What {
        let columns = self.reply_columns();
        let theme = self.look.theme;
        let is_thought =
            matches!(self.conversation.items().get(entry), Some(Item { body: Body::Thinking(_), .. }));
        let Some(stream) = self.conversation.stream_mut(entry) else { return What::Nothing };
        stream.layout(theme, columns);
        if stream.rows().is_empty() {
            return What::Nothing;
        }
        let live = self.live.entry(entry).or_default();
        let thought = |row: &Row| thinking::thought(row.clone(), theme);
        let dress: Option<&dyn Fn(&Row) -> Row> = if is_thought { Some(&thought) } else { None };
        live.update(stream.rows(), stream.frozen_rows(), (theme.revision(), columns), dress);
        What::Live
    }

    fn reply_columns(&self) -> usize {
        usize::from(self.width.saturating_sub(REPLY_INDENT)).max(1)
    }

    fn reply_mark(&self) -> Span<'static> {
        Span::styled("●", self.look.theme.style(Role::Text))
    }

    /// A reply that was drawn while it streamed is laid out already, but for its end. To do it all again, code and its
    /// colours included, would hold up the frame in which a long reply ends.
    fn layout_of(&self, mut stream: MarkdownStream) -> Layout {
        stream.finish();
        stream.layout(self.look.theme, self.reply_columns());
        let document = stream.into_document();
        Layout {
            rows: document.rows,
            cards: document.cards,
            indent: REPLY_INDENT.min(self.width.saturating_sub(1)),
            mark: Some(self.reply_mark()),
            ..Layout::default()
        }
    }

    /// Items stand apart, but calls that are one row stand together with the next call, the line of a run with the reply
    /// that it hangs under, and thinking with the words that it led to.
    fn gap_above(&mut self, entry: usize) -> bool {
        let stand = self.stand(entry);
        let Some(above) = self.drawn_above(entry) else { return false };
        if let Stand::In(run) = &stand {
            if run.is_first {
                return !run.facts.is_hung;
            }
            let is_work = self.folds.runs.kind(entry) == Kind::Work;
            if !run.is_open && is_work {
                return false;
            }
            if is_work && above == run.span.first && self.own_rows(above) == 0 {
                return false;
            }
        }
        let is_reply =
            self.conversation.items().get(entry).is_some_and(|item| matches!(item.body, Body::Reply(_)));
        if let (true, Stand::In(run)) = (is_reply, self.stand(above)) {
            return !run.facts.is_thinking();
        }
        let items = self.conversation.items();
        let is_call = |index: usize| items.get(index).is_some_and(|item| matches!(item.body, Body::Call(_)));
        if !(is_call(above) && is_call(entry)) {
            return true;
        }
        // Its own gap is not asked for: that would go up all the calls above it.
        self.own_rows(above) > 1
    }

    /// The item above that has rows.
    fn drawn_above(&mut self, entry: usize) -> Option<usize> {
        let mut end = entry;
        loop {
            let items = self.conversation.items().get(..end)?;
            let above = items.iter().rposition(|item| !is_hidden(item))?;
            match self.stand(above) {
                Stand::Free | Stand::In(_) => return Some(above),
                Stand::Away => {
                    // All between have no rows either, but for what is told without being work.
                    let first = self.folds.closed(above).map_or(above, |run| run.first);
                    let told = self.folds.runs.last_told(first + 1..above).filter(|_| first < above);
                    if told.is_some() {
                        return told;
                    }
                    end = if first == above { above } else { first + 1 };
                }
            }
        }
    }

    /// Rows of an item beside what a run adds.
    pub fn own_rows(&mut self, entry: usize) -> usize {
        match self.what(entry) {
            What::Nothing | What::Live => 0,
            What::Laid(laid) => laid.own_rows(),
        }
    }

    fn starts<'a>(&'a self, entry: usize, what: &'a What) -> Option<&'a RowStarts> {
        match what {
            What::Nothing => None,
            What::Laid(laid) => Some(&laid.starts),
            What::Live => self.live.get(&entry).map(|live| &live.starts),
        }
    }

    /// Columns left of an item's rows.
    pub fn indent(&mut self, entry: usize) -> u16 {
        match self.what(entry) {
            What::Nothing => 0,
            What::Laid(laid) => laid.layout.indent.min(self.width),
            What::Live => REPLY_INDENT.min(self.width.saturating_sub(1)),
        }
    }

    /// Rows and text of an item; nothing of one that is not drawn.
    pub fn read<R>(&mut self, entry: usize, with: impl FnOnce(&[Row], &RowTexts) -> R) -> Option<R> {
        match self.what(entry) {
            What::Nothing => None,
            What::Laid(laid) => {
                let rows = &laid.layout.rows;
                Some(with(rows, laid.texts.get_or_init(|| RowTexts::of(rows))))
            }
            What::Live => {
                let stream = stream_of(self.conversation.items().get(entry)?)?;
                let live = self.live.get_mut(&entry)?;
                Some(with(stream.rows(), live.texts.get_or_insert_with(|| RowTexts::of(stream.rows()))))
            }
        }
    }

    /// The same of an item that is only passed by: what is not laid out anyway is laid out and forgotten. Whoever copies
    /// a long transcript would else drive all that is seen out of the cache.
    pub fn read_once<R>(&mut self, entry: usize, with: impl FnOnce(&[Row], &RowTexts) -> R) -> Option<R> {
        let item = self.conversation.items().get(entry).filter(|item| !is_hidden(item))?;
        let open = is_open(item, self.expanded, self.show_thinking);
        let is_live = self.is_streamed(item, open);
        let is_in_run = self.folds.is_on && self.folds.runs.at(entry).is_some();
        let is_kept = self.layouts.find(&self.key(entry, item, open, None)).is_some();
        if is_in_run {
            let run = match self.stand(entry) {
                Stand::In(run) => run,
                Stand::Away | Stand::Free => return None,
            };
            if self.set.contains_key(&entry) {
                return self.read(entry, with);
            }
            let rows = self.laid_in(self.conversation.items().get(entry)?, &run).layout.rows;
            return (!rows.is_empty()).then(|| with(&rows, &RowTexts::of(&rows)));
        }
        if is_live || is_kept || self.set.contains_key(&entry) || self.conversation.is_finished_kept(entry) {
            return self.read(entry, with);
        }
        let cx = EntryCx { look: self.look, width: self.width, open };
        let rows = (self.lay_out)(item, &cx).rows;
        (!rows.is_empty()).then(|| with(&rows, &RowTexts::of(&rows)))
    }

    /// What to paint of an item that was placed.
    pub fn painted<'a>(&'a self, entry: usize, placed: &'a Placed) -> Option<Painted<'a>> {
        let item = self.conversation.items().get(entry)?;
        let open = is_open(item, self.expanded, self.show_thinking);
        let cx = EntryCx { look: self.look, width: self.width, open };
        match &placed.what {
            What::Nothing => None,
            What::Laid(laid) => Some(Painted {
                fold: laid.fold.as_ref(),
                rows: &laid.layout.rows,
                cards: &laid.layout.cards,
                indent: laid.layout.indent,
                mark: laid.layout.mark.clone(),
                moving: &laid.layout.moving,
                cx: EntryCx {
                    width: self.width - laid.fold.as_ref().map_or(0, |fold| fold.lead).min(self.width),
                    ..cx
                },
                next: laid.layout.next,
            }),
            What::Live => {
                let (stream, live) = (stream_of(item)?, self.live.get(&entry)?);
                let is_thought = matches!(item.body, Body::Thinking(_));
                Some(Painted {
                    rows: if is_thought { &live.dressed } else { stream.rows() },
                    cards: stream.cards(),
                    indent: REPLY_INDENT.min(self.width.saturating_sub(1)),
                    mark: Some(if is_thought { thinking::mark(self.look.theme) } else { self.reply_mark() }),
                    moving: &[],
                    fold: None,
                    cx,
                    next: NextDeadline::default(),
                })
            }
        }
    }
}

/// The stream of a text that is not whole.
fn stream_of(item: &Item) -> Option<&MarkdownStream> {
    match &item.body {
        Body::Reply(Prose::Live(stream)) | Body::Thinking(Thinking { text: Prose::Live(stream), .. }) => {
            Some(stream)
        }
        _ => None,
    }
}

/// In the place of a row the blank row is offset 0, and the text begins at 1: so the text that stands at the top stays
/// there when the blank row above it comes or goes.
impl Rows for Frame<'_> {
    fn count(&mut self, entry: usize) -> usize {
        // There may be thousands of them, and what they are is known.
        let is_peeked =
            self.show_thinking && self.conversation.items().get(entry).is_some_and(is_thought_now);
        if !is_peeked && self.folds.is_away(entry) {
            return 0;
        }
        let placed = self.placed(entry);
        self.starts(entry, &placed.what).map_or(0, |starts| starts.len() + usize::from(placed.gap))
    }

    fn anchor(&mut self, entry: usize, row: usize) -> Anchor {
        let placed = self.placed(entry);
        match self.starts(entry, &placed.what) {
            Some(starts) if row > 0 || !placed.gap => {
                let anchor = starts.anchor(entry, row - usize::from(placed.gap));
                Anchor { offset: anchor.offset + 1, ..anchor }
            }
            Some(_) | None => Anchor { entry, offset: 0, bias: 0 },
        }
    }

    fn row(&mut self, anchor: Anchor) -> usize {
        let placed = self.placed(anchor.entry);
        match (self.starts(anchor.entry, &placed.what), anchor.offset.checked_sub(1)) {
            (Some(starts), Some(offset)) => starts.row(Anchor { offset, ..anchor }) + usize::from(placed.gap),
            (Some(_), None) | (None, _) => 0,
        }
    }

    fn from(&mut self, entry: usize) -> usize {
        self.folds.rows_from(entry, self.is_peeking())
    }

    fn until(&mut self, end: usize) -> usize {
        self.folds.rows_until(end, self.is_peeking())
    }
}
