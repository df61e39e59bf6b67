//! What a program has switched in the terminal, and what it left behind.

use std::collections::BTreeSet;

/// Modes of the private kind (`CSI ? n h`) by number.
pub mod private {
    /// The arrow keys send SS3.
    pub const CURSOR_KEYS: u16 = 1;
    /// Text goes on in the next row behind the last column. On from the start.
    pub const AUTO_WRAP: u16 = 7;
    /// The cursor is shown. On from the start.
    pub const CURSOR_SHOWN: u16 = 25;
    /// Mouse: press, release and wheel.
    pub const MOUSE_CLICKS: u16 = 1000;
    /// Mouse: moves with a button down, too.
    pub const MOUSE_DRAGS: u16 = 1002;
    /// Mouse: all moves.
    pub const MOUSE_MOVES: u16 = 1003;
    /// Focus is told.
    pub const FOCUS: u16 = 1004;
    /// Mouse reports with decimal numbers.
    pub const MOUSE_SGR: u16 = 1006;
    /// The alternate screen; 47 and 1047 are its older numbers.
    pub const ALTERNATE_SCREEN: u16 = 1049;
    /// Pastes come in brackets.
    pub const PASTE: u16 = 2004;
    /// A synchronised frame is being written.
    pub const SYNCHRONISED: u16 = 2026;
    /// A change between dark and light is told.
    pub const SCHEME_CHANGES: u16 = 2031;
}

/// On from the start, and on again when a program leaves.
const ON: [u16; 2] = [private::AUTO_WRAP, private::CURSOR_SHOWN];

/// What a program has switched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modes {
    private: BTreeSet<u16>,
    /// Kitty keyboard flags, the topmost last: one stack for the main screen, one for the alternate.
    keyboard: [Vec<u8>; 2],
    /// XTerm's `modifyOtherKeys`.
    pub(super) modify_other_keys: u16,
    /// Rows that scroll, the first being 1, where not all do.
    pub(super) scroll_region: Option<(u16, u16)>,
    /// The shape of the cursor: 0 is the user's own.
    pub cursor_shape: u16,
    /// The window's title, once set.
    pub title: Option<String>,
    /// Titles that are kept to be put back, the topmost last.
    titles: Vec<Option<String>>,
    /// What the program put on the clipboard by OSC 52, base64 as it came.
    pub clipboard: Vec<String>,
    /// Synchronised frames that have ended.
    pub frames: u64,
    /// How often the bell rang.
    pub bells: u64,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            private: ON.into(),
            keyboard: [Vec::new(), Vec::new()],
            modify_other_keys: 0,
            scroll_region: None,
            cursor_shape: 0,
            title: None,
            titles: Vec::new(),
            clipboard: Vec::new(),
            frames: 0,
            bells: 0,
        }
    }
}

impl Modes {
    /// Whether a private mode is on.
    pub fn is_on(&self, mode: u16) -> bool {
        self.private.contains(&mode)
    }

    /// Whether the alternate screen is shown, by whichever number.
    pub fn is_alternate(&self) -> bool {
        [47, 1047, private::ALTERNATE_SCREEN].iter().any(|mode| self.is_on(*mode))
    }

    /// Kitty keyboard flags in force; 0 is the keyboard of old.
    pub fn keyboard_flags(&self) -> u8 {
        self.stack().last().copied().unwrap_or(0)
    }

    /// What is not as it was before the program started, one thing a line; empty when all was put back.
    pub fn leftovers(&self) -> Vec<String> {
        let mut found = Vec::new();
        let name = |mode: u16| match mode {
            47 | 1047 | private::ALTERNATE_SCREEN => "alternate screen".to_owned(),
            private::AUTO_WRAP => "wrapping of long lines".to_owned(),
            private::CURSOR_SHOWN => "cursor".to_owned(),
            private::MOUSE_CLICKS | private::MOUSE_DRAGS | private::MOUSE_MOVES => {
                format!("mouse reports ({mode})")
            }
            private::FOCUS => "focus reports".to_owned(),
            private::PASTE => "bracketed paste".to_owned(),
            private::SYNCHRONISED => "synchronised frame".to_owned(),
            other => format!("private mode {other}"),
        };
        let on: BTreeSet<u16> = ON.into();
        found.extend(self.private.difference(&on).map(|mode| format!("{} is still on", name(*mode))));
        found.extend(on.difference(&self.private).map(|mode| format!("{} is still off", name(*mode))));
        for (screen, stack) in ["main", "alternate"].iter().zip(&self.keyboard) {
            if !stack.is_empty() {
                found.push(format!("keyboard flags {stack:?} are still on the {screen} screen's stack"));
            }
        }
        if self.modify_other_keys != 0 {
            found.push("modifyOtherKeys is still on".to_owned());
        }
        if let Some((top, bottom)) = self.scroll_region {
            found.push(format!("only rows {top} to {bottom} scroll"));
        }
        if !self.titles.is_empty() {
            found.push("the window's title was not put back".to_owned());
        }
        if self.cursor_shape != 0 {
            found.push(format!("the cursor still has shape {}", self.cursor_shape));
        }
        found
    }

    pub(super) fn set(&mut self, mode: u16, on: bool) {
        if on {
            self.private.insert(mode);
        } else if self.private.remove(&mode) && mode == private::SYNCHRONISED {
            self.frames += 1;
        }
    }

    pub(super) fn push_title(&mut self) {
        self.titles.push(self.title.clone());
    }

    pub(super) fn pop_title(&mut self) {
        if let Some(title) = self.titles.pop() {
            self.title = title;
        }
    }

    pub(super) fn push_keyboard(&mut self, flags: u8) {
        self.stack_mut().push(flags);
    }

    pub(super) fn pop_keyboard(&mut self, count: usize) {
        let stack = self.stack_mut();
        stack.truncate(stack.len().saturating_sub(count));
    }

    /// `how`: 1 sets all flags, 2 adds, 3 takes away.
    pub(super) fn change_keyboard(&mut self, flags: u8, how: u16) {
        let old = self.keyboard_flags();
        let new = match how {
            2 => old | flags,
            3 => old & !flags,
            _ => flags,
        };
        let stack = self.stack_mut();
        stack.pop();
        // With no program below, flags of 0 are what there was before.
        if new != 0 || !stack.is_empty() {
            stack.push(new);
        }
    }

    fn stack(&self) -> &Vec<u8> {
        let [main, alternate] = &self.keyboard;
        if self.is_alternate() { alternate } else { main }
    }

    fn stack_mut(&mut self) -> &mut Vec<u8> {
        let is_alternate = self.is_alternate();
        let [main, alternate] = &mut self.keyboard;
        if is_alternate { alternate } else { main }
    }
}
