//! What is selected in the window: from presses, drags and keys to places in the content, and from there to a copy.
//!
//! `gather` is the copy, `motion` where keys go.
//!
//! Responsibility: which text is under the pointer, the window that scrolls under a pointer held at its edge, the copy.
//! Not: what a press means beside that (see `app::update::mouse`).
//!
//! Invariants: while a button is held, nothing but the user moves the window; without a held button there is no timer;
//! a frame reads the visible items and those at both ends of the selection, however long it is.

mod gather;
mod motion;

use super::place::Frame;
use super::travel::Travel;
use super::{Pane, Setter, text};
use crate::transcript::anchor::TextPoint;
use crate::transcript::conversation::Conversation;
use crate::transcript::scroll::Slice;
use crate::transcript::select::{Pin, Selection, Span, Unit};
use crate::ui::entries;
use crate::ui::look::Look;
use crate::ui::scene::NextDeadline;
pub use gather::{Gather, Gathered};
pub use motion::Motion;
use motion::moved;
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
            folds: &mut self.folds,
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
