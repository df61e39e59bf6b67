//! What a frame meant, beside its cells.

use super::hit::HitMap;
use ratatui::layout::Position;
use std::time::Instant;

/// The meaning of one drawn frame. `T` is what a click means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scene<T> {
    /// What lies where: the mouse is resolved against it until the next frame.
    pub hits: HitMap<T>,
    /// Where the terminal's own cursor stands, or hidden. An input method opens its window there.
    pub caret: Option<Position>,
    /// When the frame becomes untrue by itself.
    pub next_deadline: NextDeadline,
}

/// When drawn cells change without anything happening. Who draws such a cell says so; a cell that is scrolled away or
/// covered is not drawn and asks for nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NextDeadline {
    /// The next step of the fastest spinner, fade or sweep in view. These stop while the terminal has no focus.
    pub animation: Option<Instant>,
    /// When the first figure in view becomes wrong: a stopwatch, a countdown, the age of something. Figures stay true
    /// without focus, too: the terminal may well be looked at beside another window.
    pub figure: Option<Instant>,
}

impl NextDeadline {
    /// An animated cell was drawn, its next step is at `at`.
    pub fn animate(&mut self, at: Instant) {
        self.animation = earliest(self.animation, Some(at));
    }

    /// A figure was drawn that is right until `at`.
    pub fn expire(&mut self, at: Instant) {
        self.figure = earliest(self.figure, Some(at));
    }

    /// Takes over what another part of the screen asked for.
    pub fn merge(&mut self, other: Self) {
        self.animation = earliest(self.animation, other.animation);
        self.figure = earliest(self.figure, other.figure);
    }
}

// `Option`'s own order puts `None` first.
fn earliest(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    a.into_iter().chain(b).min()
}

// Derived, it would ask for `T: Default`.
impl<T> Default for Scene<T> {
    fn default() -> Self {
        Self { hits: HitMap::new(), caret: None, next_deadline: NextDeadline::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_earliest_deadline_of_each_kind_is_kept() {
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let mut next = NextDeadline::default();
        next.animate(after(80));
        next.animate(after(40));
        next.animate(after(120));
        assert_eq!(next, NextDeadline { animation: Some(after(40)), figure: None });
        next.expire(after(1000));
        let mut other = NextDeadline::default();
        other.merge(next);
        assert_eq!(other, next);
        other.merge(NextDeadline { animation: None, figure: Some(after(900)) });
        assert_eq!(other, NextDeadline { animation: Some(after(40)), figure: Some(after(900)) });
    }

    #[test]
    fn an_empty_scene_asks_for_nothing() {
        let scene = Scene::<u8>::default();
        assert!(scene.hits.is_empty());
        assert_eq!((scene.caret, scene.next_deadline), (None, NextDeadline::default()));
    }
}
