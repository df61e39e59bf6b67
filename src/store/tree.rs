//! The entries of a session, their branches and the leaf.
//!
//! Invariants: entries stand in the order of the file; a parent stands in front of its children, so that every path
//! ends; an entry whose parent is not there is a root and counts as an orphan; of two entries with one id, later
//! references mean the later one; the leaf is the last entry, as in Pi.

use super::context::Context;
use crate::proto::entry::{Entry, EntryKind};
use crate::proto::ids::EntryId;
use std::collections::{HashMap, HashSet};

/// All entries of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    entries: Vec<Entry>,
    /// By place in `entries`.
    parents: Vec<Option<usize>>,
    children: HashMap<Option<usize>, Vec<usize>>,
    places: HashMap<EntryId, usize>,
    labels: HashMap<EntryId, String>,
    orphans: usize,
}

impl Tree {
    /// Adds the next entry of the file; it becomes the leaf.
    pub fn push(&mut self, entry: Entry) {
        let place = self.entries.len();
        let parent = entry.parent_id.as_ref().and_then(|id| self.places.get(id).copied());
        if parent.is_none() && entry.parent_id.is_some() {
            self.orphans += 1;
        }
        if let EntryKind::Label { target_id, label } = &entry.kind {
            match label {
                Some(label) if !label.is_empty() => self.labels.insert(target_id.clone(), label.clone()),
                Some(_) | None => self.labels.remove(target_id),
            };
        }
        self.parents.push(parent);
        self.children.entry(parent).or_default().push(place);
        self.places.insert(entry.id.clone(), place);
        self.entries.push(entry);
    }

    /// All entries, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of that id.
    pub fn get(&self, id: &EntryId) -> Option<&Entry> {
        self.entries.get(*self.places.get(id)?)
    }

    /// The entries right behind this one, oldest first; `None` gives the roots.
    pub fn children(&self, parent: Option<&EntryId>) -> Vec<&Entry> {
        let place = match parent.map(|id| self.places.get(id)) {
            None => None,
            Some(Some(place)) => Some(*place),
            Some(None) => return Vec::new(),
        };
        let places = self.children.get(&place).into_iter().flatten();
        places.filter_map(|place| self.entries.get(*place)).collect()
    }

    /// The bookmark on an entry.
    pub fn label(&self, id: &EntryId) -> Option<&str> {
        self.labels.get(id).map(String::as_str)
    }

    /// How many entries name a parent that is not there.
    pub const fn orphans(&self) -> usize {
        self.orphans
    }

    /// Where the session stands: its last entry.
    pub fn leaf(&self) -> Option<&EntryId> {
        self.entries.last().map(|entry| &entry.id)
    }

    /// The branch that ends in this entry, root first. Empty for an id that is not there.
    pub fn path_to(&self, leaf: Option<&EntryId>) -> Vec<&Entry> {
        let mut next = leaf.and_then(|id| self.places.get(id).copied());
        let mut path = Vec::new();
        while let Some(place) = next {
            path.extend(self.entries.get(place));
            next = self.parents.get(place).copied().flatten();
        }
        path.reverse();
        path
    }

    /// What the branch of the leaf means for the next request.
    pub fn context(&self) -> Context {
        self.context_at(self.leaf())
    }

    /// What the branch that ends in this entry means for the next request.
    pub fn context_at(&self, leaf: Option<&EntryId>) -> Context {
        Context::of(&self.path_to(leaf), &self.entries)
    }

    /// The ids of all entries.
    pub(super) fn ids(&self) -> HashSet<EntryId> {
        self.places.keys().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, parent: Option<&str>, kind: EntryKind) -> Entry {
        Entry {
            id: EntryId::new(id),
            parent_id: parent.map(EntryId::new),
            timestamp: "2026-01-01T00:00:00.000Z".to_owned(),
            kind,
        }
    }

    fn name(text: &str) -> EntryKind {
        EntryKind::SessionInfo { name: text.to_owned() }
    }

    fn ids(entries: &[&Entry]) -> Vec<String> {
        entries.iter().map(|entry| entry.id.to_string()).collect()
    }

    fn tree(pairs: &[(&str, Option<&str>)]) -> Tree {
        let mut tree = Tree::default();
        for (id, parent) in pairs {
            tree.push(entry(id, *parent, name(id)));
        }
        tree
    }

    #[test]
    fn branches_roots_and_the_leaf() {
        let tree = tree(&[("a", None), ("b", Some("a")), ("c", Some("a")), ("r", None), ("d", Some("b"))]);
        assert_eq!(tree.leaf(), Some(&EntryId::new("d")));
        assert_eq!(ids(&tree.path_to(tree.leaf())), ["a", "b", "d"]);
        assert_eq!(ids(&tree.children(Some(&EntryId::new("a")))), ["b", "c"]);
        assert_eq!(ids(&tree.children(None)), ["a", "r"]);
        assert!(tree.children(Some(&EntryId::new("nobody"))).is_empty());
        assert!(tree.path_to(Some(&EntryId::new("nobody"))).is_empty());
        assert_eq!(tree.orphans(), 0);
    }

    #[test]
    fn orphans_loops_and_doubles_end_every_path() {
        let lost =
            tree(&[("a", None), ("b", Some("gone")), ("c", Some("c")), ("d", Some("e")), ("e", Some("d"))]);
        assert_eq!(lost.orphans(), 3);
        assert_eq!(ids(&lost.children(None)), ["a", "b", "c", "d"]);
        assert_eq!(ids(&lost.path_to(lost.leaf())), ["d", "e"]);
        let doubled = tree(&[("a", None), ("b", Some("a")), ("a", Some("b")), ("c", Some("a"))]);
        assert_eq!(ids(&doubled.path_to(doubled.leaf())), ["a", "b", "a", "c"]);
    }

    #[test]
    fn the_last_label_counts_and_an_empty_one_clears() {
        let label = |id: &str, text: Option<&str>| {
            let kind = EntryKind::Label { target_id: EntryId::new("a"), label: text.map(str::to_owned) };
            entry(id, Some("a"), kind)
        };
        let mut tree = tree(&[("a", None)]);
        tree.push(label("b", Some("one")));
        tree.push(label("c", Some("two")));
        assert_eq!(tree.label(&EntryId::new("a")), Some("two"));
        tree.push(label("d", None));
        assert_eq!(tree.label(&EntryId::new("a")), None);
    }
}
