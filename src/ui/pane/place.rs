//! Items as rows: laid out, kept, with the blank row above them.
//!
//! The blank row is the pane's and no part of a layout: whether there is one depends on the item above, and a layout
//! must not.

use super::is_open;
use crate::text::markdown::Card;
use crate::text::markdown::stream::MarkdownStream;
use crate::text::row::Row;
use crate::text::row_text::RowTexts;
use crate::theme::role::Role;
use crate::transcript::anchor::{Anchor, RowStarts};
use crate::transcript::conversation::{Conversation, is_blank};
use crate::transcript::item::{Body, Item, Prose, Thinking};
use crate::transcript::layout::{LayoutCache, LayoutKey, Weighed};
use crate::transcript::scroll::Rows;
use crate::ui::entries::{EntryCx, Layout, Moving};
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
}

impl Weighed for Laid {
    fn bytes(&self) -> usize {
        self.layout.bytes() + self.starts.len() * size_of::<usize>()
    }
}

/// Where the rows of a reply that streams begin, brought up to date by what is new.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Theme and columns.
    made_for: Option<(u64, usize)>,
    /// Rows that do not change any more.
    frozen: usize,
    starts: RowStarts,
    /// Made when somebody selects or searches here, and brought up to date from then on.
    texts: Option<RowTexts>,
}

impl Live {
    fn update(&mut self, rows: &[Row], frozen: usize, made_for: (u64, usize)) {
        if self.made_for != Some(made_for) || self.frozen > frozen {
            let texts = self.texts.as_ref().map(|_| RowTexts::new());
            *self = Self { made_for: Some(made_for), texts, ..Self::default() };
        }
        self.starts.truncate(self.frozen);
        if let Some(texts) = &mut self.texts {
            texts.truncate(self.frozen);
        }
        for row in rows.iter().skip(self.frozen) {
            self.starts.push(row.start);
            if let Some(texts) = &mut self.texts {
                texts.push(row);
            }
        }
        self.frozen = frozen;
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
        if matches!(item.body, Body::Reply(Prose::Live(_))) {
            return self.set_live(entry);
        }
        self.live.remove(&entry);
        let open = is_open(item, self.expanded, self.show_thinking);
        let key = self.key(entry, item, open);
        if let Some(laid) = self.layouts.find(&key) {
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
        let starts = RowStarts::new(layout.rows.iter().map(|row| row.start));
        let is_lasting = layout.next == NextDeadline::default();
        let laid = Arc::new(Laid { layout, starts, texts: OnceLock::new() });
        if is_lasting {
            self.layouts.keep(key, laid.clone());
        }
        What::Laid(laid)
    }

    fn key(&self, entry: usize, item: &Item, open: bool) -> LayoutKey {
        LayoutKey {
            entry,
            revision: item.revision,
            width: self.width,
            fold: u8::from(open) | u8::from(self.look.glyphs) << 1 | u8::from(self.look.motion) << 2,
            theme: self.look.theme.revision(),
        }
    }

    fn set_live(&mut self, entry: usize) -> What {
        let columns = self.reply_columns();
        let theme = self.look.theme;
        let Some(stream) = self.conversation.stream_mut(entry) else { return What::Nothing };
        stream.layout(theme, columns);
        if stream.rows().is_empty() {
            return What::Nothing;
        }
        let live = self.live.entry(entry).or_default();
        live.update(stream.rows(), stream.frozen_rows(), (theme.revision(), columns));
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

    /// Items stand apart, but calls that are one row stand together with the next call.
    fn gap_above(&mut self, entry: usize) -> bool {
        let items = self.conversation.items();
        let above = items.get(..entry).and_then(|above| above.iter().rposition(|item| !is_hidden(item)));
        let Some(above) = above else { return false };
        let is_call = |index: usize| items.get(index).is_some_and(|item| matches!(item.body, Body::Call(_)));
        if !(is_call(above) && is_call(entry)) {
            return true;
        }
        // Its own gap is not asked for: that would go up all the calls above it.
        match self.what(above) {
            What::Nothing | What::Live => false,
            What::Laid(laid) => laid.layout.rows.len() > 1,
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
                let Body::Reply(Prose::Live(stream)) = &self.conversation.items().get(entry)?.body else {
                    return None;
                };
                let live = self.live.get_mut(&entry)?;
                Some(with(stream.rows(), live.texts.get_or_insert_with(|| RowTexts::of(stream.rows()))))
            }
        }
    }

    /// The same of an item that is only passed by: what is not laid out anyway is laid out and forgotten. Whoever copies
    /// a long transcript would else drive all that is seen out of the cache.
    pub fn read_once<R>(&mut self, entry: usize, with: impl FnOnce(&[Row], &RowTexts) -> R) -> Option<R> {
        let item = self.conversation.items().get(entry).filter(|item| !is_hidden(item))?;
        let is_live = matches!(item.body, Body::Reply(Prose::Live(_)));
        let open = is_open(item, self.expanded, self.show_thinking);
        let is_kept = self.layouts.find(&self.key(entry, item, open)).is_some();
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
                rows: &laid.layout.rows,
                cards: &laid.layout.cards,
                indent: laid.layout.indent,
                mark: laid.layout.mark.clone(),
                moving: &laid.layout.moving,
                cx,
                next: laid.layout.next,
            }),
            What::Live => match &item.body {
                Body::Reply(Prose::Live(stream)) => Some(Painted {
                    rows: stream.rows(),
                    cards: stream.cards(),
                    indent: REPLY_INDENT.min(self.width.saturating_sub(1)),
                    mark: Some(self.reply_mark()),
                    moving: &[],
                    cx,
                    next: NextDeadline::default(),
                }),
                _ => None,
            },
        }
    }
}

/// In the place of a row the blank row is offset 0, and the text begins at 1: so the text that stands at the top stays
/// there when the blank row above it comes or goes.
impl Rows for Frame<'_> {
    fn count(&mut self, entry: usize) -> usize {
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
}

/// Nothing of it is drawn: models send line ends between calls, and providers withhold thinking.
pub(super) fn is_hidden(item: &Item) -> bool {
    match &item.body {
        Body::Reply(prose) => is_blank(prose.text()),
        Body::Thinking(Thinking { text, since: None, took: None, .. }) => is_blank(text.text()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Theme;

    /// What a frame costs beside laying out: the rows that it reads again.
    #[test]
    fn a_text_that_streams_costs_what_is_new() {
        let theme = Theme::quiet_dark();
        let (mut stream, mut live) = (MarkdownStream::new(), Live::default());
        let mut read = 0;
        for line in 0..2000 {
            stream.push(&format!("Paragraph {line} of a long reply.\n\n"));
            stream.layout(&theme, 40);
            read += stream.rows().len() - live.frozen;
            live.update(stream.rows(), stream.frozen_rows(), (theme.revision(), 40));
            assert_eq!(live.starts.len(), stream.rows().len());
        }
        assert!(read < 10 * stream.rows().len(), "{read}");
        assert_eq!(live.starts, RowStarts::new(stream.rows().iter().map(|row| row.start)));
    }
}
