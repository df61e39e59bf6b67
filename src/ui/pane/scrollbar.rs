//! The bar at the right edge: where the window stands in all there is, and where the matches of a search are.
//!
//! Heights of what was never seen are estimates, and they are corrected while one scrolls. The thumb must not jump back
//! then: it goes the way that the user goes, or waits.

use super::{Direction, Pane, search::Searching, travel::Travel};
use crate::theme::Theme;
use crate::theme::role::Role;
use crate::transcript::anchor::Anchor;
use crate::transcript::heights::Heights;
use crate::ui::paint;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

/// In a narrower window each column is needed.
const LEAST_WIDTH: u16 = 20;

const THUMB: &str = "▐";
const TRACK: &str = "▕";
const MATCH: &str = "━";

/// The bar, as the last frame showed it.
#[derive(Debug, Default)]
pub(super) struct Scrollbar {
    /// It may be shown.
    pub is_on: bool,
    shown: Option<Shown>,
    /// The thumb is held, this many rows below its begin.
    held: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shown {
    area: Rect,
    thumb: Thumb,
    top: Anchor,
    revision: u64,
    total: u64,
}

/// The thumb, in rows of the track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Thumb {
    begin: u16,
    rows: u16,
}

/// Where the window stands.
pub(super) struct Stand<'a> {
    pub heights: &'a Heights,
    /// Its first row, among all rows and as a place.
    pub row: u64,
    pub top: Anchor,
    /// It shows the end.
    pub is_at_end: bool,
    /// Of the conversation.
    pub revision: u64,
}

impl Thumb {
    /// Only at the very beginning and the very end it touches the ends of the track.
    fn of(row: u64, total: u64, track: u16) -> Self {
        let height = u64::from(track);
        let rows = (height * height / total.max(1)).clamp(u64::from(track >= 6) + 1, height.max(1));
        let free = height.saturating_sub(rows);
        let most = total.saturating_sub(height).max(1);
        let begin = (row.min(most) * free + most / 2) / most;
        let begin = if row == 0 || free < 2 { begin } else { begin.clamp(1, free - 1) };
        let short = |rows: u64| u16::try_from(rows).unwrap_or(u16::MAX);
        Self { begin: short(begin), rows: short(rows) }
    }

    const fn last(self, track: u16) -> u16 {
        track.saturating_sub(self.rows)
    }
}

impl Scrollbar {
    /// Columns that are kept free for it, whether it is shown or not: text must not wrap anew when it comes.
    pub const fn columns(&self, width: u16) -> u16 {
        if self.is_on && width >= LEAST_WIDTH { 1 } else { 0 }
    }

    /// Draws it into the last column of `area`, if there is more than that shows; returns where it stands.
    pub fn paint(
        &mut self,
        stand: &Stand<'_>,
        search: Option<&Searching>,
        theme: &Theme,
        area: Rect,
        buffer: &mut Buffer,
    ) -> Option<Rect> {
        let total = stand.heights.total();
        if self.columns(area.width) == 0 || total <= u64::from(area.height) {
            (self.shown, self.held) = (None, None);
            return None;
        }
        let bar = Rect { x: area.right() - 1, width: 1, ..area };
        let thumb = self.thumb(stand, total, bar);
        self.shown = Some(Shown { area: bar, thumb, top: stand.top, revision: stand.revision, total });
        for (at, y) in (0_u16..).zip(bar.top()..bar.bottom()) {
            let is_thumb = (thumb.begin..thumb.begin + thumb.rows).contains(&at);
            let is_match =
                search.is_some_and(|search| search.any_in(items_at(stand.heights, total, at, bar.height)));
            let (symbol, role) = match (is_match, is_thumb) {
                (true, _) => (MATCH, Role::SearchMatchText),
                (false, true) => (THUMB, Role::ScrollbarThumb),
                (false, false) => (TRACK, Role::ScrollbarTrack),
            };
            let mut color = theme.color(role);
            if is_thumb && self.held.is_some() {
                color = theme.mix(color, theme.color(Role::Accent), 0.5);
            }
            // A match at the ground of matches may be dark in the terminal's own colours.
            if is_match && !theme.is_readable() {
                color = theme.color(Role::SearchMatchBg);
            }
            let cell = Rect { y, height: 1, ..bar };
            paint::make_room(buffer, cell);
            if let Some(cell) = buffer.cell_mut((bar.x, y)) {
                cell.set_symbol(symbol).set_fg(color);
                cell.modifier = if is_match && is_thumb { Modifier::BOLD } else { Modifier::empty() };
            }
        }
        Some(bar)
    }

    fn thumb(&self, stand: &Stand<'_>, total: u64, bar: Rect) -> Thumb {
        let thumb = Thumb::of(stand.row, total, bar.height);
        let last = thumb.last(bar.height);
        if stand.is_at_end {
            return Thumb { begin: last, ..thumb };
        }
        let before = self.shown.filter(|shown| shown.area == bar);
        if let (Some(before), Some(_)) = (before, self.held) {
            return Thumb { begin: before.thumb.begin.min(last), ..thumb };
        }
        let begin = match before {
            _ if stand.row == 0 => 0,
            Some(before) => match stand.top.cmp(&before.top) {
                std::cmp::Ordering::Greater => thumb.begin.max(before.thumb.begin),
                std::cmp::Ordering::Less => thumb.begin.min(before.thumb.begin),
                std::cmp::Ordering::Equal if before.revision == stand.revision => before.thumb.begin,
                std::cmp::Ordering::Equal => thumb.begin,
            },
            None => thumb.begin,
        };
        let (first, end) = if last < 2 { (0, last) } else { (u16::from(stand.row > 0), last - 1) };
        Thumb { begin: begin.clamp(first, end.max(first)), ..thumb }
    }
}

/// The items that begin in a row of the track.
fn items_at(heights: &Heights, total: u64, at: u16, track: u16) -> std::ops::Range<usize> {
    let from = |at: u16| {
        let row = (u64::from(at) * total).div_ceil(u64::from(track.max(1)));
        match heights.at(row) {
            Some((item, 0)) => item,
            Some((item, _)) => item + 1,
            None => heights.len(),
        }
    };
    from(at)..from(at + 1)
}

impl Pane {
    /// Shows a bar at the right edge while there is more than the window shows.
    pub const fn set_scrollbar(&mut self, is_on: bool) {
        self.scrollbar.is_on = is_on;
    }

    /// The button went down on the bar, in this row of the screen: takes the thumb, or turns a page towards there.
    pub fn press_scrollbar(&mut self, y: u16) {
        let Some(shown) = self.scrollbar.shown else { return };
        let at = y.saturating_sub(shown.area.y);
        if at < shown.thumb.begin {
            self.page(Direction::Up);
        } else if at >= shown.thumb.begin + shown.thumb.rows {
            self.page(Direction::Down);
        } else {
            self.scrollbar.held = Some(at - shown.thumb.begin);
        }
    }

    /// The pointer moved to this row of the screen. False when the thumb is not held.
    pub fn drag_scrollbar(&mut self, y: u16) -> bool {
        let (Some(held), Some(shown)) = (self.scrollbar.held, &mut self.scrollbar.shown) else {
            return false;
        };
        let last = shown.thumb.last(shown.area.height);
        let begin = y.saturating_sub(shown.area.y).saturating_sub(held).min(last);
        shown.thumb.begin = begin;
        let most = shown.total.saturating_sub(u64::from(shown.area.height));
        let wish = match begin {
            0 => Travel::Start,
            begin if begin == last => Travel::End,
            begin => Travel::Row(u64::from(begin) * most / u64::from(last.max(1))),
        };
        // The pointer moves faster than frames are drawn.
        self.travel.retain(|wish| !matches!(wish, Travel::Row(_) | Travel::Start | Travel::End));
        self.travel.push(wish);
        true
    }

    /// The button was let go. False when the thumb was not held.
    pub const fn release_scrollbar(&mut self) -> bool {
        self.scrollbar.held.take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_thumb_touches_the_ends_only_there() {
        let begin = |row, total, track| Thumb::of(row, total, track).begin;
        assert_eq!(Thumb::of(0, 100, 10), Thumb { begin: 0, rows: 2 });
        assert_eq!(begin(1, 10_000, 10), 1);
        assert_eq!(begin(9_989, 10_000, 10), 7);
        assert_eq!(begin(5_000, 10_000, 10), 4);
        assert_eq!(Thumb::of(0, 11, 10).rows, 9);
        assert_eq!(Thumb::of(3, 100, 1), Thumb { begin: 0, rows: 1 });
    }

    /// Scrolling down never moves the thumb up, whatever becomes of the estimates.
    fn goes_one_way(steps: &[(u64, i64)], track: u16) -> Result<(), TestCaseError> {
        let mut bar = Scrollbar { is_on: true, ..Scrollbar::default() };
        let area = Rect::new(0, 0, 30, track);
        let (mut row, mut total, mut last) = (0, 400_u64, 0);
        for (entry, (down, grown)) in steps.iter().enumerate() {
            total = total.saturating_add_signed(*grown).max(row + down + u64::from(track) + 1);
            row += down;
            let mut heights = Heights::default();
            heights.push(u32::try_from(total).unwrap());
            let top = Anchor { entry, offset: 0, bias: 0 };
            let stand = Stand { heights: &heights, row, top, is_at_end: false, revision: 1 };
            let mut buffer = Buffer::empty(area);
            bar.paint(&stand, None, &Theme::quiet_dark(), area, &mut buffer);
            let begin = bar.shown.unwrap().thumb.begin;
            prop_assert!(begin >= last, "{begin} {last}");
            last = begin;
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn reading_on_moves_the_thumb_down_only(
            steps in prop::collection::vec((0_u64..40, -300_i64..600), 1..30),
            track in 6_u16..30,
        ) {
            goes_one_way(&steps, track)?;
        }
    }
}
