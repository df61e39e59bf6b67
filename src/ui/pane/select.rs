//! What is selected in the window: from presses, drags and keys to places in the content, and from there to a copy.
//!
//! Responsibility: which text is under the pointer, the window that scrolls under a pointer held at its edge, the copy.
//! Not: what a press means beside that (see `app::update::mouse`).
//!
//! Invariants: while a button is held, nothing but the user moves the window; without a held button there is no timer;
//! a frame reads the visible items and those at both ends of the selection, however long it is.

use super::place::Frame;
use super::travel::Travel;
use super::{Pane, Setter, text};
use crate::text::row::Row;
use crate::text::row_text::RowTexts;
use crate::text::words;
use crate::transcript::anchor::TextPoint;
use crate::transcript::conversation::Conversation;
use crate::transcript::item::Body;
use crate::transcript::scroll::Slice;
use crate::transcript::select::{Pieces, Pin, Selection, Span, Unit};
use crate::ui::entries;
use crate::ui::look::Look;
use crate::ui::scene::NextDeadline;
use ratatui::layout::{Position, Rect};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How often the window scrolls under a pointer held at its edge.
const STEP: Duration = Duration::from_millis(50);

/// The most rows of one such step: far out it is fast, but one still sees what goes by.
const FASTEST: u16 = 8;

/// What is selected, and the button that does it.
#[derive(Debug, Default)]
pub(super) struct Selecting {
    pub selection: Option<Selection>,
    /// Both spans of the selection with their surroundings, in the order `origin.from`, `origin.to`, `head.from`, `head.to`.
    pins: Option<[Pin; 4]>,
    /// Where the last press was: the origin of a drag, and of what shift extends.
    mark: Option<(Unit, Span)>,
    held: Option<Held>,
    /// The column that keys up and down keep to.
    column: Option<usize>,
}

/// A button that is held.
#[derive(Clone, Copy, Debug)]
struct Held {
    pressed: Position,
    at: Position,
    /// The pointer has left the cell: this is a drag.
    drags: bool,
    /// The pointer has left the row. Only then the row at the edge scrolls: else nothing in it could be selected.
    left_row: bool,
    /// The pointer or the window has moved since the end was found.
    is_stale: bool,
    /// The window followed the end when the button went down, and was not moved since.
    follows: bool,
    /// When the window scrolls next, while the pointer is at the edge.
    step_at: Option<Instant>,
}

impl Held {
    fn move_to(&mut self, at: Position) {
        self.is_stale |= at != self.at;
        self.at = at;
        self.drags |= at != self.pressed;
        self.left_row |= at.y != self.pressed.y;
    }

    /// Rows to scroll at this place in a step, up if negative.
    fn pull(&self, area: Rect) -> isize {
        let last = area.bottom().saturating_sub(1);
        let (rows, is_up) = if self.at.y <= area.y {
            ((area.y - self.at.y).saturating_add(1), true)
        } else if self.at.y >= last {
            ((self.at.y - last).saturating_add(1), false)
        } else {
            return 0;
        };
        if !self.drags || (rows == 1 && !self.left_row) {
            return 0;
        }
        let rows = isize::try_from(rows.min(FASTEST)).unwrap_or(1);
        if is_up { -rows } else { rows }
    }
}

/// Where a key brings the end of a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// A character back.
    Left,
    /// A character on.
    Right,
    /// The row above.
    Up,
    /// The row below.
    Down,
    /// A word back.
    WordLeft,
    /// A word on.
    WordRight,
    /// The start of the line, as it was written.
    LineStart,
    /// Its end.
    LineEnd,
}

/// A copy that is being put together. One of a whole long session takes seconds: it is done in parts, between which
/// the program lives on.
#[derive(Debug)]
pub struct Gather {
    selection: Selection,
    next: usize,
    pieces: Pieces,
    generation: u64,
}

impl Gather {
    /// How much of it is done, in hundredths.
    pub fn percent(&self) -> usize {
        let (from, to) = self.selection.ends();
        (self.next - from.item) * 100 / (to.item + 1 - from.item)
    }
}

/// What a part of the work gave.
#[derive(Debug)]
pub enum Gathered {
    /// The text is whole.
    Whole(String),
    /// There is more to do.
    Part(Box<Gather>),
    /// What was selected is gone: another session was opened.
    Gone,
}

impl Pane {
    /// A button goes down at a cell: selects a word or a line there, or remembers the character. `extends`: what is
    /// selected goes up to there.
    pub fn press(
        &mut self,
        conversation: &mut Conversation,
        look: &Look<'_>,
        at: Position,
        unit: Unit,
        extends: bool,
    ) {
        self.press_with(SETTER, conversation, look, at, unit, extends);
    }

    pub(super) fn press_with(
        &mut self,
        setter: Setter<'_>,
        conversation: &mut Conversation,
        look: &Look<'_>,
        at: Position,
        unit: Unit,
        extends: bool,
    ) {
        let follows = self.scroll.is_following();
        self.with_frame(setter, conversation, look, |frame, shown, area, selecting| {
            selecting.held = Some(Held {
                pressed: at,
                at,
                drags: false,
                left_row: false,
                is_stale: false,
                follows,
                step_at: None,
            });
            selecting.column = None;
            let before = selecting.selection.filter(|_| extends);
            let mark = selecting.mark.filter(|_| extends);
            if let Some(selection) =
                before.or_else(|| mark.map(|(unit, origin)| Selection::new(unit, origin)))
            {
                if let Some(head) = span_at(frame, shown, area, at, selection.unit) {
                    selecting.select(Some(Selection { head, ..selection }), frame);
                }
                return;
            }
            let origin = span_at(frame, shown, area, at, unit);
            selecting.mark = origin.map(|origin| (unit, origin));
            let selection =
                origin.filter(|_| unit != Unit::Character).map(|origin| Selection::new(unit, origin));
            selecting.select(selection, frame);
        });
    }

    /// The pointer moves while the button is held. The next frame shows what is selected then.
    pub fn drag(&mut self, at: Position) {
        if let Some(held) = &mut self.selecting.held {
            held.move_to(at);
        }
    }

    /// The button goes up; says whether something is selected.
    pub fn release(&mut self, conversation: &mut Conversation, look: &Look<'_>, at: Position) -> bool {
        self.release_with(SETTER, conversation, look, at)
    }

    pub(super) fn release_with(
        &mut self,
        setter: Setter<'_>,
        conversation: &mut Conversation,
        look: &Look<'_>,
        at: Position,
    ) -> bool {
        self.drag(at);
        self.with_frame(setter, conversation, look, |frame, shown, area, selecting| {
            selecting.follow_pointer(frame, shown, area);
        });
        self.let_go();
        self.has_selection()
    }

    /// The button is held no longer, wherever that happened. What is selected stays so. False when it was not held, on
    /// the text or on the scrollbar.
    pub fn let_go(&mut self) -> bool {
        let held = self.selecting.held.take();
        if held.is_some_and(|held| held.follows) && !self.scroll.is_following() {
            self.travel.push(Travel::End);
        }
        self.release_scrollbar() || held.is_some()
    }

    /// Whether a button is held on the text.
    pub const fn is_held(&self) -> bool {
        self.selecting.held.is_some()
    }

    /// Whether something is selected.
    pub fn has_selection(&self) -> bool {
        self.selecting.selection.is_some_and(|selection| !selection.is_empty())
    }

    /// Selects nothing any more; false if nothing was.
    pub fn clear_selection(&mut self) -> bool {
        let had = self.has_selection();
        let held = self.selecting.held.take();
        self.selecting = Selecting { mark: self.selecting.mark, held, ..Selecting::default() };
        had
    }

    /// Moves the end of the selection. It begins at the focused row's first character.
    pub fn extend_selection(&mut self, conversation: &mut Conversation, look: &Look<'_>, motion: Motion) {
        self.extend_with(SETTER, conversation, look, motion);
    }

    pub(super) fn extend_with(
        &mut self,
        setter: Setter<'_>,
        conversation: &mut Conversation,
        look: &Look<'_>,
        motion: Motion,
    ) {
        let focus = self.focus;
        let caret = self.with_frame(setter, conversation, look, |frame, _, _, selecting| {
            let begin =
                focus.map(|item| Selection::new(Unit::Character, Span::at(TextPoint { item, offset: 0 })));
            let selection = selecting.selection.or(begin)?;
            let from = selection.caret();
            let (caret, column) = moved(frame, from, motion, selecting.column);
            selecting.select(Some(selection.to(caret)), frame);
            selecting.column = column;
            Some(caret)
        });
        self.travel.extend(caret.flatten().map(Travel::RevealText));
    }

    /// Selects all there is.
    pub fn select_all(&mut self, conversation: &mut Conversation, look: &Look<'_>) {
        self.select_all_with(SETTER, conversation, look);
    }

    pub(super) fn select_all_with(
        &mut self,
        setter: Setter<'_>,
        conversation: &mut Conversation,
        look: &Look<'_>,
    ) {
        self.with_frame(setter, conversation, look, |frame, _, _, selecting| {
            let items = frame.conversation.len();
            let end = (0..items).rev().find_map(|item| {
                let length = frame.read(item, |_, texts| texts.text().len()).filter(|length| *length > 0)?;
                Some(TextPoint { item, offset: length })
            });
            let all = end.map(|end| Selection {
                unit: Unit::Character,
                origin: Span::at(TextPoint::default()),
                head: Span::at(end),
            });
            selecting.select(all, frame);
            selecting.column = None;
        });
    }

    /// Begins a copy of what is selected.
    pub fn gather(&self) -> Option<Gather> {
        let selection = self.selecting.selection.filter(|selection| !selection.is_empty())?;
        let next = selection.ends().0.item;
        Some(Gather { selection, next, pieces: Pieces::default(), generation: self.generation })
    }

    /// Goes on with a copy, until so many rows were laid out or all is done.
    pub fn gather_on(
        &mut self,
        conversation: &mut Conversation,
        look: &Look<'_>,
        gather: Gather,
        rows: usize,
    ) -> Gathered {
        self.gather_with(SETTER, conversation, look, gather, rows)
    }

    pub(super) fn gather_with(
        &mut self,
        setter: Setter<'_>,
        conversation: &mut Conversation,
        look: &Look<'_>,
        mut gather: Gather,
        rows: usize,
    ) -> Gathered {
        if gather.generation != conversation.generation() {
            return Gathered::Gone;
        }
        let last = gather.selection.ends().1.item;
        let mut left = rows;
        let done = self.with_frame(setter, conversation, look, |frame, _, _, _| {
            while gather.next <= last && left > 0 {
                let item = gather.next;
                gather.next += 1;
                let Some(bytes) = gather.selection.bytes_of(item) else { continue };
                let is_call = matches!(
                    frame.conversation.items().get(item).map(|item| &item.body),
                    Some(Body::Call(_))
                );
                let (piece, rows) = frame
                    .read_once(item, |rows, texts| (texts.copy(rows, &bytes), rows.len()))
                    .unwrap_or_default();
                let is_drawn = rows > 0 || is_call;
                if is_drawn {
                    gather.pieces.add(&piece, is_call, rows);
                }
                // What is hidden costs something, too.
                left = left.saturating_sub(rows.max(1));
            }
            gather.next > last
        });
        match done {
            Some(true) => Gathered::Whole(gather.pieces.into_text()),
            Some(false) => Gathered::Part(Box::new(gather)),
            None => Gathered::Gone,
        }
    }

    /// Reads the text of items between two frames, as the last one has drawn them. Nothing before the first one.
    fn with_frame<R>(
        &mut self,
        setter: Setter<'_>,
        conversation: &mut Conversation,
        look: &Look<'_>,
        with: impl FnOnce(&mut Frame<'_>, &[Slice], Rect, &mut Selecting) -> R,
    ) -> Option<R> {
        // Before the next frame nothing is known of another session's items.
        if self.area.is_empty() || self.generation != conversation.generation() {
            return None;
        }
        let mut frame = Frame {
            conversation,
            look,
            width: self.area.width - self.scrollbar.columns(self.area.width),
            lay_out: setter.lay_out,
            expanded: self.expanded,
            show_thinking: self.show_thinking,
            sticky_heading: self.sticky_heading,
            layouts: &mut self.layouts,
            live: &mut self.live,
            placed: HashMap::new(),
            set: HashMap::new(),
        };
        self.selecting.keep_up(&mut frame);
        let shown: Vec<Slice> =
            self.shown.iter().copied().filter(|slice| slice.entry < frame.conversation.len()).collect();
        Some(with(&mut frame, &shown, self.area, &mut self.selecting))
    }
}

/// How items become rows in the program.
const SETTER: Setter<'static> = Setter { lay_out: &entries::lay_out, estimate: &entries::estimate };

impl Selecting {
    /// A frame begins: the window stands still under a held button.
    pub(super) const fn holds_still(&self) -> bool {
        self.held.is_some()
    }

    /// The user moved the window.
    pub(super) const fn was_moved(&mut self) {
        if let Some(held) = &mut self.held {
            held.follows = false;
            held.is_stale = true;
        }
    }

    /// Rows by which the window scrolls in this frame, up if negative.
    pub(super) fn pull(&mut self, area: Rect, now: Instant) -> isize {
        let Some(held) = &mut self.held else { return 0 };
        let rows = held.pull(area);
        if rows == 0 {
            held.step_at = None;
            return 0;
        }
        if held.step_at.is_some_and(|at| now < at) {
            return 0;
        }
        held.step_at = Some(now + STEP);
        rows
    }

    /// The window was scrolled by that, or could not be.
    pub(super) const fn pulled(&mut self, has_moved: bool) {
        if let Some(held) = &mut self.held {
            if has_moved {
                held.follows = false;
                held.is_stale = true;
            } else {
                // At the end of all there is nothing to wait for.
                held.step_at = None;
            }
        }
    }

    /// When the window scrolls next.
    pub(super) fn tell_deadline(&self, next: &mut NextDeadline) {
        if let Some(at) = self.held.and_then(|held| held.step_at) {
            next.expire(at);
        }
    }

    /// Brings the end of the selection to where the pointer is.
    pub(super) fn follow_pointer(&mut self, frame: &mut Frame<'_>, shown: &[Slice], area: Rect) {
        let Some(held) = &mut self.held else { return };
        if !held.drags || !std::mem::take(&mut held.is_stale) {
            return;
        }
        let at = held.at;
        let begun = self.selection.or_else(|| self.mark.map(|(unit, origin)| Selection::new(unit, origin)));
        let Some(selection) = begun else { return };
        if let Some(head) = span_at(frame, shown, area, at, selection.unit) {
            self.select(Some(Selection { head, ..selection }), frame);
        }
    }

    fn select(&mut self, selection: Option<Selection>, frame: &mut Frame<'_>) {
        self.selection = selection;
        self.pins = selection.map(|selection| {
            places(&selection).map(|point| {
                let pin = frame.read(point.item, |_, texts| Pin::new(texts.text(), point.offset));
                pin.unwrap_or_else(|| Pin::new("", 0))
            })
        });
    }

    /// The texts may be others since the last frame: finds the places again. A selection with an end that is nowhere any
    /// more is none: better nothing is marked than something else.
    pub(super) fn keep_up(&mut self, frame: &mut Frame<'_>) {
        let (Some(selection), Some(pins)) = (self.selection, self.pins.take()) else { return };
        let mut offsets = [0; 4];
        for ((offset, point), pin) in offsets.iter_mut().zip(places(&selection)).zip(&pins) {
            let found = if point.item < frame.conversation.len() {
                frame.read(point.item, |_, texts| pin.find(texts.text())).unwrap_or(Some(0))
            } else {
                None
            };
            let Some(found) = found else {
                self.selection = None;
                return;
            };
            *offset = found;
        }
        let [a, b, c, d] = offsets;
        let mut kept = selection;
        kept.origin.from.offset = a;
        kept.origin.to.offset = b;
        kept.head.from.offset = c;
        kept.head.to.offset = d;
        if kept == selection {
            self.pins = Some(pins);
        } else {
            self.select(Some(kept), frame);
        }
    }
}

const fn places(selection: &Selection) -> [TextPoint; 4] {
    [selection.origin.from, selection.origin.to, selection.head.from, selection.head.to]
}

/// The unit under a cell.
fn span_at(frame: &mut Frame<'_>, shown: &[Slice], area: Rect, at: Position, unit: Unit) -> Option<Span> {
    let spot = text::spot_at(frame, shown, area, at)?;
    let bytes = frame.read(spot.item, |rows, texts| match spot.row {
        Some(row) => {
            let offset = texts.offset_at(rows, row, spot.column);
            let here = texts.columns(rows, row, &(offset..offset + 1));
            unit.at(texts.text(), offset, here.contains(&spot.column))
        }
        // The blank row above an item is before all its text.
        None => 0..0,
    })?;
    Some(Span::of(spot.item, &bytes))
}

/// A place moved by a key, and the column that keys up and down keep to.
fn moved(
    frame: &mut Frame<'_>,
    from: TextPoint,
    motion: Motion,
    column: Option<usize>,
) -> (TextPoint, Option<usize>) {
    let TextPoint { item, offset } = from;
    let within = |frame: &mut Frame<'_>, by: &dyn Fn(&str) -> usize| {
        let offset = frame.read(item, |_, texts| by(texts.text())).unwrap_or_default();
        TextPoint { item, offset }
    };
    let to = match motion {
        Motion::Up => return vertical(frame, from, column, true),
        Motion::Down => return vertical(frame, from, column, false),
        Motion::Left => within(frame, &|text| {
            words::grapheme_before(text, offset).map_or(offset, |grapheme| grapheme.start)
        }),
        Motion::Right => {
            within(frame, &|text| words::grapheme_after(text, offset).map_or(offset, |grapheme| grapheme.end))
        }
        Motion::WordLeft => within(frame, &|text| words::left(text, offset)),
        Motion::WordRight => within(frame, &|text| words::right(text, offset)),
        Motion::LineStart => return (within(frame, &|text| words::line(text, offset).start), None),
        Motion::LineEnd => return (within(frame, &|text| words::line(text, offset).end), None),
    };
    if to != from {
        return (to, None);
    }
    // At the end of an item the next one begins.
    let beyond = match motion {
        Motion::Left | Motion::WordLeft => (0..item).rev().find_map(|above| {
            let length = frame.read(above, |_, texts| texts.text().len()).filter(|length| *length > 0)?;
            Some(TextPoint { item: above, offset: length })
        }),
        _ => (item + 1..frame.conversation.len()).find_map(|below| {
            frame.read(below, |_, texts| texts.text().len()).filter(|length| *length > 0)?;
            Some(TextPoint { item: below, offset: 0 })
        }),
    };
    (beyond.unwrap_or(from), None)
}

/// A row up or down, in the same column as far as there is text.
fn vertical(
    frame: &mut Frame<'_>,
    from: TextPoint,
    column: Option<usize>,
    is_up: bool,
) -> (TextPoint, Option<usize>) {
    let indent = usize::from(frame.indent(from.item));
    let here = frame.read(from.item, |rows, texts| {
        let row = texts.row_at(from.offset);
        let before = texts.columns(rows, row, &(texts.row(row).start..from.offset)).end;
        let gutter = rows.get(row).map_or(0, |row| usize::from(row.gutter));
        (row, before.max(gutter) + indent)
    });
    let Some((row, own)) = here else { return (from, column) };
    let column = column.unwrap_or(own);
    let find = |frame: &mut Frame<'_>, item: usize, from: Option<usize>| {
        let indent = usize::from(frame.indent(item));
        let offset = frame.read(item, |rows, texts| {
            let row = next_text(rows, texts, from, is_up)?;
            Some(texts.offset_at(rows, row, column.saturating_sub(indent)))
        });
        offset.flatten().map(|offset| TextPoint { item, offset })
    };
    let within = find(frame, from.item, Some(row));
    let to = within.or_else(|| {
        if is_up {
            (0..from.item).rev().find_map(|item| find(frame, item, None))
        } else {
            (from.item + 1..frame.conversation.len()).find_map(|item| find(frame, item, None))
        }
    });
    let edge = || {
        let length = frame.read(from.item, |_, texts| texts.text().len()).unwrap_or_default();
        TextPoint { offset: if is_up { 0 } else { length }, ..from }
    };
    (to.unwrap_or_else(edge), Some(column))
}

/// The next row of text above or below a row; from the last or first one on.
fn next_text(rows: &[Row], texts: &RowTexts, from: Option<usize>, is_up: bool) -> Option<usize> {
    if texts.text().is_empty() {
        return None;
    }
    let is_text = |row: &usize| rows.get(*row).is_some_and(|row| !row.is_decoration);
    if is_up {
        (0..from.unwrap_or(rows.len())).rev().find(is_text)
    } else {
        (from.map_or(0, |from| from + 1)..rows.len()).find(is_text)
    }
}
