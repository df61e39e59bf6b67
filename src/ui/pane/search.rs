//! The search as the window shows it: which match is the current one, marks under all that are visible.
//!
//! Which items have matches is counted in their own text ([`crate::transcript::search`]); where they stand is found in
//! the text that is drawn, for what is visible.

use super::place::{Frame, Laid, What};
use super::{Pane, is_open, text, travel};
use crate::text::row::Row;
use crate::text::row_text::RowTexts;
use crate::text::width;
use crate::theme::Theme;
use crate::theme::role::Role;
use crate::transcript::anchor::{Anchor, TextPoint};
use crate::transcript::conversation::Conversation;
use crate::transcript::heights::Heights;
use crate::transcript::item::Fold;
use crate::transcript::scroll::{Rows, Scroll, Slice};
use crate::transcript::search::{Match, Pattern, Query, Search, Step, Way, WrongPattern};
use crate::ui::look::Look;
use crate::ui::scene::NextDeadline;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that are searched in one frame: a few milliseconds.
const A_FRAME: usize = 256 * 1024;

/// A search that is on.
#[derive(Debug)]
pub(super) struct Searching {
    query: Query,
    problem: Option<WrongPattern>,
    /// Nothing while nothing, or nothing that makes sense, is looked for.
    search: Option<Search>,
    /// Where it was begun: the first match is looked for from there.
    origin: Option<Anchor>,
    current: Option<Match>,
    wish: Option<Wish>,
    /// The match is to have the row focus as soon as it is known.
    is_accepted: bool,
    /// An item that was opened to show a match, and how it was before.
    opened: Option<(usize, Fold)>,
    /// The run that was opened for the current match, by its first item.
    opened_run: Option<usize>,
    found: HashMap<usize, Found>,
}

/// What is to become of the current match as soon as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    First,
    Step(Way),
    /// It is to be brought into view.
    Show,
}

/// The matches in a layout. Another layout is another one.
#[derive(Debug)]
struct Found {
    laid: Arc<Laid>,
    ranges: Arc<[Range<usize>]>,
}

/// What is known of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchStatus {
    /// Something is looked for.
    pub is_asked: bool,
    /// The current match, from 1.
    pub number: Option<u64>,
    /// Matches so far.
    pub total: u64,
    /// All has been searched.
    pub is_done: bool,
    /// Why the expression is none.
    pub problem: Option<WrongPattern>,
}

/// What a step through the matches did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    /// It went to another match, or will as soon as one is known.
    On,
    /// It went round the end or the beginning.
    Around,
    /// There is none.
    Nowhere,
}

impl Pane {
    /// Begins a search from the row at the top of the window; one that is on goes on from there.
    pub fn begin_search(&mut self) {
        let origin = self.top;
        let searching = self.search.get_or_insert_with(|| Searching {
            query: Query::default(),
            problem: None,
            search: None,
            origin,
            current: None,
            wish: None,
            is_accepted: false,
            opened: None,
            opened_run: None,
            found: HashMap::new(),
        });
        searching.origin = origin;
        searching.is_accepted = false;
    }

    /// Looks for something else.
    pub fn search_for(&mut self, query: Query, conversation: &Conversation) {
        let Some(searching) = &mut self.search else { return };
        let from = searching.origin.map_or(0, |origin| origin.entry);
        (searching.search, searching.problem) = match Pattern::new(&query) {
            Ok(pattern) => (pattern.map(|pattern| Search::new(pattern, from, conversation.len())), None),
            Err(problem) => (None, Some(problem)),
        };
        searching.query = query;
        searching.current = None;
        searching.wish = searching.search.is_some().then_some(Wish::First);
        searching.found.clear();
    }

    /// To the next match, or the one before.
    pub fn search_step(&mut self, way: Way) -> Walked {
        let Some(Searching { search: Some(search), origin, current, wish, .. }) = &mut self.search else {
            return Walked::Nowhere;
        };
        let from = current.unwrap_or(Match { item: origin.map_or(0, |origin| origin.entry), nth: 0 });
        let (to, walked) = match search.step(search.held(from).unwrap_or(from), way) {
            Step::To(to) => (Some(to), Walked::On),
            Step::Around(to) => (Some(to), Walked::Around),
            Step::Later => {
                *wish = Some(Wish::Step(way));
                return Walked::On;
            }
            Step::Nowhere => (None, Walked::Nowhere),
        };
        *current = to;
        *wish = to.map(|_| Wish::Show);
        walked
    }

    /// Puts the focus on the item of the current match, where it is.
    pub fn focus_match(&mut self) {
        if let Some(at) = self.current_match() {
            self.focus = Some(at.item);
        }
    }

    /// Goes on reading at the match. Keys come faster than frames: one that is not known yet gets the focus when it is,
    /// and until then the row at the top has it, so that the next key means what it is meant to. Without a match there is
    /// nothing to walk through, and the search ends.
    pub fn accept_search(&mut self) {
        match &mut self.search {
            Some(Searching { current: Some(at), .. }) => self.focus = Some(at.item),
            Some(searching) if searching.wish.is_some() => {
                searching.is_accepted = true;
                self.focus = self.focus.or(searching.origin.map(|origin| origin.entry));
            }
            _ => self.end_search(),
        }
    }

    /// The current match.
    pub fn current_match(&self) -> Option<Match> {
        self.search.as_ref()?.current
    }

    /// Ends the search. The view stays, and so does what was opened for the match that is read.
    pub fn end_search(&mut self) {
        self.search = None;
    }

    /// What is looked for, while a search is on.
    pub fn searched(&self) -> Option<&Query> {
        self.search.as_ref().map(|searching| &searching.query)
    }

    /// What is known of the search.
    pub fn search_status(&self) -> SearchStatus {
        let Some(searching) = &self.search else { return SearchStatus::default() };
        let search = searching.search.as_ref();
        let current = search.zip(searching.current).and_then(|(search, at)| search.held(at));
        SearchStatus {
            is_asked: !searching.query.text.is_empty(),
            number: search.zip(current).map(|(search, at)| search.before(at) + 1),
            total: search.map_or(0, Search::total),
            is_done: search.is_none_or(Search::is_done),
            problem: searching.problem.clone(),
        }
    }
}

impl Searching {
    /// Searches on; asks for the next frame while there is more.
    pub(super) fn scan(&mut self, conversation: &Conversation, look: &Look<'_>, next: &mut NextDeadline) {
        let Some(search) = &mut self.search else { return };
        // What was counted is told elsewhere, too, and there before this: one frame more shows it.
        let before = (search.is_done(), search.total());
        search.scan(conversation, A_FRAME);
        if before != (true, search.total()) || !search.is_done() {
            next.expire(look.now);
        }
    }

    /// The items are other ones: looks for the same among them.
    pub(super) fn restart(mut self, conversation: &Conversation) -> Self {
        let pattern = self.search.take().map(|search| search.pattern().clone());
        self.search = pattern.map(|pattern| Search::new(pattern, 0, conversation.len()));
        Self {
            origin: None,
            current: None,
            wish: None,
            is_accepted: false,
            opened: None,
            opened_run: None,
            found: HashMap::new(),
            ..self
        }
    }

    /// The item that gets the focus, if it was waited for and is known now: nothing when there is no match.
    pub(super) fn take_accepted(&mut self) -> Option<Option<usize>> {
        let is_known = self.is_accepted && self.wish.is_none();
        is_known.then(|| {
            self.is_accepted = false;
            self.current.map(|at| at.item)
        })
    }

    /// Goes where the user wishes to be, if that is known by now, and shows it.
    pub(super) fn settle(
        &mut self,
        scroll: &mut Scroll,
        height: usize,
        heights: &mut Heights,
        frame: &mut Frame<'_>,
    ) {
        let Some(wish) = self.wish else { return };
        let to = match wish {
            Wish::Show => self.current,
            Wish::First => {
                let from = self.origin_match(frame);
                match self.search.as_ref().map(|search| search.first(from)) {
                    Some(Step::To(to) | Step::Around(to)) => Some(to),
                    Some(Step::Later) => return,
                    Some(Step::Nowhere) | None => None,
                }
            }
            Wish::Step(way) => {
                let from = self.current.unwrap_or(Match { item: 0, nth: 0 });
                match self.search.as_ref().map(|search| search.step(from, way)) {
                    Some(Step::To(to) | Step::Around(to)) => Some(to),
                    Some(Step::Later) => return,
                    Some(Step::Nowhere) | None => None,
                }
            }
        };
        self.wish = None;
        self.current = to;
        if let Some(to) = to {
            self.show(to, scroll, height, heights, frame);
        } else {
            self.close(None, frame);
        }
    }

    /// The place in the matches that belongs to the row at which the search began.
    fn origin_match(&mut self, frame: &mut Frame<'_>) -> Match {
        let Some(origin) = self.origin else { return Match { item: 0, nth: 0 } };
        let row = frame.row(origin).saturating_sub(usize::from(frame.placed(origin.entry).gap));
        let from = frame.read(origin.entry, |_, texts| texts.row(row).start).unwrap_or_default();
        let found = self.found_in(origin.entry, frame);
        let counted = self.search.as_ref().map_or(0, |search| search.count(origin.entry));
        let missing = counted.saturating_sub(found.len());
        let is_first = missing > 0 && self.note_of(origin.entry, frame).is_some_and(|note| note.is_first);
        let before = if is_first { missing } else { 0 };
        Match { item: origin.entry, nth: found.partition_point(|range| range.start < from) + before }
    }

    fn show(
        &mut self,
        to: Match,
        scroll: &mut Scroll,
        height: usize,
        heights: &mut Heights,
        frame: &mut Frame<'_>,
    ) {
        self.close(Some(to.item), frame);
        // A line shows nothing of what it stands for.
        if let Some(run) = frame.open_run(to.item) {
            self.opened_run = Some(run);
        }
        let counted = self.search.as_ref().map_or(0, |search| search.count(to.item));
        let is_hidden = self.found_in(to.item, frame).len() < counted;
        if let Some(item) = frame.conversation.items().get(to.item)
            && is_hidden
            && !is_open(item, frame.expanded, frame.show_thinking)
        {
            self.opened = Some((to.item, item.fold));
            frame.conversation.set_fold(to.item, Fold::Open);
            frame.forget();
        }
        match self.place_of(to, frame) {
            Some(range) => {
                let point = TextPoint { item: to.item, offset: range.start };
                travel::reveal_text(point, scroll, height, heights, frame);
            }
            None => match self.note_of(to.item, frame) {
                Some(note) if !note.is_first => {
                    let point = TextPoint { item: to.item, offset: note.offset };
                    travel::reveal_text(point, scroll, height, heights, frame);
                }
                _ => travel::reveal(to.item, scroll, height, heights, frame),
            },
        }
    }

    /// Folds again what was opened for a match, unless that is where we stay.
    fn close(&mut self, stays: Option<usize>, frame: &mut Frame<'_>) {
        let stays_in = stays.and_then(|item| frame.folds.runs.at(item)).map(|run| run.first);
        if let Some(run) = self.opened_run.filter(|run| Some(*run) != stays_in) {
            self.opened_run = None;
            frame.close_run(run);
        }
        let Some((item, fold)) = self.opened.filter(|(item, _)| Some(*item) != stays) else { return };
        self.opened = None;
        // The user may have closed it meanwhile.
        if frame.conversation.items().get(item).is_some_and(|item| item.fold == Fold::Open) {
            frame.conversation.set_fold(item, fold);
            frame.forget();
        }
    }

    /// Where a counted match is drawn; nothing of one in what even an open item leaves out. A head may say more than what
    /// is searched, and of a long text the beginning or the end is missing.
    fn place_of(&mut self, at: Match, frame: &mut Frame<'_>) -> Option<Range<usize>> {
        let counted = self.search.as_ref()?.count(at.item);
        let found = self.found_in(at.item, frame);
        let more = found.len().saturating_sub(counted);
        let missing = counted.saturating_sub(found.len());
        let note = if missing > 0 { self.note_of(at.item, frame) } else { None };
        match note {
            Some(note) => {
                let before = if note.is_first { missing } else { 0 };
                found.get(at.nth.checked_sub(before)?).cloned()
            }
            None => found.get((at.nth + more).min(found.len().checked_sub(1)?)).cloned(),
        }
    }

    /// The row of an item that says that something is left out.
    fn note_of(&self, item: usize, frame: &mut Frame<'_>) -> Option<Note> {
        self.search.as_ref()?;
        frame.read(item, |rows, texts| {
            let is_note = |row: &Row| {
                let text = row.spans.iter().map(|span| span.content.as_ref()).collect::<String>();
                row.is_decoration && text.trim_start().starts_with('…')
            };
            let row = rows.iter().position(is_note)?;
            let is_first = rows.iter().skip(row + 1).any(|row| !row.is_decoration);
            Some(Note { row, is_first, offset: texts.row(row).start })
        })?
    }

    /// All matches in the drawn text of an item.
    fn found_in(&mut self, item: usize, frame: &mut Frame<'_>) -> Arc<[Range<usize>]> {
        let Some(search) = &self.search else { return Arc::from([]) };
        let find = |texts: &RowTexts| Arc::<[_]>::from(search.pattern().find_all(texts.text()));
        let What::Laid(laid) = frame.what(item) else {
            return frame.read(item, |_, texts| find(texts)).unwrap_or_else(|| Arc::from([]));
        };
        if let Some(found) = self.found.get(&item).filter(|found| Arc::ptr_eq(&found.laid, &laid)) {
            return found.ranges.clone();
        }
        let ranges = frame.read(item, |_, texts| find(texts)).unwrap_or_else(|| Arc::from([]));
        self.found.insert(item, Found { laid, ranges: ranges.clone() });
        ranges
    }

    /// Marks the matches in the window.
    pub(super) fn paint(&mut self, frame: &mut Frame<'_>, slices: &[Slice], area: Rect, buffer: &mut Buffer) {
        let current = match (self.current, &self.search) {
            (Some(at), Some(search)) => search.held(at),
            _ => None,
        };
        self.current = current.or(self.current);
        let hidden = current.filter(|at| self.place_of(*at, frame).is_none());
        let current = current.and_then(|at| Some((at.item, self.place_of(at, frame)?)));
        let styles = Styles::new(frame.look.theme);
        for (slice, place) in text::placed(slices, area) {
            let found = self.found_in(slice.entry, frame);
            if hidden.is_some_and(|at| at.item == slice.entry)
                && let Some(note) = self.note_of(slice.entry, frame)
            {
                note.paint(frame, &slice, place, &styles, buffer);
            }
            if found.is_empty() {
                continue;
            }
            let gap = usize::from(frame.placed(slice.entry).gap);
            let indent = frame.indent(slice.entry);
            let rows = (slice.first..slice.first + usize::from(place.height)).zip(place.y..);
            frame.read(slice.entry, |drawn, texts| {
                for (row, y) in rows.filter_map(|(row, y)| Some((row.checked_sub(gap)?, y))) {
                    let bytes = texts.row(row);
                    let first = found.partition_point(|range| range.end <= bytes.start);
                    for range in found.iter().skip(first).take_while(|range| range.start < bytes.end) {
                        let columns = texts.columns(drawn, row, range);
                        let column = |column: usize| {
                            u16::try_from(column).unwrap_or(u16::MAX).saturating_add(indent).min(area.width)
                        };
                        let (from, to) = (column(columns.start), column(columns.end));
                        let cells = Rect { x: area.x + from, y, width: to.saturating_sub(from), height: 1 };
                        let is_current =
                            current.as_ref().is_some_and(|(item, at)| *item == slice.entry && at == range);
                        styles.paint(buffer, cells, is_current);
                    }
                }
            });
        }
        self.found.retain(|item, _| slices.iter().any(|slice| slice.entry == *item));
    }

    /// Whether any of these items has a match.
    pub(super) fn any_in(&self, items: Range<usize>) -> bool {
        self.search.as_ref().is_some_and(|search| search.any_in(items))
    }
}

/// A row that stands for what is left out of an item.
#[derive(Clone, Copy)]
struct Note {
    row: usize,
    /// It stands for the beginning.
    is_first: bool,
    /// Where it stands in the text.
    offset: usize,
}

impl Note {
    /// The match that is read is in there: without a mark it would seem to be nowhere.
    fn paint(self, frame: &mut Frame<'_>, slice: &Slice, place: Rect, styles: &Styles, buffer: &mut Buffer) {
        let gap = usize::from(frame.placed(slice.entry).gap);
        let indent = frame.indent(slice.entry);
        let Some(below) = (self.row + gap).checked_sub(slice.first) else { return };
        let below = u16::try_from(below).unwrap_or(u16::MAX);
        if below >= place.height {
            return;
        }
        let columns = frame.read(slice.entry, |rows, _| {
            let text = rows.get(self.row)?.spans.iter().map(|span| span.content.as_ref()).collect::<String>();
            let all = width::of(&text);
            Some(all - width::of(text.trim_start())..width::of(text.trim_end()))
        });
        let Some(columns) = columns.flatten() else { return };
        let column =
            |column: usize| u16::try_from(column).unwrap_or(u16::MAX).saturating_add(indent).min(place.width);
        let (from, to) = (column(columns.start), column(columns.end));
        let cells = Rect { x: place.x + from, y: place.y + below, width: to.saturating_sub(from), height: 1 };
        styles.paint(buffer, cells, true);
    }
}

/// How matches are marked. Without colours the current one is reversed, the others are underlined.
struct Styles {
    current: Style,
    other: Style,
}

impl Styles {
    fn new(theme: &Theme) -> Self {
        let ground = theme.color(Role::SearchMatchBg);
        let (bold, reversed) = (Modifier::BOLD, Modifier::REVERSED);
        if theme.is_readable() {
            let style = theme.style_on(Role::SearchMatchText, ground).bg(ground);
            return Self {
                current: style.add_modifier(bold | reversed).remove_modifier(Modifier::UNDERLINED),
                other: style.add_modifier(Modifier::UNDERLINED).remove_modifier(reversed),
            };
        }
        // The terminal's own colours: reversed, the ground of a match stands out most.
        let style = Style::reset().fg(ground).add_modifier(bold);
        Self { current: style.add_modifier(reversed), other: style.add_modifier(Modifier::UNDERLINED) }
    }

    fn paint(&self, buffer: &mut Buffer, cells: Rect, is_current: bool) {
        buffer.set_style(cells.intersection(buffer.area), if is_current { self.current } else { self.other });
    }
}
