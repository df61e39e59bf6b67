//! Laid out entries, kept while they can be shown again and bounded in bytes.
//!
//! Invariants: a layout is found only under the very key it was made for, and the key holds everything that can change
//! a pixel; what was used in the current frame is never dropped, whatever it costs; beside what this frame and the one
//! before showed, no more than the limit is held.

use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of text that stay laid out beside what is visible.
pub const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// Everything that can change the pixels of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayoutKey {
    /// Index of the entry in the transcript.
    pub entry: usize,
    /// Rises with each change of its content.
    pub revision: u64,
    /// Columns it may take.
    pub width: u16,
    /// Folded, opened or shown whole; the front end's own numbers.
    pub fold: u8,
    /// Revision of the theme, colour depth included.
    pub theme: u64,
    /// How it stands in a run of work; the front end's own numbers.
    pub run: u64,
}

/// What a cached layout must tell.
pub trait Weighed {
    /// Bytes of text it holds.
    fn bytes(&self) -> usize;
}

/// Layouts by key.
#[derive(Debug)]
pub struct LayoutCache<L> {
    kept: HashMap<LayoutKey, Kept<L>>,
    limit: usize,
    bytes: usize,
    frame: u64,
}

#[derive(Debug)]
struct Kept<L> {
    layout: Arc<L>,
    bytes: usize,
    used_in: u64,
}

impl<L: Weighed> LayoutCache<L> {
    /// An empty cache that holds this many bytes beside what is visible.
    pub fn new(limit: usize) -> Self {
        Self { kept: HashMap::new(), limit, bytes: 0, frame: 0 }
    }

    /// A new frame begins: what it asks for is kept until the next one begins.
    pub fn begin_frame(&mut self) {
        // A frame that only found layouts made no room; what it showed will likely be shown again.
        self.make_room();
        self.frame += 1;
    }

    /// The layout of a key, made if there is none.
    pub fn get(&mut self, key: LayoutKey, lay_out: impl FnOnce() -> L) -> Arc<L> {
        if let Some(layout) = self.find(&key) {
            return layout;
        }
        let layout = Arc::new(lay_out());
        self.keep(key, layout.clone());
        layout
    }

    /// The layout of a key, if there is one.
    pub fn find(&mut self, key: &LayoutKey) -> Option<Arc<L>> {
        let kept = self.kept.get_mut(key)?;
        kept.used_in = self.frame;
        Some(kept.layout.clone())
    }

    /// Keeps a layout under its key.
    pub fn keep(&mut self, key: LayoutKey, layout: Arc<L>) {
        let bytes = layout.bytes();
        self.bytes += bytes;
        if let Some(old) = self.kept.insert(key, Kept { layout, bytes, used_in: self.frame }) {
            self.bytes -= old.bytes;
        }
        self.make_room();
    }

    /// Drops all.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.bytes = 0;
    }

    /// Bytes of text that are held now.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Number of layouts that are held now.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Nothing is held.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Drops what was not used for longest until the rest fits. Goes over all layouts, but only when the limit is
    /// passed, and then frees a quarter at once: the cost an insertion is constant over time.
    fn make_room(&mut self) {
        if self.bytes <= self.limit {
            return;
        }
        let frame = self.frame;
        let mut unused: Vec<(u64, LayoutKey)> = self
            .kept
            .iter()
            .filter(|(_, kept)| kept.used_in < frame)
            .map(|(key, kept)| (kept.used_in, *key))
            .collect();
        unused.sort_by_key(|(used_in, key)| (*used_in, key.entry));
        let goal = self.limit - self.limit / 4;
        for (_, key) in unused {
            if self.bytes <= goal {
                break;
            }
            if let Some(dropped) = self.kept.remove(&key) {
                self.bytes -= dropped.bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Weighed for String {
        fn bytes(&self) -> usize {
            self.len()
        }
    }

    fn key(entry: usize, revision: u64) -> LayoutKey {
        LayoutKey { entry, revision, width: 80, fold: 0, theme: 1, run: 0 }
    }

    fn text(length: usize) -> String {
        "x".repeat(length)
    }

    #[test]
    fn a_layout_is_made_once_for_its_key_and_again_for_another() {
        let mut cache = LayoutCache::new(1000);
        let mut made = 0;
        for key in [key(1, 1), key(1, 1), key(1, 2), LayoutKey { width: 81, ..key(1, 1) }, key(1, 1)] {
            cache.get(key, || {
                made += 1;
                text(10)
            });
        }
        assert_eq!(made, 3);
    }

    #[test]
    fn what_is_visible_stays_even_when_it_is_too_much() {
        let mut cache = LayoutCache::new(100);
        cache.begin_frame();
        for entry in 0..10 {
            cache.get(key(entry, 1), || text(50));
        }
        assert_eq!(cache.bytes(), 500);
        cache.begin_frame();
        cache.get(key(10, 1), || text(50));
        assert!(cache.bytes() <= 100, "{}", cache.bytes());
        cache.get(key(10, 1), || panic!("it is visible"));
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let mut cache = LayoutCache::new(100);
        for entry in 0..4 {
            cache.begin_frame();
            cache.get(key(entry, 1), || text(25));
        }
        cache.begin_frame();
        cache.get(key(0, 1), || panic!("still there"));
        cache.get(key(4, 1), || text(25));
        cache.get(key(0, 1), || panic!("used in this frame"));
        cache.get(key(3, 1), || panic!("newer than the dropped ones"));
    }

    proptest! {
        #[test]
        fn the_bytes_are_the_sum_and_bounded(asks in prop::collection::vec((0_usize..20, 0_u64..3, any::<bool>()), 0..200)) {
            let mut cache = LayoutCache::new(200);
            let (mut visible, mut before) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
            for (entry, revision, begins) in asks {
                if begins {
                    cache.begin_frame();
                    before = std::mem::take(&mut visible);
                }
                let length = entry * 3 + 1;
                let layout = cache.get(key(entry, revision), || text(length));
                prop_assert_eq!(layout.len(), length);
                visible.insert((entry, revision), length);
                let sum: usize = cache.kept.values().map(|kept| kept.bytes).sum();
                prop_assert_eq!(cache.bytes(), sum);
                let shown: usize = before.iter().chain(&visible).map(|(_, bytes)| bytes).sum();
                prop_assert!(cache.bytes() <= shown.max(200));
            }
        }
    }
}
