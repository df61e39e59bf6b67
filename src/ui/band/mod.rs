//! The row that tells what is done, how it is going and how long it takes: over the whole width, its ground the state.
//!
//! | file | what it is |
//! |---|---|
//! | `seg` | words with a role |
//! | `state` | how far something is, its colours and marks |
//! | `ground` | what the ground does: fill, sweep, progress, flash |
//! | `bullet` | what the mark at the left does |
//! | `rail` | how it goes and how long it takes, at the right |
//! | `line` | both sides on one line, over grounds that differ from cell to cell |
//!
//! The rail at the right is kept whole and the left gives way. Facts about the result are worth more than the end of a
//! long command or path, so they are kept as long as enough of that is left. A band is a [`Moving`] row: what it shows
//! depends on the time only, so whatever stands under it is laid out once.

pub mod bullet;
pub mod ground;
pub mod line;
pub mod rail;
pub mod seg;
pub mod state;

use super::entries::{EntryCx, Moving};
use super::scene::NextDeadline;
use crate::text::row::Row;
use crate::text::width;
use crate::theme::role::Role;
use bullet::Bullet;
use ground::{Grounds, Motion};
use rail::Rail;
pub use rail::{ended, live_time};
use ratatui::style::{Color, Modifier};
use ratatui::text::Span;
use seg::Seg;
use state::State;

/// Columns of the title that facts and rails leave it at least.
const LEAST_TITLE: usize = 16;

/// Windows that are narrower get the short forms of all rails.
pub const COMPACT_BELOW: u16 = 60;

/// A band before it is drawn.
#[derive(Clone, Debug, Default)]
pub struct Band {
    /// How far it is.
    pub state: State,
    /// What its ground does.
    pub motion: Motion,
    /// What its mark does.
    pub bullet: Bullet,
    /// What is done, and to what.
    pub title: Vec<Seg>,
    /// What came of it.
    pub facts: Vec<Seg>,
    /// How it goes and how long it takes.
    pub rail: Rail,
    /// Columns of the title that a copy leaves out.
    pub sign: u16,
}

/// What stands left of a band's title.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The mark, in the column of all marks of the transcript.
    Bullet,
    /// So many blank columns: in popups and widgets.
    Blank(u16),
}

impl Band {
    /// The row at this moment, as wide as `cx`; tells `next` when it is another one.
    pub fn row(&self, cx: &EntryCx<'_>, edge: Edge, next: &mut NextDeadline) -> Row {
        self.row_among(1, cx, edge, next)
    }

    /// The same where so many sweeps are in view.
    pub fn row_among(&self, sweeps: usize, cx: &EntryCx<'_>, edge: Edge, next: &mut NextDeadline) -> Row {
        let theme = cx.look.theme;
        let grounds = Grounds::of(self.state, self.motion, cx, sweeps, next);
        let margin = match edge {
            Edge::Bullet => cx.margin(),
            Edge::Blank(columns) => columns.min(cx.width.saturating_sub(1)),
        };
        let room = usize::from(cx.width.saturating_sub(margin));
        let (left, rail) = self.sides(room, cx, next);
        let text_end = margin.saturating_add(u16::try_from(line::columns(&left)).unwrap_or(u16::MAX));
        let mut spans = match edge {
            Edge::Bullet => self.bullet.spans(self.state, cx, &grounds, next),
            Edge::Blank(0) => Vec::new(),
            Edge::Blank(_) => {
                line::paint(&[Seg::new(Role::Muted, " ".repeat(usize::from(margin)))], 0, &grounds, theme)
            }
        };
        let mut segs = line::set(left, rail, room);
        if grounds.differ() {
            // A ground of one colour reaches the edge by itself.
            segs.push(Seg::new(Role::Muted, " ".repeat(room.saturating_sub(line::columns(&segs)))));
        }
        spans.extend(line::paint(&segs, margin, &grounds, theme));
        let ground = grounds.at(cx.width.saturating_sub(1));
        Row {
            spans,
            gutter: margin.saturating_add(self.sign).min(cx.width),
            // How long it took is nobody's text, and still less the blanks before it.
            text_end: Some(text_end),
            ground: (ground != Color::Reset).then_some((0, ground)),
            ..Row::default()
        }
    }

    /// Whether it changes by itself.
    pub fn is_moving(&self) -> bool {
        self.motion != Motion::Still || self.bullet.is_moving() || self.rail.is_moving()
    }

    /// The longest form of both sides that leaves the title room; the shortest if none does.
    pub fn sides(&self, room: usize, cx: &EntryCx<'_>, next: &mut NextDeadline) -> (Vec<Seg>, Vec<Seg>) {
        let facts = line::columns(&self.facts);
        let least = line::columns(&self.title).min(LEAST_TITLE);
        let left_beside = |rail: &[Seg]| match line::columns(rail) {
            0 => room,
            columns => room.saturating_sub(columns + 3),
        };
        let forms = self.rail.forms(cx, next);
        let last_with_lead = forms.iter().rposition(|form| form.has_lead);
        let mut candidates = Vec::with_capacity(forms.len() + 1);
        for (at, form) in forms.iter().enumerate() {
            let is_after_lead = last_with_lead.is_some_and(|last| at > last);
            if !is_after_lead {
                candidates.push((form, true));
            }
            if is_after_lead
                || last_with_lead == Some(at)
                || (last_with_lead.is_none() && at + 1 == forms.len())
            {
                candidates.push((form, false));
            }
        }
        let fits = |(form, with_facts): &&(&rail::Form, bool)| {
            let facts = if *with_facts { facts } else { 0 };
            let least = if form.is_extra { line::columns(&self.title) } else { least };
            left_beside(&form.segs) >= least + facts
        };
        let chosen = candidates.iter().find(fits).or(candidates.last());
        let Some((form, with_facts)) = chosen else { return (self.title.clone(), Vec::new()) };
        let left_room = left_beside(&form.segs);
        let mut left =
            line::cut(self.title.clone(), left_room.saturating_sub(if *with_facts { facts } else { 0 }));
        if *with_facts {
            left.extend(self.facts.iter().cloned());
        }
        // As it is drawn: behind what is cut off begins the rail, and that is no text.
        (line::cut(left, left_room), form.segs.clone())
    }
}

impl Moving for Band {
    fn row(&self, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        Self::row(self, cx, Edge::Bullet, next)
    }

    fn row_among(&self, sweeps: usize, cx: &EntryCx<'_>, next: &mut NextDeadline) -> Row {
        Self::row_among(self, sweeps, cx, Edge::Bullet, next)
    }

    fn is_sweep(&self) -> bool {
        self.motion == Motion::Sweep
    }
}

/// A mark at the left edge and the blank behind it, as far as there is room.
pub fn mark(role: Role, mark: &'static str, cx: &EntryCx<'_>, ground: Color) -> Vec<Span<'static>> {
    let margin = usize::from(cx.margin());
    if margin == 0 {
        return Vec::new();
    }
    let blank = " ".repeat(margin.saturating_sub(width::of(mark)));
    let style = cx.look.theme.style_on(role, ground);
    let style = if cx.look.theme.is_readable() { style } else { style.add_modifier(Modifier::BOLD) };
    vec![Span::styled(mark, style), Span::raw(blank)]
}

#[cfg(test)]
#[path = "band_tests.rs"]
mod tests;
