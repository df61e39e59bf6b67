//! What lies where in the last frame: the mouse is the inverse of drawing.
//!
//! Invariants
//! - Whatever was drawn last on the highest layer wins.
//! - A modal layer puts a scrim over what it covers: a click beside it never reaches what lies below.

use ratatui::layout::{Position, Rect};

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

    fn topmost(&self, position: Position) -> Option<&Hit<T>> {
        // Of equals the last one is the greatest.
        self.hits
            .iter()
            .filter(|hit| hit.area.contains(position))
            .max_by_key(|hit| (hit.layer, !hit.is_scrim))
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
        }
    }
}
