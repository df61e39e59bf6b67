//! What lies where in the last frame: the mouse is the inverse of drawing.
//!
//! Invariants
//! - Whatever was drawn last on the highest layer wins.
//! - A modal layer puts a scrim over what it covers: a click beside it never reaches what lies below.

use super::target::Target;
use ratatui::layout::{Position, Rect};
use std::ops::Range;
use std::sync::Arc;

/// How high something lies: the page is 0, a popup above it 1, a card above that 2.
pub type Layer = u8;

/// The clickable areas of one frame. `T` is what a click means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitMap<T> {
    hits: Vec<Hit<T>>,
}

/// One area.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Hit<T> {
    area: Rect,
    layer: Layer,
    is_scrim: bool,
    target: T,
}

// Derived, it would ask for `T: Default`.
impl<T> Default for HitMap<T> {
    fn default() -> Self {
        Self { hits: Vec::new() }
    }
}

impl<T> HitMap<T> {
    /// An empty map: no click means anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an area. Of two on the same layer the later one lies above. An empty area is never hit.
    pub fn push(&mut self, area: Rect, layer: Layer, target: T) {
        self.hits.push(Hit { area, layer, is_scrim: false, target });
    }

    /// Covers `area`, mostly the whole screen, at the bottom of a modal layer: what lies below can no longer be hit, and
    /// a click beside the modal means `target`. When it is added, before or after the layer's other areas, makes no
    /// difference.
    pub fn scrim(&mut self, area: Rect, layer: Layer, target: T) {
        self.hits.push(Hit { area, layer, is_scrim: true, target });
    }

    /// What a click at this cell means.
    pub fn at(&self, position: Position) -> Option<&T> {
        self.topmost(position).map(|hit| &hit.target)
    }

    /// The area that a click at this cell hits: what a pointer resting there lights.
    pub fn area_at(&self, position: Position) -> Option<Rect> {
        self.topmost(position).map(|hit| hit.area)
    }

    /// All areas of a target, in the order in which they were drawn: where a key that does what a click does may point.
    pub fn areas_of<'a>(&'a self, target: &'a T) -> impl Iterator<Item = Rect> + 'a
    where
        T: PartialEq,
    {
        self.hits.iter().filter(move |hit| hit.target == *target).map(|hit| hit.area)
    }

    /// Whether nothing can be hit.
    pub fn is_empty(&self) -> bool {
        self.hits.is_empty()
    }

    /// The cells that a click would find this kind of target at, as pieces of rows. `pick` says which targets are meant.
    fn pieces<'a, U>(&'a self, pick: impl Fn(&'a T) -> Option<U>) -> Vec<(u16, Range<u16>, U)>
    where
        U: Clone,
    {
        let rank = |hit: &Hit<T>| (hit.layer, !hit.is_scrim);
        let mut pieces = Vec::new();
        for (index, hit) in self.hits.iter().enumerate() {
            let Some(picked) = pick(&hit.target) else { continue };
            // Of equals the later one lies above.
            let lies_above = |(other, above): &(usize, &Hit<T>)| match rank(above).cmp(&rank(hit)) {
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Equal => *other > index,
                std::cmp::Ordering::Greater => true,
            };
            let above: Vec<Rect> = self
                .hits
                .iter()
                .enumerate()
                .filter(lies_above)
                .map(|(_, above)| above.area)
                .filter(|area| area.intersects(hit.area))
                .collect();
            for y in hit.area.top()..hit.area.bottom() {
                let is_free = |x: u16| !above.iter().any(|area| area.contains(Position { x, y }));
                let mut start = hit.area.left();
                while start < hit.area.right() {
                    let end = (start..hit.area.right()).find(|x| !is_free(*x)).unwrap_or(hit.area.right());
                    if start < end {
                        pieces.push((y, start..end, picked.clone()));
                    }
                    start = (end..hit.area.right()).find(|x| is_free(*x)).unwrap_or(hit.area.right());
                }
            }
        }
        pieces
    }

    fn topmost(&self, position: Position) -> Option<&Hit<T>> {
        // Of equals the last one is the greatest.
        self.hits
            .iter()
            .filter(|hit| hit.area.contains(position))
            .max_by_key(|hit| (hit.layer, !hit.is_scrim))
    }
}

impl HitMap<Target> {
    /// The cells that open an address when they are clicked: row, columns, address. What lies under something else is not
    /// among them.
    pub fn links(&self) -> Vec<(u16, Range<u16>, Arc<str>)> {
        self.pieces(|target| match target {
            Target::Link(url) => Some(url.clone()),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SCREEN: Rect = Rect { x: 0, y: 0, width: 20, height: 10 };

    fn at<'a>(map: &HitMap<&'a str>, x: u16, y: u16) -> Option<&'a str> {
        map.at(Position { x, y }).copied()
    }

    #[test]
    fn the_last_drawn_of_a_layer_wins() {
        let mut map = HitMap::new();
        map.push(Rect::new(0, 0, 10, 3), 0, "row");
        map.push(Rect::new(2, 1, 3, 1), 0, "link");
        assert_eq!(at(&map, 2, 1), Some("link"));
        assert_eq!(at(&map, 5, 1), Some("row"));
        assert_eq!(at(&map, 10, 1), None);
        assert_eq!(map.area_at(Position::new(4, 1)), Some(Rect::new(2, 1, 3, 1)));
    }

    #[test]
    fn a_higher_layer_wins_whenever_it_was_drawn() {
        let mut map = HitMap::new();
        map.push(Rect::new(3, 3, 5, 5), 2, "card");
        map.push(SCREEN, 0, "page");
        assert_eq!(at(&map, 4, 4), Some("card"));
        assert_eq!(at(&map, 0, 0), Some("page"));
    }

    #[test]
    fn nothing_below_a_scrim_is_hit() {
        for scrim_first in [true, false] {
            let mut map = HitMap::new();
            map.push(Rect::new(0, 0, 4, 1), 0, "button");
            if scrim_first {
                map.scrim(SCREEN, 1, "close");
            }
            map.push(Rect::new(5, 5, 5, 3), 1, "popup");
            if !scrim_first {
                map.scrim(SCREEN, 1, "close");
            }
            assert_eq!(at(&map, 1, 0), Some("close"), "{scrim_first}");
            assert_eq!(at(&map, 6, 6), Some("popup"), "{scrim_first}");
        }
    }

    #[test]
    fn all_areas_of_a_target_are_found() {
        let mut map = HitMap::new();
        map.push(Rect::new(0, 0, 4, 1), 0, "link");
        map.push(Rect::new(0, 1, 4, 1), 0, "other");
        map.push(Rect::new(0, 2, 2, 1), 0, "link");
        let areas: Vec<_> = map.areas_of(&"link").collect();
        assert_eq!(areas, [Rect::new(0, 0, 4, 1), Rect::new(0, 2, 2, 1)]);
        assert!(!map.is_empty() && HitMap::<&str>::new().is_empty());
    }

    #[test]
    fn links_are_the_cells_that_a_click_would_open() {
        let mut map = HitMap::new();
        let url: Arc<str> = "https://example.org".into();
        map.push(SCREEN, 0, Target::Transcript);
        assert_eq!(map.links(), []);
        map.push(Rect::new(2, 1, 10, 2), 0, Target::Link(url.clone()));
        map.push(Rect::new(5, 2, 3, 1), 1, Target::Layer);
        assert_eq!(map.links(), [(1, 2..12, url.clone()), (2, 2..5, url.clone()), (2, 8..12, url)]);
        map.scrim(SCREEN, 2, Target::Beside);
        assert_eq!(map.links(), []);
    }

    proptest! {
        /// The painter's way to say it: paint the areas from the bottom up; what is seen is what is hit.
        #[test]
        fn what_is_seen_is_what_is_hit(
            hits in prop::collection::vec(((0u16..20, 0u16..10, 0u16..12, 0u16..8), 0u8..3, any::<bool>()), 0..12)
        ) {
            let mut map = HitMap::new();
            for (target, ((x, y, width, height), layer, is_scrim)) in hits.iter().enumerate() {
                let area = Rect::new(*x, *y, *width, *height);
                if *is_scrim { map.scrim(area, *layer, target) } else { map.push(area, *layer, target) }
            }
            let mut order: Vec<_> = hits.iter().enumerate().collect();
            order.sort_by_key(|(_, (_, layer, is_scrim))| (*layer, !*is_scrim));
            let mut seen = vec![None; 40 * 20];
            for (target, ((x, y, width, height), ..)) in order {
                for row in *y..y + height {
                    for column in *x..x + width {
                        seen[usize::from(row) * 40 + usize::from(column)] = Some(target);
                    }
                }
            }
            for row in 0..20u16 {
                for column in 0..40u16 {
                    let hit = map.at(Position::new(column, row)).copied();
                    prop_assert_eq!(hit, seen[usize::from(row) * 40 + usize::from(column)]);
                }
            }
            let mut found = vec![None; 40 * 20];
            for (row, columns, target) in map.pieces(|target| (target % 2 == 0).then_some(*target)) {
                for column in columns {
                    found[usize::from(row) * 40 + usize::from(column)] = Some(target);
                }
            }
            let even: Vec<_> = seen.iter().map(|target| target.filter(|target| target % 2 == 0)).collect();
            prop_assert_eq!(found, even);
        }
    }
}
