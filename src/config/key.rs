//! Keys as the keymap knows them: free of any terminal library, written like `ctrl+shift+up`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One key press with its modifiers, in normal form: see [`Key::new`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key {
    /// The key itself.
    pub code: KeyCode,
    /// What was held with it.
    pub mods: Mods,
}

/// Which key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KeyCode {
    /// A character; letters in lower case.
    Char(char),
    /// A function key, from 1.
    F(u8),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
    /// Up.
    Up,
    /// Down.
    Down,
    /// Left.
    Left,
    /// Right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
}

/// Modifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mods {
    /// Control.
    pub ctrl: bool,
    /// Alt, or option.
    pub alt: bool,
    /// Shift.
    pub shift: bool,
    /// Super, or command.
    pub logo: bool,
}

impl Mods {
    /// None held.
    pub const NONE: Self = Self { ctrl: false, alt: false, shift: false, logo: false };
    /// Control alone.
    pub const CTRL: Self = Self { ctrl: true, ..Self::NONE };
    /// Alt alone.
    pub const ALT: Self = Self { alt: true, ..Self::NONE };
    /// Shift alone.
    pub const SHIFT: Self = Self { shift: true, ..Self::NONE };
}

/// Keys with a name, in the spelling we print, and other spellings we read.
const NAMED: &[(KeyCode, &str, &[&str])] = &[
    (KeyCode::Enter, "enter", &["return"]),
    (KeyCode::Esc, "esc", &["escape"]),
    (KeyCode::Tab, "tab", &[]),
    (KeyCode::Backspace, "backspace", &[]),
    (KeyCode::Delete, "delete", &["del"]),
    (KeyCode::Insert, "insert", &["ins"]),
    (KeyCode::Up, "up", &[]),
    (KeyCode::Down, "down", &[]),
    (KeyCode::Left, "left", &[]),
    (KeyCode::Right, "right", &[]),
    (KeyCode::Home, "home", &[]),
    (KeyCode::End, "end", &[]),
    (KeyCode::PageUp, "pageup", &["page_up", "pgup"]),
    (KeyCode::PageDown, "pagedown", &["page_down", "pgdn"]),
    (KeyCode::Char(' '), "space", &[]),
    (KeyCode::Char('+'), "plus", &[]),
];

const LAST_FUNCTION_KEY: u8 = 35;

impl Key {
    /// A key in normal form. Terminals differ in how they tell shift: a capital letter becomes the small one with
    /// shift, and of a symbol, which shows by itself that shift was held, shift is dropped.
    pub fn new(code: KeyCode, mods: Mods) -> Self {
        let KeyCode::Char(typed) = code else {
            return Self { code, mods };
        };
        let mut lower = typed.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(lower), None) if lower != typed => {
                Self { code: KeyCode::Char(lower), mods: Mods { shift: true, ..mods } }
            }
            _ => {
                let keeps_shift = typed.is_alphabetic() || typed == ' ';
                Self { code, mods: Mods { shift: mods.shift && keeps_shift, ..mods } }
            }
        }
    }

    /// A key without modifiers.
    pub fn plain(code: KeyCode) -> Self {
        Self::new(code, Mods::NONE)
    }

    /// Pressing it types a character: no keymap of a place where people type may take it.
    pub const fn types_text(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && !self.mods.ctrl && !self.mods.alt && !self.mods.logo
    }
}

impl fmt::Display for KeyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, name, _)) = NAMED.iter().find(|(code, _, _)| code == self) {
            return f.write_str(name);
        }
        match self {
            Self::Char(c) => write!(f, "{c}"),
            Self::F(number) => write!(f, "f{number}"),
            // All others have a name.
            Self::Enter
            | Self::Esc
            | Self::Tab
            | Self::Backspace
            | Self::Delete
            | Self::Insert
            | Self::Up
            | Self::Down
            | Self::Left
            | Self::Right
            | Self::Home
            | Self::End
            | Self::PageUp
            | Self::PageDown => Ok(()),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mods { ctrl, alt, shift, logo } = self.mods;
        for (held, name) in [(ctrl, "ctrl+"), (alt, "alt+"), (shift, "shift+"), (logo, "super+")] {
            if held {
                f.write_str(name)?;
            }
        }
        write!(f, "{}", self.code)
    }
}

/// The text names no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no key; keys are written like \"ctrl+shift+up\", \"alt+enter\", \"f3\" or \"?\"")]
pub struct UnknownKey(pub String);

impl FromStr for Key {
    type Err = UnknownKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownKey(text.to_owned());
        let mut mods = Mods::NONE;
        let mut rest = text.trim();
        // A modifier ends in a plus with a key behind it, so that `ctrl++` is control and plus.
        while let Some((name, key)) =
            rest.split_once('+').filter(|(name, key)| !name.is_empty() && !key.is_empty())
        {
            let held = match name.to_ascii_lowercase().as_str() {
                "ctrl" | "control" => &mut mods.ctrl,
                "alt" | "option" | "meta" => &mut mods.alt,
                "shift" => &mut mods.shift,
                "super" | "cmd" | "command" => &mut mods.logo,
                _ => return Err(unknown()),
            };
            if *held {
                return Err(unknown());
            }
            *held = true;
            rest = key;
        }
        Ok(Self::new(code(rest).ok_or_else(unknown)?, mods))
    }
}

fn code(name: &str) -> Option<KeyCode> {
    let mut chars = name.chars();
    if let (Some(only), None) = (chars.next(), chars.next()) {
        return (!only.is_control()).then_some(KeyCode::Char(only));
    }
    let name = name.to_ascii_lowercase();
    if let Some(number) = name.strip_prefix('f').and_then(|number| number.parse().ok()) {
        return (1..=LAST_FUNCTION_KEY).contains(&number).then_some(KeyCode::F(number));
    }
    NAMED
        .iter()
        .find(|(_, printed, others)| *printed == name || others.contains(&name.as_str()))
        .map(|(code, _, _)| *code)
}

impl TryFrom<String> for Key {
    type Error = UnknownKey;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_read_and_printed() {
        let table = [
            ("ctrl+shift+up", "ctrl+shift+up"),
            ("alt+enter", "alt+enter"),
            ("f3", "f3"),
            ("F12", "f12"),
            ("Shift+Ctrl+P", "ctrl+shift+p"),
            ("P", "shift+p"),
            ("ctrl+_", "ctrl+_"),
            ("ctrl++", "ctrl+plus"),
            ("+", "plus"),
            ("ctrl+space", "ctrl+space"),
            ("escape", "esc"),
            ("pgdn", "pagedown"),
            ("shift+?", "?"),
            ("é", "é"),
            ("cmd+c", "super+c"),
        ];
        for (text, printed) in table {
            assert_eq!(text.parse::<Key>().map(|key| key.to_string()).as_deref(), Ok(printed), "{text}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "ctrl+", "ctrl", "hyper+a", "ctrl+ctrl+a", "f0", "f99", "enterr", "a b", "\u{1b}"] {
            assert_eq!(text.parse::<Key>(), Err(UnknownKey(text.to_owned())), "{text:?}");
        }
    }

    #[test]
    fn shift_is_told_in_one_way() {
        let upper = Key::new(KeyCode::Char('N'), Mods::NONE);
        assert_eq!(upper, Key::new(KeyCode::Char('n'), Mods::SHIFT));
        assert_eq!(upper, Key::new(KeyCode::Char('N'), Mods::SHIFT));
        assert_eq!(Key::new(KeyCode::Char('?'), Mods::SHIFT), Key::plain(KeyCode::Char('?')));
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_again(c in any::<char>(), ctrl: bool, alt: bool, shift: bool, logo: bool) {
            prop_assume!(!c.is_control() && !c.is_whitespace());
            let key = Key::new(KeyCode::Char(c), Mods { ctrl, alt, shift, logo });
            prop_assert_eq!(key.to_string().parse(), Ok(key));
        }
    }
}
