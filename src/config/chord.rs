//! Keys that are pressed one after the other, written with blanks between them: `ctrl+x ctrl+e`. One key is the
//! shortest of them, so that the keymap knows only this.

use super::key::{Key, KeyCode, Mods, UnknownKey};
use std::fmt;
use std::str::FromStr;

/// More keys in a row nobody remembers.
pub const LONGEST: usize = 4;

/// Ends a chord that was begun, and so can't go on with one.
pub const END: Key = Key { code: KeyCode::Esc, mods: Mods::NONE };

/// One key, or some in a row. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Chord {
    first: Key,
    rest: Vec<Key>,
}

impl Chord {
    /// The first key that is pressed.
    pub const fn first(&self) -> Key {
        self.first
    }

    /// The key, if it is one alone.
    pub fn single(&self) -> Option<Key> {
        self.rest.is_empty().then_some(self.first)
    }

    /// All keys, in the order in which they are pressed.
    pub fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        std::iter::once(self.first).chain(self.rest.iter().copied())
    }

    /// How many keys it has: one at least.
    pub fn count(&self) -> usize {
        1 + self.rest.len()
    }

    /// These keys in this order, and no other.
    pub fn is(&self, pressed: &[Key]) -> bool {
        pressed.len() == self.count() && self.begins_with(pressed)
    }

    /// Its first keys are these; all of them count too.
    pub fn begins_with(&self, pressed: &[Key]) -> bool {
        pressed.len() <= self.count() && self.keys().zip(pressed).all(|(own, pressed)| own == *pressed)
    }

    /// Its first keys are the other's, or the other way round: only one of both can be meant.
    pub fn meets(&self, other: &Self) -> bool {
        self.keys().zip(other.keys()).all(|(one, other)| one == other)
    }

    /// What is left to press after these keys, in words.
    pub fn after(&self, pressed: usize) -> String {
        let keys: Vec<String> = self.keys().skip(pressed).map(|key| key.to_string()).collect();
        keys.join(" ")
    }
}

impl From<Key> for Chord {
    fn from(key: Key) -> Self {
        Self { first: key, rest: Vec::new() }
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        self.rest.iter().try_for_each(|key| write!(f, " {key}"))
    }
}

/// The text names no keys that can be pressed in a row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownChord {
    /// A part is no key.
    #[error(transparent)]
    Key(#[from] UnknownKey),
    /// It has the key that ends a chord.
    #[error("`{0}` can't be pressed: {END} ends a chord that was begun")]
    Ends(String),
    /// Too many keys.
    #[error("`{0}` has more than {LONGEST} keys")]
    Long(String),
}

impl FromStr for Chord {
    type Err = UnknownChord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut keys = text.split_whitespace();
        let first = keys.next().unwrap_or_default().parse()?;
        let rest = keys.map(str::parse).collect::<Result<Vec<Key>, _>>()?;
        let begins_with_end = first == END && !rest.is_empty();
        if begins_with_end || rest.contains(&END) {
            return Err(UnknownChord::Ends(text.to_owned()));
        }
        if rest.len() >= LONGEST {
            return Err(UnknownChord::Long(text.to_owned()));
        }
        Ok(Self { first, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chord(text: &str) -> Chord {
        text.parse().expect("a chord")
    }

    fn keys(text: &str) -> Vec<Key> {
        text.split(' ').map(|key| key.parse().expect("a key")).collect()
    }

    #[test]
    fn chords_are_read_and_printed() {
        for (text, printed) in [("ctrl+x  Ctrl+e", "ctrl+x ctrl+e"), (" f1 ", "f1"), ("g g", "g g")] {
            assert_eq!(chord(text).to_string(), printed);
        }
        for (text, why) in [
            ("", "is no key"),
            ("ctrl+x hyper+a", "`hyper+a` is no key"),
            ("ctrl+x esc", "esc ends a chord"),
            ("esc a", "esc ends a chord"),
            ("a b c d e", "more than 4 keys"),
        ] {
            let error = text.parse::<Chord>().expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!("esc".parse::<Chord>().is_ok(), "alone it ends nothing");
    }

    #[test]
    fn beginnings() {
        let long = chord("ctrl+x ctrl+e");
        assert!(long.begins_with(&keys("ctrl+x")) && long.begins_with(&keys("ctrl+x ctrl+e")));
        assert!(!long.begins_with(&keys("ctrl+e")) && !long.begins_with(&keys("ctrl+x ctrl+e a")));
        assert!(long.is(&keys("ctrl+x ctrl+e")) && !long.is(&keys("ctrl+x")));
        assert!(long.meets(&chord("ctrl+x")) && chord("ctrl+x").meets(&long));
        assert!(!long.meets(&chord("ctrl+x a")) && long.meets(&long.clone()));
        assert_eq!((long.after(1).as_str(), long.single(), chord("f1").count()), ("ctrl+e", None, 1));
    }
}
