//! Chips: large pastes and `@` files that stand in the prompt as one unit.
//!
//! In the text a chip is one character out of a private range, so that it moves, deletes, is cut, yanked and undone
//! like any other, and can't be split. Invariant: no such character comes in from outside ([`super::edit::clean`]).

use super::wrap::cells;
use crate::proto::prompt::PasteRecord;
use std::collections::BTreeMap;

/// The last private-use characters of Unicode; nothing is known to use them, icon fonts included.
const FIRST: u32 = 0x10_F000;
const LAST: u32 = 0x10_FFFD;

/// A paste of more lines than this becomes a chip.
const MOST_LINES: usize = 10;
/// A paste of more characters than this becomes a chip.
const MOST_CHARS: usize = 1000;

/// What a chip stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chip {
    /// A large paste.
    Paste {
        /// What is shown.
        label: String,
        /// What is sent.
        text: String,
    },
    /// A file, by its path as it was chosen.
    File {
        /// The path, without the `@`.
        path: String,
    },
}

impl Chip {
    /// What is shown.
    pub fn label(&self) -> String {
        match self {
            Self::Paste { label, .. } => label.clone(),
            Self::File { path } => mention(path),
        }
    }

    /// What is sent.
    pub fn expanded(&self) -> String {
        match self {
            Self::Paste { text, .. } => text.clone(),
            Self::File { path } => mention(path),
        }
    }
}

/// A file as a prompt names it; a name with spaces stands in quotes.
pub fn mention(path: &str) -> String {
    if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") }
}

/// The character stands for a chip.
pub fn is_chip(c: char) -> bool {
    (FIRST..=LAST).contains(&u32::from(c))
}

/// What stands for a paste that is too large to show; nothing for one that is not.
pub fn label(text: &str, number: usize) -> Option<String> {
    // A line end at the end begins no line.
    let lines = text.lines().count();
    let chars = text.chars().count();
    if lines > MOST_LINES {
        Some(format!("[paste #{number} +{lines} lines]"))
    } else {
        (chars > MOST_CHARS).then(|| format!("[paste #{number} {chars} chars]"))
    }
}

/// The chips of one composer, by the character that stands for them.
#[derive(Clone, Debug, Default)]
pub struct Chips {
    known: BTreeMap<char, (Chip, usize)>,
}

impl Chips {
    /// Adds a chip and tells its character. `None` when all are taken: then the text itself goes in.
    pub fn add(&mut self, chip: Chip) -> Option<char> {
        let free = (FIRST..=LAST).filter_map(char::from_u32).find(|c| !self.known.contains_key(c))?;
        let width = cells(&chip.label());
        self.known.insert(free, (chip, width));
        Some(free)
    }

    /// Makes a chip of a paste that is too large to show.
    pub fn add_paste(&mut self, text: &str) -> Option<char> {
        let number = 1 + self.known.values().filter(|(chip, _)| matches!(chip, Chip::Paste { .. })).count();
        let label = label(text, number)?;
        self.add(Chip::Paste { label, text: text.to_owned() })
    }

    /// The chip behind a character.
    pub fn get(&self, c: char) -> Option<&Chip> {
        self.known.get(&c).map(|(chip, _)| chip)
    }

    /// The width of a chip's label in cells.
    pub fn width(&self, c: char) -> usize {
        self.known.get(&c).map_or(0, |(_, width)| *width)
    }

    /// Forgets all chips that none of these texts holds.
    pub fn keep_only<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        let used: Vec<char> = texts.flat_map(str::chars).filter(|c| is_chip(*c)).collect();
        self.known.retain(|c, _| used.contains(c));
    }

    /// The text with every chip as its label.
    pub fn labelled(&self, text: &str) -> String {
        self.replaced(text, Chip::label)
    }

    /// The text with every chip as what it stands for.
    pub fn expanded(&self, text: &str) -> String {
        self.replaced(text, Chip::expanded)
    }

    fn replaced(&self, text: &str, with: impl Fn(&Chip) -> String) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| is_chip(*c)) {
            out.push_str(rest.get(..at).unwrap_or_default());
            if let Some(chip) = self.get(c) {
                out.push_str(&with(chip));
            }
            rest = rest.get(at + c.len_utf8()..).unwrap_or_default();
        }
        out.push_str(rest);
        out
    }

    /// The chips of a text, in order.
    pub fn of<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a Chip> {
        text.chars().filter_map(|c| self.get(c))
    }

    /// The pastes of a text, for the history.
    pub fn pastes(&self, text: &str) -> Vec<PasteRecord> {
        self.of(text)
            .filter_map(|chip| match chip {
                Chip::Paste { label, text } => Some(PasteRecord { label: label.clone(), text: text.clone() }),
                Chip::File { .. } => None,
            })
            .collect()
    }

    /// A text of the history with its labels made chips again.
    pub fn restore(&mut self, text: &str, pastes: &[PasteRecord]) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        for paste in pastes {
            let Some((before, after)) = rest.split_once(&paste.label) else { continue };
            out.push_str(before);
            // Numbered anew by the composer it is in would be nicer, but then the text would not be the one found.
            let chip = Chip::Paste { label: paste.label.clone(), text: paste.text.clone() };
            match self.add(chip) {
                Some(c) => out.push(c),
                None => out.push_str(&paste.text),
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pastes_become_chips_and_small_ones_do_not() {
        let mut chips = Chips::default();
        assert_eq!(chips.add_paste(&"x\n".repeat(9)), None);
        assert_eq!(chips.add_paste(&"é".repeat(1000)), None);
        let lines = chips.add_paste(&"x\n".repeat(122)).expect("a chip");
        let chars = chips.add_paste(&"é".repeat(1001)).expect("a chip");
        assert_eq!(
            chips.labelled(&format!("a {lines} b {chars}")),
            "a [paste #1 +122 lines] b [paste #2 1001 chars]"
        );
        assert_eq!(chips.expanded(&chars.to_string()), "é".repeat(1001));
    }

    #[test]
    fn files_with_spaces_are_quoted() {
        let mut chips = Chips::default();
        let file = chips.add(Chip::File { path: "a b.rs".to_owned() }).expect("a chip");
        assert_eq!(chips.expanded(&format!("see {file}")), "see @\"a b.rs\"");
        assert_eq!(mention("a.rs"), "@a.rs");
    }

    #[test]
    fn a_text_of_the_history_gets_its_chips_back() {
        let mut chips = Chips::default();
        let paste = chips.add_paste(&"y\n".repeat(20)).expect("a chip");
        let text = format!("look: {paste} please");
        let (shown, pastes) = (chips.labelled(&text), chips.pastes(&text));
        let mut later = Chips::default();
        let restored = later.restore(&shown, &pastes);
        assert_eq!(later.expanded(&restored), chips.expanded(&text));
        assert!(restored.contains(is_chip));
    }

    #[test]
    fn chips_that_nothing_holds_are_forgotten() {
        let mut chips = Chips::default();
        let one = chips.add(Chip::File { path: "one".to_owned() }).expect("a chip");
        let two = chips.add(Chip::File { path: "two".to_owned() }).expect("a chip");
        chips.keep_only([two.to_string().as_str()].into_iter());
        assert_eq!((chips.get(one), chips.get(two).is_some()), (None, true));
    }
}
