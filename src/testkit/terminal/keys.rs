//! What a terminal sends for a key, the mouse or a paste, by the modes the program has set.

use super::modes::{Modes, private};
use std::fmt::Write;

/// Whether a key goes down, is held or comes up. Only programs that ask for it hear of more than the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    /// It goes down.
    Press,
    /// It is held.
    Repeat,
    /// It comes up.
    Release,
}

/// What the mouse does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseAction {
    /// The left button goes down.
    Press,
    /// The left button comes up.
    Release,
    /// A move with the left button down.
    Drag,
    /// A move with no button down.
    Move,
    /// One step of the wheel, away from the user.
    WheelUp,
    /// One step of the wheel, towards the user.
    WheelDown,
}

/// Kitty keyboard flags.
const DISAMBIGUATE: u8 = 1;
const EVENT_TYPES: u8 = 2;
const ALTERNATE_KEYS: u8 = 4;
const ALL_AS_ESCAPES: u8 = 8;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Modifiers {
    shift: bool,
    alt: bool,
    ctrl: bool,
}

impl Modifiers {
    fn number(self) -> u8 {
        1 + u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.ctrl)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    /// A key that types something: what it types without modifiers.
    Letter(char),
    Enter,
    Tab,
    Backspace,
    Escape,
    /// `CSI letter`
    Ended(char),
    /// `CSI number ~`
    Numbered(u8),
}

/// The bytes for a key by name: `a`, `ctrl+c`, `alt+enter`, `shift+tab`, `F3`, `PageUp`, `ctrl+space`. Upper and lower
/// case are the same in names, not in letters.
///
/// # Panics
/// When there is no such key.
pub(crate) fn encode_key(name: &str, action: KeyAction, modes: &Modes) -> Vec<u8> {
    let (modifiers, code) = parse(name).unwrap_or_else(|| unknown(name));
    let flags = modes.keyboard_flags();
    if action == KeyAction::Release && flags & EVENT_TYPES == 0 {
        return Vec::new();
    }
    let text = if flags == 0 {
        legacy(modifiers, code, modes.is_on(private::CURSOR_KEYS))
    } else {
        kitty(modifiers, code, action, flags)
    };
    text.into_bytes()
}

#[expect(clippy::panic, reason = "a test that names no key is a broken test")]
fn unknown(name: &str) -> ! {
    panic!("there is no key `{name}`")
}

fn parse(name: &str) -> Option<(Modifiers, Code)> {
    let mut modifiers = Modifiers::default();
    let mut rest = name;
    while let Some((first, after)) = rest.split_once('+').filter(|(_, after)| !after.is_empty()) {
        match first.to_ascii_lowercase().as_str() {
            "shift" => modifiers.shift = true,
            "alt" => modifiers.alt = true,
            "ctrl" => modifiers.ctrl = true,
            _ => return None,
        }
        rest = after;
    }
    let mut letters = rest.chars();
    if let (Some(letter), None) = (letters.next(), letters.next()) {
        return Some((modifiers, Code::Letter(letter)));
    }
    let code = match rest.to_ascii_lowercase().as_str() {
        "enter" => Code::Enter,
        "tab" => Code::Tab,
        "backspace" => Code::Backspace,
        "esc" | "escape" => Code::Escape,
        "space" => Code::Letter(' '),
        "up" => Code::Ended('A'),
        "down" => Code::Ended('B'),
        "right" => Code::Ended('C'),
        "left" => Code::Ended('D'),
        "end" => Code::Ended('F'),
        "home" => Code::Ended('H'),
        "insert" => Code::Numbered(2),
        "delete" => Code::Numbered(3),
        "pageup" => Code::Numbered(5),
        "pagedown" => Code::Numbered(6),
        "f1" => Code::Ended('P'),
        "f2" => Code::Ended('Q'),
        "f3" => Code::Numbered(13),
        "f4" => Code::Ended('S'),
        "f5" => Code::Numbered(15),
        "f6" => Code::Numbered(17),
        "f7" => Code::Numbered(18),
        "f8" => Code::Numbered(19),
        "f9" => Code::Numbered(20),
        "f10" => Code::Numbered(21),
        "f11" => Code::Numbered(23),
        "f12" => Code::Numbered(24),
        _ => return None,
    };
    Some((modifiers, code))
}

fn legacy(modifiers: Modifiers, code: Code, application_keys: bool) -> String {
    let escape = if modifiers.alt { "\x1b" } else { "" };
    let number = modifiers.number();
    match code {
        Code::Letter(letter) => format!("{escape}{}", control(letter, modifiers)),
        Code::Enter => format!("{escape}\r"),
        Code::Tab if modifiers.shift => format!("{escape}\x1b[Z"),
        Code::Tab => format!("{escape}\t"),
        Code::Backspace => format!("{escape}{}", if modifiers.ctrl { '\x08' } else { '\x7f' }),
        Code::Escape => format!("{escape}\x1b"),
        Code::Ended(letter @ 'P'..='S') if number == 1 => format!("\x1bO{letter}"),
        Code::Numbered(13) if number == 1 => "\x1bOR".to_owned(),
        Code::Numbered(13) => format!("\x1b[1;{number}R"),
        Code::Ended(letter) if number == 1 && application_keys => format!("\x1bO{letter}"),
        Code::Ended(letter) if number == 1 => format!("\x1b[{letter}"),
        Code::Ended(letter) => format!("\x1b[1;{number}{letter}"),
        Code::Numbered(key) if number == 1 => format!("\x1b[{key}~"),
        Code::Numbered(key) => format!("\x1b[{key};{number}~"),
    }
}

/// What a letter key typed before there were better protocols: ctrl leaves the five lowest bits.
fn control(letter: char, modifiers: Modifiers) -> char {
    if !modifiers.ctrl {
        return shifted(letter, modifiers);
    }
    match letter.to_ascii_lowercase() {
        ' ' | '@' | '2' => '\0',
        '/' | '_' | '7' => '\x1f',
        '3' | '[' => '\x1b',
        '4' | '\\' => '\x1c',
        '5' | ']' => '\x1d',
        '6' | '^' => '\x1e',
        '8' | '?' => '\x7f',
        low @ 'a'..='z' => char::from(u8::try_from(low).unwrap_or_default() & 0x1f),
        other => other,
    }
}

fn shifted(letter: char, modifiers: Modifiers) -> char {
    if modifiers.shift { letter.to_ascii_uppercase() } else { letter }
}

fn kitty(modifiers: Modifiers, code: Code, action: KeyAction, flags: u8) -> String {
    let all = flags & ALL_AS_ESCAPES != 0;
    let number = modifiers.number();
    let event = match action {
        KeyAction::Press => 1,
        KeyAction::Repeat if flags & EVENT_TYPES != 0 => 2,
        KeyAction::Repeat => 1,
        KeyAction::Release => 3,
    };
    let typed = !modifiers.ctrl && !modifiers.alt && action != KeyAction::Release;
    let escaped = |key: String| {
        let mut text = format!("\x1b[{key}");
        if number != 1 || event != 1 {
            let _ = write!(text, ";{number}");
        }
        if event != 1 {
            let _ = write!(text, ":{event}");
        }
        text
    };
    match code {
        Code::Letter(letter) if typed && !all => shifted(letter, modifiers).to_string(),
        // Flag 1 is what takes letters with ctrl and alt away from their old bytes.
        Code::Letter(letter) if flags & (DISAMBIGUATE | ALL_AS_ESCAPES) == 0 => {
            legacy(modifiers, Code::Letter(letter), false)
        }
        Code::Letter(letter) => {
            let mut key = u32::from(letter.to_ascii_lowercase()).to_string();
            let upper = letter.to_ascii_uppercase();
            if flags & ALTERNATE_KEYS != 0 && modifiers.shift && upper != letter {
                let _ = write!(key, ":{}", u32::from(upper));
            }
            escaped(key) + "u"
        }
        Code::Enter | Code::Tab | Code::Backspace if !all && action == KeyAction::Release => String::new(),
        Code::Enter | Code::Tab | Code::Backspace if !all && number == 1 => legacy(modifiers, code, false),
        Code::Enter => escaped("13".to_owned()) + "u",
        Code::Tab => escaped("9".to_owned()) + "u",
        Code::Backspace => escaped("127".to_owned()) + "u",
        Code::Escape => escaped("27".to_owned()) + "u",
        Code::Ended(letter) if number == 1 && event == 1 => format!("\x1b[{letter}"),
        Code::Ended(letter) => format!("{}{letter}", escaped("1".to_owned())),
        Code::Numbered(key) => escaped(key.to_string()) + "~",
    }
}

/// The bytes of a paste: in brackets if the program asked for them, line ends as the Enter key's.
pub(crate) fn encode_paste(text: &str, modes: &Modes) -> Vec<u8> {
    let text = text.replace("\r\n", "\r").replace('\n', "\r");
    let bracketed = modes.is_on(private::PASTE);
    if bracketed { format!("\x1b[200~{text}\x1b[201~").into_bytes() } else { text.into_bytes() }
}

/// The bytes of a mouse report, columns and rows from 0; none if the program did not ask for it.
pub(crate) fn encode_mouse(action: MouseAction, column: u16, row: u16, modes: &Modes) -> Vec<u8> {
    let moves = modes.is_on(private::MOUSE_MOVES);
    let drags = moves || modes.is_on(private::MOUSE_DRAGS);
    let clicks = drags || modes.is_on(private::MOUSE_CLICKS);
    let (button, is_asked) = match action {
        MouseAction::Press | MouseAction::Release => (0, clicks),
        MouseAction::WheelUp => (64, clicks),
        MouseAction::WheelDown => (65, clicks),
        MouseAction::Drag => (32, drags),
        MouseAction::Move => (35, moves),
    };
    // The older forms cannot tell of columns beyond 223; nobody should ask for them.
    if !is_asked || !modes.is_on(private::MOUSE_SGR) {
        return Vec::new();
    }
    let end = if action == MouseAction::Release { 'm' } else { 'M' };
    format!("\x1b[<{button};{};{}{end}", u32::from(column) + 1, u32::from(row) + 1).into_bytes()
}

/// The bytes that tell a change of focus; none if the program did not ask for it.
pub(crate) fn encode_focus(has_focus: bool, modes: &Modes) -> Vec<u8> {
    match (modes.is_on(private::FOCUS), has_focus) {
        (false, _) => Vec::new(),
        (true, true) => b"\x1b[I".to_vec(),
        (true, false) => b"\x1b[O".to_vec(),
    }
}
